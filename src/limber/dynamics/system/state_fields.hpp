#pragma once
// The fields of a state, listed once for all that save, compare or fingerprint them:
//
//   visit_fields(state, [](const char* name, auto& field) { ... });
//
// Each list takes its struct apart by a structured binding, which names every field: one that is added to the struct,
// and not here, does not compile.

#include <concepts>
#include <type_traits>

#include "limber/dynamics/system/state.hpp"

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

}  // namespace limber
