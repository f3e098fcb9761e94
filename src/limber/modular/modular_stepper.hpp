#pragma once
// A divided mechanism as a stepper, so that a simulation drives it like any other. The state of the whole is what the
// world sees (poses and twists of all bodies in the coordinates of an undivided system); the components have their own.
// If the state is another one than the last step has left, the components are set to its motion: so edits, snapshots and
// undo need nothing more.

#include <memory>

#include "limber/modular/assembly.hpp"
#include "limber/modular/division.hpp"
#include "limber/modular/system_component.hpp"

namespace limber {

/// What is compiled of a divided mechanism: immutable, shared.
template <int D>
struct ModularSystem {
    std::shared_ptr<const Mechanism<D>> whole;
    Division division;
    DividedParts<D> parts;
    std::vector<std::shared_ptr<const CompiledComponent<D>>> components;
    FormulationOptions formulation_options;  ///< of the joints between them: gains
    int corrector_passes = 1;
    int massless_freedoms = 0;  ///< of the components, each by itself
};

/// Settings that a component does not have are those of `usual`.
template <int D>
std::shared_ptr<const ModularSystem<D>> compile_modular(std::shared_ptr<const Mechanism<D>> whole,
                                                        const Division& division, const ComponentSettings& usual,
                                                        const FormulationOptions& formulation_options,
                                                        const IntegratorOptions& integrator_options,
                                                        double gluing_tolerance);

/// The usual components and joints of a compiled system.
template <int D>
std::unique_ptr<ModularAssembly<D>> make_assembly(const ModularSystem<D>& system, const ModularOptions& options);

template <int D>
class ModularStepper final : public Stepper {
public:
    ModularStepper(std::shared_ptr<const MechanismSystem<D>> whole, std::shared_ptr<const ModularSystem<D>> modular,
                   const ModularOptions& options);

    StepReport start(State& state) override;
    StepReport step(State& state, double h) override;
    const System& system() const override { return *whole_; }
    void expect_parts_of(double step) override { assembly_->expect_parts_of(step); }
    void limit_perturbation(double limit) override { assembly_->limit_perturbation(limit); }
    Perturbation perturbation() const override { return assembly_->perturbation(); }
    StepReport restart(State& state) override;
    /// Lets the components have this state, if they do not yet.
    StepReport update_components(const State& state);
    /// Other joints hold the components from now on; the components stay what they are. Only if some are new can
    /// velocities jump, by impulses. If that fails, nothing has happened.
    StepReport exchange_joints(State& state, std::unique_ptr<InterfaceJoints<D>> joints, bool some_are_new);
    ModularAssembly<D>& assembly() { return *assembly_; }
    const GluingReport& report() const { return assembly_->report(); }

private:
    void distribute(const State& state);
    void set_memory(InterfaceJoints<D>& joints, const State& state);
    void collect(State& state);
    static bool is_same(const State& a, const State& b);

    std::shared_ptr<const MechanismSystem<D>> whole_;
    std::shared_ptr<const ModularSystem<D>> modular_;
    std::unique_ptr<ModularAssembly<D>> assembly_;
    std::unique_ptr<Evaluation> evaluation_;
    std::vector<int> first_body_{0};  // of each component, in the lists part_...
    BodyStates<D> states_, part_states_;
    std::vector<TwistVec<D>> rates_, part_rates_;
    std::vector<double> memory_;
    State last_;  // as this stepper has left it
    // Where the last step started, if who looks for the instant of a contact may want to start there again.
    bool may_start_again_ = false;
    State start_;
    AssemblySnapshot<D> start_snapshot_;
};

}  // namespace limber
