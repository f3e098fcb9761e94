#pragma once
// The admittance of the interface, K = G Y G^T: accelerations of the rows by unit multipliers, from what the components
// answer to unit wrenches. Symmetric, semidefinite; singular where joints are redundant.
//
// Solutions leave out what K does not move: x = (K + e)^-1 K (K + e)^-1 r  is 1/s of the part of r with s >> e and
// nothing of the part with s = 0, so multipliers started from zero stay the smallest ones.

#include <memory>
#include <vector>

#include "limber/math/linear_solver.hpp"

namespace limber {

class Admittance {
public:
    /// groups: rows that meet in one component; joints: first row of each joint, then the number of rows.
    Admittance(int rows, const std::vector<std::vector<int>>& groups, std::vector<int> joints);

    void clear();
    void add(int r, int s, double value) { values_[pattern_.find(r, s)] += value; }
    double diagonal(int r) const { return values_[pattern_.find(r, r)]; }
    /// Entries of the pattern, as added up.
    const std::vector<double>& values() const { return values_; }
    /// In place of adding them up.
    void set_values(const std::vector<double>& values) { values_ = values; }
    /// Sums of the absolute values in each row.
    VecX row_sums() const;
    bool factorize();
    bool is_ready() const { return is_ready_; }
    /// Whether some multipliers have no effect.
    bool is_singular() const { return is_singular_; }

    /// result = K x
    void multiply(const VecX& x, VecX& result) const { limber::multiply(pattern_, values_, x, result); }
    void solve(VecX& x);
    /// The part of x that K moves.
    void project(VecX& x);
    /// With the blocks of the joints in place of K.
    void solve_blocks(VecX& x);

private:
    SymmetricPattern pattern_;
    std::vector<int> joints_;
    std::vector<double> values_, shifted_;
    std::unique_ptr<LinearSolver> solver_;
    void invert_blocks();

    std::vector<MatX> block_inverse_;
    VecX product_, sample_, moved_;
    bool is_ready_ = false, is_singular_ = false, are_blocks_old_ = true;
};

}  // namespace limber
