#pragma once
// Tyres on a road profile. The axis of the wheel is z of its marker.
//
// Vertical: with z(x) the road under the wheel's centre c, z' its slope there and n = (-z', 0, 1) / sqrt(1 + z'^2) its
// normal,
//   N = (k d + b d') n_z, never negative,   d = R - (c_z - z)
// along n, at the point p where the wheel's plane meets the road's tangent plane, on the line straight below the centre
// in that plane:
//   p = c - h n + h tan(camber) e_y',   h = (c_z - z) n_z
// so that a wheel with camber has the moment N h tan(camber) about its centre, along e_x. In the plane p is the foot of
// the perpendicular.
//
// Lateral (space only; Calspan model of the Iltis data sheet, Frik, Leister and Schwartz 1993): a force F_y in the road
// plane along e_y' = n x e_x, e_x = e_y x n, at the same point, and a moment M_z about n, from the slip angle alpha =
// atan(v.e_y' / v.e_x) and the camber atan(n.e_y / |e_y - n (n.e_y)|); v is the velocity of the centre.
//
// Longitudinal (brush model, as in Pacejka, Tyre and Vehicle Dynamics, chapter 3): a force F_x along e_x at p. The
// wheel spins at the rate w about its axis; its point at p slides by v_s = v.e_x - r w, r = -(e_y x (p - c)).e_x the
// loaded radius, and with the rolling speed |r w|, kept above a slow speed v_0,
//   sigma = -v_s / sqrt((r w)^2 + v_0^2),   x = C sigma / (mu N)
//   F_x = mu N g x,   g = 1 - |x| / 3 + x^2 / 27  for |x| < 3,  1 / |x| beyond
// so that F_x = C sigma at first and mu N once all slides; it never gives energy. The Calspan force is a brush force,
// too, F_y = mu_y N g y with a y of its own. Where there are both, their slips share the friction: g is taken at
// sqrt(x^2 + y^2), and the slip angle counts over the rolling speed, alpha |v.e_x| / |r w|.

#include <array>
#include <memory>
#include <optional>

#include "limber/kinematics/forces/road.hpp"
#include "limber/math/kink.hpp"
#include "limber/math/types.hpp"

namespace limber {

struct CalspanCoefficients {
    double a0 = 0, a1 = 0, a2 = 1, a3 = 0, a4 = 1;
    double b1 = 0, b3 = 0, b4 = 0;
    double skid = 1;          ///< SN: scales the friction
    double af1 = 0, af2 = 0;  ///< of the aligning moment
};

struct BrushCoefficients {
    double stiffness = 0;  ///< C
    double friction = 0;   ///< mu
    double slow = 0.1;     ///< v_0
};

struct TyreLaw {
    std::shared_ptr<const RoadProfile> road;
    double stiffness = 0, damping = 0, radius = 0;
    std::optional<CalspanCoefficients> lateral;
    std::optional<BrushCoefficients> longitudinal;
};

/// Where a wheel is and how it moves. In the plane: y up, z components zero; its axis is then -z.
struct WheelMotion {
    Vec3 centre = Vec3::Zero(), axis = Vec3::Zero(), velocity = Vec3::Zero();
    double spin = 0;  ///< about the axis; of a longitudinal law alone
};

/// Force on the wheel at its centre and moment about it.
struct TyreWrench {
    Vec3 force = Vec3::Zero(), moment = Vec3::Zero();
    double normal = 0;  ///< N
};

/// By centre, axis of the wheel, velocity of the centre and spin: rows force and moment.
struct TyreTangent {
    Eigen::Matrix<double, 6, 3> by_centre, by_axis, by_velocity;
    Eigen::Matrix<double, 6, 1> by_spin;
};

/// What acts on the wheel at the point where its plane meets the road, and how it stands and runs there. In the plane
/// only normal force and depth, and what a longitudinal law gives.
struct TyreContact {
    double normal = 0, longitudinal = 0, lateral = 0;  ///< along n, e_x, e_y'
    double aligning = 0;                               ///< M_z, about n
    double slip = 0, camber = 0;                       ///< angles; zero where the wheel lies on its side
    double depth = 0;                                  ///< never negative
    double slip_ratio = 0;                             ///< sigma
};

TyreWrench evaluate_tyre(const TyreLaw& law, bool planar, const WheelMotion& wheel);
TyreContact measure_tyre(const TyreLaw& law, bool planar, const WheelMotion& wheel);
TyreWrench evaluate_tyre(const TyreLaw& law, bool planar, const WheelMotion& wheel, TyreTangent& tangent);
/// What crosses the kinks of the load: the depth, with damping the load itself, and the kinks of the road.
void add_tyre_kinks(const TyreLaw& law, bool planar, const Vec3& centre, const Vec3& velocity, KinkArguments& kinks);

}  // namespace limber
