// Static equilibrium with stops: what leans on them and what does not.

#include <gtest/gtest.h>

#include <cmath>

#include "support/models.hpp"

namespace limber::testing {
namespace {

Simulation at_rest(const std::string& yaml) {
    SimulationOptions chosen = options("global", "trapezoidal");
    chosen.from_equilibrium = true;
    return Simulation(read(yaml), chosen);
}

TEST(EquilibriumWithStops, BallLiesOnTheFloor) {
    Simulation simulation = at_rest(R"(
limber: 1
plane: xy
gravity: [0, -10]
bodies: {ball: {at: [0.3, 2], disc: {radius: 0.1, mass: 2}}}
stops: {floor: {wall: [ground, ball], radius: 0.1, restitution: 0.8}}
sensors: {place: {position: ball}, force: {contact-force: floor}}
)");
    EXPECT_NEAR(sense(simulation, "place.y"), 0.1, 1e-8);
    EXPECT_NEAR(sense(simulation, "force"), 20, 1e-6);
}

// A rod that falls onto a limit, and a weight that stretches a spring, but not up to the other stop.
TEST(EquilibriumWithStops, LimitsHoldOnlyWhatReachesThem) {
    Simulation simulation = at_rest(R"(
limber: 1
plane: xy
gravity: [0, -10]
bodies:
  ground: {markers: {hook: [3, 0], rail: [3, -1]}}
  rod: {rod: {from: [0, 0], to: [1, 0], mass: 2}}
  weight: {at: [3, -1], box: {size: [0.1, 0.1], mass: 1}}
joints:
  pin: {revolute: [ground, rod.from]}
  rail: {prismatic: [ground.rail, weight], axis: [0, 1]}
forces:
  spring: {spring: [ground.hook, weight], stiffness: 100, free-length: 1}
stops:
  rest: {limit: pin.angle, min: -30 deg}
  bottom: {limit: rail.displacement, min: -0.5}
sensors:
  angle: {coordinate: pin.angle}
  moment: {contact-force: rest}
  place: {position: weight}
  untouched: {contact-force: bottom}
)");
    EXPECT_NEAR(sense(simulation, "angle"), -pi / 6, 1e-8);
    EXPECT_NEAR(sense(simulation, "moment"), 2 * 10 * 0.5 * std::cos(pi / 6), 1e-6);
    EXPECT_NEAR(sense(simulation, "place.y"), -1.1, 1e-8);
    EXPECT_EQ(sense(simulation, "untouched"), 0);
}

TEST(EquilibriumWithStops, CableHangsDown) {
    Simulation simulation = at_rest(R"(
limber: 1
plane: xy
gravity: [0, -10]
bodies: {weight: {at: [0.3, 0.1], point: {mass: 1.5}}}
stops: {rope: {cable: [ground, weight], length: 1}}
sensors: {place: {position: weight}, tension: {contact-force: rope}}
)");
    EXPECT_NEAR(sense(simulation, "place.x"), 0, 1e-6);
    EXPECT_NEAR(sense(simulation, "place.y"), -1, 1e-8);
    EXPECT_NEAR(sense(simulation, "tension"), 15, 1e-5);
}

}  // namespace
}  // namespace limber::testing
