// What semi-implicit Euler keeps beyond its order (which is in order.cpp): energy over long times where it is
// symplectic, free turning exactly.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "support/measures.hpp"
#include "support/models.hpp"

namespace limber::testing {
namespace {

constexpr const char* scheme = "semi-implicit-euler";

double total_energy(Simulation& simulation) {
    const Energies e = simulation.observer().compute_energies(simulation.state());
    return e.kinetic + e.potential;
}

// How far energy gets from `from` until a given time.
double largest_deviation(Simulation& simulation, double from, double until, double h) {
    double worst = 0;
    while (simulation.time() < until - 0.5 * h) {
        examples::advance_or_throw(simulation, simulation.time() + h, h);
        worst = std::max(worst, std::abs(total_energy(simulation) - from));
    }
    return worst;
}

struct Swing {
    double early = 0, late = 0;
};

Swing measure_swing(const Model& model, const SimulationOptions& o, double span, int spans, double h) {
    Simulation simulation(model, o);
    const double start = total_energy(simulation);
    Swing swing;
    swing.early = largest_deviation(simulation, start, span, h);
    examples::advance_or_throw(simulation, (spans - 1) * span, h);
    swing.late = largest_deviation(simulation, start, spans * span, h);
    return swing;
}

TEST(SemiImplicitEuler, SwingsEnergyOfAPendulumInFirstOrderAndForever) {
    const Model model = example("simple-pendulum.yaml");
    for (const char* formulation : {"articulated-body", "composite-body"}) {
        const Swing coarse = measure_swing(model, options(formulation, scheme), 10, 50, 0.01);
        const Swing fine = measure_swing(model, options(formulation, scheme), 10, 50, 0.005);
        EXPECT_GT(coarse.early, 0.1) << formulation;
        EXPECT_NEAR(coarse.late / coarse.early, 1, 0.05) << formulation;
        EXPECT_NEAR(fine.late / fine.early, 1, 0.05) << formulation;
        EXPECT_NEAR(fine.early / coarse.early, 0.5, 0.05) << formulation;
    }
}

TEST(SemiImplicitEuler, KeepsAPlanetOnItsOrbit) {
    const Swing swing = measure_swing(example("orbit.yaml"), options("augmented-lagrangian", scheme), 2, 50, 0.001);
    EXPECT_GT(swing.early, 0.1);
    EXPECT_NEAR(swing.late / swing.early, 1, 0.02);
}

// Constant masses make the step symplectic for every mechanism, loops and chaos included.
class InNaturalCoordinates : public ::testing::TestWithParam<std::tuple<std::string, std::string>> {};

TEST_P(InNaturalCoordinates, EnergyDoesNotDrift) {
    const auto& [name, formulation] = GetParam();
    const Swing swing = measure_swing(example(name), options(formulation, scheme, "natural"), 10, 10, 0.005);
    EXPECT_GT(swing.early, 1e-3);
    EXPECT_LT(swing.late, 1.3 * swing.early);
}

INSTANTIATE_TEST_SUITE_P(SemiImplicitEuler, InNaturalCoordinates,
                         ::testing::Combine(::testing::Values("double-pendulum.yaml", "loops/bricard.yaml"),
                                            ::testing::Values("augmented-lagrangian", "baumgarte", "null-space")),
                         [](const auto& info) {
                             return test_name(std::get<0>(info.param) + "_" + std::get<1>(info.param));
                         });

// Euler parameters go along great circles: a ball that turns freely turns by exactly as much as it should, at any step.
TEST(SemiImplicitEuler, TurnsAFreeBallExactly) {
    const Model model = read(R"(
limber: 1
gravity: none
bodies: {ball: {sphere: {radius: 0.1, mass: 1}, angular-velocity: [3, 4, 12], markers: {x: [1, 0, 0]}}}
sensors: {x: {position: ball.x}, spin: {angular-velocity: ball}}
)");
    constexpr double end = 7;
    const Vec3 spin(3, 4, 12);
    const Vec3 expected = Eigen::AngleAxisd(spin.norm() * end, spin.normalized()) * Vec3::UnitX();
    for (const auto& [formulation, coordinates] : formulations_in_coordinates()) {
        if (coordinates == "natural") continue;
        Simulation simulation(model, options(formulation, scheme, coordinates));
        ASSERT_TRUE(simulation.advance(end, 0.1).ok);
        const Vec3 x(sense(simulation, "x.x"), sense(simulation, "x.y"), sense(simulation, "x.z"));
        // Penalty is limited by its penalty.
        const double tolerance = formulation == "penalty" ? 1e-6 : 1e-10;
        EXPECT_LT((x - expected).norm(), tolerance) << formulation << " " << coordinates;
        EXPECT_NEAR(sense(simulation, "spin.x"), 3, tolerance) << formulation << " " << coordinates;
    }
}

}  // namespace
}  // namespace limber::testing
