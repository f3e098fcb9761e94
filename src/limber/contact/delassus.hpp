#pragma once
// The Delassus operator W of a set of contacts: u = W p + u_free says what impulses p do to the relative velocities u.
//
// Sparse blocks: contacts are coupled if they touch the same body, or bodies that joints connect. Both triangles are stored, row of
// blocks after row of blocks. Filling again allocates nothing once the largest set of contacts has been seen.

#include <span>
#include <vector>

#include "limber/math/types.hpp"

namespace limber {

class DelassusMatrix {
public:
    using Block = Eigen::Map<Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>;
    using ConstBlock = Eigen::Map<const Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>;

    /// Begins anew with blocks of the given numbers of rows.
    void start(std::span<const int> sizes);
    /// The next row of blocks; its blocks follow by add_block(), one of them on the diagonal.
    void start_row();
    /// Block of the present row and column j, zero at first; valid until the next call.
    Block add_block(int j);

    /// All blocks of a dense symmetric matrix.
    void assign(const MatX& dense, std::span<const int> sizes);
    MatX to_dense() const;

    int block_count() const { return static_cast<int>(first_.size()) - 1; }
    int rows() const { return first_.back(); }
    int first_row(int i) const { return first_[i]; }
    int size(int i) const { return first_[i + 1] - first_[i]; }
    ConstBlock diagonal(int i) const { return block(i, diagonal_[i]); }

    /// u_i = (W p)_i
    void multiply_row(int i, const VecX& p, Eigen::Ref<VecX> u) const;
    void multiply(const VecX& p, VecX& u) const;

private:
    ConstBlock block(int row, int place) const {
        return {&values_[value_start_[place]], size(row), size(column_[place])};
    }

    std::vector<int> first_{0}, row_start_{0}, column_, diagonal_;
    std::vector<std::size_t> value_start_;
    std::vector<double> values_;
};

}  // namespace limber
