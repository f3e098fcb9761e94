#include "limber/contact/cones/delassus.hpp"

#include <algorithm>

namespace limber {
namespace {

// Spatial contacts with friction, by far the most frequent ones.
using SlidingRows = Eigen::Map<const Eigen::Matrix<double, 3, 6, Eigen::RowMajor>>;

}  // namespace

void DelassusMatrix::start(std::span<const int> sizes, int bodies, int width) {
    bodies_ = bodies;
    width_ = width;
    first_.assign(1, 0);
    end_start_.clear();
    diagonal_start_.clear();
    std::size_t ends = 0;
    std::size_t diagonals = 0;
    for (const int size : sizes) {
        first_.push_back(first_.back() + size);
        for (int side = 0; side < 2; ++side, ends += static_cast<std::size_t>(size) * width) end_start_.push_back(ends);
        diagonal_start_.push_back(diagonals);
        diagonals += static_cast<std::size_t>(size) * size;
    }
    end_body_.assign(2 * sizes.size(), -1);
    row_.resize(ends);
    response_.resize(ends);
    inverse_mass_.resize(static_cast<std::size_t>(bodies) * width * width);
    diagonal_.assign(diagonals, 0.0);
    row_start_.assign(1, 0);
    column_.clear();
    value_start_.clear();
    values_.clear();
}

void DelassusMatrix::start_row() {
    row_start_.push_back(row_start_.back());
}

DelassusMatrix::Block DelassusMatrix::add_block(int j) {
    const int row = static_cast<int>(row_start_.size()) - 2;
    column_.push_back(j);
    ++row_start_.back();
    value_start_.push_back(values_.size());
    values_.resize(values_.size() + static_cast<std::size_t>(size(row)) * size(j), 0.0);
    return {&values_[value_start_.back()], size(row), size(j)};
}

void DelassusMatrix::finish() {
    for (int i = 0; i < block_count(); ++i) {
        Block own(&diagonal_[diagonal_start_[i]], size(i), size(i));
        for_each_joined(i, [&](int j, const ConstBlock& block) {
            if (j == i) own += block;
        });
        for (int side = 0; side < 2; ++side)
            if (end_body(i, side) >= 0)
                own += end_rows(i, side).lazyProduct(
                    ConstBlock(&response_[end_start_[2 * i + side]], size(i), width_).transpose());
    }
    is_touched_.assign(bodies_, false);
    for (const int body : end_body_)
        if (body >= 0) is_touched_[body] = true;
    touched_bodies_ = static_cast<int>(std::count(is_touched_.begin(), is_touched_.end(), true));
    if (!column_.empty()) ++touched_bodies_;
}

void DelassusMatrix::assign(const MatX& dense, std::span<const int> sizes) {
    start(sizes);
    for (int i = 0; i < block_count(); ++i) {
        start_row();
        for (int j = 0; j < block_count(); ++j)
            add_block(j) = dense.block(first_row(i), first_row(j), size(i), size(j));
    }
    finish();
}

void DelassusMatrix::to_dense(MatX& dense) const {
    dense.setZero(rows(), rows());
    for (int i = 0; i < block_count(); ++i)
        for_each_joined(i, [&](int j, const ConstBlock& block) {
            dense.block(first_row(i), first_row(j), size(i), size(j)) = block;
        });
    for (int i = 0; i < block_count(); ++i)
        for (int j = 0; j < block_count(); ++j)
            for (int a = 0; a < 2; ++a)
                for (int b = 0; b < 2; ++b)
                    if (end_body(i, a) >= 0 && end_body(i, a) == end_body(j, b))
                        dense.block(first_row(i), first_row(j), size(i), size(j)) += end_rows(i, a).lazyProduct(
                            ConstBlock(&response_[end_start_[2 * j + b]], size(j), width_).transpose());
}

void DelassusMatrix::add_carried(int i, const double* change, VecX& twists) const {
    for (int side = 0; side < 2; ++side) {
        const int body = end_body(i, side);
        if (body < 0) continue;
        const double* response = &response_[end_start_[2 * i + side]];
        if (size(i) == 3 && width_ == 6) {
            twists.segment<6>(body * 6).noalias() += SlidingRows(response).transpose() * Eigen::Map<const Vec3>(change);
        } else {
            twists.segment(body * width_, width_) +=
                ConstBlock(response, size(i), width_).transpose().lazyProduct(Eigen::Map<const VecX>(change, size(i)));
        }
    }
}

void DelassusMatrix::carry(const VecX& p, VecX& twists) const {
    twists.setZero(static_cast<Eigen::Index>(bodies_) * width_);
    for (int i = 0; i < block_count(); ++i) add_carried(i, p.data() + first_[i], twists);
}

void DelassusMatrix::multiply_row(int i, const VecX& p, const VecX& twists, Eigen::Ref<VecX> u) const {
    u.setZero();
    for (int side = 0; side < 2; ++side) {
        const int body = end_body(i, side);
        if (body < 0) continue;
        const double* row = &row_[end_start_[2 * i + side]];
        if (size(i) == 3 && width_ == 6) {
            u.head<3>().noalias() += SlidingRows(row) * twists.segment<6>(body * 6);
        } else {
            u += ConstBlock(row, size(i), width_).lazyProduct(twists.segment(body * width_, width_));
        }
    }
    for_each_joined(i, [&](int j, const ConstBlock& block) { u += block.lazyProduct(p.segment(first_[j], size(j))); });
}

void DelassusMatrix::multiply(const VecX& p, VecX& twists, VecX& u) const {
    carry(p, twists);
    u.resize(rows());
    for (int i = 0; i < block_count(); ++i) multiply_row(i, p, twists, u.segment(first_[i], size(i)));
}

}  // namespace limber
