#include "limber/integration/explicit_euler.hpp"

namespace limber {

bool ExplicitEuler::advance(const State& state, double h, int& /*evaluations*/) {
    // Moving turns the velocities of Euler parameters; here the accelerations do that, so the turned ones are dropped.
    v_ = state.v;
    system().move(state.q, h, v_, q_);
    v_ = state.v + h * state.a;
    return true;
}

}  // namespace limber
