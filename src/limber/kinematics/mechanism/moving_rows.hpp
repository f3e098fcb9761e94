#pragma once
// Rows that move with time, so that what holds them does work: drivers, and velocity joints that ask for a velocity.

#include <algorithm>

#include "limber/kinematics/elements/constraint_set.hpp"

namespace limber {

template <int D>
bool has_moving_rows(const ConstraintSet<D>& constraints) {
    return std::any_of(constraints.laws.begin(), constraints.laws.end(),
                       [](const auto& law) { return !law.is_constant(); }) ||
           std::any_of(constraints.user_rows.begin(), constraints.user_rows.end(),
                       [](const UserVelocityRow& row) { return !row.rhs.is_constant() || row.rhs.constant() != 0; });
}

}  // namespace limber
