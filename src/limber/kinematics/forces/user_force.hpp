#pragma once
// A force written by a user (model/custom_force.hpp). Slots: point and axes (D) of the first marker, then of the
// second. Turning is 1/2 sum e_k x e_k', a torque T acts on the axes as 1/2 T x e_k; blocks follow from dual numbers,
// slot by slot.

#include "limber/kinematics/forces/applied_force.hpp"
#include "limber/model/custom_force.hpp"

namespace limber {

template <int D>
struct UserForce final : AppliedForceOf<UserForce<D>, D> {
    std::shared_ptr<const CustomLaw> law;

    void evaluate(const ForceView<D>& at, Vec<D>* out) const override;
    bool compute_blocks(const ForceView<D>& at, ForceBlocks<D>& blocks) const override;
    double compute_size(const ForceView<D>& at) const override;
    bool feels_all_turns() const override { return true; }

private:
    /// What the law sees with numbers of this type; `number` makes one of a component of a slot's value or rate.
    template <class T, class MakeNumber>
    void act(const ForceView<D>& at, const MakeNumber& number, std::array<Vector3<T>, 2 * (D + 1)>& out) const;
};

}  // namespace limber
