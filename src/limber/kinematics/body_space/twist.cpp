#include "limber/kinematics/body_space/twist.hpp"

#include "limber/math/rotation.hpp"

namespace limber {

template <int D>
AngularMat<D> world_inertia(const MechanismBody<D>& body, const BodyState<D>& state) {
    if constexpr (D == 2) {
        return body.inertia;
    } else {
        return state.axes * body.inertia * state.axes.transpose();
    }
}

template <int D>
TwistVec<D> inertia_wrench(const MechanismBody<D>& body, const BodyState<D>& state, const TwistVec<D>& twist_rate) {
    constexpr int A = angular_size<D>;
    const AngularMat<D> inertia = world_inertia(body, state);
    TwistVec<D> w;
    w.template head<D>() = body.mass * twist_rate.template head<D>();
    w.template tail<A>() = inertia * twist_rate.template tail<A>();
    if constexpr (D == 3) w.template tail<A>() += state.angular_velocity.cross(inertia * state.angular_velocity);
    return w;
}

template <int D>
void update_features(const Mechanism<D>& m, const BodyStates<D>& states, std::span<const int> list,
                     FeatureState<D>& fs) {
    for (const int i : list) {
        const Feature<D>& f = m.features[i];
        if (f.body < 0) {
            fs.value[i] = f.local;
            continue;
        }
        const BodyState<D>& body = states[f.body];
        const Vec<D> arm = body.axes * f.local;
        const Vec<D> turning = cross<D>(body.angular_velocity, arm);
        fs.value[i] = f.is_point ? Vec<D>(body.position + arm) : arm;
        fs.rate[i] = f.is_point ? Vec<D>(body.velocity + turning) : turning;
        fs.bias[i] = cross<D>(body.angular_velocity, turning);
    }
}

template <int D>
void add_wrench(const Feature<D>& feature, const Vec<D>& f, const Vec<D>& centre, const Vec<D>& g,
                TwistVec<D>& wrench) {
    if (feature.is_point) {
        wrench.template head<D>() += g;
        wrench.template tail<angular_size<D>>() += moment<D>(f - centre, g);
    } else {
        wrench.template tail<angular_size<D>>() += moment<D>(f, g);
    }
}

template <int D>
Vec<D> feature_acceleration(const Feature<D>& feature, const Vec<D>& f, const Vec<D>& bias, const BodyState<D>& body,
                            const TwistVec<D>& twist_rate) {
    const AngularVec<D> alpha = twist_rate.template tail<angular_size<D>>();
    if (feature.is_point) return twist_rate.template head<D>() + cross<D>(alpha, Vec<D>(f - body.position)) + bias;
    return cross<D>(alpha, f) + bias;
}

template <int D>
void move(BodyState<D>& body, const TwistVec<D>& displacement) {
    body.position += displacement.template head<D>();
    if constexpr (D == 2) {
        body.axes = rotation2(displacement[2]) * body.axes;
    } else {
        body.axes = exp_rotation(displacement.template tail<3>()).toRotationMatrix() * body.axes;
    }
}

template <int D>
double kinetic_energy(const MechanismBody<D>& body, const BodyState<D>& state) {
    const AngularVec<D>& w = state.angular_velocity;
    return 0.5 * body.mass * state.velocity.squaredNorm() + 0.5 * w.dot(world_inertia(body, state) * w);
}

#define LIMBER_INSTANTIATE(D)                                                                                         \
    template void update_features(const Mechanism<D>&, const BodyStates<D>&, std::span<const int>, FeatureState<D>&); \
    template void add_wrench(const Feature<D>&, const Vec<D>&, const Vec<D>&, const Vec<D>&, TwistVec<D>&);           \
    template Vec<D> feature_acceleration(const Feature<D>&, const Vec<D>&, const Vec<D>&, const BodyState<D>&,        \
                                         const TwistVec<D>&);                                                         \
    template void move(BodyState<D>&, const TwistVec<D>&);                                                            \
    template double kinetic_energy(const MechanismBody<D>&, const BodyState<D>&);                                     \
    template AngularMat<D> world_inertia(const MechanismBody<D>&, const BodyState<D>&);                               \
    template TwistVec<D> inertia_wrench(const MechanismBody<D>&, const BodyState<D>&, const TwistVec<D>&);
LIMBER_INSTANTIATE(2)
LIMBER_INSTANTIATE(3)
#undef LIMBER_INSTANTIATE

}  // namespace limber
