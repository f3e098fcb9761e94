#pragma once
// A mechanism in motion: model, compiled system and state. It can be changed while it moves; Session adds the clock,
// the journal and the way back.

#include <memory>
#include <string>
#include <vector>

#include "limber/simulation/compiled_model.hpp"

namespace limber {

/// What is counted of the energy: in one place, whoever makes the steps.
struct EnergyAccount {
    double start = 0;       ///< kinetic + potential + impact loss when it was begun
    double work = 0;        ///< put in since by everything that has no potential, as far as it was watched
    double dissipated = 0;  ///< taken away since by changes of the model and impulses (negative: brought in)

    /// Zero but for the error of the integration.
    double find_drift(const Energies& now) const { return now.total() - work + dissipated - start; }
};

class Simulation {
public:
    /// Compiles the model and brings it onto its constraints. Throws ModelError if the model is wrong or cannot be
    /// assembled.
    Simulation(Model model, const SimulationOptions& options)
        : Simulation(std::move(model), options, EquilibriumRequest{}) {}
    /// The same; of a simulation that starts from equilibrium the request says which one.
    Simulation(Model model, const SimulationOptions& options, const EquilibriumRequest& request);
    /// As the model's own section 'simulation' says.
    explicit Simulation(const Model& model);
    /// Goes on from a state that belongs to this model and these options, to the bit.
    Simulation(Model model, SimulationOptions options, State state);

    const Model& model() const { return compiled_->model(); }
    const SimulationOptions& options() const { return compiled_->options(); }
    const System& system() const { return *shared_system(); }
    std::shared_ptr<const System> shared_system() const { return compiled_->shared_system(); }
    const State& state() const { return state_; }
    double time() const { return state_.t; }
    double longest_step() const { return compiled_->last_observer().longest_step(); }
    const AssemblyReport& assembly() const { return start_.assembly; }
    const VelocityReport& velocity_start() const { return start_.velocities; }
    /// What the joints have made of the start; empty after a transfer.
    const StartChanges& start_changes() const { return start_.changes; }
    /// Shapes that overlap now, deeper than contacts at rest do.
    std::vector<ShapeOverlap> find_overlaps() const { return compiled_->find_overlaps(state_); }
    /// Meaningful only if the simulation starts from equilibrium.
    const EquilibriumReport& equilibrium() const { return start_.equilibrium; }

    /// One step; on failure the state is the last good one and the report says why.
    StepReport step(double h) { return step(h, nullptr); }
    /// The same; `path` becomes the motion within the step, for interpolate(). Null: nobody wants to know.
    StepReport step(double h, StepPath* path);
    /// The state at an instant within the last step, to the order of the integrator; never over an impact or another
    /// sudden change.
    void interpolate(const StepPath& path, double t, State& state) const;
    /// Whether steps tell and count the work of what has no potential (StepReport::work): costs an evaluation of the
    /// forces per step.
    void watch_work(bool is_watched) { watches_work_ = is_watched; }
    bool watches_work() const { return watches_work_; }
    /// Begins to count anew.
    void begin_account() { account_ = {observer().compute_energies(state_).total()}; }
    const EnergyAccount& account() const { return account_; }
    /// How steps come about, for those who ask the observer for work within them.
    WorkSource work_source() const;
    /// Seconds that finding the work has taken so far, within steps.
    double metering_time() const { return metering_time_; }
    /// Steps of length h up to `end`, the last one shorter if need be. Stops at the first failure.
    StepReport advance(double end, double h);

    /// Changes model and options while everything moves: bodies keep their motion, positions and velocities are
    /// projected onto the new constraints, accelerations and multipliers are found anew. Throws ModelError, and changes
    /// nothing, if the new mechanism cannot be compiled, put together within the limits, or started. Of a divided
    /// mechanism, joints between components come and go without anything being compiled but them; `impulses` then lists
    /// joints between components only.
    TransferReport transfer(Model model, SimulationOptions options, const TransferLimits& limits = {});
    /// A sudden impulse and moment at a marker, world axes; joints pass it on.
    TransferReport apply_impulse(const std::string& marker, const Vec3& impulse, const Vec3& moment);
    /// Moves the target of a `pull` force.
    void move_target(const std::string& force, const Vec3& target) { compiled_->move_target(state_, force, target); }
    /// Back to a state of this same simulation.
    void restore(const State& state) { state_ = state; }
    void restore(const State& state, const EnergyAccount& account) {
        state_ = state;
        account_ = account;
    }
    /// Drops everything that is remembered beside the state (old tangents, factorisations): what follows is then a
    /// function of the state alone.
    void renew() { compiled_->renew(state_); }

    /// Pose of a body's frame; the ground's is the world's. Throws ModelError if there is no such body.
    Frame body_frame(const std::string& body) const { return compiled_->body_frame(state_, body); }

    Observer& observer() { return compiled_->observer(); }
    /// What the sensors show now, by column: "tip.x", "swing". The work done is a number only while it
    /// is watched.
    double value(const std::string& column);
    const std::vector<std::string>& columns() { return observer().columns(); }
    /// Of a divided mechanism: the component of each body, beside those of the model without the ground; empty: not
    /// divided.
    std::vector<int> components_of_bodies() const { return compiled_->components_of_bodies(); }
    const std::vector<ComponentSettings>& components() const { return compiled_->components(); }
    /// How often the components of a divided mechanism were compiled so far.
    long component_compilations() const { return compiled_->component_compilations(); }
    /// What the joints between components took in the last step.
    GluingReport gluing_report() const { return compiled_->gluing_report(); }
    MobilityReport compute_mobility() const { return compiled_->compute_mobility(state_); }
    /// Where the drivers cannot go on, looking from now as far as some steps of this length; nothing: they can.
    std::optional<LockReport> find_lock(double step) const { return find_lock(state_, step, state_.t); }
    /// The same from an earlier state whose joints are closed, as far as some steps beyond the time `reached`.
    std::optional<LockReport> find_lock(const State& from, double step, double reached) const;
    /// Why the last step failed, if the mechanism locks.
    const std::optional<LockReport>& lock() const { return lock_; }
    /// What is legal in the model but deserves a look.
    const std::vector<std::string>& notes() const { return compiled_->notes(); }

private:
    void count(const TransferReport& report);

    std::unique_ptr<CompiledModel> compiled_;
    State state_;
    EnergyAccount account_;
    bool watches_work_ = false;
    double metering_time_ = 0;
    State before_;  // the step, while it is followed
    StartReport start_;
    std::optional<LockReport> lock_;
};

}  // namespace limber
