#pragma once
// How the motion of a flexible body is carried over to one that is divided otherwise, or that is rigid; and back.
//
// - Other pieces: each takes the motion of the line through the old ones at its place, places by Hermite's cubics,
//   turns along the shortest way, velocities by straight lines.
// - Another line: what that differs from the old one, turned with the section.
// - Rigid becomes flexible: every piece moves as the rigid body did.
// - Flexible becomes rigid: the momentum and the angular momentum of the pieces, at their centre of mass, turned as
//   they are on the average. What goes with their motion relative to each other is the energy lost.

#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "limber/kinematics/body_space/twist.hpp"

namespace limber {

template <int D>
class FlexibleTransfer {
public:
    FlexibleTransfer(const Mechanism<D>& from, const BodyStates<D>& states);

    /// Whether a piece of the same name is another part of the line, or the line is another.
    static bool has_changed(const MechanismBody<D>& before, const MechanismBody<D>& after);
    /// Of a body or a piece that the old mechanism does not have by name; none: it has nothing of that body.
    std::optional<BodyState<D>> find(const MechanismBody<D>& body) const;
    /// The motion of a flexible body at a part of its length; empty: there is none of this name.
    std::optional<BodyState<D>> find(std::string_view name, double along) const;

private:
    struct Place {
        BodyState<D> written, moved;
    };
    Place at(const std::vector<int>& pieces, double along) const;
    BodyState<D> as_rigid(const BodyState<D>& written, const BodyState<D>& moved, const BodyState<D>& piece) const;
    BodyState<D> as_a_whole(const MechanismBody<D>& body, const std::vector<int>& pieces) const;

    const Mechanism<D>& from_;
    const BodyStates<D>& states_;
    std::unordered_map<std::string_view, std::vector<int>> pieces_;  // by the name of the body
    std::unordered_map<std::string_view, int> wholes_;
};

}  // namespace limber
