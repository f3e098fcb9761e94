// What carries motion over: to a changed model, through an impulse, to another target of a pull.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "limber/kinematics/body_space/twist.hpp"
#include "limber/kinematics/forces/point_forces.hpp"
#include "limber/math/interruption.hpp"
#include "limber/model/error.hpp"
#include "limber/model/evaluation.hpp"
#include "limber/modular/live_joints.hpp"
#include "limber/simulation/compiled_model.hpp"
#include "limber/simulation/open_joints.hpp"
#include "limber/simulation/quasi_static_start.hpp"

namespace limber {
namespace {

// Of kinetic energy, over what is usual, by joints that move.
constexpr double max_gain = 100;
// Errors of a joint that has come, over the typical length, that are nothing but rounding.
constexpr double closed_joint = 1e-9;

// What joints leave open at best, which may be more in one row than what they leave open as it is.
template <int D>
double find_velocity_contradiction(const Mechanism<D>& m, BodyStates<D> states, const State& state) {
    return project_velocities(m, states, with_open_contacts(m, state.memory), state.t, false).largest_error;
}

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

}  // namespace

// The forces have jumped, and with them the accelerations.
template <int D>
void CompiledModelOf<D>::begin_steps(State& state) {
    const StepReport started = stepper_->start(state);
    if (!started.ok) throw ModelError("the accelerations cannot be found: " + started.reason);
}

template <int D>
TransferReport CompiledModelOf<D>::transfer(State& state, Model model, SimulationOptions options,
                                            const TransferLimits& limits) {
    if (const auto exchanged = exchange_joints(state, model, options)) return *exchanged;
    TransferReport report;
    const Mechanism<D>& old = system().mechanism();
    const Energies before = observer().compute_energies(state);
    report.energy_before = before.kinetic + before.potential;
    BodyStates<D> old_states;
    system().export_states(state.q, state.v, old_states);

    // Everything new is built beside the old, which stays as it is until all has succeeded.
    CompiledModelOf next(std::move(model), std::move(options));
    next.component_compilations_ = component_compilations_;
    State next_state;
    const SharedMechanism mechanism = next.make_mechanism();
    BodyStates<D> states;
    carry_over(old, old_states, state.memory, *mechanism, states, next_state.memory);
    const AssemblyReport assembled = assemble(*mechanism, states, next_state.memory, state.t, false);
    report.largest_move = assembled.largest_move;
    // Joints that contradict each other a little have done so before.
    const ConstraintErrors errors = observer().compute_errors(state);
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
    InertialessMotions<D> inertialess(*mechanism, states, next_state.memory, state.t);
    inertialess.balance(states, next_state.memory, state.t);
    rest_idle_turns(*mechanism, states);
    const BodyStates<D> unprojected = states;
    // Contacts may open: whether they do is decided when the new stepper starts.
    const VelocityReport velocities =
        project_velocities(*mechanism, states, with_open_contacts(*mechanism, next_state.memory), state.t, false);
    if (!(velocities.largest_error < std::max(1e-6 * (1 + mechanism->length_scale), 2 * errors.velocity)) &&
        !(velocities.largest_error <= 2 * find_velocity_contradiction(old, old_states, state)))
        throw ModelError(describe_contradiction(velocities.worst, "the velocities contradict each other"));
    const double usual = before.kinetic + mechanism->mass_scale * std::pow(limits.rate * mechanism->length_scale, 2);
    if (limits.rate > 0 && !(-velocities.energy_lost < max_gain * usual))
        throw ModelError(fmt::format("the joints would throw the bodies about, adding {:.3g} J to their motion",
                                     -velocities.energy_lost));
    report.kinetic_lost = velocities.energy_lost;
    report.impulses = find_impulses(*mechanism, unprojected, states, next_state.memory, state.t);
    inertialess.balance_velocities(states, next_state.memory, state.t);
    next.compile(mechanism);
    refuse_unfit_options(inertialess, *mechanism, next.options_, next.modular_.get());
    next_state.t = state.t;
    next.system_->import_states(states, next_state.q, next_state.v);
    next.begin_steps(next_state);
    if (limits.gap > 0)
        refuse_open_joints(next.observer_->compute_errors(next_state).position, std::max(limits.gap, errors.position));
    const Energies after = next.observer_->compute_energies(next_state);
    report.energy_after = after.kinetic + after.potential;
    report.loss_forgotten = before.impact_loss - after.impact_loss;
    if (!std::isfinite(report.energy_after)) throw ModelError("the energy is not finite");
    *this = std::move(next);
    state = std::move(next_state);
    return report;
}

template <int D>
std::optional<TransferReport> CompiledModelOf<D>::exchange_joints(State& state, const Model& model,
                                                                  const SimulationOptions& options) {
    const Uninterrupted hold;  // the stepper is changed in place
    ModularStepper<D>* stepper = modular_stepper();
    if (stepper == nullptr || !(options == options_)) return {};
    // Its restarts put the mechanism together with the joints it was compiled with.
    if (options.integrator_options.step_control > 0) return {};
    // Contacts may open or collide when a joint leaves or comes.
    if (has_stops(system_->mechanism())) return {};
    const auto changes = find_joint_changes(model_, model);
    if (!changes) return {};
    ModularAssembly<D>& assembly = stepper->assembly();
    auto joints = make_changed_joints<D>(*modular_, assembly.joints(), model, *changes);
    if (!joints) return {};
    State next = state;
    if (!stepper->update_components(next).ok) return {};
    joints->update(assembly.gather_motion(), next.t);
    // Ends that are apart must be brought together first.
    for (const JointHandle handle : changes->coming)
        if (!(find_gap(*joints, model.joints.get(handle).name) < closed_joint * joints->mechanism().length_scale))
            return {};

    // Joints have no energy, so those of before do for what there is of it.
    TransferReport report;
    const Energies energies = observer_->compute_energies(state);
    report.energy_before = energies.kinetic + energies.potential;
    if (!stepper->exchange_joints(next, std::move(joints), !changes->coming.empty()).ok) return {};
    report.kinetic_lost = energies.kinetic - compute_kinetic_energy(*system_, next);
    report.energy_after = report.energy_before - report.kinetic_lost;
    assembly.joints().update(assembly.gather_motion(), next.t);
    report.impulses = list_impulses<D>(assembly.joints().mechanism().elements, [&](int e) {
        return assembly.joints().compute_reaction(e, assembly.impulses());
    });
    state = std::move(next);
    model_ = model;
    is_watched_old_ = has_exchanged_joints_ = true;
    return report;
}

template <int D>
TransferReport CompiledModelOf<D>::apply_impulse(State& state, const std::string& marker, const Vec3& impulse,
                                                 const Vec3& moment) {
    constexpr int A = angular_size<D>;
    const Mechanism<D>& m = system().mechanism();
    const Model& model = model_;
    const MarkerHandle handle = model.marker(marker);
    const BodyHandle hit = model.markers.get(handle).body;
    const std::string body_name = model.bodies.get(hit).name;
    auto it = std::find_if(m.bodies.begin(), m.bodies.end(), [&](const auto& b) { return b.handle == hit; });
    if (it == m.bodies.end()) throw ModelError(fmt::format("'{}' is on the ground, which does not move", marker));
    // Of a flexible body the piece that the marker is on.
    const auto piece = m.piece_markers.find(model.markers.get(handle).name);
    if (piece != m.piece_markers.end()) it = m.bodies.begin() + piece->second.body;
    const Vec<D> local = piece != m.piece_markers.end()
                             ? piece->second.point
                             : Vec<D>(ModelEvaluation(model_).marker_frame(handle).position.template head<D>());
    const auto index = static_cast<std::size_t>(it - m.bodies.begin());
    TransferReport report;
    const Energies before = observer().compute_energies(state);
    report.energy_before = before.kinetic + before.potential;
    BodyStates<D> states;
    system().export_states(state.q, state.v, states);
    BodyState<D>& body = states[index];
    const Vec<D> arm = body.axes * (local - it->centre);
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
        project_velocities(m, states, with_open_contacts(m, state.memory), state.t, false);
    report.kinetic_lost = velocities.energy_lost;
    report.impulses = find_impulses(m, unprojected, states, state.memory, state.t);
    State next = state;
    system().import_states(states, next.q, next.v);
    balance_state(system(), next);
    begin_steps(next);
    state = std::move(next);
    const Energies after = observer().compute_energies(state);
    report.energy_after = after.kinetic + after.potential;
    report.loss_forgotten = before.impact_loss - after.impact_loss;
    return report;
}

template <int D>
void CompiledModelOf<D>::move_target(State& state, const std::string& force, const Vec3& target) {
    State next = state;
    const Mechanism<D>& m = system().mechanism();
    const auto it = m.force_index.find(force);
    const auto* pull = it == m.force_index.end() ? nullptr : m.forces.elements[it->second].template as<PullForce>();
    if (pull == nullptr) throw ModelError(fmt::format("there is no pull '{}'", force));
    pull->target.in(next.memory) = target.template head<D>();
    balance_state(system(), next);
    begin_steps(next);
    state = std::move(next);
}

#define LIMBER_INSTANTIATE(D)                                                                                        \
    template TransferReport CompiledModelOf<D>::transfer(State&, Model, SimulationOptions, const TransferLimits&);   \
    template TransferReport CompiledModelOf<D>::apply_impulse(State&, const std::string&, const Vec3&, const Vec3&); \
    template void CompiledModelOf<D>::move_target(State&, const std::string&, const Vec3&);
LIMBER_INSTANTIATE(2)
LIMBER_INSTANTIATE(3)
#undef LIMBER_INSTANTIATE

}  // namespace limber
