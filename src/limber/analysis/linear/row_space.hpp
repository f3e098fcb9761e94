#pragma once
// What constraint rows leave free, and what they hold, by a QR factorisation with pivots of their Jacobian: dense, rank
// revealing. Coordinates count by their inertia, rows by nothing but their direction.
//
//   (S J D)^T P = Q R,    D = inertia^-1/2,   S: rows of unit length

#include <Eigen/QR>

#include "limber/math/types.hpp"

namespace limber {

class RowSpace {
public:
    RowSpace(const MatX& jacobian, const VecX& inertia);

    int rank() const { return rank_; }
    /// Columns x with J x = 0, orthonormal in the inertia of the coordinates.
    MatX null_space() const;
    /// J x = b, with the least inertia. Rows that depend on others are left to agree by themselves.
    VecX reach(const VecX& b) const;
    /// By how much J x misses b, rows of unit length.
    double miss(const VecX& x, const VecX& b) const;
    /// J^T y = f, where rows that depend on others get nothing.
    VecX multipliers(const VecX& f) const;

private:
    MatX jacobian_;
    VecX column_scale_, row_scale_;
    MatX q_;
    MatX r_;
    Eigen::PermutationMatrix<Eigen::Dynamic> order_;
    int rank_ = 0;
};

}  // namespace limber
