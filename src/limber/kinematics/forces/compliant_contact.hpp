#pragma once
// Compliant contact of two shapes (contact_force.hpp) as an applied force. Slots: point and axes (D) of the first
// body's frame, then of the second's.

#include "limber/kinematics/forces/applied_force.hpp"
#include "limber/kinematics/forces/contact_force.hpp"

namespace limber {

template <int D>
struct CompliantContact final : AppliedForceOf<CompliantContact<D>, D> {
    std::shared_ptr<const ContactPair> pair;
    MemorySlot<SurfaceBristleMemory> bristles;  ///< none: it has no such law

    void evaluate(const ForceView<D>& at, Vec<D>* out) const override;
    bool compute_blocks(const ForceView<D>& at, ForceBlocks<D>& blocks) const override;
    double compute_size(const ForceView<D>& at) const override;
    double compute_potential(const ForceView<D>& at) const override;
    /// Nothing: its points come and go, see compute_power().
    void evaluate_without_potential(const ForceView<D>& at, Vec<D>* out) const override;
    /// Of damping and friction.
    double compute_power(const ForceView<D>& at, Vec<D>* scratch) const override;
    bool feels_all_turns() const override { return true; }
    void renumber(const Renumbering& to) { bristles = bristles.renumbered(to.block); }

    /// Where the two shapes touch, and what acts there.
    void find_points(const ForceView<D>& at, CompliantPoints& points) const;
    /// Bristles as they are at t, kept in the memory.
    void advance_bristles(const ForceView<D>& at, std::vector<double>& to) const;

private:
    double sum_over_points(const ForceView<D>& at, double (*number)(const CompliantPoint&)) const;
};

}  // namespace limber
