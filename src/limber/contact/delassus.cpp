#include "limber/contact/delassus.hpp"

namespace limber {

void DelassusMatrix::start(std::span<const int> sizes) {
    first_.assign(1, 0);
    for (const int size : sizes) first_.push_back(first_.back() + size);
    row_start_.clear();
    column_.clear();
    diagonal_.clear();
    value_start_.clear();
    values_.clear();
}

void DelassusMatrix::start_row() {
    row_start_.push_back(static_cast<int>(column_.size()));
    diagonal_.push_back(-1);
}

DelassusMatrix::Block DelassusMatrix::add_block(int j) {
    const int row = static_cast<int>(diagonal_.size()) - 1;
    if (j == row) diagonal_[row] = static_cast<int>(column_.size());
    column_.push_back(j);
    value_start_.push_back(values_.size());
    values_.resize(values_.size() + static_cast<std::size_t>(size(row)) * size(j), 0.0);
    return {&values_[value_start_.back()], size(row), size(j)};
}

void DelassusMatrix::assign(const MatX& dense, std::span<const int> sizes) {
    start(sizes);
    for (int i = 0; i < block_count(); ++i) {
        start_row();
        for (int j = 0; j < block_count(); ++j)
            add_block(j) = dense.block(first_row(i), first_row(j), size(i), size(j));
    }
}

MatX DelassusMatrix::to_dense() const {
    MatX dense = MatX::Zero(rows(), rows());
    for (int i = 0; i < block_count(); ++i) {
        const int end = i + 1 < block_count() ? row_start_[i + 1] : static_cast<int>(column_.size());
        for (int place = row_start_[i]; place < end; ++place)
            dense.block(first_row(i), first_row(column_[place]), size(i), size(column_[place])) = block(i, place);
    }
    return dense;
}

void DelassusMatrix::multiply_row(int i, const VecX& p, Eigen::Ref<VecX> u) const {
    using Mat3Rows = Eigen::Matrix<double, 3, 3, Eigen::RowMajor>;
    const int end = i + 1 < block_count() ? row_start_[i + 1] : static_cast<int>(column_.size());
    if (size(i) == 3) {
        // Spatial contacts with friction, by far the most frequent ones.
        Vec3 sum = Vec3::Zero();
        for (int place = row_start_[i]; place < end; ++place) {
            const int j = column_[place];
            if (size(j) == 3) {
                sum.noalias() += Eigen::Map<const Mat3Rows>(&values_[value_start_[place]]) *
                                 Eigen::Map<const Vec3>(p.data() + first_[j]);
            } else {
                sum += block(i, place).lazyProduct(p.segment(first_[j], size(j)));
            }
        }
        u = sum;
        return;
    }
    u.setZero();
    for (int place = row_start_[i]; place < end; ++place)
        u += block(i, place).lazyProduct(p.segment(first_[column_[place]], size(column_[place])));
}

void DelassusMatrix::multiply(const VecX& p, VecX& u) const {
    u.resize(rows());
    for (int i = 0; i < block_count(); ++i) multiply_row(i, p, u.segment(first_[i], size(i)));
}

}  // namespace limber
