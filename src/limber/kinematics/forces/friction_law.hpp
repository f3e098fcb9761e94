#pragma once
// Friction as a smooth function of the motion: creeps where Coulomb's law sticks, and needs no events.
//
// With the displacement x and the speed v of what rubs, the load N and
//   mu(v) = mu_k + (mu_s - mu_k) s,   s = exp(-(v / v_s)^2)                                        (Stribeck)
//
//   regularised   F = -N mu(v) tanh(v / v_0)
//   bristle       F = -N mu_k / b (z + tau z'),   z' = v - |v| z / z_m,   z_m = b mu(v) / mu_k
//                 (LuGre: Canudas de Wit et al. 1995)
//
// b is how far bristles bend under the full kinetic friction. With a dwell time T, s in the bristle law grows with a
// lag, T s' = exp(-(v / v_s)^2) - s, and falls at once: what has rested for t breaks away at
// mu_k + (mu_s - mu_k) (1 - exp(-t / T))  (dwell after Gonthier et al. 2004).
//
// Over a stretch dx on which z_m does not change,  z = +-z_m + (z_0 -+ z_m) exp(-|dx| / z_m);  so z is a function of
// the place reached, and only z, x and s at the start of a step are remembered. It is of first order in the step where
// z_m changes.
//
// Of two surfaces z and v are vectors along them. What was covered within a step is taken as v at its end times its
// length (of first order, and no creep at rest), and v/|v| is the direction of z_m:  z = z_0 exp(-|v| dt / z_m) + z_m
// v/|v| (1 - exp(-|v| dt / z_m)).

#include "limber/math/types.hpp"

namespace limber {

struct FrictionLaw {
    enum class Kind { coulomb, regularised, bristle };
    Kind kind = Kind::coulomb;
    double kinetic = 0, at_rest = 0;  ///< mu_k, mu_s
    double slip = 1e-3;               ///< v_0
    double stribeck = 1e-2;           ///< v_s
    double bend = 1e-5;               ///< b
    double damping = 0;               ///< tau
    double dwell = 0;                 ///< T; 0: without lag
    double lever = 1;                 ///< of what rubs: x and v are those of a coordinate times it, and so is the force

    bool is_compliant() const { return kind != Kind::coulomb; }
};

/// What bristles remember from the start of a step.
struct Bristles {
    double bend = 0;   ///< z
    double place = 0;  ///< coordinate at which they had it
    double rest = 0;   ///< s
};

/// Force along a coordinate and its derivatives.
struct FrictionForce {
    double force = 0, by_x = 0, by_v = 0;
};

/// At the coordinate x and its rate v, `passed` seconds after the bristles were as they are.
FrictionForce evaluate_friction(const FrictionLaw& law, double load, double x, double v, const Bristles& start,
                                double passed);
/// The bristles then.
Bristles advance_bristles(const FrictionLaw& law, double x, double v, const Bristles& start, double passed);

/// Bristles between two surfaces, world axes.
struct SurfaceBristles {
    Vec3 bend = Vec3::Zero();  ///< z
    double rest = 0;           ///< s
};

/// Force over load, against the slip.
struct SurfaceFriction {
    Vec3 force = Vec3::Zero();
    Mat3 by_velocity = Mat3::Zero();
    SurfaceBristles end;
};

/// The bristle law at the velocity of slip v, `passed` seconds after the bristles were as they are.
SurfaceFriction evaluate_surface_friction(const FrictionLaw& law, const Vec3& v, const SurfaceBristles& start,
                                          double passed);

}  // namespace limber
