#pragma once
// Joints on the ground alone: `{prismatic: [ground, belt], axis: [1, 0]}` names no place on the ground, so it is the
// world's origin. Where bodies are drawn elsewhere, assembly would move them there, which is hardly what was meant.

#include "limber/kinematics/mechanism/mechanism.hpp"

namespace limber {

/// Throws ModelError if such a joint does not fit the bodies as they are drawn, but for what a sketch may be off.
template <int D>
void check_joints_on_ground(const Model& model, const Mechanism<D>& mechanism, const std::vector<double>& memory);

}  // namespace limber
