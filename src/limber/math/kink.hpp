#pragma once
// Kinks: corners and jumps of a function, told by a quantity that crosses them.

#include <array>
#include <limits>
#include <span>
#include <vector>

namespace limber {

/// A quantity, and the places along it where a function of it has a kink.
struct KinkArgument {
    double value = 0;
    double rate = std::numeric_limits<double>::quiet_NaN();  ///< by time; not a number: unknown
    std::span<const double> at;                              ///< in rising order
};

using KinkArguments = std::vector<KinkArgument>;

inline constexpr std::array<double, 1> kink_at_zero{0.0};

}  // namespace limber
