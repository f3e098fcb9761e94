#pragma once
// The Delassus operator W of a set of contacts: u = W p + u_free says what impulses p do to the relative velocities u.
//
//   W = J M^-1 J^T + S
//
// J are the contacts' rows over the twists of bodies that no joint holds; each contact has at most two such bodies, its
// ends. S holds what goes through bodies that joints connect, block by block. The first part is never multiplied out:
// M^-1 J^T p, the twists that impulses give the bodies, is carried along and changed contact by contact, which costs
// the same however many contacts a body has.
//
// Filling again allocates nothing once the largest set of contacts has been seen.

#include <span>
#include <vector>

#include "limber/math/types.hpp"

namespace limber {

class DelassusMatrix {
public:
    using Block = Eigen::Map<Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>;
    using ConstBlock = Eigen::Map<const Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>;

    /// Begins anew with blocks of the given numbers of rows, and bodies whose twists have `width` entries.
    void start(std::span<const int> sizes, int bodies = 0, int width = 0);
    /// Inverse mass matrix of a body, before its ends are given.
    template <class Matrix>
    void set_inverse_mass(int body, const Matrix& inverse) {
        Block(&inverse_mass_[body * width_ * width_], width_, width_) = inverse;
    }
    /// J of block i on a body; side 0 or 1.
    template <class Rows>
    void set_end(int i, int side, int body, const Rows& rows) {
        end_body_[2 * i + side] = body;
        const std::size_t start = end_start_[2 * i + side];
        Block(&row_[start], size(i), width_) = rows;
        ConstBlock inverse(&inverse_mass_[body * width_ * width_], width_, width_);
        Block(&response_[start], size(i), width_) = rows.lazyProduct(inverse);
    }
    /// The next row of blocks of S; its blocks follow by add_block(). Every block has such a row, which may be empty.
    void start_row();
    /// Block of the present row and column j, zero at first; valid until the next call.
    Block add_block(int j);
    /// After the last row: diagonal blocks of W.
    void finish();

    /// Without bodies: all blocks of a dense symmetric matrix.
    void assign(const MatX& dense, std::span<const int> sizes);
    void to_dense(MatX& dense) const;

    int block_count() const { return static_cast<int>(first_.size()) - 1; }
    int rows() const { return first_.back(); }
    int first_row(int i) const { return first_[i]; }
    int size(int i) const { return first_[i + 1] - first_[i]; }
    ConstBlock diagonal(int i) const { return {&diagonal_[diagonal_start_[i]], size(i), size(i)}; }

    int body_count() const { return bodies_; }
    int body_width() const { return width_; }
    /// Bodies that contacts touch; all that joints connect count as one.
    int touched_bodies() const { return touched_bodies_; }
    /// Body of an end, -1: none.
    int end_body(int i, int side) const { return end_body_[2 * i + side]; }
    ConstBlock end_rows(int i, int side) const { return {&row_[end_start_[2 * i + side]], size(i), width_}; }
    ConstBlock inverse_mass(int body) const { return {&inverse_mass_[body * width_ * width_], width_, width_}; }
    /// Whether S has anything in the row of block i.
    bool is_joined(int i) const { return row_start_[i] < row_start_[i + 1]; }
    /// use(j, block) for the blocks of S in the row of block i.
    template <class Use>
    void for_each_joined(int i, const Use& use) const {
        for (int place = row_start_[i]; place < row_start_[i + 1]; ++place) use(column_[place], block(i, place));
    }

    /// twists = M^-1 J^T p
    void carry(const VecX& p, VecX& twists) const;
    /// twists += M^-1 J_i^T change
    void add_carried(int i, const double* change, VecX& twists) const;
    /// u = (W p)_i, with what p carries
    void multiply_row(int i, const VecX& p, const VecX& twists, Eigen::Ref<VecX> u) const;
    /// u = W p; `twists` becomes what p carries.
    void multiply(const VecX& p, VecX& twists, VecX& u) const;

private:
    ConstBlock block(int row, int place) const {
        return {&values_[value_start_[place]], size(row), size(column_[place])};
    }

    int bodies_ = 0, width_ = 0, touched_bodies_ = 0;
    std::vector<bool> is_touched_;
    std::vector<int> first_{0};
    std::vector<int> end_body_;
    std::vector<std::size_t> end_start_;
    std::vector<double> row_, response_, inverse_mass_;  // J, J M^-1 of all ends; M^-1 of all bodies
    std::vector<std::size_t> diagonal_start_;
    std::vector<double> diagonal_;
    std::vector<int> row_start_{0}, column_;  // S
    std::vector<std::size_t> value_start_;
    std::vector<double> values_;
};

}  // namespace limber
