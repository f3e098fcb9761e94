#pragma once
// Edits of a running simulation: plain values, applied between steps, journaled and undone. Their text form is in
// io/edit_text.hpp.

#include <optional>
#include <string>
#include <variant>

#include "limber/math/types.hpp"

namespace limber {

/// An element in the words of the model file; places in world axes are those of the moment.
struct AddElement {
    std::string section, name, yaml;
    /// A joint whose ends are apart: draw them together, then let it hold. Otherwise it snaps if they are near, or is
    /// refused.
    bool closes_gradually = false;
};
struct RemoveElement {
    std::string section, name;
    bool with_dependents = false;
};
/// Any value of the model: "parameters.m", "gravity", "bodies.crank.rod.mass".
struct SetProperty {
    std::string path, yaml;
};
/// Holds the two bodies of a joint as they are to each other.
struct LockJoint {
    std::string joint;
};
struct UnlockJoint {
    std::string joint;
};
/// A spring and a damper from a marker to a point of the world: the mouse. One at a time; again with the same marker:
/// moves the target.
struct PullMarker {
    std::string marker;
    Vec3 target = Vec3::Zero();
    std::optional<double> stiffness, damping;  ///< default: firm for the body's mass, critically damped
};
struct ReleaseMarker {};
struct ApplyImpulse {
    std::string marker;
    Vec3 impulse = Vec3::Zero();
    Vec3 moment = Vec3::Zero();  ///< angular impulse beside that of the impulse
};
/// formulation, integrator, coordinates, step, or a setting of `limber list options`.
struct UseOption {
    std::string name, value;
};
/// Takes back the last edit of model or options that has not been taken back; the motion goes on.
struct UndoEdit {};
struct RedoEdit {};
/// Makes the solvers anew, so that nothing of what came before is left in them. Sessions do so by themselves after a
/// step that failed: the attempt leaves no trace in the bits that follow.
struct RenewSolvers {};
/// Back to an earlier time, or forth again as long as nothing has been changed there.
struct GoToTime {
    double time = 0;
};

using Edit = std::variant<AddElement, RemoveElement, SetProperty, LockJoint, UnlockJoint, PullMarker, ReleaseMarker,
                          ApplyImpulse, UseOption, UndoEdit, RedoEdit, RenewSolvers, GoToTime>;

}  // namespace limber
