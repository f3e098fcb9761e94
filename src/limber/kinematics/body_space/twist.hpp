#pragma once
// Pose and twist of bodies: features seen from a body, wrenches, small motions. Twist: velocity of the centre of
// mass, angular velocity. A gradient g on a point p is the force g at p, a gradient on a direction e is the torque e
// x g.

#include "limber/kinematics/mechanism/mechanism.hpp"

namespace limber {

/// Numbers per body: linear plus angular.
template <int D>
inline constexpr int twist_size = D + angular_size<D>;
template <int D>
using TwistVec = Vec<twist_size<D>>;

template <int D>
using BodyStates = std::vector<BodyState<D>>;

/// Velocity at an arm of a turn.
template <int D>
inline Vec<D> cross(const AngularVec<D>& w, const Vec<D>& r) {
    if constexpr (D == 2) {
        return Vec<2>(-w[0] * r.y(), w[0] * r.x());
    } else {
        return w.cross(r);
    }
}
/// Torque of a force at an arm.
template <int D>
inline AngularVec<D> moment(const Vec<D>& arm, const Vec<D>& force) {
    if constexpr (D == 2) {
        return AngularVec<2>(arm.x() * force.y() - arm.y() * force.x());
    } else {
        return arm.cross(force);
    }
}
/// Product of two turns; zero in the plane.
template <int D>
inline AngularVec<D> bracket(const AngularVec<D>& a, const AngularVec<D>& b) {
    if constexpr (D == 2) {
        return AngularVec<2>::Zero();
    } else {
        return a.cross(b);
    }
}

/// Values, rates and biases of the listed features for given body states. The bias is the acceleration of the
/// feature when the twists do not change.
template <int D>
void update_features(const Mechanism<D>& mechanism, const BodyStates<D>& states, std::span<const int> list,
                     FeatureState<D>& features);

/// Adds to a body's wrench what the gradient g on a feature (whose value is f) means for it.
template <int D>
void add_wrench(const Feature<D>& feature, const Vec<D>& f, const Vec<D>& centre, const Vec<D>& g, TwistVec<D>& wrench);

/// Acceleration of a feature from the twist rate of its body and the feature's bias.
template <int D>
Vec<D> feature_acceleration(const Feature<D>& feature, const Vec<D>& f, const Vec<D>& bias, const BodyState<D>& body,
                            const TwistVec<D>& twist_rate);

/// Moves a body by a small twist.
template <int D>
void move(BodyState<D>& body, const TwistVec<D>& displacement);

template <int D>
double kinetic_energy(const MechanismBody<D>& body, const BodyState<D>& state);

/// Inertia about the centre of mass in world axes.
template <int D>
AngularMat<D> world_inertia(const MechanismBody<D>& body, const BodyState<D>& state);

/// Wrench of the inertia forces, d/dt of momentum and of angular momentum about the centre of mass.
template <int D>
TwistVec<D> inertia_wrench(const MechanismBody<D>& body, const BodyState<D>& state, const TwistVec<D>& twist_rate);

}  // namespace limber
