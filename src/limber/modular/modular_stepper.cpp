#include "limber/modular/modular_stepper.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "limber/integration/step_control.hpp"
#include "limber/kinematics/body_space/assembly.hpp"
#include "limber/kinematics/mechanism/idle_turns.hpp"
#include "limber/model/error.hpp"
#include "limber/modular/spread.hpp"

namespace limber {

namespace {

// Joints at the end of the step are held through how that end yields to their forces; a component that cannot tell
// would follow them with a delay and gain energy. Springs in place of joints ask for no such answer.
template <int D>
void refuse_unfit(const SystemComponent<D>& component, const ComponentSettings& settings, const ModularOptions& options,
                  bool has_joints) {
    const bool is_coupled = options.coupling == Coupling::end_of_step && options.course != ForceCourse::hold &&
                            component.yields_at_the_end() && settings.step == 0;
    if (component.borrows_inertia() && !is_coupled)
        throw ModelError(fmt::format(
            "component '{}': cut from its neighbours it can move without inertia, which only a component under global "
            "or hybrid with a structural integrator and no step of its own can; divide the mechanism elsewhere, or "
            "give its bodies mass and inertia",
            settings.name));
    if (!has_joints || options.coupling != Coupling::end_of_step || options.gluing == Gluing::penalty) return;
    if (component.yields_at_the_end()) return;
    throw ModelError(fmt::format(
        "component '{}': joints that act at the end of the step cannot hold {} with {}; use global or hybrid with a "
        "structural integrator, or --coupling acceleration",
        settings.name, settings.formulation, settings.integrator));
}

}  // namespace

template <int D>
std::shared_ptr<const ModularSystem<D>> compile_modular(std::shared_ptr<const Mechanism<D>> whole,
                                                        const Division& division, const ComponentSettings& usual,
                                                        const FormulationOptions& formulation_options,
                                                        const IntegratorOptions& integrator_options,
                                                        double gluing_tolerance) {
    // Forces between components cannot be known better than the answers they are found from.
    FormulationOptions exact_options = with_gains_under_control(formulation_options, integrator_options);
    exact_options.tolerance = std::min(formulation_options.tolerance, 0.1 * gluing_tolerance);
    // Steps are controlled for all components together.
    IntegratorOptions uncontrolled = integrator_options;
    uncontrolled.step_control = 0;
    auto system = std::make_shared<ModularSystem<D>>();
    // In a component by itself, turns that nothing sees look like those that its neighbours hold, and nothing would
    // govern them.
    system->whole = with_idle_inertia<D>(std::move(whole));
    system->division = division;
    system->parts = find_parts(*system->whole, division);
    std::vector<std::shared_ptr<CompiledComponent<D>>> massless_components;
    int massless = 0;
    for (std::size_t k = 0; k < division.components.size(); ++k) {
        ComponentSettings settings = division.components[k];
        if (settings.formulation.empty()) settings.formulation = usual.formulation;
        if (settings.integrator.empty()) settings.integrator = usual.integrator;
        if (settings.coordinates.empty()) settings.coordinates = usual.coordinates;
        FormulationOptions own_options = exact_options;
        if (settings.penalty > 0) own_options.penalty = settings.penalty;
        if (settings.frequency > 0) own_options.frequency = settings.frequency;
        if (settings.damping > 0) own_options.damping = settings.damping;
        if (settings.tolerance > 0) own_options.tolerance = settings.tolerance;
        const auto component = compile_component(*system->whole, system->parts.components[k], system->parts.ports[k],
                                                 settings, own_options, uncontrolled);
        system->components.push_back(component);
        const int own = component->massless_freedoms;
        // What has no neighbours is not held by them.
        if (own > 0 && !component->ports.empty()) massless_components.push_back(component);
        massless += own;
    }
    // Those that nothing holds, divided or not, stay where they are.
    if (massless > count_massless_freedoms(*system->whole))
        for (const auto& component : massless_components) borrow_inertia(*component);
    system->formulation_options = std::move(exact_options);
    system->corrector_passes = integrator_options.corrector_passes;
    system->massless_freedoms = massless;
    return system;
}

template <int D>
std::unique_ptr<ModularAssembly<D>> make_assembly(const ModularSystem<D>& system, const ModularOptions& options) {
    ComponentList<D> components;
    const bool has_joints = !system.parts.interface.elements.empty();
    for (const auto& compiled : system.components) {
        auto component = std::make_unique<SystemComponent<D>>(compiled);
        refuse_unfit(*component, compiled->settings, options, has_joints);
        components.push_back(std::move(component));
    }
    auto assembly = std::make_unique<ModularAssembly<D>>(
        std::move(components), std::make_unique<InterfaceJoints<D>>(*system.whole, system.parts.interface), options,
        system.formulation_options, system.corrector_passes);
    if (options.exchange)
        assembly->spread(spread_components(*system.whole, system.division, system.parts, options.exchange->size()));
    return assembly;
}

template <int D>
ModularStepper<D>::ModularStepper(std::shared_ptr<const MechanismSystem<D>> whole,
                                  std::shared_ptr<const ModularSystem<D>> modular, const ModularOptions& options)
    : whole_(std::move(whole)),
      modular_(std::move(modular)),
      assembly_(make_assembly(*modular_, options)),
      evaluation_(whole_->make_evaluation()) {
    may_start_again_ = !modular_->whole->stops.empty() || !modular_->whole->friction.empty();
    states_.resize(modular_->whole->bodies.size());
    rates_.assign(states_.size(), TwistVec<D>::Zero());
    for (const auto& component : modular_->components)
        first_body_.push_back(first_body_.back() + static_cast<int>(component->bodies.size()));
}

template <int D>
void ModularStepper<D>::distribute(const State& state) {
    whole_->export_states(state.q, state.v, states_);
    for (std::size_t k = 0; k < modular_->components.size(); ++k) {
        const CompiledComponent<D>& component = *modular_->components[k];
        part_states_.clear();
        for (const int b : component.bodies) part_states_.push_back(states_[b]);
        memory_.clear();
        for (const int slot : component.memory) memory_.push_back(slot < 0 ? 0 : state.memory[slot]);
        assembly_->component(static_cast<int>(k)).import_motion(state.t, part_states_, memory_);
    }
    set_memory(assembly_->joints(), state);
}

template <int D>
void ModularStepper<D>::set_memory(InterfaceJoints<D>& joints, const State& state) {
    memory_.clear();
    for (const int slot : joints.memory_slots()) memory_.push_back(state.memory[slot]);
    joints.set_memory(memory_);
}

template <int D>
void ModularStepper<D>::collect(State& state) {
    part_states_.resize(states_.size());
    part_rates_.resize(states_.size());
    assembly_->team().for_all([&](int k) {
        const auto first = static_cast<std::size_t>(first_body_[k]);
        const std::size_t count = modular_->components[k]->bodies.size();
        assembly_->component(k).export_motion(std::span(part_states_).subspan(first, count),
                                              std::span(part_rates_).subspan(first, count));
    });
    assembly_->team().exchange().share(part_states_, first_body_);
    assembly_->team().exchange().share(part_rates_, first_body_);
    for (std::size_t k = 0; k < modular_->components.size(); ++k) {
        const std::vector<int>& bodies = modular_->components[k]->bodies;
        for (std::size_t i = 0; i < bodies.size(); ++i) {
            states_[bodies[i]] = part_states_[first_body_[k] + i];
            rates_[bodies[i]] = part_rates_[first_body_[k] + i];
        }
    }
    whole_->import_states(states_, state.q, state.v);
    whole_->import_twist_rates(states_, rates_, state.q, state.v, state.a);
    state.scheme_a = state.a;
    state.t = assembly_->time();
    // Joints of the whole come and go, and their multipliers are the components' and the interface's affair.
    state.lambda.resize(0);
    whole_->update_positions(*evaluation_, state.t, state.q, state.memory);
    whole_->update_memory(*evaluation_, state.q, state.memory);
    last_ = state;
}

template <int D>
bool ModularStepper<D>::is_same(const State& a, const State& b) {
    // Who counts steps may have rounded the time.
    return a.q.size() == b.q.size() && std::abs(a.t - b.t) <= 1e-12 * (1 + b.t) && a.q == b.q && a.v == b.v &&
           a.memory == b.memory;
}

template <int D>
StepReport ModularStepper<D>::start(State& state) {
    distribute(state);
    const StepReport report = assembly_->start(state.t);
    if (report.ok) collect(state);
    return report;
}

// The whole mechanism is put together as at a start, in the metric of the masses.
template <int D>
StepReport ModularStepper<D>::restart(State& state) {
    const Mechanism<D>& m = whole_->mechanism();
    whole_->export_states(state.q, state.v, states_);
    if (!assemble(m, states_, state.memory, state.t, false).converged)
        return {.ok = false, .reason = "the projection onto the constraints failed"};
    project_velocities(m, states_, state.memory, state.t, false);
    whole_->import_states(states_, state.q, state.v);
    return start(state);
}

template <int D>
StepReport ModularStepper<D>::update_components(const State& state) {
    if (is_same(state, last_)) return {};
    if (may_start_again_ && is_same(state, start_)) {
        assembly_->restore(start_snapshot_);
        last_ = state;
        return {};
    }
    distribute(state);
    const StepReport report = assembly_->start(state.t);
    last_ = report.ok ? state : State{};
    return report;
}

template <int D>
StepReport ModularStepper<D>::step(State& state, double h) {
    const StepReport taken = update_components(state);
    if (!taken.ok) return taken;
    if (may_start_again_) {
        start_ = state;
        assembly_->save(start_snapshot_);
    }
    const StepReport report = assembly_->step(h);
    if (report.ok) collect(state);
    return report;
}

template <int D>
StepReport ModularStepper<D>::exchange_joints(State& state, std::unique_ptr<InterfaceJoints<D>> joints,
                                              bool some_are_new) {
    const StepReport taken = update_components(state);
    if (!taken.ok) return taken;
    start_ = {};  // belongs to the joints of now
    set_memory(*joints, state);
    auto old = assembly_->exchange_joints(std::move(joints));
    const StepReport report = some_are_new ? assembly_->restart_velocities(state.t) : assembly_->start(state.t);
    if (report.ok) {
        collect(state);
    } else {
        assembly_->exchange_joints(std::move(old));
        last_ = {};  // the components may have moved: their motion is set from the state again
    }
    return report;
}

#define LIMBER_INSTANTIATE(D)                                                                                      \
    template std::shared_ptr<const ModularSystem<D>> compile_modular(                                              \
        std::shared_ptr<const Mechanism<D>>, const Division&, const ComponentSettings&, const FormulationOptions&, \
        const IntegratorOptions&, double);                                                                         \
    template std::unique_ptr<ModularAssembly<D>> make_assembly(const ModularSystem<D>&, const ModularOptions&);    \
    template class ModularStepper<D>;
LIMBER_INSTANTIATE(2)
LIMBER_INSTANTIATE(3)
#undef LIMBER_INSTANTIATE

}  // namespace limber
