#pragma once
// Internal to the room.

#include "limber/kinematics/body_space/twist.hpp"

namespace limber {

/// A fixed, irregular displacement of all bodies, to leave singular positions.
template <int D>
void nudge(BodyStates<D>& states, double length) {
    unsigned seed = 12345;
    for (auto& body : states) {
        TwistVec<D> d;
        for (int i = 0; i < twist_size<D>; ++i) {
            seed = seed * 1664525U + 1013904223U;
            d[i] = 0.05 * (static_cast<double>(seed >> 8) / static_cast<double>(1U << 24) - 0.5);
        }
        d.template head<D>() *= length;
        move(body, d);
    }
}

}  // namespace limber
