#pragma once
// Angles at the start may be any number of turns, but a joint that compares angles, as a gear does, holds only as
// closely as these are known: of S radians rounding leaves S / 2^52. Newton's method closes joints to about 1e-10.

#include <vector>

#include "limber/kinematics/mechanism/mechanism.hpp"

namespace limber {

/// Throws ModelError with the name of a joint or driver whose angles are too large at this configuration to be held.
template <int D>
void refuse_large_angles(const Mechanism<D>& mechanism, const std::vector<BodyState<D>>& states,
                         const std::vector<double>& memory);

}  // namespace limber
