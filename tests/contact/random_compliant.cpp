// Random mechanisms whose bodies are balls that fall onto a compliant floor (RapidCheck): the floor pushes and rubs no
// more than friction allows, energy does not grow, and the same run gives the same bits.

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>

#include "support/energy.hpp"
#include "support/model_text.hpp"
#include "support/models.hpp"
#include "support/random_mechanism.hpp"

namespace limber::testing {
namespace {

constexpr double radius = 0.15;
constexpr double friction = 0.4;
constexpr double step = 2e-4;  // small enough for rk4 to follow an impact
constexpr int steps = 400;
constexpr double stiffness = 2e4;

void add_floor(Model& model, const Simulation& start, ContactRule rule, double gap) {
    const int up = model.planar ? 1 : 2;
    double lowest = INFINITY;
    for (const auto handle : model.bodies.handles()) {
        if (handle == model.ground()) continue;
        Body& body = model.bodies.get(handle);
        lowest = std::min(lowest, start.body_frame(body.name).position[up]);
        body.shapes = {SphereShape{.radius = radius}};
    }
    PlaneShape plane;
    plane.placement.position[up] = Number(lowest - radius - gap);
    model.bodies.get(model.ground()).shapes = {plane};
    std::visit(
        [&](auto& contact) {
            contact.between.second.bodies = {model.ground()};
            if constexpr (requires { contact.slip; }) {
                contact.resistance = {.friction = friction, .includes_joined = true};
                contact.slip.slip = 0.05;
            }
        },
        rule.type);
    model.contacts.add(rule);
}

// How fast the fastest body moves.
double fastest(const MotionView& view) {
    double speed = 0;
    for (const Vec3& velocity : view.velocities) speed = std::max(speed, velocity.norm());
    return speed;
}

/// Whether anything touched the floor.
bool fall_onto_a_floor() {
    const bool planar = *rc::gen::arbitrary<bool>();
    Model model = read(RandomMechanism(planar, Topology::tree).draw());
    RC_PRE(model.drivers.size() == 0U);
    const auto [formulation, coordinates] = *rc::gen::elementOf(formulations_in_coordinates());
    RC_PRE(formulation != "penalty");
    const SimulationOptions chosen = options(formulation, "rk4", coordinates);
    // From pressed down by five millimetres to as far away.
    const double gap = 1e-3 * *rc::gen::inRange(-5, 6);
    add_floor(model, Simulation(model, chosen),
              *rc::gen::elementOf(std::vector<ContactRule>{
                  LinearContact{.name = "floor", .stiffness = stiffness, .damping = 50.0},
                  HertzContact{.name = "floor", .power = {.stiffness = stiffness}},
                  HuntCrossleyContact{.name = "floor", .power = {.stiffness = stiffness}, .factor = 0.5}}),
              gap);
    RC_LOG() << write_model_text(model) << formulation << " " << coordinates;
    Simulation first(model, chosen);
    Simulation second(model, chosen);
    double last = mechanical_energy(first);
    double largest = std::max(1.0, std::abs(last));
    MotionView view;
    first.observer().compute_view(first.state(), false, view);
    std::size_t contacts = view.contacts.size();
    bool touches = false;
    for (int k = 0; k < steps; ++k) {
        const StepReport report = first.step(step);
        if (!report.ok) RC_FAIL(report.reason);
        RC_ASSERT(second.step(step).ok);
        first.observer().compute_view(first.state(), false, view);
        const double now = mechanical_energy(first);
        largest = std::max(largest, std::abs(now));
        // A ball that begins or ceases to touch does so within a step: what its spring takes up on the way of a step is
        // not resolved. Between that, rk4 errs by (w h)^5/120 of the energy at w = sqrt(k/m), no more than 140 per
        // second: 4e-10; where light parts turn w is ten times that at most.
        double allowed = 1e-5 * largest;
        if (view.contacts.size() != contacts)
            allowed += static_cast<double>(view.velocities.size()) * stiffness * std::pow(fastest(view) * step, 2) / 2;
        RC_ASSERT(now <= last + allowed);
        contacts = view.contacts.size();
        last = now;
        for (const ContactLoad& contact : view.contacts) {
            touches = true;
            const double normal = contact.force.dot(contact.normal);
            RC_ASSERT(normal >= 0);
            RC_ASSERT((contact.force - normal * contact.normal).norm() <= friction * normal * (1 + 1e-9) + 1e-12);
        }
    }
    RC_ASSERT(same_bits(first.state().q, second.state().q));
    RC_ASSERT(same_bits(first.state().v, second.state().v));
    return touches;
}

TEST(RandomCompliantContacts, ObeyTheirLaws) {
    int runs = 0;
    int touched = 0;
    EXPECT_TRUE(rc::check([&] {
        touched += fall_onto_a_floor() ? 1 : 0;
        ++runs;
    }));
    // A body that is held may never come down; half of them touch from the start.
    EXPECT_GE(touched, 0.6 * runs);
}

}  // namespace
}  // namespace limber::testing
