#pragma once
// Constraints that are open tell less than they seem to.
//
// A row that depends on the others where all are closed (every overconstrained loop has one) seems to be independent
// where they are open by some delta, as at the inner stages of a step: what it adds to the others is of the order of
// delta, its square in the matrix of the constraints of the order of delta^2, and the condition that it would add holds
// the mechanism fast. Where nothing is open, such rows share the load with the others instead. So they do where gains
// keep the constraints closed: these must act on all rows, in every step.

#include <algorithm>

#include "limber/dynamics/system/system.hpp"

namespace limber {

/// What is below this share of a row's usual square may be no condition at all; 0 where nothing is open.
inline double find_uncertain_share(const System& system, const Evaluation& e, const Gains& gains, int first_row = 0) {
    // Over the length of the mechanism.
    constexpr double still_closed = 1e-10;
    constexpr double rounding = 1e-12;
    constexpr double uncertainty = 3;       // times the opening
    constexpr double largest_share = 1e-3;  // however wide constraints are open, as after an edit
    if (gains.position != 0 || gains.rate != 0) return 0;
    const int count = system.holonomic_rows() - first_row;
    if (count == 0) return 0;
    const double open = e.phi.segment(first_row, count).lpNorm<Eigen::Infinity>() / system.length_scale();
    return open > still_closed ? std::clamp(uncertainty * uncertainty * open * open, rounding, largest_share) : 0;
}

}  // namespace limber
