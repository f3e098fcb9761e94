// Observed order of convergence of every integrator, under a step solver and under acceleration solvers.

#include <gtest/gtest.h>

#include <cmath>

#include "limber/integration/structural.hpp"
#include "support/measures.hpp"
#include "support/models.hpp"

namespace limber::testing {
namespace {

constexpr examples::Instant tip = examples::pendulum_tip[1];

class Order : public ::testing::TestWithParam<std::tuple<std::string, std::string>> {};

TEST_P(Order, IsTheOneOfTheScheme) {
    const std::string integrator = std::get<0>(GetParam());
    const std::string formulation = std::get<1>(GetParam());
    const int order = find_integrator(integrator).order;
    const auto [observed, limit] = examples::observe_order(options(formulation, integrator));
    EXPECT_GT(observed, order - 0.25);
    EXPECT_LT(observed,
              order + (order == 4 ? 0.4 : 0.25));  // errors of fourth order cancel in part in relative coordinates
    EXPECT_LT((limit - Vec2(tip.x, tip.y)).norm(), order == 1 ? 1e-3 : 1e-6);
    RecordProperty("observed_order", std::to_string(observed));
}

INSTANTIATE_TEST_SUITE_P(
    All, Order,
    ::testing::Combine(::testing::Values("trapezoidal", "newmark", "hht", "generalized-alpha", "linear-acceleration",
                                         "higher-order", "rk4", "semi-implicit-euler", "explicit-euler"),
                       ::testing::ValuesIn(formulation_names())),
    [](const auto& info) { return test_name(std::get<0>(info.param) + "_" + std::get<1>(info.param)); });

TEST(Reference, AgreesWithThePublishedDigits) {
    for (const std::string& formulation : formulation_names()) {
        Simulation simulation(example("double-pendulum.yaml"), options(formulation, "reference"));
        ASSERT_TRUE(simulation.advance(1, 0.05).ok);
        // Penalty is limited by its penalty, not by the integrator.
        const double tolerance = formulation == "penalty" ? 1e-6 : 1e-8;
        EXPECT_NEAR(sense(simulation, "tip.x"), tip.x, tolerance) << formulation;
        EXPECT_NEAR(sense(simulation, "tip.y"), tip.y, tolerance) << formulation;
    }
}

TEST(StructuralScheme, HasTheCoefficientsOfTheTable) {
    IntegratorOptions o;
    o.newmark_xi = -0.3;
    o.hht_delta = 0.2;
    o.rho_infinity = 0.5;
    const StructuralScheme newmark = make_structural_scheme("newmark", o);
    EXPECT_DOUBLE_EQ(newmark.beta, 1.3 * 1.3 / 4);
    EXPECT_DOUBLE_EQ(newmark.gamma, 0.8);
    const StructuralScheme hht = make_structural_scheme("hht", o);
    EXPECT_DOUBLE_EQ(hht.delta_f, 0.2);
    EXPECT_DOUBLE_EQ(hht.beta, 1.44 / 4);
    EXPECT_DOUBLE_EQ(hht.gamma, 0.7);
    const StructuralScheme alpha = make_structural_scheme("generalized-alpha", o);
    EXPECT_DOUBLE_EQ(alpha.delta_m, 0);
    EXPECT_DOUBLE_EQ(alpha.delta_f, 1.0 / 3.0);
    EXPECT_DOUBLE_EQ(alpha.gamma, 0.5 + 1.0 / 3.0);
    EXPECT_DOUBLE_EQ(alpha.beta, 0.25 * (4.0 / 3.0) * (4.0 / 3.0));
    // The trapezoidal rule is a member of every family.
    o.newmark_xi = 0;
    o.hht_delta = 0;
    EXPECT_DOUBLE_EQ(make_structural_scheme("newmark", o).beta, 0.25);
    EXPECT_DOUBLE_EQ(make_structural_scheme("hht", o).gamma, 0.5);
}

TEST(StructuralScheme, RefusesParametersOutsideTheirRange) {
    IntegratorOptions o;
    o.hht_delta = 0.35;  // printed so in the paper's table 6, outside its own range
    EXPECT_THROW(make_structural_scheme("hht", o), ModelError);
    o.newmark_xi = 0.1;
    EXPECT_THROW(make_structural_scheme("newmark", o), ModelError);
    o.rho_infinity = 1.5;
    EXPECT_THROW(make_structural_scheme("generalized-alpha", o), ModelError);
}

TEST(StructuralScheme, HigherOrderFormulasIntegrateParabolasExactly) {
    // a(t) = 1 + 2 t + 3 t^2 from t = 0, previous instant at -r h, for unequal steps too.
    StructuralScheme scheme;
    scheme.looks_back = true;
    const auto a = [](double t) { return 1 + 2 * t + 3 * t * t; };
    for (const double r : {1.0, 0.5, 2.3}) {
        constexpr double h = 0.4;
        State state;
        state.q = VecX::Constant(1, 0.7);
        state.v = VecX::Constant(1, -0.2);
        state.scheme_a = VecX::Constant(1, a(0));
        state.previous_a = VecX::Constant(1, a(-r * h));
        state.previous_step = r * h;
        DifferenceFormulas f;
        update_formulas(scheme, state, h, f);
        const double v = f.v_hat[0] + f.gamma * h * a(h);
        const double q = f.q_hat[0] + f.beta * h * h * a(h);
        EXPECT_NEAR(v, -0.2 + h + h * h + h * h * h, 1e-14) << r;
        EXPECT_NEAR(q, 0.7 - 0.2 * h + h * h / 2 + h * h * h / 3 + h * h * h * h / 4, 1e-14) << r;
    }
}

// Spectral radius at infinity: an infinitely stiff spring is damped by rho per step (two steps for the double root).
TEST(StructuralScheme, GeneralizedAlphaDampsStiffnessAsAsked) {
    const Model model = read(R"(
limber: 1
plane: xy
gravity: none
bodies: {m: {box: {size: [0.1, 0.1], mass: 1}, at: [0.001, 0]}}
joints: {rail: {prismatic: [ground, m]}}
forces: {k: {torsion-spring: rail.displacement, stiffness: 1e8, free-value: 0}}
sensors: {m: {position: m}}
)");
    for (const double rho : {0.3, 0.6, 0.9}) {
        SimulationOptions o = options("global", "generalized-alpha");
        o.integrator_options.rho_infinity = rho;
        Simulation simulation(model, o);
        // Triple root: amplitudes go like n^2 rho^n, so look late enough.
        const int first = static_cast<int>(std::lround(10 / (1 - rho)));
        double early = 0;
        double late = 0;
        for (int i = 0; i < 2 * first + 4; ++i) {
            ASSERT_TRUE(simulation.step(0.1).ok);
            const double x = std::abs(sense(simulation, "m.x"));
            if (i >= first && i < first + 4) early = std::max(early, x);
            if (i >= 2 * first) late = std::max(late, x);
        }
        const double per_step = std::pow(late / early, 1.0 / first);
        EXPECT_NEAR(per_step, rho, 0.08) << rho;
    }
}

}  // namespace
}  // namespace limber::testing
