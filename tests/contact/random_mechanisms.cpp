// Random chains with limits, on which balls and boxes fall, over a floor: joints, stops and rigid contacts in one
// problem.

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <deque>
#include <random>

#include "limber/dynamics/system/system.hpp"
#include "support/contact_laws.hpp"
#include "support/energy.hpp"
#include "support/model_text.hpp"
#include "support/models.hpp"

namespace limber {
namespace {

using namespace testing;

constexpr double h = 2e-3;
constexpr double g = 9.81;
constexpr double link_length = 0.25;

struct Scene {
    int links, bodies;
    double friction, restitution;
    unsigned seed;
};

// Links of one kilogramme from a pin at the height 0.4, hinged about y, each with a limit; solids of one kilogramme
// above them.
std::string random_mechanism(const Scene& scene) {
    std::mt19937 random(scene.seed);
    std::uniform_real_distribution<double> unit(-1, 1);
    std::string bodies = "  ground: {shapes: [{plane: {}}], markers: {pin: [0, 0, 0.4]}}\n";
    std::string joints;
    std::string stops;
    std::string sensors;
    for (int i = 0; i < scene.links; ++i) {
        bodies +=
            fmt::format("  l{}: {{rod: {{from: [{:.4f}, 0, 0.4], to: [{:.4f}, 0, 0.4], radius: 0.02, mass: 1}}}}\n", i,
                        i * link_length, (i + 1) * link_length);
        joints += fmt::format("  j{}: {{revolute: [{}, l{}.from], axis: [0, 1, 0]}}\n", i,
                              i == 0 ? "ground.pin" : fmt::format("l{}.to", i - 1), i);
        stops += fmt::format("  s{0}: {{limit: j{0}.angle, min: {1:.3f}, max: {2:.3f}, restitution: {3}}}\n", i,
                             -0.3 + 0.2 * unit(random), 0.5 + 0.4 * unit(random), scene.restitution);
        sensors += fmt::format("  gap{0}: {{gap: s{0}}}\n", i);
    }
    for (int i = 0; i < scene.bodies; ++i) {
        const double size = 0.06 + 0.02 * unit(random);
        const std::string solid =
            random() % 2 == 0 ? fmt::format("sphere: {{radius: {:.3f}, mass: 1}}", size)
                              : fmt::format("box: {{size: [{0:.3f}, {0:.3f}, {1:.3f}], mass: 1}}", size, 1.4 * size);
        bodies += fmt::format(
            "  b{}: {{{}, at: [{:.3f}, {:.3f}, {:.3f}], xyz: [{:.2f}, {:.2f}, 0], velocity: [0, 0, {:.2f}]}}\n", i,
            solid, 0.1 + 0.15 * i + 0.02 * unit(random), 0.01 * unit(random), 0.55 + 0.02 * unit(random), unit(random),
            unit(random), -1 - unit(random));
    }
    return fmt::format(
        "limber: 1\nbodies:\n{}joints:\n{}stops:\n{}contacts: {{all: {{rigid: [all, all], friction: {}, restitution: "
        "{}}}}}\n"
        "sensors:\n{}",
        bodies, joints, stops, scene.friction, scene.restitution, sensors);
}

RC_GTEST_PROP(RandomMechanisms, WithLimitsAndContactsObeyTheirLaws, ()) {
    Scene scene;
    scene.links = *rc::gen::inRange(1, 4);
    scene.bodies = *rc::gen::inRange(1, 4);
    scene.friction = *rc::gen::element(0.0, 0.3, 0.8);
    scene.restitution = *rc::gen::element(0.0, 0.5);
    scene.seed = *rc::gen::inRange(0, 100000);
    const Model model = read(random_mechanism(scene));
    SimulationOptions chosen;
    chosen.integrator = "moreau-jean";
    Simulation first(model, chosen);
    Simulation second(model, chosen);
    const auto& system = static_cast<const MechanismSystem<3>&>(first.system());
    CollisionWorld<3> world(system.mechanism());
    std::vector<Contact> touching;
    BodyStates<3> states;
    const auto fastest_rate = [&] {
        system.export_states(first.state().q, first.state().v, states);
        double rate = 0;
        for (const auto& body : states)
            rate = std::max({rate, body.angular_velocity.norm(), body.velocity.norm() / link_length});
        return rate;
    };
    const double weight = g * (scene.links + scene.bodies);
    const double allowed_overlap = 1e-7 * system.mechanism().length_scale;
    double last = mechanical_energy(first);
    double turned = 0;  // the most in the last three steps
    std::deque<double> turns(3, h * fastest_rate());
    bool touches = false;
    for (int k = 0; k < 300; ++k) {
        const StepReport report = first.step(h);
        if (!report.ok) RC_FAIL(report.reason);
        RC_ASSERT(second.step(h).ok);
        turns.push_back(h * fastest_rate());
        turns.pop_front();
        turned = *std::max_element(turns.begin(), turns.end());
        // Points move along straight lines within a step, by which they leave their circles by r (w h)^2/2. Joints take
        // them back, and what then overlaps is parted in the step after, which lifts it by as much at most.
        const double off_circle = turned * turned / 2;
        const double now = mechanical_energy(first);
        RC_ASSERT(now <= last + weight * (link_length * scene.links * off_circle + allowed_overlap));
        last = now;
        // Each end of a link may be off by that, and an angle is one between two links.
        for (int i = 0; i < scene.links; ++i)
            RC_ASSERT(sense(first, fmt::format("gap{}", i)) >= -4 * scene.links * off_circle - allowed_overlap);
        for (const ContactPoint& c : first.state().contacts) {
            const double normal = c.force.dot(c.normal);
            RC_ASSERT(normal >= 0);
            RC_ASSERT((c.force - normal * c.normal).norm() <= scene.friction * normal * (1 + 1e-12) + 1e-12);
            touches = true;
        }
        world.find_contacts(states, 0, touching);
        RC_ASSERT(relative_depth(system.mechanism(), touching) <= 0.05);
    }
    RC_ASSERT(same_bits(first.state().q, second.state().q));
    RC_ASSERT(touches);
}

}  // namespace
}  // namespace limber
