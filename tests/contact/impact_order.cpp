// Events are found within steps of any integrator: instants and impulses have the order of the integrator, as if there
// were no impacts.

#include <gtest/gtest.h>

#include <cmath>

#include "support/models.hpp"

namespace limber::testing {
namespace {

struct Expected {
    std::string integrator;
    double order;
    double coarse,
        fine;  ///< steps between which the order is observed, small enough and with errors well above those of the
               ///< reference
};

// The orders are those of tests/integration/order.cpp, of smooth motion. `newmark` adds dissipation by default (xi =
// -0.1: gamma = 0.6), which costs an order. Steps of `moreau-jean` without rigid contacts are those of the midpoint
// rule.
const std::vector<Expected>& expected_orders() {
    static const std::vector<Expected> list{
        {"trapezoidal", 2, 4e-3, 5e-4},         {"newmark", 1, 4e-3, 5e-4},      {"hht", 2, 4e-3, 5e-4},
        {"generalized-alpha", 2, 4e-3, 5e-4},   {"higher-order", 3, 4e-3, 5e-4}, {"rk4", 4, 16e-3, 4e-3},
        {"linear-acceleration", 2, 4e-3, 5e-4}, {"moreau-jean", 2, 4e-3, 5e-4},  {"semi-implicit-euler", 1, 4e-3, 5e-4},
        {"explicit-euler", 1, 1e-3, 1.25e-4},
    };
    return list;
}

struct ImpactError {
    double instant = INFINITY, impulse = INFINITY;
};

ImpactError second_impact_error(Simulation& simulation, double h, double instant, double impulse) {
    int impacts = 0;
    while (simulation.time() < instant + 0.1) {
        const StepReport report = simulation.step(h);
        EXPECT_TRUE(report.ok) << report.reason;
        if (!report.ok) break;
        for (const ContactEvent& event : report.events)
            if (event.kind == ContactEvent::Kind::impact && ++impacts == 2)
                return {std::abs(event.t - instant), std::abs(event.impulse - impulse)};
    }
    ADD_FAILURE() << "there is no second impact";
    return {};
}

// Case C1 with e = 1/2, numbers of an independent computation (see impacts.cpp), good to 4e-10 s and 1e-8 Ns.
ImpactError pendulum_error(const SimulationOptions& chosen, double h) {
    Simulation simulation(example("contact/double-pendulum-wall.yaml", {{"e", "0.5"}}), chosen);
    return second_impact_error(simulation, h, 0.712592320, 4.67996500);
}

// 2 kg that fall from 1.25 m at 10 m/s^2.
ImpactError ball_error(const SimulationOptions& chosen, double h) {
    Simulation simulation(example("contact/bouncing-ball.yaml", {{"e", "0.5"}}), chosen);
    return second_impact_error(simulation, h, 1, 2 * 1.5 * 2.5);
}

// Over a factor of 4 or 8 in the step errors of the next order take or add less than 0.2 of the order of an instant.
// Those of an impulse, after an impact that has made errors of the instant into errors of speed, may cancel each other:
// there the order is at least what is expected.
void expect_order(const SimulationOptions& chosen, const Expected& expected) {
    const ImpactError coarse = pendulum_error(chosen, expected.coarse);
    const ImpactError fine = pendulum_error(chosen, expected.fine);
    const double steps = std::log(expected.coarse / expected.fine);
    EXPECT_NEAR(std::log(coarse.instant / fine.instant) / steps, expected.order, 0.2);
    EXPECT_GT(std::log(coarse.impulse / fine.impulse) / steps, expected.order - 0.3);
}

class ImpactOrder : public ::testing::TestWithParam<Expected> {};

TEST_P(ImpactOrder, IsThatOfTheIntegrator) {
    expect_order(options("global", GetParam().integrator), GetParam());
}

// Parabolas of flight are exact in every scheme that knows the acceleration within the step: to 1e-14 of the gap and
// rounding of the time, and 1e-12 of the impulse, to which multipliers are iterated. Euler's methods fly as
// if thrown with g h/2 downwards (semi-implicit) or upwards (explicit): they land h/2 too early, g h/2 too slow, or the
// reverse, and from the flight that follows comes another (1 + e) h.
TEST_P(ImpactOrder, FreeFlightIsExact) {
    const SimulationOptions chosen = options("global", GetParam().integrator);
    const ImpactError error = ball_error(chosen, 4e-3);
    if (GetParam().integrator == "semi-implicit-euler" || GetParam().integrator == "explicit-euler") {
        EXPECT_NEAR(error.instant, 2 * 4e-3, 0.01 * 2 * 4e-3);
        EXPECT_NEAR(std::log2(error.impulse / ball_error(chosen, 2e-3).impulse), 1, 0.02);
    } else {
        EXPECT_LT(error.instant, 1e-12);
        EXPECT_LT(error.impulse, 1e-10);
    }
}

INSTANTIATE_TEST_SUITE_P(All, ImpactOrder, ::testing::ValuesIn(expected_orders()),
                         [](const auto& info) { return test_name(info.param.integrator); });

TEST(ImpactOrders, AreThoseOfOtherFormulationsToo) {
    for (const char* formulation : {"augmented-lagrangian", "semi-recursive"})
        expect_order(options(formulation, "trapezoidal"), {"trapezoidal", 2, 4e-3, 5e-4});
}

TEST(ImpactOrders, DissipationIsWhatCostsNewmarkAnOrder) {
    SimulationOptions chosen = options("global", "newmark");
    chosen.integrator_options.newmark_xi = 0;
    expect_order(chosen, {"newmark", 2, 4e-3, 5e-4});
}

// Whatever the step: its own tolerance is 1e-10, which impacts and the time between them have made 1e-8 of impulses.
TEST(ImpactOrders, ReferenceIsAsGoodAsThePublishedNumbers) {
    for (const double h : {16e-3, 1e-3}) {
        const ImpactError error = pendulum_error(options("global", "reference"), h);
        EXPECT_LT(error.instant, 1e-9);
        EXPECT_LT(error.impulse, 3e-8);
    }
}

TEST(ImpactOrders, AreKnownOfEveryIntegrator) {
    for (const IntegratorInfo& info : integrators()) {
        const bool is_expected = std::any_of(expected_orders().begin(), expected_orders().end(),
                                             [&](const Expected& e) { return e.integrator == info.name; });
        EXPECT_TRUE(is_expected || info.name == "reference") << info.name;
    }
}

}  // namespace
}  // namespace limber::testing
