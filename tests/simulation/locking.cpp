// Mechanisms that cannot go where their drivers want them, and those that can although a step fails.

#include <gtest/gtest.h>

#include <cmath>

#include "support/models.hpp"

namespace limber::testing {
namespace {

RunResult run_to(const Model& model, const SimulationOptions& chosen, double until, double step) {
    Simulation simulation(model, chosen);
    RunOptions options;
    options.until = until;
    options.step = step;
    return run(simulation, options);
}

// Ground 4, crank 3, coupler 2, rocker 2: 9 + 16 - 24 cos(crank) = 16 where coupler and rocker are in line.
const double limit = std::acos(0.375);

class Locks : public ::testing::TestWithParam<std::tuple<std::string, std::string>> {};

TEST_P(Locks, AreToldAtTheirTimeInEveryFormulation) {
    const auto& [formulation, coordinates] = GetParam();
    const Model model = example("loops/lock-up.yaml");
    for (const char* integrator : {"trapezoidal", "rk4"}) {
        const RunResult result = run_to(model, options(formulation, integrator, coordinates), 1, 1e-3);
        EXPECT_FALSE(result.summary.ok) << integrator;
        ASSERT_TRUE(result.summary.lock) << integrator << ": " << result.summary.failure;
        const LockReport& lock = *result.summary.lock;
        EXPECT_NEAR(lock.time, limit - 0.5, 1e-6) << integrator;
        EXPECT_NEAR(lock.value, limit, 1e-6) << integrator;
        EXPECT_EQ(lock.driver, "driver 'turn'");
        // Some let the joints open for a while before they give up.
        EXPECT_LT(result.summary.reached, limit - 0.5 + 0.01) << integrator;
        EXPECT_GT(result.summary.reached, limit - 0.5 - 0.01) << integrator;
        EXPECT_NE(result.summary.failure.find("locks"), std::string::npos) << result.summary.failure;
        EXPECT_NE(result.summary.failure.find("1.18640 rad"), std::string::npos) << result.summary.failure;
        EXPECT_NE(result.summary.failure.find("t = 0.68640 s"), std::string::npos) << result.summary.failure;
    }
}
INSTANTIATE_TEST_SUITE_P(All, Locks, ::testing::ValuesIn(formulations_in_coordinates()), [](const auto& info) {
    return test_name(std::get<0>(info.param) + "_" + std::get<1>(info.param));
});

// There coupler and rocker fold about their joint while the crank stands still: they turn against each other, as fast
// because they are as long, and their common joint moves across the line.
TEST(Locking, TellsTheDirectionThatIsLost) {
    const RunResult result = run_to(example("loops/lock-up.yaml"), options("global", "trapezoidal"), 1, 1e-3);
    ASSERT_TRUE(result.summary.lock);
    const LockReport& lock = *result.summary.lock;
    ASSERT_EQ(lock.lost.size(), 2U);
    const auto find = [&](const std::string& name) {
        for (const auto& motion : lock.lost)
            if (motion.body == name) return motion;
        ADD_FAILURE() << name;
        return LockReport::Motion{};
    };
    const double coupler = find("coupler").angular_velocity.z();
    const double rocker = find("rocker").angular_velocity.z();
    EXPECT_GT(std::abs(rocker), 0.1);
    EXPECT_NEAR(coupler, -rocker, 1e-5);
    // Both midpoints go half as fast as the joint between them.
    EXPECT_NEAR((find("coupler").velocity - find("rocker").velocity).norm(), 0, 1e-5);
    EXPECT_EQ(lock.joints.size(), 4U);
}

// A crank that Grashof's rule lets turn only so far: 1, 2.5, 1.2, 1.6 (shortest + longest > others), and with a spatial
// model of the same, and driven by a length.
TEST(Locking, FindsTheLimitOfANonGrashofCrank) {
    const char* text = R"(
limber: 1
{plane}
gravity: none
bodies:
  crank: {rod: {from: [0, 0{z}], to: [0.8, 0.6{z}], mass: 1}}
  coupler: {rod: {from: [0.8, 0.6{z}], to: [mx, my{z}], mass: 1}}
  rocker: {rod: {from: [2.5, 0{z}], to: [mx, my{z}], mass: 1}}
parameters: {mx: 1.96, my: 0.9, start: 'atan2(0.6, 0.8)'}
joints:
  a: {revolute: [ground, crank.from]{axis}}
  b: {revolute: [crank.to, coupler.from]{axis}}
  c: {revolute: [coupler.to, rocker.to]{axis}}
  d: {revolute: [ground, rocker.from], at: [2.5, 0{z}]{axis2}}
drivers:
  turn: {coordinate: a.angle, follows: {follows}}
)";
    const auto model = [&](bool is_planar, const std::string& follows) {
        std::string yaml = text;
        const auto put = [&](const std::string& what, const std::string& with) {
            for (auto at = yaml.find(what); at != std::string::npos; at = yaml.find(what))
                yaml.replace(at, what.size(), with);
        };
        put("{plane}", is_planar ? "plane: xy" : "");
        put("{z}", is_planar ? "" : ", 0");
        put("{axis2}", is_planar ? "" : ", axis: [0, 0, 1]");
        put("{axis}", is_planar ? "" : ", axis: [0, 0, 1]");
        put("{follows}", follows);
        return read(yaml);
    };
    const double coupler = std::hypot(1.96 - 0.8, 0.9 - 0.6);
    const double rocker = std::hypot(1.96 - 2.5, 0.9);
    const double farthest = std::acos((1 + 2.5 * 2.5 - std::pow(coupler + rocker, 2)) / (2 * 2.5));
    const double start = std::atan2(0.6, 0.8);
    const RunResult plane = run_to(model(true, "start + 2*t"), options("global", "trapezoidal"), 3, 1e-3);
    ASSERT_TRUE(plane.summary.lock) << plane.summary.failure;
    EXPECT_NEAR(plane.summary.lock->value, farthest, 1e-6);
    EXPECT_NEAR(plane.summary.lock->time, (farthest - start) / 2, 1e-6);
    // Redundant rows, and a law that is not linear; in space the angle counts from the start.
    const RunResult space = run_to(model(false, "t^2"), options("hybrid", "trapezoidal"), 3, 1e-3);
    ASSERT_TRUE(space.summary.lock) << space.summary.failure;
    EXPECT_NEAR(space.summary.lock->time, std::sqrt(farthest - start), 1e-6);
}

// ---------------------------------------------------------------- false alarms

TEST(Locking, DeadPointsThatArePassedAreNone) {
    // The slider's dead centres, driven by the crank.
    const char* slider = R"(
limber: 1
plane: xy
gravity: none
bodies:
  crank: {rod: {from: [0, 0], to: [1, 0], mass: 1}}
  rod: {rod: {from: [1, 0], to: [3, 0], mass: 1}}
  slider: {at: [3, 0], point: {mass: 1}}
joints:
  a: {revolute: [ground, crank.from]}
  b: {revolute: [crank.to, rod.from]}
  c: {revolute: [rod.to, slider]}
  rail: {prismatic: [ground, slider], axis: [1, 0]}
drivers: {turn: {coordinate: a.angle, follows: 2*t}}
)";
    for (const double step : {1e-3, 0.05}) {
        Simulation simulation(read(slider), options("global", "trapezoidal"));
        const RunResult result = run(simulation, {.until = 4, .step = step});
        EXPECT_FALSE(result.summary.lock) << step;
        EXPECT_FALSE(simulation.find_lock(0.1)) << "from where it is, " << step;
    }
    // The branches of a parallelogram cross where it is flat, at 0 and at pi; nothing locks there.
    Simulation parallelogram(read(R"(
limber: 1
plane: xy
gravity: none
bodies:
  crank: {rod: {from: [0, 0], to: [cos(1), sin(1)], mass: 1}}
  coupler: {rod: {from: [cos(1), sin(1)], to: [2 + cos(1), sin(1)], mass: 1}}
  rocker: {rod: {from: [2, 0], to: [2 + cos(1), sin(1)], mass: 1}}
joints:
  a: {revolute: [ground, crank.from]}
  b: {revolute: [crank.to, coupler.from]}
  c: {revolute: [coupler.to, rocker.to]}
  d: {revolute: [ground, rocker.from], at: [2, 0]}
drivers: {turn: {coordinate: a.angle, follows: 1 + t}}
)"),
                             options("global", "trapezoidal"));
    EXPECT_FALSE(parallelogram.find_lock(0.3)) << "twenty steps of 0.3 s lead twice through the flat position";
}

