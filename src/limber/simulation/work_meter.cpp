#include "limber/simulation/work_meter.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace limber {
namespace {

struct GaussPoint {
    double at, weight;
};

std::span<const GaussPoint> gauss_points(bool is_precise) {
    static const std::array<GaussPoint, 2> two{{{0.5 - std::sqrt(3.0) / 6, 0.5}, {0.5 + std::sqrt(3.0) / 6, 0.5}}};
    static const std::array<GaussPoint, 3> three{
        {{0.5 - std::sqrt(15.0) / 10, 5.0 / 18}, {0.5, 8.0 / 18}, {0.5 + std::sqrt(15.0) / 10, 5.0 / 18}}};
    return is_precise ? std::span<const GaussPoint>(three) : std::span<const GaussPoint>(two);
}

}  // namespace

template <int D>
WorkMeter<D>::WorkMeter(const MechanismSystem<D>& system, AccelerationSolver& solver)
    : system_(system), m_(system.mechanism()), solver_(solver) {
    for (const auto& law : m_.constraints.laws) has_drivers_ = has_drivers_ || !law.is_constant();
    // Time-stepping keeps the account of its drivers itself.
    has_drivers_ = has_drivers_ && m_.driver_work < 0;
    const bool has_changing_gravity =
        std::any_of(m_.gravity.begin(), m_.gravity.end(), [](const auto& g) { return !g.is_constant(); });
    has_power_ = has_drivers_ || has_changing_gravity || !m_.forces.elements.empty();
    for (const ForceElement<D>& e : m_.forces.elements) {
        has_contacts_ = has_contacts_ || e.kind == ForceKind::contact;
        if (e.bristle_memory >= 0) bristles_.emplace_back(e.bristle_memory, bristle_size);
        if (e.kind == ForceKind::friction && e.friction.is_compliant())
            bristles_.emplace_back(e.slip_memory + slip_bend, slip_size - slip_bend);
    }
    features_.resize(m_.features.size());
    for (auto* list : {&slot_force_, &slot_place_, &slot_force_before_, &slot_place_before_})
        list->assign(m_.forces.slot_feature.size(), Vec<D>::Zero());
    for (const int f : m_.forces.slot_feature)
        if (m_.features[f].body >= 0 && !m_.features[f].is_point) turned_.push_back(m_.features[f].body);
    std::sort(turned_.begin(), turned_.end());
    turned_.erase(std::unique(turned_.begin(), turned_.end()), turned_.end());
    motion_.resize(m_.bodies.size());
    states_.resize(m_.bodies.size());
    from_rates_.resize(m_.bodies.size());
    to_rates_.resize(m_.bodies.size());
    a_ = VecX::Zero(system.size());
    lambda_ = VecX::Zero(system.rows());
}

template <int D>
void WorkMeter<D>::connect_precisely(const State& from, const State& to, double h) {
    const auto find_rates = [&](const State& state, std::vector<TwistVec<D>>& rates) {
        solver_.solve(state.t, state.q, state.v, state.memory, a_, lambda_);
        system_.export_twist_rates(state.q, state.v, a_, rates);
    };
    find_rates(from, from_rates_);
    find_rates(to, to_rates_);
    for (std::size_t b = 0; b < motion_.size(); ++b)
        motion_[b].connect(from_[b], to_[b], from_rates_[b], to_rates_[b], h);
}

template <int D>
double WorkMeter<D>::compute(const State& from, const State& to, int order) {
    double work = m_.driver_work < 0 ? 0 : to.memory[m_.driver_work] - from.memory[m_.driver_work];
    if (!has_power_ || !(to.t > from.t)) return work;
    system_.export_states(from.q, from.v, from_);
    system_.export_states(to.q, to.v, to_);
    const bool has_ways = order <= 2;
    if (has_ways) work += compute_along_ways(from, to);
    if (has_ways && !has_drivers_ && !has_contacts_) return work;
    return work + compute_at_gauss_points(from, to, order > 4, !has_ways);
}

