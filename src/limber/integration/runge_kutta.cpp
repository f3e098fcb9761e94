#include "limber/integration/runge_kutta.hpp"

#include <utility>

namespace limber {

RungeKutta4::RungeKutta4(std::unique_ptr<AccelerationSolver> solver, bool use_gains, bool use_projection)
    : solver_(std::move(solver)), use_gains_(use_gains), use_projection_(use_projection) {
    const int n = solver_->system().size();
    q_ = v_ = stage_q_ = stage_v_ = a1_ = a2_ = a3_ = a4_ = VecX::Zero(n);
    lambda_ = VecX::Zero(solver_->system().rows());
}

StepReport RungeKutta4::start(State& state) {
    return start_state(*solver_, state);
}

StepReport RungeKutta4::step(State& state, double h) {
    StepReport report;
    if (use_gains_) solver_->use_gains_for_step(h);
    const auto fail = [&](std::string reason) {
        report.ok = false;
        report.reason = std::move(reason);
        return report;
    };
    const auto evaluate = [&](double t, const VecX& q, const VecX& v, VecX& a) {
        ++report.iterations;
        return solver_->solve(t, q, v, state.memory, a, lambda_);
    };
    const double t = state.t;
    // The acceleration computed at the end of the last step is the first stage of this one.
    a1_ = state.a;
    stage_q_ = state.q + h / 2 * state.v;
    stage_v_ = state.v + h / 2 * a1_;
    if (!evaluate(t + h / 2, stage_q_, stage_v_, a2_)) return fail(solver_->failure());
    q_ = state.q + h / 2 * stage_v_;
    v_ = state.v + h / 2 * a2_;
    if (!evaluate(t + h / 2, q_, v_, a3_)) return fail(solver_->failure());
    stage_q_ = state.q + h * v_;
    stage_v_ = state.v + h * a3_;
    if (!evaluate(t + h, stage_q_, stage_v_, a4_)) return fail(solver_->failure());
    // Stage velocities are v, v + h/2 a1, v + h/2 a2, v + h a3, so their weighted mean needs a1, a2, a3 only.
    q_ = state.q + h * state.v + h * h / 6 * (a1_ + a2_ + a3_);
    v_ = state.v + h / 6 * (a1_ + 2 * a2_ + 2 * a3_ + a4_);
    if (use_projection_ && !solver_->project(t + h, q_, v_, state.memory))
        return fail("the projection onto the constraints failed");
    if (!evaluate(t + h, q_, v_, a4_)) return fail(solver_->failure());
    if (solver_->has_come_apart()) return fail(solver_->failure());
    state.t = t + h;
    state.q = q_;
    state.v = v_;
    state.previous_a = state.a;
    state.previous_step = h;
    state.a = state.scheme_a = a4_;
    state.lambda = lambda_;
    solver_->system().update_memory(solver_->evaluation(), state.q, state.memory);
    return report;
}

}  // namespace limber
