#pragma once
// A vehicle.

#include "cases.hpp"

namespace peers {

/// The Iltis of examples/iltis over a cosine bump.
Case iltis();

}  // namespace peers
