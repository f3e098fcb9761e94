// Beams in motion: against closed forms and published motions, momentum and energy, formulations against each other.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <tuple>
#include <vector>

#include "support/energy.hpp"
#include "support/models.hpp"

namespace limber::testing {
namespace {

constexpr double g = 9.81;

SimulationOptions at_rest_first(const std::string& formulation, const std::string& integrator) {
    SimulationOptions chosen = options(formulation, integrator, "reference-point");
    chosen.from_equilibrium = true;
    return chosen;
}

// Simply supported, loaded by a sine, let go: one mode of Timoshenko's beam, the deflection a sine and the turn a
// cosine, with rho A rho I w^4 - (rho A (EI k^2 + kGA) + rho I kGA k^2) w^2 + kGA EI k^4 = 0, k = pi / L; Cowper's
// shear factor. (Nachbagauer 2013: 95.635645 rad/s.)
TEST(Beams, SwingInTheirModes) {
    for (const auto& [order, tolerance] : {std::pair{1, 1e-2}, std::pair{2, 5e-4}, std::pair{3, 1e-4}}) {
        const Model model = read(R"yaml(
limber: 1
plane: xy
gravity: none
parameters: {elements: 8, order: 2}
bodies:
  beam:
    beam: {to: [2, 0], elements: elements, order: order,
           section: {box: {height: 0.4, width: 0.4}}, material: {young: 1e9, density: 7850, poisson: 0.3}}
    markers: {middle: [1, 0]}
joints:
  left: {revolute: [ground, beam.from]}
  right: {point-on-line: [ground, beam.to], axis: [1, 0]}
forces: {pluck: {line-load: beam, vector: [0, "if(t > 1e-9, 0, 1000*sin(pi*x/2))"]}}
sensors: {middle: {position: beam.middle}}
)yaml",
                                 {{"elements", order == 1 ? "48" : "8"}, {"order", std::to_string(order)}});
        Simulation s(model, at_rest_first("augmented-lagrangian", "rk4"));
        const double start = sense(s, "middle.y");
        const double bending = 1e9 * std::pow(0.4, 4) / 12;
        const double shear = 13 / 15.3 * 1e9 / 2.6 * 0.16;
        const double mass = 7850 * 0.16;
        const double inertia = 7850 * std::pow(0.4, 4) / 12;
        const double k2 = pi * pi / 4;
        const double half = (mass * (bending * k2 + shear) + inertia * shear * k2) / 2;
        const double omega =
            std::sqrt((half - std::sqrt(half * half - mass * inertia * shear * bending * k2 * k2)) / (mass * inertia));
        EXPECT_NEAR(omega, 95.635645, 2e-3);
        const double expected = 1000 / (bending * k2 * k2) + 1000 / (shear * k2);
        EXPECT_NEAR(start, expected, tolerance * expected) << order;
        // After five quarters of the period it is straight, after eight as at the start.
        const double quarter = pi / 2 / omega;
        ASSERT_TRUE(s.advance(1e-8, 1e-8).ok) << "the load is gone from here on";
        ASSERT_TRUE(s.advance(5 * quarter, 2e-5).ok) << order;
        EXPECT_NEAR(sense(s, "middle.y") / start, 0, tolerance) << order;
        ASSERT_TRUE(s.advance(8 * quarter, 2e-5).ok) << order;
        EXPECT_NEAR(sense(s, "middle.y") / start, 1, tolerance) << order;
    }
}

// Kane; Simo and Vu-Quoc: tip in the frame that turns with the clamp; later it is at rest there, stretched by
// omega^2 rho A L^3 / (3 EA).
TEST(Beams, ThatAreSpunUpBendAndStiffen) {
    struct {
        double t, u1, u2;
    } constexpr tips[] = {{5, -0.01265, -0.46848}, {7.5, -0.01774, -0.55908}, {10, -0.00707, -0.36281}};
    Simulation s(example("flexible/spin-up-exact.yaml"), options("global", "generalized-alpha", "reference-point"));
    for (const auto& exact : tips) {
        ASSERT_TRUE(s.advance(exact.t, 5e-3).ok);
        EXPECT_NEAR(sense(s, "tip.u1"), exact.u1, 3e-5) << exact.t;
        EXPECT_NEAR(sense(s, "tip.u2"), exact.u2, 4e-4) << exact.t;
    }
    ASSERT_TRUE(s.advance(20, 5e-3).ok);
    EXPECT_NEAR(sense(s, "tip.u1"), 5.142857e-4, 2e-6);
    EXPECT_NEAR(sense(s, "tip.u2"), 0, 2e-3);
}

TEST(Beams, OfSegmentsAreSpunUpAlike) {
    Simulation s(example("flexible/spin-up-segments.yaml"), options("hybrid", "generalized-alpha"));
    ASSERT_TRUE(s.advance(7.5, 1e-2).ok);
    EXPECT_NEAR(sense(s, "tip.u2"), -0.55908, 5e-3);
}

constexpr const char* flying_in_plane = R"yaml(
limber: 1
plane: xy
gravity: none
bodies:
  beam: {beam: {from: [6, 0], to: [0, 8], elements: 6,
                section: {given: {axial: 1e4, shear: 1e4, bending: 500, mass: 1, inertia: 10}}}}
forces:
  push: {force: beam.from, vector: ["if(t < 2.5, 8, 0)", 0]}
  turn: {torque: beam.from, vector: "if(t < 2.5, -80, 0)"}
sensors: {tip: {position: beam.to}}
)yaml";

