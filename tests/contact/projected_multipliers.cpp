// Stops by projected multipliers at the ends of steps, after Glowinski and Nasser: beside the equations of closed
// loops, with friction, and as impulses.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <numbers>

#include "limber/model/error.hpp"
#include "support/models.hpp"

namespace limber::testing {
namespace {

constexpr double weight = 9.81;

SimulationOptions treated(ContactTreatment treatment, const char* integrator, double stiffness = 0) {
    SimulationOptions o = options("semi-recursive", integrator, "relative");
    o.contact_options.treatment = treatment;
    o.contact_options.stiffness = stiffness;
    return o;
}

SimulationOptions by_impulses(const std::string& integrator, const std::string& coordinates = "relative") {
    SimulationOptions o = options(coordinates == "relative" ? "hybrid" : "global", integrator, coordinates);
    o.contact_options.treatment = ContactTreatment::augmented_lagrangian;
    o.contact_options.action = StopAction::impulse;
    return o;
}

void advance(Simulation& simulation, double until, double h, const std::function<void()>& look = {}) {
    while (simulation.time() < until - 0.5 * h) {
        const StepReport report = simulation.step(h);
        ASSERT_TRUE(report.ok) << simulation.time() << ": " << report.reason;
        if (look) look();
    }
}

// Where a step resolves it, a stiff spring is nearly elastic: impulse and energy of case C1 with restitution 1. While
// it is touched, pi sqrt(m/k) long, other forces push, too: with four times the stiffness half as much is missing.
// Energy is lost or gained where contact begins and ends within a step, k (v h)^2 at most; the tip comes with 6.14 m/s.
TEST(ProjectedMultipliers, ResolvedPenaltyIsNearlyElastic) {
    const auto impulse_error = [](double stiffness, double h) {
        Simulation simulation(example("contact/double-pendulum-wall.yaml"),
                              treated(ContactTreatment::penalty, "trapezoidal", stiffness));
        EXPECT_TRUE(simulation.advance(0.69, h).ok);
        EXPECT_NEAR(sense(simulation, "energy"), -7.3575, stiffness * std::pow(6.14 * h, 2));
        return sense(simulation, "tip_impulse") - 4.13172356;
    };
    // Relative to the impulse; contact begins and ends somewhere in a step, which is 1/90 of it.
    EXPECT_NEAR(impulse_error(1e6, 2e-5) / impulse_error(4e6, 1e-5), 2, 0.1);
}

// Multipliers with and without a penalty have the same solution: no gap is negative at the end of a step. Both are
// iterated until rows are closed to 1e-10 and less; what is left is carried on as a speed, 1e-10 over a step of 1e-3 s,
// for up to 0.02 s.
TEST(ProjectedMultipliers, AugmentedLagrangianAndMultipliersAgree) {
    for (const char* integrator : {"linear-acceleration", "higher-order", "newmark"}) {
        const Model model = example("contact/double-pendulum-wall.yaml");
        Simulation first(model, treated(ContactTreatment::augmented_lagrangian, integrator));
        Simulation second(model, treated(ContactTreatment::multipliers, integrator));
        bool has_touched = false;
        for (int i = 0; i < 670; ++i) {
            ASSERT_TRUE(first.step(1e-3).ok);
            ASSERT_TRUE(second.step(1e-3).ok);
            EXPECT_GT(sense(first, "tip_gap"), -1e-10);
            EXPECT_NEAR(sense(first, "tip.x"), sense(second, "tip.x"), 1e-8) << integrator << " " << i;
            has_touched = has_touched || sense(first, "tip_impulse") > 0;
        }
        EXPECT_TRUE(has_touched);
    }
}

// ---------------------------------------------------------------- r and rho

// A ball of mass m on the floor: lambda <- lambda - rho g with g = (m g - lambda) / rho*, rho* = m / (beta h^2). The
// error is multiplied by 1 - rho/rho*: rho* ends it at once, and from 2 rho* on it does not fall. With a penalty r it
// is multiplied by 1 - rho/(rho* + r).
TEST(ProjectedMultipliers, ConvergeAsRhoSays) {
    const double h = 0.01;
    const double exact = 2 / (0.25 * h * h);
    const auto iterations = [&](ContactTreatment treatment, double r, double rho) {
        SimulationOptions o = treated(treatment, "trapezoidal", r);
        o.contact_options.rho = rho;
        Simulation simulation(example("contact/bouncing-ball.yaml", {{"height", "1e-4"}}), o);
        const StepReport report = simulation.step(h);
        return report.ok ? report.iterations : 0;
    };
    // Each has to make the same of the error at the start.
    const double needed = iterations(ContactTreatment::multipliers, 0, 0.5 * exact) * std::numbers::ln2;
    const auto expect = [&](int found, double factor) {
        const double expected = -needed / std::log(std::abs(factor));
        EXPECT_NEAR(found, expected, 0.1 * expected + 3) << factor;
    };
    EXPECT_GT(needed, 14);
    EXPECT_LT(needed, 25);
    for (const double rho : {0.2, 0.8, 1.5, 1.9})
        expect(iterations(ContactTreatment::multipliers, 0, rho * exact), 1 - rho);
    EXPECT_LE(iterations(ContactTreatment::multipliers, 0, exact), 4);
    EXPECT_LE(iterations(ContactTreatment::multipliers, 0, 0), 4);
    EXPECT_EQ(iterations(ContactTreatment::multipliers, 0, 2.1 * exact), 0);
    for (const auto& [r, rho] : {std::pair{1.0, 1.0}, {4.0, 4.0}})
        expect(iterations(ContactTreatment::augmented_lagrangian, r * exact, rho * exact), 1 - rho / (1 + r));
}

// ---------------------------------------------------------------- equations and inequalities together

/// A parallelogram, from rest at -60 degrees to a wall at 20 degrees: a pendulum of this inertia and moment.
struct Parallelogram {
    static constexpr double length = 0.5, crank = 1, coupler = 2, start = -std::numbers::pi / 3,
                            end = std::numbers::pi / 9;
    static constexpr double inertia = (2.0 / 3 * crank + coupler) * length * length;
    static constexpr double moment = (crank + coupler) * weight * length;

