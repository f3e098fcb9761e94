// Resistance against rolling and spinning, of compliant contacts and of rigid ones.
//
// A ball of radius r and inertia I that rolls against the moment rho N slows down at w' = -rho m g/(I + m R^2), where R
// is the lever of friction: with friction f, m v' = -f and I w' = f R - rho m g, and v - R w does not change. Spinning
// about the vertical it does so at w' = -sigma m g/I.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "support/models.hpp"
#include "support/stepping.hpp"

namespace limber {
namespace {

using namespace testing;

constexpr double g = 9.81;

// Compliant resistance is (2/pi) atan(w/s) of its full value, so that w' = -a (2/pi) atan(w/s), which is
// (w0 - w) + (2 s/pi) ln(w0/w) = a t as long as w is far above s: what is left out of the expansion of 1/atan is
// (4/pi^2) s^2 (1/w - 1/w0).
double rate_after(double start, double slowing, double turn_slip, double time) {
    double rate = start;
    for (int k = 0; k < 20; ++k) rate = start - slowing * time + 2 * turn_slip / pi * std::log(start / rate);
    return rate;
}

constexpr double mass = 2, radius = 0.1, stiffness = 1e6, turn_slip = 1e-3;
constexpr double depth = mass * g / stiffness;
constexpr double lever = radius - depth / 2;  // contact points lie in the middle of the overlap

struct RollingBody {
    bool is_planar;
    double inertia, rolling;
    double slowing() const { return rolling * mass * g / (inertia + mass * lever * lever); }
};
const RollingBody ball{false, 0.4 * mass* radius* radius, 0.002};
const RollingBody disc{true, 0.5 * mass* radius* radius, 0.002};

// Lies on the floor with its weight and rolls with the creep that the friction needed takes: nothing but the turning
// changes.
Model rolling_model(const RollingBody& body, double rate) {
    const double friction = 0.3;
    const double slip = 1e-2;
    const double creep = slip * std::tan(pi / 2 * body.slowing() * lever / (friction * g));
    const double speed = lever * rate + creep;
    const std::string rule = fmt::format(
        "{{linear: [wheel, ground], stiffness: {}, damping: 1e3, friction: {}, slip: {}, rolling: {}, turn-slip: {}}}",
        stiffness, friction, slip, body.rolling, turn_slip);
    return read(fmt::format(R"(
limber: 1
{}
bodies:
  ground: {{shapes: [{{plane: {{}}}}]}}
  wheel: {}
contacts: {{floor: {}}}
sensors: {{speed: {{velocity: wheel}}, turning: {{angular-velocity: wheel}}, load: {{contact: floor}}}}
)",
                            body.is_planar ? "plane: xy" : "",
                            body.is_planar
                                ? fmt::format("{{disc: {{radius: {}, mass: {}}}, at: [0, {:.17g}], velocity: [{:.17g}, "
                                              "0], angular-velocity: {}}}",
                                              radius, mass, radius - depth, speed, -rate)
                                : fmt::format("{{sphere: {{radius: {}, mass: {}}}, at: [0, 0, {:.17g}], velocity: "
                                              "[{:.17g}, 0, 0], angular-velocity: [0, {}, 0]}}",
                                              radius, mass, radius - depth, speed, rate),
                            rule));
}

// Without the error of a scheme of that order, from results with a step and with half of it. What is left is smaller
// than that error by w h, the turn of a step, and is no more than (w h)^2 of what changes.
double extrapolate(double result, double finer, int order) {
    const double power = std::pow(2, order);
    return (power * finer - result) / (power - 1);
}

double rate_of(const RollingBody& body, double start, const SimulationOptions& chosen, double time, double h) {
    Simulation s(rolling_model(body, start), chosen);
    run(s, time, h);
    EXPECT_NEAR(sense(s, "load.normal"), mass * g, 1e-5 * mass * g);
    return body.is_planar ? -sense(s, "turning") : sense(s, "turning.y");
}

void expect_slowing(const RollingBody& body, const SimulationOptions& chosen) {
    SCOPED_TRACE(chosen.formulation + " " + chosen.coordinates + " " + chosen.integrator);
    const double start = 10;
    const double time = 0.1;
    const double h = 1e-4;  // resolves how fast friction brings the creep back, 3.5 mu g (2/pi)/slip = 660 per second
    const double rate = extrapolate(rate_of(body, start, chosen, time, h), rate_of(body, start, chosen, time, h / 2),
                                    find_integrator(chosen.integrator).order);
    const double expected = rate_after(start, body.slowing(), turn_slip, time);
    // Left out: (s/w)^2 of the change, 1e-8, and the creep, which changes by 1e-4 of 8e-4 m/s: 8e-7 over the lever.
    EXPECT_NEAR(rate, expected, 1e-6 + std::pow(start * h, 2) * (start - expected));
}

TEST(CompliantResistance, RollingBodiesSlowDownInEveryFormulation) {
    for (const auto& [formulation, coordinates] : formulations_in_coordinates()) {
        expect_slowing(ball, options(formulation, "trapezoidal", coordinates));
        expect_slowing(disc, options(formulation, "trapezoidal", coordinates));
    }
}

TEST(CompliantResistance, RollingBallSlowsDownWithEveryIntegrator) {
    for (const IntegratorInfo& info : integrators())
        if (info.name != "moreau-jean")
            expect_slowing(ball, options("global", info.name));  // which takes stiff forces explicitly
}

Model spinning_model(double rate, double spinning, double width) {
    return read(fmt::format(R"(
limber: 1
bodies:
  ground: {{shapes: [{{plane: {{}}}}]}}
  ball: {{sphere: {{radius: {}, mass: {}}}, at: [0, 0, {:.17g}], angular-velocity: [0, 0, {:.17g}]}}
contacts: {{floor: {{linear: [ball, ground], stiffness: {}, damping: 1e3, spinning: {}, turn-slip: {}}}}}
sensors: {{turning: {{angular-velocity: ball}}}}
)",
                            radius, mass, radius - depth, rate, stiffness, spinning, width));
}

