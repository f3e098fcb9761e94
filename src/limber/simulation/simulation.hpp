#pragma once
// A mechanism in motion: model, compiled system and state. It can be changed while it moves; Session adds the clock,
// the journal and the way back.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "limber/integration/step_path.hpp"
#include "limber/integration/stepper.hpp"
#include "limber/kinematics/body_space/assembly.hpp"
#include "limber/modular/modular_stepper.hpp"
#include "limber/simulation/equilibrium.hpp"
#include "limber/simulation/hand_over.hpp"
#include "limber/simulation/observer.hpp"
#include "limber/simulation/options.hpp"

namespace limber {

/// What cannot be handed over without violence.
struct HandOverLimits {
    double move = 0;  ///< largest move of a body by the projection of positions; 0: any
    /// The projection of velocities may add a hundred times the kinetic energy of before and of the typical mass that
    /// passes the typical length so many times a second; 0: any.
    double rate = 0;
    double gap = 0;  ///< by which joints that contradict each other may stay open, if they were not before; 0: any
};

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
};

/// Two bodies whose shapes overlap.
struct ShapeOverlap {
    std::string a, b;  ///< "ground" included
    double depth = 0;
    bool is_rigid = false;
};

class Simulation {
public:
    /// Compiles the model and brings it onto its constraints. Throws ModelError if the model is wrong or cannot be
    /// assembled.
    Simulation(Model model, SimulationOptions options);
    /// As the model's own section 'simulation' says.
    explicit Simulation(const Model& model);
    /// Goes on from a state that belongs to this model and these options, to the bit.
    Simulation(Model model, SimulationOptions options, State state);
    ~Simulation();
    Simulation(Simulation&&) noexcept;
    Simulation& operator=(Simulation&&) noexcept;

    const Model& model() const { return model_; }
    const SimulationOptions& options() const { return options_; }
    const System& system() const { return *shared_system(); }
    std::shared_ptr<const System> shared_system() const;
    const State& state() const { return state_; }
    double time() const { return state_.t; }
    double longest_step() const { return observer_->longest_step(); }
    const AssemblyReport& assembly() const { return assembly_; }
    const VelocityReport& velocity_start() const { return velocity_start_; }
    /// What the joints have made of the start; empty after a hand-over.
    const StartChanges& start_changes() const { return start_changes_; }
    /// Shapes that overlap now, deeper than contacts at rest do.
    std::vector<ShapeOverlap> find_overlaps() const;
    /// Meaningful only if the simulation starts from equilibrium.
    const EquilibriumReport& equilibrium() const { return equilibrium_; }

    /// One step; on failure the state is the last good one and the report says why.
    StepReport step(double h) { return step(h, nullptr); }
    /// The same; `path` becomes the motion within the step, for interpolate(). Null: nobody wants to know.
    StepReport step(double h, StepPath* path);
    /// The state at an instant within the last step, to the order of the integrator; never over an impact or another
    /// sudden change.
    void interpolate(const StepPath& path, double t, State& state) const;
    /// Whether steps tell the work of what has no potential (StepReport::work): costs an evaluation of the forces per
    /// step.
    void watch_work(bool is_watched) { watches_work_ = is_watched; }
    bool watches_work() const { return watches_work_; }
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
    HandOverReport hand_over(Model model, SimulationOptions options, const HandOverLimits& limits = {});
    /// A sudden impulse and moment at a marker, world axes; joints pass it on.
    HandOverReport apply_impulse(const std::string& marker, const Vec3& impulse, const Vec3& moment);
    /// Moves the target of a `pull` force.
    void move_target(const std::string& force, const Vec3& target);
    /// Back to a state of this same simulation.
    void restore(const State& state) { state_ = state; }
    /// Drops everything that is remembered beside the state (old tangents, factorisations): what follows is then a
    /// function of the state alone.
    void forget_past();