    static double energy(double angle) { return -moment * std::cos(angle); }
    static double rate(double angle) { return std::sqrt(2 * moment / inertia * (std::cos(angle) - std::cos(start))); }
    /// Of the angle, from rest: with angle = start + s^2 the integrand is smooth.
    static double time_to(double angle) {
        const int n = 2000;
        const double last = std::sqrt(angle - start);
        double sum = 0;
        for (int i = 0; i < n; ++i) {
            const double s = last * (i + 0.5) / n;
            sum += 2 * s / rate(start + s * s) * last / n;
        }
        return sum;
    }
    /// Of the wall, at an impact with this restitution.
    static double impulse(double e) { return (1 + e) * inertia * rate(end) / (length * std::cos(end)); }
};

std::string in_space(const std::string& e) {
    return R"(
limber: 1
gravity: [0, -9.81, 0]
parameters: {length: 0.5, start: -60 deg, end: 20 deg, e: )" +
           e + R"(}
bodies:
  ground: {markers: {wall: {at: [1 + length*sin(end), 0, 0], z: [-1, 0, 0]}}}
  left: {rod: {from: [0, 0, 0], to: [length*sin(start), -length*cos(start), 0], mass: 1}}
  right: {rod: {from: [1, 0, 0], to: [1 + length*sin(start), -length*cos(start), 0], mass: 1}}
  bar: {rod: {from: [length*sin(start), -length*cos(start), 0], to: [1 + length*sin(start), -length*cos(start), 0], mass: 2}}
joints:
  a: {revolute: [ground, left.from], axis: [0, 0, 1]}
  b: {revolute: [left.to, bar.from], axis: [0, 0, 1]}
  c: {spherical: [bar.to, right.to]}
  d: {revolute: [right.from, ground], at: [1, 0, 0], axis: [0, 0, 1]}
stops:
  wall: {wall: [ground.wall, bar.to], restitution: e}
sensors:
  bar: {position: bar.to}
  other: {position: bar.from}
  gap: {gap: wall}
  impulse: {impulse: wall}
  energy: {energy: total}
)";
}

class ProjectedLoops : public ::testing::TestWithParam<std::string> {};

// Both readings keep loops and walls closed at the ends of steps, in every set of coordinates, and move alike until the
// first contact.
TEST_P(ProjectedLoops, KeepEquationsAndInequalities) {
    for (const bool is_planar : {true, false})
        for (const StopAction action : {StopAction::force, StopAction::impulse})
            for (const ContactTreatment treatment :
                 {ContactTreatment::augmented_lagrangian, ContactTreatment::multipliers}) {
                const Model model = is_planar ? example("contact/parallelogram-wall.yaml") : read(in_space("0"));
                SimulationOptions o = by_impulses("trapezoidal", GetParam());
                o.contact_options.treatment = treatment;
                o.contact_options.action = action;
                Simulation simulation(model, o);
                const double h = 5e-4;
                double contact = 0;
                advance(simulation, 0.6, h, [&] {
                    ASSERT_GT(sense(simulation, "gap"), -2e-10) << simulation.time();
                    const double x = sense(simulation, "bar.x");
                    const double y = sense(simulation, "bar.y");
                    ASSERT_NEAR(std::hypot(x - 1, y), 0.5, 2e-9) << simulation.time();
                    ASSERT_NEAR(sense(simulation, "other.x"), x - 1, 2e-9) << simulation.time();
                    ASSERT_NEAR(sense(simulation, "other.y"), y, 2e-9) << simulation.time();
                    if (contact == 0 && sense(simulation, "impulse") > 0) contact = simulation.time();
                });
                // Found at the end of the step in which it lies; the scheme is off by far less.
                const double known = Parallelogram::time_to(Parallelogram::end);
                EXPECT_GT(contact, known - 1e-5);
                EXPECT_LT(contact, known + h + 1e-5);
            }
}

// As impulses they lead to the plastic or partly elastic impact itself, with an error of the order of the step.
TEST_P(ProjectedLoops, CollideByTheirRestitution) {
    for (const bool is_planar : {true, false})
        for (const double e : {0.0, 0.5}) {
            const std::string number = e == 0 ? "0" : "0.5";
            const Model model =
                is_planar ? example("contact/parallelogram-wall.yaml", {{"e", number}}) : read(in_space(number));
            const auto errors = [&](double h) {
                Simulation simulation(model, by_impulses("trapezoidal", GetParam()));
                advance(simulation, 0.52, h);
                const double rate = Parallelogram::rate(Parallelogram::end);
                const double lost = 0.5 * (1 - e * e) * Parallelogram::inertia * rate * rate;
                const double kept = Parallelogram::energy(Parallelogram::start) - lost;
                return std::pair(std::abs(sense(simulation, "impulse") - Parallelogram::impulse(e)),
                                 std::abs(sense(simulation, "energy") - kept));
            };
            const double force = Parallelogram::moment / Parallelogram::length;
            for (const double h : {2e-3, 5e-4, 1.25e-4}) {
                const auto [impulse, energy] = errors(h);
                EXPECT_LT(impulse, 2 * force * h) << GetParam() << " e " << e << " h " << h;
                // The weight over the way of one step.
                EXPECT_LT(energy, 2 * force * h * Parallelogram::length * Parallelogram::rate(Parallelogram::end))
                    << GetParam() << " e " << e << " h " << h;
            }
        }
}

INSTANTIATE_TEST_SUITE_P(Coordinates, ProjectedLoops, ::testing::Values("natural", "reference-point", "relative"),
                         [](const auto& i) { return test_name(i.param); });

// ---------------------------------------------------------------- impulses

// A ball in the plane and one in space: between contacts flight is exact, an impact is late by less than a step, and
// from rest on nothing moves.
TEST(ProjectedImpulses, BallComesToRest) {
    const Model space = read(R"(
limber: 1
gravity: [0, 0, -10]
bodies: {ball: {at: [0, 0, 1.35], sphere: {radius: 0.1, mass: 2}}}
stops: {floor: {wall: [ground, ball], radius: 0.1, restitution: 0.5}}
sensors: {centre: {position: ball}, force: {contact-force: floor}, energy: {energy: total}, impulse: {impulse: floor}}
)");
    for (const bool is_planar : {true, false})
        for (const char* coordinates : {"natural", "reference-point", "relative"})
            for (const char* integrator : {"trapezoidal", "linear-acceleration", "higher-order", "newmark"}) {
                const std::string height = is_planar ? "centre.y" : "centre.z";
                Simulation simulation(is_planar ? example("contact/bouncing-ball.yaml") : space,
                                      by_impulses(integrator, coordinates));
                const double h = 1e-3;
                double energy = sense(simulation, "energy");
                advance(simulation, 3, h, [&] {
                    const double now = sense(simulation, "energy");
                    ASSERT_LE(now, energy + 1e-9) << coordinates << " " << integrator << " " << simulation.time();
                    energy = now;
                    ASSERT_GT(sense(simulation, height), 0.1 - 1e-9);
                });
                // Three flights of 0.5, 0.5 and 0.25 s, ...: at rest after 1.5 s. Impulses m (1 + e) u sum up to
                // 2 * 5 * 1.5 * 2, to what one step's weight adds to each of the ten or so that a step resolves.
                EXPECT_NEAR(sense(simulation, height), 0.1, 1e-9);
                EXPECT_NEAR(sense(simulation, "force"), 20, 1e-6) << coordinates << " " << integrator;
                EXPECT_NEAR(sense(simulation, "impulse"), 30, 20 * h * 15);
                EXPECT_LT(std::abs(energy - 2), 1e-8);
            }
}

// The first impacts of case C1 (docs/studies/stops.md) against numbers of an independent computation, restitution 1,
// 0.5, and 0, of which the impulse is half that of 1. Weight and turning over a step make an error in proportion to it.
TEST(ProjectedImpulses, TendToTheExactImpact) {
    for (const auto& [e, known] : {std::pair{"1", 4.13172356}, {"0.5", 3.09879267}, {"0", 2.06586178}})
        for (const char* integrator : {"trapezoidal", "linear-acceleration", "higher-order"}) {
            const auto error = [&, e = e, known = known](double h) {
                Simulation simulation(example("contact/double-pendulum-wall.yaml", {{"e", e}}),
                                      by_impulses(integrator));
                double impulse = 0;
                while (impulse == 0) {
                    EXPECT_TRUE(simulation.step(h).ok);
                    impulse = sense(simulation, "tip_impulse");
                }
                return std::abs(impulse - known);
            };
            EXPECT_LT(error(1e-3), 0.1) << integrator << " " << e;
            EXPECT_LT(error(6.25e-5), 0.1 / 16) << integrator << " " << e;
            EXPECT_LT(error(1e-5), 0.1 / 100) << integrator << " " << e;
        }
}

// Ten seconds of impacts, in which the literal reading leaves the finite numbers. Nothing ever gains energy but by the
// error of the scheme, which is measured without walls.
TEST(ProjectedImpulses, NeverGainEnergy) {
    const char* chain = R"(
limber: 1
gravity: [0, 0, -9.81]
parameters: {e: 0}
bodies:
  ground: {markers: {wall: {at: [-0.2, 0, 0], z: [1, 0, 0]}, side: {at: [0, 0.3, 0], z: [0, -1, 0]}}}
  upper: {rod: {from: [0, 0, 0], to: [0.8, 0, -0.6], mass: 1, radius: 0.02}}
  lower: {rod: {from: [0.8, 0, -0.6], to: [0.8, 0.2, -1.5], mass: 1, radius: 0.02}, angular-velocity: [2, 0, 0]}
joints:
  pivot: {universal: [ground, upper.from], axis: [1, 0, 0], x: [0, 1, 0]}
  elbow: {universal: [upper.to, lower.from], axis: [1, 0, 0], x: [0, 1, 0]}
stops:
  a: {wall: [ground.wall, upper.to], restitution: e}
  b: {wall: [ground.wall, lower.to], restitution: e}
  c: {wall: [ground.side, lower.to], restitution: e}
sensors: {energy: {energy: total}}
)";
    const double h = 5e-4;
    for (const char* integrator : {"trapezoidal", "linear-acceleration"})
        for (const bool is_planar : {true, false})
            for (const char* e : {"0", "0.5", "1"}) {
                const Model model =
                    is_planar ? example("contact/double-pendulum-wall.yaml", {{"e", e}}) : read(chain, {{"e", e}});
                Simulation simulation(model, by_impulses(integrator));
                const double start = sense(simulation, "energy");
                double energy = start;
                double gained = 0;
                double gained_in_impacts = 0;
                double before = start;
                int impacts = 0;
                while (simulation.time() < 10) {
                    const StepReport report = simulation.step(h);
                    ASSERT_TRUE(report.ok) << integrator << " " << is_planar << " " << e << " " << simulation.time()
                                           << ": " << report.reason;
                    const double now = sense(simulation, "energy");
                    ASSERT_TRUE(std::isfinite(now));
                    if (!report.events.empty()) {
                        ++impacts;
                        gained_in_impacts = std::max(gained_in_impacts, now - before);
                    }
                    before = now;
                    gained = std::max(gained, now - energy);
                    energy = std::min(energy, now);
                }
                EXPECT_GT(impacts, 5) << is_planar << e;
                EXPECT_LT(gained_in_impacts, 2e-3) << integrator << " " << is_planar << " " << e;
                // Elastic impacts leave so much motion that the scheme's own error in flight is seen.
                EXPECT_LT(gained, e == std::string("1") ? 0.5 : 0.02) << integrator << " " << is_planar << " " << e;
                EXPECT_LT(energy, start + 1e-3);
            }
}