// Thrown and tumbling, free: momentum and angular momentum stay, energy but for the scheme.
TEST(Beams, ThatFlyKeepMomentumAndEnergy) {
    for (const Model& model : {read(flying_in_plane), example("flexible/flying.yaml", {{"elements", "6"}})}) {
        for (const char* coordinates : {"reference-point", "natural", "relative"}) {
            Simulation s(model, options("augmented-lagrangian", "rk4", coordinates));
            ASSERT_TRUE(s.advance(2.5, 2e-3).ok) << coordinates;
            Vec3 linear;
            Vec3 angular;
            Vec3 linear_end;
            Vec3 angular_end;
            s.observer().compute_momentum(s.state(), linear, angular);
            const double energy = mechanical_energy(s);
            // The impulse of what pushed, but for the step in which it ends.
            EXPECT_NEAR((linear - Vec3(20, 0, 0)).norm(), 0, 8 * 2e-3) << coordinates;
            ASSERT_TRUE(s.advance(2.6, 2e-3).ok) << coordinates;
            s.observer().compute_momentum(s.state(), linear, angular);
            ASSERT_TRUE(s.advance(6, 2e-3).ok) << coordinates;
            s.observer().compute_momentum(s.state(), linear_end, angular_end);
            EXPECT_NEAR((linear_end - linear).norm(), 0, 1e-9) << coordinates;
            EXPECT_NEAR((angular_end - angular).norm(), 0, 1e-5 * angular.norm()) << coordinates;
            EXPECT_NEAR(mechanical_energy(s), energy, 1e-4 * energy) << coordinates;
            EXPECT_GT(energy, 50) << coordinates;
        }
    }
}

// Bauchau et al. 2016: at rest the shaft sags as a beam clamped at both ends, under the disc and its own weight:
// P L^3/192 EI + w L^4/384 EI, and P L/4 kGA + w L^2/8 kGA of shear; while it runs up the critical speed shows.
TEST(Beams, CarryADiscThroughTheCriticalSpeed) {
    Simulation s(example("flexible/rotating-shaft.yaml"), [] {
        SimulationOptions chosen = options("global", "generalized-alpha", "reference-point");
        chosen.from_equilibrium = true;
        return chosen;
    }());
    const double second = pi / 4 * (std::pow(0.05, 4) - std::pow(0.045, 4));
    const double area = pi * (0.05 * 0.05 - 0.045 * 0.045);
    const double bending = 210e9 * second;
    const double shear = 2.6 / 4.9 * 210e9 / 2.6 * area;
    const double disc = 70.573 * g;
    const double weight = 7800 * area * g;
    const double sag = disc * 216 / (192 * bending) + weight * 1296 / (384 * bending) + disc * 6 / (4 * shear) +
                       weight * 36 / (8 * shear);
    EXPECT_NEAR(sense(s, "middle.z"), -sag, 1e-4 * sag);
    const auto largest = [&](double until) {
        double most = 0;
        while (s.time() < until) {
            EXPECT_TRUE(s.advance(s.time() + 0.01, 1e-3).ok);
            most = std::max(most, std::hypot(sense(s, "middle.y"), sense(s, "middle.z")));
        }
        return most;
    };
    EXPECT_LT(largest(0.3), 0.1);
    const double critical = largest(1.3);
    EXPECT_GT(critical, 0.2);
}

