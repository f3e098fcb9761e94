#pragma once
// Where a driven mechanism locks: the time beyond which its drivers cannot go on, because the loop they turn is
// stretched or folded as far as it goes (Fraczek 2002: a turning point of Phi(q, t) = 0).
//
// On all poses and times (q, t) that meet the constraints the search climbs towards later times, with G the rows over
// twists:
//
//   tangent    the projection P of (0, 1) onto G x + Phi_t tau = 0, in the metric x . M x / c + tau^2, made a unit
//   vector step       along it, then back onto Phi(q, t) = 0 by the least change of poses and time together lock where
//   P vanishes: multipliers y with G^T y = 0 and Phi_t . y = 1 say that nothing can follow the drivers
//
// Time is a coordinate like others, so nothing is singular at a lock, and the climb turns back where it has passed one.
// Positions where only the rank of G falls (dead points, branches that cross) have y . Phi_t = 0: there the climb goes
// on. What drivers do not determine moves as little as it can, in the metric of the masses.

#include <optional>
#include <string>
#include <vector>

#include "limber/kinematics/body_space/twist.hpp"
#include "limber/kinematics/body_space/worst_row.hpp"

namespace limber {

struct LockReport {
    struct Motion {
        std::string body;
        Vec3 velocity = Vec3::Zero(), angular_velocity = Vec3::Zero();  ///< the largest of all bodies has size 1
    };
    double time = 0;     ///< at which it locks [s]
    std::string driver;  ///< that is held most: "driver 'turn'", "joint 'cam'" for one with a law of its own
    double value = 0;    ///< of its law there
    RowQuantity quantity = RowQuantity::length;
    std::vector<std::string> joints;  ///< that hold it, the one with the largest force first
    /// The direction that the drivers have lost: it can be gone while they stand still, and with them moving it would
    /// have to be gone infinitely fast. The body that moves most comes first.
    std::vector<Motion> lost;

    /// "driver 'turn' cannot go beyond 1.1864 rad (67.976 deg), at t = 0.6864 s: ..."
    std::string describe() const;
};

/// Looks on from a state on the constraints at time t, as far as `end`; in steps of about `step` at first. Nothing: it
/// does not lock until then, or that could not be found out.
template <int D>
std::optional<LockReport> find_lock(const Mechanism<D>& mechanism, BodyStates<D> states, std::vector<double> memory,
                                    double t, double step, double end);

}  // namespace limber
