#include "limber/kinematics/forces/scalar_force.hpp"

#include <algorithm>

namespace limber {

template <int D>
void ScalarForce<D>::find_arguments(const ForceView<D>& at, Arguments& arguments) const {
    const Measure<D>& m = at.measures[measure];
    arguments.x = compute_value(m, at.context) - free_value;
    arguments.v = compute_rate(m, at.context);
    for (std::size_t i = 0; i < inputs.size(); ++i) arguments.inputs[i] = find_input(at, inputs[i]);
    arguments.span = {arguments.inputs.data(), inputs.size()};
}

template <int D>
void ScalarForce<D>::evaluate(const ForceView<D>& at, Vec<D>* out) const {
    Arguments s;
    find_arguments(at, s);
    evaluate_along(at, measure, sign * law.force(s.x, s.v, at.t, s.span), out);
}

template <int D>
void ScalarForce<D>::evaluate_without_potential(const ForceView<D>& at, Vec<D>* out) const {
    Arguments s;
    find_arguments(at, s);
    evaluate_along(at, measure, sign * law.rest(s.x, s.v, at.t, s.span), out);
}

template <int D>
double ScalarForce<D>::compute_size(const ForceView<D>& at) const {
    Arguments s;
    find_arguments(at, s);
    return law.force(s.x, s.v, at.t, s.span);
}

template <int D>
double ScalarForce<D>::compute_potential(const ForceView<D>& at) const {
    return -sign * law.potential(compute_value(at.measures[measure], at.context) - free_value);
}

template <int D>
bool ScalarForce<D>::compute_blocks(const ForceView<D>& at, ForceBlocks<D>& blocks) const {
    Arguments s;
    find_arguments(at, s);
    const BoundLaw::Value value = law.evaluate(s.x, s.v, at.t, s.span);
    MeasureGradient<D> g;
    add_blocks_along(at, measure, {sign * value.force, sign * value.by_x, sign * value.by_v}, g, blocks);
    const int count = at.measures[measure].count;
    int slot = count;
    MeasureGradient<D> push;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        const double by_input = sign * law.by_input(static_cast<int>(i), s.x, s.v, at.t, s.span);
        for (int a = 0; a < count; ++a) push[a] = by_input * g[a];
        add_blocks_by_input<D>(at, inputs[i], {push.data(), static_cast<std::size_t>(count)}, slot, blocks);
    }
    return true;
}

template <int D>
void ScalarForce<D>::add_kinks(const ForceView<D>& at, KinkArguments& kinks) const {
    Arguments s;
    find_arguments(at, s);
    law.add_kinks(s.x, s.v, at.t, s.span, kinks);
}

template <int D>
bool ScalarForce<D>::is_felt_by_common_motion(const std::vector<Measure<D>>& measures) const {
    return is_component(measures, measure) || std::any_of(inputs.begin(), inputs.end(), [&](const LawInput& input) {
               return is_component(measures, input.measure);
           });
}

template <int D>
void ScalarForce<D>::renumber(const Renumbering& to) {
    measure = to.measure(measure);
    for (LawInput& input : inputs) input.measure = to.measure(input.measure);
}

template struct ScalarForce<2>;
template struct ScalarForce<3>;

}  // namespace limber
