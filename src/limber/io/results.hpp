#pragma once
// Results: a table with one row per instant, written as CSV or HDF5.

#include <string>
#include <vector>

namespace limber {

struct ResultTable {
    std::vector<std::string> columns;  ///< the first is "t"
    std::vector<double> values;        ///< row by row

    std::size_t rows() const { return columns.empty() ? 0 : values.size() / columns.size(); }
    double at(std::size_t row, std::size_t column) const { return values[row * columns.size() + column]; }
    std::vector<double> column(std::size_t index) const;
    /// By its name: "t", "tip.x". Throws ModelError if there is none.
    std::vector<double> column(const std::string& name) const;
    /// Indices of the columns called `name`, or of all its components "name.x", "name.y", ...
    std::vector<std::size_t> find(const std::string& name) const;
};

enum class ResultFormat { csv, hdf5 };

/// The bytes of a file; `title` goes into it where the format has a place for one. Any number of threads.
std::string encode_results(const ResultTable& table, ResultFormat format, const std::string& title);

/// By the file's ending: .csv or .h5/.hdf5. An older file gives way in one go. Throws ModelError if it cannot be
/// written.
void write_results(const ResultTable& table, const std::string& path, const std::string& title);

/// By the file's ending; throws ModelError if it is none of ours.
ResultFormat results_format(const std::string& path);

}  // namespace limber
