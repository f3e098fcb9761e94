#pragma once
// Whether an equilibrium lasts, from the stiffness that the constraints leave: K x = r M x under J x = 0.
//
// Freedoms with r < 0 grow like exp(t sqrt(-r)) when disturbed; those with r = 0 to rounding are held by nothing, or by
// so little that it does not matter here. They are counted by the pivots of K - r M (constrained_matrix.hpp) at two
// values of r near zero; the lowest r is found by bisection and its motion by inverse iteration.
//
// Tangents are symmetric, and forces need not be; and at singular positions of joints there are directions that the
// rows allow and the joints do not. So a motion that seems to grow is tried, a little to either side: if the forces
// that are met there do not drive it on as its rate says, the verdict is that nothing is known.

#include "limber/statics/static_balance.hpp"

namespace limber {

struct Stability {
    int unstable = 0;   ///< freedoms that grow when disturbed; -1: not known
    int neutral = 0;    ///< freedoms in which nothing pulls
    double growth = 0;  ///< the fastest, [1/s]; 0: none grows
    VecX direction;     ///< of it, as velocities of the coordinates; empty: none grows
};

/// At the balance's point.
Stability judge_stability(StaticBalance& balance);

}  // namespace limber
