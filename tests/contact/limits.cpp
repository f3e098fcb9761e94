// Limits of whatever is a function of positions: joint coordinates, components of position sensors, sums of them.

#include <gtest/gtest.h>

#include <cmath>

#include "limber/model/error.hpp"
#include "support/models.hpp"

namespace limber::testing {
namespace {

// Gaps are closed to 1e-14 of the mechanism's length, and constant accelerations are integrated exactly by the
// trapezoidal rule: what is left is rounding, a hundred steps of 1e-16 of some metres, and what the projections of
// velocities leave, 1e-10 of them.
constexpr double exact = 1e-9;

std::vector<ContactEvent> collect_impacts(Simulation& simulation, double end, double h) {
    std::vector<ContactEvent> impacts;
    while (simulation.time() < end - 0.5 * h) {
        const StepReport report = simulation.step(h);
        EXPECT_TRUE(report.ok) << report.reason;
        if (!report.ok) break;
        for (const ContactEvent& event : report.events)
            if (event.kind == ContactEvent::Kind::impact) impacts.push_back(event);
    }
    return impacts;
}

class Limits : public ::testing::TestWithParam<std::tuple<std::string, std::string>> {
protected:
    SimulationOptions chosen(const std::string& integrator) const {
        return options(std::get<0>(GetParam()), integrator, std::get<1>(GetParam()));
    }
};

// Thrown with (3, 4) m/s under 10 m/s^2 between two walls and onto a floor, none of which turn it: times and impulses
// of its components are those of two motions along lines.
TEST_P(Limits, BallBouncesAtComponentsOfItsPlace) {
    Simulation simulation(read(R"(
limber: 1
plane: xy
gravity: [0, -10]
bodies:
  ball: {at: [0, 1], velocity: [3, 4], point: {mass: 2}}
stops:
  floor: {limit: place.y, min: 0, restitution: 0.5}
  walls: {limit: place.x, min: -0.6, max: 0.9, restitution: 1}
sensors: {place: {position: ball}}
)"),
                          chosen("trapezoidal"));
    const auto found = collect_impacts(simulation, 1.2, 0.01);
    const double lands = (4 + std::sqrt(16 + 20)) / 10;
    ASSERT_EQ(found.size(), 3u);
    EXPECT_NEAR(found[0].t, 0.3, exact);
    EXPECT_NEAR(found[0].impulse, 2 * 6, exact);
    EXPECT_NEAR(found[1].t, 0.8, exact);
    EXPECT_NEAR(found[2].t, lands, exact);
    EXPECT_NEAR(found[2].impulse, 2 * 1.5 * 6, exact);
}

// A bead on a rod that turns at w: r'' = w^2 r, from rest at r0 it reaches R at acosh(R/r0)/w with w sqrt(R^2 - r0^2).
TEST_P(Limits, BeadIsCaughtAtAComponentInATurningFrame) {
    Simulation simulation(read(R"(
limber: 1
plane: xy
gravity: [0, 0]
bodies:
  rod: {rod: {from: [0, 0], to: [1, 0], mass: 1}}
  bead: {at: [0.2, 0], velocity: [0, 1], disc: {radius: 0.01, mass: 0.5}, angular-velocity: 5}
joints:
  pivot: {revolute: [ground, rod.from]}
  guide: {prismatic: [rod, bead], axis: [1, 0]}
drivers: {turn: {coordinate: pivot.angle, follows: 5*t}}
stops: {end: {limit: along.x, max: 0.8, restitution: 0.25}}
sensors: {along: {position: bead, relative-to: rod.from}}
)"),
                          chosen("rk4"));
    const auto found = collect_impacts(simulation, 0.42, 1e-3);
    ASSERT_EQ(found.size(), 1u);
    // rk4: (w h)^5/120 per step, that is 4e-12 of the radius in all.
    // A penalty alone lets the driver lag by one over itself, 1e-8 of the force: as much of the speed.
    const double tolerance = std::get<0>(GetParam()) == "penalty" ? 1e-8 : exact;
    EXPECT_NEAR(found[0].t, std::acosh(4.0) / 5, tolerance);
    EXPECT_NEAR(found[0].impulse, 0.5 * 1.25 * 5 * std::sqrt(0.64 - 0.04), tolerance);
}

// Both weights fall freely until the rope is taut, g t^2 = slack. The impulse P on both takes the rate 2 g t of what
// hangs away: P (1/m1 + 1/m2) = (1 + e) 2 g t. After a plastic one they are Atwood's machine.
TEST_P(Limits, RopeOverAPulleyPullsTaut) {
    const double taut = std::sqrt(0.4 / 10);
    const double mass = 1.0 * 3.0 / (1.0 + 3.0);
    for (const double e : {0.0, 1.0}) {
        Simulation simulation(example("contact/rope-over-pulley.yaml", {{"e", std::to_string(e)}}),
                              chosen("trapezoidal"));
        const auto found = collect_impacts(simulation, 0.4, 0.01);
        ASSERT_EQ(found.size(), 1u);
        const double impulse = mass * (1 + e) * 2 * 10 * taut;
        EXPECT_NEAR(found[0].t, taut, exact);
        EXPECT_NEAR(found[0].impulse, impulse, exact);
        EXPECT_NEAR(found[0].energy_lost, (1 - e * e) * mass / 2 * std::pow(2 * 10 * taut, 2), exact);
        // Total energy as the bodies have it: at the height -0.8 m at first, less what is lost.
        const double start = -10 * 4 * 0.8;
        EXPECT_NEAR(sense(simulation, "energy"), start - found[0].energy_lost, 10 * exact);
        const double after = 0.4 - taut;
        const double acceleration = e == 0 ? 10 * (3.0 - 1) / 4 : -10;  // of the light weight
        EXPECT_NEAR(sense(simulation, "left_speed.y"), -10 * taut + impulse / 1 + acceleration * after, 10 * exact);
        if (e == 0) {
            // A penalty alone leaves one over itself, 1e-8, of the acceleration that it takes away.
            EXPECT_NEAR(sense(simulation, "tension"), 2 * mass * 10, 3e-8 * 10);
        }
    }
}

// The claws meet after play/speed, then cross 2 play with e times the speed, and so on; reduced inertia j1 j2/(j1 +
// j2). The momentum stays.
TEST_P(Limits, ClawsWithBacklashMeetInTurns) {
    Simulation simulation(example("contact/backlash.yaml"), chosen("rk4"));
    const auto found = collect_impacts(simulation, 0.5, 1e-3);
    const double inertia = 0.03 * 0.01 / 0.04;
    double t = 0.05 / 2;
    double speed = 2;
    ASSERT_EQ(found.size(), 3u);
    for (const ContactEvent& event : found) {
        EXPECT_NEAR(event.t, t, exact);
        EXPECT_NEAR(event.impulse, inertia * 1.5 * speed, exact);
        speed /= 2;
        t += 0.1 / speed;
    }
    EXPECT_NEAR(0.03 * sense(simulation, "ahead_rate") + 0.01 * sense(simulation, "behind_rate"), 0.06, exact);
}

INSTANTIATE_TEST_SUITE_P(All, Limits, ::testing::ValuesIn(formulations_in_coordinates()), [](const auto& info) {
    return test_name(std::get<0>(info.param) + "_" + std::get<1>(info.param));
});

std::string refusal(const std::string& limited, const std::string& sensors) {
    try {
        Simulation simulation(read("limber: 1\nplane: xy\nbodies: {ball: {point: {mass: 1}}}\nstops: {end: {limit: " +
                                   limited + ", min: -1}}\nsensors: {place: {position: ball}, " + sensors + "}\n"),
                              options("global", "trapezoidal"));
    } catch (const ModelError& error) {
        return error.what();
    }
    return "";
}

TEST(LimitErrors, SayWhatCanBeLimited) {
    const auto says = [](const std::string& text, const std::string& part) {
        return text.find(part) != std::string::npos ? ::testing::AssertionSuccess()
                                                    : ::testing::AssertionFailure() << text;
    };
    EXPECT_TRUE(says(refusal("h", "h: {expression: place.x*place.y}"), "stop 'end': sensor 'h' is no such sum"));
    EXPECT_TRUE(says(refusal("h", "h: {expression: abs(place.x)}"), "joint coordinates and components of position"));
    EXPECT_TRUE(says(refusal("h", "h: {expression: place.x + t}"), "depends on t"));
    EXPECT_TRUE(says(refusal("h", "h: {expression: 2*place.x - place.x - place.x}"), "depends on no position"));
    EXPECT_TRUE(says(refusal("h", "h: {expression: k + 1}, k: {expression: h}"), "is defined in terms of itself"));
    EXPECT_TRUE(says(refusal("v.x", "v: {velocity: ball}"), "sensor 'v' is none of these"));
    EXPECT_TRUE(says(refusal("h", "h: {expression: v.x}, v: {velocity: ball}"), "sensor 'v' is none of these"));
    EXPECT_TRUE(says(refusal("place", "e: {energy: total}"), "sensor 'place' has the components x, y"));
    EXPECT_TRUE(says(refusal("plaice.x", "e: {energy: total}"), "there is no joint coordinate 'plaice.x'"));
}

// Sums of sums, with parameters, tell the same gap as the sensor itself.
TEST(LimitSums, AreTakenApart) {
    Simulation simulation(read(R"yaml(
limber: 1
plane: xy
parameters: {k: 3}
bodies: {ball: {at: [0.3, 0.2], velocity: [1, 0.5], point: {mass: 1}}}
stops: {end: {limit: sum, min: -10}}
sensors:
  place: {position: ball}
  part: {expression: "(place.x - 2)/k + if(k > 2, -place.y, place.x)"}
  sum: {expression: 2*part - (1 - place.x)*k}
  gap: {gap: end}
)yaml"),
                          options("global", "trapezoidal"));
    ASSERT_TRUE(simulation.advance(0.1, 0.01).ok);
    EXPECT_NEAR(sense(simulation, "gap"), sense(simulation, "sum") + 10, 1e-14);
    EXPECT_NEAR(sense(simulation, "gap"), 2 * ((0.4 - 2) / 3 - sense(simulation, "place.y")) - 3 * 0.6 + 10, 1e-14);
}

}  // namespace
}  // namespace limber::testing
