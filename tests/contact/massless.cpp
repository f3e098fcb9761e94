// Time-stepping with bodies that have no mass, or no inertia about an axis: forces and contacts there act on others
// through the joints.

#include <gtest/gtest.h>

#include <cmath>

#include "support/models.hpp"
#include "support/refusal.hpp"
#include "support/stepping.hpp"

namespace limber {
namespace {

using namespace testing;

constexpr double g = 9.81;

// A force on a massless handle moves the cart it is fixed to: x = F t^2 / (2 m).
TEST(MasslessTimeStepping, ForceOnAMasslessBodyMovesWhatItIsFixedTo) {
    Simulation s = stepping(R"(
limber: 1
plane: xy
bodies:
  cart: {mass: 4, inertia: 1}
  handle: {at: [0.5, 0.2]}
joints:
  rail: {prismatic: [ground, cart], at: [0, 0], axis: [1, 0]}
  weld: {fixed: [cart, handle], at: [0.5, 0.2]}
forces: {pull: {force: handle, vector: [6, 1]}}
sensors: {place: {coordinate: rail.displacement}}
)");
    run(s, 1, 1e-3);
    EXPECT_NEAR(sense(s, "place"), 0.5 * 6.0 / 4, 1e-9);
}

// Torque M on a pinion without inertia that drives a wheel of inertia I: the wheel turns with ratio M / I.
TEST(MasslessTimeStepping, TorqueOnAPinionWithoutInertiaTurnsTheWheel) {
    for (const std::string pinion : {"{at: [1, 0]}", "{mass: 2, at: [1, 0]}"}) {
        Simulation s = stepping(R"(
limber: 1
plane: xy
bodies:
  wheel: {mass: 3, inertia: 0.5}
  pinion: )" + pinion + R"(
joints:
  slow: {revolute: [ground, wheel], at: [0, 0]}
  fast: {revolute: [ground, pinion], at: [1, 0]}
  mesh: {gear: [slow.angle, fast.angle], ratio: -4}
forces: {drive: {motor: fast.angle, law: 0.3}}
sensors: {angle: {coordinate: slow.angle}}
)");
        run(s, 1, 1e-3);
        EXPECT_NEAR(sense(s, "angle"), -0.5 * 4 * 0.3 / 0.5, 1e-6) << pinion;
    }
}

// A mass of 2 kg on a massless foot, held upright by a slide, falls 0.2 m, does not bounce and rests: the floor bears
// its weight.
TEST(MasslessTimeStepping, MasslessFootBearsTheWeightAboveIt) {
    Simulation s = stepping(R"(
limber: 1
bodies:
  ground: {shapes: [{plane: {}}]}
  load: {mass: 2, inertia: [1, 1, 1], at: [0, 0, 1]}
  foot: {at: [0, 0, 0.3], shapes: [{sphere: {radius: 0.1}}]}
joints:
  guide: {prismatic: [ground, load], at: [0, 0, 1], axis: [0, 0, 1]}
  ankle: {fixed: [load, foot], at: [0, 0, 0.3]}
contacts: {floor: {rigid: [foot, ground], friction: 0.5}}
sensors:
  place: {position: foot}
  force: {contact: floor}
)");
    const double fall = std::sqrt(2 * 0.2 / g);
    run(s, 0.5 * fall, 1e-3);
    EXPECT_NEAR(sense(s, "place.z"), 0.3 - 0.2 / 4, 1e-6);
    run(s, 1, 1e-3);
    EXPECT_NEAR(sense(s, "place.z"), 0.1, 1e-7);
    double force = 0;
    for (const ContactPoint& point : s.state().contacts) force += point.force.dot(point.normal);
    EXPECT_NEAR(std::abs(force), 2 * g, 1e-6);
}

// Thin rods in a vehicle, as on bodies with mass: beside the second-order formula of another integrator.
TEST(MasslessTimeStepping, VehicleWithMasslessLeafSpringsRunsAsWithOtherIntegrators) {
    std::vector<double> heights;
    for (const std::string integrator : {"moreau-jean", "trapezoidal"}) {
        SimulationOptions choice = options("global", integrator);
        choice.from_equilibrium = true;
        Simulation s(example("iltis/bump-in-phase.yaml"), choice);
        ASSERT_TRUE(s.advance(0.4, 1e-3).ok) << integrator;
        heights.push_back(sense(s, "chassis.z"));
    }
    EXPECT_NEAR(heights[0], heights[1], 1e-4);
}

// What only forces determine is refused by name, in a session too.
TEST(MasslessTimeStepping, MotionWithoutInertiaIsRefused) {
    const std::string text = R"(
limber: 1
plane: xy
gravity: [0, 0]
bodies:
  node: {at: [1, 0]}
  mass: {mass: 1, inertia: 1, at: [2, 0]}
joints:
  near: {prismatic: [ground, node], at: [1, 0], axis: [1, 0]}
  far: {prismatic: [ground, mass], at: [2, 0], axis: [1, 0]}
forces:
  first: {spring: [ground, node], stiffness: 10, free-length: 0.9}
  second: {spring: [node, mass], stiffness: 10, free-length: 0.9}
)";
    const std::string message = refusal([&] { Simulation s(read(text), options("global", "moreau-jean")); });
    EXPECT_NE(message.find("'node'"), std::string::npos) << message;
    EXPECT_NE(message.find("trapezoidal"), std::string::npos) << message;
    Simulation s(read(text), options("global", "trapezoidal"));
    const std::string later = refusal([&] { s.transfer(s.model(), options("global", "moreau-jean")); });
    EXPECT_NE(later.find("'node'"), std::string::npos) << later;
}

}  // namespace
}  // namespace limber
