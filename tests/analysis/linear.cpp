// Linear analysis against closed forms and published numbers.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <complex>

#include "limber/analysis/linear/linear_flow.hpp"
#include "limber/analysis/linear/modes.hpp"
#include "limber/dynamics/formulation.hpp"
#include "limber/model/error.hpp"
#include "support/models.hpp"

namespace limber::testing {
namespace {

LinearModes modes_of(const Model& model, const std::string& coordinates = "relative") {
    SimulationOptions options;
    options.coordinates = coordinates;
    return find_modes(linearise(Simulation(model, options)));
}

// Those that are not zero, in the order of the result.
std::vector<std::complex<double>> moving(const LinearModes& modes) {
    std::vector<std::complex<double>> list;
    for (const std::complex<double>& value : modes.eigen.values)
        if (value != 0.0) list.push_back(value);
    return list;
}

void expect_values(const LinearModes& modes, const std::vector<std::complex<double>>& expected, double tolerance) {
    const auto found = moving(modes);
    ASSERT_EQ(found.size(), expected.size());
    for (std::size_t i = 0; i < found.size(); ++i)
        EXPECT_LT(std::abs(found[i] - expected[i]), tolerance) << i << ": " << found[i];
}

// m 1, d 0.4, k 4: -0.2 +- sqrt(4 - 0.04) i.
TEST(Modes, DampedOscillator) {
    const Model model = read(R"(
limber: 1
plane: xy
gravity: none
bodies: {mass: {point: {mass: 1}}}
joints: {rail: {prismatic: [ground, mass], axis: [1, 0]}}
forces: {spring: {motor: rail.displacement, law: -4*x - 0.4*v}}
)");
    for (const char* coordinates : {"relative", "natural", "reference-point"}) {
        const LinearModes modes = modes_of(model, coordinates);
        expect_values(modes, {{-0.2, -1.98997487421324}, {-0.2, 1.98997487421324}}, 1e-11);
        EXPECT_EQ(modes.verdict, "stable");
        EXPECT_TRUE(modes.zero.empty());
        EXPECT_NEAR(modes.damping_ratios[0], 0.1, 1e-11);
        EXPECT_NEAR(modes.frequencies_hz[1], 1.98997487421324 / (2 * pi), 1e-11);
        EXPECT_NEAR(std::abs(modes.shapes[0].shape[0]), 1, 1e-12);  // mass 1
    }
}

// Hanging (w^2 = g / l), standing, and both in plane and space.
TEST(Modes, PendulumHangsAndStands) {
    for (const char* plane : {"plane: xy", "gravity: [0, -9.81, 0]"})
        for (const double side : {-1.0, 1.0}) {
            const Model model =
                read(fmt::format(R"(
limber: 1
{}
bodies: {{bob: {{point: {{mass: 2}}, at: [0, {}{}]}}}}
joints: {{pivot: {{revolute: [ground, bob], at: [0, 0{}]{}}}}}
)",
                                 plane, 0.7 * side, plane[0] == 'p' ? "" : ", 0", plane[0] == 'p' ? "" : ", 0",
                                 plane[0] == 'p' ? "" : ", axis: [0, 0, 1]"));
            const LinearModes modes = modes_of(model);
            const double w = std::sqrt(9.81 / 0.7);
            if (side < 0)
                expect_values(modes, {{0, -w}, {0, w}}, 1e-10);
            else
                expect_values(modes, {{-w, 0}, {w, 0}}, 1e-10);
            EXPECT_EQ(modes.verdict, side < 0 ? "critical" : "unstable");
        }
}

// Three masses between four springs: w = 2 sqrt(k / m) sin(j pi / 8).
TEST(Modes, ChainOfSprings) {
    const Model model = read(R"(
limber: 1
plane: xy
gravity: none
bodies:
  a: {point: {mass: 0.5}, at: [1, 0]}
  b: {point: {mass: 0.5}, at: [2, 0]}
  c: {point: {mass: 0.5}, at: [3, 0]}
joints:
  ra: {prismatic: [ground, a], axis: [1, 0]}
  rb: {prismatic: [ground, b], axis: [1, 0]}
  rc: {prismatic: [ground, c], axis: [1, 0]}
forces:
  s1: {motor: ra.displacement, law: -200*x}
  s2: {spring: [a, b], stiffness: 200, free-length: 1}
  s3: {spring: [b, c], stiffness: 200, free-length: 1}
  s4: {motor: rc.displacement, law: -200*x}
)");
    const auto found = moving(modes_of(model));
    ASSERT_EQ(found.size(), 6U);
    for (int j = 1; j <= 3; ++j) EXPECT_NEAR(found[2 + j].imag(), 40 * std::sin(j * pi / 8), 1e-9) << j;
}

// A pendulum on an arm that turns evenly about the vertical: at rest in it for cos(angle) = g / (W^2 l); swings by
// w = W sin(angle), beside a driven turn.
TEST(Modes, PendulumOnATurningShaftIsSteady) {
    const double angle = std::acos(9.81 / 25);
    const Model model = read(fmt::format(R"(
limber: 1
bodies:
  shaft: {{mass: 1, inertia: [1, 1, 1], angular-velocity: [0, 0, 5]}}
  bob: {{point: {{mass: 1e-3}}, at: [{0:.17g}, 0, {1:.17g}], velocity: [0, {2:.17g}, 0], angular-velocity: [0, 0, 5]}}
joints:
  bearing: {{revolute: [ground, shaft], at: [0, 0, 0], axis: [0, 0, 1]}}
  hinge: {{revolute: [shaft, bob], at: [0, 0, 0], axis: [0, 1, 0]}}
drivers: {{drive: {{coordinate: bearing.angle, follows: 5*t}}}}
)",
                                         std::sin(angle), -std::cos(angle), 5 * std::sin(angle)));
    const LinearModes modes = modes_of(model);
    const double w = 5 * std::sin(angle);
    expect_values(modes, {{0, -w}, {0, w}}, 1e-8);
    EXPECT_EQ(modes.verdict, "critical");
}

