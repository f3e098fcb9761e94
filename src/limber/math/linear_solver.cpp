#include "limber/math/linear_solver.hpp"

#include <amd.h>

#include <algorithm>
#include <cmath>

#include "limber/math/interruption.hpp"

namespace limber {
namespace {

// A pivot this small relative to the diagonal entry it came from is rounding error.
constexpr double frozen_pivot_ratio = 2e-14;

bool must_freeze(double pivot, double diagonal, double floor) {
    return !(std::abs(pivot) > std::max(frozen_pivot_ratio * std::abs(diagonal), floor));
}

// Order of elimination and structure of L for the up-looking factorisation: row k of L is found by a sparse
// triangular solve with the rows above it. All index lists are computed once, so that the numeric phase only
// multiplies and adds.
class SparseSolver final : public LinearSolver {
public:
    explicit SparseSolver(const SymmetricPattern& pattern) : size_(pattern.size) {
        order(pattern);
        gather_upper(pattern);
        analyse();
        work_.resize(size_);
        inverse_pivot_.resize(size_);
        l_values_.resize(l_start_[size_]);
    }

    bool factorize(const std::vector<double>& values, std::span<const double> floor) override {
        frozen_ = 0;
        double* y = work_.data();
        for (int k = 0; k < size_; ++k) {
            if (k % 64 == 0) check_interruption();  // the scratch memory is all zeros here
            for (int p = a_start_[k]; p < a_start_[k + 1]; ++p) y[a_row_[p]] = values[a_source_[p]];
            const double diagonal = values[diagonal_source_[k]];
            double pivot = diagonal;
            for (int r = row_start_[k]; r < row_start_[k + 1]; ++r) {
                const int i = row_column_[r];
                const int end = row_position_[r];
                const double yi = y[i];
                y[i] = 0;
                for (int p = l_start_[i]; p < end; ++p) y[l_row_[p]] -= l_values_[p] * yi;
                const double l = yi * inverse_pivot_[i];
                l_values_[end] = l;
                pivot -= l * yi;
            }
            if (!std::isfinite(pivot)) {
                std::fill(work_.begin(), work_.end(), 0.0);
                return false;
            }
            const bool frozen = must_freeze(pivot, diagonal, floor.empty() ? 0 : floor[permutation_[k]]);
            frozen_ += frozen ? 1 : 0;
            inverse_pivot_[k] = frozen ? 0 : 1 / pivot;
        }
        return true;
    }

    bool is_frozen(int unknown) const override { return inverse_pivot_[position_[unknown]] == 0; }

    void solve(VecX& x) override {
        double* y = work_.data();
        for (int k = 0; k < size_; ++k) y[k] = x[permutation_[k]];
        for (int j = 0; j < size_; ++j) {
            const double yj = y[j];
            for (int p = l_start_[j]; p < l_start_[j + 1]; ++p) y[l_row_[p]] -= l_values_[p] * yj;
        }
        for (int j = size_ - 1; j >= 0; --j) {
            double yj = y[j] * inverse_pivot_[j];
            for (int p = l_start_[j]; p < l_start_[j + 1]; ++p) yj -= l_values_[p] * y[l_row_[p]];
            y[j] = inverse_pivot_[j] == 0 ? 0 : yj;
        }
        for (int k = 0; k < size_; ++k) x[permutation_[k]] = y[k];
        std::fill(work_.begin(), work_.end(), 0.0);
    }

private:
    void order(const SymmetricPattern& pattern) {
        permutation_.resize(size_);
        // AMD accepts one triangle; it symmetrises the pattern itself.
        amd_order(size_, pattern.start.data(), pattern.row.data(), permutation_.data(), nullptr, nullptr);
        position_.resize(size_);
        for (int k = 0; k < size_; ++k) position_[permutation_[k]] = k;
    }

    // Strict upper triangle of the permuted matrix by columns, with the place each value comes from.
    void gather_upper(const SymmetricPattern& pattern) {
        a_start_.assign(size_ + 1, 0);
        diagonal_source_.resize(size_);
        for (int j = 0; j < size_; ++j)
            for (int p = pattern.start[j]; p < pattern.start[j + 1]; ++p)
                if (pattern.row[p] != j) ++a_start_[std::max(position_[j], position_[pattern.row[p]]) + 1];
        for (int k = 0; k < size_; ++k) a_start_[k + 1] += a_start_[k];
        a_row_.resize(a_start_[size_]);
        a_source_.resize(a_start_[size_]);
        std::vector<int> next(a_start_.begin(), a_start_.end() - 1);
        for (int j = 0; j < size_; ++j)
            for (int p = pattern.start[j]; p < pattern.start[j + 1]; ++p) {
                const int a = position_[j];
                const int b = position_[pattern.row[p]];
                if (a == b) {
                    diagonal_source_[a] = p;
                } else {
                    const int slot = next[std::max(a, b)]++;
                    a_row_[slot] = std::min(a, b);
                    a_source_[slot] = p;
                }
            }
    }

