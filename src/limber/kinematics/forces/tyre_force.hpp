#pragma once
// A tyre on a road (tyre.hpp). Slots: the wheel's centre, and in space or with a longitudinal law the axes e_k of its
// marker, whose z is the wheel's axis (plane: -z). The force F acts on the centre, its moment T about the centre on the
// axes. With omega = 1/2 sum e_k x e_k' the wheel spins at the rate w = omega . axis, so that
//   dw/de_k = 1/2 e_k' x axis (and omega more for the axis itself),   dw/de_k' = 1/2 axis x e_k

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
    TyreContact measure(const ForceView<D>& at) const { return measure_tyre(law, D == 2, find_motion(at)); }

private:
    WheelMotion find_motion(const ForceView<D>& at) const;
    TyreWrench find_wrench(const ForceView<D>& at) const { return evaluate_tyre(law, D == 2, find_motion(at)); }
    void add_spin_blocks(const ForceView<D>& at, const Vec3& axis, const Eigen::Matrix<double, 6, 1>& by_spin,
                         ForceBlocks<D>& blocks) const;
};

}  // namespace limber
