#pragma once

namespace limber {

/// Radians. Faces, edges and generators within this angle of a direction count as farthest: corners that are in fact
/// farther away get a gap of their own and do no harm.
inline constexpr double face_angle = 0.05;

}  // namespace limber