    void analyse() {
        std::vector<int> parent(size_, -1);
        std::vector<int> mark(size_, -1);
        std::vector<int> count(size_, 0);
        std::vector<std::vector<int>> rows(size_);
        for (int k = 0; k < size_; ++k) {
            if (k % 64 == 0) check_interruption();
            mark[k] = k;
            for (int p = a_start_[k]; p < a_start_[k + 1]; ++p)
                for (int i = a_row_[p]; mark[i] != k; i = parent[i]) {
                    if (parent[i] == -1) parent[i] = k;
                    mark[i] = k;
                    rows[k].push_back(i);
                    ++count[i];
                }
            std::sort(rows[k].begin(), rows[k].end());
        }
        l_start_.assign(size_ + 1, 0);
        for (int j = 0; j < size_; ++j) l_start_[j + 1] = l_start_[j] + count[j];
        l_row_.resize(l_start_[size_]);
        std::vector<int> next(l_start_.begin(), l_start_.end() - 1);
        row_start_.assign(1, 0);
        for (int k = 0; k < size_; ++k) {
            for (const int i : rows[k]) {
                row_column_.push_back(i);
                row_position_.push_back(next[i]);
                l_row_[next[i]++] = k;
            }
            row_start_.push_back(static_cast<int>(row_column_.size()));
        }
    }

    int size_;
    std::vector<int> permutation_, position_;      // new -> old, old -> new
    std::vector<int> a_start_, a_row_, a_source_;  // strict upper triangle of the permuted matrix
    std::vector<int> diagonal_source_;
    std::vector<int> l_start_, l_row_;                        // L by columns
    std::vector<int> row_start_, row_column_, row_position_;  // L by rows: column and place of the value
    std::vector<double> l_values_, inverse_pivot_, work_;
};

// Column by column: column k of L D is what is left of that of A when the columns before it have been subtracted, four
// in a sweep. All lie contiguous in memory and are treated element by element, which suits vector instructions. They
// are subtracted one after the other, not their sum: after the first the large terms of a penalty are gone, and the
// others keep their digits.
class DenseSolver final : public LinearSolver {
public:
    explicit DenseSolver(const SymmetricPattern& pattern) : size_(pattern.size) {
        for (int j = 0; j < size_; ++j)
            for (int p = pattern.start[j]; p < pattern.start[j + 1]; ++p)
                place_.push_back(static_cast<std::size_t>(j) * size_ + pattern.row[p]);
        matrix_.assign(static_cast<std::size_t>(size_) * size_, 0.0);
        inverse_pivot_.assign(size_, 0.0);
    }

    bool factorize(const std::vector<double>& values, std::span<const double> floor) override {
        frozen_ = 0;
        std::fill(matrix_.begin(), matrix_.end(), 0.0);
        for (std::size_t p = 0; p < place_.size(); ++p) matrix_[place_[p]] = values[p];
        for (int k = 0; k < size_; ++k) {
            if (k % 64 == 0) check_interruption();
            double* column = column_of(k);
            const double diagonal = column[k];
            subtract_columns_before(k);
            const double pivot = column[k];
            if (!std::isfinite(pivot)) return false;
            const bool frozen = must_freeze(pivot, diagonal, floor.empty() ? 0 : floor[k]);
            frozen_ += frozen ? 1 : 0;
            inverse_pivot_[k] = frozen ? 0 : 1 / pivot;
        }
        for (int k = 0; k < size_; ++k) {
            double* column = column_of(k);
            for (int i = k + 1; i < size_; ++i) column[i] *= inverse_pivot_[k];
        }
        return true;
    }

    bool is_frozen(int unknown) const override { return inverse_pivot_[unknown] == 0; }

    void solve(VecX& x) override {
        double* y = x.data();
        for (int k = 0; k < size_; ++k) {
            const double* column = column_of(k);
            const double yk = y[k];
            for (int i = k + 1; i < size_; ++i) y[i] -= column[i] * yk;
        }
        for (int k = size_ - 1; k >= 0; --k) {
            const double* column = column_of(k);
            double sum = y[k] * inverse_pivot_[k];
            for (int i = size_ - 1; i > k; --i) sum -= column[i] * y[i];
            y[k] = is_frozen(k) ? 0 : sum;
        }
    }

private:
    double* column_of(int k) { return matrix_.data() + static_cast<std::size_t>(k) * size_; }

    // A(i,k) - sum_j L(i,j) D(j) L(k,j) for i >= k, from columns of L D
    void subtract_columns_before(int k) {
        double* __restrict result = column_of(k);
        const auto weight = [&](int j) { return column_of(j)[k] * inverse_pivot_[j]; };
        int j = 0;
        for (; j + 4 <= k; j += 4) {
            const double* __restrict a = column_of(j);
            const double* __restrict b = column_of(j + 1);
            const double* __restrict c = column_of(j + 2);
            const double* __restrict d = column_of(j + 3);
            const double wa = weight(j);
            const double wb = weight(j + 1);
            const double wc = weight(j + 2);
            const double wd = weight(j + 3);
            for (int i = k; i < size_; ++i) result[i] = result[i] - wa * a[i] - wb * b[i] - wc * c[i] - wd * d[i];
        }
        for (; j < k; ++j) {
            const double* __restrict a = column_of(j);
            const double wa = weight(j);
            for (int i = k; i < size_; ++i) result[i] -= wa * a[i];
        }
    }

    int size_;
    std::vector<std::size_t> place_;
    std::vector<double> matrix_, inverse_pivot_;
};

}  // namespace

std::unique_ptr<LinearSolver> make_linear_solver(const SymmetricPattern& pattern, SolverKind kind) {
    if (kind == SolverKind::automatic) {
        const double full = 0.5 * pattern.size * (pattern.size + 1.0);
        const bool is_small = pattern.size <= 12;
        const bool is_nearly_full = pattern.nonzeros() > 0.5 * full;
        kind = is_small || is_nearly_full ? SolverKind::dense : SolverKind::sparse;
    }
    if (kind == SolverKind::dense) return std::make_unique<DenseSolver>(pattern);
    return std::make_unique<SparseSolver>(pattern);
}

}  // namespace limber
