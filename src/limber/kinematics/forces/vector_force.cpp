#include "limber/kinematics/forces/vector_force.hpp"

#include "limber/kinematics/forces/torque_on_axes.hpp"

namespace limber {

template <int D>
Vec3 MotionVector<D>::at(const ForceView<D>& view) const {
    std::array<double, 1 + max_law_inputs> variables;
    variables[0] = view.t;
    for (std::size_t i = 0; i < inputs.size(); ++i) variables[1 + i] = find_input(view, inputs[i]);
    const std::span<const double> known(variables.data(), 1 + inputs.size());
    Vec3 f;
    for (int k = 0; k < 3; ++k) f[k] = factor * component[k].template evaluate<double>(known);
    return f;
}

template <int D>
Vec3 MotionVector<D>::by_input(const ForceView<D>& view, int input) const {
    Vec3 derivative = Vec3::Zero();
    std::array<Dual<1>, 1 + max_law_inputs> variables;
    variables[0] = Dual<1>(view.t);
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        const double y = find_input(view, inputs[i]);
        variables[1 + i] = static_cast<int>(i) == input ? Dual<1>::variable(y, 0) : Dual<1>(y);
    }
    const std::span<const Dual<1>> known(variables.data(), 1 + inputs.size());
    for (int k = 0; k < 3; ++k)
        if (component[k].depends_on(1 + input))
            derivative[k] = factor * component[k].template evaluate<Dual<1>>(known).partial[0];
    return derivative;
}

template <int D>
Vec<D> VectorForce<D>::in_world_axes(const ForceView<D>& at, const Vec3& components) const {
    if (!in_marker_axes) return components.template head<D>();
    Vec<D> force = Vec<D>::Zero();
    for (int k = 0; k < D; ++k) force += components[k] * at.value(1 + k);
    return force;
}

template <int D>
void VectorForce<D>::evaluate(const ForceView<D>& at, Vec<D>* out) const {
    out[0] = in_world_axes(at, vector.at(at));
    for (int k = 1; k < at.slot_count; ++k) out[k].setZero();
}

template <int D>
bool VectorForce<D>::compute_blocks(const ForceView<D>& at, ForceBlocks<D>& blocks) const {
    if (!in_marker_axes && vector.inputs.empty()) return false;
    if (in_marker_axes) {
        const Vec3 f = vector.at(at);
        for (int k = 0; k < D; ++k) blocks.k(0, 1 + k) = -f[k] * Mat<D>::Identity();
    }
    int slot = own_slots();
    for (std::size_t i = 0; i < vector.inputs.size(); ++i) {
        const Vec<D> push = in_world_axes(at, vector.by_input(at, static_cast<int>(i)));
        add_blocks_by_input<D>(at, vector.inputs[i], {&push, 1}, slot, blocks);
    }
    return true;
}

template <int D>
double VectorForce<D>::compute_potential(const ForceView<D>& at) const {
    if (in_marker_axes) return 0;
    const Vec3 f = vector.at(at);
    double sum = 0;
    for (int k = 0; k < D; ++k)
        if (vector.is_constant(k)) sum -= f[k] * at.value(0)[k];
    return sum;
}

template <int D>
void VectorForce<D>::evaluate_without_potential(const ForceView<D>& at, Vec<D>* out) const {
    evaluate(at, out);
    for (int k = 0; k < D && !in_marker_axes; ++k)
        if (vector.is_constant(k)) out[0][k] = 0;
}

template <int D>
Vec3 Couple<D>::in_world_axes(const ForceView<D>& at, const Vec3& components) const {
    if (D == 2 || !in_marker_axes) return components;
    Vec3 torque = Vec3::Zero();
    for (int k = 0; k < D; ++k) torque.template head<D>() += components[k] * at.value(k);
    return torque;
}

template <int D>
void Couple<D>::evaluate(const ForceView<D>& at, Vec<D>* out) const {
    const Mat<D> turn = half_turn<D>(in_world_axes(at, vector.at(at)));
    for (int k = 0; k < D; ++k) out[k] = turn * at.value(k);
    for (int k = D; k < at.slot_count; ++k) out[k].setZero();
}

template <int D>
bool Couple<D>::compute_blocks(const ForceView<D>& at, ForceBlocks<D>& blocks) const {
    const Vec3 w = vector.at(at);
    const Mat<D> turn = half_turn<D>(in_world_axes(at, w));
    for (int k = 0; k < D; ++k) blocks.k(k, k) = -turn;
    if (D == 3 && in_marker_axes) {
        // T = sum w_j e_j, so T x e_k depends on e_j too: d(T x e_k) = w_j de_j x e_k = -w_j e_k x de_j.
        for (int k = 0; k < D; ++k) {
            Vec3 axis = Vec3::Zero();
            axis.template head<D>() = at.value(k);
            for (int j = 0; j < D; ++j) blocks.k(k, j) += half_turn<D>(w[j] * axis);
        }
    }
    int slot = D;
    for (std::size_t i = 0; i < vector.inputs.size(); ++i) {
        const Mat<D> by_input = half_turn<D>(in_world_axes(at, vector.by_input(at, static_cast<int>(i))));
        std::array<Vec<D>, D> push;
        for (int k = 0; k < D; ++k) push[k] = by_input * at.value(k);
        add_blocks_by_input<D>(at, vector.inputs[i], push, slot, blocks);
    }
    return true;
}

template struct MotionVector<2>;
template struct MotionVector<3>;
template struct VectorForce<2>;
template struct VectorForce<3>;
template struct Couple<2>;
template struct Couple<3>;

}  // namespace limber
