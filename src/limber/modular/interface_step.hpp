#pragma once
// The step under way, as the joints between components see it: what is assumed of its end, and what is known of it.

#include <algorithm>
#include <string>
#include <vector>

#include "limber/integration/stepper.hpp"
#include "limber/modular/component.hpp"

namespace limber {

/// What the last step took.
struct GluingReport {
    int evaluations = 0;    ///< of the motion of all components
    int products = 0;       ///< evaluations of how they yield to given wrenches
    int unit_wrenches = 0;  ///< tried on the largest component
    double residual = 0;
    int total() const { return evaluations + products + unit_wrenches; }
};

/// Errors of positions, and so of the joints, that rounding leaves, over the distance from the origin.
constexpr double interface_rounding = 1e-14;

template <class Derived>
double largest_entry(const Eigen::MatrixBase<Derived>& x) {
    return x.size() > 0 ? x.template lpNorm<Eigen::Infinity>() : 0;
}

template <int D>
struct InterfaceStep {
    using Wrenches = std::vector<TwistVec<D>>;

    explicit InterfaceStep(int ports)
        : motion(static_cast<std::size_t>(ports)), forces(motion.size(), TwistVec<D>::Zero()) {
        new_forces = wrenches = settled = forces;
    }
    bool has_accelerations() const { return coupling == Coupling::acceleration || h == 0; }

    double t = 0;      ///< at its start
    double whole = 0;  ///< length of the step that this one is a part of: gains belong to it
    double h = 0;      ///< 0: only accelerations and multipliers of this instant are looked for
    Coupling coupling = Coupling::end_of_step;
    bool iterates_forces = false;  ///< finds forces between components together with the motion
    std::vector<PortMotion<D>> motion;
    VecX multipliers;
    VecX late_correction;         ///< of the multipliers, found too late to be worth another evaluation
    Wrenches forces, new_forces;  ///< between components: assumed; as they follow from the motion
    Wrenches wrenches;            ///< that the motion belongs to: of the joints and of the forces assumed
    Wrenches settled;             ///< that the accelerations of the end belong to
    GluingReport report;
    Perturbation perturbation;  ///< of its evaluations, if it is asked for
    std::string failure;
};

}  // namespace limber
