// What rigid contacts do, as results show it: sensors of rules, reactions of joints, work of drivers.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "support/models.hpp"
#include "support/stepping.hpp"

namespace limber::testing {
namespace {

constexpr double g = 9.81;
// Impulses are found to 1e-10 of the velocities that come in; a force is that over the step.
constexpr double force_tolerance = 1e-5;

// A block of 3 kg on a table of 5 kg that one joint carries, 0.3 m beside the middle of the table.
std::string block_on_table(double speed, double restitution) {
    return fmt::format(R"(
limber: 1
bodies:
  table: {{box: {{size: [1, 1, 0.1], mass: 5}}, at: [0, 0, -0.05]}}
  block: {{box: {{size: [0.2, 0.2, 0.2], mass: 3}}, at: [0.3, 0, 0.1], velocity: [0, 0, {}]}}
joints: {{foot: {{fixed: [ground, table], at: [0, 0, -0.1]}}}}
contacts: {{top: {{rigid: [block, table], friction: 0.5, restitution: {}}}}}
sensors: {{foot: {{reaction: foot}}, top: {{contact: top}}, pull: {{acceleration: block}}}}
)",
                       -speed, restitution);
}

TEST(ContactForces, JointsCarryWhatRestsOnTheirBodies) {
    for (const std::string coordinates : {"natural", "reference-point", "relative"}) {
        SimulationOptions chosen = options("augmented-lagrangian", "moreau-jean");
        chosen.coordinates = coordinates;
        Simulation s(read(block_on_table(0, 0)), chosen);
        run(s, 0.1, 0.005);
        EXPECT_NEAR(sense(s, "top.normal"), 3 * g, 1e-8) << coordinates;
        EXPECT_NEAR(sense(s, "top.friction"), 0, 1e-8) << coordinates;
        EXPECT_NEAR(sense(s, "foot.fz"), 8 * g, 1e-7) << coordinates;
        EXPECT_NEAR(sense(s, "foot.ty"), -0.3 * 3 * g, 1e-7) << coordinates;
        EXPECT_NEAR(sense(s, "foot.fx"), 0, 1e-7) << coordinates;
        EXPECT_NEAR(sense(s, "pull.z"), 0, 1e-8) << coordinates;
        MotionView view;
        s.observer().compute_view(s.state(), true, view);
        EXPECT_NEAR(view.joints[0].force.z(), 8 * g, 1e-7) << coordinates;
    }
}

// Over the step of an impact: impulse m v (1 + e) + m g h of the contact, and the weight of the table.
TEST(ContactForces, JointsPassImpactsOn) {
    const double h = 0.001;
    for (const double e : {0.0, 0.5}) {
        Simulation s = stepping(block_on_table(2, e));
        run(s, h, h);
        const double impulse = 3 * 2 * (1 + e) + 3 * g * h;
        EXPECT_NEAR(h * sense(s, "top.normal"), impulse, 1e-9);
        EXPECT_NEAR(h * sense(s, "foot.fz"), impulse + 5 * g * h, 1e-8);
        EXPECT_NEAR(h * sense(s, "foot.ty"), -0.3 * impulse, 1e-8);
        EXPECT_NEAR(h * sense(s, "pull.z"), 2 * (1 + e), 1e-9);
        run(s, 2 * h, h);
        EXPECT_NEAR(sense(s, "foot.fz"), e > 0 ? 5 * g : 8 * g, force_tolerance);
    }
}

// A hanging rod of length 1 hits a wall at the distance d from its pin: the pin gives m w (1/2 - 1/(3 d)), nothing at
// 2/3.
TEST(ContactForces, ABlowAtTheCentreOfPercussionSparesThePin) {
    const double h = 1e-5;
    for (const double d : {0.4, 2.0 / 3, 1.0}) {
        Simulation s = stepping(fmt::format(R"(
limber: 1
plane: xy
bodies:
  ground: {{shapes: [{{plane: {{at: [0.05, 0], angle: 90 deg}}}}]}}
  rod:
    rod: {{from: [0, 0], to: [0, -1], mass: 2}}
    angular-velocity: 3
    shapes: [{{sphere: {{radius: 0.05, at: [{}, 0]}}}}]
joints: {{pin: {{revolute: [ground, rod.from]}}}}
contacts: {{wall: {{rigid: [rod, ground], joined: true}}}}
sensors: {{pin: {{reaction: pin}}, wall: {{contact: wall}}, spin: {{angular-velocity: rod}}}}
)",
                                            d));
        run(s, h, h);
        // Within the step the rod leans by w h at most: (w h)^2 of an impulse of 5 N s, and the moment of its weight, m
        // g/2 w h, over the step.
        const double lean = 3 * h;
        const double tolerance = lean * lean * 5 + 2 * g / 2 * lean * h / d;
        EXPECT_NEAR(sense(s, "spin"), 0, 1e-9);  // 1e-10 of what comes in, 3 rad/s
        EXPECT_NEAR(h * sense(s, "wall.normal"), 2 * 3 / (3 * d), tolerance);
        EXPECT_NEAR(h * sense(s, "pin.fx"), -2 * 3 * (0.5 - 1 / (3 * d)), tolerance);
    }
}

