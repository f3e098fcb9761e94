#include "limber/contact/stops/lemke.hpp"

#include <cmath>

namespace limber {
namespace {

constexpr double table_rounding = 1e-11;  // of entries of the table, which are of the size of one
constexpr int pivots_per_row = 20;        // a path is seldom longer than two or three

}  // namespace

// Whether a row's ratio is smaller: first of the right-hand side, then of the columns that began as the identity.
bool LemkeSolver::comes_first(int row, int other, int entering) const {
    const double a = table_(row, entering);
    const double b = table_(other, entering);
    const auto difference = [&](int column) { return table_(row, column) / a - table_(other, column) / b; };
    double d = difference(2 * size_ + 1);
    for (int k = 0; std::abs(d) <= table_rounding && k < size_; ++k) d = difference(k);
    return d < 0;
}

int LemkeSolver::find_leaving_row(int entering) const {
    const int artificial = 2 * size_;
    int leaving = -1;
    for (int row = 0; row < size_; ++row) {
        if (!(table_(row, entering) > table_rounding)) continue;
        if (leaving < 0 || comes_first(row, leaving, entering)) leaving = row;
    }
    if (leaving < 0) return leaving;
    // Where the artificial variable can leave as well, that is the end.
    for (int row = 0; row < size_; ++row) {
        if (basic_[row] != artificial || !(table_(row, entering) > table_rounding)) continue;
        const double ratio = table_(row, artificial + 1) / table_(row, entering);
        const double least = table_(leaving, artificial + 1) / table_(leaving, entering);
        if (ratio <= least + table_rounding) leaving = row;
    }
    return leaving;
}

void LemkeSolver::pivot(int row, int entering) {
    table_.row(row) /= table_(row, entering);
    for (int other = 0; other < size_; ++other) {
        const double factor = table_(other, entering);
        if (other != row && factor != 0) table_.row(other) -= factor * table_.row(row);
    }
    basic_[row] = entering;
}

bool LemkeSolver::solve(const MatX& m, const VecX& b, VecX& z) {
    size_ = static_cast<int>(b.size());
    z.setZero(size_);
    int row = 0;
    if (size_ == 0 || b.minCoeff(&row) >= 0) return true;
    const int artificial = 2 * size_;
    table_.resize(size_, 2 * size_ + 2);
    table_.leftCols(size_).setIdentity();
    table_.middleCols(size_, size_) = -m;
    table_.col(artificial).setConstant(-1);
    table_.col(artificial + 1) = b;
    basic_.resize(size_);
    for (int k = 0; k < size_; ++k) basic_[k] = k;
    int entering = artificial;
    for (int pivots = 0; pivots < pivots_per_row * size_; ++pivots) {
        const int leaving = basic_[row];
        pivot(row, entering);
        if (leaving == artificial) {
            for (int k = 0; k < size_; ++k)
                if (basic_[k] >= size_ && basic_[k] < artificial) z[basic_[k] - size_] = table_(k, artificial + 1);
            return z.allFinite();
        }
        // What leaves lets its partner in.
        entering = leaving < size_ ? leaving + size_ : leaving - size_;
        row = find_leaving_row(entering);
        if (row < 0) return false;
    }
    return false;
}

}  // namespace limber
