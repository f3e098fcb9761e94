#include "limber/integration/momentum_runge_kutta.hpp"

#include <utility>

namespace limber {

MomentumRungeKutta4::MomentumRungeKutta4(std::unique_ptr<AccelerationSolver> solver, bool use_gains,
                                         int projection_interval)
    : ExplicitStepper(std::move(solver), use_gains, projection_interval),
      momenta_(dynamic_cast<MomentumSolver&>(this->solver())) {
    const int n = system().size();
    p_ = p_start_ = VecX::Zero(n);
    for (VecX& v : velocity_) v = VecX::Zero(n);
    for (VecX& rate : rate_) rate = VecX::Zero(n);
}

bool MomentumRungeKutta4::advance(const State& state, double h, int& evaluations) {
    const double t = state.t;
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
        ++evaluations;
        if (!momenta_.compute_rates(t + place[i] * h, q_, p_, state.memory, velocity_[i], rate_[i])) return false;
    }
    q_ = state.q + (h / 6) * (velocity_[0] + 2 * velocity_[1] + 2 * velocity_[2] + velocity_[3]);
    p_ = p_start_ + (h / 6) * (rate_[0] + 2 * rate_[1] + 2 * rate_[2] + rate_[3]);
    v_ = velocity_[3];
    return momenta_.compute_velocities(t + h, q_, p_, state.memory, v_);
}

}  // namespace limber
