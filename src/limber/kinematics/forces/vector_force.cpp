#include "limber/kinematics/forces/vector_force.hpp"

#include "limber/kinematics/forces/torque_on_axes.hpp"

namespace limber {

template <int D>
void VectorForce<D>::evaluate(const ForceView<D>& at, Vec<D>* out) const {
    const Vec3 f = vector.at(at.t);
    if (in_marker_axes) {
        out[0].setZero();
        for (int k = 0; k < D; ++k) out[0] += f[k] * at.value(1 + k);
    } else {
        out[0] = f.template head<D>();
    }
    for (int k = 1; k < at.slot_count; ++k) out[k].setZero();
}

template <int D>
bool VectorForce<D>::compute_blocks(const ForceView<D>& at, ForceBlocks<D>& blocks) const {
    if (!in_marker_axes) return false;
    const Vec3 f = vector.at(at.t);
    for (int k = 0; k < D; ++k) blocks.k(0, 1 + k) = -f[k] * Mat<D>::Identity();
    return true;
}

template <int D>
double VectorForce<D>::compute_potential(const ForceView<D>& at) const {
    double sum = 0;
    for (int k = 0; k < D && !in_marker_axes; ++k)
        if (vector.component[k].is_constant()) sum -= vector.component[k].value(at.t) * at.value(0)[k];
    return sum;
}

template <int D>
void VectorForce<D>::evaluate_without_potential(const ForceView<D>& at, Vec<D>* out) const {
    evaluate(at, out);
    for (int k = 0; k < D && !in_marker_axes; ++k)
        if (vector.component[k].is_constant()) out[0][k] = 0;
}

template <int D>
Vec3 Couple<D>::in_world_axes(const ForceView<D>& at) const {
    const Vec3 w = vector.at(at.t);
    if (D == 2 || !in_marker_axes) return w;
    Vec3 torque = Vec3::Zero();
    for (int k = 0; k < D; ++k) torque.template head<D>() += w[k] * at.value(k);
    return torque;
}

template <int D>
void Couple<D>::evaluate(const ForceView<D>& at, Vec<D>* out) const {
    evaluate_torque<D>(at, 0, half_turn<D>(in_world_axes(at)), out);
}

template <int D>
bool Couple<D>::compute_blocks(const ForceView<D>& at, ForceBlocks<D>& blocks) const {
    const Mat<D> turn = half_turn<D>(in_world_axes(at));
    for (int k = 0; k < D; ++k) blocks.k(k, k) = -turn;
    if (D == 3 && in_marker_axes) {
        // T = sum w_j e_j, so T x e_k depends on e_j too: d(T x e_k) = w_j de_j x e_k = -w_j e_k x de_j.
        const Vec3 w = vector.at(at.t);
        for (int k = 0; k < D; ++k) {
            Vec3 axis = Vec3::Zero();
            axis.template head<D>() = at.value(k);
            for (int j = 0; j < D; ++j) blocks.k(k, j) += half_turn<D>(w[j] * axis);
        }
    }
    return true;
}

template struct VectorForce<2>;
template struct VectorForce<3>;
template struct Couple<2>;
template struct Couple<3>;

}  // namespace limber
