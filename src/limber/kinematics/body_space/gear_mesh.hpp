#pragma once
// The force between teeth.
//
// Two wheels turn in one carrier, at w1 about (o1, u1) and w2 = q w1 about (o2, u2). Where they meet, at P, they have
// one velocity:
//
//   w1 u1 x (P - o1) = w2 u2 x (P - o2) = w1 q t
//
//   parallel axes      P on the line between them, at q / (q - 1) of the way from o1 to o2 (between the axes: external
//                      teeth)
//   axes that cross    P on the line along u1 - q u2 through the point they share (bevel gears)
//   rack               moves at v = R w1 along e:  P = o1 + R (e x u1)
//
// The row of the gear says the same of the coordinates. Where the bearings hold, a multiplier lambda of it is the force
// lambda k on the second wheel at P, k = t / |t|^2, and its opposite on the first: bearings then carry the tooth force.
// With a pressure angle the force leans from the tangent t to the side that pushes the wheels apart, whichever way the
// torque goes: |lambda| |k| tan(angle) more along n.

#include <optional>
#include <string>

#include "limber/kinematics/mechanism/mechanism.hpp"

namespace limber {

/// On the second wheel (or the rack), of a multiplier of size one; the first has the opposite.
template <int D>
struct ToothForce {
    Vec<D> place;
    Vec<D> along;  ///< times the multiplier
    Vec<D> apart;  ///< times its size
};

/// Why a gearbox has no teeth to be seen; nothing is amiss.
inline constexpr const char* wheels_on_one_axis = "the wheels turn about one axis";

/// Nothing if the wheels do not meet at a place that can be told, as wheels on one axis or gears on skew axes;
/// `why_not` then says so.
template <int D>
std::optional<ToothForce<D>> find_tooth_force(const GearMesh& mesh, const FeatureState<D>& features,
                                              std::string* why_not = nullptr);

}  // namespace limber
