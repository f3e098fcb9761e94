#include "limber/analysis/linear/row_space.hpp"

#include <algorithm>

namespace limber {
namespace {

// Rows whose part beyond all others is smaller than this depend on them.
constexpr double dependent = 1e-9;

}  // namespace

RowSpace::RowSpace(const MatX& jacobian, const VecX& inertia)
    : jacobian_(jacobian), column_scale_(inertia.cwiseSqrt().cwiseInverse()), row_scale_(VecX::Ones(jacobian.rows())) {
    const int rows = static_cast<int>(jacobian.rows());
    const int columns = static_cast<int>(jacobian.cols());
    if (rows == 0) {
        q_ = MatX::Identity(columns, columns);
        return;
    }
    MatX scaled = jacobian * column_scale_.asDiagonal();
    for (int i = 0; i < rows; ++i) {
        const double size = scaled.row(i).norm();
        if (size > 0) row_scale_[i] = 1 / size;
        scaled.row(i) *= row_scale_[i];
    }
    const Eigen::ColPivHouseholderQR<MatX> qr(scaled.transpose());
    r_ = qr.matrixR().triangularView<Eigen::Upper>();
    order_ = qr.colsPermutation();
    q_ = qr.householderQ() * MatX::Identity(columns, columns);
    const int most = std::min(rows, columns);
    while (rank_ < most && std::abs(r_(rank_, rank_)) > dependent) ++rank_;
}

MatX RowSpace::null_space() const {
    return column_scale_.asDiagonal() * q_.rightCols(q_.cols() - rank_);
}

VecX RowSpace::reach(const VecX& b) const {
    if (rank_ == 0) return VecX::Zero(column_scale_.size());
    const VecX ordered = order_.transpose() * VecX(row_scale_.cwiseProduct(b));
    const VecX x = r_.topLeftCorner(rank_, rank_).transpose().triangularView<Eigen::Lower>().solve(ordered.head(rank_));
    return column_scale_.asDiagonal() * VecX(q_.leftCols(rank_) * x);
}

double RowSpace::miss(const VecX& x, const VecX& b) const {
    if (b.size() == 0) return 0;
    return row_scale_.cwiseProduct(jacobian_ * x - b).lpNorm<Eigen::Infinity>();
}

VecX RowSpace::multipliers(const VecX& f) const {
    VecX ordered = VecX::Zero(row_scale_.size());
    if (rank_ > 0) {
        const VecX held = q_.leftCols(rank_).transpose() * VecX(column_scale_.cwiseProduct(f));
        ordered.head(rank_) = r_.topLeftCorner(rank_, rank_).triangularView<Eigen::Upper>().solve(held);
        ordered = (order_ * ordered).eval();
    }
    return row_scale_.cwiseProduct(ordered);
}

}  // namespace limber