// ---------------------------------------------------------------- friction

/// A block that is a point on a slope, gravity along x and, in space, askew to the directions of friction.
Model block(bool is_planar, double slope, double speed, const std::string& friction) {
    const double along = weight * std::sin(slope);
    const double down = -weight * std::cos(slope);
    const char* planar = R"(
limber: 1
plane: xy
gravity: [{0:.17g}, {1:.17g}]
bodies: {{block: {{point: {{mass: 2}}, velocity: [{2:.17g}, 0]}}}}
stops: {{floor: {{wall: [ground, block], {3}}}}}
sensors: {{place: {{position: block}}, force: {{contact-force: floor}}, energy: {{energy: total}}}}
)";
    const char* spatial = R"(
limber: 1
gravity: [0.6*{0:.17g}, 0.8*{0:.17g}, {1:.17g}]
bodies: {{block: {{point: {{mass: 2}}, velocity: [0.6*{2:.17g}, 0.8*{2:.17g}, 0]}}}}
stops: {{floor: {{wall: [ground, block], {3}}}}}
sensors: {{place: {{position: block}}, force: {{contact-force: floor}}, energy: {{energy: total}}}}
)";
    return read(fmt::format(fmt::runtime(is_planar ? planar : spatial), along, down, speed, friction));
}

