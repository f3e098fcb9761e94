#pragma once
// Options other than the usual ones, field by field.

#include <string>

#include "limber/simulation/option_table.hpp"

namespace limber::testing {

/// A value of the row that is allowed, and not the one it has.
template <class Options>
OptionValue another_value(const OptionRow<Options>& row, const Options& options) {
    const OptionValue now = row.get(options);
    if (!row.words.empty()) return row.words[std::get<std::string>(now) == row.words[0] ? 1 : 0];
    if (const auto* truth = std::get_if<bool>(&now)) return !*truth;
    if (const auto* text = std::get_if<std::string>(&now)) return *text + "x";
    if (const auto* joints = std::get_if<JointNumbers>(&now)) {
        JointNumbers more = *joints;
        more.emplace_back("elbow", 3.5);
        return more;
    }
    if (const auto* whole = std::get_if<long>(&now)) return *whole + (static_cast<double>(*whole) < row.most ? 1 : -1);
    // Within the range; of a wide one not far from its lower end.
    const double number = std::get<double>(now);
    const double middle = 0.5 * (row.least + std::min(row.most, row.least + 4 * (1 + std::abs(row.least))));
    return number == middle ? row.least : middle;
}

struct Anything {
    template <class T>
    operator T() const;
};

/// How many fields a plain structure has.
template <class T, class... Fields>
constexpr std::size_t count_fields_of() {
    if constexpr (requires { T{Fields{}..., Anything{}}; }) {
        return count_fields_of<T, Fields..., Anything>();
    } else {
        return sizeof...(Fields);
    }
}

}  // namespace limber::testing
