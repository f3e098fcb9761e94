#pragma once
// Equilibria over a load, by steps of arclength: the path goes on through limit points, where the load has to fall, and
// onto branches that are not stable.
//
// Along the path (q(s), p(s)) with tangent (q', p'), |q'|^2 / c + p'^2 = 1 in the metric of the masses:
//
//   predictor  (q, p) + ds (q', p')
//   corrector  K dq = M a + dp F_p,   q' . M dq / c + p' dp = 0        (both solutions of K by one factorisation)
//
// c makes the first tangent half positions and half load (Riks 1979, Crisfield 1981). A limit point is where p' changes
// its sign; it is found by the secant rule on p' over the step that passes it. Of steps that do not converge, or turn
// too far, half is tried.

#include <string>
#include <vector>

#include "limber/statics/static_newton.hpp"

namespace limber {

struct LoadPoint {
    StaticPoint at;
    double slope = 0;       ///< dp/ds; changes its sign at limit points
    int unstable = 0;       ///< freedoms that grow when disturbed
    bool is_limit = false;  ///< the load has an extremum here
};

struct LoadPathOptions {
    double end = 1;           ///< load at which the path ends; it begins at that of the balance's point
    int max_points = 400;     ///< then it is given up
    double first_step = 0.1;  ///< of the whole range of loads
};

struct LoadPathReport {
    bool has_arrived = false;
    std::string reason;             ///< why not
    std::vector<LoadPoint> points;  ///< from the start on, limit points among them
    int iterations = 0;
};

/// From the balance's point, which must be an equilibrium at its load. Where it arrives, the balance stays at the end.
LoadPathReport follow_load(StaticBalance& balance, const LoadPathOptions& options, const StaticProgress& progress = {});

}  // namespace limber
