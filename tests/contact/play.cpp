// Slots and holes with play: impacts from side to side, bodies that cock in their guides, pins that tilt in their
// holes. Closed forms.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "support/models.hpp"
#include "support/stepping.hpp"

namespace limber::testing {
namespace {

class Play : public ::testing::TestWithParam<std::tuple<std::string, std::string>> {
protected:
    SimulationOptions chosen() const {
        return options(std::get<0>(GetParam()), "trapezoidal", std::get<1>(GetParam()));
    }
    bool is_penalty() const { return std::get<0>(GetParam()) == "penalty"; }
};

// A pin of m in the slot, 30 degrees to the world, of a block of M that both move freely: v across at first. The sides
// are met after gap/v, then every 2 gap/(v e^n). Uniform motion is exact, gaps are closed to 1e-14, impulses are
// iterated to 1e-12 of themselves.
TEST_P(Play, PinFliesFromSideToSideOfItsSlot) {
    Simulation simulation(read(R"(
limber: 1
plane: xy
gravity: none
parameters: {tilt: 30 deg, across: 0.4}
bodies:
  block: {at: [0, 0], angle: tilt, mass: 3, inertia: 0.1, markers: {groove: [0, 0]}}
  pin: {at: [0, 0], angle: tilt, mass: 1, inertia: 0.01, velocity: [-across*sin(tilt), across*cos(tilt)]}
stops:
  sides: {slot: [block.groove, pin], gap: 0.01, restitution: 0.8}
sensors:
  pin: {velocity: pin}
  block: {velocity: block}
  gap: {gap: sides}
  lost: {energy: impacts}
  energy: {energy: kinetic}
)"),
                          chosen());
    double t = 0.01 / 0.4;
    double speed = 0.4;
    int impacts = 0;
    while (simulation.time() < 0.35) {
        const StepReport report = simulation.step(0.002);
        ASSERT_TRUE(report.ok) << report.reason;
        for (const ContactEvent& event : report.events) {
            if (event.kind != ContactEvent::Kind::impact) continue;
            EXPECT_NEAR(event.t, t, 1e-11) << impacts;
            EXPECT_NEAR(event.impulse, 0.75 * 1.8 * speed, 1e-10) << impacts;
            speed *= 0.8;
            t += 0.02 / speed;
            ++impacts;
        }
    }
    EXPECT_EQ(impacts, 4);
    EXPECT_NEAR(1 * sense(simulation, "pin.y") + 3 * sense(simulation, "block.y"), 0.4 * std::cos(pi / 6), 1e-10);
    EXPECT_NEAR(sense(simulation, "lost"), 0.5 * 0.75 * (0.16 - speed * speed), 1e-10);
    EXPECT_NEAR(sense(simulation, "energy"), 0.5 * 0.16 - 0.5 * 0.75 * (0.16 - speed * speed), 1e-10);
}

// See the example. Cocked, sin(tilt) = 2 play/apart, both pins press with N = F beside/apart: it slides with F/m (1 - 2
// mu beside/apart).
TEST_P(Play, DrawerCocksAndSlides) {
    for (const double mu : {0.0, 0.5, 1.0}) {
        Simulation simulation(example("contact/drawer.yaml", {{"mu", fmt::format("{}", mu)}}), chosen());
        run(simulation, 0.2, 0.002);
        const double before = sense(simulation, "speed.x");
        run(simulation, 1, 0.002);
        // A penalty gives way by some times one over itself, 1e-8 (as in the tests of friction); slip forces are found
        // to 1e-9 elsewhere.
        const double tolerance = is_penalty() ? 1e-6 : 1e-8;
        EXPECT_NEAR(sense(simulation, "speed.x") - before, 0.8 * 6 / 2.0 * (1 - 2 * mu * 0.1 / 0.4), tolerance) << mu;
        EXPECT_NEAR(sense(simulation, "front_force"), 6 * 0.1 / 0.4, is_penalty() ? 1e-5 : 1e-8) << mu;
        EXPECT_NEAR(sense(simulation, "rear_force"), 6 * 0.1 / 0.4, is_penalty() ? 1e-5 : 1e-8) << mu;
        EXPECT_NEAR(sense(simulation, "front_pin.y"), -0.002, tolerance) << mu;
        EXPECT_NEAR(sense(simulation, "place.y"), 0, tolerance) << mu;
    }
}

// From 2 mu beside = apart on.
TEST_P(Play, DrawerJams) {
    Simulation simulation(example("contact/drawer.yaml", {{"mu", "2.02"}}), chosen());
    run(simulation, 0.2, 0.002);
    const double place = sense(simulation, "place.x");
    EXPECT_NEAR(sense(simulation, "speed.x"), 0, 1e-9);
    run(simulation, 2, 0.002);
    EXPECT_NEAR(sense(simulation, "place.x"), place, is_penalty() ? 1e-6 : 1e-9);
}

// See the example: the pin of a lever lies on the floor of its hole in front and presses against its roof at the rear.
// The ends, half a length L from the middle, are both moved by the play: L sin(tilt/2) = play, along lines that lean by
// half the tilt. With the weight G, c beside the middle:
//   (front - rear) cos(tilt/2) = G,   (front + rear) cos(tilt/2) L/2 = G c cos(tilt)
TEST_P(Play, PinOfALeverTiltsInItsHole) {
    Simulation simulation(example("contact/pin-with-play.yaml"), chosen());
    run(simulation, 0.2, 5e-4);
    const double half = std::asin(0.001 / 0.1);
    const double difference = 20 / std::cos(half);
    const double sum = 2 * 20 * 0.25 * std::cos(2 * half) / (0.1 * std::cos(half));
    // At rest nothing but the closing of rows is left. Forces come from accelerations, which have 1e-10 of a speed over
    // a step, 2e-7 m/s^2; with the mass and the lever, five times as long as the pin's half, 2e-6 N. Sideways the pin
    // swings with what rounding has given it, which nothing damps.
    EXPECT_NEAR(sense(simulation, "weight.z"), -0.25 * std::sin(2 * half), is_penalty() ? 1e-6 : 1e-9);
    EXPECT_NEAR(sense(simulation, "weight.y"), 0, 1e-8);
    EXPECT_NEAR(sense(simulation, "front_force"), (sum + difference) / 2, is_penalty() ? 1e-4 : 4e-6);
    EXPECT_NEAR(sense(simulation, "rear_force"), (sum - difference) / 2, is_penalty() ? 1e-4 : 4e-6);
    EXPECT_NEAR(sense(simulation, "lost"), 20 * 0.25 * std::sin(2 * half), is_penalty() ? 1e-5 : 1e-7);
}

INSTANTIATE_TEST_SUITE_P(All, Play, ::testing::ValuesIn(formulations_in_coordinates()), [](const auto& info) {
    return test_name(std::get<0>(info.param) + "_" + std::get<1>(info.param));
});

}  // namespace
}  // namespace limber::testing
