#include "limber/modular/interface_joints.hpp"

#include <algorithm>

#include "limber/kinematics/body_space/reactions.hpp"

namespace limber {

template <int D>
InterfaceJoints<D>::InterfaceJoints(const Mechanism<D>& whole, const PartChoice& choice)
    : InterfaceJoints(make_part(whole, choice)) {}

template <int D>
InterfaceJoints<D>::InterfaceJoints(Part<D> part) {
    // Gravity acts inside the components.
    part.mechanism.gravity = {};
    elements_ = std::move(part.elements);
    memory_slots_ = std::move(part.memory);
    memory_ = part.mechanism.initial_memory;
    mechanism_ = std::make_shared<const Mechanism<D>>(std::move(part.mechanism));
    constraints_ = std::make_unique<TwistConstraints<D>>(*mechanism_, mechanism_->constraints);
    springs_ = std::make_unique<InterfaceSprings<D>>(*mechanism_);
    constraints_->make_comparable();  // for the scales; wrenches follow with update()
    states_.resize(mechanism_->bodies.size());
    twists_.assign(states_.size(), TwistVec<D>::Zero());
    rates_ = twists_;
    const int rows = row_count();
    wrench_.assign(rows > 0 ? constraints_->entries(rows - 1).second : 0, TwistVec<D>::Zero());
    phi = rate = acceleration = VecX::Zero(rows);
    slot_force_.assign(mechanism_->forces.slot_feature.size(), Vec<D>::Zero());
    applied_ = VecX::Zero(static_cast<Eigen::Index>(states_.size()) * twist_size<D>);
}

template <int D>
void InterfaceJoints<D>::update(std::span<const PortMotion<D>> motion, double t) {
    time_ = t;
    for (std::size_t p = 0; p < motion.size(); ++p) {
        states_[p] = motion[p].state;
        twists_[p] << states_[p].velocity, states_[p].angular_velocity;
        rates_[p] = motion[p].rate;
    }
    TwistConstraints<D>& c = *constraints_;
    c.update(states_, memory_, t);
    for (int r = 0; r < row_count(); ++r) {
        const auto [first, last] = c.entries(r);
        for (int k = first; k < last; ++k) wrench_[k] = c.scale[r] * c.entry_wrench(k);
    }
    phi = c.values.phi.cwiseProduct(c.scale);
    multiply(twists_, rate);
    rate += c.values.time_partial.cwiseProduct(c.scale);
    multiply(rates_, acceleration);
    acceleration += c.values.bias.cwiseProduct(c.scale);
}

template <int D>
void InterfaceJoints<D>::add_wrenches(const VecX& multipliers, std::span<TwistVec<D>> wrenches) const {
    for (int r = 0; r < row_count(); ++r) {
        const auto [first, last] = constraints_->entries(r);
        for (int k = first; k < last; ++k) wrenches[constraints_->entry_body(k)] += multipliers[r] * wrench_[k];
    }
}

template <int D>
void InterfaceJoints<D>::multiply(std::span<const TwistVec<D>> twists, VecX& result) const {
    for (int r = 0; r < row_count(); ++r) {
        const auto [first, last] = constraints_->entries(r);
        double sum = 0;
        for (int k = first; k < last; ++k) sum += wrench_[k].dot(twists[constraints_->entry_body(k)]);
        result[r] = sum;
    }
}

template <int D>
void InterfaceJoints<D>::find_forces(std::span<TwistVec<D>> wrenches) {
    applied_.setZero();
    add_applied_wrenches(*mechanism_, states_, constraints_->features, memory_, time_, slot_force_, 1.0, applied_);
    for (std::size_t p = 0; p < wrenches.size(); ++p)
        wrenches[p] = applied_.template segment<twist_size<D>>(static_cast<Eigen::Index>(p) * twist_size<D>);
}

template <int D>
double InterfaceJoints<D>::find_sensitivity_of_forces(std::span<const int> ports, double distance,
                                                      double position) const {
    double largest = 0;
    for (int f = 0; f + 1 < std::ssize(springs_->first_rows()); ++f) {
        const std::vector<int>& of_force = springs_->ports(f);
        if (std::find_first_of(of_force.begin(), of_force.end(), ports.begin(), ports.end()) == of_force.end())
            continue;
        largest = std::max(largest, springs_->find_sensitivity(f, distance, position));
    }
    return largest;
}

template <int D>
void InterfaceJoints<D>::accept() {
    refresh_memory(*mechanism_, constraints_->features, memory_);
}

template <int D>
TwistVec<D> InterfaceJoints<D>::compute_reaction(int index, const VecX& multipliers) const {
    const ConstraintElement<D>& element = mechanism_->elements[index];
    TwistVec<D> wrench = TwistVec<D>::Zero();
    if (!element.has_markers) return wrench;
    const Vec<D>& at = constraints_->features.value[element.b.point];
    // On the second body; if that is the ground, minus what acts on the first one.
    const int body = element.body_b >= 0 ? element.body_b : element.body_a;
    const double sign = element.body_b >= 0 ? 1.0 : -1.0;
    for (int r = element.first_row; r < element.first_row + element.row_count; ++r) {
        const auto [first, last] = constraints_->entries(r);
        for (int k = first; k < last; ++k)
            if (constraints_->entry_body(k) == body) wrench += sign * multipliers[r] * wrench_[k];
    }
    // From the centre of mass to the marker.
    const Vec<D> force = wrench.template head<D>();
    wrench.template tail<angular_size<D>>() += moment<D>(Vec<D>(states_[body].position - at), force);
    return wrench;
}

template class InterfaceJoints<2>;
template class InterfaceJoints<3>;

}  // namespace limber
