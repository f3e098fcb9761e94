#include "limber/integration/runge_kutta.hpp"

#include <utility>

namespace limber {

RungeKutta4::RungeKutta4(std::unique_ptr<AccelerationSolver> solver, bool use_gains, int projection_interval)
    : ExplicitStepper(std::move(solver), use_gains, projection_interval) {
    stage_q_ = stage_v_ = a2_ = a3_ = a4_ = VecX::Zero(system().size());
}

bool RungeKutta4::advance(const State& state, double h, int& evaluations) {
    const auto evaluate = [&](double t, const VecX& q, const VecX& v, VecX& a) {
        ++evaluations;
        return solver().solve(t, q, v, state.memory, a, lambda_);
    };
    const double t = state.t;
    // The acceleration computed at the end of the last step is the first stage of this one.
    const VecX& a1 = state.a;
    stage_q_ = state.q + h / 2 * state.v;
    stage_v_ = state.v + h / 2 * a1;
    if (!evaluate(t + h / 2, stage_q_, stage_v_, a2_)) return false;
    q_ = state.q + h / 2 * stage_v_;
    v_ = state.v + h / 2 * a2_;
    if (!evaluate(t + h / 2, q_, v_, a3_)) return false;
    stage_q_ = state.q + h * v_;
    stage_v_ = state.v + h * a3_;
    if (!evaluate(t + h, stage_q_, stage_v_, a4_)) return false;
    // Stage velocities are v, v + h/2 a1, v + h/2 a2, v + h a3, so their weighted mean needs a1, a2, a3 only.
    q_ = state.q + h * state.v + h * h / 6 * (a1 + a2_ + a3_);
    v_ = state.v + h / 6 * (a1 + 2 * a2_ + 2 * a3_ + a4_);
    return true;
}

}  // namespace limber
