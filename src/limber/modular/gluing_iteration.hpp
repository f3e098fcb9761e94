#pragma once
// The iteration that finds the multipliers of the joints between components, and the forces between these, together
// with the motion.
//
//   end of step   find the multipliers y with Phi(ports at the end of the step) = 0, the end being what the components
//                 answer to the wrenches G^T y there. Components that can be coupled are not evaluated in full but take
//                 part in one Newton iteration over all of them: their next changes give G changes + Phi = R, the
//                 joints K dy = -R, and every component then moves by its own change and its response to G^T dy. Forces
//                 between components take part by their stiffness.
//   acceleration  G a + bias + kv Phi' + kp Phi = 0 on the predicted motion (Joli 2008 section 4, steps 2 to 6)
//
// The residual of the rows counts as an acceleration in both, so the same methods of gluing serve both.

#include <memory>

#include "limber/modular/component_evaluation.hpp"
#include "limber/modular/gluing.hpp"
#include "limber/modular/gluing_convergence.hpp"

namespace limber {

template <int D>
class GluingIteration {
public:
    /// All but the gains must outlive it.
    GluingIteration(ComponentTeam<D>& team, ComponentEvaluation<D>& evaluation, InterfaceMatrix<D>& matrix,
                    const ModularOptions& options, const FormulationOptions& gains);
    /// Other joints, which must outlive it.
    void connect(InterfaceJoints<D>& joints);
    const GluingMethod& method() const { return *method_; }

    /// The step has the multipliers, forces and motion found; false: its failure, or that of the evaluation, says why.
    bool solve(InterfaceStep<D>& step);
    /// The motion of the components under the multipliers and forces assumed.
    bool evaluate(InterfaceStep<D>& step);
    /// Constraint-acceleration perturbations of the own rows at the last evaluation (Seguy 2003 eq. 23): what gains, or
    /// springs, make of their accelerations.
    void find_perturbations(const InterfaceStep<D>& step, VecX& rows);

private:
    /// Of each row; 0: by the inertia it meets.
    VecX find_rho() const;
    /// Those of a step of this length, if they are not yet.
    void update_gains(double step);
    /// What gains ask of the acceleration of a row.
    double find_gain_term(int row) const;
    /// Seguy 2003 eq. (15), what a row weighs in the coordinates of its components.
    double find_product_inertia(int row);
    bool solve_by_penalty(InterfaceStep<D>& step);
    void approach(InterfaceStep<D>& step, bool refresh);
    bool advance(InterfaceStep<D>& step);
    void set_wrenches(InterfaceStep<D>& step) const;
    /// After an evaluation: rows, and forces between components, at the motion shown, unless it has failed.
    bool update_joints(InterfaceStep<D>& step, bool has_succeeded);
    bool find_residual(InterfaceStep<D>& step);
    /// What the ports are about to do without the joints: changes of the coupled components, answers of the others to
    /// forces they were not yet evaluated with.
    void find_known_changes(const InterfaceStep<D>& step);
    bool iterates_with_springs(const InterfaceStep<D>& step) const {
        return matrix_.spring_rows() > 0 && step.iterates_forces;
    }
    std::string describe_unsettled(const InterfaceStep<D>& step) const;

    ComponentTeam<D>& team_;
    ComponentEvaluation<D>& evaluation_;
    InterfaceMatrix<D>& matrix_;
    const ModularOptions& options_;
    FormulationOptions gains_;
    double gain_step_ = 0;
    std::vector<Gains> row_gains_;
    InterfaceJoints<D>* joints_ = nullptr;
    std::unique_ptr<GluingMethod> method_;
    GluingConvergence<D> convergence_;
    double opening_ = 0;  // largest error of the rows, as a position
    VecX residual_, correction_, rows_;
    std::vector<TwistVec<D>> rates_, further_, known_, evaluated_forces_, force_changes_, spring_wrenches_;
};

}  // namespace limber