    /// Pose of a body's frame; the ground's is the world's. Throws ModelError if there is no such body.
    Frame body_frame(const std::string& body) const;

    Observer& observer();
    /// What the sensors show now, by column: "tip.x", "swing". The work done is counted by runs and sessions only: not
    /// a number here.
    double value(const std::string& column);
    const std::vector<std::string>& columns() { return observer().columns(); }
    /// Of a divided mechanism: the component of each body, beside those of the model without the ground; empty: not
    /// divided.
    std::vector<int> components_of_bodies() const;
    const std::vector<ComponentSettings>& components() const { return components_; }
    /// How often the components of a divided mechanism were compiled so far.
    long component_compilations() const { return component_compilations_; }
    /// What the joints between components took in the last step.
    GluingReport gluing_report() const;
    MobilityReport compute_mobility() const;
    /// What is legal in the model but deserves a look.
    const std::vector<std::string>& notes() const;

private:
    /// Not compiled yet: the next one of a hand-over.
    Simulation(const Simulation& before, Model model, SimulationOptions options);

    template <int D>
    void start();
    template <int D>
    void go_on();
    template <int D>
    void note_moves(const Mechanism<D>& mechanism, const BodyStates<D>& states);
    template <int D>
    void note_velocities(const Mechanism<D>& mechanism, const BodyStates<D>& given, const BodyStates<D>& states);
    template <int D>
    std::vector<ShapeOverlap> find_overlaps_as() const;
    template <int D>
    HandOverReport hand_over_as(Model model, SimulationOptions options, const HandOverLimits& limits);
    /// The hand-over if only joints between components come or go, and fit the motion of now.
    template <int D>
    std::optional<HandOverReport> exchange_joints(const Model& model, const SimulationOptions& options);
    template <int D>
    ModularStepper<D>* modular_stepper() const;
    template <int D>
    HandOverReport apply_impulse_as(const std::string& marker, const Vec3& impulse, const Vec3& moment);
    template <int D>
    const MechanismSystem<D>& system_as() const {
        return static_cast<const MechanismSystem<D>&>(system());
    }
    template <int D>
    void compile(const std::shared_ptr<const Mechanism<D>>& mechanism);
    /// The undivided system and the observer, which the components do not need.
    template <int D>
    void compile_watched(const std::shared_ptr<const Mechanism<D>>& mechanism) const;
    template <int D>
    void divide_mechanism(const std::shared_ptr<const Mechanism<D>>& mechanism);
    template <int D>
    void make_steppers();
    /// Throws ModelError if the numbers of the state are not those this mechanism has.
    template <int D>
    void check_state() const;
    template <int D>
    StepPath::Shape shape_of_step(const State& before) const;
    std::unique_ptr<AccelerationSolver> make_observing_solver() const;
    CoordinateKind choose_coordinates();
    CoordinateKind coordinate_kind() const;
    template <int D>
    std::shared_ptr<const ModularSystem<D>>& modular_as();

    Model model_;
    SimulationOptions options_;
    // Of the joints as they were before some were exchanged, until somebody watches: coordinates and memory are the
    // same.
    mutable std::shared_ptr<const System> system_;
    mutable std::unique_ptr<Observer> observer_;
    mutable bool is_watched_old_ = false;
    bool has_exchanged_joints_ = false;  // since the components were compiled
    long component_compilations_ = 0;
    // Of a divided mechanism, one of the two.
    std::shared_ptr<const ModularSystem<2>> planar_modular_;
    std::shared_ptr<const ModularSystem<3>> spatial_modular_;
    std::vector<ComponentSettings> components_;
    std::unique_ptr<Stepper> stepper_;
    State state_;
    bool watches_work_ = false;
    double metering_time_ = 0;
    State before_;  // the step, while it is followed
    StartChanges start_changes_;
    AssemblyReport assembly_;
    VelocityReport velocity_start_;
    EquilibriumReport equilibrium_;
};

}  // namespace limber
