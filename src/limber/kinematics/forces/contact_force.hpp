#pragma once
// Compliant contact of two shapes as a force between the frames of two bodies.
//
// A contact point is taken as fixed to both bodies, p = x + sum r_k e_k with the features x (point) and e_k (axes) of
// each frame, so a force F at it acts on x as F and on e_k as r_k F. With the gap's direction n, N(d, d') and the
// sliding velocity u_t,
//   F = N (n - mu(|u_t|) u_t/|u_t|),  mu(v) = (mu + (mu_s - mu) exp(-(v / v_s)^2)) (2/pi) atan(v / slip)   (Wojtyra,
//   Stribeck: no stiction, slow creep)
// and the tangent follows from dF by p and u with n and r held.
//
// Rolling and spinning are resisted by a moment on b. With the lengths rho and sigma, and w_t, w_n the relative angular
// velocity along the surface and about its normal,
//   T = -N (2/pi) (rho atan(|w_t| / turn_slip) w_t/|w_t| + sigma atan(|w_n| / turn_slip) w_n/|w_n|)
// It acts on the axes e_k as T x e_k / 2, and w = sum e_k x e_k'/2; the tangent follows from dT by p and u (through N)
// and by w, with the axes held. What is left out is of the order of the forces themselves, not of their stiffness.
//
// With bristles (friction_law.hpp) F = N (n + f(z, u_t)). They belong to the two shapes: all points begin a step with
// the same ones, bend them by their own slip, and at its end their mean, weighted by N, is what the shapes remember.

#include <array>
#include <memory>

#include "limber/geometry/manifold.hpp"
#include "limber/kinematics/forces/contact_law.hpp"
#include "limber/math/types.hpp"

namespace limber {

/// Two shapes, each placed in the frame of features its body has.
struct ContactPair {
    std::shared_ptr<const Shape> shape_a, shape_b;
    Frame place_a, place_b;
    double reach_a = 0, reach_b = 0;  ///< of the shapes from the origins of those frames
    ContactLaw law;
    int rule = -1;  ///< of the mechanism
};

/// A frame and how it moves.
struct MovingFrame {
    Frame frame;
    Vec3 velocity = Vec3::Zero(), angular_velocity = Vec3::Zero();

    Vec3 velocity_at(const Vec3& point) const { return velocity + angular_velocity.cross(point - frame.position); }
};

/// What acts on b at one point; on a the opposite.
struct CompliantPoint {
    Vec3 point, direction;  ///< direction: from a to b
    Vec3 force, torque;
    Mat3 by_place, by_velocity;                ///< of the force, by the motion of b against a at the point
    Mat3 torque_by_place, torque_by_velocity;  ///< of the torque, the same
    Mat3 torque_by_turning;                    ///< of the torque, by the angular velocity of b against a
    double normal = 0;                         ///< N
    double elastic_energy = 0;
    double elastic_power = 0;  ///< at which that energy grows
    double power = 0;          ///< done on both bodies
    SurfaceBristles bristles;  ///< at this point, if there are any
};

struct CompliantPoints {
    int count = 0;
    std::array<CompliantPoint, Manifold::max_points> points;
};

/// `bristles` are those of the shapes, `passed` seconds ago.
void evaluate_contact(const ContactPair& pair, const MovingFrame& a, const MovingFrame& b, bool planar,
                      const SurfaceBristles& bristles, double passed, CompliantPoints& result);
/// Their mean over the points; straight where nothing touches.
SurfaceBristles mean_bristles(const CompliantPoints& points);

}  // namespace limber
