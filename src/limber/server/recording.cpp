#include "limber/server/recording.hpp"

#include <algorithm>
#include <cmath>

namespace limber {

void Recording::clear() {
    *this = Recording(most_values_);
}

void Recording::set_columns(const std::vector<std::string>& columns) {
    present_.clear();
    for (const std::string& column : columns) {
        const auto it = std::find(columns_.begin(), columns_.end(), column);
        present_.push_back(it - columns_.begin());
        if (it == columns_.end()) columns_.push_back(column);
    }
}

void Recording::add(double time, const std::vector<double>& values) {
    const auto later =
        std::find_if(instants_.rbegin(), instants_.rend(), [&](const Instant& i) { return i.time < time; });
    instants_.erase(later.base(), instants_.end());
    // A little earlier will do: times are sums of steps.
    if (!instants_.empty() && time - instants_.back().time < 0.99 * least_interval_) return;
    Instant instant{time, std::vector<double>(columns_.size(), std::nan(""))};
    for (std::size_t i = 0; i < present_.size(); ++i) instant.values[present_[i]] = values[i];
    instants_.push_back(std::move(instant));
    if (instants_.size() * (1 + columns_.size()) > most_values_) thin_out();
}

void Recording::thin_out() {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < instants_.size(); i += 2) std::swap(instants_[kept++], instants_[i]);
    instants_.resize(kept);
    if (kept > 1) least_interval_ = (instants_.back().time - instants_.front().time) / static_cast<double>(kept - 1);
}

ResultTable Recording::make_table() const {
    ResultTable table;
    table.columns = {"t"};
    table.columns.insert(table.columns.end(), columns_.begin(), columns_.end());
    for (const Instant& instant : instants_) {
        table.values.push_back(instant.time);
        table.values.insert(table.values.end(), instant.values.begin(), instant.values.end());
        table.values.resize(table.values.size() + columns_.size() - instant.values.size(), std::nan(""));
    }
    return table;
}

}  // namespace limber