class ProjectedFriction : public ::testing::TestWithParam<std::tuple<bool, std::string, StopAction>> {
protected:
    bool is_planar() const { return std::get<0>(GetParam()); }
    double slid(double slope, double speed, const std::string& friction, double until, double h) const {
        SimulationOptions o = by_impulses("trapezoidal", std::get<1>(GetParam()));
        o.contact_options.action = std::get<2>(GetParam());
        Simulation simulation(block(is_planar(), slope, speed, friction), o);
        advance(simulation, until, h);
        const double x = sense(simulation, "place.x");
        if (is_planar()) return x;
        const double y = sense(simulation, "place.y");
        EXPECT_NEAR(0.6 * y - 0.8 * x, 0, 1e-8);
        return 0.6 * x + 0.8 * y;
    }
};

// tan 0.2 = 0.203 < 0.25: it stays, however long.
TEST_P(ProjectedFriction, Sticks) {
    EXPECT_NEAR(slid(0.2, 0, "friction: 0.25", 5, 0.01), 0, 1e-9);
}

// A uniform acceleration: the scheme is exact, but for one step at the start in which the scheme begins without it.
TEST_P(ProjectedFriction, Slides) {
    const double acceleration = weight * (std::sin(0.4) - 0.25 * std::cos(0.4));
    EXPECT_NEAR(slid(0.4, 0, "friction: 0.25", 1, 0.001), 0.5 * acceleration, acceleration * 0.001);
    EXPECT_NEAR(slid(0.4, 0.5, "friction: 0.25", 1, 0.001), 0.5 + 0.5 * acceleration, acceleration * 0.001);
}

