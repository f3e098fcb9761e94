#pragma once
// Components held together by interface joints: drives one step of all of them.
//
//   end of step   the iteration finds multipliers and motion with closed joints (GluingIteration), then velocities and
//                 accelerations of the ends are projected onto the joints (InterfaceProjection). With equal steps this
//                 is the index-3 step of the undivided mechanism.
//   acceleration  predicted motion, the iteration for the multipliers, corrected motion (steps 1 to 7 of
//                 section 4 of Joli 2008)
//
// Springs and other forces between components are wrenches too, found from the motion at the end, or extrapolated if
// nothing is to be iterated.

#include <limits>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "limber/modular/force_history.hpp"
#include "limber/modular/gluing_iteration.hpp"
#include "limber/modular/interface_projection.hpp"
#include "limber/modular/swing_watch.hpp"

namespace limber {

/// Where an assembly was between two steps.
template <int D>
struct AssemblySnapshot {
    double t = 0;
    double longest_step = 0;
    ForceHistory<D> history{0};
    InterfaceMatrixSnapshot<D> matrix;
    std::vector<PortMotion<D>> motion;
    std::vector<double> joint_memory;
    std::vector<std::vector<double>> components;
    SwingWatch<D> swings{0, 1};
};

template <int D>
class ModularAssembly {
public:
    /// Ports of all components, component by component, are the bodies of the joints.
    ModularAssembly(ComponentList<D> components, std::unique_ptr<InterfaceJoints<D>> joints,
                    const ModularOptions& options, const FormulationOptions& gains, int corrector_passes);
    ModularAssembly(const ModularAssembly&) = delete;
    ModularAssembly& operator=(const ModularAssembly&) = delete;
    /// Process that computes each component, if the options have an exchange.
    void spread(std::vector<int> owner);
    ComponentTeam<D>& team() { return team_; }

    /// After a motion was transferred to the components: accelerations and multipliers at its instant.
    StepReport start(double t);
    /// On failure, or if a component throws, nothing has happened: what follows is the same to the bit as without the
    /// attempt. Only steps in which forces between components swing without bounds are remembered, and refused from
    /// then on.
    StepReport step(double h);
    /// Everything that the next step depends on.
    void save(AssemblySnapshot<D>& to) const;
    void restore(const AssemblySnapshot<D>& from);
    /// Gains of the steps to come are those of one of this length, which they are parts of.
    void expect_parts_of(double step);
    /// See Stepper.
    void limit_perturbation(double limit) { perturbation_limit_ = limit; }
    const Perturbation& perturbation() const { return step_.perturbation; }
    /// Other joints between the same ports; those of the same name keep their multipliers. The components notice
    /// nothing. Returns the old ones.
    std::unique_ptr<InterfaceJoints<D>> exchange_joints(std::unique_ptr<InterfaceJoints<D>> joints);
    /// After a change of the joints: velocities jump as by impulses of the joints, then as start().
    StepReport restart_velocities(double t);
    /// Impulses of the rows at the last restart of velocities.
    const VecX& impulses() const { return projection_.impulses(); }

    Component<D>& component(int index) { return team_[index]; }
    InterfaceJoints<D>& joints() { return *joints_; }
    /// Of all ports, as last accepted or evaluated; in a distributed run all processes must call it.
    std::span<const PortMotion<D>> gather_motion();
    const GluingReport& report() const { return step_.report; }
    /// Smallest multipliers that have the effect of those found.
    VecX compute_multipliers();
    double time() const { return step_.t; }

private:
    /// Everything that depends on the joints.
    void connect();
    void restart(double t);
    void begin(double h, Coupling coupling);
    /// Ports, multipliers and forces at the end of the step, as the past lets expect them.
    void predict();
    /// Accelerations and multipliers of this instant, accepted.
    bool find_accelerations();
    bool attempt_step();
    /// Whether the motion just evaluated disturbs the constraints no more than it may.
    bool is_smooth();
    /// After an attempt that came to nothing.
    void take_back();
    void accept();
    StepReport make_report(bool ok) const;
    /// Whether springs have the same step on both sides and are found together with the motion, as in the undivided
    /// mechanism.
    bool are_springs_as_undivided() const { return matrix_.has_equal_reach() && step_.iterates_forces; }
    /// Whether forces between components are found with their stiffness.
    bool uses_springs() const {
        return options_.gluing == Gluing::direct && options_.coupling == Coupling::end_of_step &&
               options_.use_iteration && joints_->has_forces();
    }

    ModularOptions options_;
    int passes_ = 1;
    // Gains of a short step are too stiff for what longer ones have left open: that to come, if it is known, or the
    // longest since the last start.
    double whole_step_ = 0, longest_step_ = 0;
    double perturbation_limit_ = std::numeric_limits<double>::infinity();
    std::vector<double> own_perturbations_;  // of the components
    VecX row_perturbations_;
    bool improves_when_repeated_ = false;
    ComponentTeam<D> team_;
    ComponentEvaluation<D> evaluation_;
    InterfaceMatrix<D> matrix_;
    std::unique_ptr<InterfaceJoints<D>> joints_;
    GluingIteration<D> gluing_;
    InterfaceProjection<D> projection_;
    ForceHistory<D> history_;
    SwingWatch<D> swings_;
    InterfaceStep<D> step_;
    // Before the step under way.
    std::vector<PortMotion<D>> motion_before_;
    InterfaceMatrixSnapshot<D> matrix_before_;
    std::vector<TwistVec<D>> bend_;  // of the wrenches over the steps before
};

}  // namespace limber
