#pragma once
// A component made of a compiled system: any formulation, coordinates, integrator and step of its own.
//
// Interface wrenches are a force of the system whose numbers lie in the memory of the state, so every formulation and
// scheme takes them. A step of the outside may be several own ones; the wrench then runs from the last accepted value
// to the one asked about, as the course says.

#include <memory>

#include "limber/integration/structural.hpp"
#include "limber/modular/compiled_component.hpp"
#include "limber/modular/component.hpp"
#include "limber/modular/wrench_course.hpp"

namespace limber {

template <int D>
class SystemComponent final : public Component<D> {
public:
    using typename Component<D>::Wrenches;
    using typename Component<D>::Motion;

    explicit SystemComponent(std::shared_ptr<const CompiledComponent<D>> compiled);

    /// Whether it can tell how its motion at the end of a step yields to forces there.
    bool yields_at_the_end() const { return coupled_ != nullptr; }
    bool borrows_inertia() const { return compiled_->weighted_system != nullptr; }
    int port_count() const override { return static_cast<int>(compiled_->ports.size()); }
    void import_motion(double t, const BodyStates<D>& bodies, std::span<const double> memory) override;
    void export_motion(std::span<BodyState<D>> bodies, std::span<TwistVec<D>> rates) const override;
    void begin(double h, Coupling coupling, ForceCourse course, Wrenches start, Wrenches bend) override;
    StepReport answer(Wrenches wrenches, Motion motion) override;
    bool is_coupled() const override { return is_coupled_; }
    bool improves_when_repeated() const override { return borrows_inertia(); }
    void open(Motion motion) override;
    ApproachReport approach(Wrenches wrenches, bool refresh, std::span<TwistVec<D>> rates) override;
    NewtonProgress advance(Wrenches further, Motion motion) override;
    StepReport close(Motion motion) override;
    void respond(Wrenches wrenches, std::span<TwistVec<D>> rates) override;
    Reach reach() const override { return reach_; }
    void correct() override;
    void push_velocities(Wrenches wrenches, Motion motion) override;
    void push_accelerations(Wrenches wrenches, Motion motion) override;
    void accept() override;
    std::vector<double> save() const override;
    void restore(std::span<const double> saved) override;
    double perturbation() override { return solver_->perturbation(a_); }
    void expect_parts_of(double step) override { whole_step_ = step; }
    std::optional<double> weigh(Wrenches wrenches) override;

private:
    bool finds_accelerations() const { return coupling_ == Coupling::acceleration || h_ == 0; }
    Reach compute_reach() const;
    void set_wrench(std::vector<double>& memory, std::span<const TwistVec<D>> wrenches) const;
    void clear_wrench(std::vector<double>& memory) const;
    void update_scheme_acceleration();
    /// What borrowed inertia takes at the accelerations of this state.
    void find_borrowed_wrenches(const State& at);
    void add_borrowed_wrenches(std::vector<double>& memory) const;
    bool solve_accelerations(double t, const VecX& q, const VecX& v, const std::vector<double>& memory, VecX& a,
                             VecX& lambda);
    /// The accepted state, with the accelerations that its forces now have.
    StepReport start_step();
    StepReport answer_step();
    StepReport take_substep(int index);
    void show(const VecX& q, const VecX& v, const VecX& a, Motion motion);
    void show_rates(const VecX& q, const VecX& a, std::span<TwistVec<D>> rates);
    /// Acceleration of all coordinates by wrenches, into response_.
    void find_response(Wrenches wrenches);
    const VecX& end_positions() const;
    bool solve_end_accelerations();

    std::shared_ptr<const CompiledComponent<D>> compiled_;
    const MechanismSystem<D>& system_;
    std::unique_ptr<AccelerationSolver> solver_;
    std::unique_ptr<StepSolver> step_solver_;  // of structural steps that can be coupled
    CoupledStepSolver* coupled_ = nullptr;     // the same
    std::unique_ptr<Stepper> stepper_;         // of all others
    bool is_structural_ = true;
    StructuralScheme scheme_;
    DifferenceFormulas formulas_;

    double h_ = 0;
    Coupling coupling_ = Coupling::end_of_step;
    bool is_coupled_ = false, is_closed_ = false, has_base_ = false;
    StepReport opened_;
    Reach reach_;
    State state_, end_;      // accepted; at the end of the step under way
    double whole_step_ = 0;  // that those to come are parts of
    double longest_step_ =
        0;  // accepted since the last start: gains of a short step are too stiff for a longer one that follows
    VecX q_, v_, a_, scheme_a_, lambda_;
    WrenchCourse<D> course_;
    bool has_jump_ = false;

    std::vector<double> probe_memory_, solver_memory_;
    std::vector<TwistVec<D>> borrowed_;
    VecX base_, response_, response_lambda_, zero_, weighed_;
    mutable BodyStates<D> states_;
    mutable std::vector<TwistVec<D>> rates_;
};

}  // namespace limber
