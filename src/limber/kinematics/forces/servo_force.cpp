#include "limber/kinematics/forces/servo_force.hpp"

#include <cmath>

namespace limber {

template <int D>
ForceAlong ServoForce<D>::find_force(const ForceView<D>& at) const {
    const Measure<D>& m = at.measures[measure];
    const Taylor2 wanted = target.at(at.t);
    const double force =
        gain * (wanted.value - compute_value(m, at.context)) + rate_gain * (wanted.first - compute_rate(m, at.context));
    if (limit > 0 && std::abs(force) > limit) return {std::copysign(limit, force), 0, 0};
    return {force, -gain, -rate_gain};
}

template <int D>
void ServoForce<D>::evaluate(const ForceView<D>& at, Vec<D>* out) const {
    evaluate_along(at, measure, find_force(at).force, out);
}

template <int D>
bool ServoForce<D>::compute_blocks(const ForceView<D>& at, ForceBlocks<D>& blocks) const {
    MeasureGradient<D> g;
    add_blocks_along(at, measure, find_force(at), g, blocks);
    return true;
}

template struct ServoForce<2>;
template struct ServoForce<3>;

}  // namespace limber
