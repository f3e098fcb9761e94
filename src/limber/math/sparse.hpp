#pragma once
// Sparse matrices whose pattern is fixed when a model is compiled; only the values change from step to step.

#include <span>
#include <utility>
#include <vector>

#include "limber/math/types.hpp"

namespace limber {

/// Rows of a rectangular matrix, compressed by rows. Used for constraint Jacobians.
struct RowPattern {
    int columns = 0;
    std::vector<int> start{0};  ///< start[i] .. start[i+1] are the entries of row i
    std::vector<int> column;

    int rows() const { return static_cast<int>(start.size()) - 1; }
    int nonzeros() const { return static_cast<int>(column.size()); }
    std::span<const int> row(int i) const { return {column.data() + start[i], column.data() + start[i + 1]}; }

    /// Appends a row; the columns must be sorted and unique.
    void append(std::span<const int> sorted_columns);
};

/// result = J x
void multiply(const RowPattern& pattern, const std::vector<double>& values, const VecX& x, VecX& result);
/// result += scale * J^T y
void add_transposed(const RowPattern& pattern, const std::vector<double>& values, const VecX& y, double scale,
                    VecX& result);

/// Lower triangle of a symmetric matrix, compressed by columns, rows sorted, diagonal always present.
struct SymmetricPattern {
    int size = 0;
    std::vector<int> start{0};
    std::vector<int> row;

    int nonzeros() const { return static_cast<int>(row.size()); }
    /// Index of entry (i, j) or (j, i) in the value array; the entry must be in the pattern.
    int find(int i, int j) const;
};

/// Collects entries and cliques (all pairs of a set of coordinates), then builds the pattern.
class SymmetricPatternBuilder {
public:
    explicit SymmetricPatternBuilder(int size) : size_(size) {}
    void add(int i, int j);
    void add_clique(std::span<const int> coordinates);
    SymmetricPattern build();

private:
    int size_;
    std::vector<std::pair<int, int>> entries_;  ///< (column, row) of the lower triangle
};

/// result = A x
void multiply(const SymmetricPattern& pattern, const std::vector<double>& values, const VecX& x, VecX& result);

}  // namespace limber