// Forces, and where they act.
template <int D>
void WorkMeter<D>::find_forces(const State& state, const BodyStates<D>& states, std::vector<Vec<D>>& forces) {
    update_features<D>(m_, states, m_.used_features, features_);
    m_.forces.evaluate_without_potential(m_.constraints.measures, {features_, state.memory, m_.curves}, state.t,
                                         forces);
}

template <int D>
double WorkMeter<D>::compute_along_ways(const State& from, const State& to) {
    const auto keep_places = [&](std::vector<Vec<D>>& places) {
        for (std::size_t s = 0; s < places.size(); ++s) places[s] = features_.value[m_.forces.slot_feature[s]];
    };
    find_forces(from, from_, slot_force_before_);
    keep_places(slot_place_before_);
    find_forces(to, to_, slot_force_);
    keep_places(slot_place_);
    for (const int b : turned_) motion_[b].connect(from_[b], to_[b], to.t - from.t);
    double work = 0;
    for (std::size_t s = 0; s < slot_force_.size(); ++s) {
        const Feature<D>& feature = m_.features[m_.forces.slot_feature[s]];
        if (feature.body < 0) continue;
        if (feature.is_point) {
            work += 0.5 * (slot_force_before_[s] + slot_force_[s]).dot(slot_place_[s] - slot_place_before_[s]);
        } else {
            // A gradient on a direction is a torque.
            const AngularVec<D> torque =
                moment<D>(slot_place_before_[s], slot_force_before_[s]) + moment<D>(slot_place_[s], slot_force_[s]);
            work += 0.5 * torque.dot(motion_[feature.body].turn());
        }
    }
    for (int k = 0; k < D; ++k) {
        if (m_.gravity[k].is_constant()) continue;
        const double mean = 0.5 * (m_.gravity[k].value(from.t) + m_.gravity[k].value(to.t));
        for (std::size_t b = 0; b < from_.size(); ++b)
            work += m_.bodies[b].mass * mean * (to_[b].position[k] - from_[b].position[k]);
    }
    return work;
}

template <int D>
double WorkMeter<D>::compute_at_gauss_points(const State& from, const State& to, bool is_precise, bool with_forces) {
    const double h = to.t - from.t;
    memory_ = to.memory;
    for (const auto& [first, count] : bristles_) std::copy_n(&from.memory[first], count, &memory_[first]);
    if (is_precise) {
        connect_precisely(from, to, h);
    } else {
        for (std::size_t b = 0; b < motion_.size(); ++b) motion_[b].connect(from_[b], to_[b], h);
    }
    double work = 0;
    for (const GaussPoint& point : gauss_points(is_precise)) {
        for (std::size_t b = 0; b < motion_.size(); ++b) motion_[b].find(point.at, states_[b]);
        work += h * point.weight * compute_power(from.t + point.at * h, with_forces);
    }
    return work;
}

template <int D>
double WorkMeter<D>::compute_power(double t, bool with_forces) {
    update_features<D>(m_, states_, m_.used_features, features_);
    const MeasureContext<D> context{features_, memory_, m_.curves};
    double power = has_drivers_ ? compute_driver_power(t) : 0;
    if (!with_forces) return power + m_.forces.contact_power(context, t);
    power += m_.forces.power(m_.constraints.measures, context, t);
    for (int k = 0; k < D; ++k) {
        if (m_.gravity[k].is_constant()) continue;
        for (std::size_t b = 0; b < states_.size(); ++b)
            power += m_.bodies[b].mass * m_.gravity[k].value(t) * states_[b].velocity[k];
    }
    return power;
}

// Constraint forces -J^T lambda work only where rows move with time: power lambda . d Phi/dt.
template <int D>
double WorkMeter<D>::compute_driver_power(double t) {
    system_.import_states(states_, q_, v_);
    solver_.solve(t, q_, v_, memory_, a_, lambda_);
    return lambda_.dot(solver_.evaluation().time_partial);
}

template class WorkMeter<2>;
template class WorkMeter<3>;

}  // namespace limber