TEST(CompliantResistance, SpinningBallSlowsDownInEveryFormulation) {
    const double spinning = 1e-3;
    const double slowing = spinning * mass * g / ball.inertia;
    for (const auto& [formulation, coordinates] : formulations_in_coordinates()) {
        const SimulationOptions chosen = options(formulation, "trapezoidal", coordinates);
        const double start = 4;
        const double h = 5e-4;
        const auto rate = [&](double step) {
            Simulation s(spinning_model(start, spinning, turn_slip), chosen);
            run(s, 0.4, step);
            return sense(s, "turning.z");
        };
        const double expected = rate_after(start, slowing, turn_slip, 0.4);
        // Left out: (4/pi^2) s^2 (1/w - 1/w0) = 3e-8, and what Newton's method leaves, 1e-7 of the accelerations (w^2
        // of the axes), over 0.4 s.
        EXPECT_NEAR(extrapolate(rate(h), rate(h / 2), 2), expected, 3e-8 + 1e-7 * start * start * 0.4)
            << chosen.formulation << " " << chosen.coordinates;
    }
}

// Far below `turn-slip` resistance is viscous: the spin dies away as exp(-(2/pi) sigma m g/(I s) t).
TEST(CompliantResistance, SlowSpinDiesAwayExponentially) {
    const double spinning = 1e-3;
    const double width = 0.5;
    const double decay = 2 / pi * spinning * mass * g / (ball.inertia * width);
    const double start = 1e-3 * width;
    double before = 0;
    for (const double h : {0.02, 0.01}) {
        Simulation s(spinning_model(start, spinning, width), options("global", "trapezoidal"));
        run(s, 0.4, h);
        // The trapezoidal rule decays at a rate that is larger by (decay h)^2/12; atan leaves (1e-3)^2/3.
        const double error = std::abs(sense(s, "turning.z") / (start * std::exp(-decay * 0.4)) - 1);
        EXPECT_LT(error, decay * 0.4 * std::pow(decay * h, 2) / 12 * 1.05 + 4e-7);
        if (before > 0) {
            EXPECT_NEAR(before / error, 4, 0.1);
        }
        before = error;
    }
}

// The slope of the resistance is in the tangent: h times it is ten times the inertia here, where iterating without it
// diverges.
TEST(CompliantResistance, StiffResistanceTakesFewIterations) {
    const double spinning = 1e-3;
    const double h = 0.01;
    const double width = 2 / pi * spinning * mass * g * h / (10 * ball.inertia);
    Simulation s(spinning_model(0.05 * width, spinning, width), options("global", "trapezoidal"));
    for (int k = 0; k < 20; ++k) {
        const StepReport report = s.step(h);
        ASSERT_TRUE(report.ok) << report.reason;
        EXPECT_LE(report.iterations, 6);  // each doubles the digits
        EXPECT_EQ(report.substeps, 1);
    }
}

