#include "limber/kinematics/forces/tyre_force.hpp"

#include "limber/kinematics/forces/torque_on_axes.hpp"

namespace limber {

namespace {

template <int D>
Vec3 wheel_turning(const ForceView<D>& at) {
    Vec3 omega = Vec3::Zero();
    for (int k = 1; k < at.slot_count; ++k) omega += 0.5 * in_space<D>(at.value(k)).cross(in_space<D>(at.rate(k)));
    return omega;
}

// What the force on an axis is to a moment: F_k = 1/2 T x e_k.
template <int D>
Eigen::Matrix<double, D, 3> wheel_turn_by_moment(const Vec<D>& axis) {
    return -0.5 * skew(in_space<D>(axis)).template topRows<D>();
}

}  // namespace

template <int D>
WheelMotion TyreForce<D>::find_motion(const ForceView<D>& at) const {
    WheelMotion wheel;
    wheel.centre = in_space<D>(at.value(0));
    wheel.velocity = in_space<D>(at.rate(0));
    wheel.axis = D == 3 ? in_space<D>(at.value(at.slot_count - 1)) : Vec3(-Vec3::UnitZ());
    if (law.longitudinal) wheel.spin = wheel_turning<D>(at).dot(wheel.axis);
    return wheel;
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
    const WheelMotion wheel = find_motion(at);
    const TyreWrench w = evaluate_tyre(law, D == 2, wheel, tangent);
    blocks.k(0, 0) = -tangent.by_centre.template topLeftCorner<D, D>();
    blocks.c(0, 0) = -tangent.by_velocity.template topLeftCorner<D, D>();
    const int axis = at.slot_count - 1;
    if constexpr (D == 3) blocks.k(0, axis) = -tangent.by_axis.template topRows<3>();
    for (int k = 1; k < at.slot_count; ++k) {
        const Eigen::Matrix<double, D, 3> turn = -wheel_turn_by_moment<D>(at.value(k));
        blocks.k(k, 0) = turn * tangent.by_centre.template bottomLeftCorner<3, D>();
        blocks.c(k, 0) = turn * tangent.by_velocity.template bottomLeftCorner<3, D>();
        if constexpr (D == 3) blocks.k(k, axis) += turn * tangent.by_axis.template bottomRows<3>();
        blocks.k(k, k) -= half_turn<D>(w.moment);
    }
    if (law.longitudinal) add_spin_blocks(at, wheel.axis, tangent.by_spin, blocks);
    return true;
}

template <int D>
void TyreForce<D>::add_spin_blocks(const ForceView<D>& at, const Vec3& axis, const Eigen::Matrix<double, 6, 1>& by_spin,
                                   ForceBlocks<D>& blocks) const {
    for (int b = 1; b < at.slot_count; ++b) {
        Vec3 by_axis = 0.5 * in_space<D>(at.rate(b)).cross(axis);
        if (D == 3 && b == at.slot_count - 1) by_axis += wheel_turning<D>(at);
        const Vec3 by_rate = 0.5 * axis.cross(in_space<D>(at.value(b)));
        const auto add = [&](int slot, const Vec<D>& by) {
            blocks.k(slot, b) -= by * by_axis.template head<D>().transpose();
            blocks.c(slot, b) -= by * by_rate.template head<D>().transpose();
        };
        add(0, by_spin.template head<D>());
        for (int a = 1; a < at.slot_count; ++a)
            add(a, wheel_turn_by_moment<D>(at.value(a)) * by_spin.template tail<3>());
    }
}

template struct TyreForce<2>;
template struct TyreForce<3>;

}  // namespace limber
