// What explicit Euler does beyond its order (which is in order.cpp): the energy that it feeds into all that swings.

#include <gtest/gtest.h>

#include <cmath>

#include "support/measures.hpp"
#include "support/models.hpp"

namespace limber::testing {
namespace {

// On x'' = -w^2 x a step turns and stretches (w x, x') by the factor 1 + i w h, so that energy is multiplied by
// 1 + w^2 h^2, exactly.
TEST(ExplicitEuler, MultipliesTheEnergyOfASpringByAClosedForm) {
    const Model model = read(R"(
limber: 1
plane: xy
gravity: [0, 0]
bodies:
  block: {mass: 2, inertia: 1, at: [0.3, 0]}
joints:
  rail: {prismatic: [ground, block], axis: [1, 0]}
forces:
  spring: {motor: rail.displacement, law: "-50*x"}
)");
    constexpr double h = 1e-3, factor = 1 + 25 * h * h;
    for (const char* formulation : {"articulated-body", "semi-recursive", "augmented-lagrangian"}) {
        Simulation simulation(model, options(formulation, "explicit-euler"));
        const auto energy = [&] {
            const Energies e = simulation.observer().compute_energies(simulation.state());
            return e.kinetic + e.potential;
        };
        const double start = energy();
        ASSERT_GT(start, 1) << formulation;
        examples::advance_or_throw(simulation, 2, h);
        EXPECT_NEAR(energy() / start, std::pow(factor, 2000), 1e-9) << formulation;
    }
}

}  // namespace
}  // namespace limber::testing
