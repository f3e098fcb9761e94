// Links that are light beside others, but not without mass.

#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "support/models.hpp"
#include "support/runge_kutta.hpp"

namespace limber::testing {
namespace {

/// Two point masses on massless rods of length 1, angles from the horizontal, the second one without influence on the
/// first.
TEST(LightLastLink, FollowsTheLimitOfNoMass) {
    const auto exact = integrate<4>({0, 0, 0, 0}, 2, 40000, [](const std::array<double, 4>& y) {
        const double g = 9.81;
        const double a1 = -g * std::cos(y[0]);
        const double c = std::cos(y[1] - y[0]);
        const double s = std::sin(y[1] - y[0]);
        return std::array<double, 4>{y[2], y[3], a1, -g * std::cos(y[1]) - a1 * c - y[2] * y[2] * s};
    });
    const char* const yaml = R"(
limber: 1
plane: xy
gravity: [0, -9.81]
parameters: {tip: 1}
bodies:
  first: {point: {mass: 1, at: [1, 0]}}
  second: {point: {mass: tip, at: [1, 0]}, at: [1, 0]}
joints:
  pivot: {revolute: [ground, first], at: [0, 0]}
  elbow: {revolute: [first, second], at: [1, 0]}
sensors: {tip: {position: second.com}}
)";
    for (const std::string mass : {"1e-8", "1e-10", "1e-12"})
        for (const auto& [formulation, coordinates] : formulations_in_coordinates())
            for (const std::string integrator : {"rk4", "trapezoidal"}) {
                SCOPED_TRACE(formulation + " " + coordinates + " " + integrator + " " + mass);
                Simulation s(read(yaml, {{"tip", mass}}), options(formulation, integrator, coordinates));
                ASSERT_TRUE(s.advance(2, 1e-3).ok);
                const double allowed = integrator == "rk4" ? 2e-6 : 1e-3;
                EXPECT_NEAR(sense(s, "tip.x"), std::cos(exact[0]) + std::cos(exact[1]), allowed);
                EXPECT_NEAR(sense(s, "tip.y"), std::sin(exact[0]) + std::sin(exact[1]), allowed);
            }
}

}  // namespace
}  // namespace limber::testing