// A loop, in space with redundant rows: two arms of mass 0.3 and length 0.5 carry a bar of mass 2,
// w^2 = (g / l) (2 + 0.3) / (2 + 2 * 0.3 / 3).
TEST(Modes, ParallelogramHangs) {
    for (const char* head : {"plane: xy", "gravity: [0, -9.81, 0]"}) {
        const bool is_planar = head[0] == 'p';
        const std::string z = is_planar ? "" : ", 0";
        const std::string axis = is_planar ? "" : ", axis: [0, 0, 1]";
        const Model model = read(fmt::format(R"(
limber: 1
{0}
bodies:
  left: {{rod: {{from: [0, 0{1}], to: [0, -0.5{1}], mass: 0.3}}}}
  right: {{rod: {{from: [1, 0{1}], to: [1, -0.5{1}], mass: 0.3}}}}
  bar: {{rod: {{from: [0, -0.5{1}], to: [1, -0.5{1}], mass: 2}}}}
joints:
  a: {{revolute: [ground, left], at: [0, 0{1}]{2}}}
  b: {{revolute: [ground, right], at: [1, 0{1}]{2}}}
  c: {{revolute: [left, bar], at: [0, -0.5{1}]{2}}}
  d: {{revolute: [right, bar], at: [1, -0.5{1}]{2}}}
)",
                                             head, z, axis));
        const double w = std::sqrt(9.81 / 0.5 * 2.3 / 2.2);
        expect_values(modes_of(model), {{0, -w}, {0, w}}, 1e-9);
    }
}

// A free body that spins about its axis of middle inertia tumbles: s = n sqrt((B - A) (C - B) / (A C)).
TEST(Modes, SpinAboutTheMiddleAxisIsUnstable) {
    const Model model = read(R"(
limber: 1
gravity: none
bodies: {racket: {mass: 1, inertia: [1, 2, 2.5], angular-velocity: [0, 3, 0]}}
)");
    const LinearModes modes = modes_of(model);
    EXPECT_EQ(modes.verdict, "unstable");
    double fastest = 0;
    for (const auto& value : moving(modes)) fastest = std::max(fastest, value.real());
    EXPECT_NEAR(fastest, 3 * std::sqrt(1.0 * 0.5 / 2.5), 1e-9);
}

// Meijaard, Papadopoulos, Ruina and Schwab (2007), Table 2 and section 5: v = 5 m/s.
TEST(Modes, BicycleOfTheBenchmark) {
    const LinearModes modes = modes_of(example("bicycle.yaml"));
    expect_values(modes,
                  {{-0.77534188219585, -4.46486771378823},
                   {-14.07838969279822, 0},
                   {-0.32286642900409, 0},
                   {-0.77534188219585, 4.46486771378823}},
                  1e-9);
    EXPECT_EQ(modes.eigen.values.size(), 10);
    EXPECT_EQ(modes.verdict, "stable");
    EXPECT_EQ(modes.zero.size(), 5U);  // two ways, a heading, two wheels
}

