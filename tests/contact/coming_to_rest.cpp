// How motion against several contacts ends: slip that stops at two of them at once, bounces that are driven by another
// contact.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "support/models.hpp"

namespace limber::testing {
namespace {

constexpr double gravity = 9.81;
constexpr double speed = 0.02;

/// A groove between two planes, and a particle of 1 kg that slides along the line in which they meet.
struct Groove {
    Vec3 first, second;  // normals

    Vec3 along() const { return first.cross(second).normalized(); }
    /// Normal forces of both planes, while friction acts along the groove only.
    Vec<2> loads() const {
        const Vec3 a = first.normalized();
        const Vec3 b = second.normalized();
        Mat<2> products;
        products << 1, a.dot(b), a.dot(b), 1;
        return products.inverse() * gravity * Vec<2>(a.z(), b.z());
    }
};

std::string list(const Vec3& v) {
    return fmt::format("[{:.17g}, {:.17g}, {:.17g}]", v.x(), v.y(), v.z());
}

/// When the stop's slip first comes to rest; 0: never.
double stick_time(Simulation& simulation, const std::string& stop, double until) {
    double found = 0;
    while (simulation.time() < until) {
        const StepReport report = simulation.step(1e-3);
        if (!report.ok) {
            ADD_FAILURE() << report.reason;
            return 0;
        }
        for (const ContactEvent& event : report.events)
            if (event.kind == ContactEvent::Kind::stuck && event.stop == stop && found == 0) found = event.t;
    }
    return found;
}

class ComingToRest : public ::testing::TestWithParam<std::string> {
protected:
    SimulationOptions chosen() const { return options(GetParam(), "rk4", "reference-point"); }
};

// Both contacts brake the same motion, so their friction is not unique once they rest. Normals lie askew to the axes of
// the slip rows.
TEST_P(ComingToRest, InAGroove) {
    for (const Groove& groove : {Groove{{0.9, 0.9, 1}, {-0.9, -0.8, 1}}, Groove{{0.6, 0.6, 1}, {0, -0.5, 1}},
                                 Groove{{0.1, -0.4, 1}, {-0.9, 0.3, 1}}, Groove{{0.4, -0.8, 1}, {0.2, 0.7, 1}}}) {
        Simulation simulation(read(fmt::format(R"(
limber: 1
bodies:
  ground: {{markers: {{left: {{z: {}}}, right: {{z: {}}}}}}}
  sled: {{box: {{size: [0.2, 0.1, 0.1], mass: 1}}, velocity: {}}}
stops:
  left: {{wall: [ground.left, sled], friction: 0.5, static-friction: 0.9}}
  right: {{wall: [ground.right, sled], friction: 0.5, static-friction: 0.9}}
sensors:
  speed: {{velocity: sled}}
)",
                                               list(groove.first), list(groove.second), list(speed * groove.along()))),
                              chosen());
        const double deceleration = 0.5 * groove.loads().sum() + gravity * groove.along().z();
        const double left = stick_time(simulation, "left", 0.01);
        // The instant is where the slip has turned by half of 1e-9 m/s, and is located to 1e-11 s.
        EXPECT_NEAR(left, speed / deceleration, 1e-9) << list(groove.first);
        EXPECT_LT(std::abs(sense(simulation, "speed.x")), 1e-9);
    }
}

// One side of the groove is a belt: it goes on slipping where the other side comes to rest. What sticks there could
// also press the sled against the belt.
TEST_P(ComingToRest, BesideABelt) {
    for (const Groove& groove : {Groove{{-0.1, -0.3, 1}, {-0.7, 0.7, 1}}, Groove{{-0.1, 0.1, 1}, {0.8, -0.1, 1}}}) {
        Simulation simulation(read(fmt::format(R"(
limber: 1
bodies:
  ground: {{markers: {{side: {{z: {}}}}}}}
  belt: {{box: {{size: [1, 1, 1], mass: 1}}, markers: {{side: {{z: {}}}}}}}
  sled: {{box: {{size: [0.2, 0.1, 0.1], mass: 1}}, velocity: {}}}
joints:
  roller: {{prismatic: [ground, belt], at: belt, axis: {}}}
drivers:
  drive: {{coordinate: roller.displacement, follows: t}}
stops:
  side: {{wall: [ground.side, sled], friction: 0.5, static-friction: 0.9}}
  belt: {{wall: [belt.side, sled], friction: 0.5, static-friction: 0.9}}
sensors:
  speed: {{velocity: sled}}
)",
                                               list(groove.first), list(groove.second), list(speed * groove.along()),
                                               list(groove.along()))),
                              chosen());
        const Vec<2> loads = groove.loads();
        const double deceleration = 0.5 * (loads[0] - loads[1]) + gravity * groove.along().z();
        EXPECT_NEAR(stick_time(simulation, "side", 0.04), speed / deceleration, 1e-9);
        EXPECT_LT(std::abs(sense(simulation, "speed.x")), 1e-9);
    }
}

INSTANTIATE_TEST_SUITE_P(Formulations, ComingToRest, ::testing::Values("global", "baumgarte", "augmented-lagrangian"),
                         [](const auto& info) { return test_name(info.param); });

// A particle that is pushed along a floor into a wedge bounces off the slope above it. Without the floor it would fall
// away from the slope: only the floor's push brings it back. Flights last 2 e^k v/a; they end after 2 v/a (e/(1 - e))
// with e = 1/2.
TEST(Bounces, ThatAnotherContactDrivesComeToAnEnd) {
    constexpr double pushed = 2;  // acceleration along the floor
    Simulation simulation(read(R"(
limber: 1
plane: xy
bodies:
  ground: {markers: {slope: {at: [0.01, 0], angle: 150 deg}}}
  puck: {box: {size: [0.1, 0.1], mass: 1}, velocity: [0.1, 0]}
stops:
  floor: {wall: [ground, puck]}
  slope: {wall: [ground.slope, puck], restitution: 0.5}
forces:
  push: {force: puck.com, vector: [2, 0]}
sensors:
  place: {position: puck}
)"),
                          options("global", "rk4", "reference-point"));
    const double arrival = std::sqrt(0.1 * 0.1 + 2 * pushed * 0.01);
    const double first = (arrival - 0.1) / pushed;
    int impacts = 0;
    double closed = 0;
    while (simulation.time() < 0.5) {
        const StepReport report = simulation.step(1e-3);
        ASSERT_TRUE(report.ok) << report.reason;
        for (const ContactEvent& event : report.events) {
            if (event.stop != "slope") continue;
            impacts += event.kind == ContactEvent::Kind::impact ? 1 : 0;
            if (event.kind == ContactEvent::Kind::closed) closed = event.t;
        }
    }
    EXPECT_NEAR(closed, first + 2 * arrival / pushed, 2e-6)
        << "the last flights, shorter than a microsecond, are left out";
    EXPECT_LT(impacts, 30) << "each flight is half as long as the one before";
    EXPECT_NEAR(sense(simulation, "place.x"), 0.01, 1e-9);
}

}  // namespace
}  // namespace limber::testing
