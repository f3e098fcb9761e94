#include "limber/kinematics/forces/bushing_force.hpp"

#include <algorithm>

#include "limber/kinematics/forces/along_measure.hpp"

namespace limber {
namespace {

// The measures of a bushing share its features, and each has one slot.
int slot_of(const int* slots, int feature) {
    int slot = 0;
    while (slots[slot] != feature) ++slot;
    return slot;
}

}  // namespace

template <int D>
void BushingForce<D>::find_displacements(const ForceView<D>& at, Components& x, Components& v) const {
    const auto n = static_cast<Eigen::Index>(components.size());
    x.setZero(n);
    v.setZero(n);
    for (Eigen::Index i = 0; i < n; ++i)
        for (const RowTerm& term : components[i]) {
            x[i] += term.coefficient * compute_value(at.measures[term.measure], at.context);
            v[i] += term.coefficient * compute_rate(at.measures[term.measure], at.context);
        }
}

template <int D>
auto BushingForce<D>::find_forces(const ForceView<D>& at) const -> Components {
    Components x;
    Components v;
    find_displacements(at, x, v);
    Components w(x.size());
    w.noalias() = -stiffness * x;
    w.noalias() -= damping * v;
    return w;
}

template <int D>
void BushingForce<D>::add_forces(const ForceView<D>& at, const Components& w, Vec<D>* out) const {
    MeasureGradient<D> g;
    for (std::size_t i = 0; i < components.size(); ++i)
        for (const RowTerm& term : components[i]) {
            const Measure<D>& m = at.measures[term.measure];
            compute_gradient(m, at.context, g.data());
            for (int k = 0; k < m.count; ++k)
                out[slot_of(at.slots, m.feature[k])] += w[static_cast<Eigen::Index>(i)] * term.coefficient * g[k];
        }
}

template <int D>
void BushingForce<D>::evaluate(const ForceView<D>& at, Vec<D>* out) const {
    std::fill(out, out + at.slot_count, Vec<D>::Zero());
    add_forces(at, find_forces(at), out);
}

template <int D>
void BushingForce<D>::evaluate_without_potential(const ForceView<D>& at, Vec<D>* out) const {
    evaluate(at, out);
    Components x;
    Components v;
    find_displacements(at, x, v);
    add_forces(at, 0.5 * (stiffness + stiffness.transpose()) * x, out);
}

template <int D>
double BushingForce<D>::compute_size(const ForceView<D>& at) const {
    return find_forces(at).template head<D>().norm();
}

template <int D>
double BushingForce<D>::compute_potential(const ForceView<D>& at) const {
    Components x;
    Components v;
    find_displacements(at, x, v);
    return 0.25 * x.dot((stiffness + stiffness.transpose()) * x);
}

template <int D>
bool BushingForce<D>::compute_blocks(const ForceView<D>& at, ForceBlocks<D>& blocks) const {
    constexpr int max_terms = 2 * max_components;
    struct Term {
        int component, count;
        std::array<int, max_measure_features> slot;
        MeasureGradient<D> gradient, gradient_rate;  // of coefficient * measure
    };
    std::array<Term, max_terms> terms;
    int count = 0;
    const Components w = find_forces(at);
    MeasureHessian<D> h;
    for (std::size_t i = 0; i < components.size(); ++i)
        for (const RowTerm& row_term : components[i]) {
            const Measure<D>& m = at.measures[row_term.measure];
            Term& term = terms[count++];
            term.component = static_cast<int>(i);
            term.count = m.count;
            for (int a = 0; a < m.count; ++a) term.slot[a] = slot_of(at.slots, m.feature[a]);
            compute_gradient(m, at.context, term.gradient.data());
            compute_hessian(m, at.context, h);
            for (int a = 0; a < m.count; ++a) {
                term.gradient[a] *= row_term.coefficient;
                term.gradient_rate[a].setZero();
                for (int b = 0; b < m.count; ++b) {
                    term.gradient_rate[a] +=
                        row_term.coefficient * h.block[a][b] * at.context.features.rate[m.feature[b]];
                    blocks.k(term.slot[a], term.slot[b]) -= w[term.component] * row_term.coefficient * h.block[a][b];
                }
            }
        }
    for (int p = 0; p < count; ++p)
        for (int q = 0; q < count; ++q) {
            const Term& left = terms[p];
            const Term& right = terms[q];
            const double k = stiffness(left.component, right.component);
            const double c = damping(left.component, right.component);
            if (k == 0 && c == 0) continue;
            for (int a = 0; a < left.count; ++a)
                for (int b = 0; b < right.count; ++b) {
                    blocks.k(left.slot[a], right.slot[b]) +=
                        left.gradient[a] * (k * right.gradient[b] + c * right.gradient_rate[b]).transpose();
                    blocks.c(left.slot[a], right.slot[b]) += c * left.gradient[a] * right.gradient[b].transpose();
                }
        }
    return true;
}

template <int D>
bool BushingForce<D>::is_felt_by_common_motion(const std::vector<Measure<D>>& measures) const {
    for (const auto& component : components)
        for (const RowTerm& term : component)
            if (is_component(measures, term.measure)) return true;
    return false;
}

template <int D>
void BushingForce<D>::add_felt_features(const ForceView<D>& at, std::vector<int>& features) const {
    for (std::size_t k = 0; k < components.size(); ++k) {
        const auto i = static_cast<Eigen::Index>(k);
        const auto acts = [&](const MatX& m) { return !m.row(i).isZero(0) || !m.col(i).isZero(0); };
        if (!acts(stiffness) && !acts(damping)) continue;
        for (const RowTerm& term : components[k]) {
            const Measure<D>& measure = at.measures[term.measure];
            features.insert(features.end(), measure.feature.begin(), measure.feature.begin() + measure.count);
        }
    }
}

template <int D>
void BushingForce<D>::renumber(const Renumbering& to) {
    for (auto& component : components)
        for (RowTerm& term : component) term.measure = to.measure(term.measure);
}

template struct BushingForce<2>;
template struct BushingForce<3>;

}  // namespace limber
