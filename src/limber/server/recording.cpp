#include "limber/server/recording.hpp"

#include <algorithm>
#include <cmath>

namespace limber {

void Recording::clear() {
    *this = Recording(max_values_);
}

void Recording::set_columns(const std::vector<std::string>& columns) {
    present_.clear();
    for (const std::string& column : columns) {
        const auto it = std::find(table_.columns.begin(), table_.columns.end(), column);
        present_.push_back(it - table_.columns.begin());
        if (it == table_.columns.end()) add_column(column);
    }
}

void Recording::add_column(const std::string& name) {
    const std::size_t width = table_.columns.size();
    std::vector<double> wider;
    wider.reserve(table_.rows() * (width + 1));
    for (std::size_t row = 0; row < table_.rows(); ++row) {
        const auto first = table_.values.begin() + static_cast<std::ptrdiff_t>(row * width);
        wider.insert(wider.end(), first, first + static_cast<std::ptrdiff_t>(width));
        wider.push_back(std::nan(""));
    }
    table_.values = std::move(wider);
    table_.columns.push_back(name);
}

void Recording::add(double time, const std::vector<double>& values) {
    const std::size_t width = table_.columns.size();
    std::size_t rows = table_.rows();
    while (rows > 0 && table_.at(rows - 1, 0) >= time) --rows;
    table_.values.resize(rows * width);
    // A little earlier will do: times are sums of steps.
    if (rows > 0 && time - table_.at(rows - 1, 0) < 0.99 * least_interval_) return;
    table_.values.resize((rows + 1) * width, std::nan(""));
    double* row = &table_.values[rows * width];
    row[0] = time;
    for (std::size_t i = 0; i < present_.size(); ++i) row[present_[i]] = values[i];
    if (table_.values.size() > max_values_) thin_out();
}

void Recording::thin_out() {
    const std::size_t width = table_.columns.size();
    std::size_t kept = 0;
    for (std::size_t row = 0; row < table_.rows(); row += 2, ++kept)
        std::copy_n(&table_.values[row * width], width, &table_.values[kept * width]);
    table_.values.resize(kept * width);
    if (kept > 1) least_interval_ = (table_.at(kept - 1, 0) - table_.at(0, 0)) / static_cast<double>(kept - 1);
}

}  // namespace limber
