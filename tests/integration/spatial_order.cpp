// Order of convergence in space: bodies that turn all the way round, against references that share no code with the
// engine. Planar mechanisms cannot show what happens to Euler parameters, nor what a fast spin does to Newton's method.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "integration/spatial_cases.hpp"
#include "limber/methods/integrators.hpp"
#include "support/models.hpp"

namespace limber::testing {
namespace {

VecX look(Simulation& simulation, const SpatialCase& c) {
    const std::vector<double> values = sense_all(simulation);
    const auto& columns = simulation.observer().columns();
    return c.seen([&](const std::string& name) {
        const auto it = std::find(columns.begin(), columns.end(), name);
        if (it == columns.end()) throw std::invalid_argument("there is no sensor " + name);
        return values[static_cast<std::size_t>(it - columns.begin())];
    });
}

double error_after(const SpatialCase& c, const SimulationOptions& o, double end, double step) {
    Simulation simulation(read(c.yaml), o);
    EXPECT_LT((look(simulation, c) - c.exact(0)).norm(), 1e-12) << c.name << " starts elsewhere";
    const StepReport report = simulation.advance(end, step);
    EXPECT_TRUE(report.ok) << report.reason;
    return (look(simulation, c) - c.exact(end)).norm();
}

SpatialCase find_case(const std::string& name) {
    for (SpatialCase& c : spatial_cases())
        if (c.name == name) return c;
    throw std::invalid_argument(name);
}
std::vector<std::string> case_names() {
    std::vector<std::string> names;
    for (const SpatialCase& c : spatial_cases()) names.push_back(c.name);
    return names;
}
const auto by_parameters = [](const auto& info) {
    std::string name;
    std::apply([&](const auto&... part) { ((name += (name.empty() ? "" : "_") + part), ...); }, info.param);
    return test_name(name);
};

// ---------------------------------------------------------------- the references themselves

TEST(SpatialReference, JacobisFunctionsSolveEulersEquations) {
    const SpatialCase c = torque_free();
    const VecX w = integrate(
        [](const VecX& x) {
            return make_vector({(2 - 2.5) / 1 * x[1] * x[2], (2.5 - 1) / 2 * x[2] * x[0], (1 - 2) / 2.5 * x[0] * x[1]});
        },
        make_vector({20, 25, 0}), 0.7, 200);
    EXPECT_LT((c.exact(0.7).head(3) - w / 30).norm(), 1e-12);
}

TEST(SpatialReference, IntegrationsHaveConverged) {
    // A pendulum that turns over, against the integral of its energy: t = int da / sqrt(w0^2 - 2 k (1 - cos a)).
    const double a = 7.3;
    const auto rate = [](double angle) { return std::sqrt(36 - 10 * (1 - std::cos(angle))); };
    const VecX t = integrate(
        [&](const VecX& x) {
            return make_vector({1, 1 / rate(x[0])});
        },
        make_vector({0, 0}), a, 300);
    const VecX y = integrate(
        [](const VecX& x) {
            return make_vector({x[1], -5 * std::sin(x[0])});
        },
        make_vector({0, 6}), t[1], 300);
    EXPECT_NEAR(y[0], a, 1e-11);
    EXPECT_NEAR(y[1], rate(a), 1e-11);
}

// ---------------------------------------------------------------- every formulation and integrator

class SpatialOrder : public ::testing::TestWithParam<std::tuple<std::string, std::string, std::string>> {};

TEST_P(SpatialOrder, IsTheOneOfTheScheme) {
    const auto& [name, formulation, integrator] = GetParam();
    const SpatialCase c = find_case(name);
    const int order = find_integrator(integrator).order;
    // Errors of third order change their sign at about 2 ms in the slider-crank.
    const double step = order == 4 ? 4e-3 : order == 3 ? 1e-3 : 2e-3;
    const auto expect_order = [&](const SimulationOptions& o, double least) {
        const double end = 0.32;
        const double coarse = error_after(c, o, end, step);
        const double fine = error_after(c, o, end, step / 4);
        EXPECT_GT(std::log(coarse / fine) / std::log(4), least) << coarse << " " << fine;
        EXPECT_LT(fine, order == 1 ? 0.3 : 0.02);
    };
    SimulationOptions o = options(formulation, integrator);
    const FormulationInfo& info = find_formulation(formulation);
    const bool has_gains = order == 3 && !info.is_step_solver() && info.coordinates == "relative";
    // Gains tied to the step add an error of second order in loops of relative coordinates; projection does not.
    expect_order(o, has_gains ? 2 : order - 0.3);
    if (!has_gains) return;
    o.formulation_options.stabilisation = Stabilisation::projection;
    expect_order(o, order - 0.3);
}

INSTANTIATE_TEST_SUITE_P(All, SpatialOrder,
                         ::testing::Combine(::testing::ValuesIn(case_names()), ::testing::ValuesIn(formulation_names()),
                                            ::testing::Values("trapezoidal", "newmark", "hht", "generalized-alpha",
                                                              "linear-acceleration", "higher-order", "rk4",
                                                              "semi-implicit-euler", "explicit-euler")),
                         by_parameters);

// ---------------------------------------------------------------- tiny steps

class SpatialSteps : public ::testing::TestWithParam<std::tuple<std::string, std::string>> {};

// From 10 ms to 10 us a step of a tenth leaves a hundredth of the error, until rounding.
TEST_P(SpatialSteps, AreNeverWorseWhenSmaller) {
    const auto& [name, formulation] = GetParam();
    const SpatialCase c = find_case(name);
    constexpr double rounding = 2e-8;
    double before = 0;
    for (const double step : {1e-2, 1e-3, 1e-4, 1e-5}) {
        const double error = error_after(c, options(formulation, "trapezoidal"), 0.3, step);
        // Steps of 10 ms are too long for an order.
        const double part = step < 5e-4 ? 0.015 : 1;
        EXPECT_LT(error, step < 5e-3 ? std::max(part * before, rounding) : 10) << step;
        before = error;
    }
}

INSTANTIATE_TEST_SUITE_P(All, SpatialSteps,
                         ::testing::Combine(::testing::ValuesIn(case_names()),
                                            ::testing::ValuesIn(formulation_names())),
                         by_parameters);

// A top of 160 rad/s. In Euler parameters the trapezoidal rule keeps the tilt itself: what is seen is left by Newton's
// method.
class FastTop : public ::testing::TestWithParam<std::string> {};

TEST_P(FastTop, KeepsItsTiltInSmallSteps) {
    const SpatialCase c = steady_top(3e-3, 2e-3);
    constexpr double negligible = 1e-6;
    double before = 1;
    for (const double step : {1e-3, 5e-4, 3e-4, 2.5e-4, 1e-4}) {
        Simulation simulation(read(c.yaml), options(GetParam(), "trapezoidal"));
        double error = 0;
        for (int i = 1; i <= 20; ++i) {
            ASSERT_TRUE(simulation.advance(0.1 * i, step).ok);
            error = std::max(error, std::abs(look(simulation, c)[2] - c.exact(0)[2]));
        }
        EXPECT_LT(error, std::max(before, negligible)) << step;
        before = error;
    }
    EXPECT_LT(before, GetParam() == "global" ? 4e-5 : negligible);
}

INSTANTIATE_TEST_SUITE_P(StepSolvers, FastTop, ::testing::Values("global", "hybrid", "semi-recursive"),
                         [](const auto& info) { return test_name(info.param); });

// ---------------------------------------------------------------- many turns

class ManyTurns : public ::testing::TestWithParam<std::tuple<std::string, std::string>> {};

// With them come many changes of the independent coordinates of `semi-recursive`: the order goes through all of them.
TEST_P(ManyTurns, KeepTheOrder) {
    const auto& [name, integrator] = GetParam();
    const SpatialCase c = find_case(name);
    const int order = find_integrator(integrator).order;
    const double coarse = error_after(c, options("semi-recursive", integrator), 3, 1e-3);
    const double fine = error_after(c, options("semi-recursive", integrator), 3, 2.5e-4);
    EXPECT_GT(std::log(coarse / fine) / std::log(4), order - 0.2) << coarse << " " << fine;
    EXPECT_LT(fine, order == 3 ? 1e-4 : 4e-3);
}

INSTANTIATE_TEST_SUITE_P(
    SemiRecursive, ManyTurns,
    ::testing::Combine(::testing::Values("torque_free", "spatial_slider_crank", "free_body_on_a_cut_ball"),
                       ::testing::Values("trapezoidal", "generalized-alpha", "hht", "higher-order")),
    by_parameters);

// ---------------------------------------------------------------- long steps

// A body that spins by theta in a step: points go along chords, and tan(theta' / 2) = theta / 2; Euler parameters do so
// at half the angle. This is where the limit on the turn of a body in a step comes from (docs/theory/integrators.md).
TEST(TurnInAStep, IsShortenedAsTheTrapezoidalRuleSays) {
    const Model model = read(R"(
limber: 1
gravity: none
bodies: {b: {mass: 1, inertia: [2, 2, 1], angular-velocity: [0, 0, 10], markers: {x: [1, 0, 0]}}}
sensors: {x: {position: b.x}}
)");
    for (const double theta : {0.1, 0.5, 1.0}) {
        const auto turned = [&](const char* formulation) {
            SimulationOptions o = options(formulation, "trapezoidal");
            o.formulation_options.tolerance = 1e-12;
            Simulation simulation(model, o);
            double angle = 0;
            for (int i = 0; i < 50; ++i) {
                const StepReport report = simulation.step(theta / 10);
                EXPECT_TRUE(report.ok && report.substeps == 1) << formulation << " " << report.reason;
                const double now = std::atan2(sense(simulation, "x.y"), sense(simulation, "x.x"));
                angle += std::remainder(now - angle, 2 * pi);
            }
            return angle;
        };
        EXPECT_NEAR(turned("global"), 50 * 2 * std::atan(theta / 2), 1e-7) << theta;
        EXPECT_NEAR(turned("hybrid"), 50 * 4 * std::atan(theta / 4), 1e-7) << theta;
    }
}

}  // namespace
}  // namespace limber::testing
