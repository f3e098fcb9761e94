#pragma once
// Motions without inertia follow from the balance of forces at every instant (see inertialess.hpp). Formulations that
// solve for accelerations cannot find them; step solvers find the balance at the end of a step by Newton's method, if
// the scheme is stable for whatever has no inertia: the limit of infinite frequency.

#include <string>

namespace limber {

bool can_balance_forces(const std::string& formulation, const std::string& integrator);
/// "global, hybrid or semi-recursive with trapezoidal, newmark, hht or generalized-alpha"
std::string list_what_balances_forces();

}  // namespace limber
