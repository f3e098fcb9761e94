// Joint reactions against statics and textbook dynamics: frame, sign, point of action, and the minimum-norm choice.

#include <gtest/gtest.h>

#include <cmath>

#include "support/models.hpp"

namespace limber::testing {
namespace {

constexpr double g = 9.81;

TEST(Reactions, CarryTheWeightOfACantilever) {
    // A beam of 2 m and 3 kg clamped to the ground: the ground pushes up with the weight and holds its moment.
    const std::string yaml = R"(
limber: 1
bodies:
  beam: {box: {size: [2, 0.1, 0.1], mass: 3}, at: [1, 0, 0]}
joints:
  clamp: {fixed: [FIRST, SECOND], at: [0, 0, 0], axis: [0, 0, 1]}
sensors: {r: {reaction: clamp}}
)";
    const auto with = [&](const std::string& first, const std::string& second) {
        std::string text = yaml;
        text.replace(text.find("FIRST"), 5, first);
        text.replace(text.find("SECOND"), 6, second);
        return read(text);
    };
    for (const std::string& formulation : formulation_names()) {
        Simulation on_beam(with("ground", "beam"), options(formulation, "rk4"));
        EXPECT_NEAR(sense(on_beam, "r.fz"), 3 * g, 1e-6);
        EXPECT_NEAR(sense(on_beam, "r.fx"), 0, 1e-6);
        EXPECT_NEAR(sense(on_beam, "r.ty"), -3 * g, 1e-6);  // weight at x = 1 turns about +y; the clamp resists
        // With the bodies exchanged the reaction is that of the beam on the ground.
        Simulation on_ground(with("beam", "ground"), options(formulation, "rk4"));
        EXPECT_NEAR(sense(on_ground, "r.fz"), -3 * g, 1e-6);
        EXPECT_NEAR(sense(on_ground, "r.ty"), 3 * g, 1e-6);
    }
}

TEST(Reactions, OfAPendulumFollowTheTextbook) {
    // Released from the horizontal: at the angle a below it the rod pulls with 3 m g sin(a) towards the pivot.
    for (const std::string& formulation : formulation_names()) {
        Simulation simulation(example("simple-pendulum.yaml"), options(formulation, "rk4"));
        ASSERT_TRUE(simulation.advance(0.4, 1e-3).ok);
        const double x = sense(simulation, "tip.x");
        const double y = sense(simulation, "tip.y");
        // Reaction of the ground on the rod: towards the pivot, that is along -tip.
        const double tension = 3 * g * -y;
        EXPECT_NEAR(sense(simulation, "tension.fx"), -tension * x, 1e-5) << formulation;
        EXPECT_NEAR(sense(simulation, "tension.fy"), -tension * y, 1e-5) << formulation;
        EXPECT_NEAR(sense(simulation, "tension.tz"), 0, 1e-6) << formulation;
    }
}

TEST(Reactions, InMarkerAxesTurnWithTheFirstMarker) {
    Simulation simulation(read(R"(
limber: 1
bodies:
  block: {box: {size: [0.1, 0.1, 0.1], mass: 2}}
joints:
  rail: {prismatic: [ground, block], axis: [1, 0, 1]}
sensors: {world: {reaction: rail}, marker: {reaction: rail, axes: marker}}
)"));
    // A block on a frictionless rail at 45 degrees: m g cos(45), normal to the rail.
    const double normal = 2 * g * std::sqrt(0.5);
    EXPECT_NEAR(sense(simulation, "world.fx"), -normal * std::sqrt(0.5), 1e-7);
    EXPECT_NEAR(sense(simulation, "world.fz"), normal * std::sqrt(0.5), 1e-7);
    EXPECT_NEAR(sense(simulation, "marker.fz"), 0, 1e-7) << "nothing along the rail";
    EXPECT_NEAR(std::hypot(sense(simulation, "marker.fx"), sense(simulation, "marker.fy")), normal, 1e-7);
}

TEST(Reactions, OfADriverAreItsTorque) {
    // A disc of inertia 1/2 m r^2 = 0.09 accelerated at 5 rad/s^2.
    for (const std::string& formulation : formulation_names()) {
        Simulation simulation(read(R"(
limber: 1
gravity: none
bodies: {disc: {disc: {radius: 0.3, mass: 2}}}
joints: {shaft: {revolute: [ground, disc]}}
drivers: {engine: {coordinate: shaft.angle, follows: 2.5*t^2}}
sensors: {torque: {reaction: engine}}
)"),
                              options(formulation, "rk4"));
        EXPECT_NEAR(sense(simulation, "torque"), 0.45, 1e-7) << formulation;
    }
}

TEST(Reactions, AreSharedEquallyBetweenEqualSupports) {
    // A beam hung on three equal vertical rods symmetric about its middle: statically undetermined; least squares
    // shares the load equally.
    for (const std::string& formulation : formulation_names()) {
        Simulation simulation(read(R"(
limber: 1
plane: xy
bodies:
  ground: {markers: {a: [-1, 1], b: [0, 1], c: [1, 1]}}
  beam: {box: {size: [2, 0.1], mass: 6}, markers: {a: [-1, 0], b: [0, 0], c: [1, 0]}}
joints:
  a: {distance: [ground.a, beam.a]}
  b: {distance: [ground.b, beam.b]}
  c: {distance: [ground.c, beam.c]}
sensors: {a: {reaction: a}, b: {reaction: b}, c: {reaction: c}}
)"),
                              options(formulation, "rk4"));
        for (const char* name : {"a.fy", "b.fy", "c.fy"})
            EXPECT_NEAR(sense(simulation, name), 2 * g, 1e-5) << formulation;
    }
}

TEST(Reactions, BalanceEveryBody) {
    // Newton on the coupler of the overconstrained four-bar while it moves: mass times acceleration = reactions +
    // weight.
    Model model = example("loops/spatial-four-bar.yaml");
    for (const char* joint : {"b", "c"})
        model.add(Reaction{.name = std::string("r") + joint, .of = model.joints.find(joint)});
    model.add(Acceleration{.name = "acc", .of = model.marker("coupler.com")});
    for (const std::string& formulation : formulation_names()) {
        Simulation simulation(
            model, options(formulation, find_formulation(formulation).is_step_solver() ? "trapezoidal" : "rk4"));
        ASSERT_TRUE(simulation.advance(0.3, 1e-3).ok);
        // rb: crank on coupler; rc: coupler on rocker.
        EXPECT_NEAR(sense(simulation, "rb.fx") - sense(simulation, "rc.fx"), 2 * sense(simulation, "acc.x"), 1e-4);
        EXPECT_NEAR(sense(simulation, "rb.fz") - sense(simulation, "rc.fz") - 2 * g, 2 * sense(simulation, "acc.z"),
                    1e-4);
    }
}

}  // namespace
}  // namespace limber::testing