TEST(Modes, BicycleLeavesItsStableSpeedsWhereItShould) {
    const auto largest = [](double speed) {
        const auto list = moving(modes_of(
            read_model_file(std::string(LIMBER_EXAMPLES) + "/bicycle.yaml", {{"u", fmt::format("{:.17g}", speed)}})
                .model));
        double real = -1e9;
        for (const auto& value : list) real = std::max(real, value.real());
        return real;
    };
    const double weave = 4.29238253634111;
    const double capsize = 6.02426201538843;
    EXPECT_GT(largest(weave - 1e-7), 0);
    EXPECT_LT(largest(weave + 1e-7), 0);
    EXPECT_LT(largest(capsize - 1e-5), 0);
    EXPECT_GT(largest(capsize + 1e-5), 0);
}

// Accelerations beside those of a state, by a solver that knows nothing of linear analysis, in two sets of coordinates.
class FlowOfExample : public ::testing::TestWithParam<const char*> {};

TEST_P(FlowOfExample, IsThatOfFiniteDifferences) {
    for (const char* coordinates : {"relative", "reference-point"}) {
        SimulationOptions options;
        options.formulation = "augmented-lagrangian";
        options.coordinates = coordinates;
        const Simulation simulation(example(GetParam()), options);
        const auto system = simulation.shared_system();
        const State& state = simulation.state();
        LinearFlow flow(*system, state.t, state.q, state.v, state.memory);
        flow.differentiate();
        const auto solver = make_acceleration_solver("null-space", system);
        // What a straight way is off the surface cancels from both sides; but dependent rows of loops agree on it only.
        const bool is_loop = std::string(GetParam()).starts_with("loops/");
        const auto projector = make_acceleration_solver("augmented-lagrangian", system);
        const auto accelerate = [&](VecX q, VecX v) {
            if (is_loop) {
                EXPECT_TRUE(projector->project(state.t, q, v, state.memory)) << projector->failure();
            }
            VecX a = state.a;
            VecX lambda = state.lambda;
            EXPECT_TRUE(solver->solve(state.t, q, v, state.memory, a, lambda));
            return a;
        };
        const double scale = std::max(1.0, flow.accelerations().lpNorm<Eigen::Infinity>());
        for (int i = 0; i < flow.states(); ++i) {
            const int p = flow.positions();
            const VecX dq = i < p ? VecX(flow.free_positions().col(i)) : VecX::Zero(system->size());
            const VecX dv = i < p ? flow.drift().col(i) : flow.free_velocities().col(i - p);
            const double h = 1e-4 / std::max(dq.lpNorm<Eigen::Infinity>(), dv.lpNorm<Eigen::Infinity>());
            const VecX difference =
                (accelerate(flow.q() + h * dq, flow.v() + h * dv) - accelerate(flow.q() - h * dq, flow.v() - h * dv)) /
                (2 * h);
            EXPECT_LT((difference - flow.accelerations().col(i)).lpNorm<Eigen::Infinity>(), 1e-6 * scale)
                << coordinates << ", state " << i;
        }
    }
}

INSTANTIATE_TEST_SUITE_P(All, FlowOfExample,
                         ::testing::Values("bicycle.yaml", "andrews.yaml", "double-pendulum.yaml", "slider-crank.yaml",
                                           "n-four-bar.yaml", "forces/bushing.yaml", "forces/servo.yaml",
                                           "forces/drag.yaml", "joints/rolling-disc.yaml", "joints/two-wheels.yaml",
                                           "joints/spherical.yaml", "joints/gear.yaml", "joints/skate.yaml",
                                           "loops/bennett.yaml", "loops/spatial-four-bar.yaml"),
                         [](const auto& info) { return test_name(info.param); });

TEST(Modes, KinksAreRefused) {
    const auto with_law = [](const char* law) {
        return read(fmt::format(R"(
limber: 1
plane: xy
gravity: none
bodies: {{mass: {{point: {{mass: 1}}}}}}
joints: {{rail: {{prismatic: [ground, mass], axis: [1, 0]}}}}
forces: {{spring: {{motor: rail.displacement, law: {}}}}}
)",
                                law));
    };
    EXPECT_THROW(modes_of(with_law("-abs(x)")), ModelError);
    EXPECT_THROW(modes_of(with_law("-sign(v) - x")), ModelError);
    EXPECT_NO_THROW(modes_of(with_law("-x - x^3")));
}

TEST(Modes, WhatIsNeitherAtRestNorSteadyIsToldSo) {
    const LinearModes modes = modes_of(example("double-pendulum.yaml"));
    EXPECT_EQ(modes.verdict, "unsteady");
    EXPECT_FALSE(modes.reason.empty());
}

}  // namespace
}  // namespace limber::testing