// A plate of 1 kg would be lifted off its limit by 20 N, were it not for the block of 3 kg on it.
TEST(ContactForces, StopsCarryWhatRestsOnTheirBodies) {
    Simulation s = stepping(R"(
limber: 1
plane: xy
bodies:
  plate: {at: [0, -0.05], box: {size: [1, 0.1], mass: 1}}
  block: {at: [0, 0.1], box: {size: [0.2, 0.2], mass: 3}}
joints: {rail: {prismatic: [ground, plate], axis: [0, 1]}}
forces: {lift: {motor: rail.displacement, law: 20}}
stops: {floor: {limit: rail.displacement, min: -0.05}}
contacts: {top: {rigid: [plate, block], friction: 0.5}}
sensors: {place: {position: block}, floor: {contact-force: floor}, top: {contact: top}, rail: {reaction: rail}}
)");
    run(s, 1, 0.005);
    EXPECT_NEAR(sense(s, "place.y"), 0.1, 1e-6);
    EXPECT_NEAR(sense(s, "top.normal"), 3 * g, 1e-6);
    EXPECT_NEAR(sense(s, "floor"), 4 * g - 20, 1e-6);
    EXPECT_NEAR(sense(s, "rail.fx"), 0, 1e-6);
}

// Rigid and compliant rules report alike: what sticks carries the slope's part of the weight, what slides mu times the
// normal force.
TEST(ContactForces, RulesReportFriction) {
    for (const std::string law : {"rigid: [brick, ground]", "linear: [brick, ground], stiffness: 1e6, damping: 1e3"}) {
        for (const double steepness : {0.3, 0.9}) {
            const double angle = std::atan(steepness);
            const bool is_rigid = law[0] == 'r';
            Simulation s(read(fmt::format(R"(
limber: 1
gravity: [{}, 0, {}]
bodies:
  ground: {{shapes: [{{plane: {{}}}}]}}
  brick: {{box: {{size: [0.2, 0.1, 0.06], mass: 3}}, at: [0, 0, 0.03]}}
contacts: {{slope: {{{}, friction: 0.5}}}}
sensors: {{slope: {{contact: slope}}}}
)",
                                          g * std::sin(angle), -g * std::cos(angle), law)),
                         options("global", is_rigid ? "moreau-jean" : "trapezoidal"));
            run(s, 0.5, 0.001);
            const double normal = 3 * g * std::cos(angle);
            const double tolerance =
                is_rigid ? force_tolerance : 1e-2;  // compliant friction creeps, and atan is not yet its limit
            EXPECT_NEAR(sense(s, "slope.normal"), normal, tolerance) << law;
            EXPECT_NEAR(sense(s, "slope.friction"), std::min(steepness, 0.5) * normal, tolerance) << law;
        }
    }
}

// A belt takes a block along: while that slides, its drive works against the friction.
TEST(ContactForces, DriversFeelTheFrictionOfWhatTheyCarry) {
    const double v = 1;
    Simulation s = stepping(R"(
limber: 1
plane: xy
bodies:
  ground: {markers: {track: [0, -0.05]}}
  belt: {at: [0, -0.05], box: {size: [4, 0.1], mass: 5}, velocity: [1, 0]}
  block: {at: [0, 0.05], box: {size: [0.2, 0.1], mass: 2}}
joints: {roller: {prismatic: [ground.track, belt], axis: [1, 0]}}
drivers: {drive: {coordinate: roller.displacement, follows: t}}
contacts: {top: {rigid: [belt, block], friction: 0.5}}
sensors: {speed: {velocity: block}, drive: {reaction: drive}}
)");
    const double h = 1e-4;
    const double slides_until = v / (0.5 * g);
    run(s, 0.5 * slides_until, h);
    EXPECT_NEAR(sense(s, "drive"), 0.5 * 2 * g, 1e-6);
    EXPECT_NEAR(s.observer().compute_power(s.state()), 0.5 * 2 * g * v, 1e-6);
    run(s, 1.1 * slides_until, h);
    EXPECT_NEAR(sense(s, "speed.x"), v, 1e-9);
    EXPECT_NEAR(sense(s, "drive"), 0, 1e-6);
    EXPECT_NEAR(s.observer().compute_power(s.state()), 0, 1e-6);
}

}  // namespace
}  // namespace limber::testing
