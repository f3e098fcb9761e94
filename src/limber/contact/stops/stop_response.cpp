#include "limber/contact/stops/stop_response.hpp"

#include "limber/kinematics/body_space/reactions.hpp"

namespace limber {
namespace {

// Joints, drivers, and slip rows with their flags.
template <int D>
std::vector<int> holding_rows(const Mechanism<D>& m) {
    std::vector<int> list;
    for (std::size_t r = 0; r < m.constraints.rows.size(); ++r)
        if (!m.constraints.rows[r].flag.exists() || !m.constraints.rows[r].is_holonomic())
            list.push_back(static_cast<int>(r));
    return list;
}

// Gaps, then slip rows.
template <int D>
std::vector<int> contact_rows(const Mechanism<D>& m) {
    std::vector<int> list;
    list.reserve(m.stops.size());
    for (const StopRow& gap : m.stops) list.push_back(gap.row);
    for (const FrictionElement& friction : m.friction)
        for (int k = 0; k < friction.row_count; ++k) list.push_back(friction.first_row + k);
    return list;
}

}  // namespace

template <int D>
StopResponse<D>::StopResponse(const Mechanism<D>& mechanism)
    : m_(mechanism),
      joints_(mechanism, mechanism.constraints.with_rows(holding_rows(mechanism), true)),
      contacts_(mechanism, mechanism.constraints.with_rows(contact_rows(mechanism))) {
    rates_ = VecX::Zero(contacts_.row_count());
    int next = count();
    for (const FrictionElement& friction : m_.friction) {
        first_slip_.push_back(next);
        next += friction.row_count;
    }
    twists_ = VecX::Zero(contacts_.twist_count());
    slot_force_.assign(m_.forces.slot_feature.size(), Vec<D>::Zero());
}

template <int D>
void StopResponse<D>::look(const BodyStates<D>& states, const std::vector<double>& memory, double t) {
    contacts_.update(states, memory, t);
    for (std::size_t b = 0; b < states.size(); ++b) {
        const auto at = static_cast<Eigen::Index>(b) * T;
        twists_.template segment<D>(at) = states[b].velocity;
        twists_.template segment<angular_size<D>>(at + D) = states[b].angular_velocity;
    }
    contacts_.multiply_rows(twists_, rates_);
    rates_ += contacts_.values.time_partial;
}

template <int D>
bool StopResponse<D>::prepare(const BodyStates<D>& states, const std::vector<double>& memory, double t,
                              const std::vector<int>& list) {
    list_ = list;
    if (!joints_.update(states, states, memory, t)) return false;
    const auto n = static_cast<Eigen::Index>(list_.size());
    response_.resize(twists_.size(), n);
    delassus_.resize(n, n);
    for (Eigen::Index j = 0; j < n; ++j) {
        twists_.setZero();
        contacts_.add_row(contact_of(list_[j]), sign_of(list_[j]), twists_);
        joints_.respond(twists_);
        response_.col(j) = twists_;
        for (Eigen::Index i = 0; i < n; ++i)
            delassus_(i, j) = sign_of(list_[i]) * contacts_.dot_row(contact_of(list_[i]), twists_);
    }
    for (Eigen::Index j = 0; j < n; ++j)
        for (Eigen::Index i = 0; i < j; ++i)
            delassus_(i, j) = delassus_(j, i) = 0.5 * (delassus_(i, j) + delassus_(j, i));
    return delassus_.allFinite();
}

template <int D>
void StopResponse<D>::find_free_accelerations(const BodyStates<D>& states, const std::vector<double>& memory, double t,
                                              const VecX& known, VecX& accelerations) {
    for (std::size_t b = 0; b < states.size(); ++b)
        twists_.template segment<T>(static_cast<Eigen::Index>(b) * T) =
            -inertia_wrench(m_.bodies[b], states[b], TwistVec<D>::Zero().eval());
    add_applied_wrenches(m_, states, joints_.features(), memory, t, slot_force_, 1.0, twists_);
    if (known.size() > 0) twists_ += known;
    joints_.respond(joints_.bias(), twists_);
    accelerations.resize(static_cast<Eigen::Index>(list_.size()));
    for (std::size_t k = 0; k < list_.size(); ++k) {
        const int i = contact_of(list_[k]);
        accelerations[static_cast<Eigen::Index>(k)] =
            sign_of(list_[k]) * (contacts_.dot_row(i, twists_) + contacts_.values.bias[i]);
    }
}

template <int D>
double StopResponse<D>::acceleration(int entry, const std::vector<TwistVec<D>>& twist_rates) {
    for (std::size_t b = 0; b < twist_rates.size(); ++b)
        twists_.template segment<T>(static_cast<Eigen::Index>(b) * T) = twist_rates[b];
    return contacts_.dot_row(entry, twists_) + contacts_.values.bias[entry];
}

template <int D>
void StopResponse<D>::list_rates(VecX& rates) const {
    rates.resize(static_cast<Eigen::Index>(list_.size()));
    for (std::size_t k = 0; k < list_.size(); ++k)
        rates[static_cast<Eigen::Index>(k)] = sign_of(list_[k]) * rates_[contact_of(list_[k])];
}

template <int D>
void StopResponse<D>::add_wrenches(const VecX& impulses, VecX& wrenches) const {
    for (std::size_t k = 0; k < list_.size(); ++k)
        contacts_.add_row(contact_of(list_[k]), sign_of(list_[k]) * impulses[static_cast<Eigen::Index>(k)], wrenches);
}

template <int D>
void StopResponse<D>::apply(const VecX& impulses, BodyStates<D>& states) {
    twists_.noalias() = response_ * impulses;
    for (std::size_t b = 0; b < states.size(); ++b) {
        const auto at = static_cast<Eigen::Index>(b) * T;
        states[b].velocity += twists_.template segment<D>(at);
        states[b].angular_velocity += twists_.template segment<angular_size<D>>(at + D);
    }
}

template class StopResponse<2>;
template class StopResponse<3>;

}  // namespace limber
