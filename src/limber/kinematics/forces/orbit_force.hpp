#pragma once
// What a body feels in the frame of a circular orbit (Hill 1878, Clohessy and Wiltshire 1960): the frame turns at the
// rate n about its z, x points away from the centre of attraction and y along the flight. Gravity and the forces of the
// turning frame, both linear about the origin, are per mass
//   f = T p - 2 n z x p',   T = n^2 diag(3, 0, -1)   (plane: diag(3, 0))
// Summed up over a body with centre of mass c, axes e_k and J_kl = integral of r_k r_l dm along them, they act on its
// features by
//   F_c = m (T c - 2 n z x c'),   F_k = sum_l J_kl (T e_l - 2 n z x e_l')
// of which the second is the gradient torque, and what a turning frame does to a turning body. The potential of T is
// -1/2 m c.T c - 1/2 sum J_kl e_k.T e_l; the rest does no work. Slots: c and, of a body with J, its axes.

#include "limber/kinematics/forces/applied_force.hpp"

namespace limber {

template <int D>
struct OrbitForce final : AppliedForceOf<OrbitForce<D>, D> {
    double rate = 0;                        ///< n
    double mass = 0;                        ///< m
    Mat<D> second_moment = Mat<D>::Zero();  ///< J

    void evaluate(const ForceView<D>& at, Vec<D>* out) const override;
    bool compute_blocks(const ForceView<D>& at, ForceBlocks<D>& blocks) const override;
    double compute_size(const ForceView<D>& at) const override;
    double compute_potential(const ForceView<D>& at) const override;
    void evaluate_without_potential(const ForceView<D>& at, Vec<D>* out) const override;
    void renumber(const Renumbering& /*to*/) {}

private:
    /// What multiplies the features of slots a and b: m or J_kl.
    double weight(int a, int b) const {
        if (a == 0 || b == 0) return a == b ? mass : 0;
        return second_moment(a - 1, b - 1);
    }
    Mat<D> gradient() const;
    Mat<D> turning() const;
};

}  // namespace limber
