#pragma once
// Scalars y_i that a force uses beside its own features: values or rates of measures. With the forces F_a on its own
// slots,
//   dF_a/df_b += dF_a/dy_i (dy_i/df_b)^T,   dF_a/dfdot_b += dF_a/dy_i (dy_i/dfdot_b)^T

#include <span>

#include "limber/kinematics/forces/applied_force.hpp"

namespace limber {

inline constexpr int max_law_inputs = 16;

/// The value of a measure or its rate. The features of the measures follow the force's own slots, input by input.
struct LawInput {
    int measure = -1;
    bool is_rate = false;
};

template <int D>
double find_input(const ForceView<D>& at, const LawInput& input) {
    const Measure<D>& m = at.measures[input.measure];
    return input.is_rate ? compute_rate(m, at.context) : compute_value(m, at.context);
}

/// `by_input`: of the force on each of the first slots. The features of the measure begin at `slot`, which is moved
/// past them.
template <int D>
void add_blocks_by_input(const ForceView<D>& at, const LawInput& input, std::span<const Vec<D>> by_input, int& slot,
                         ForceBlocks<D>& blocks) {
    const Measure<D>& m = at.measures[input.measure];
    MeasureGradient<D> g;
    MeasureHessian<D> h;
    compute_gradient(m, at.context, g.data());
    if (input.is_rate) compute_hessian(m, at.context, h);
    for (int b = 0; b < m.count; ++b, ++slot) {
        Vec<D> h_rate = Vec<D>::Zero();
        if (input.is_rate)
            for (int k = 0; k < m.count; ++k) h_rate += h.block[b][k] * at.context.features.rate[m.feature[k]];
        for (int a = 0; a < static_cast<int>(by_input.size()); ++a) {
            if (input.is_rate) {
                blocks.k(a, slot) -= by_input[a] * h_rate.transpose();
                blocks.c(a, slot) -= by_input[a] * g[b].transpose();
            } else {
                blocks.k(a, slot) -= by_input[a] * g[b].transpose();
            }
        }
    }
}

}  // namespace limber
