#include "limber/simulation/observed_motion.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "limber/contact/time_stepping/contact_wrenches.hpp"

namespace limber {

template <int D>
ObservedMotion<D>::ObservedMotion(std::shared_ptr<const MechanismSystem<D>> system,
                                  std::unique_ptr<AccelerationSolver> solver)
    : system_(std::move(system)),
      m_(system_->mechanism()),
      solver_(std::move(solver)),
      reactions_(m_),
      evaluation_(system_->make_evaluation()) {
    solver_->use_no_gains();
    features_.resize(m_.features.size());
    all_features_.resize(m_.features.size());
    std::iota(all_features_.begin(), all_features_.end(), 0);
    rates_.resize(m_.bodies.size());
    a_ = VecX::Zero(system_->size());
    rows_ = lambda_ = VecX::Zero(system_->rows());
    for (const auto& law : m_.constraints.laws) has_drivers_ = has_drivers_ || !law.is_constant();
}

template <int D>
void ObservedMotion<D>::use_solver(std::unique_ptr<AccelerationSolver> solver, const State& state) {
    solver_ = std::move(solver);
    solver_->use_no_gains();
    solver_->solve(state.t, state.q, state.v, state.memory, a_, lambda_);
}

template <int D>
void ObservedMotion<D>::update(const State& state, bool with_accelerations) {
    system_->export_states(state.q, state.v, states_);
    update_features<D>(m_, states_, all_features_, features_);
    if (!with_accelerations) return;
    // Where rigid bodies touch, forces are known as means over the last step; so must accelerations be.
    const bool are_means = !state.contacts.empty();
    if (!are_means) solver_->solve(state.t, state.q, state.v, state.memory, a_, lambda_);
    system_->export_twist_rates(state.q, state.v, are_means ? state.a : a_, rates_);
}

template <int D>
void ObservedMotion<D>::update_reactions(const State& state) {
    update_contact_wrenches<D>(state, states_, touching_);
    reactions_.solve(states_, state.memory, state.t, rates_, touching_);
}

template <int D>
Vec<D> ObservedMotion<D>::acceleration_of(int feature) const {
    const Feature<D>& f = m_.features[feature];
    if (f.body < 0) return Vec<D>::Zero();
    return feature_acceleration(f, features_.value[feature], features_.bias[feature], states_[f.body], rates_[f.body]);
}

template <int D>
Energies ObservedMotion<D>::energy(const State& state) const {
    Energies e;
    for (std::size_t b = 0; b < m_.bodies.size(); ++b) {
        e.kinetic += kinetic_energy(m_.bodies[b], states_[b]);
        for (int k = 0; k < D; ++k)
            if (m_.gravity[k].is_constant())
                e.potential -= m_.bodies[b].mass * m_.gravity[k].value(state.t) * states_[b].position[k];
    }
    e.elastic = m_.forces.potential(m_.constraints.measures, context(state), state.t);
    e.potential += e.elastic;
    return e;
}

template <int D>
double ObservedMotion<D>::compute_power(const State& state) {
    update(state, has_drivers_);
    double power = m_.forces.power(m_.constraints.measures, context(state), state.t);
    for (int k = 0; k < D; ++k) {
        if (m_.gravity[k].is_constant()) continue;
        for (std::size_t b = 0; b < m_.bodies.size(); ++b)
            power += m_.bodies[b].mass * m_.gravity[k].value(state.t) * states_[b].velocity[k];
    }
    return has_drivers_ ? power + driver_power(state) : power;
}

// Constraint forces -J^T lambda work only where rows move with time: power lambda . d Phi/dt.
template <int D>
double ObservedMotion<D>::driver_power(const State& state) {
    if (state.contacts.empty()) return lambda_.dot(solver_->evaluation().time_partial);
    update_reactions(state);
    return reactions_.driver_power();
}

template <int D>
ConstraintErrors ObservedMotion<D>::compute_errors(const State& state) {
    ConstraintErrors errors;
    errors.complementarity = compute_complementarity(state);
    if (system_->rows() == 0) return errors;
    Evaluation& e = *evaluation_;
    system_->update_positions(e, state.t, state.q, state.memory);
    system_->update_velocities(e, state.v);
    if (system_->holonomic_rows() > 0)
        errors.position = e.phi.head(system_->holonomic_rows()).template lpNorm<Eigen::Infinity>();
    errors.velocity = e.rate.lpNorm<Eigen::Infinity>();
    multiply(system_->jacobian_pattern(), e.jacobian, state.a, rows_);
    errors.acceleration = (rows_ + e.bias).lpNorm<Eigen::Infinity>();
    return errors;
}

template <int D>
double ObservedMotion<D>::compute_complementarity(const State& state) {
    double worst = m_.contact_residual.exists() ? m_.contact_residual.in(state.memory) : 0;
    if (m_.stops.empty()) return worst;
    update(state, false);
    const MeasureContext<D> now = context(state);
    for (const StopRow& row : m_.stops) {
        const double gap = compute_gap(m_, row, now);
        const bool is_closed = row.is_closed(state.memory);
        worst = std::max(worst, is_closed ? std::abs(gap) : -gap);
    }
    return worst;
}

template <int D>
double ObservedMotion<D>::relative_error(const State& state, double step) {
    if (step == 0) return 0;
    if (!relative_error_) relative_error_ = std::make_unique<RelativeErrorMeter<D>>(m_);  // few ask for it
    return relative_error_->compute(states_, state.memory, state.t, rates_, make_gains(solver_->options(), step));
}

template class ObservedMotion<2>;
template class ObservedMotion<3>;

}  // namespace limber
