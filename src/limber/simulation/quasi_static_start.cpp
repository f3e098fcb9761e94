#include "limber/simulation/quasi_static_start.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "limber/kinematics/mechanism/part.hpp"
#include "limber/methods/quasi_static.hpp"
#include "limber/model/error.hpp"

namespace limber {
namespace {

void refuse(const std::string& body, const std::string& formulation, const std::string& integrator) {
    throw ModelError(fmt::format(
        "body '{}' moves without inertia, as the forces on it balance, which {} with {} cannot find; use {}, "
        "or give it mass and inertia",
        body, formulation, integrator, list_what_balances_forces()));
}

/// Whether a force joins a body to one of another component.
template <int D>
bool has_force_across(const Mechanism<D>& m, const Division& division, int body) {
    for (const auto& force : m.forces.elements) {
        bool acts = false;
        bool crosses = false;
        for (int s = force.first_slot; s < force.first_slot + force.slot_count; ++s) {
            const int other = m.features[m.forces.slot_feature[s]].body;
            if (other < 0) continue;
            acts = acts || other == body;
            crosses = crosses || division.component_of_body[other] != division.component_of_body[body];
        }
        if (acts && crosses) return true;
    }
    return false;
}

}  // namespace

template <int D>
void refuse_unfit_options(const InertialessMotions<D>& motions, const Mechanism<D>& m, const SimulationOptions& options,
                          const ModularSystem<D>* modular) {
    for (const int body : motions.bodies()) {
        const std::string& name = m.bodies[body].name;
        if (modular == nullptr) {
            if (!can_balance_forces(options.formulation, options.integrator))
                refuse(name, options.formulation, options.integrator);
            const bool has_stops = !m.stops.empty() || !m.friction.empty() || m.has_contact_bristles();
            if (has_stops && options.contact_options.treatment != ContactTreatment::events)
                throw ModelError(
                    fmt::format("body '{}' moves without inertia, as the forces on it balance: leave out the "
                                "option stops, or give it mass and inertia",
                                name));
            continue;
        }
        const ComponentSettings& settings = modular->components[modular->division.component_of_body[body]]->settings;
        if (!can_balance_forces(settings.formulation, settings.integrator))
            refuse(name, settings.formulation, settings.integrator);
        if (has_force_across(m, modular->division, body))
            throw ModelError(
                fmt::format("body '{}' moves without inertia, as the forces on it balance: all these forces must lie "
                            "within its own "
                            "component; divide the mechanism elsewhere, or give the body mass and inertia",
                            name));
    }
}

template <int D>
StaticMechanism<D> make_static_mechanism(std::shared_ptr<const Mechanism<D>> mechanism, const std::vector<int>& bodies,
                                         double t) {
    if (bodies.empty()) return {std::move(mechanism), {}};
    Part<D> part;
    part.mechanism = *mechanism;
    const double mass = mechanism->mass_scale;
    const double inertia = mass * mechanism->length_scale * mechanism->length_scale;
    StaticMechanism<D> result;
    for (const int body : bodies) {
        MechanismBody<D>& changed = part.mechanism.bodies[body];
        const double added = changed.mass > 0 ? 0 : mass;
        changed.mass += added;
        changed.inertia.diagonal().array() += inertia;
        part.add_port(body);
        const Vec<D> weight = added * mechanism->gravity_at(t);
        part.port_memory.back().in(part.mechanism.initial_memory).template head<D>() = -weight;
    }
    result.further_memory.assign(
        part.mechanism.initial_memory.begin() + static_cast<std::ptrdiff_t>(mechanism->initial_memory.size()),
        part.mechanism.initial_memory.end());
    result.mechanism = std::make_shared<const Mechanism<D>>(std::move(part.mechanism));
    return result;
}

template <int D>
void balance_state(const MechanismSystem<D>& system, State& state) {
    BodyStates<D> states;
    system.export_states(state.q, state.v, states);
    InertialessMotions<D> motions(system.mechanism(), states, state.memory, state.t);
    if (motions.empty()) return;
    motions.balance(states, state.memory, state.t);
    motions.balance_velocities(states, state.memory, state.t);
    system.import_states(states, state.q, state.v);
}

#define LIMBER_INSTANTIATE(D)                                                                                       \
    template void refuse_unfit_options(const InertialessMotions<D>&, const Mechanism<D>&, const SimulationOptions&, \
                                       const ModularSystem<D>*);                                                    \
    template StaticMechanism<D> make_static_mechanism(std::shared_ptr<const Mechanism<D>>, const std::vector<int>&, \
                                                      double);                                                      \
    template void balance_state(const MechanismSystem<D>&, State&);
LIMBER_INSTANTIATE(2)
LIMBER_INSTANTIATE(3)
#undef LIMBER_INSTANTIATE

}  // namespace limber
