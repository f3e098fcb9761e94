#pragma once
// The linear complementarity problem with a matrix that need not be symmetric,
//
//   0 <= z,   M z + b >= 0,   z . (M z + b) = 0,
//
// by Lemke's method (Lemke 1965; Cottle, Pang and Stone 1992, section 4.4): a path of pivots that ends in a solution
// whenever M is copositive-plus and one is in reach, as with friction in pyramids (Anitescu and Potra 1997). Ties are
// broken lexicographically, so that it cannot run in circles.

#include <vector>

#include "limber/math/types.hpp"

namespace limber {

/// Scratch memory inside: one per thread.
class LemkeSolver {
public:
    /// False if the path ends in a ray, or is too long.
    bool solve(const MatX& m, const VecX& b, VecX& z);

private:
    int find_leaving_row(int entering) const;
    bool comes_first(int row, int other, int entering) const;
    void pivot(int row, int entering);

    int size_ = 0;
    // Columns: slack M z + b, z, the artificial variable, right-hand side. A basic variable per row.
    Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> table_;
    std::vector<int> basic_;
};

}  // namespace limber
