#include "limber/kinematics/forces/tyre_force.hpp"

#include "limber/kinematics/forces/torque_on_axes.hpp"

namespace limber {

template <int D>
Vec3 TyreForce<D>::wheel_axis(const ForceView<D>& at) const {
    return D == 3 ? in_space<D>(at.value(at.slot_count - 1)) : Vec3(Vec3::UnitZ());
}

template <int D>
TyreWrench TyreForce<D>::find_wrench(const ForceView<D>& at) const {
    return evaluate_tyre(law, D == 2, in_space<D>(at.value(0)), wheel_axis(at), in_space<D>(at.rate(0)));
}

template <int D>
void TyreForce<D>::evaluate(const ForceView<D>& at, Vec<D>* out) const {
    const TyreWrench w = find_wrench(at);
    out[0] = w.force.template head<D>();
    evaluate_torque<D>(at, 1, half_turn<D>(w.moment), out);
}

template <int D>
bool TyreForce<D>::compute_blocks(const ForceView<D>& at, ForceBlocks<D>& blocks) const {
    TyreTangent tangent;
    const TyreWrench w =
        evaluate_tyre(law, D == 2, in_space<D>(at.value(0)), wheel_axis(at), in_space<D>(at.rate(0)), tangent);
    blocks.k(0, 0) = -tangent.by_centre.template topLeftCorner<D, D>();
    blocks.c(0, 0) = -tangent.by_velocity.template topLeftCorner<D, D>();
    if constexpr (D == 3) {
        const int axis = at.slot_count - 1;
        blocks.k(0, axis) = -tangent.by_axis.template topRows<3>();
        for (int k = 1; k < at.slot_count; ++k) {
            const Mat3 turn = 0.5 * skew(at.value(k));
            blocks.k(k, 0) = turn * tangent.by_centre.template bottomRows<3>();
            blocks.c(k, 0) = turn * tangent.by_velocity.template bottomRows<3>();
            blocks.k(k, axis) += turn * tangent.by_axis.template bottomRows<3>();
            blocks.k(k, k) -= half_turn<3>(w.moment);
        }
    }
    return true;
}

template struct TyreForce<2>;
template struct TyreForce<3>;

}  // namespace limber
