#pragma once
// A tyre on a road (tyre.hpp). Slots: the wheel's centre, and in space the axes of its marker, whose z is the wheel's
// axis. The force F acts on the centre, its moment T about the centre on the axes.

#include "limber/kinematics/forces/applied_force.hpp"
#include "limber/kinematics/forces/tyre.hpp"

namespace limber {

template <int D>
struct TyreForce final : AppliedForceOf<TyreForce<D>, D> {
    TyreLaw law;

    void evaluate(const ForceView<D>& at, Vec<D>* out) const override;
    bool compute_blocks(const ForceView<D>& at, ForceBlocks<D>& blocks) const override;
    bool has_kinks() const override { return true; }
    void add_kinks(const ForceView<D>& at, KinkArguments& kinks) const override {
        add_tyre_kinks(law, D == 2, in_space<D>(at.value(0)), in_space<D>(at.rate(0)), kinks);
    }
    double compute_size(const ForceView<D>& at) const override { return find_wrench(at).normal; }
    TyreContact measure(const ForceView<D>& at) const {
        return measure_tyre(law, D == 2, in_space<D>(at.value(0)), wheel_axis(at), in_space<D>(at.rate(0)));
    }

private:
    Vec3 wheel_axis(const ForceView<D>& at) const;
    TyreWrench find_wrench(const ForceView<D>& at) const;
};

}  // namespace limber
