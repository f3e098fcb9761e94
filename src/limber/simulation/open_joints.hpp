#pragma once
// Words for joints that cannot be closed: which one, by how much, what to look at.

#include <string>

#include "limber/kinematics/body_space/worst_row.hpp"
#include "limber/model/model.hpp"

namespace limber {

/// "joint 'pin': the mechanism cannot be assembled: it stays open by 0.02 m; ...". `what` is what cannot be done.
std::string describe_open_joint(const Model& model, const WorstRow& row, const std::string& what);

/// The same for velocities: "joint 'pin': the velocities contradict each other: it is off by 0.02 m/s".
std::string describe_contradiction(const WorstRow& row, const std::string& what);

}  // namespace limber
