#pragma once
// Cases of bodies that touch.

#include "cases.hpp"

namespace peers {

/// The wall of examples/contact/brick-wall.yaml.
Case bricks();
/// That many of the spheres of examples/contact/heap-of-spheres.yaml, a cube number of them, in a box as narrow.
Case spheres(int count);

}  // namespace peers
