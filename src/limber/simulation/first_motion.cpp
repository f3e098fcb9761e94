// The first motion of a compiled model: bodies are put together, brought to rest if that is asked for, and given
// velocities that fit the joints.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "limber/contact/stops/stop_stepper.hpp"
#include "limber/kinematics/body_space/twist.hpp"
#include "limber/model/error.hpp"
#include "limber/simulation/compiled_model.hpp"
#include "limber/simulation/drawn_joints.hpp"
#include "limber/simulation/large_angles.hpp"
#include "limber/simulation/open_joints.hpp"
#include "limber/simulation/quasi_static_start.hpp"
#include "limber/simulation/written_velocities.hpp"

namespace limber {
namespace {

// A body that assembly moves by this part of the mechanism's size, or turns by this angle, is not where it was put.
constexpr double noticed = 1e-6;

// The way to rest, with stops if there are any.
template <int D>
Relaxation make_relaxation(const std::shared_ptr<const MechanismSystem<D>>& system) {
    Relaxation relaxation;
    relaxation.stepper = make_relaxation_stepper(system);
    if (system->mechanism().stops.empty()) return relaxation;
    auto stepper = std::make_unique<StopStepper<D>>(std::move(relaxation.stepper), system, ContactOptions{});
    relaxation.is_possible = [&stops = *stepper](const State& state) { return stops.is_possible(state); };
    relaxation.stepper = std::move(stepper);
    return relaxation;
}

template <int D>
void note_moves(const Mechanism<D>& mechanism, const BodyStates<D>& states, StartChanges& changes) {
    for (std::size_t b = 0; b < states.size(); ++b) {
        const BodyState<D>& given = mechanism.bodies[b].reference;
        const Mat<D> turn = states[b].axes * given.axes.transpose();
        // |R - 1|^2 = 8 sin^2(angle / 2)
        const double half = (turn - Mat<D>::Identity()).norm() / std::sqrt(8.0);
        const double angle = 2 * std::asin(std::min(1.0, half));
        const double distance = (states[b].position - given.position).norm();
        const double size = mechanism.length_scale;
        if (distance > noticed * size || angle > noticed)
            changes.moved.push_back({mechanism.bodies[b].name, distance, angle});
    }
    std::stable_sort(changes.moved.begin(), changes.moved.end(),
                     [](const auto& a, const auto& b) { return a.distance > b.distance; });
}

template <int D>
void note_velocities(const Mechanism<D>& mechanism, const BodyStates<D>& given, const BodyStates<D>& states,
                     StartChanges& changes) {
    double fastest = 0;
    const auto speed = [&](const BodyState<D>& s) {
        return s.velocity.norm() + mechanism.length_scale * s.angular_velocity.norm();
    };
    for (std::size_t b = 0; b < states.size(); ++b) {
        fastest = std::max(fastest, speed(given[b]));
        changes.kinetic_given += kinetic_energy(mechanism.bodies[b], given[b]);
    }
    for (std::size_t b = 0; b < states.size(); ++b) {
        BodyState<D> change = states[b];
        change.velocity -= given[b].velocity;
        change.angular_velocity -= given[b].angular_velocity;
        if (speed(given[b]) > 0 && speed(change) > 1e-3 * fastest) changes.changed.push_back(mechanism.bodies[b].name);
    }
}

// Gains of a joint that has no equations, because what it holds is shared by the bodies, would do nothing.
template <int D>
void refuse_idle_gains(const NumbersByJoint& gains, const Model& model, const System& system,
                       const ModularSystem<D>* modular) {
    const auto has_rows = [](const System& part, const std::string& joint) {
        for (int r = 0; r < part.rows(); ++r)
            if (part.row_name(r) == fmt::format("joint '{}'", joint)) return true;
        return false;
    };
    for (const auto& [joint, number] : gains) {
        if (model.joints.find(joint).is_null()) continue;
        bool is_idle = modular != nullptr || !has_rows(system, joint);
        if (modular != nullptr) {
            for (const auto& component : modular->components) is_idle = is_idle && !has_rows(*component->system, joint);
            for (const int element : modular->parts.interface.elements)
                is_idle = is_idle && modular->whole->elements[element].key() != joint;
        }
        if (is_idle)
            throw ModelError(fmt::format(
                "joint '{}' has gains of its own, but in these coordinates no equation: the bodies share what it holds "
                "together; take coordinates reference-point, or divide the mechanism by body",
                joint));
    }
}

// Some coordinates have no numbers for velocities that joints do not allow.
template <int D>
void refuse_lost_velocities(const Mechanism<D>& mechanism, const BodyStates<D>& written, const BodyStates<D>& had) {
    double fastest = 0;
    for (const BodyState<D>& s : written)
        fastest = std::max(fastest, s.velocity.norm() + mechanism.length_scale * s.angular_velocity.norm());
    for (std::size_t b = 0; b < written.size(); ++b) {
        const double lost = (had[b].velocity - written[b].velocity).norm() +
                            mechanism.length_scale * (had[b].angular_velocity - written[b].angular_velocity).norm();
        if (lost > 1e-9 * fastest)
            throw ModelError(fmt::format(
                "initial velocities as written: body '{}' cannot have its velocity in these coordinates, in which "
                "joints hold by what bodies share; take coordinates reference-point, or divide the mechanism by body",
                mechanism.bodies[b].name));
    }
}

}  // namespace

template <int D>
StartReport CompiledModelOf<D>::start(State& state, const EquilibriumRequest& request) {
    StartReport report;
    const CoordinateKind kind = choose_coordinates();
    const SharedMechanism mechanism = make_mechanism();
    BodyStates<D> states;
    for (const auto& body : mechanism->bodies) states.push_back(body.reference);
    state.memory = mechanism->initial_memory;

    check_joints_on_ground(model_, *mechanism, state.memory);
    report.assembly = assemble(*mechanism, states, state.memory, 0.0, true);
    if (!report.assembly.converged)
        throw ModelError(describe_open_joint(model_, report.assembly.worst, "the mechanism cannot be assembled"));
    refuse_large_angles(*mechanism, states, state.memory);
    // Bodies that go where 'initial' asks for are no surprise.
    if (report.assembly.given_error > noticed * std::min(1.0, mechanism->length_scale))
        note_moves(*mechanism, states, report.changes);
    InertialessMotions<D> inertialess(*mechanism, states, state.memory, 0.0);
    inertialess.balance(states, state.memory, 0.0);
    if (options_.from_equilibrium) {
        const auto at_rest = make_static_mechanism<D>(mechanism, inertialess.bodies(), 0.0);
        const std::size_t own_memory = state.memory.size();
        state.memory.insert(state.memory.end(), at_rest.further_memory.begin(), at_rest.further_memory.end());
        // With matrices, whatever the formulation needs.
        const auto settled = make_system<D>(at_rest.mechanism, kind);
        settled->import_states(states, state.q, state.v);
        const auto solver = make_acceleration_solver("augmented-lagrangian", settled);
        report.equilibrium = find_equilibrium<D>(*settled, *solver, make_relaxation<D>(settled), state, request);
        if (!report.equilibrium.converged) throw std::runtime_error("static equilibrium: " + report.equilibrium.reason);
        settled->export_states(state.q, state.v, states);
        for (std::size_t b = 0; b < states.size(); ++b) {
            states[b].velocity = mechanism->bodies[b].reference.velocity;
            states[b].angular_velocity = mechanism->bodies[b].reference.angular_velocity;
        }
        state.memory.resize(own_memory);
        inertialess.balance(states, state.memory, 0.0);
    }
    rest_idle_turns(*mechanism, states);
    const BodyStates<D> given = states;
    report.velocities = project_velocities(*mechanism, states, state.memory, 0.0, true);
    rest_idle_turns(*mechanism, states);
    note_velocities(*mechanism, given, states, report.changes);
    const bool are_kept = model_.initial_velocities == StartVelocities::as_written;
    if (are_kept) {
        keep_written_velocities(model_, options_);
        states = given;
        report.velocities.energy_lost = 0;
        report.changes.are_velocities_kept = true;
    }
    if (!(report.velocities.largest_error < 1e-6 * (1 + mechanism->length_scale)))
        throw ModelError(
            describe_contradiction(report.velocities.worst, "the velocities at the start contradict each other"));
    inertialess.balance_velocities(states, state.memory, 0.0);
    compile(mechanism);
    refuse_unfit_options(inertialess, *mechanism, options_, modular_.get());
    refuse_idle_gains(options_.formulation_options.joint_frequency, model_, system(), modular_.get());
    refuse_idle_gains(options_.formulation_options.joint_damping, model_, system(), modular_.get());
    system().import_states(states, state.q, state.v);
    const StepReport started = stepper_->start(state);
    if (!started.ok) throw ModelError("the accelerations at the start cannot be found: " + started.reason);
    if (are_kept) {
        BodyStates<D> had = states;
        system().export_states(state.q, state.v, had);
        refuse_lost_velocities<D>(*mechanism, states, had);
    }
    return report;
}

template StartReport CompiledModelOf<2>::start(State&, const EquilibriumRequest&);
template StartReport CompiledModelOf<3>::start(State&, const EquilibriumRequest&);

}  // namespace limber
