#pragma once
// Forces that see a single point. Slots: the point.

#include "limber/kinematics/forces/applied_force.hpp"

namespace limber {

/// Against the velocity u of the point through a medium:  F = -(linear + quadratic |u|) u.
template <int D>
struct DragForce final : AppliedForceOf<DragForce<D>, D> {
    double linear = 0, quadratic = 0;
    Vec<D> medium = Vec<D>::Zero();  ///< its velocity

    void evaluate(const ForceView<D>& at, Vec<D>* out) const override {
        const Vec<D> u = at.rate(0) - medium;
        out[0] = -(linear + quadratic * u.norm()) * u;
    }
    bool compute_blocks(const ForceView<D>& at, ForceBlocks<D>& blocks) const override {
        const Vec<D> u = at.rate(0) - medium;
        const double speed = u.norm();
        blocks.c(0, 0) = (linear + quadratic * speed) * Mat<D>::Identity();
        if (speed > 0) blocks.c(0, 0) += quadratic / speed * u * u.transpose();
        return true;
    }
    double compute_size(const ForceView<D>& at) const override {
        const double speed = (at.rate(0) - medium).norm();
        return (linear + quadratic * speed) * speed;
    }
};

/// Spring and damper to a target kept in the memory. The hand that holds the target puts energy in and takes it out: no
/// potential.
template <int D>
struct PullForce final : AppliedForceOf<PullForce<D>, D> {
    double stiffness = 0, damping = 0;
    MemorySlot<TargetMemory<D>> target;

    void evaluate(const ForceView<D>& at, Vec<D>* out) const override { out[0] = find_force(at); }
    bool compute_blocks(const ForceView<D>& /*at*/, ForceBlocks<D>& blocks) const override {
        blocks.k(0, 0) = stiffness * Mat<D>::Identity();
        blocks.c(0, 0) = damping * Mat<D>::Identity();
        return true;
    }
    double compute_size(const ForceView<D>& at) const override { return find_force(at).norm(); }
    void renumber(const Renumbering& to) { target = target.renumbered(to.block); }

private:
    Vec<D> find_force(const ForceView<D>& at) const {
        return stiffness * (target.in(at.context.memory) - at.value(0)) - damping * at.rate(0);
    }
};

}  // namespace limber
