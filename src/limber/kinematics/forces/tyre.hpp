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

struct TyreLaw {
    std::shared_ptr<const RoadProfile> road;
    double stiffness = 0, damping = 0, radius = 0;
    std::optional<CalspanCoefficients> lateral;
};

/// Force on the wheel at its centre and moment about it.
struct TyreWrench {
    Vec3 force = Vec3::Zero(), moment = Vec3::Zero();
    double normal = 0;  ///< N
};

/// By centre, axis of the wheel and velocity of the centre: rows force and moment.
struct TyreTangent {
    Eigen::Matrix<double, 6, 3> by_centre, by_axis, by_velocity;
};

/// What acts on the wheel at the point where its plane meets the road, and how it stands and runs there. In the plane
/// only normal force and depth.
struct TyreContact {
    double normal = 0, longitudinal = 0, lateral = 0;  ///< along n, e_x, e_y'
    double aligning = 0;                               ///< M_z, about n
    double slip = 0, camber = 0;                       ///< angles; zero where the wheel lies on its side
    double depth = 0;                                  ///< never negative
};

/// In the plane: y up, z components zero.
TyreWrench evaluate_tyre(const TyreLaw& law, bool planar, const Vec3& centre, const Vec3& axis, const Vec3& velocity);
/// What crosses the kinks of the load: the depth, with damping the load itself, and the kinks of the road.
void add_tyre_kinks(const TyreLaw& law, bool planar, const Vec3& centre, const Vec3& velocity, KinkArguments& kinks);
TyreContact measure_tyre(const TyreLaw& law, bool planar, const Vec3& centre, const Vec3& axis, const Vec3& velocity);
TyreWrench evaluate_tyre(const TyreLaw& law, bool planar, const Vec3& centre, const Vec3& axis, const Vec3& velocity,
                         TyreTangent& tangent);

}  // namespace limber
