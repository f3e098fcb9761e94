#pragma once
// Relative coordinates as linear analysis sees them: what they are called, and the frames in which a motion may be
// steady.
//
// A joint that turns or slides evenly is steady in its own coordinate. Of balls and floating bodies there are three
// ways to move evenly (see linear_flow.hpp for G): p are Euler parameters, w the angular velocity, x the place
//
//   spin         x' = v,                           p' = 1/2 p (0, w_body)        about an axis fixed in the body
//   precession   x' = v + W z x (x - x0),          p' = 1/2 (0, W z) p + 1/2 p (0, w_body - W z_body)
//   rotation     x' = v + w x (x - x0),            p' = 1/2 (0, w) p             of the whole about an axis in space
//
// z is upwards and W what the accelerations say.

#include <memory>
#include <string>
#include <vector>

#include "limber/analysis/linear/linear_flow.hpp"
#include "limber/dynamics/system/relative_system.hpp"

namespace limber {

/// Motions along and about axes that somebody can name: rates = matrix * v.
struct NamedMotions {
    std::vector<std::string> names;
    MatX matrix;
};

template <int D>
NamedMotions name_motions(const RelativeSystem<D>& system, const VecX& q);

/// G of each frame that may be the one, the likeliest first; the first is zero if nothing turns freely.
template <int D>
std::vector<MatX> list_steady_frames(const RelativeSystem<D>& system, const LinearFlow& flow);

}  // namespace limber