// On the level it stops after v^2 / (2 mu g), in the middle of a step, and stays.
TEST_P(ProjectedFriction, ComesToRest) {
    const double way = 4 / (2 * 0.25 * weight);
    EXPECT_NEAR(slid(0, 2, "friction: 0.25", 2, 0.01), way,
                2 * 0.01 * 0.25 * weight * 0.01 + 0.005 * 0.25 * weight * 0.01);
    EXPECT_NEAR(slid(0, 2, "friction: 0.25", 20, 0.01), slid(0, 2, "friction: 0.25", 2, 0.01), 1e-8);
}

// tan 0.3 = 0.309: static friction holds, kinetic friction alone would not; once it slides, it goes on.
TEST_P(ProjectedFriction, HasStaticAndKineticFriction) {
    const std::string friction = "friction: 0.2, static-friction: 0.4";
    const double acceleration = weight * (std::sin(0.3) - 0.2 * std::cos(0.3));
    EXPECT_NEAR(slid(0.3, 0, friction, 2, 0.01), 0, 1e-9);
    EXPECT_NEAR(slid(0.3, 0.5, friction, 1, 0.001), 0.5 + 0.5 * acceleration, acceleration * 0.001);
    const double steep = weight * (std::sin(0.4) - 0.2 * std::cos(0.4));
    EXPECT_NEAR(slid(0.4, 0, friction, 1, 0.001), 0.5 * steep, weight * 0.002);
}

