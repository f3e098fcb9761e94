#pragma once
// Components held together by interface joints: one step of all of them.
//
//   end of step   find the multipliers y with Phi(ports at the end of the step) = 0, the end being what the components
//                 answer to the wrenches G^T y there; then velocities and accelerations of the ends are pushed onto the
//                 joints by the response of the same components. With equal steps this is the index-3 step of the
//                 undivided mechanism. Components that can be coupled are not asked for their answer but taken along in
//                 one Newton iteration over all of them: their next changes give G changes + Phi = R, the joints K dy =
//                 -R, and every component then moves by its own change and its response to G^T dy. Forces between
//                 components take part by their stiffness.
//   acceleration  predicted motion, G a + bias + kv Phi' + kp Phi = 0 for the multipliers, corrected motion (Joli 2008
//                 section 4, steps 1 to 7)
//
// The residual of the rows counts as an acceleration in both, so the same methods of gluing serve both. Springs and
// other forces between components are wrenches too, found from the motion at the end, or extrapolated if nothing is to
// be iterated.

#include <array>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "limber/modular/component_team.hpp"
#include "limber/modular/force_history.hpp"
#include "limber/modular/gluing.hpp"
#include "limber/modular/interface_joints.hpp"
#include "limber/modular/interface_matrix.hpp"
#include "limber/modular/swing_watch.hpp"

namespace limber {

/// What the last step took.
struct GluingReport {
    int answers = 0;   ///< times all components were asked for their motion
    int products = 0;  ///< times they were asked how they yield to given wrenches
    int measures = 0;  ///< unit wrenches tried on the largest component
    double residual = 0;
    int questions() const { return answers + products + measures; }
};

/// Where an assembly was between two steps.
template <int D>
struct AssemblySnapshot {
    double t = 0;
    ForceHistory<D> history{0};
    InterfaceMatrixSnapshot<D> matrix;
    std::vector<PortMotion<D>> motion;
    std::vector<double> joint_memory;
    std::vector<std::vector<double>> components;
    SwingWatch<D> swings{0, 1};
    double refused_step = 0;
    std::string refusal;
};

template <int D>
class ModularAssembly {
public:
    /// Ports of all components, component by component, are the bodies of the joints.
    ModularAssembly(ComponentList<D> components, std::unique_ptr<InterfaceJoints<D>> joints,
                    const ModularOptions& options, const FormulationOptions& gains, int corrector_passes);
    /// Process that computes each component, if the options have an exchange.
    void spread(std::vector<int> owner);
    ComponentTeam<D>& team() { return team_; }

    /// After the components have taken up a motion: accelerations and multipliers at its instant.
    StepReport start(double t);
    /// On failure, or if a component throws, nothing has happened: what follows is the same to the bit as without the
    /// attempt. Only steps in which forces between components swing without bounds are remembered, and refused from
    /// then on.
    StepReport step(double h);
    /// Everything that the next step depends on.
    void save(AssemblySnapshot<D>& to) const;
    void restore(const AssemblySnapshot<D>& from);
    /// Other joints between the same ports; those of the same name keep their multipliers. The components notice
    /// nothing. Returns the old ones.
    std::unique_ptr<InterfaceJoints<D>> exchange_joints(std::unique_ptr<InterfaceJoints<D>> joints);
    /// After a change of the joints: velocities jump as by impulses of the joints, then as start().
    StepReport restart_velocities(double t);
    /// Impulses of the rows at the last restart of velocities.
    const VecX& impulses() const { return impulses_; }

    Component<D>& component(int index) { return team_[index]; }
    InterfaceJoints<D>& joints() { return *joints_; }
    /// Of all ports, as last accepted or asked about; in a distributed run all processes must call it.
    std::span<const PortMotion<D>> gather_motion();
    const GluingReport& report() const { return report_; }
    /// Smallest multipliers that have the effect of those found.
    VecX compute_multipliers();
    double time() const { return t_; }

private:
    // Errors of positions, and so of the joints, that rounding leaves, over the distance from the origin.
    static constexpr double rounding = 1e-14;
    template <class Derived>
    static double largest(const Eigen::MatrixBase<Derived>& x) {
        return x.size() > 0 ? x.template lpNorm<Eigen::Infinity>() : 0;
    }

