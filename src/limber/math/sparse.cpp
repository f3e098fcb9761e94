#include "limber/math/sparse.hpp"

#include <algorithm>
#include <cassert>

namespace limber {

void RowPattern::append(std::span<const int> sorted_columns) {
    column.insert(column.end(), sorted_columns.begin(), sorted_columns.end());
    start.push_back(static_cast<int>(column.size()));
}

void multiply(const RowPattern& pattern, const std::vector<double>& values, const VecX& x, VecX& result) {
    const int rows = pattern.rows();
    for (int i = 0; i < rows; ++i) {
        double sum = 0;
        for (int k = pattern.start[i]; k < pattern.start[i + 1]; ++k) sum += values[k] * x[pattern.column[k]];
        result[i] = sum;
    }
}

void add_transposed(const RowPattern& pattern, const std::vector<double>& values, const VecX& y, double scale,
                    VecX& result) {
    const int rows = pattern.rows();
    for (int i = 0; i < rows; ++i) {
        const double weight = scale * y[i];
        for (int k = pattern.start[i]; k < pattern.start[i + 1]; ++k) result[pattern.column[k]] += values[k] * weight;
    }
}

int SymmetricPattern::find(int i, int j) const {
    if (i < j) std::swap(i, j);
    const auto first = row.begin() + start[j];
    const auto last = row.begin() + start[j + 1];
    const auto it = std::lower_bound(first, last, i);
    assert(it != last && *it == i);
    return static_cast<int>(it - row.begin());
}

void SymmetricPatternBuilder::add(int i, int j) {
    if (i < j) std::swap(i, j);
    entries_.emplace_back(j, i);
}

void SymmetricPatternBuilder::add_clique(std::span<const int> coordinates) {
    for (const int i : coordinates)
        for (const int j : coordinates)
            if (i >= j) entries_.emplace_back(j, i);
}

SymmetricPattern SymmetricPatternBuilder::build() {
    for (int i = 0; i < size_; ++i) entries_.emplace_back(i, i);
    // Sorted by counting, rows first: linear in the number of entries, which makes compiling so.
    const auto deal = [&](auto key, auto place) {
        std::vector<int> next(size_ + 1, 0);
        for (const auto& entry : entries_) ++next[key(entry) + 1];
        for (int i = 0; i < size_; ++i) next[i + 1] += next[i];
        for (const auto& entry : entries_) place(next[key(entry)]++, entry);
    };
    std::vector<std::pair<int, int>> by_row(entries_.size());
    deal([](const auto& entry) { return entry.second; }, [&](int at, const auto& entry) { by_row[at] = entry; });
    entries_.swap(by_row);
    deal([](const auto& entry) { return entry.first; }, [&](int at, const auto& entry) { by_row[at] = entry; });

    SymmetricPattern pattern;
    pattern.size = size_;
    pattern.start.assign(size_ + 1, 0);
    pattern.row.reserve(by_row.size());
    for (std::size_t k = 0; k < by_row.size(); ++k) {
        if (k > 0 && by_row[k] == by_row[k - 1]) continue;
        ++pattern.start[by_row[k].first + 1];
        pattern.row.push_back(by_row[k].second);
    }
    for (int j = 0; j < size_; ++j) pattern.start[j + 1] += pattern.start[j];
    entries_.clear();
    return pattern;
}

void multiply(const SymmetricPattern& pattern, const std::vector<double>& values, const VecX& x, VecX& result) {
    result.setZero();
    for (int j = 0; j < pattern.size; ++j) {
        const int diagonal = pattern.start[j];
        double sum = values[diagonal] * x[j];
        for (int k = diagonal + 1; k < pattern.start[j + 1]; ++k) {
            const int i = pattern.row[k];
            result[i] += values[k] * x[j];
            sum += values[k] * x[i];
        }
        result[j] += sum;
    }
}

}  // namespace limber
