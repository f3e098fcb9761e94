#pragma once
// A force along a measure: F_a = f(x, v) g_a with g = d measure / df, so
//   dF_a/df_b    = f H_ab + f_x g_a g_b^T + f_v g_a (H fdot)_b^T
//   dF_a/dfdot_b = f_v g_a g_b^T
// The features of the measure are the first slots.

#include "limber/kinematics/forces/applied_force.hpp"

namespace limber {

struct ForceAlong {
    double force = 0, by_x = 0, by_v = 0;
};

template <int D>
void evaluate_along(const ForceView<D>& at, int measure, double force, Vec<D>* out) {
    MeasureGradient<D> g;
    const Measure<D>& m = at.measures[measure];
    compute_gradient(m, at.context, g.data());
    for (int i = 0; i < m.count; ++i) out[i] = force * g[i];
    for (int i = m.count; i < at.slot_count; ++i) out[i].setZero();
}

/// The gradient is filled for those who have more to add.
template <int D>
void add_blocks_along(const ForceView<D>& at, int measure, const ForceAlong& f, MeasureGradient<D>& g,
                      ForceBlocks<D>& blocks) {
    const Measure<D>& m = at.measures[measure];
    MeasureHessian<D> h;
    compute_gradient(m, at.context, g.data());
    compute_hessian(m, at.context, h);
    for (int b = 0; b < m.count; ++b) {
        Vec<D> h_rate = Vec<D>::Zero();
        for (int k = 0; k < m.count; ++k) h_rate += h.block[b][k] * at.context.features.rate[m.feature[k]];
        for (int a = 0; a < m.count; ++a) {
            blocks.k(a, b) -= f.force * h.block[a][b] + g[a] * (f.by_x * g[b] + f.by_v * h_rate).transpose();
            blocks.c(a, b) -= f.by_v * g[a] * g[b].transpose();
        }
    }
}

/// Whether a measure is a component in world axes.
template <int D>
bool is_component(const std::vector<Measure<D>>& measures, int measure) {
    return measures[measure].kind == MeasureKind::component;
}

}  // namespace limber
