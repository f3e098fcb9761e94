#include "limber/modular/admittance.hpp"

#include <algorithm>
#include <cmath>

#include "limber/math/dense_factors.hpp"

namespace limber {
namespace {

// What counts as no admittance, over the largest one.
constexpr double negligible = 1e-8;

// Inverse on the part that moves.
MatX pseudo_inverse(const MatX& matrix) {
    const SymmetricEigen eigen = compute_symmetric_eigen(matrix);
    const VecX& s = eigen.values;
    VecX inverse = VecX::Zero(s.size());
    for (Eigen::Index i = 0; i < s.size(); ++i)
        if (s[i] > negligible * s[s.size() - 1]) inverse[i] = 1 / s[i];
    return eigen.vectors * inverse.asDiagonal() * eigen.vectors.transpose();
}

}  // namespace

Admittance::Admittance(int rows, const std::vector<std::vector<int>>& groups, std::vector<int> joints)
    : joints_(std::move(joints)) {
    SymmetricPatternBuilder builder(rows);
    for (int r = 0; r < rows; ++r) builder.add(r, r);
    for (const auto& group : groups) builder.add_clique(group);
    for (std::size_t j = 0; j + 1 < joints_.size(); ++j)
        for (int r = joints_[j]; r < joints_[j + 1]; ++r)
            for (int s = joints_[j]; s < r; ++s) builder.add(r, s);
    pattern_ = builder.build();
    values_.assign(pattern_.nonzeros(), 0.0);
    solver_ = make_linear_solver(pattern_);
    block_inverse_.resize(joints_.empty() ? 0 : joints_.size() - 1);
    product_ = moved_ = VecX::Zero(rows);
    sample_ = VecX(rows);
    for (int r = 0; r < rows; ++r) sample_[r] = std::cos(1.0 + r * r);
}

void Admittance::clear() {
    std::fill(values_.begin(), values_.end(), 0.0);
    is_ready_ = false;
}

VecX Admittance::row_sums() const {
    VecX sums = VecX::Zero(pattern_.size);
    for (int j = 0; j < pattern_.size; ++j)
        for (int k = pattern_.start[j]; k < pattern_.start[j + 1]; ++k) {
            sums[j] += std::abs(values_[k]);
            if (pattern_.row[k] != j) sums[pattern_.row[k]] += std::abs(values_[k]);
        }
    return sums;
}

bool Admittance::factorize() {
    double largest = 0;
    for (int r = 0; r < pattern_.size; ++r) largest = std::max(largest, diagonal(r));
    shifted_ = values_;
    for (int r = 0; r < pattern_.size; ++r) shifted_[pattern_.find(r, r)] += negligible * largest;
    is_ready_ = solver_->factorize(shifted_);
    are_blocks_old_ = true;
    // Any vector with a part that K does not move loses it in a projection.
    moved_ = sample_;
    project(moved_);
    is_singular_ = (moved_ - sample_).norm() > 1e-2 * sample_.norm();
    return is_ready_;
}

void Admittance::solve(VecX& x) {
    solver_->solve(x);
    project(x);
}

void Admittance::project(VecX& x) {
    limber::multiply(pattern_, values_, x, product_);
    x = product_;
    solver_->solve(x);
}

void Admittance::invert_blocks() {
    for (std::size_t j = 0; j < block_inverse_.size(); ++j) {
        const int first = joints_[j];
        const int size = joints_[j + 1] - first;
        MatX block(size, size);
        for (int r = 0; r < size; ++r)
            for (int s = 0; s <= r; ++s) block(r, s) = block(s, r) = values_[pattern_.find(first + r, first + s)];
        block_inverse_[j] = size > 0 ? pseudo_inverse(block) : block;
    }
    are_blocks_old_ = false;
}

void Admittance::solve_blocks(VecX& x) {
    if (are_blocks_old_) invert_blocks();
    for (std::size_t j = 0; j < block_inverse_.size(); ++j) {
        auto part = x.segment(joints_[j], joints_[j + 1] - joints_[j]);
        part = (block_inverse_[j] * part).eval();
    }
}

}  // namespace limber
