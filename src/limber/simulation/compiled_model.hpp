#pragma once
// What a model is compiled to: system, components, stepper, observer. Motion is no part of it: states are given. Plane
// or space is chosen by in_dimension() and nowhere else.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "limber/integration/step_path.hpp"
#include "limber/integration/stepper.hpp"
#include "limber/kinematics/body_space/assembly.hpp"
#include "limber/kinematics/body_space/lock.hpp"
#include "limber/modular/modular_stepper.hpp"
#include "limber/simulation/equilibrium.hpp"
#include "limber/simulation/observer.hpp"
#include "limber/simulation/options.hpp"
#include "limber/simulation/transfer.hpp"

namespace limber {

/// What f.operator()<D>() gives for the plane or for space.
template <class F>
auto in_dimension(bool is_planar, const F& f) {
    return is_planar ? f.template operator()<2>() : f.template operator()<3>();
}

/// Bodies that the joints have not left as the model has them.
struct StartChanges {
    struct Move {
        std::string body;
        double distance = 0;  ///< of the centre of mass
        double angle = 0;
    };
    std::vector<Move> moved;           ///< the largest first
    std::vector<std::string> changed;  ///< bodies whose given velocity is another one now
    double kinetic_given = 0;          ///< of the velocities as given
    bool are_velocities_kept = false;  ///< as given, so `changed` are those that the joints do not allow
};

struct StartReport {
    AssemblyReport assembly;
    VelocityReport velocities;
    StartChanges changes;
    EquilibriumReport equilibrium;  ///< meaningful only if the motion starts from equilibrium
};

/// Two bodies whose shapes overlap.
struct ShapeOverlap {
    std::string a, b;  ///< "ground" included
    double depth = 0;
    bool is_rigid = false;
};

class CompiledModel {
public:
    /// For the plane or for space, as the model says. Compiled by start() or go_on().
    static std::unique_ptr<CompiledModel> make(Model model, SimulationOptions options);
    virtual ~CompiledModel() = default;
    CompiledModel(const CompiledModel&) = delete;
    CompiledModel& operator=(const CompiledModel&) = delete;

    const Model& model() const { return model_; }
    const SimulationOptions& options() const { return options_; }
    const std::vector<ComponentSettings>& components() const { return components_; }
    long component_compilations() const { return component_compilations_; }
    Stepper& stepper() { return *stepper_; }
    virtual std::shared_ptr<const System> shared_system() = 0;
    Observer& observer() {
        shared_system();
        return *observer_;
    }
    /// Perhaps that of the joints before some were exchanged.
    Observer& last_observer() { return *observer_; }

    /// Compiles the model and brings it onto its constraints. The request is for those that start from equilibrium.
    virtual StartReport start(State& state, const EquilibriumRequest& request) = 0;
    /// Compiles the model for a motion that is there already. Throws ModelError if the state is not one of this model.
    virtual void go_on(const State& state) = 0;
    /// See Simulation.
    virtual TransferReport transfer(State& state, Model model, SimulationOptions options,
                                    const TransferLimits& limits) = 0;
    virtual TransferReport apply_impulse(State& state, const std::string& marker, const Vec3& impulse,
                                         const Vec3& moment) = 0;
    virtual void move_target(State& state, const std::string& force, const Vec3& target) = 0;
    virtual void renew(const State& state) = 0;

