// Random mechanisms whose bodies are balls that fall onto a compliant floor (RapidCheck): the floor pushes and rubs no more than friction allows, energy
// does not grow, and the same run gives the same bits.

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>

#include "support/model_text.hpp"
#include "support/models.hpp"
#include "support/random_mechanism.hpp"

namespace limber::testing {
namespace {

constexpr double radius = 0.15;
constexpr double friction = 0.4;
constexpr double step = 2e-4;  // small enough for rk4 to follow an impact
constexpr int steps = 400;

void add_floor(Model& model, const Simulation& start, ContactRule::Law law) {
    const int up = model.planar ? 1 : 2;
    double lowest = INFINITY;
    for (const auto handle : model.bodies.handles()) {
        if (handle == model.ground()) continue;
        Body& body = model.bodies.get(handle);
        lowest = std::min(lowest, start.body_frame(body.name).position[up]);
        ContactShape ball;
        ball.size = {Number(radius)};
        body.shapes = {ball};
    }
    ContactShape plane;
    plane.kind = ContactShape::Kind::plane;
    plane.placement.position[up] = Number(lowest - radius - 0.01);
    model.bodies.get(model.ground()).shapes = {plane};
    ContactRule rule;
    rule.name = "floor";
    rule.law = law;
    rule.second = {model.ground()};
    rule.includes_joined = true;
    rule.numbers = {{"stiffness", Number(2e4)}, {"friction", Number(friction)}, {"slip", Number(0.05)}};
    if (law == ContactRule::Law::hunt_crossley) rule.numbers["factor"] = Number(0.5);
    if (law == ContactRule::Law::linear) rule.numbers["damping"] = Number(50.0);
    model.contacts.add(rule);
}

RC_GTEST_PROP(RandomCompliantContacts, ObeyTheirLaws, ()) {
    const bool planar = *rc::gen::arbitrary<bool>();
    Model model = read(RandomMechanism(planar, Topology::tree).draw());
    RC_PRE(model.drivers.size() == 0U);
    const auto [formulation, coordinates] = *rc::gen::elementOf(formulations_in_coordinates());
    RC_PRE(formulation != "penalty");
    const SimulationOptions chosen = options(formulation, "rk4", coordinates);
    add_floor(model, Simulation(model, chosen),
              *rc::gen::element(ContactRule::Law::linear, ContactRule::Law::hertz, ContactRule::Law::hunt_crossley));
    RC_LOG() << write_model_text(model) << formulation << " " << coordinates;
    Simulation first(model, chosen);
    Simulation second(model, chosen);
    const auto energy = [](Simulation& s) {
        const Energies e = s.observer().compute_energies(s.state());
        return e.kinetic + e.potential;
    };
    const double start = energy(first);
    double largest = 1;  // what passes through the contacts
    double last = start;
    MotionView view;
    bool touches = false;
    for (int k = 0; k < steps; ++k) {
        const StepReport report = first.step(step);
        if (!report.ok) RC_FAIL(report.reason);
        RC_ASSERT(second.step(step).ok);
        const double now = energy(first);
        largest = std::max(largest, std::abs(now));
        RC_ASSERT(now <= last + 1e-4 * largest);
        last = now;
        first.observer().compute_view(first.state(), false, view);
        for (const ContactLoad& contact : view.contacts) {
            touches = true;
            const double normal = contact.force.dot(contact.normal);
            RC_ASSERT(normal >= 0);
            RC_ASSERT((contact.force - normal * contact.normal).norm() <= friction * normal * (1 + 1e-9) + 1e-12);
        }
    }
    RC_CLASSIFY(touches, "touches");
    RC_ASSERT(last <= start + 1e-3 * largest);
    RC_ASSERT(same_bits(first.state().q, second.state().q));
    RC_ASSERT(same_bits(first.state().v, second.state().v));
}

}  // namespace
}  // namespace limber::testing
