#pragma once
// What rigid bodies that touch have done to each other over the last step of moreau_jean.hpp: mean forces, which
// balance with the mean accelerations of that step.

#include "limber/dynamics/system/state.hpp"
#include "limber/kinematics/body_space/twist.hpp"

namespace limber {

/// Wrenches of the state's contacts on all bodies, about their centres of mass. Empty: nothing touches.
template <int D>
void update_contact_wrenches(const State& state, const BodyStates<D>& states, VecX& wrenches) {
    constexpr int T = twist_size<D>;
    if (state.contacts.empty()) {
        wrenches.resize(0);
        return;
    }
    wrenches.setZero(static_cast<Eigen::Index>(states.size()) * T);
    for (const ContactPoint& contact : state.contacts) {
        const auto add = [&](int body, double sign) {
            if (body < 0) return;
            const Vec<D> force = contact.force.template head<D>();
            const Vec<D> arm = contact.point.template head<D>() - states[body].position;
            TwistVec<D> wrench;
            wrench << force, moment<D>(arm, force) + contact.torque.template tail<angular_size<D>>();
            wrenches.template segment<T>(static_cast<Eigen::Index>(body) * T) += sign * wrench;
        };
        add(contact.body_a, -1);
        add(contact.body_b, 1);
    }
}

}  // namespace limber