    virtual std::vector<ShapeOverlap> find_overlaps(const State& state) = 0;
    virtual Frame body_frame(const State& state, const std::string& body) = 0;
    virtual MobilityReport compute_mobility(const State& state) = 0;
    /// Where the drivers cannot go on, up to the time `end`; see kinematics/body_space/lock.hpp.
    virtual std::optional<LockReport> find_lock(const State& state, double step, double end) = 0;
    virtual const std::vector<std::string>& notes() = 0;
    virtual std::vector<int> components_of_bodies() const = 0;
    virtual GluingReport gluing_report() const = 0;
    /// What is known of the motion from one state to the next.
    virtual StepPath::Shape shape_of_step(const State& before, const State& after) = 0;
    /// Of a state on a smooth piece of a step that has the memory of its beginning.
    virtual void interpolate_memory(const State& from, const State& to, State& state) = 0;

protected:
    CompiledModel(Model model, SimulationOptions options) : model_(std::move(model)), options_(std::move(options)) {}
    CompiledModel(CompiledModel&&) = default;
    CompiledModel& operator=(CompiledModel&&) = default;
    CoordinateKind choose_coordinates();
    CoordinateKind coordinate_kind() const;

    Model model_;
    SimulationOptions options_;
    std::unique_ptr<Observer> observer_;
    std::vector<ComponentSettings> components_;
    long component_compilations_ = 0;
    std::unique_ptr<Stepper> stepper_;
};

template <int D>
class CompiledModelOf final : public CompiledModel {
public:
    CompiledModelOf(Model model, SimulationOptions options) : CompiledModel(std::move(model), std::move(options)) {}

    std::shared_ptr<const System> shared_system() override;
    StartReport start(State& state, const EquilibriumRequest& request) override;
    void go_on(const State& state) override;
    TransferReport transfer(State& state, Model model, SimulationOptions options,
                            const TransferLimits& limits) override;
    TransferReport apply_impulse(State& state, const std::string& marker, const Vec3& impulse,
                                 const Vec3& moment) override;
    void move_target(State& state, const std::string& force, const Vec3& target) override;
    void renew(const State& state) override;
    std::vector<ShapeOverlap> find_overlaps(const State& state) override;
    Frame body_frame(const State& state, const std::string& body) override;
    MobilityReport compute_mobility(const State& state) override;
    std::optional<LockReport> find_lock(const State& state, double step, double end) override;
    const std::vector<std::string>& notes() override { return system().mechanism().notes; }
    std::vector<int> components_of_bodies() const override {
        return modular_ ? modular_->division.component_of_body : std::vector<int>{};
    }
    GluingReport gluing_report() const override {
        const ModularStepper<D>* stepper = modular_stepper();
        return stepper == nullptr ? GluingReport{} : stepper->report();
    }
    StepPath::Shape shape_of_step(const State& before, const State& after) override;
    void interpolate_memory(const State& from, const State& to, State& state) override;

private:
    using SharedMechanism = std::shared_ptr<const Mechanism<D>>;

    const MechanismSystem<D>& system() {
        shared_system();
        return *system_;
    }
    SharedMechanism make_mechanism() const {
        return std::make_shared<const Mechanism<D>>(limber::make_mechanism<D>(model_));
    }
    void compile(const SharedMechanism& mechanism);
    /// The undivided system and the observer, which the components do not need.
    void compile_watched(const SharedMechanism& mechanism);
    void divide_mechanism(const SharedMechanism& mechanism);
    void make_steppers();
    std::unique_ptr<AccelerationSolver> make_observing_solver() const;
    /// Throws ModelError if the numbers of the state are not those this mechanism has.
    void check_state(const State& state) const;
    void begin_steps(State& state);
    /// The transfer if only joints between components come or go, and fit the motion of now.
    std::optional<TransferReport> exchange_joints(State& state, const Model& model, const SimulationOptions& options);
    ModularStepper<D>* modular_stepper() const;

    // Of the joints as they were before some were exchanged, until somebody watches: coordinates and memory are the
    // same.
    std::shared_ptr<const MechanismSystem<D>> system_;
    bool is_watched_old_ = false;
    bool has_exchanged_joints_ = false;                // since the components were compiled
    std::shared_ptr<const ModularSystem<D>> modular_;  // null: not divided
};

/// Stops and dry friction, whose instants are looked for.
template <int D>
bool has_stops(const Mechanism<D>& m) {
    return !m.stops.empty() || !m.friction.empty() || m.has_contact_bristles();
}

}  // namespace limber
