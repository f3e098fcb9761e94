#pragma once
// Force and torque on a body that are kept in the memory, in world axes: what the neighbours of a component do to it.
// Slots: point, axes (D).

#include "limber/kinematics/forces/torque_on_axes.hpp"

namespace limber {

template <int D>
struct PortWrench final : AppliedForceOf<PortWrench<D>, D> {
    MemorySlot<WrenchMemory<D>> wrench;

    void evaluate(const ForceView<D>& at, Vec<D>* out) const override {
        out[0] = force(at);
        evaluate_torque<D>(at, 1, turn(at), out);
    }
    bool compute_blocks(const ForceView<D>& at, ForceBlocks<D>& blocks) const override {
        const Mat<D> by_axis = -turn(at);
        for (int k = 1; k < at.slot_count; ++k) blocks.k(k, k) = by_axis;
        return true;
    }
    double compute_size(const ForceView<D>& at) const override { return force(at).norm(); }
    bool feels_all_turns() const override { return true; }

private:
    Vec<D> force(const ForceView<D>& at) const { return wrench.in(at.context.memory).template head<D>(); }
    Mat<D> turn(const ForceView<D>& at) const {
        constexpr int axes = WrenchMemory<D>::size - D;
        Vec3 torque = Vec3::Zero();
        torque.template tail<axes>() = wrench.in(at.context.memory).template tail<axes>();
        return half_turn<D>(torque);
    }
};

}  // namespace limber
