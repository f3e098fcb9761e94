// Random bodies thrown at each other and at a floor: Coulomb's law in every step, no gain of energy, little overlap,
// same bits twice.

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <random>

#include "limber/dynamics/system/system.hpp"
#include "support/contact_laws.hpp"
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

template <int D>
void check_scene(const std::string& text, const ContactScene& scene) {
    const Model model = read(text);
    SimulationOptions chosen;
    chosen.integrator = "moreau-jean";
    Simulation first(model, chosen);
    Simulation second(model, chosen);
    const auto& system = static_cast<const MechanismSystem<D>&>(first.system());
    CollisionWorld<D> world(system.mechanism());
    std::vector<Contact> touching;
    BodyStates<D> before;
    BodyStates<D> after;
    Energies e = first.observer().compute_energies(first.state());
    const double start = e.kinetic + e.potential;
    double last = start;
    for (int k = 0; k < 400; ++k) {
        system.export_states(first.state().q, first.state().v, before);
        RC_ASSERT(first.step(scene.step).ok);
        RC_ASSERT(second.step(scene.step).ok);
        system.export_states(first.state().q, first.state().v, after);
        check_contacts<D>(scene, first.state().contacts, before, after);
        // Impulses are found to 1e-10 of the velocities that come in.
        e = first.observer().compute_energies(first.state());
        const double now = e.kinetic + e.potential;
        RC_ASSERT(now <= last + 1e-10 * start);
        RC_ASSERT(std::abs(now + e.impact_loss - start) <= 1e-10 * start);
        last = now;
        // Of steps that are repeated where overlaps are deeper than 1/100; in 1080 scenes none was deeper than 0.03.
        world.find_contacts(after, 0, touching);
        RC_ASSERT(relative_depth(system.mechanism(), touching) <= 0.05);
    }
    RC_ASSERT(same_bits(first.state().q, second.state().q));
}

RC_GTEST_PROP(RandomContacts, ObeyTheirLaws, ()) {
    const bool planar = *rc::gen::arbitrary<bool>();
    const int bodies = *rc::gen::inRange(1, 5);
    const double friction = *rc::gen::element(0.0, 0.3, 0.8);
    const double restitution = *rc::gen::element(0.0, 0.5, 0.9, 1.0);
    const unsigned seed = *rc::gen::inRange(0, 100000);
    const std::string text = random_scene(planar, bodies, friction, restitution, seed);
    const ContactScene scene{friction, restitution, 2e-3, 0.12};
    if (planar) check_scene<2>(text, scene);
    if (!planar) check_scene<3>(text, scene);
}

}  // namespace
}  // namespace limber
