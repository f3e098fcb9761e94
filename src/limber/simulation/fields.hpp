#pragma once
// The fields of a state, of the options and of what a run has counted, listed once for all that save, compare or fingerprint them:
//
//   visit_fields(state, [](const char* name, auto& field) { ... });
//
// Each list takes its struct apart by a structured binding, which names every field: one that is added to the struct, and not here, does
// not compile. Fields that change no result are taken apart, too, but not visited.

#include <concepts>
#include <type_traits>

#include "limber/dynamics/system/state.hpp"
#include "limber/simulation/energy_record.hpp"
#include "limber/simulation/options.hpp"

namespace limber {

template <class T, class Of>
concept MaybeConst = std::same_as<std::remove_const_t<T>, Of>;

template <MaybeConst<ContactPoint> T, class F>
void visit_fields(T& contact, F&& f) {
    auto& [body_a, body_b, shape_a, shape_b, rule, point, normal, gap, force, torque, slides] = contact;
    f("body_a", body_a);
    f("body_b", body_b);
    f("shape_a", shape_a);
    f("shape_b", shape_b);
    f("rule", rule);
    f("point", point);
    f("normal", normal);
    f("gap", gap);
    f("force", force);
    f("torque", torque);
    f("slides", slides);
}

template <MaybeConst<State> T, class F>
void visit_fields(T& state, F&& f) {
    auto& [t, q, v, a, lambda, memory, scheme_a, previous_a, previous_step, contacts] = state;
    f("t", t);
    f("q", q);
    f("v", v);
    f("a", a);
    f("lambda", lambda);
    f("memory", memory);
    f("scheme_a", scheme_a);
    f("previous_a", previous_a);
    f("previous_step", previous_step);
    f("contacts", contacts);
}

template <MaybeConst<EnergyRecord> T, class F>
void visit_fields(T& record, F&& f) {
    auto& [start, available, weight, least_kinetic, most_kinetic, least_work, most_work, contact_loss, drift] = record;
    f("start", start);
    f("available", available);
    f("weight", weight);
    f("least_kinetic", least_kinetic);
    f("most_kinetic", most_kinetic);
    f("least_work", least_work);
    f("most_work", most_work);
    f("contact_loss", contact_loss);
    f("drift", drift);
}

template <MaybeConst<LargestTurn> T, class F>
void visit_fields(T& turn, F&& f) {
    auto& [body, angle, step] = turn;
    f("body", body);
    f("angle", angle);
    f("step", step);
}

// Options have the names under which they are set, where there is one.

template <MaybeConst<FormulationOptions> T, class F>
void visit_fields(T& options, F&& f) {
    auto& [penalty, frequency, damping, stabilisation, use_approximate_tangent, max_iterations, tolerance] = options;
    f("penalty", penalty);
    f("frequency", frequency);
    f("damping", damping);
    f("stabilisation", stabilisation);
    f("tangent", use_approximate_tangent);
    f("max-iterations", max_iterations);
    f("tolerance", tolerance);
}

template <MaybeConst<IntegratorOptions> T, class F>
void visit_fields(T& options, F&& f) {
    auto& [newmark_xi, hht_delta, rho_infinity, reference_tolerance, corrector_passes, max_halvings, step_control] =
        options;
    f("xi", newmark_xi);
    f("delta", hht_delta);
    f("rho", rho_infinity);
    f("reference-tolerance", reference_tolerance);
    f("passes", corrector_passes);
    f("halvings", max_halvings);
    f("step-control", step_control);
}

template <MaybeConst<ContactOptions> T, class F>
void visit_fields(T& options, F&& f) {
    auto& [treatment, stiffness, impact_law, shortest_flight] = options;
    f("stops", treatment);
    f("stop-stiffness", stiffness);
    f("impacts", impact_law);
    f("shortest-flight", shortest_flight);
}

/// Without threads and processes, which change no bit.
template <MaybeConst<ModularOptions> T, class F>
void visit_fields(T& options, F&& f) {
    auto& [division, gluing, coupling, course, tolerance, rho, joint_rho, use_iteration, max_questions, threads,
           exchange] = options;
    f("division", division);
    f("gluing", gluing);
    f("coupling", coupling);
    f("course", course);
    f("gluing-tolerance", tolerance);
    f("gluing-rho", rho);
    f("joint-rho", joint_rho);
    f("gluing-iteration", use_iteration);
    f("gluing-questions", max_questions);
}

template <MaybeConst<SimulationOptions> T, class F>
void visit_fields(T& options, F&& f) {
    auto& [formulation, integrator, coordinates, from_equilibrium, formulation_options, integrator_options,
           contact_options, energy_bound, modular] = options;
    f("formulation", formulation);
    f("integrator", integrator);
    f("coordinates", coordinates);
    f("from-equilibrium", from_equilibrium);
    visit_fields(formulation_options, f);
    visit_fields(integrator_options, f);
    visit_fields(contact_options, f);
    f("energy-bound", energy_bound);
    visit_fields(modular, f);
}

}  // namespace limber
