#include "limber/integration/semi_implicit_euler.hpp"

namespace limber {

bool SemiImplicitEuler::advance(const State& state, double h, int& /*evaluations*/) {
    // The acceleration is that of the end of the last step.
    v_ = state.v + h * state.a;
    system().move(state.q, h, v_, q_);
    return true;
}

bool SemiImplicitEuler::project_end(const State& state, double h) {
    return solver().project_step(state.q, state.t, h, q_, v_, state.memory);
}

}  // namespace limber