Simulation rigid_ball(const std::string& rule, const std::string& gravity, const std::string& motion) {
    return stepping(fmt::format(R"(
limber: 1
gravity: {}
bodies:
  ground: {{shapes: [{{plane: {{}}}}]}}
  ball: {{sphere: {{radius: 0.1, mass: 2}}, at: [0, 0, 0.1]{}}}
contacts: {{floor: {{rigid: [ball, ground], {}}}}}
sensors: {{speed: {{velocity: ball}}, turning: {{angular-velocity: ball}}}}
)",
                                gravity, motion, rule));
}

// Rigid contacts are solved to 1e-10 of the velocities that come in, here 10 rad/s and 1000 steps at most: 1e-6 if all
// errors added up, and they do not, as each step starts from the impulses of the one before.
constexpr double solved = 1e-8;

TEST(RigidResistance, SpinningBallSlowsDownAndStops) {
    const double slowing = 1e-3 * g / (0.4 * 0.1 * 0.1);
    Simulation s = rigid_ball("spinning: 1e-3", "[0, 0, -9.81]", ", angular-velocity: [0, 0, 2]");
    run(s, 0.5, 1e-3);
    EXPECT_NEAR(sense(s, "turning.z"), 2 - slowing * 0.5, solved);
    run(s, 2 / slowing + 2e-3, 1e-3);
    EXPECT_NEAR(sense(s, "turning.z"), 0, solved);
    run(s, 2, 1e-3);
    EXPECT_NEAR(sense(s, "turning.z"), 0, solved);
}

// Rolling and spinning at once: each is resisted for itself.
TEST(RigidResistance, BallThatRollsAndSpins) {
    Simulation s = rigid_ball("friction: 0.3, rolling: 0.002, spinning: 1e-3", "[0, 0, -9.81]",
                              ", velocity: [1, 0, 0], angular-velocity: [0, 10, 3]");
    run(s, 0.5, 1e-3);
    const double rolled = 5.0 / 7 * 0.002 * g / 0.1 * 0.5;
    EXPECT_NEAR(sense(s, "speed.x"), 1 - rolled, solved);
    EXPECT_NEAR(sense(s, "turning.y"), 10 - rolled / 0.1, solved);
    EXPECT_NEAR(sense(s, "turning.z"), 3 - 1e-3 * g / (0.4 * 0.01) * 0.5, solved);
}

// On a slope it stays if the slope is less than rho/r, and rolls at 5/7 (g sin - rho/r g cos) if it is more.
TEST(RigidResistance, BallOnASlopeRollsBeyondTheAngleOfRolling) {
    const double limit = std::atan(0.002 / 0.1);
    for (const double part : {0.99, 1.01, 3.0}) {
        const double slope = part * limit;
        Simulation s = rigid_ball("friction: 0.3, rolling: 0.002",
                                  fmt::format("[{:.17g}, 0, {:.17g}]", g * std::sin(slope), -g * std::cos(slope)), "");
        run(s, 1, 1e-3);
        const double gain = 5.0 / 7 * g * (std::sin(slope) - 0.02 * std::cos(slope));
        EXPECT_NEAR(sense(s, "speed.x"), std::max(0.0, gain), solved) << part;
    }
}

TEST(RigidResistance, DiscInThePlaneSlowsDown) {
    Simulation s = stepping(R"(
limber: 1
plane: xy
bodies:
  ground: {shapes: [{plane: {}}]}
  disc: {disc: {radius: 0.1, mass: 2}, at: [0, 0.1], velocity: [1, 0], angular-velocity: -10}
contacts: {floor: {rigid: [disc, ground], friction: 0.3, rolling: 0.002}}
sensors: {speed: {velocity: disc}}
)");
    const double slowing = 2.0 / 3 * 0.002 * g / 0.1;
    run(s, 1, 1e-3);
    EXPECT_NEAR(sense(s, "speed.x"), 1 - slowing, solved);
    run(s, 1 / slowing + 0.1, 1e-2);
    EXPECT_NEAR(sense(s, "speed.x"), 0, solved);
}

}  // namespace
}  // namespace limber