// Bars that are rigid would lock: these bend, alike in all formulations that take whole steps, and more elements
// change little.
TEST(Beams, MakeTheMisalignedFourBarMove) {
    std::vector<Vec3> corners;
    for (const auto& [formulation, coordinates, elements] :
         {std::tuple{"global", "natural", "2"}, std::tuple{"global", "reference-point", "2"},
          std::tuple{"hybrid", "relative", "2"}, std::tuple{"global", "reference-point", "4"}}) {
        Simulation s(example("flexible/four-bar-misaligned.yaml", {{"elements", elements}}),
                     options(formulation, "generalized-alpha", coordinates));
        ASSERT_TRUE(s.advance(1, 5e-3).ok) << formulation;
        corners.emplace_back(sense(s, "c.x"), sense(s, "c.y"), sense(s, "c.z"));
        EXPECT_LT((corners.back() - corners.front()).norm(), *elements == '2' ? 2e-6 : 2e-5) << formulation;
    }
    EXPECT_GT(std::abs(corners.front().z()), 1e-3);
}

// A tip lifted by 0.1 m along the stiff way: sideways as long as the eccentricity says, until the beam buckles.
TEST(Beams, BuckleSideways) {
    std::vector<double> sideways;
    for (const char* elements : {"8", "16"}) {
        Simulation s(example("flexible/lateral-buckling.yaml", {{"elements", elements}}),
                     options("global", "generalized-alpha", "reference-point"));
        ASSERT_TRUE(s.advance(0.1, 5e-4).ok);
        EXPECT_GT(sense(s, "tip.z"), 0.003);
        EXPECT_LT(std::abs(sense(s, "middle.y")), 1e-4);
        ASSERT_TRUE(s.advance(0.3, 5e-4).ok);
        sideways.push_back(sense(s, "middle.y"));
        EXPECT_LT(sideways.back(), -0.05);
    }
    EXPECT_NEAR(sideways[0], sideways[1], 0.02 * std::abs(sideways[1]));
}

constexpr const char* double_beam = R"yaml(
limber: 1
plane: xy
bodies:
  arm: {beam: {to: [1, 0], elements: 2,
               section: {given: {axial: 1e4, shear: 4e3, bending: 20, mass: 1, inertia: 1e-3}}}}
  rod: {rod: {from: [1, 0], to: [1.5, 0], mass: 0.5}}
joints:
  shoulder: {revolute: [ground, arm.from]}
  elbow: {revolute: [arm.to, rod.from]}
sensors:
  tip: {position: rod.to}
  pull: {reaction: shoulder}
  joint: {reaction: elbow, body: arm}
)yaml";

constexpr const char* bent_beam = R"yaml(
limber: 1
bodies:
  leg: {beam: {to: [0, 1, 0], elements: 1,
        section: {given: {axial: 1e4, shear: 4e3, torsion: 20, bending: 20, mass: 1, inertia: [2e-3, 1e-3, 1e-3]}}}}
  arm: {beam: {from: [0, 1, 0], to: [1, 1, 0], elements: 1,
        section: {given: {axial: 1e4, shear: 4e3, torsion: 20, bending: 20, mass: 1, inertia: [2e-3, 1e-3, 1e-3]}}}}
  ball: {sphere: {radius: 0.05, mass: 0.3}, at: [1, 1, -0.2], markers: {top: [0, 0, 0.2]}}
joints:
  clamp: {fixed: [ground, leg.from], at: [0, 0, 0], axis: [0, 0, 1]}
  weld: {fixed: [leg.to, arm.from], at: [0, 1, 0], axis: [0, 0, 1]}
  hook: {spherical: [arm.to, ball.top]}
sensors:
  tip: {position: arm.to}
  pull: {reaction: clamp}
  joint: {reaction: hook, body: arm}
)yaml";

// All formulations move beams alike, and reactions with them.
class BeamsUnder : public ::testing::TestWithParam<std::tuple<std::string, std::string>> {};

