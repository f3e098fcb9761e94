#pragma once
// A running mechanism: model, compiled system, state and clock. Command line, tests and scripts drive it through
// this door.

#include <memory>
#include <string>
#include <vector>

#include "limber/integration/stepper.hpp"
#include "limber/kinematics/body_space/assembly.hpp"
#include "limber/simulation/equilibrium.hpp"
#include "limber/simulation/observer.hpp"
#include "limber/simulation/options.hpp"

namespace limber {

class Simulation {
public:
    /// Compiles the model and brings it onto its constraints. Throws ModelError if the model is wrong or cannot be
    /// assembled.
    explicit Simulation(Model model, SimulationOptions options = {});
    ~Simulation();
    Simulation(Simulation&&) noexcept;
    Simulation& operator=(Simulation&&) noexcept;

    const Model& model() const { return model_; }
    const SimulationOptions& options() const { return options_; }
    const System& system() const { return *system_; }
    std::shared_ptr<const System> shared_system() const { return system_; }
    const State& state() const { return state_; }
    double time() const { return state_.t; }
    const AssemblyReport& assembly() const { return assembly_; }
    const VelocityReport& velocity_start() const { return velocity_start_; }
    /// Meaningful only if the simulation starts from equilibrium.
    const EquilibriumReport& equilibrium() const { return equilibrium_; }

    /// One step; on failure the state is the last good one and the report says why.
    StepReport step(double h);
    /// Steps of length h up to `end`, the last one shorter if need be. Stops at the first failure.
    StepReport advance(double end, double h);

    Observer& observer() { return *observer_; }
    MobilityReport compute_mobility() const;

private:
    template <int D>
    void start();

    Model model_;
    SimulationOptions options_;
    std::shared_ptr<const System> system_;
    std::unique_ptr<Stepper> stepper_;
    std::unique_ptr<Observer> observer_;
    State state_;
    AssemblyReport assembly_;
    VelocityReport velocity_start_;
    EquilibriumReport equilibrium_;
};

}  // namespace limber
