#include "limber/simulation/simulation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <stdexcept>
#include <utility>

#include "limber/contact/stops/projected_multipliers.hpp"
#include "limber/contact/stops/stepped_stops.hpp"
#include "limber/contact/stops/unilateral_stepper.hpp"
#include "limber/contact/time_stepping/collision_world.hpp"
#include "limber/integration/step_control.hpp"
#include "limber/integration/structural.hpp"
#include "limber/kinematics/body_space/twist.hpp"
#include "limber/kinematics/forces/point_forces.hpp"
#include "limber/math/interruption.hpp"
#include "limber/model/error.hpp"
#include "limber/model/evaluation.hpp"
#include "limber/modular/live_joints.hpp"
#include "limber/simulation/drawn_joints.hpp"
#include "limber/simulation/large_angles.hpp"
#include "limber/simulation/open_joints.hpp"
#include "limber/simulation/quasi_static_start.hpp"

namespace limber {
namespace {

// Of kinetic energy, over what is usual, by joints that move.
constexpr double max_gain = 100;
// A body that assembly moves by this part of the mechanism's size, or turns by this angle, is not where it was put.
constexpr double noticed = 1e-6;
// Overlaps over the smaller shape's size: rigid bodies have none, compliant ones dip in where they carry something.
constexpr double deep_when_rigid = 1e-3;
constexpr double deep_when_compliant = 0.1;

template <int D>
bool has_stops(const Mechanism<D>& m) {
    return !m.unilateral.empty() || !m.friction.empty() || m.has_contact_bristles();
}

// The way to rest, with stops if there are any.
template <int D>
Relaxation make_relaxation(const std::shared_ptr<const MechanismSystem<D>>& system) {
    Relaxation relaxation;
    relaxation.stepper = make_relaxation_stepper(system);
    if (system->mechanism().unilateral.empty()) return relaxation;
    auto stepper = std::make_unique<UnilateralStepper<D>>(std::move(relaxation.stepper), system, ContactOptions{});
    relaxation.is_possible = [&stops = *stepper](const State& state) { return stops.is_possible(state); };
    relaxation.stepper = std::move(stepper);
    return relaxation;
}

// What joints leave open at best, which may be more in one row than what they leave open as it is.
template <int D>
double find_velocity_contradiction(const Mechanism<D>& m, BodyStates<D> states, const State& state) {
    return project_velocities(m, states, with_open_contacts(m, state.memory), state.t, false).largest_error;
}

}  // namespace

Simulation::Simulation(Model model, SimulationOptions options)
    : model_(std::move(model)), options_(std::move(options)) {
    if (model_.planar) {
        start<2>();
    } else {
        start<3>();
    }
}

Simulation::Simulation(const Model& model) : Simulation(model, simulation_options_of(model)) {}

Simulation::Simulation(const Simulation& before, Model model, SimulationOptions options)
    : model_(std::move(model)),
      options_(std::move(options)),
      component_compilations_(before.component_compilations_),
      watches_work_(before.watches_work_),
      metering_time_(before.metering_time_),
      assembly_(before.assembly_),
      velocity_start_(before.velocity_start_),
      equilibrium_(before.equilibrium_) {}

Simulation::~Simulation() = default;
Simulation::Simulation(Simulation&&) noexcept = default;
Simulation& Simulation::operator=(Simulation&&) noexcept = default;

Simulation::Simulation(Model model, SimulationOptions options, State state)
    : model_(std::move(model)), options_(std::move(options)), state_(std::move(state)) {
    if (model_.planar) {
        go_on<2>();
    } else {
        go_on<3>();
    }
}

template <int D>
std::shared_ptr<const ModularSystem<D>>& Simulation::modular_as() {
    if constexpr (D == 2) {
        return planar_modular_;
    } else {
        return spatial_modular_;
    }
}

CoordinateKind Simulation::choose_coordinates() {
    const FormulationInfo& formulation = find_formulation(options_.formulation);
    if (options_.modular.is_on()) return coordinate_kind();
    // Time-stepping works on bodies, which these coordinates are nearest to.
    if (options_.coordinates.empty() && formulation.coordinates.empty() &&
        find_integrator(options_.integrator).takes_rigid_contacts())
        options_.coordinates = "reference-point";
    if (options_.coordinates.empty())
        options_.coordinates = formulation.coordinates.empty() ? "natural" : formulation.coordinates;
    if (!formulation.coordinates.empty() && formulation.coordinates != options_.coordinates)
        throw ModelError(fmt::format("{} works in {} coordinates, not in {} ones", formulation.name,
                                     formulation.coordinates, options_.coordinates));
    return coordinate_kind();
}

CoordinateKind Simulation::coordinate_kind() const {
    // Of a divided mechanism the components have coordinates of their own. The whole has those of bodies, which stay
    // the same whatever joints come and go.
    return options_.modular.is_on() ? CoordinateKind::reference_point : parse_coordinate_kind(options_.coordinates);
}

// System, stepper and observer for the mechanism of this model.
template <int D>
void Simulation::compile(const std::shared_ptr<const Mechanism<D>>& mechanism) {
    if (mechanism->has_rigid_contacts() && !find_integrator(options_.integrator).takes_rigid_contacts())
        throw ModelError(
            fmt::format("rigid contacts need the integrator '{}'; with others, bodies touch by a compliant law",
                        list_integrators([](const IntegratorInfo& info) { return info.takes_rigid_contacts(); })));
    choose_coordinates();
    if (options_.modular.is_on()) divide_mechanism<D>(mechanism);
    compile_watched<D>(mechanism);
    make_steppers<D>();
}

template <int D>
void Simulation::divide_mechanism(const std::shared_ptr<const Mechanism<D>>& mechanism) {
    if (mechanism->has_rigid_contacts())
        throw ModelError(
            "rigid contacts act on all bodies at once, which a mechanism divided into components has not: leave it "
            "undivided, or give the contacts a compliant law");
    const ComponentSettings usual{"", options_.formulation, options_.integrator, options_.coordinates, 0};
    const auto modular =
        compile_modular<D>(mechanism, find_division(*mechanism, model_, options_.modular), usual,
                           options_.formulation_options, options_.integrator_options, options_.modular.tolerance);
    components_.clear();
    for (const auto& component : modular->components) components_.push_back(component->settings);
    modular_as<D>() = modular;
    has_exchanged_joints_ = false;
    ++component_compilations_;
}

template <int D>
void Simulation::compile_watched(const std::shared_ptr<const Mechanism<D>>& mechanism) const {
    const bool is_divided = options_.modular.is_on();
    const bool has_matrices = is_divided || !find_formulation(options_.formulation).is_matrix_free;
    const auto system = make_system<D>(mechanism, coordinate_kind(), has_matrices);
    system_ = system;
    observer_ = make_observer<D>(model_, system, make_observing_solver());
    is_watched_old_ = false;
}

std::unique_ptr<AccelerationSolver> Simulation::make_observing_solver() const {
    return make_acceleration_solver(options_.modular.is_on() ? "augmented-lagrangian" : options_.formulation, system_,
                                    options_.formulation_options);
}

std::shared_ptr<const System> Simulation::shared_system() const {
    if (is_watched_old_) {
        const Uninterrupted hold;  // system and observer belong together
        if (model_.planar) {
            compile_watched<2>(std::make_shared<const Mechanism<2>>(make_mechanism<2>(model_)));
        } else {
            compile_watched<3>(std::make_shared<const Mechanism<3>>(make_mechanism<3>(model_)));
        }
    }
    return system_;
}

Observer& Simulation::observer() {
    shared_system();
    return *observer_;
}

void Simulation::forget_past() {
    const auto forget = [&]<int D>(const MechanismSystem<D>& system) {
        // Ports of joints that have gone belong to the past, too.
        if (has_exchanged_joints_) divide_mechanism<D>(std::make_shared<const Mechanism<D>>(system.mechanism()));
        make_steppers<D>();
    };
    if (model_.planar) {
        forget(system_as<2>());
    } else {
        forget(system_as<3>());
    }
    observer_->use_solver(make_observing_solver(), state_);
}

template <int D>
void Simulation::make_steppers() {
    const bool has_any_stops = has_stops(system_as<D>().mechanism());
    const auto system = std::static_pointer_cast<const MechanismSystem<D>>(system_);
    const bool acts_at_events = options_.contact_options.treatment == ContactTreatment::events;
    if (const auto& modular = modular_as<D>()) {
        if (has_any_stops && !acts_at_events)
            throw ModelError(
                "components: stops and dry friction of a divided mechanism act at their instants only; leave out the "
                "option stops");
        auto stepper = std::make_unique<ModularStepper<D>>(system, modular, options_.modular);
        stepper_ = std::make_unique<RecoveringStepper>(std::move(stepper), options_.integrator_options.max_halvings);
    } else if (has_any_stops && !acts_at_events) {
        stepper_ = std::make_unique<ProjectedMultiplierStepper<D>>(
            system, make_acceleration_solver("augmented-lagrangian", system_),
            make_structural_scheme(options_.integrator, options_.integrator_options), options_.contact_options);
        return;
    } else {
        stepper_ = make_stepper(options_.formulation, options_.integrator, system_, options_.formulation_options,
                                options_.integrator_options);
    }
    const bool steps_over =
        find_integrator(options_.integrator).takes_rigid_contacts() && has_stepped_stops(system->mechanism());
    if (has_any_stops && !steps_over)
        stepper_ = std::make_unique<UnilateralStepper<D>>(std::move(stepper_), system, options_.contact_options);
}

template <int D>
void Simulation::start() {
    const CoordinateKind kind = choose_coordinates();
    auto mechanism = std::make_shared<const Mechanism<D>>(make_mechanism<D>(model_));
    BodyStates<D> states;
    for (const auto& body : mechanism->bodies) states.push_back(body.reference);
    state_.memory = mechanism->initial_memory;

    check_joints_on_ground(model_, *mechanism, state_.memory);
    assembly_ = assemble(*mechanism, states, state_.memory, 0.0, true);
    if (!assembly_.converged)
        throw ModelError(describe_open_joint(model_, assembly_.worst, "the mechanism cannot be assembled"));
    refuse_large_angles(*mechanism, states, state_.memory);
    note_moves(*mechanism, states);
    InertialessMotions<D> inertialess(*mechanism, states, state_.memory, 0.0);
    inertialess.balance(states, state_.memory, 0.0);
    if (options_.from_equilibrium) {
        const auto at_rest = make_static_mechanism<D>(mechanism, inertialess.bodies(), 0.0);
        const std::size_t own_memory = state_.memory.size();
        state_.memory.insert(state_.memory.end(), at_rest.further_memory.begin(), at_rest.further_memory.end());
        // With matrices, whatever the formulation needs.
        const auto settled = make_system<D>(at_rest.mechanism, kind);
        settled->import_states(states, state_.q, state_.v);
        const auto solver = make_acceleration_solver("augmented-lagrangian", settled);
        equilibrium_ = find_equilibrium(*settled, *solver, make_relaxation<D>(settled), state_);
        if (!equilibrium_.converged) throw std::runtime_error("static equilibrium: " + equilibrium_.reason);
        settled->export_states(state_.q, state_.v, states);
        for (std::size_t b = 0; b < states.size(); ++b) {
            states[b].velocity = mechanism->bodies[b].reference.velocity;
            states[b].angular_velocity = mechanism->bodies[b].reference.angular_velocity;
        }
        state_.memory.resize(own_memory);
        inertialess.balance(states, state_.memory, 0.0);
    }
    rest_idle_turns(*mechanism, states);
    const BodyStates<D> given = states;
    velocity_start_ = project_velocities(*mechanism, states, state_.memory, 0.0, true);
    rest_idle_turns(*mechanism, states);
    note_velocities(*mechanism, given, states);
    if (!(velocity_start_.largest_error < 1e-6 * (1 + mechanism->length_scale)))
        throw ModelError(
            describe_contradiction(velocity_start_.worst, "the velocities at the start contradict each other"));
    inertialess.balance_velocities(states, state_.memory, 0.0);
    compile<D>(mechanism);
    refuse_unfit_options(inertialess, *mechanism, options_, modular_as<D>().get());
    system_as<D>().import_states(states, state_.q, state_.v);
    const StepReport report = stepper_->start(state_);
    if (!report.ok) throw ModelError("the accelerations at the start cannot be found: " + report.reason);
}

template <int D>
void Simulation::note_moves(const Mechanism<D>& mechanism, const BodyStates<D>& states) {
    // Bodies that go where 'initial' asks for are no surprise.
    if (!(assembly_.given_error > noticed * std::min(1.0, mechanism.length_scale))) return;
    for (std::size_t b = 0; b < states.size(); ++b) {
        const BodyState<D>& given = mechanism.bodies[b].reference;
        const Mat<D> turn = states[b].axes * given.axes.transpose();
        // |R - 1|^2 = 8 sin^2(angle / 2)
        const double half = (turn - Mat<D>::Identity()).norm() / std::sqrt(8.0);
        const double angle = 2 * std::asin(std::min(1.0, half));
        const double distance = (states[b].position - given.position).norm();
        const double size = mechanism.length_scale;
        if (distance > noticed * size || angle > noticed)
            start_changes_.moved.push_back({mechanism.bodies[b].name, distance, angle});
    }
    std::stable_sort(start_changes_.moved.begin(), start_changes_.moved.end(),
                     [](const auto& a, const auto& b) { return a.distance > b.distance; });
}

template <int D>
void Simulation::note_velocities(const Mechanism<D>& mechanism, const BodyStates<D>& given,
                                 const BodyStates<D>& states) {
    double fastest = 0;
    const auto speed = [&](const BodyState<D>& s) {
        return s.velocity.norm() + mechanism.length_scale * s.angular_velocity.norm();
    };
    for (std::size_t b = 0; b < states.size(); ++b) {
        fastest = std::max(fastest, speed(given[b]));
        start_changes_.kinetic_given += kinetic_energy(mechanism.bodies[b], given[b]);
    }
    for (std::size_t b = 0; b < states.size(); ++b) {
        BodyState<D> change = states[b];
        change.velocity -= given[b].velocity;
        change.angular_velocity -= given[b].angular_velocity;
        if (speed(given[b]) > 0 && speed(change) > 1e-3 * fastest)
            start_changes_.changed.push_back(mechanism.bodies[b].name);
    }
}

template <int D>
void Simulation::go_on() {
    compile<D>(std::make_shared<const Mechanism<D>>(make_mechanism<D>(model_)));
    check_state<D>();
    observer_->use_solver(make_observing_solver(), state_);
}

template <int D>
void Simulation::check_state() const {
    const Mechanism<D>& m = system_as<D>().mechanism();
    const auto require = [](bool is_right, const std::string& what) {
        if (!is_right) throw ModelError("the state does not belong to this model: " + what);
    };
    const auto check_length = [&](const char* name, std::ptrdiff_t length, std::ptrdiff_t expected) {
        require(length == expected, fmt::format("{} has {} numbers, expected {}", name, length, expected));
    };
    const auto check_numbers = [&](const char* name, const VecX& numbers, int expected) {
        check_length(name, numbers.size(), expected);
        require(numbers.allFinite(), fmt::format("{} is not finite", name));
    };
    const int size = system_->size();
    require(std::isfinite(state_.t), "its time is not finite");
    check_numbers("q", state_.q, size);
    check_numbers("v", state_.v, size);
    check_numbers("a", state_.a, size);
    check_numbers("lambda", state_.lambda, options_.modular.is_on() ? 0 : system_->rows());
    // None yet, or one for each coordinate.
    if (state_.scheme_a.size() > 0) check_numbers("scheme_a", state_.scheme_a, size);
    if (state_.previous_a.size() > 0) check_numbers("previous_a", state_.previous_a, size);
    require(std::isfinite(state_.previous_step) && state_.previous_step >= 0, "previous_step is not a length of time");
    check_length("memory", static_cast<std::ptrdiff_t>(state_.memory.size()),
                 static_cast<std::ptrdiff_t>(m.initial_memory.size()));
    require(std::all_of(state_.memory.begin(), state_.memory.end(), [](double x) { return std::isfinite(x); }),
            "memory is not finite");
    for (const ContactPoint& contact : state_.contacts) {
        const auto is_index = [](int index, std::size_t count) {
            return index >= -1 && index < static_cast<int>(count);
        };
        require(is_index(contact.body_a, m.bodies.size()) && is_index(contact.body_b, m.bodies.size()) &&
                    is_index(contact.shape_a, m.shapes.size()) && is_index(contact.shape_b, m.shapes.size()) &&
                    is_index(contact.rule, m.contact_rules.size()),
                "a contact is between bodies, of shapes or by a rule that it has not");
        require(contact.point.allFinite() && contact.normal.allFinite() && std::isfinite(contact.gap) &&
                    contact.force.allFinite() && contact.torque.allFinite(),
                "a contact is not finite");
    }
}

HandOverReport Simulation::hand_over(Model model, SimulationOptions options, const HandOverLimits& limits) {
    if (model.planar != model_.planar) throw ModelError("a running model stays planar or spatial");
    return model_.planar ? hand_over_as<2>(std::move(model), std::move(options), limits)
                         : hand_over_as<3>(std::move(model), std::move(options), limits);
}

template <int D>
HandOverReport Simulation::hand_over_as(Model model, SimulationOptions options, const HandOverLimits& limits) {
    if (const auto exchanged = exchange_joints<D>(model, options)) return *exchanged;
    HandOverReport report;
    const Mechanism<D>& old = system_as<D>().mechanism();
    const Energies before = observer().compute_energies(state_);
    report.energy_before = before.kinetic + before.potential;
    BodyStates<D> old_states;
    system_as<D>().export_states(state_.q, state_.v, old_states);

    // Everything new is built beside the old, which stays as it is until all has succeeded.
    Simulation next(*this, std::move(model), std::move(options));
    const auto mechanism = std::make_shared<const Mechanism<D>>(make_mechanism<D>(next.model_));
    BodyStates<D> states;
    carry_over(old, old_states, state_.memory, *mechanism, states, next.state_.memory);
    const AssemblyReport assembled = assemble(*mechanism, states, next.state_.memory, state_.t, false);
    report.largest_move = assembled.largest_move;
    // Joints that contradict each other a little have done so before.
    const ConstraintErrors errors = observer().compute_errors(state_);
    const auto refuse_open_joints = [&](double gap, double largest) {
        if (assembled.converged || gap <= largest) return;
        WorstRow worst = assembled.worst;
        worst.error = gap;
        throw ModelError(describe_open_joint(next.model_, worst, "the mechanism cannot be put together"));
    };
    refuse_open_joints(assembled.largest_error, 2 * errors.position);
    if (limits.move > 0 && report.largest_move > limits.move)
        throw ModelError(
            fmt::format("a body would have to jump by {:.3g} m, more than {:.3g} m", report.largest_move, limits.move));
    InertialessMotions<D> inertialess(*mechanism, states, next.state_.memory, state_.t);
    inertialess.balance(states, next.state_.memory, state_.t);
    rest_idle_turns(*mechanism, states);
    const BodyStates<D> unprojected = states;
    // Contacts may open: whether they do is decided when the new stepper starts.
    const VelocityReport velocities =
        project_velocities(*mechanism, states, with_open_contacts(*mechanism, next.state_.memory), state_.t, false);
    if (!(velocities.largest_error < std::max(1e-6 * (1 + mechanism->length_scale), 2 * errors.velocity)) &&
        !(velocities.largest_error <= 2 * find_velocity_contradiction(old, old_states, state_)))
        throw ModelError(describe_contradiction(velocities.worst, "the velocities contradict each other"));
    const double usual = before.kinetic + mechanism->mass_scale * std::pow(limits.rate * mechanism->length_scale, 2);
    if (limits.rate > 0 && !(-velocities.energy_lost < max_gain * usual))
        throw ModelError(fmt::format("the joints would throw the bodies about, adding {:.3g} J to their motion",
                                     -velocities.energy_lost));
    report.kinetic_lost = velocities.energy_lost;
    report.impulses = find_impulses(*mechanism, unprojected, states, next.state_.memory, state_.t);
    inertialess.balance_velocities(states, next.state_.memory, state_.t);
    next.compile<D>(mechanism);
    refuse_unfit_options(inertialess, *mechanism, next.options_, next.modular_as<D>().get());
    next.state_.t = state_.t;
    next.system_as<D>().import_states(states, next.state_.q, next.state_.v);
    const StepReport started = next.stepper_->start(next.state_);
    if (!started.ok) throw ModelError("the accelerations cannot be found: " + started.reason);
    if (limits.gap > 0)
        refuse_open_joints(next.observer_->compute_errors(next.state_).position, std::max(limits.gap, errors.position));
    const Energies after = next.observer_->compute_energies(next.state_);
    report.energy_after = after.kinetic + after.potential;
    report.loss_forgotten = before.impact_loss - after.impact_loss;
    if (!std::isfinite(report.energy_after)) throw ModelError("the energy is not finite");
    *this = std::move(next);
    return report;
}

namespace {

// Errors of a joint that has come, over the typical length, that are nothing but rounding.
constexpr double closed_joint = 1e-9;

template <int D>
double compute_kinetic_energy(const MechanismSystem<D>& system, const State& state) {
    BodyStates<D> states;
    system.export_states(state.q, state.v, states);
    double sum = 0;
    for (std::size_t b = 0; b < states.size(); ++b) sum += kinetic_energy(system.mechanism().bodies[b], states[b]);
    return sum;
}

template <int D>
double find_gap(const InterfaceJoints<D>& joints, const std::string& name) {
    const Mechanism<D>& m = joints.mechanism();
    const ConstraintElement<D>& element = m.elements[m.element_index.at(name)];
    return element.row_count > 0
               ? joints.phi.segment(element.first_row, element.row_count).template lpNorm<Eigen::Infinity>()
               : 0.0;
}

template <int D>
std::vector<JointImpulse> list_impulses(const InterfaceJoints<D>& joints, const VecX& impulses) {
    std::vector<JointImpulse> list;
    double largest = 0;
    for (int e = 0; e < joints.element_count(); ++e) {
        const TwistVec<D> wrench = joints.compute_reaction(e, impulses);
        JointImpulse impulse;
        impulse.joint = joints.mechanism().elements[e].name;
        impulse.impulse.template head<D>() = wrench.template head<D>();
        impulse.moment.template tail<angular_size<D>>() = wrench.template tail<angular_size<D>>();
        largest = std::max(largest, wrench.norm());
        list.push_back(std::move(impulse));
    }
    drop_small(list, largest);
    return list;
}

}  // namespace

template <int D>
ModularStepper<D>* Simulation::modular_stepper() const {
    auto* stops = dynamic_cast<UnilateralStepper<D>*>(stepper_.get());
    auto* recovering = dynamic_cast<RecoveringStepper*>(stops == nullptr ? stepper_.get() : &stops->inner());
    return recovering == nullptr ? nullptr : dynamic_cast<ModularStepper<D>*>(&recovering->inner());
}

template <int D>
std::optional<HandOverReport> Simulation::exchange_joints(const Model& model, const SimulationOptions& options) {
    const Uninterrupted hold;  // the stepper is changed in place
    ModularStepper<D>* stepper = modular_stepper<D>();
    if (stepper == nullptr || !(options == options_)) return {};
    // Contacts may open or collide when a joint leaves or comes.
    if (has_stops(static_cast<const MechanismSystem<D>&>(*system_).mechanism())) return {};
    const auto changes = find_joint_changes(model_, model);
    if (!changes) return {};
    ModularAssembly<D>& assembly = stepper->assembly();
    auto joints = make_changed_joints<D>(*modular_as<D>(), assembly.joints(), model, *changes);
    if (!joints) return {};
    State next = state_;
    if (!stepper->update_components(next).ok) return {};
    joints->update(assembly.gather_motion(), next.t);
    // Ends that are apart must be brought together first.
    for (const JointHandle handle : changes->coming)
        if (!(find_gap(*joints, model.joints.get(handle).name) < closed_joint * joints->mechanism().length_scale))
            return {};

    // Joints have no energy, so those of before do for what there is of it.
    HandOverReport report;
    const Energies energies = observer_->compute_energies(state_);
    report.energy_before = energies.kinetic + energies.potential;
    if (!stepper->exchange_joints(next, std::move(joints), !changes->coming.empty()).ok) return {};
    report.kinetic_lost =
        energies.kinetic - compute_kinetic_energy(static_cast<const MechanismSystem<D>&>(*system_), next);
    report.energy_after = report.energy_before - report.kinetic_lost;
    assembly.joints().update(assembly.gather_motion(), next.t);
    report.impulses = list_impulses(assembly.joints(), assembly.impulses());
    state_ = std::move(next);
    model_ = model;
    is_watched_old_ = has_exchanged_joints_ = true;
    return report;
}

HandOverReport Simulation::apply_impulse(const std::string& marker, const Vec3& impulse, const Vec3& moment) {
    return model_.planar ? apply_impulse_as<2>(marker, impulse, moment) : apply_impulse_as<3>(marker, impulse, moment);
}

template <int D>
HandOverReport Simulation::apply_impulse_as(const std::string& marker, const Vec3& impulse, const Vec3& moment) {
    constexpr int A = angular_size<D>;
    const Mechanism<D>& m = system_as<D>().mechanism();
    const Model& model = model_;
    const MarkerHandle handle = model.marker(marker);
    const std::string body_name = model.bodies.get(model.markers.get(handle).body).name;
    const auto it = std::find_if(m.bodies.begin(), m.bodies.end(), [&](const auto& b) { return b.name == body_name; });
    if (it == m.bodies.end()) throw ModelError(fmt::format("'{}' is on the ground, which does not move", marker));
    const auto index = static_cast<std::size_t>(it - m.bodies.begin());
    HandOverReport report;
    const Energies before = observer().compute_energies(state_);
    report.energy_before = before.kinetic + before.potential;
    BodyStates<D> states;
    system_as<D>().export_states(state_.q, state_.v, states);
    BodyState<D>& body = states[index];
    const Vec<D> arm =
        body.axes * (ModelEvaluation(model_).marker_frame(handle).position.template head<D>() - it->centre);
    AngularVec<D> angular = moment.template tail<A>();
    angular += limber::moment<D>(arm, Vec<D>(impulse.template head<D>()));
    if (!(it->mass > 0)) throw ModelError(fmt::format("body '{}' has no mass to take an impulse", body_name));
    body.velocity += impulse.template head<D>() / it->mass;
    const AngularMat<D> inertia = world_inertia(*it, body);
    if constexpr (D == 2) {
        if (inertia(0, 0) > 0) body.angular_velocity += angular / inertia(0, 0);
    } else if (inertia.trace() > 0) {
        // A thin rod has no inertia about its axis: nothing turns it there.
        body.angular_velocity += (inertia + 1e-12 * inertia.trace() * Mat3::Identity()).inverse() * angular;
    }
    const BodyStates<D> unprojected = states;
    const VelocityReport velocities =
        project_velocities(m, states, with_open_contacts(m, state_.memory), state_.t, false);
    report.kinetic_lost = velocities.energy_lost;
    report.impulses = find_impulses(m, unprojected, states, state_.memory, state_.t);
    State next = state_;
    system_as<D>().import_states(states, next.q, next.v);
    balance_state(system_as<D>(), next);
    const StepReport started = stepper_->start(next);
    if (!started.ok) throw ModelError("the accelerations cannot be found: " + started.reason);
    state_ = std::move(next);
    const Energies after = observer().compute_energies(state_);
    report.energy_after = after.kinetic + after.potential;
    report.loss_forgotten = before.impact_loss - after.impact_loss;
    return report;
}

void Simulation::move_target(const std::string& force, const Vec3& target) {
    State next = state_;
    const auto move = [&]<int D>(const MechanismSystem<D>& system) {
        const Mechanism<D>& m = system.mechanism();
        const auto it = m.force_index.find(force);
        const auto* pull = it == m.force_index.end() ? nullptr : m.forces.elements[it->second].template as<PullForce>();
        if (pull == nullptr) throw ModelError(fmt::format("there is no pull '{}'", force));
        for (int k = 0; k < D; ++k) next.memory[pull->target_memory + k] = target[k];
        balance_state(system, next);
    };
    if (model_.planar) {
        move(system_as<2>());
    } else {
        move(system_as<3>());
    }
    // The force has jumped, and with it the accelerations.
    const StepReport report = stepper_->start(next);
    if (!report.ok) throw ModelError("the accelerations cannot be found: " + report.reason);
    state_ = std::move(next);
}

std::vector<int> Simulation::components_of_bodies() const {
    if (planar_modular_) return planar_modular_->division.component_of_body;
    if (spatial_modular_) return spatial_modular_->division.component_of_body;
    return {};
}

GluingReport Simulation::gluing_report() const {
    if (const auto* planar = modular_stepper<2>()) return planar->report();
    if (const auto* spatial = modular_stepper<3>()) return spatial->report();
    return {};
}

double Simulation::value(const std::string& column) {
    const std::vector<std::string>& names = columns();
    const auto it = std::find(names.begin(), names.end(), column);
    if (it == names.end())
        throw ModelError(fmt::format("there is no sensor column '{}'{}", column, did_you_mean(column, names)));
    std::vector<double> values;
    observer().observe(state_, std::nan(""), values);
    return values[it - names.begin()];
}

Frame Simulation::body_frame(const std::string& name) const {
    if (model_.bodies.find(name).is_null())
        throw ModelError(fmt::format("there is no body '{}'{}", name, did_you_mean(name, model_.bodies.names())));
    const auto find = [&]<int D>(const MechanismSystem<D>& system) {
        Frame frame;
        BodyStates<D> states;
        system.export_states(state_.q, state_.v, states);
        const auto& bodies = system.mechanism().bodies;
        for (std::size_t b = 0; b < bodies.size(); ++b) {
            if (bodies[b].name != name) continue;
            frame.axes.template topLeftCorner<D, D>() = states[b].axes;
            frame.position.template head<D>() = states[b].position - states[b].axes * bodies[b].centre;
        }
        return frame;
    };
    return model_.planar ? find(system_as<2>()) : find(system_as<3>());
}

template <int D>
std::vector<ShapeOverlap> Simulation::find_overlaps_as() const {
    const Mechanism<D>& m = system_as<D>().mechanism();
    std::vector<ShapeOverlap> list;
    if (m.shapes.empty()) return list;
    BodyStates<D> states;
    system_as<D>().export_states(state_.q, state_.v, states);
    CollisionWorld<D> world(m);
    std::vector<Contact> contacts;
    world.find_contacts(states, 0, contacts);
    const auto name = [&](int body) { return body < 0 ? std::string("ground") : m.bodies[body].name; };
    std::map<std::pair<int, int>, std::size_t> known;  // place of two bodies in the list
    for (const Contact& contact : contacts) {
        check_interruption();
        const bool is_rigid = m.contact_rules[contact.rule].law.value().kind == ContactLaw::Kind::rigid;
        const double size = std::min(world.size_of(contact.shape_a), world.size_of(contact.shape_b));
        const double allowed = (is_rigid ? deep_when_rigid : deep_when_compliant) * size;
        if (!(-contact.gap > allowed)) continue;
        const auto [it, is_new] = known.try_emplace({contact.body_a, contact.body_b}, list.size());
        if (is_new) list.push_back({name(contact.body_a), name(contact.body_b), 0, is_rigid});
        list[it->second].depth = std::max(list[it->second].depth, -contact.gap);
    }
    return list;
}

std::vector<ShapeOverlap> Simulation::find_overlaps() const {
    return model_.planar ? find_overlaps_as<2>() : find_overlaps_as<3>();
}

StepReport Simulation::advance(double end, double h) {
    StepReport total;
    total.substeps = 0;
    // Whole steps are counted, not accumulated, so that the end is met without a sliver of a step.
    const double start = state_.t;
    const auto whole = static_cast<long>(std::floor((end - start) / h + 1e-9));
    const auto run = [&](double length) {
        const StepReport report = step(length);
        total.iterations += report.iterations;
        total.substeps += report.substeps;
        total.work += report.work;
        total.ok = report.ok;
        total.reason = report.reason;
        total.events.insert(total.events.end(), report.events.begin(), report.events.end());
        return report.ok;
    };
    for (long i = 0; i < whole; ++i) {
        if (!run(h)) return total;
        state_.t = start + static_cast<double>(i + 1) * h;
    }
    const double rest = end - state_.t;
    if (rest > 1e-9 * h && !run(rest)) return total;
    state_.t = end;
    return total;
}

const std::vector<std::string>& Simulation::notes() const {
    return model_.planar ? system_as<2>().mechanism().notes : system_as<3>().mechanism().notes;
}

MobilityReport Simulation::compute_mobility() const {
    const auto report = [&]<int D>(const MechanismSystem<D>& system) {
        BodyStates<D> states;
        system.export_states(state_.q, state_.v, states);
        return limber::compute_mobility(system.mechanism(), states, state_.memory, state_.t);
    };
    return model_.planar ? report(system_as<2>()) : report(system_as<3>());
}

}  // namespace limber
