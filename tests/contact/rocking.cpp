// Housner's rocking block on walls with friction, by events: exact instants and energies in every formulation.

#include <gtest/gtest.h>

#include <cmath>

#include "support/models.hpp"
#include "support/stepping.hpp"

namespace limber::testing {
namespace {

constexpr double g = 9.81;

class RockingCase : public ::testing::TestWithParam<std::tuple<std::string, std::string>> {};

// Released at the tilt q0 it turns about its corner by w^2 = 3/2 g/R (cos(a - q0) - cos(a - q)), R half the diagonal
// and a its angle, and comes down on the other corner, which leaves 1 - 3/2 sin^2(a) of its rate.
TEST_P(RockingCase, BlockComesDownOnItsOtherCorner) {
    const double q0 = 0.1;
    const double alpha = std::atan(0.1 / 0.4);
    const double radius = std::hypot(0.1, 0.4) / 2;
    const auto rate = [&](double q) {
        return std::sqrt(1.5 * g / radius * (std::cos(alpha - q0) - std::cos(alpha - q)));
    };
    // The time of the fall by the midpoint rule over s, q = q0 (1 - s^2), which takes the root at the start away.
    const int pieces = 20000;
    double falls = 0;
    for (int i = 0; i < pieces; ++i) {
        const double s = (i + 0.5) / pieces;
        falls += 2 * q0 * s / rate(q0 * (1 - s * s)) / pieces;
    }
    Simulation s(example("contact/rocking-block-walls.yaml"),
                 options(std::get<0>(GetParam()), "rk4", std::get<1>(GetParam())));
    ContactEvent impact;
    while (impact.t == 0 && s.time() < 1) {
        const StepReport report = s.step(0.001);
        ASSERT_TRUE(report.ok) << report.reason;
        for (const ContactEvent& event : report.events)
            if (event.kind == ContactEvent::Kind::impact) impact = event;
    }
    EXPECT_EQ(impact.stop, "right");
    EXPECT_NEAR(impact.t, falls, 1e-6);
    const double left = 1 - 1.5 * std::pow(std::sin(alpha), 2);
    const double inertia = 4.0 / 3 * 5 * radius * radius;
    EXPECT_NEAR(impact.energy_lost, 0.5 * inertia * std::pow(rate(0), 2) * (1 - left * left), 1e-6);
    // It rocks to and fro, ever faster and lower, and stands in the end.
    run(s, 8, 0.005);
    EXPECT_NEAR(sense(s, "rate"), 0, 1e-6);
    EXPECT_NEAR(sense(s, "place.y"), 0.2, 1e-6);
}

INSTANTIATE_TEST_SUITE_P(All, RockingCase, ::testing::ValuesIn(formulations_in_coordinates()), [](const auto& info) {
    return test_name(std::get<0>(info.param) + "_" + std::get<1>(info.param));
});

}  // namespace
}  // namespace limber::testing
