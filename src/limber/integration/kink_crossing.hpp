#pragma once
// Where a quantity comes to a kink within a step, by the cubic through its values and rates at both ends, or by the
// straight line where rates are not known:
//
//   g(s) = g0 + r0 s + c s^2 + d s^3,   0 <= s <= 1,   c = 3 (g1 - g0) - 2 r0 - r1,   d = 2 (g0 - g1) + r0 + r1

#include "limber/math/kink.hpp"

namespace limber {

/// The first place, as a share of the step, behind which one of them lies beyond a kink; what is nearer to the ends of
/// the step than `margin` does not count. 1: none. Both lists belong together, `h` is the time between them.
double find_first_crossing(const KinkArguments& from, const KinkArguments& to, double h, double margin);

}  // namespace limber
