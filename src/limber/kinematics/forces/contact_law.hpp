#pragma once
// What two bodies do to each other where they touch.
//
//   rigid               no overlap; see contact/cone_complementarity.hpp
//   linear              N = k d + c(d) d',  c rising smoothly from 0 to its full value at a depth h: c (3 - 2 d/h)
//   (d/h)^2  (Wojtyra) hertz               N = k d^p hunt-crossley       N = k d^p (1 + a d') exact-restitution   the
//   same with a = D(e)/v, where (1 + e) D = ln[(1 + D)/(1 - e D)]: an impact at speed v comes back with e v,
//                       whatever mass, stiffness and exponent are  (Gonthier, McPhee, Lange and Piedboeuf)
//
// d is the depth, N is never negative.

#include <optional>

#include "limber/kinematics/forces/friction_law.hpp"

namespace limber {

struct ContactLaw {
    enum class Kind { rigid, linear, power };
    Kind kind = Kind::rigid;
    double friction = 0, rolling = 0, spinning = 0;
    double static_friction = 0;           ///< coefficient at rest
    double restitution = 0;               ///< rigid
    double stiffness = 0, exponent = 1;   ///< compliant
    double damping = 0, full_depth = 0;   ///< linear
    double factor = 0;                    ///< power: a
    double slip = 1e-3;                   ///< compliant: speed at which friction has half its full value
    double turn_slip = 1e-2;              ///< compliant: the same of rolling and spinning resistance, a rate of turning
    double stribeck = 1e-2;               ///< compliant: speed at which static friction is lost
    std::optional<FrictionLaw> bristles;  ///< compliant: friction by them instead

    bool resists_turning() const { return rolling > 0 || spinning > 0; }
};

/// Normal force and its derivatives.
struct NormalForce {
    double force = 0, by_depth = 0, by_rate = 0;
};
NormalForce evaluate_normal_force(const ContactLaw& law, double depth, double rate);

/// D(e) of the exact-restitution law, 0 < e <= 1.
double exact_damping_factor(double restitution);

}  // namespace limber
