#include "limber/integration/momentum_runge_kutta.hpp"

#include <utility>

namespace limber {

MomentumRungeKutta4::MomentumRungeKutta4(std::unique_ptr<AccelerationSolver> solver, bool use_gains,
                                         bool use_projection)
    : solver_(std::move(solver)),
      momenta_(dynamic_cast<MomentumSolver&>(*solver_)),
      use_gains_(use_gains),
      use_projection_(use_projection) {
    const int n = solver_->system().size();
    q_ = p_ = p_start_ = a_ = VecX::Zero(n);
    for (VecX& v : velocity_) v = VecX::Zero(n);
    for (VecX& rate : rate_) rate = VecX::Zero(n);
    lambda_ = VecX::Zero(solver_->system().rows());
}

StepReport MomentumRungeKutta4::start(State& state) {
    return start_state(*solver_, state);
}

StepReport MomentumRungeKutta4::step(State& state, double h) {
    StepReport report;
    if (use_gains_) solver_->use_gains_for_step(h);
    const double t = state.t;
    const auto fail = [&](const std::string& reason) {
        report.ok = false;
        report.reason = reason;
        return report;
    };
    momenta_.compute_momenta(t, state.q, state.v, state.memory, p_start_);
    constexpr double place[4] = {0, 0.5, 0.5, 1};
    for (int i = 0; i < 4; ++i) {
        q_ = state.q;
        p_ = p_start_;
        if (i > 0) {
            q_ += (place[i] * h) * velocity_[i - 1];
            p_ += (place[i] * h) * rate_[i - 1];
        }
        velocity_[i] = i > 0 ? velocity_[i - 1] : state.v;
        ++report.iterations;
        if (!momenta_.compute_rates(t + place[i] * h, q_, p_, state.memory, velocity_[i], rate_[i]))
            return fail(solver_->failure());
    }
    q_ = state.q + (h / 6) * (velocity_[0] + 2 * velocity_[1] + 2 * velocity_[2] + velocity_[3]);
    p_ = p_start_ + (h / 6) * (rate_[0] + 2 * rate_[1] + 2 * rate_[2] + rate_[3]);
    VecX& v = velocity_[3];
    if (!momenta_.compute_velocities(t + h, q_, p_, state.memory, v)) return fail(solver_->failure());
    if (use_projection_ && !solver_->project(t + h, q_, v, state.memory))
        return fail("the projection onto the constraints failed");
    if (!solver_->solve(t + h, q_, v, state.memory, a_, lambda_)) return fail(solver_->failure());
    if (solver_->has_come_apart()) return fail(solver_->failure());
    state.complete_step(t + h, h, q_, v, a_, a_, lambda_);
    solver_->system().update_memory(solver_->evaluation(), state.q, state.memory);
    return report;
}

}  // namespace limber
