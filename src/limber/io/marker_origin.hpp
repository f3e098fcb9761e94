#pragma once
// Where a marker comes from: with its body, from a joint that places itself, or by its own entry. Internal to the room.

#include "limber/model/model.hpp"

namespace limber {

/// Whether a marker comes with its body: origin, com, and from and to of a rod.
bool comes_with_body(const Model& model, const Marker& marker);
/// Whether the markers of a joint are those it makes for itself when a file places it by 'at', 'axis' or 'x'.
bool has_own_markers(const Model& model, const Joint& joint);
/// Whether the markers of a joint go with it: those above, and those made where its bodies were when it was added.
bool owns_markers(const Model& model, const Joint& joint);
/// The joint that has made a marker for itself; null if there is none.
JointHandle find_maker(const Model& model, MarkerHandle marker);

}  // namespace limber
