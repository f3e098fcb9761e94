#pragma once
// Forces and torques given by their components along the world's axes or those of a marker: functions of time and of
// other scalars y_i (law_input.hpp), the position and velocity of the marker among them.

#include <array>
#include <vector>

#include "limber/kinematics/forces/law_input.hpp"
#include "limber/model/expression.hpp"

namespace limber {

template <int D>
struct MotionVector {
    std::array<BoundExpression, 3> component;  ///< slot 0: t; then the inputs
    std::vector<LawInput> inputs;              ///< at most max_law_inputs; their features follow the force's own slots
    double factor = 1;

    Vec3 at(const ForceView<D>& view) const;
    /// Its derivative by an input; zero where nothing depends on it.
    Vec3 by_input(const ForceView<D>& view, int input) const;
    bool is_constant(int k) const { return component[k].is_constant(); }
    void renumber(const Renumbering& to) {
        for (LawInput& input : inputs) input.measure = to.measure(input.measure);
    }
};

/// At a point; slots: the point and, in marker axes, the axes (D). A component that is constant in world axes has the
/// potential -F . p.
template <int D>
struct VectorForce final : AppliedForceOf<VectorForce<D>, D> {
    MotionVector<D> vector;
    bool in_marker_axes = false;

    void evaluate(const ForceView<D>& at, Vec<D>* out) const override;
    bool compute_blocks(const ForceView<D>& at, ForceBlocks<D>& blocks) const override;
    double compute_size(const ForceView<D>& at) const override { return vector.at(at).norm(); }
    double compute_potential(const ForceView<D>& at) const override;
    void evaluate_without_potential(const ForceView<D>& at, Vec<D>* out) const override;
    /// Axes that the components go along are taken care of by feels_all_turns().
    void add_felt_features(const ForceView<D>& at, std::vector<int>& features) const override {
        features.push_back(at.slots[0]);
        features.insert(features.end(), at.slots + own_slots(), at.slots + at.slot_count);
    }
    bool feels_all_turns() const override { return in_marker_axes; }
    void renumber(const Renumbering& to) { vector.renumber(to); }

private:
    int own_slots() const { return in_marker_axes ? 1 + D : 1; }
    Vec<D> in_world_axes(const ForceView<D>& at, const Vec3& components) const;
};

/// On a body; slots: its axes (D). In the plane only z counts.
template <int D>
struct Couple final : AppliedForceOf<Couple<D>, D> {
    MotionVector<D> vector;
    bool in_marker_axes = false;

    void evaluate(const ForceView<D>& at, Vec<D>* out) const override;
    bool compute_blocks(const ForceView<D>& at, ForceBlocks<D>& blocks) const override;
    double compute_size(const ForceView<D>& at) const override { return vector.at(at).norm(); }
    bool feels_all_turns() const override { return true; }
    void renumber(const Renumbering& to) { vector.renumber(to); }

private:
    Vec3 in_world_axes(const ForceView<D>& at, const Vec3& components) const;
};

}  // namespace limber