// A step that fails for another reason, in a mechanism with a driver, is not called a lock.
TEST(Locking, FailedStepsAreNone) {
    SimulationOptions chosen = options("global", "trapezoidal");
    chosen.integrator_options.max_halvings = 0;
    chosen.formulation_options.max_iterations = 3;
    const Model model = read(R"(
limber: 1
plane: xy
bodies:
  arm: {rod: {from: [0, 0], to: [1, 0], mass: 1}}
  bob: {rod: {from: [1, 0], to: [1, 1], mass: 1}}
joints:
  a: {revolute: [ground, arm.from]}
  b: {revolute: [arm.to, bob.from]}
drivers: {turn: {coordinate: a.angle, follows: 40*t^2}}
)");
    const RunResult result = run_to(model, chosen, 2, 0.2);
    EXPECT_FALSE(result.summary.ok) << "the step is far too long";
    EXPECT_FALSE(result.summary.lock) << result.summary.failure;
    // A law that jumps is no lock either.
    const RunResult jump = run_to(read(R"(
limber: 1
plane: xy
bodies: {arm: {rod: {from: [0, 0], to: [1, 0], mass: 1}}}
joints: {a: {revolute: [ground, arm.from]}}
drivers: {turn: {coordinate: a.angle, follows: 3*step(t - 0.105)}}
)"),
                                  chosen, 0.2, 0.01);
    EXPECT_FALSE(jump.summary.lock) << jump.summary.failure;
}

}  // namespace
}  // namespace limber::testing
