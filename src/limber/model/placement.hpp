#pragma once
// Places and orientations of frames, as they are written.

#include <vector>

#include "limber/model/number.hpp"

namespace limber {

/// How a frame is turned.
struct Orientation {
    enum class Kind {
        none,
        angle,       ///< 1 number: about z
        axis_angle,  ///< 4 numbers: axis, angle
        xyz,         ///< 3 numbers: turns about the frame's own x, then y, then z
        quaternion,  ///< 4 numbers: w, x, y, z
        axes         ///< 3 numbers: direction of z; or 6: direction of z and approximate direction of x
    };
    Kind kind = Kind::none;
    std::vector<Number> values;
};

struct Placement {
    Number3 position{};
    Orientation orientation{};
};

}  // namespace limber
