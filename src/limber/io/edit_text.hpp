#pragma once
// Edits as text, one per line: short commands, or the same as a YAML mapping.
//
//   add joints.pin {revolute: [rod.to, arm.from]}      {add: joints.pin, value: {revolute: [rod.to, arm.from]}}
//   close joints.pin {revolute: [rod.to, arm.from]}    draws the ends together first
//   remove bodies.rod with dependents                  {remove: bodies.rod, dependents: true}
//   set bodies.rod.mass 2                              {set: bodies.rod.mass, value: 2}
//   lock elbow, unlock elbow
//   pull rod.to [1, 2] stiffness 100 damping 5         {pull: rod.to, target: [1, 2], stiffness: 100}
//   release
//   impulse rod.to [0, 1] moment [0, 0, 1]             {impulse: rod.to, vector: [0, 1]}
//   use integrator rk4, use step 1e-3, use rho 0.5     {use: integrator, value: rk4}
//   undo, redo, renew, go 1.5

#include <string>
#include <vector>

#include "limber/model/edit.hpp"

namespace limber {

/// Throws ModelError that says what was expected.
Edit parse_edit(const std::string& text);
/// The short command; parse_edit gives the same edit back.
std::string format_edit(const Edit& edit);

/// One line each: form and meaning.
std::string describe_edits();

}  // namespace limber
