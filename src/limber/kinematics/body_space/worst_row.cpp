#include "limber/kinematics/body_space/worst_row.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "limber/math/types.hpp"

namespace limber {

std::string describe_row_error(double error, RowQuantity quantity, bool is_rate) {
    const char* per_second = is_rate ? "/s" : "";
    const double size = std::abs(error);
    constexpr double degree = pi / 180;
    switch (quantity) {
        case RowQuantity::length: return fmt::format("{:.3g} m{}", size, per_second);
        case RowQuantity::angle: return fmt::format("{:.3g} deg{}", size / degree, per_second);
        case RowQuantity::direction:
            // A rate of the product is, near the right place, one of the angle.
            return fmt::format("{:.3g} deg{}", (is_rate ? size : std::asin(std::min(1.0, size))) / degree, per_second);
        case RowQuantity::mixed: break;
    }
    return fmt::format("{:.3g}, in the units of its coordinates{}", size, is_rate ? " per second" : "");
}

}  // namespace limber
