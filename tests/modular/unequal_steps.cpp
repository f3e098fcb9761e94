// Components with steps of their own, and what the course of the forces between them does to the energy.

#include <gtest/gtest.h>

#include <cmath>

#include "support/models.hpp"

namespace limber::testing {
namespace {

// Two masses on springs of 100 N/m with a spring of 20 N/m between them, exact inside each step; x(0) = 1.
constexpr const char* oscillators = R"(
limber: 1
plane: xy
gravity: none
bodies:
  ground: {markers: {left: [-10, 0], right: [20, 0], rest: [10, 0]}}
  first: {disc: {radius: 1, mass: 1}}
  second: {disc: {radius: 1, mass: 1}, at: [10, 0]}
joints:
  one: {prismatic: [ground, first]}
  two: {prismatic: [ground, second], at: [10, 0]}
forces:
  left: {spring: [ground.left, first], stiffness: 100, free-length: 10}
  right: {spring: [ground.right, second], stiffness: 100, free-length: 10}
  between: {spring: [first, second], stiffness: 20, free-length: 10}
initial: {positions: {one.displacement: 1}}
sensors:
  x: {position: first}
  y: {position: second, relative-to: ground.rest}
  u: {velocity: first}
  v: {velocity: second}
  energy: {energy: total}
components:
  a: {bodies: [first]}
  b: {bodies: [second]}
)";

SimulationOptions exchange(ForceCourse course) {
    SimulationOptions o = options("augmented-lagrangian", "reference");
    o.modular.division = "groups";
    o.modular.course = course;
    o.modular.use_iteration = false;
    return o;
}

struct Row {
    double step, hold_error, hold_energy, linear_error, linear_energy;
};

// Computed independently (closed form inside each step), from the notes on Carrarini's coupled simulation.
constexpr Row table[] = {{0.02, 1.18e-2, 1.711, 3.14e-2, 1.0178},
                         {0.01, 1.11e-2, 1.288, 7.86e-3, 1.0028},
                         {0.005, 6.50e-3, 1.130, 1.965e-3, 1.00049},
                         {0.0025, 3.44e-3, 1.062, 4.91e-4, 1.00010}};
constexpr double exact_x = 0.25513878;

TEST(UnequalSteps, ExchangedForcesChangeTheEnergyAsTheTableSays) {
    for (const Row& row : table)
        for (const ForceCourse course : {ForceCourse::hold, ForceCourse::linear}) {
            Simulation simulation(read(oscillators), exchange(course));
            const double start = sense(simulation, "energy");
            const StepReport report = simulation.advance(2, row.step);
            ASSERT_TRUE(report.ok) << report.reason;
            const double error = std::abs(sense(simulation, "x.x") - exact_x);
            const double gain = sense(simulation, "energy") / start;
            const bool is_hold = course == ForceCourse::hold;
            EXPECT_NEAR(error, is_hold ? row.hold_error : row.linear_error,
                        0.01 * (is_hold ? row.hold_error : row.linear_error))
                << "step " << row.step;
            EXPECT_NEAR(gain, is_hold ? row.hold_energy : row.linear_energy, is_hold ? 1e-3 : 6e-5)
                << "step " << row.step;
        }
}

// Both masses move at the start, so that the force between them changes there.
std::string moving_oscillators() {
    const std::string at_rest = "positions: {one.displacement: 1}";
    std::string text = oscillators;
    return text.insert(text.find(at_rest) + at_rest.size(), ", rates: {one.displacement: 3, two.displacement: -5}");
}

// Of all positions, and of velocities over the frequency of 10 rad/s, after 2 s. Sum and difference of both oscillate
// by themselves.
double error_of_moving_oscillators(ForceCourse course, bool use_iteration, double step) {
    SimulationOptions o = exchange(course);
    o.modular.use_iteration = use_iteration;
    Simulation simulation(read(moving_oscillators()), o);
    const StepReport report = simulation.advance(2, step);
    EXPECT_TRUE(report.ok) << report.reason;
    const auto oscillate = [](double frequency, double place, double speed) {
        const double angle = 2 * frequency;
        return Vec2(place * std::cos(angle) + speed / frequency * std::sin(angle),
                    speed * std::cos(angle) - place * frequency * std::sin(angle));
    };
    const Vec2 mean = oscillate(10, 0.5, -1);
    const Vec2 half = oscillate(std::sqrt(140.0), 0.5, 4);
    const Vec2 first = Vec2(sense(simulation, "x.x"), sense(simulation, "u.x")) - (mean + half);
    const Vec2 second = Vec2(sense(simulation, "y.x"), sense(simulation, "v.x")) - (mean - half);
    return std::max({std::abs(first[0]), std::abs(second[0]), std::abs(first[1]) / 10, std::abs(second[1]) / 10});
}

struct CourseError {
    ForceCourse course;
    bool use_iteration;
    double coarse, fine;  // with 10 and 5 ms
    double order;
};

// Computed independently (closed form inside each step; a straight course by its middle, a parabola as it is).
class CourseOfForces : public ::testing::TestWithParam<CourseError> {};

TEST_P(CourseOfForces, HasTheOrderOfItsPolynomial) {
    const CourseError& c = GetParam();
    const double coarse = error_of_moving_oscillators(c.course, c.use_iteration, 0.01);
    const double fine = error_of_moving_oscillators(c.course, c.use_iteration, 0.005);
    EXPECT_NEAR(coarse, c.coarse, 0.02 * c.coarse);
    EXPECT_NEAR(fine, c.fine, 0.02 * c.fine);
    EXPECT_NEAR(std::log2(coarse / fine), c.order, 0.1);
}

INSTANTIATE_TEST_SUITE_P(All, CourseOfForces,
                         ::testing::Values(CourseError{ForceCourse::hold, false, 1.31e-1, 6.35e-2, 1},
                                           CourseError{ForceCourse::linear, false, 7.64e-3, 1.96e-3, 2},
                                           CourseError{ForceCourse::quadratic, false, 1.16e-3, 1.53e-4, 3},
                                           CourseError{ForceCourse::linear, true, 4.18e-3, 1.05e-3, 2},
                                           CourseError{ForceCourse::quadratic, true, 4.01e-4, 5.22e-5, 3}));

// With the forces of the end found by iteration nothing is extrapolated, and the energy stays.
TEST(UnequalSteps, IterationKeepsTheEnergy) {
    SimulationOptions o = options("global", "trapezoidal");
    o.modular.division = "groups";
    o.modular.tolerance = 1e-11;
    Simulation simulation(read(oscillators), o);
    const double start = sense(simulation, "energy");
    ASSERT_TRUE(simulation.advance(2, 0.01).ok);
    EXPECT_NEAR(sense(simulation, "energy") / start, 1, 1e-9);
}

// A spring between components that is far too stiff for its force to be iterated by itself: h^2 k / 4 m = 25.
TEST(UnequalSteps, StiffForcesTakeAFewEvaluations) {
    std::string stiff = oscillators;
    stiff.replace(stiff.find("stiffness: 20"), 13, "stiffness: 1e6, damping: 200");
    SimulationOptions o = options("global", "trapezoidal");
    o.formulation_options.tolerance = 1e-10;
    Simulation whole(read(stiff), o);
    o.modular.division = "groups";
    Simulation divided(read(stiff), o);
    ASSERT_TRUE(whole.advance(0.5, 0.01).ok);
    const StepReport report = divided.advance(0.5, 0.01);
    ASSERT_TRUE(report.ok) << report.reason;
    EXPECT_LT(report.iterations / 50.0, 15);
    EXPECT_NEAR(sense(divided, "x.x"), sense(whole, "x.x"), 1e-8);
    EXPECT_NEAR(sense(divided, "y.x"), sense(whole, "y.x"), 1e-8);
}

// The second mass takes four steps in one of the whole, over which the force of the spring runs straight.
Model with_own_steps(const char* spring, const std::string& outer = "stiffness: 100") {
    std::string text = oscillators;
    const std::string usual = "stiffness: 100,";
    for (std::size_t at = text.find(usual); at != std::string::npos; at = text.find(usual, at + 1))
        text.replace(at, usual.size(), outer + ",");
    text.replace(text.find("stiffness: 20"), 13, spring);
    text.replace(text.find("bodies: [second]"), 16, "bodies: [second], step: 0.0025");
    text.replace(text.find("one.displacement: 1"), 19, "one.displacement: 0.01");
    return read(text);
}

SimulationOptions divided_options() {
    SimulationOptions o = options("global", "trapezoidal");
    o.modular.division = "groups";
    return o;
}

// Newmark's schemes with beta = 1/4 on one side and 11/64, that of four steps under a straight course, on the other:
// stable up to 1.28e5 N/m.
TEST(UnequalSteps, UnresolvedSpringsEndTheRun) {
    SimulationOptions o = divided_options();
    o.integrator_options.max_halvings = 0;
    Simulation simulation(with_own_steps("stiffness: 3e5"), o);
    State last;
    StepReport report;
    while (report.ok && simulation.time() < 0.5) {
        last = simulation.state();
        report = simulation.step(0.01);
    }
    ASSERT_FALSE(report.ok);
    EXPECT_LT(simulation.time(), 0.1);
    EXPECT_EQ(simulation.state().q, last.q);
    for (const char* word : {"'between'", "0.01 s", "step of the whole smaller"})
        EXPECT_NE(report.reason.find(word), std::string::npos) << report.reason;
    // It does not go on with unequal steps, but does with one that all take.
    EXPECT_FALSE(simulation.step(0.01).ok);
    EXPECT_FALSE(simulation.step(0.005).ok);
    EXPECT_TRUE(simulation.step(0.0025).ok);
}

// Where steps that fail are divided, they are until all components take the same.
TEST(UnequalSteps, UnresolvedSpringsDivideTheStep) {
    Simulation simulation(with_own_steps("stiffness: 3e5, damping: 200"), divided_options());
    const double start = sense(simulation, "energy");
    const StepReport report = simulation.advance(1, 0.01);
    ASSERT_TRUE(report.ok) << report.reason;
    EXPECT_LT(sense(simulation, "energy"), start);
}

// Forces fade until rounding of the positions, 10 m from the origin, is all there is of them.
TEST(UnequalSteps, DampedSpringsComeToRestAndStay) {
    for (const char* spring : {"stiffness: 1e4, damping: 200", "stiffness: 2e4, damping: 20", "stiffness: 20"}) {
        SCOPED_TRACE(spring);
        SimulationOptions o = divided_options();
        o.integrator_options.max_halvings = 0;
        Simulation simulation(with_own_steps(spring, "stiffness: 100, damping: 20"), o);
        int most = 0;
        for (int i = 0; i < 10000; ++i) {
            const StepReport report = simulation.step(0.01);
            ASSERT_TRUE(report.ok) << "t = " << simulation.time() << ": " << report.reason;
            most = std::max(most, report.iterations);
        }
        EXPECT_LT(most, 20);
        EXPECT_LT(std::abs(sense(simulation, "x.x")), 1e-12);
        // A rounding error of 10 m is 1.8e-15 m, which difference formulas of 2.5 ms steps make 1.4e-12 m/s: some of
        // these.
        EXPECT_LT(std::abs(sense(simulation, "u.x")), 1e-11);
    }
}

TEST(UnequalSteps, ResolvedSpringsPass) {
    for (const char* spring : {"stiffness: 2e4", "stiffness: 1e5", "stiffness: 1.2e5"}) {
        SimulationOptions o = divided_options();
        o.integrator_options.max_halvings = 0;
        Simulation simulation(with_own_steps(spring), o);
        const double start = sense(simulation, "energy");
        const StepReport report = simulation.advance(5, 0.01);
        ASSERT_TRUE(report.ok) << spring << ": " << report.reason;
        EXPECT_LT(sense(simulation, "energy"), 1.1 * start) << spring;
    }
}

// A double pendulum whose links take 1, 3 or 7 own steps in one of the whole: the error falls with the second order of
// the scheme, and is less than that of the undivided one, 3.04e-5 with 2 ms.
TEST(UnequalSteps, AnyRatioConverges) {
    using enum ForceCourse;
    for (const auto& [ratio, course] : {std::pair{1.0 / 3, linear}, std::pair{1.0 / 7, linear}, std::pair{0.4, linear},
                                        std::pair{1.0 / 7, quadratic}}) {
        const auto tip = [ratio = ratio, course = course](double step) {
            Model model = example("double-pendulum.yaml");
            model.simulation.components = {{"up", {"upper"}, "", "", "", std::nullopt},
                                           {"low", {"lower"}, "", "", "", Number(ratio * step)}};
            SimulationOptions o = options("global", "trapezoidal");
            o.modular.division = "groups";
            o.modular.course = course;
            Simulation simulation(model, o);
            const StepReport report = simulation.advance(0.5, step);
            EXPECT_TRUE(report.ok) << report.reason;
            return Vec2(sense(simulation, "tip.x"), sense(simulation, "tip.y"));
        };
        const Vec2 exact(0.84474417, -1.74219412);
        const double coarse = (tip(4e-3) - exact).norm();
        const double fine = (tip(2e-3) - exact).norm();
        EXPECT_LT(coarse, 1e-4) << ratio;
        EXPECT_LT(fine, 2.2e-5) << ratio;
        EXPECT_GT(std::log2(coarse / fine), 1.5) << ratio;
    }
}

}  // namespace
}  // namespace limber::testing
