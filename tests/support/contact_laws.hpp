#pragma once
// Of a step with rigid contacts: Coulomb's law and complementarity, contact by contact, from the motion alone; and how
// deep bodies overlap after it.

#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "limber/contact/time_stepping/collision_world.hpp"
#include "limber/dynamics/system/state.hpp"
#include "limber/kinematics/mechanism/mechanism.hpp"

namespace limber::testing {

/// Of bodies of one kilogramme and no more than this size, from their centres.
struct ContactScene {
    double friction = 0, restitution = 0, step = 0, largest_size = 0;
};

template <int D>
Vec3 spatial(const Vec<D>& v) {
    Vec3 all = Vec3::Zero();
    all.template head<D>() = v;
    return all;
}

/// Velocity of the material point of b against that of a; bodies are, and are turned, as they were before the step.
template <int D>
Vec3 relative_velocity(const ContactPoint& c, const BodyStates<D>& before, const BodyStates<D>& after) {
    const auto velocity = [&](int body) -> Vec3 {
        if (body < 0) return Vec3::Zero();
        Vec3 rate = Vec3::Zero();
        rate.template tail<angular_size<D>>() = after[body].angular_velocity;
        if constexpr (D == 3) rate = before[body].axes * after[body].axes.transpose() * rate;
        return spatial<D>(after[body].velocity) + rate.cross(c.point - spatial<D>(before[body].position));
    };
    return velocity(c.body_b) - velocity(c.body_a);
}

/// Of the fastest point of a body before or after the step.
template <int D>
double fastest_speed(const ContactScene& scene, const BodyStates<D>& before, const BodyStates<D>& after) {
    constexpr double g = 9.81;
    double fastest = 0;
    for (std::size_t b = 0; b < after.size(); ++b) {
        const double rate = std::max(before[b].angular_velocity.norm(), after[b].angular_velocity.norm());
        const double speed = std::max(before[b].velocity.norm(), after[b].velocity.norm());
        fastest = std::max(fastest, speed + scene.largest_size * rate + g * scene.step);
    }
    return fastest;
}

/// Contacts push, close no further than their gaps, and not unless they are closed; friction is in its cone and takes
/// all the power that it can.
template <int D>
void check_contacts(const ContactScene& scene, const std::vector<ContactPoint>& contacts, const BodyStates<D>& before,
                    const BodyStates<D>& after) {
    constexpr double allowed_overlap = 1e-7;  // is not parted
    const double h = scene.step;
    const double fastest = fastest_speed<D>(scene, before, after);
    // The residual of a step, as a velocity: 1e-3 of those that come in, where it moves; less in small sets and at
    // rest.
    const double defect = 1e-3 * fastest;
    for (const ContactPoint& c : contacts) {
        const Vec3 u = relative_velocity<D>(c, before, after);
        const double normal = h * c.force.dot(c.normal);
        RC_ASSERT(normal >= 0);
        RC_ASSERT(c.gap >= -allowed_overlap);  // what was deeper has been parted
        // Bodies of one kilogramme answer an impulse by at least as much speed: one of the two is nothing. With
        // restitution it is what they leave each other with.
        const double opening = u.dot(c.normal) + std::max(0.0, c.gap) / h;
        RC_ASSERT(opening >= -2 * defect);
        if (scene.restitution == 0) RC_ASSERT(std::min(normal, opening) <= 2 * defect);
        const Vec3 rubbing = h * c.force - normal * c.normal;
        const Vec3 slip = u - u.dot(c.normal) * c.normal;
        RC_ASSERT(rubbing.norm() <= scene.friction * normal + 1e-12 * (normal + fastest));
        const double power = scene.friction * normal * slip.norm() + rubbing.dot(slip);
        RC_ASSERT(power <= 2 * defect * (2 * scene.friction * normal + slip.norm()));
    }
}

/// Half the diagonal of a shape's bounds.
template <int D>
double shape_size(const Mechanism<D>& m, int shape) {
    const Shape& s = *m.shapes[shape].shape;
    if (s.kind == Shape::Kind::plane) return INFINITY;
    const Bounds bounds = compute_bounds(s, Frame{});
    return 0.5 * (bounds.high - bounds.low).norm();
}

/// The deepest overlap over the smaller shape's size.
template <int D>
double relative_depth(const Mechanism<D>& m, const std::vector<Contact>& contacts) {
    double deepest = 0;
    for (const Contact& c : contacts)
        deepest = std::max(deepest, -c.gap / std::min(shape_size(m, c.shape_a), shape_size(m, c.shape_b)));
    return deepest;
}

}  // namespace limber::testing
