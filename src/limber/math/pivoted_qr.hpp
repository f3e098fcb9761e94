#pragma once
// Rank-revealing orthogonal decomposition A P = Q R by Householder reflections with column pivoting. Works in memory
// given at construction; neither compute() nor the products allocate.

#include <vector>

#include "limber/math/types.hpp"

namespace limber {

class PivotedQr {
public:
    PivotedQr(int rows, int columns);

    /// Storage to be filled with A before compute().
    MatX& matrix() { return a_; }
    /// Columns whose part outside the span of the earlier ones is below the tolerance count as dependent. At most
    /// `rank_limit` columns are taken as independent.
    void compute(double tolerance, int rank_limit);
    int rank() const { return rank_; }

    /// x <- Q^T x and x <- Q x
    void apply_transposed(Eigen::Ref<VecX> x) const;
    void apply(Eigen::Ref<VecX> x) const;
    /// Solves R^T y = (P^T b) for the first rank() rows; y has at least rank() entries.
    void solve_transposed(const VecX& b, Eigen::Ref<VecX> y) const;
    /// Solves R z = y for the first rank() rows; result in the original order of columns, zero for dependent ones.
    void solve(const Eigen::Ref<const VecX>& y, VecX& result) const;

private:
    MatX a_;  // R above the diagonal, Householder vectors below it
    VecX beta_, diagonal_, norms_;
    std::vector<int> permutation_;
    int rank_ = 0;
};

}  // namespace limber
