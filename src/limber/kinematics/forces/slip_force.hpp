#pragma once
// Dry friction while it slips, along a measure or along a plane. The force changes linearly between two instants: the
// stepper finds its value at the second one. For compliant laws (friction_law.hpp), which go along a measure, it is the
// load that changes so.

#include <array>

#include "limber/kinematics/elements/constraint_set.hpp"
#include "limber/kinematics/forces/applied_force.hpp"
#include "limber/kinematics/forces/friction_law.hpp"

namespace limber {

template <int D>
struct SlipForce final : AppliedForceOf<SlipForce<D>, D> {
    int measure = -1;         ///< -1: along `rows`, with their slots: point and axes of the first marker, of the second
    std::array<Row, 2> rows;  ///< of sliding
    MemorySlot<SlipMemory> slip;
    MemorySlot<BristleMemory> bristles;  ///< of compliant laws
    FrictionLaw law;

    void evaluate(const ForceView<D>& at, Vec<D>* out) const override;
    bool compute_blocks(const ForceView<D>& at, ForceBlocks<D>& blocks) const override;
    double compute_size(const ForceView<D>& at) const override;
    bool is_felt_by_common_motion(const std::vector<Measure<D>>& measures) const override;
    /// Of two frames that slide on each other without a radius the second is but a point.
    void add_felt_features(const ForceView<D>& at, std::vector<int>& features) const override;
    void renumber(const Renumbering& to);

    /// Bristles as they are at t, kept in the memory.
    void advance_bristles(const ForceView<D>& at, std::vector<double>& to) const;

private:
    /// Forces along the directions of the slip, of which there are none while it does not slip.
    struct Slip {
        int directions = 0;
        std::array<double, 2> force{};
    };
    Slip find_slip(const ForceView<D>& at) const;
    FrictionForce find_compliant_force(const ForceView<D>& at) const;
};

}  // namespace limber
