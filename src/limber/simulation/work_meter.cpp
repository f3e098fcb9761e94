#include "limber/simulation/work_meter.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "limber/kinematics/forces/compliant_contact.hpp"
#include "limber/kinematics/forces/slip_force.hpp"
#include "limber/kinematics/mechanism/moving_rows.hpp"

namespace limber {
namespace {

struct GaussPoint {
    double at, weight;
};

std::span<const GaussPoint> gauss_points(bool is_precise) {
    static const std::array<GaussPoint, 2> two{
        {{0.5 - std::numbers::sqrt3 / 6, 0.5}, {0.5 + std::numbers::sqrt3 / 6, 0.5}}};
    static const std::array<GaussPoint, 3> three{
        {{0.5 - std::sqrt(15.0) / 10, 5.0 / 18}, {0.5, 8.0 / 18}, {0.5 + std::sqrt(15.0) / 10, 5.0 / 18}}};
    return is_precise ? std::span<const GaussPoint>(three) : std::span<const GaussPoint>(two);
}

}  // namespace

template <int D>
WorkMeter<D>::WorkMeter(const MechanismSystem<D>& system, AccelerationSolver& solver)
    : system_(system), m_(system.mechanism()), solver_(&solver) {
    // Time-stepping keeps the account of its drivers itself.
    has_drivers_ = has_moving_rows(m_.constraints) && !m_.driver_work.exists();
    has_user_rows_ = !m_.constraints.user_rows.empty();
    const bool has_changing_gravity =
        std::any_of(m_.gravity.begin(), m_.gravity.end(), [](const auto& g) { return !g.is_constant(); });
    has_power_ = has_drivers_ || has_changing_gravity || !m_.forces.elements.empty();
    for (const ForceElement<D>& e : m_.forces.elements) {
        if (const auto* contact = e.template as<CompliantContact>()) {
            contacts_.push_back(&e);
            if (contact->bristles.exists()) surface_bristles_.push_back(contact->bristles);
        }
        if (const auto* slip = e.template as<SlipForce>(); slip != nullptr && slip->law.is_compliant())
            bristles_.push_back(slip->bristles);
    }
    features_.resize(m_.features.size());
    for (End* end : {&from_, &to_}) {
        end->force.assign(m_.forces.slot_feature.size(), Vec<D>::Zero());
        end->place = end->force;
    }
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
    if (has_drivers_) evaluation_ = system.make_evaluation();
}

template <int D>
void WorkMeter<D>::use_solver(AccelerationSolver& solver) {
    solver_ = &solver;
    from_.is_known = to_.is_known = false;
    a_.setZero();
    lambda_.setZero();
}

template <int D>
void WorkMeter<D>::connect_precisely(const State& from, const State& to, double h) {
    const auto find_rates = [&](const State& state, std::vector<TwistVec<D>>& rates) {
        solver_->solve(state.t, state.q, state.v, state.memory, a_, lambda_);
        system_.export_twist_rates(state.q, state.v, a_, rates);
    };
    find_rates(from, from_rates_);
    find_rates(to, to_rates_);
    for (std::size_t b = 0; b < motion_.size(); ++b)
        motion_[b].connect(from_.states[b], to_.states[b], from_rates_[b], to_rates_[b], h);
}

template <int D>
bool WorkMeter<D>::End::belongs_to(const State& state) const {
    return is_known && t == state.t && q == state.q && v == state.v && lambda == state.lambda && memory == state.memory;
}

template <int D>
double WorkMeter<D>::compute(const State& from, const State& to, const WorkSource& source) {
    double work = 0;
    if (m_.driver_work.exists()) work = m_.driver_work.in(to.memory) - m_.driver_work.in(from.memory);
    if (!has_power_ || !(to.t > from.t)) return work;
    if (source.order > 2) {
        from_.is_known = to_.is_known = false;
        system_.export_states(from.q, from.v, from_.states);
        system_.export_states(to.q, to.v, to_.states);
        return work + compute_at_gauss_points(from, to, source.order > 4, true, has_drivers_);
    }
    std::swap(from_, to_);
    if (!from_.belongs_to(from)) find_end(from, from_);
    find_end(to, to_);
    work += compute_along_ways();
    const bool has_driver_ways = has_drivers_ && !has_user_rows_;
    if (has_driver_ways) work += compute_driver_work(from, to, source.has_multipliers);
    const bool is_done = contacts_.empty() && (!has_drivers_ || has_driver_ways);
    return is_done ? work : work + compute_at_gauss_points(from, to, false, false, has_drivers_ && !has_driver_ways);
}

template <int D>
void WorkMeter<D>::find_end(const State& state, End& end) {
    end.t = state.t;
    end.q = state.q;
    end.v = state.v;
    end.lambda = state.lambda;
    end.memory = state.memory;
    end.is_known = true;
    end.has_multipliers = false;
    system_.export_states(state.q, state.v, end.states);
    update_features<D>(m_, end.states, m_.used_features, features_);
    m_.forces.evaluate_without_potential(m_.constraints.measures, {features_, state.memory, m_.curves}, state.t,
                                         end.force);
    for (std::size_t s = 0; s < end.place.size(); ++s) end.place[s] = features_.value[m_.forces.slot_feature[s]];
}

// Constraint forces -J^T lambda, and rows Phi = g(q) - h(t) that move with time: mean multipliers times the change of
// Phi by time alone, whatever corner h may have within the step.
template <int D>
double WorkMeter<D>::compute_driver_work(const State& from, const State& to, bool has_multipliers) {
    for (const auto& [state, end] : {std::pair(&from, &from_), std::pair(&to, &to_)}) {
        if (end->has_multipliers) continue;
        if (has_multipliers) {
            lambda_ = state->lambda;
        } else {
            solver_->solve(state->t, state->q, state->v, state->memory, a_, lambda_);
        }
        end->multipliers = lambda_;
        end->has_multipliers = true;
    }
    const int rows = system_.holonomic_rows();
    system_.update_residuals(*evaluation_, from.t, to.q, to.memory);
    phi_ = evaluation_->phi.head(rows);
    system_.update_residuals(*evaluation_, to.t, to.q, to.memory);
    return 0.5 * (from_.multipliers + to_.multipliers).head(rows).dot(evaluation_->phi.head(rows) - phi_);
}

template <int D>
double WorkMeter<D>::compute_along_ways() {
    for (const int b : turned_) motion_[b].connect(from_.states[b], to_.states[b], to_.t - from_.t);
    double work = 0;
    for (std::size_t s = 0; s < to_.force.size(); ++s) {
        const Feature<D>& feature = m_.features[m_.forces.slot_feature[s]];
        if (feature.body < 0) continue;
        if (feature.is_point) {
            work += 0.5 * (from_.force[s] + to_.force[s]).dot(to_.place[s] - from_.place[s]);
        } else {
            // A gradient on a direction is a torque.
            const AngularVec<D> torque =
                moment<D>(from_.place[s], from_.force[s]) + moment<D>(to_.place[s], to_.force[s]);
            work += 0.5 * torque.dot(motion_[feature.body].turn());
        }
    }
    for (int k = 0; k < D; ++k) {
        if (m_.gravity[k].is_constant()) continue;
        const double mean = 0.5 * (m_.gravity[k].value(from_.t) + m_.gravity[k].value(to_.t));
        for (std::size_t b = 0; b < motion_.size(); ++b)
            work += m_.bodies[b].mass * mean * (to_.states[b].position[k] - from_.states[b].position[k]);
    }
    return work;
}

template <int D>
double WorkMeter<D>::compute_at_gauss_points(const State& from, const State& to, bool is_precise, bool with_forces,
                                             bool with_drivers) {
    const double h = to.t - from.t;
    memory_ = to.memory;
    for (const auto& slot : bristles_) slot.copy(memory_, slot, from.memory);
    for (const auto& slot : surface_bristles_) slot.copy(memory_, slot, from.memory);
    if (is_precise) {
        connect_precisely(from, to, h);
    } else {
        for (std::size_t b = 0; b < motion_.size(); ++b) motion_[b].connect(from_.states[b], to_.states[b], h);
    }
    double work = 0;
    for (const GaussPoint& point : gauss_points(is_precise)) {
        for (std::size_t b = 0; b < motion_.size(); ++b) motion_[b].find(point.at, states_[b]);
        work += h * point.weight * compute_power(from.t + point.at * h, with_forces, with_drivers);
    }
    return work;
}

template <int D>
double WorkMeter<D>::compute_power(double t, bool with_forces, bool with_drivers) {
    update_features<D>(m_, states_, m_.used_features, features_);
    const MeasureContext<D> context{features_, memory_, m_.curves};
    double power = with_drivers ? compute_driver_power(t) : 0;
    if (!with_forces) {
        for (const ForceElement<D>* e : contacts_)
            power += e->force->compute_power(m_.forces.view(*e, m_.constraints.measures, context, t), nullptr);
        return power;
    }
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
    solver_->solve(t, q_, v_, memory_, a_, lambda_);
    return lambda_.dot(solver_->evaluation().time_partial);
}

template class WorkMeter<2>;
template class WorkMeter<3>;

}  // namespace limber
