// Dry friction with true stick: closed forms.

#include <cmath>

#include "limber/model/error.hpp"
#include "support/models.hpp"

namespace limber::testing {
namespace {

class FrictionCase : public ::testing::TestWithParam<std::tuple<std::string, std::string>> {
protected:
    SimulationOptions chosen(const std::string& integrator = "trapezoidal") const {
        return options(std::get<0>(GetParam()), integrator, std::get<1>(GetParam()));
    }
};

TEST_P(FrictionCase, BrickBelowTheFrictionAngleDoesNotCreep) {
    Simulation simulation(example("contact/brick-on-incline.yaml", {{"steepness", "0.99"}}), chosen());
    const StepReport report = simulation.advance(60, 0.01);
    ASSERT_TRUE(report.ok) << report.reason;
    // A penalty alone gives way by about one over itself, for as long as it is loaded.
    const double tolerance = std::get<0>(GetParam()) == "penalty" ? 1e-6 : 1e-9;
    EXPECT_NEAR(sense(simulation, "place.x"), 0, tolerance);
    EXPECT_NEAR(sense(simulation, "place.y"), 0.1, tolerance);
}

TEST_P(FrictionCase, BrickAboveTheFrictionAngleSlides) {
    Simulation simulation(example("contact/brick-on-incline.yaml", {{"steepness", "1.01"}}), chosen());
    const StepReport report = simulation.advance(10, 0.01);
    ASSERT_TRUE(report.ok) << report.reason;
    const double slope = std::atan(1.01 * 0.5);
    const double acceleration = 9.81 * (std::sin(slope) - 0.5 * std::cos(slope));
    EXPECT_NEAR(sense(simulation, "place.x"), 0.5 * acceleration * 100, 1e-6);
    EXPECT_NEAR(sense(simulation, "speed.x"), acceleration * 10, 1e-6);
}

// On the level at 2 m/s: stops after v/(mu g), v^2/(2 mu g) farther, and stays.
TEST_P(FrictionCase, BrickComesToRest) {
    Simulation simulation(example("contact/brick-on-incline.yaml", {{"steepness", "0"}, {"speed", "2"}}), chosen());
    double stuck_at = 0;
    while (simulation.time() < 1) {
        const StepReport report = simulation.step(0.01);
        ASSERT_TRUE(report.ok) << report.reason;
        for (const ContactEvent& event : report.events)
            if (event.kind == ContactEvent::Kind::stuck) stuck_at = event.t;
    }
    EXPECT_NEAR(stuck_at, 2 / (0.5 * 9.81), 1e-8);
    EXPECT_NEAR(sense(simulation, "place.x"), 4 / (2 * 0.5 * 9.81), 1e-8);
    EXPECT_NEAR(sense(simulation, "speed.x"), 0, 1e-9);
    EXPECT_NEAR(sense(simulation, "left") + sense(simulation, "right"), 3 * 9.81, 1e-6);
}

TEST_P(FrictionCase, FrictionInJointsStopsTheMotion) {
    Simulation simulation(example("contact/friction-in-joints.yaml"), chosen());
    const StepReport report = simulation.advance(1, 0.005);
    ASSERT_TRUE(report.ok) << report.reason;
    EXPECT_NEAR(sense(simulation, "place"), 1 / (2 * 0.2 * 9.81), 1e-6);
    EXPECT_NEAR(sense(simulation, "speed"), 0, 1e-9);
}

INSTANTIATE_TEST_SUITE_P(All, FrictionCase, ::testing::ValuesIn(formulations_in_coordinates()), [](const auto& info) {
    return test_name(std::get<0>(info.param) + "_" + std::get<1>(info.param));
});

// The pendulum rests where its weight passes within the friction circle of radius mu r.
TEST(Friction, PendulumRestsWithinTheFrictionCircle) {
    Simulation simulation(example("contact/friction-in-joints.yaml"), options("global", "trapezoidal"));
    bool is_stuck = false;
    while (simulation.time() < 60) {
        const StepReport report = simulation.step(0.005);
        ASSERT_TRUE(report.ok) << report.reason;
        for (const ContactEvent& event : report.events)
            if (event.stop == "pin_friction") is_stuck = event.kind == ContactEvent::Kind::stuck;
    }
    EXPECT_TRUE(is_stuck);
    const double angle = sense(simulation, "angle");
    EXPECT_LT(std::abs(0.5 * std::cos(angle)), 0.2 * 0.05 * (1 + 1e-6));
    ASSERT_TRUE(simulation.advance(70, 0.005).ok);
    EXPECT_EQ(sense(simulation, "angle"), angle);
}

// Rolls from t = 2 v/(7 mu g) with 5/7 v.
TEST(Friction, BallSlidesThenRolls) {
    for (const char* formulation : {"null-space", "augmented-lagrangian", "articulated-body"}) {
        Simulation simulation(example("contact/ball-slides-then-rolls.yaml"), options(formulation, "rk4"));
        double rolls_at = 0;
        while (simulation.time() < 1) {
            const StepReport report = simulation.step(1e-3);
            ASSERT_TRUE(report.ok) << report.reason;
            for (const ContactEvent& event : report.events)
                if (event.kind == ContactEvent::Kind::stuck) rolls_at = event.t;
        }
        EXPECT_NEAR(rolls_at, 2 * 3 / (7 * 0.2 * 9.81), 1e-6) << formulation;
        EXPECT_NEAR(sense(simulation, "speed.x"), 5.0 / 7 * 3, 1e-6) << formulation;
        EXPECT_NEAR(sense(simulation, "spin.y"), 5.0 / 7 * 3 / 0.1, 1e-5) << formulation;
    }
}

// A ball without spin that hits the floor at an angle: friction impulse mu (1 + e) m v_n while it slips.
TEST(Friction, ImpactObeysCoulombsLaw) {
    Simulation simulation(read(R"(
limber: 1
plane: xy
gravity: none
bodies:
  ball: {at: [0, 1.1], disc: {radius: 0.1, mass: 2}, velocity: [3, -2]}
stops:
  floor: {wall: [ground, ball], radius: 0.1, friction: 0.1, restitution: 0.5}
sensors:
  speed: {velocity: ball}
  spin: {angular-velocity: ball}
)"),
                          options("global", "trapezoidal"));
    const StepReport report = simulation.advance(1, 0.01);
    ASSERT_TRUE(report.ok) << report.reason;
    EXPECT_NEAR(sense(simulation, "speed.y"), 1, 1e-9);
    EXPECT_NEAR(sense(simulation, "speed.x"), 3 - 0.1 * 1.5 * 2, 1e-9);
    EXPECT_NEAR(sense(simulation, "spin"), -2 * 0.1 * 1.5 * 2 / 0.1, 1e-8);
}

// A rod pushed over a rough floor, leaning ahead: 1 + 3 cos^2 - 3 mu sin cos < 0, no contact force is possible.
TEST(Friction, PainlevesRodIsReported) {
    const auto rod = [](const char* speed) {
        return read(R"(
limber: 1
plane: xy
parameters: {lean: 60 deg, mu: 2, speed: )" +
                    std::string(speed) + R"(}
bodies:
  rod: {rod: {from: [0, 0], to: [cos(lean), sin(lean)], mass: 1}, velocity: [speed, 0]}
stops:
  floor: {wall: [ground, rod.from], friction: mu}
)");
    };
    const auto chosen = options("global", "trapezoidal");
    EXPECT_NO_THROW(Simulation(rod("1"), chosen));
    try {
        Simulation simulation(rod("-1"), chosen);
        FAIL() << "nothing was reported";
    } catch (const ModelError& error) {
        EXPECT_NE(std::string(error.what()).find("Painleve"), std::string::npos) << error.what();
    }
}

}  // namespace
}  // namespace limber::testing
