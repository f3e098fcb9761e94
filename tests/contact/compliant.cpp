// Compliant contact: the published numbers of Gonthier, Wojtyra, and Muth and Eberhard.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "limber/kinematics/forces/contact_law.hpp"
#include "support/models.hpp"

namespace limber {
namespace {

using namespace testing;

TEST(ContactLaw, DampingFactorsOfGonthier) {
    const std::pair<double, double> table[] = {{0.1, 9.998159}, {0.2, 4.919167}, {0.3, 3.087082}, {0.5, 1.432751},
                                               {0.7, 0.634828}, {0.8, 0.373146}, {0.9, 0.166482}, {0.95, 0.078927}};
    for (const auto& [e, d] : table) EXPECT_NEAR(exact_damping_factor(e), d, 6e-7) << e;
    EXPECT_EQ(exact_damping_factor(1), 0);
    EXPECT_NEAR(exact_damping_factor(0.999), 1.5e-3, 2e-6);
}

TEST(ContactLaw, DampingOfWojtyraRisesSmoothly) {
    ContactLaw law;
    law.kind = ContactLaw::Kind::linear;
    law.damping = 500;
    law.full_depth = 0.005;
    EXPECT_NEAR(evaluate_normal_force(law, 0.0025, 1).force, 250, 1e-9);
    EXPECT_NEAR(evaluate_normal_force(law, 0.006, 1).force, 500, 1e-9);
    EXPECT_NEAR(evaluate_normal_force(law, 1e-9, 1).by_depth, 0, 1);
    EXPECT_NEAR(evaluate_normal_force(law, 0.005 - 1e-12, 1).by_depth, 0, 1e-3);
    EXPECT_EQ(evaluate_normal_force(law, 0.006, -1).force, 0);  // never pulls
}

TEST(ContactLaw, DerivativesMatchDifferences) {
    for (const auto kind : {ContactLaw::Kind::linear, ContactLaw::Kind::power}) {
        ContactLaw law;
        law.kind = kind;
        law.stiffness = 1e5;
        law.exponent = kind == ContactLaw::Kind::power ? 1.5 : 1;
        law.damping = 300;
        law.full_depth = 0.004;
        law.factor = 0.7;
        for (const double depth : {0.001, 0.003, 0.01})
            for (const double rate : {-0.2, 0.5}) {
                const double step = 1e-7;
                const auto at = [&](double d, double r) { return evaluate_normal_force(law, d, r); };
                const double by_depth = (at(depth + step, rate).force - at(depth - step, rate).force) / (2 * step);
                const double by_rate = (at(depth, rate + step).force - at(depth, rate - step).force) / (2 * step);
                EXPECT_NEAR(at(depth, rate).by_depth, by_depth, 1e-5 * std::abs(by_depth) + 1e-3);
                EXPECT_NEAR(at(depth, rate).by_rate, by_rate, 1e-5 * std::abs(by_rate) + 1e-5);
            }
    }
}

struct Impact {
    double restitution = 0, depth = 0, force = 0, time = 0;
};

// A ball of 1 kg meets a pad at 0.5 m/s without gravity.
Impact run_impact(const std::string& contact, double h) {
    SimulationOptions chosen;
    Simulation s(read(fmt::format(R"(
limber: 1
gravity: none
bodies:
  ground: {{shapes: [{{plane: {{}}}}]}}
  ball: {{sphere: {{radius: 0.05, mass: 1}}, at: [0, 0, 0.05], velocity: [0, 0, -0.5]}}
contacts: {{pad: {{{}}}}}
sensors: {{place: {{position: ball}}, speed: {{velocity: ball}}, load: {{contact: pad}}}}
)",
                                  contact)),
                 chosen);
    Impact impact;
    while (s.time() < 0.1) {
        EXPECT_TRUE(s.step(h).ok);
        const double depth = 0.05 - sense(s, "place.z");
        impact.depth = std::max(impact.depth, depth);
        impact.force = std::max(impact.force, sense(s, "load.normal"));
        impact.restitution = sense(s, "speed.z") / 0.5;
        if (depth < 0) {
            impact.time = s.time() + depth / (impact.restitution * 0.5);
            break;
        }
    }
    return impact;
}

TEST(CompliantContact, GonthiersLawGivesTheRestitutionAskedFor) {
    struct Row {
        double e, depth, time, force;
    };
    const double scheme = 1.3e-6;
    for (const Row& row : {Row{0.2, 1.457687e-3, 21.81e-3, 145.08}, Row{0.5, 1.938957e-3, 16.48e-3, 116.21},
                           Row{0.9, 2.398158e-3, 14.89e-3, 118.65}}) {
        const Impact impact = run_impact(
            fmt::format("exact-restitution: [ball, ground], stiffness: 1e6, restitution: {}, speed: 0.5", row.e), 1e-5);
        // Half of the last digit printed, and of the trapezoidal rule (w h)^2/12 = 1e-6 with w^2 = 3/2 F/(m d) = 1.5e5
        // and h = 1e-5. The deepest of the steps misses F/m h^2/8, another 1e-6 of the depth.
        EXPECT_NEAR(impact.restitution, row.e, scheme);
        EXPECT_NEAR(impact.depth, row.depth, 5e-10 + 2 * scheme * row.depth);
        EXPECT_NEAR(impact.time, row.time, 5e-6 + scheme * row.time);
        EXPECT_NEAR(impact.force, row.force, 5e-3 + 3 * scheme * row.force);
    }
    // The factor depends on neither exponent nor stiffness. With the exponent 1 the force ends in a corner, within a
    // step: an error of k v h^2/(2 m).
    for (const double exponent : {1.0, 2.0})
        EXPECT_NEAR(run_impact(fmt::format("exact-restitution: [ball, ground], stiffness: 1e6, exponent: {}, "
                                           "restitution: 0.7, speed: 0.5",
                                           exponent),
                               1e-5)
                        .restitution,
                    0.7, exponent == 1 ? 1e6 * 0.7 * 1e-10 / 2 : scheme);
}

// Classical Hunt-Crossley with a = 3/2 (1 - e)/v gives back too much.
TEST(CompliantContact, HuntCrossleyGivesTooMuch) {
    for (const auto& [asked, given] : {std::pair(0.5, 0.663), std::pair(0.9, 0.909)}) {
        const double factor = 1.5 * (1 - asked) / 0.5;
        const Impact impact =
            run_impact(fmt::format("hunt-crossley: [ball, ground], stiffness: 1e6, factor: {}", factor), 1e-5);
        EXPECT_NEAR(impact.restitution, given, 6e-4);
    }
}

// F = k d^p: from m v^2/2 = k D^(p+1)/(p+1) the largest depth D, and with n = p + 1 the time of contact
//   T = 2 int_0^D dd / sqrt(v^2 (1 - (d/D)^n)) = 2 D/v sqrt(pi) Gamma(1 + 1/n)/Gamma(1/2 + 1/n),
// which is 2.943275 D/v for p = 3/2.
Impact hertz_impact(double mass, double stiffness, double exponent, double speed) {
    const double n = exponent + 1;
    Impact impact;
    impact.depth = std::pow(n * mass * speed * speed / (2 * stiffness), 1 / n);
    impact.force = stiffness * std::pow(impact.depth, exponent);
    impact.time = 2 * impact.depth / speed * std::sqrt(pi) * std::tgamma(1 + 1 / n) / std::tgamma(0.5 + 1 / n);
    impact.restitution = 1;
    return impact;
}

TEST(CompliantContact, HertzImpactTakesItsTime) {
    const Impact usual = hertz_impact(1, 1e6, 1.5, 0.5);
    EXPECT_NEAR(usual.time, 2.943275 * usual.depth / 0.5, 1e-6 * usual.time);
    for (const double exponent : {1.5, 2.0, 3.0}) {
        const double stiffness = exponent < 2 ? 1e6 : exponent < 3 ? 1e8 : 1e10;
        const Impact exact = hertz_impact(1, stiffness, exponent, 0.5);
        const auto rule = fmt::format("hertz: [ball, ground], stiffness: {}, exponent: {}", stiffness, exponent);
        double before = 0;
        for (const double parts : {200, 400, 800}) {
            const double h = exact.time / parts;
            const Impact impact = run_impact(rule, h);
            // The trapezoidal rule at the largest slope of the force, w^2 = p F/(m D): (w h)^2/12 of the time of
            // contact. The deepest of the steps is off by half of F/m (h/2)^2 more, and the force by p times as much.
            const double frequency = std::sqrt(exponent * exact.force / exact.depth);
            const double part = std::pow(frequency * h, 2) / 12;
            const double error = std::abs(impact.time - exact.time);
            EXPECT_LT(error, part * exact.time) << exponent;
            EXPECT_NEAR(impact.restitution, 1, part) << exponent;
            const double missed = exact.force * h * h / 8 + part * exact.depth;
            EXPECT_NEAR(impact.depth, exact.depth, missed) << exponent;
            EXPECT_NEAR(impact.force, exact.force, exponent * missed / exact.depth * exact.force) << exponent;
            if (before > 0) {
                EXPECT_NEAR(before / error, 4, 0.4) << exponent << " " << parts;
            }
            before = error;
        }
    }
}

// Two balls collide like one of the reduced mass m1 m2/(m1 + m2): speeds after it are those of an elastic impact, and
// it takes as long.
TEST(CompliantContact, HertzianBallsCollide) {
    const Impact exact = hertz_impact(0.75, 1e6, 1.5, 2);
    Simulation s(read(R"(
limber: 1
gravity: none
bodies:
  a: {sphere: {radius: 0.1, mass: 1}, at: [-0.1, 0, 0], velocity: [2, 0, 0]}
  b: {sphere: {radius: 0.1, mass: 3}, at: [0.1, 0, 0]}
contacts: {both: {hertz: [a, b], stiffness: 1e6}}
sensors: {a: {velocity: a}, b: {velocity: b}, apart: {position: b, relative-to: a}}
)"));
    const double h = exact.time / 400;
    while (s.time() < exact.time + 2.5 * h) ASSERT_TRUE(s.step(h).ok);
    const double part = std::pow(h, 2) * 1.5 * exact.force / (0.75 * exact.depth) / 12;
    EXPECT_NEAR(sense(s, "a.x"), -1, 2 * part);
    EXPECT_NEAR(sense(s, "b.x"), 1, 2 * part);
    EXPECT_NEAR(s.time() - (sense(s, "apart.x") - 0.2) / 2, exact.time, 2 * part * exact.time);
}

struct Drop {
    double depth = 0, force = 0, hop = 0, rest = 0;
};

Drop run_drop(double mass, double full_depth, const SimulationOptions& chosen, double h) {
    Simulation s(read(fmt::format(R"(
limber: 1
bodies:
  ground: {{shapes: [{{plane: {{}}}}]}}
  foot: {{sphere: {{radius: 0.05, mass: {}}}, at: [0, 0, 0.07]}}
contacts: {{sole: {{linear: [foot, ground], stiffness: 25e3, damping: 500, full-depth: {}}}}}
sensors: {{place: {{position: foot}}, speed: {{velocity: foot}}, load: {{contact: sole}}}}
)",
                                  mass, full_depth)),
                 chosen);
    Drop drop;
    bool has_touched = false;
    while (s.time() < 0.6) {
        EXPECT_TRUE(s.step(h).ok);
        const double depth = 0.05 - sense(s, "place.z");
        drop.depth = std::max(drop.depth, depth);
        drop.force = std::max(drop.force, sense(s, "load.normal"));
        has_touched = has_touched || depth > 0;
        if (has_touched && depth < 0) drop.hop = std::max(drop.hop, sense(s, "speed.z"));
        drop.rest = depth;
    }
    return drop;
}

TEST(CompliantContact, DropTestsOfWojtyra) {
    const SimulationOptions chosen;
    // Half of the last digit printed. The trapezoidal rule adds (w h)^2/12 = 3e-6 of each at most (w^2 = k/m = 1.3e4, h
    // = 5e-5), and the deepest of the steps misses F/m h^2/8 = 4e-8.
    const Drop heavy = run_drop(7.5, 0.005, chosen, 5e-5);
    EXPECT_NEAR(heavy.depth, 8.405e-3, 6e-7);
    EXPECT_NEAR(heavy.force, 361.45, 6e-3);
    EXPECT_EQ(heavy.hop, 0);
    EXPECT_NEAR(heavy.rest, 2.943e-3, 6e-7);
    const Drop light = run_drop(2, 0.005, chosen, 5e-5);
    EXPECT_NEAR(light.depth, 3.930e-3, 6e-7);
    EXPECT_NEAR(light.force, 198.69, 6e-3);
    // Seen at the end of the step in which it leaves: up to g h too late.
    EXPECT_NEAR(light.hop, 0.1261, 5e-5 + 9.81 * 5e-5);
    // The damping c rises within b = 1 mm, where the force has a sharp peak: of it F'' (h/2)^2/2 is missed, with F'' =
    // 6 c v^3/b^2 = 6.5e8 and h = 1e-5.
    const Drop sooner = run_drop(2, 0.001, chosen, 1e-5);
    EXPECT_NEAR(sooner.depth, 2.497e-3, 6e-7);
    EXPECT_NEAR(sooner.force, 281.98, 5e-3 + 8e-3);
    EXPECT_EQ(sooner.hop, 0);
}

TEST(CompliantContact, AllFormulationsAgreeOnTheDrop) {
    for (const auto& [formulation, coordinates] : formulations_in_coordinates()) {
        const Drop drop = run_drop(2, 0.005, options(formulation, "trapezoidal", coordinates), 2e-4);
        EXPECT_NEAR(drop.depth, 3.930e-3, 4e-6) << formulation << " " << coordinates;
        EXPECT_NEAR(drop.force, 198.69, 0.2) << formulation << " " << coordinates;
    }
}

// Under a load of rho times the largest friction a block creeps at slip tan(pi rho/2).
TEST(CompliantContact, BlockCreepsAsRegularisedFrictionMust) {
    for (const auto& [rho, speed] : {std::pair(0.25, 0.41421), std::pair(0.5, 1.0), std::pair(0.9, 6.3138)}) {
        const double friction = 0.4;
        Simulation s(read(fmt::format(R"(
limber: 1
gravity: [{}, 0, -9.81]
bodies:
  ground: {{shapes: [{{plane: {{}}}}]}}
  block: {{box: {{size: [0.4, 0.3, 0.02], mass: 10}}, at: [0, 0, 0.0099]}}
contacts: {{floor: {{linear: [block, ground], stiffness: 1e6, damping: 3e3, friction: {}, slip: 1e-3}}}}
sensors: {{speed: {{velocity: block}}}}
)",
                                      rho * friction * 9.81, friction)));
        ASSERT_TRUE(s.advance(1, 1e-3).ok);
        EXPECT_NEAR(sense(s, "speed.x"), speed * 1e-3, 2e-5 * speed * 1e-3 + 1e-9);
    }
}