    void connect();
    /// Of each row; 0: by the inertia it meets.
    VecX find_rho() const;
    void begin(double h, Coupling coupling);
    /// First motion of the components: where coupled ones start, what the others answer.
    bool open();
    /// Next changes of the coupled components.
    void approach(bool refresh);
    /// Coupled components take their changes and what `correction_` adds, the others answer.
    bool advance();
    bool close();
    bool ask();
    bool have_all_succeeded();
    /// How the components are, as numbers of which the largest counts: failed, out of balance, change, acceptable
    /// change, opening.
    using Status = std::array<double, 5>;
    Status find_own_status() const;
    bool take_status(const Status& status);
    /// Rows, and forces between components, at the motion shown.
    void update_joints();
    /// False: a component has failed.
    bool find_residual();
    /// Whether what an iteration of the coupled components has left is small enough.
    bool has_newton_converged(double& before, bool& is_slow) const;
    double find_largest_of_all(double own);
    double find_force_change();
    std::string describe_unsettled() const;
    /// Whether springs have the same step on both sides and are found together with the motion, as in the undivided
    /// mechanism.
    bool are_springs_as_undivided() const { return matrix_.has_equal_reach() && iterates_forces(); }
    /// Whether it is known that they would swing without bounds.
    bool is_step_refused() const;
    /// False: springs between components swing ever wider.
    bool are_springs_resolved();
    bool has_accelerations() const { return coupling_ == Coupling::acceleration || h_ == 0; }
    /// Whether forces between components are found with their stiffness.
    bool uses_springs() const {
        return options_.gluing == Gluing::direct && options_.coupling == Coupling::end_of_step &&
               options_.use_iteration && joints_->has_forces();
    }
    /// What the ports are about to do without the joints: changes of the coupled components, answers of the others to
    /// forces they were not yet asked about.
    void find_known_changes();
    void measure();
    AdmittanceProduct make_product();
    /// G^T multipliers, and forces if there are any.
    void set_wrenches(const VecX& multipliers, const std::vector<TwistVec<D>>* forces,
                      std::vector<TwistVec<D>>& wrenches) const;
    bool glue();
    bool glue_by_penalty();
    /// Accelerations and multipliers of this instant, accepted.
    bool find_accelerations();
    /// Moves velocities, or accelerations, of the ends until the joints agree with them.
    bool push(bool velocities);
    bool attempt_step();
    /// After an attempt that came to nothing.
    void take_back();
    void accept();
    void predict();
    StepReport make_report(bool ok) const;
    bool settles(double correction) const;
    /// Whether a residual of accelerations is small enough. What would still take it out is kept for the next step.
    bool does_residual_settle();
    bool forces_settle(double change);
    bool iterates_with_springs() const { return matrix_.spring_rows() > 0 && iterates_forces(); }
    /// A parabola through forces of the past needs three of them: the first two steps are iterated in any case.
    bool iterates_forces() const {
        const bool is_start = options_.course == ForceCourse::quadratic && !history_.has_steps(2, h_);
        return !has_accelerations() && (options_.use_iteration || is_start) && joints_->has_forces();
    }

    ComponentTeam<D> team_;
    InterfaceMatrix<D> matrix_;
    std::unique_ptr<InterfaceJoints<D>> joints_;
    ModularOptions options_;
    FormulationOptions gain_options_;
    int passes_ = 1;
    std::unique_ptr<GluingMethod> method_;
    struct ComponentKind {
        Reach reach;
        double distance = 0;  // of its ports from the origin
        bool is_coupled = false;
    };
    std::vector<ComponentKind> kinds_;  // of all components in this step
    std::vector<Reach> reaches_;        // the same
    std::vector<char> balanced_;        // own components
    bool has_coupled_ = false, has_uncoupled_ = false, is_balanced_ = false, improves_when_repeated_ = false;
    std::vector<NewtonProgress> progress_;  // own components
    NewtonProgress largest_progress_;       // of all coupled ones

    double t_ = 0, h_ = 0;
    // Of ports from the origin, at least the length scale: rounding leaves the same part of it in all places.
    double distance_ = 0;
    Coupling coupling_ = Coupling::end_of_step;
    Gains gains_;
    std::vector<PortMotion<D>> motion_, motion_before_;  // before the step under way
    InterfaceMatrixSnapshot<D> matrix_before_;
    std::vector<TwistVec<D>> wrenches_, forces_, new_forces_, rates_, probe_, settled_;
    ForceHistory<D> history_;
    std::vector<TwistVec<D>> bend_;  // of the wrenches over the steps before
    std::vector<StepReport> answers_;
    VecX multipliers_, late_correction_;
    VecX residual_, correction_, rows_, impulses_, weakest_;
    std::vector<TwistVec<D>> known_, asked_forces_, force_changes_, spring_wrenches_;
    double opening_ = 0;  // largest error of the rows, as a position
    GluingReport report_;
    std::unique_ptr<GluingMethod> pusher_;  // of velocities and accelerations
    SwingWatch<D> swings_;
    double refused_step_ = 0;  // in which they did; 0: none is known
    std::string refusal_;
    std::string failure_;
};

}  // namespace limber
