// Random trees and loops (RapidCheck): all formulations and both sets of coordinates agree on accelerations and reactions, and a
// short run keeps energy and constraints.

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>

#include "support/models.hpp"

namespace limber::testing {
namespace {

double number(int low, int high) {
    return *rc::gen::inRange(low * 1000, high * 1000) / 1000.0;
}

std::string vector(double size) {
    return fmt::format("[{}, {}, {}]", size * number(-1, 1), size * number(-1, 1), size * number(-1, 1));
}

std::string direction() {
    // Never near zero.
    return fmt::format("[{}, {}, {}]", number(-1, 1), number(-1, 1), *rc::gen::element(-1.5, 1.2));
}

const std::vector<std::string> joint_types{
    "fixed",  "revolute",      "prismatic",      "cylindrical",   "spherical",         "universal",
    "planar", "point-on-line", "point-on-plane", "parallel-axes", "constant-velocity", "helical"};

// Bodies hung one on another in random ways, sometimes closed into a loop; joints are placed where the bodies are, so they are
// consistent, and loops may be redundant.
std::string random_mechanism() {
    const int bodies = *rc::gen::inRange(1, 6);
    std::string text = "limber: 1\nbodies:\n";
    for (int i = 0; i < bodies; ++i)
        text += fmt::format(
            "  b{}: {{box: {{size: [{}, {}, {}], mass: {}}}, at: {}, xyz: {}, velocity: {}, angular-velocity: {},\n"
            "       markers: {{s: {}}}}}\n",
            i, number(1, 3) / 10, number(1, 3) / 10, number(1, 3) / 10, number(1, 4), vector(1), vector(1), vector(1),
            vector(2), vector(0.3));
    text += "joints:\n";
    const auto joint = [&](int k, const std::string& type, const std::string& a, const std::string& b) {
        text += fmt::format("  j{}: {{{}: [{}, {}], at: {}, axis: {}{}}}\n", k, type, a, b, vector(1), direction(),
                            type == "helical" ? ", pitch: 0.2" : "");
    };
    int joints = 0;
    for (int i = 0; i < bodies; ++i) {
        const int parent = *rc::gen::inRange(-1, i);
        joint(joints++, *rc::gen::elementOf(joint_types), parent < 0 ? "ground" : fmt::format("b{}", parent),
              fmt::format("b{}", i));
    }
    if (bodies > 1 && *rc::gen::arbitrary<bool>()) {
        const int a = *rc::gen::inRange(0, bodies - 1);
        joint(joints++, *rc::gen::element<std::string>("spherical", "universal", "point-on-plane", "revolute"),
              fmt::format("b{}", a), fmt::format("b{}", bodies - 1));
    }
    text += "forces:\n";
    for (int i = 0; i < bodies; ++i)
        text += fmt::format("  k{}: {{spring: [ground, b{}.s], stiffness: {}, damping: {}, free-length: 1}}\n", i, i,
                            number(1, 20), number(0, 1));
    text += "sensors:\n";
    for (int i = 0; i < bodies; ++i)
        text += fmt::format(
            "  a{}: {{acceleration: b{}.s}}\n  w{}: {{angular-acceleration: b{}}}\n"
            "  o{}: {{angular-velocity: b{}}}\n",
            i, i, i, i, i, i);
    for (int i = 0; i < joints; ++i) text += fmt::format("  r{}: {{reaction: j{}}}\n", i, i);
    return text;
}

RC_GTEST_PROP(RandomMechanism, AgreesInEveryFormulation, ()) {
    const std::string yaml = random_mechanism();
    RC_LOG() << yaml;
    const Model model = read(yaml);
    // The rank-revealing formulation sets the mark.
    Simulation exact(model, options("null-space", "rk4"));
    const std::vector<double> expected = sense_all(exact);
    double size = 1;
    for (const double v : expected) size = std::max(size, std::abs(v));
    // Frames that cannot move, or nearly so, carry forces far above their weight: there even small differences count much.
    RC_PRE(exact.compute_mobility().freedoms > 0 && size < 500);
    for (const std::string& coordinates : all_coordinates())
        for (const std::string& formulation : formulation_names()) {
            // One solve with a finite penalty reaches what the penalty allows.
            if (formulation == "penalty" || !fits(formulation, coordinates)) continue;
            Simulation s(model, options(formulation, "rk4", coordinates));
            const std::vector<double> found = sense_all(s);
            const double tolerance = 1e-6 * size;
            for (std::size_t i = 0; i < found.size(); ++i)
                if (!(std::abs(found[i] - expected[i]) < tolerance))
                    RC_FAIL(fmt::format("{} {}: {} is {} instead of {}", formulation, coordinates,
                                        s.observer().columns()[i], found[i], expected[i]));
        }
}

RC_GTEST_PROP(RandomMechanism, KeepsItsEnergyAndItsConstraints, ()) {
    const std::string yaml = random_mechanism();
    RC_LOG() << yaml;
    const std::string formulation = *rc::gen::elementOf(formulation_names());
    const std::string coordinates =
        *rc::gen::suchThat(rc::gen::elementOf(all_coordinates()), [&](const auto& c) { return fits(formulation, c); });
    RC_LOG() << formulation << " " << coordinates;
    const Model model = read(yaml);
    const auto run_with = [&](double step) {
        Simulation s(model, options(formulation, "rk4", coordinates));
        RunOptions o;
        o.until = 0.1;
        o.step = step;
        return run(s, o).summary;
    };
    const RunSummary summary = run_with(5e-4);
    RC_ASSERT(summary.ok);
    RC_ASSERT(summary.errors.position < 1e-8);
    RC_ASSERT(summary.errors.velocity < 1e-5);
    const double scale = 1 + summary.exchanged_energy;
    const double tolerance = formulation == "penalty" ? 1e-3 : 1e-5;
    if (summary.energy_drift < tolerance * scale) return;
    // Small boxes on long arms may spin fast: then the error must fall with the fourth power of the step.
    RC_ASSERT(run_with(1.25e-4).energy_drift < std::max(tolerance * scale / 256, summary.energy_drift / 100));
}

}  // namespace
}  // namespace limber::testing
