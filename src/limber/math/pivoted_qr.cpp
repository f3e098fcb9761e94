#include "limber/math/pivoted_qr.hpp"

#include <algorithm>
#include <cmath>

#include "limber/math/interruption.hpp"

namespace limber {

PivotedQr::PivotedQr(int rows, int columns) {
    a_ = MatX::Zero(rows, columns);
    const int steps = std::min(rows, columns);
    beta_ = VecX::Zero(steps);
    diagonal_ = VecX::Zero(steps);
    norms_ = VecX::Zero(columns);
    permutation_.resize(columns);
}

void PivotedQr::compute(double tolerance, int rank_limit) {
    const Eigen::Index rows = a_.rows();
    const Eigen::Index columns = a_.cols();
    for (Eigen::Index j = 0; j < columns; ++j) {
        permutation_[j] = static_cast<int>(j);
        norms_[j] = a_.col(j).squaredNorm();
    }
    const double largest = columns > 0 ? std::sqrt(norms_.maxCoeff()) : 0;
    rank_ = 0;
    const Eigen::Index steps = std::min({rows, columns, static_cast<Eigen::Index>(rank_limit)});
    for (Eigen::Index k = 0; k < steps; ++k) {
        check_interruption();
        Eigen::Index pivot = 0;
        norms_.tail(columns - k).maxCoeff(&pivot);
        pivot += k;
        // Downdated norms lose digits: the chosen column is measured afresh.
        const double norm = a_.col(pivot).tail(rows - k).norm();
        if (!(norm > tolerance)) break;
        if (pivot != k) {
            a_.col(k).swap(a_.col(pivot));
            std::swap(norms_[k], norms_[pivot]);
            std::swap(permutation_[k], permutation_[pivot]);
        }
        auto x = a_.col(k).tail(rows - k);
        const double alpha = x[0] > 0 ? -norm : norm;
        diagonal_[k] = alpha;
        x[0] -= alpha;
        const double square = x.squaredNorm();
        beta_[k] = square > 0 ? 2 / square : 0;
        for (Eigen::Index j = k + 1; j < columns; ++j) {
            auto y = a_.col(j).tail(rows - k);
            const double factor = beta_[k] * x.dot(y);
            y -= factor * x;
            norms_[j] = std::max(0.0, norms_[j] - y[0] * y[0]);
            // Recompute when cancellation has eaten the digits.
            if (norms_[j] < 1e-12 * largest * largest) norms_[j] = y.tail(rows - k - 1).squaredNorm();
        }
        ++rank_;
    }
}

void PivotedQr::apply_transposed(Eigen::Ref<VecX> x) const {
    for (int k = 0; k < rank_; ++k) {
        const auto h = a_.col(k).tail(a_.rows() - k);
        auto y = x.tail(a_.rows() - k);
        y -= beta_[k] * h.dot(y) * h;
    }
}

void PivotedQr::apply(Eigen::Ref<VecX> x) const {
    for (int k = rank_ - 1; k >= 0; --k) {
        const auto h = a_.col(k).tail(a_.rows() - k);
        auto y = x.tail(a_.rows() - k);
        y -= beta_[k] * h.dot(y) * h;
    }
}

void PivotedQr::solve_transposed(const VecX& b, Eigen::Ref<VecX> y) const {
    for (int i = 0; i < rank_; ++i) {
        double sum = b[permutation_[i]];
        for (int j = 0; j < i; ++j) sum -= a_(j, i) * y[j];
        y[i] = sum / diagonal_[i];
    }
}

void PivotedQr::solve(const Eigen::Ref<const VecX>& y, VecX& result) const {
    result.setZero();
    for (int i = rank_ - 1; i >= 0; --i) {
        double sum = y[i];
        for (int j = i + 1; j < rank_; ++j) sum -= a_(i, j) * result[permutation_[j]];
        result[permutation_[i]] = sum / diagonal_[i];
    }
}

}  // namespace limber
