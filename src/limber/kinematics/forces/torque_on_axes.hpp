#pragma once
// A torque on a body acts on the axes of its frame: F_k = 1/2 T x e_k.

#include "limber/kinematics/forces/applied_force.hpp"
#include "limber/math/rotation.hpp"

namespace limber {

/// Matrix M with M e = 1/2 T x e.
template <int D>
Mat<D> half_turn(const Vec3& torque) {
    if constexpr (D == 2) {
        Mat2 m;
        m << 0, -0.5 * torque.z(), 0.5 * torque.z(), 0;
        return m;
    } else {
        return 0.5 * skew(torque);
    }
}

/// On the axes from a slot on to the last one.
template <int D>
void evaluate_torque(const ForceView<D>& at, int first_slot, const Mat<D>& turn, Vec<D>* out) {
    for (int k = first_slot; k < at.slot_count; ++k) out[k] = turn * at.value(k);
}

}  // namespace limber
