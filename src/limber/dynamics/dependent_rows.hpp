#pragma once
// Rows that depend on each other wherever the mechanism goes: two wheels on one axle, the second hinge of a door.

#include "limber/dynamics/system/system.hpp"

namespace limber {

/// Positions where the mechanism was designed, with the rows of contacts and of friction that sticks on or off. The
/// evaluation is for matrices only: it refers to positions that are gone.
void update_reference_positions(const System& system, Evaluation& e, bool with_contacts = true);

/// Whether conditions on velocities depend on each other or on the other rows there.
bool has_dependent_velocity_rows(const System& system, bool with_contacts = true);

}  // namespace limber
