#pragma once
// The fields of a state and of what a run has counted, listed once for all that save, compare or fingerprint them:
//
//   visit_fields(state, [](const char* name, auto& field) { ... });
//
// Each list takes its struct apart by a structured binding, which names every field: one that is added to the struct,
// and not here, does not compile.

#include <concepts>
#include <type_traits>

#include "limber/dynamics/system/state.hpp"
#include "limber/simulation/energy_record.hpp"

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
    auto& [start, available, weight, least_kinetic, max_kinetic, least_work, max_work, contact_loss, drift] = record;
    f("start", start);
    f("available", available);
    f("weight", weight);
    f("least_kinetic", least_kinetic);
    f("max_kinetic", max_kinetic);
    f("least_work", least_work);
    f("max_work", max_work);
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

}  // namespace limber