INSTANTIATE_TEST_SUITE_P(Blocks, ProjectedFriction,
                         ::testing::Combine(::testing::Bool(),
                                            ::testing::Values("natural", "reference-point", "relative"),
                                            ::testing::Values(StopAction::force, StopAction::impulse)),
                         [](const auto& i) {
                             return test_name((std::get<0>(i.param) ? "plane " : "space ") + std::get<1>(i.param) +
                                              (std::get<2>(i.param) == StopAction::force ? " force" : " impulse"));
                         });

// Friction of a constant torque T: between two turning points m g l/2 (cos a' - cos a) = T |a' - a|, and it stays where
// it cannot start again.
TEST(ProjectedImpulses, PendulumRubsUntilItStays) {
    const double torque = 0.3 * 20 * 0.05;
    const double moment = weight * 0.5;
    for (const char* coordinates : {"natural", "reference-point", "relative"}) {
        Simulation simulation(example("contact/pendulum-on-collar.yaml"), by_impulses("trapezoidal", coordinates));
        const double start = 80 * std::numbers::pi / 180;
        double turning = start;
        double before = turning;
        double rate = 0;
        int turns = 0;
        advance(simulation, 20, 1e-3, [&] {
            const double angle = start + sense(simulation, "angle");
            const double now = sense(simulation, "speed");
            if (rate * now < 0 || (now == 0 && rate != 0)) {
                const double found = std::abs(before) > std::abs(angle) ? before : angle;
                EXPECT_NEAR(moment * (std::cos(found) - std::cos(turning)), torque * std::abs(found - turning), 2e-3)
                    << coordinates << " turn " << turns;
                turning = found;
                ++turns;
            }
            before = angle;
            rate = now;
        });
        EXPECT_GT(turns, 8);
        EXPECT_LE(moment * std::abs(std::sin(start + sense(simulation, "angle"))), torque * 1.001);
        EXPECT_NEAR(sense(simulation, "speed"), 0, 1e-9) << coordinates;
        EXPECT_NEAR(sense(simulation, "carried"), 20, 1e-6);
    }
}

// ---------------------------------------------------------------- what is refused

TEST(ProjectedMultipliers, RefuseWhatTheyCannot) {
    const SimulationOptions o = treated(ContactTreatment::multipliers, "trapezoidal");
    EXPECT_THROW(Simulation(example("contact/latch.yaml"), o), ModelError);
    EXPECT_THROW(Simulation(example("contact/friction-in-joints.yaml"), o), ModelError);
    SimulationOptions weighted = o;
    weighted.integrator = "hht";
    EXPECT_THROW(Simulation(example("contact/double-pendulum-wall.yaml"), weighted), ModelError);
    EXPECT_THROW(Simulation(example("contact/bouncing-ball.yaml", {{"height", "-0.1"}}), by_impulses("trapezoidal")),
                 ModelError);
}

}  // namespace
}  // namespace limber::testing
