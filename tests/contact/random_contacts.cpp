// Random bodies thrown at each other and at a floor: Coulomb's law in every step, no gain of energy, little overlap, same bits twice.

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <random>

#include "support/model_text.hpp"

namespace limber {
namespace {

using namespace testing;

std::string random_scene(bool planar, int bodies, double friction, double restitution, unsigned seed) {
    std::mt19937 random(seed);
    std::uniform_real_distribution<double> unit(-1, 1);
    std::string text = planar ? "limber: 1\nplane: xy\nbodies:\n" : "limber: 1\nbodies:\n";
    text += "  ground: {shapes: [{plane: {}}]}\n";
    for (int i = 0; i < bodies; ++i) {
        const double size = 0.08 + 0.03 * unit(random);
        const double up = 0.25 * (i + 1);
        if (planar) {
            const std::string solid = i % 2 == 0
                                          ? fmt::format("disc: {{radius: {:.3f}, mass: 1}}", size)
                                          : fmt::format("box: {{size: [{:.3f}, {:.3f}], mass: 1}}", size, 0.7 * size);
            text += fmt::format("  b{}: {{{}, at: [{:.3f}, {:.3f}], angle: {:.3f}, velocity: [{:.3f}, {:.3f}]}}\n", i,
                                solid, 0.05 * unit(random), up, unit(random), unit(random), unit(random));
        } else {
            const char* kinds[] = {"sphere: {{radius: {0:.3f}, mass: 1}}",
                                   "box: {{size: [{0:.3f}, {0:.3f}, {1:.3f}], mass: 1}}",
                                   "cylinder: {{radius: {0:.3f}, length: {1:.3f}, mass: 1}}"};
            const std::string solid = fmt::format(fmt::runtime(kinds[random() % 3]), size, 1.3 * size);
            text += fmt::format(
                "  b{}: {{{}, at: [{:.3f}, {:.3f}, {:.3f}], xyz: [{:.3f}, {:.3f}, {:.3f}], velocity: "
                "[{:.3f}, 0, {:.3f}], angular-velocity: [{:.2f}, {:.2f}, 0]}}\n",
                i, solid, 0.05 * unit(random), 0.05 * unit(random), up, unit(random), unit(random), unit(random),
                unit(random), unit(random), 3 * unit(random), 3 * unit(random));
        }
    }
    return text + fmt::format("contacts: {{all: {{rigid: [all, all], friction: {}, restitution: {}}}}}\n", friction,
                              restitution);
}

RC_GTEST_PROP(RandomContacts, ObeyTheirLaws, ()) {
    const bool planar = *rc::gen::arbitrary<bool>();
    const int bodies = *rc::gen::inRange(1, 5);
    const double friction = *rc::gen::element(0.0, 0.3, 0.8);
    const double restitution = *rc::gen::element(0.0, 0.5, 0.9);
    const unsigned seed = *rc::gen::inRange(0, 100000);
    const Model model = read(random_scene(planar, bodies, friction, restitution, seed));
    SimulationOptions chosen;
    chosen.integrator = "moreau-jean";
    Simulation first(model, chosen);
    Simulation second(model, chosen);
    const auto energy = [](Simulation& s) {
        const Energies e = s.observer().compute_energies(s.state());
        return e.kinetic + e.potential;
    };
    const double h = 2e-3;
    const double start = energy(first);
    double last = start;
    for (int k = 0; k < 400; ++k) {
        RC_ASSERT(first.step(h).ok);
        RC_ASSERT(second.step(h).ok);
        const double now = energy(first);
        RC_ASSERT(now <= last + 1e-3 * start);
        last = now;
        for (const ContactPoint& c : first.state().contacts) {
            const double normal = c.force.dot(c.normal);
            RC_ASSERT(normal >= 0);
            RC_ASSERT((c.force - normal * c.normal).norm() <= friction * normal * (1 + 1e-6) + 1e-9);
            RC_ASSERT(c.gap > -1e-7);  // what was deeper has been parted
        }
    }
    RC_ASSERT(same_bits(first.state().q, second.state().q));
    RC_ASSERT(energy(first) <= start);
}

}  // namespace
}  // namespace limber
