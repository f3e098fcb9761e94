// Friction between round things: balls that touch (stop) and pins in wider holes (clearance). Closed forms.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "support/models.hpp"
#include "support/stepping.hpp"

namespace limber::testing {
namespace {

constexpr double g = 9.81;

class RoundFriction : public ::testing::TestWithParam<std::tuple<std::string, std::string>> {
protected:
    Simulation simulate(const Model& model) const {
        return Simulation(model, options(std::get<0>(GetParam()), "trapezoidal", std::get<1>(GetParam())));
    }
};

// A disc that rolls down another one from rest at the angle a: v^2 = 4/3 g L (cos a - cos x) at the angle x, L between
// the centres.
TEST_P(RoundFriction, DiscRollsOnADisc) {
    Simulation s = simulate(example("contact/disc-on-disc.yaml", {{"mu", "5"}}));
    run(s, 0.5, 0.0005);
    const double x = sense(s, "place.x");
    const double y = sense(s, "place.y");
    // Contacts are held to 1e-9 of the mechanism; the trapezoidal rule with h = 5e-4 is off by (w h)^2/12 of a speed
    // below 1 m/s, w^2 = 4/3 g/L = 33, and so is slip, which is of second order: together below 1e-5.
    EXPECT_NEAR(std::hypot(x, y), 0.4, 1e-8);
    const double speed = std::sqrt(4.0 / 3 * g * 0.4 * (std::cos(0.2) - y / 0.4));
    EXPECT_GT(x, 0.12);
    EXPECT_NEAR(std::hypot(sense(s, "speed.x"), sense(s, "speed.y")), speed, 1e-5);
    EXPECT_NEAR(-0.1 * sense(s, "spin"), speed, 1e-5);
}

// A pin that spins in a wider hole climbs until friction carries its weight down the slope: to the angle arctan(mu).
// There it stays, and slows down.
TEST_P(RoundFriction, SpinningPinLeansAtTheFrictionAngle) {
    Simulation s = simulate(example("contact/dry-bearing.yaml"));
    const double angle = std::atan(0.25);
    run(s, 0.5, 0.0005);
    EXPECT_NEAR(sense(s, "place.x"), -0.01 * std::sin(angle), 1e-8);
    EXPECT_NEAR(sense(s, "place.y"), -0.01 * std::cos(angle), 1e-8);
    EXPECT_NEAR(sense(s, "load"), 2 * g * std::cos(angle), 1e-5);
    const double torque = 0.25 * 2 * g * std::cos(angle) * 0.03;
    EXPECT_NEAR(sense(s, "spin"), 10 - torque / 0.02 * 0.5, 1e-4);  // as exact as the scheme turns
}

INSTANTIATE_TEST_SUITE_P(All, RoundFriction, ::testing::ValuesIn(formulations_in_coordinates()), [](const auto& info) {
    return test_name(std::get<0>(info.param) + "_" + std::get<1>(info.param));
});

// The rolling disc begins to slip where a third of g sin x exceeds mu times the normal force, m g/3 (7 cos x - 4 cos
// a).
TEST(RoundFrictionLimit, RollingEndsWhereTheConeDoes) {
    const double mu = 0.3;
    const auto excess = [&](double x) { return std::sin(x) - mu * (7 * std::cos(x) - 4 * std::cos(0.2)); };
    double low = 0.2;
    double high = 1;
    while (high - low > 1e-12) (excess(0.5 * (low + high)) < 0 ? low : high) = 0.5 * (low + high);
    Simulation s(example("contact/disc-on-disc.yaml", {{"mu", "0.3"}}), options("global", "trapezoidal"));
    double slips_at = 0;
    while (slips_at == 0 && s.time() < 1) {
        const StepReport report = s.step(0.0005);
        ASSERT_TRUE(report.ok) << report.reason;
        for (const ContactEvent& event : report.events)
            if (event.kind == ContactEvent::Kind::slipped) slips_at = event.t;
    }
    Simulation again(example("contact/disc-on-disc.yaml", {{"mu", "0.3"}}), options("global", "trapezoidal"));
    run(again, slips_at, 0.0005);
    EXPECT_NEAR(std::atan2(sense(again, "place.x"), sense(again, "place.y")), low, 1e-5);
}

// An oblique blow at which slip goes on: friction takes mu times the normal impulse off the way across, and spins.
TEST(RoundFrictionLimit, BallsRubWhenTheyCollide) {
    const double mu = 0.1;
    const double e = 0.5;
    for (const bool is_planar : {true, false}) {
        const std::string zero = is_planar ? "" : ", 0";
        const std::string ball = is_planar ? "disc: {radius: 0.1, mass: 1}" : "sphere: {radius: 0.1, mass: 1}";
        Simulation s(read(fmt::format(R"(
limber: 1
{}
gravity: none
bodies: {{ball: {{{}, at: [0.4, 0{}], velocity: [-2, 1.5{}]}}}}
stops: {{post: {{stop: [ground, ball], length: 0.4, radius: 0.1, friction: {}, restitution: {}}}}}
sensors: {{speed: {{velocity: ball}}, spin: {{angular-velocity: ball}}}}
)",
                                      is_planar ? "plane: xy" : "", ball, zero, zero, mu, e)),
                     options("global", "trapezoidal"));
        EXPECT_NEAR(sense(s, "speed.x"), 2 * e, 1e-9);
        EXPECT_NEAR(sense(s, "speed.y"), 1.5 - mu * (1 + e) * 2, 1e-9);
        const double inertia = (is_planar ? 0.5 : 0.4) * 0.1;  // over mass and radius
        EXPECT_NEAR(sense(s, is_planar ? "spin" : "spin.z"), mu * (1 + e) * 2 / inertia, 1e-8);
    }
}

// In space: a ball rolls in a round socket, v^2 = 10/7 g c (cos x - cos a) with the play c.
TEST(RoundFrictionLimit, BallRollsInItsSocket) {
    for (const char* formulation : {"global", "augmented-lagrangian", "hybrid"}) {
        Simulation s(read(R"(
limber: 1
parameters: {a: 0.6, c: 0.2}
bodies: {ball: {sphere: {radius: 0.1, mass: 1}, at: [c*sin(a)*0.6, c*sin(a)*0.8, -c*cos(a)]}}
stops: {socket: {clearance: [ground, ball], gap: c, radius: 0.1, friction: 3}}
sensors: {place: {position: ball}, speed: {velocity: ball}, spin: {angular-velocity: ball}}
)"),
                     options(formulation, "trapezoidal"));
        for (const double t : {0.1, 0.2, 0.4}) {
            run(s, t, 0.001);
            const double speed = std::sqrt(10.0 / 7 * g * (-sense(s, "place.z") - 0.2 * std::cos(0.6)));
            EXPECT_NEAR(std::hypot(sense(s, "speed.x"), sense(s, "speed.y"), sense(s, "speed.z")), speed, 1e-5);
            EXPECT_NEAR(0.1 * std::hypot(sense(s, "spin.x"), sense(s, "spin.y"), sense(s, "spin.z")), speed, 1e-5);
            EXPECT_NEAR(sense(s, "place.x") / 0.6, sense(s, "place.y") / 0.8, 1e-7);
        }
    }
}

}  // namespace
}  // namespace limber::testing