// Two equal balls meet head on: pi sqrt(m/(2k)) long, as deep as v sqrt(m/(2k)).
TEST(CompliantContact, ElasticBallsOfMuthAndEberhard) {
    Simulation s(read(R"(
limber: 1
gravity: none
bodies:
  a: {sphere: {radius: 0.01, mass: 1e-3}, at: [-0.01, 0, 0], velocity: [0.5, 0, 0]}
  b: {sphere: {radius: 0.01, mass: 1e-3}, at: [0.01, 0, 0], velocity: [-0.5, 0, 0]}
contacts: {both: {linear: [a, b], stiffness: 1e3}}
sensors: {place: {position: b, relative-to: a}, speed: {velocity: b}, energy: {energy: total}}
)"));
    const double duration = pi * std::sqrt(1e-3 / 2 / 1e3);
    EXPECT_NEAR(duration, 2.22144e-3, 1e-8);
    const double h = duration / 200;
    // The trapezoidal rule keeps the energy of a linear spring, but for the step in which the balls part: k (v h)^2/2
    // with v = 1 m/s.
    const double energy_error = 0.5 * 1e3 * h * h;
    double deepest = 0;
    while (s.time() < duration + 1.5 * h) {
        ASSERT_TRUE(s.step(h).ok);
        deepest = std::max(deepest, 0.02 - sense(s, "place.x"));
        EXPECT_NEAR(sense(s, "energy"), 2.5e-4, energy_error);
    }
    // The deepest of 200 steps, half a step from the turn at most: 1 - cos(pi/400) of the depth.
    EXPECT_NEAR(deepest, std::sqrt(0.5e-3 / 1e3), (1 - std::cos(pi / 400)) * deepest);
    EXPECT_NEAR(sense(s, "speed.x"), 0.5, 0.5 * energy_error / (2 * 2.5e-4));
}

}  // namespace
}  // namespace limber