TEST_P(BeamsUnder, EveryFormulationMoveAlike) {
    const auto& [formulation, coordinates] = GetParam();
    for (const char* yaml : {double_beam, bent_beam}) {
        Simulation reference(read(yaml), options("augmented-lagrangian", "rk4", "reference-point"));
        ASSERT_TRUE(reference.advance(0.2, 2e-4).ok);
        const bool is_step_solver = find_formulation(formulation).is_step_solver();
        Simulation s(read(yaml), options(formulation, is_step_solver ? "trapezoidal" : "rk4", coordinates));
        const StepReport report = s.advance(0.2, 2e-4);
        ASSERT_TRUE(report.ok) << report.reason;
        const double tolerance = is_step_solver ? 2e-5 : 1e-6;
        for (const char* column : {"tip.x", "tip.y"})
            EXPECT_NEAR(sense(s, column), sense(reference, column), tolerance) << column;
        EXPECT_NEAR(sense(s, "pull.fy"), sense(reference, "pull.fy"), 0.03) << yaml;
        EXPECT_NEAR(sense(s, "joint.fy"), sense(reference, "joint.fy"), 0.03) << yaml;
    }
}

INSTANTIATE_TEST_SUITE_P(All, BeamsUnder, ::testing::ValuesIn(formulations_in_coordinates()), [](const auto& info) {
    return test_name(std::get<0>(info.param) + "_" + std::get<1>(info.param));
});

// Weight falls as a whole: a free beam does not bend, damping or not; what damping takes is work.
TEST(Beams, FallWithoutBending) {
    Simulation s(read(R"yaml(
limber: 1
bodies:
  beam:
    beam: {to: [1, 0.3, 0.2], elements: 3, section: {tube: {radius: 0.02, thickness: 0.002}},
           material: {young: 7e10, density: 2700, damping: 1e-4}}
    velocity: [1, 0, 0]
sensors: {tip: {position: beam.to}, load: {section: beam.from}}
)yaml"),
                 options("global", "trapezoidal", "reference-point"));
    ASSERT_TRUE(s.advance(0.05, 1e-3).ok);
    EXPECT_NEAR(sense(s, "tip.x"), 1.05, 1e-9);
    EXPECT_NEAR(sense(s, "tip.z"), 0.2 - g / 2 * 0.0025, 1e-9);
    for (const char* column : {"load.axial", "load.shear_y", "load.shear_z", "load.torsion", "load.bending_y"})
        EXPECT_NEAR(sense(s, column), 0, 1e-3) << column;
}

// Proportional to stiffness: an oscillation of omega falls by exp(-beta omega^2 t / 2); to mass: by exp(-alpha t / 2).
// Along the beam: u = sin(pi x / 2 L), omega = pi / 2 L sqrt(E / rho); the two are the same here.
TEST(Beams, DampTheirOscillations) {
    const double omega = pi / 20 * 1000;
    const double rate = 1e-3 * omega * omega;
    for (const auto& [by_stiffness, by_mass] : {std::pair{1e-3, 0.0}, std::pair{0.0, rate}}) {
        const Model model =
            read(R"yaml(
limber: 1
plane: xy
gravity: none
parameters: {beta: 0, alpha: 0}
bodies:
  beam:
    beam: {to: [10, 0], elements: 12, order: 3, section: {box: {height: 0.1, width: 0.1}},
           material: {young: 1e9, density: 1000, damping: beta}, mass-damping: alpha}
joints: {clamp: {fixed: [ground, beam.from]}}
forces: {pull: {line-load: beam, vector: ["if(t > 1e-9, 0, 100*sin(pi*x/20))", 0]}}
sensors: {tip: {position: beam.to}}
)yaml",
                 {{"beta", fmt::format("{:.17g}", by_stiffness)}, {"alpha", fmt::format("{:.17g}", by_mass)}});
        Simulation s(model, at_rest_first("global", "trapezoidal"));
        const double start = sense(s, "tip.x") - 10;
        ASSERT_TRUE(s.advance(1e-8, 1e-8).ok) << "the load is gone from here on";
        const double decay = rate / 2;
        const double time = 2 * pi / std::sqrt(omega * omega - decay * decay) * 2;
        ASSERT_TRUE(s.advance(time, 5e-5).ok);
        EXPECT_NEAR((sense(s, "tip.x") - 10) / start, std::exp(-decay * time), 2e-3) << by_mass;
    }
}

}  // namespace
}  // namespace limber::testing
