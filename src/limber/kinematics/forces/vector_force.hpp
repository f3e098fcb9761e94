#pragma once
// Forces and torques given by their components over time, along the world's axes or those of a marker.

#include <array>

#include "limber/kinematics/elements/time_function.hpp"
#include "limber/kinematics/forces/applied_force.hpp"

namespace limber {

struct TimeVector {
    std::array<TimeFunction, 3> component;

    Vec3 at(double t) const { return {component[0].value(t), component[1].value(t), component[2].value(t)}; }
};

/// At a point; slots: the point and, in marker axes, the axes (D). A component that is constant in world axes has the
/// potential -F . p.
template <int D>
struct VectorForce final : AppliedForceOf<VectorForce<D>, D> {
    TimeVector vector;
    bool in_marker_axes = false;

    void evaluate(const ForceView<D>& at, Vec<D>* out) const override;
    bool compute_blocks(const ForceView<D>& at, ForceBlocks<D>& blocks) const override;
    double compute_size(const ForceView<D>& at) const override { return vector.at(at.t).norm(); }
    double compute_potential(const ForceView<D>& at) const override;
    void evaluate_without_potential(const ForceView<D>& at, Vec<D>* out) const override;
    void add_felt_features(const ForceView<D>& at, std::vector<int>& features) const override {
        features.push_back(at.slots[0]);
    }
    bool feels_all_turns() const override { return in_marker_axes; }
};

/// On a body; slots: its axes (D). In the plane only z counts.
template <int D>
struct Couple final : AppliedForceOf<Couple<D>, D> {
    TimeVector vector;
    bool in_marker_axes = false;

    void evaluate(const ForceView<D>& at, Vec<D>* out) const override;
    bool compute_blocks(const ForceView<D>& at, ForceBlocks<D>& blocks) const override;
    double compute_size(const ForceView<D>& at) const override { return vector.at(at.t).norm(); }
    bool feels_all_turns() const override { return true; }

private:
    Vec3 in_world_axes(const ForceView<D>& at) const;
};

}  // namespace limber
