#pragma once
// Rows that depend on each other wherever the mechanism goes: two wheels on one axle, the second hinge of a door.

#include "limber/dynamics/system/system.hpp"

namespace limber {

/// Positions where the mechanism was designed, all rows on. The evaluation is for matrices only: it refers to positions that are gone.
void update_reference_positions(const System& system, Evaluation& e);

/// Whether conditions on velocities depend on each other or on the other rows there.
bool has_dependent_velocity_rows(const System& system);

}  // namespace limber
