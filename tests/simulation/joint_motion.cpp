// Every joint type on a free-floating mechanism: the same motion and the same reactions in every formulation and both
// sets of coordinates, with energy, momentum and angular momentum kept.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "support/joint_cases.hpp"
#include "support/models.hpp"

namespace limber::testing {
namespace {

constexpr double end = 0.5;

struct Motion {
    std::vector<double> values;  // all sensors at the end: positions, velocities, accelerations, reactions
    double drift = 0, exchanged = 0;
    Vec3 momentum_change, angular_momentum_change;
};

Motion move(const Model& model, const std::string& formulation, const std::string& integrator,
            const std::string& coordinates, double step) {
    Simulation simulation(model, options(formulation, integrator, coordinates));
    Vec3 p0;
    Vec3 l0;
    Vec3 p1;
    Vec3 l1;
    simulation.observer().compute_momentum(simulation.state(), p0, l0);
    RunOptions run_options;
    run_options.until = end;
    run_options.step = step;
    const RunResult result = run(simulation, run_options);
    EXPECT_TRUE(result.summary.ok) << result.summary.failure;
    simulation.observer().compute_momentum(simulation.state(), p1, l1);
    Motion motion;
    motion.values = sense_all(simulation);
    motion.drift = result.summary.energy_drift;
    motion.exchanged = result.summary.exchanged_energy;
    motion.momentum_change = p1 - p0;
    motion.angular_momentum_change = l1 - l0;
    return motion;
}

double difference(const Motion& a, const Motion& b) {
    double worst = 0;
    for (std::size_t i = 0; i < a.values.size(); ++i) worst = std::max(worst, std::abs(a.values[i] - b.values[i]));
    return worst;
}

double size(const Motion& a) {
    double largest = 1;
    for (const double v : a.values) largest = std::max(largest, std::abs(v));
    return largest;
}

struct MotionCase {
    std::string name, yaml;
};

std::vector<MotionCase> motion_cases() {
    std::vector<MotionCase> cases;
    for (const auto& c : joint_cases()) cases.push_back({c.name, c.yaml});
    for (const auto& c : planar_joint_cases()) cases.push_back({"planar_" + c.name, c.yaml});
    return cases;
}

class JointMotion : public ::testing::TestWithParam<MotionCase> {};

TEST_P(JointMotion, OfIndexOneFormulationsFollowsTheReference) {
    const Model model = read(GetParam().yaml);
    const Motion reference = move(model, "augmented-lagrangian", "reference", "natural", 0.01);
    for (const std::string coordinates : {"natural", "reference-point", "relative"})
        for (const std::string formulation : {"augmented-lagrangian", "baumgarte", "null-space", "penalty",
                                              "composite-body", "articulated-body", "canonical-momenta"}) {
            if (!fits(formulation, coordinates)) continue;
            const Motion motion = move(model, formulation, "rk4", coordinates, 5e-4);
            // One solve with a finite penalty reaches what the penalty allows.
            const double tolerance = formulation == "penalty" ? 1e-4 : 1e-6;
            EXPECT_LT(difference(motion, reference), tolerance * size(reference)) << formulation << " " << coordinates;
            EXPECT_LT(motion.drift, tolerance * (1 + reference.exchanged)) << formulation << " " << coordinates;
            EXPECT_LT(motion.momentum_change.norm(), 1e-8) << formulation << " " << coordinates;
            EXPECT_LT(motion.angular_momentum_change.norm(), 1e-7) << formulation << " " << coordinates;
        }
}

// Index 3 with the trapezoidal rule: second order in everything, reactions included.
TEST_P(JointMotion, OfTheGlobalFormulationConvergesWithSecondOrder) {
    const Model model = read(GetParam().yaml);
    const Motion reference = move(model, "augmented-lagrangian", "reference", "natural", 0.01);
    for (const std::string coordinates : {"natural", "reference-point", "relative"}) {
        const Motion coarse = move(model, "global", "trapezoidal", coordinates, 1e-3);
        const Motion fine = move(model, "global", "trapezoidal", coordinates, 5e-4);
        const double coarse_error = difference(coarse, reference) / size(reference);
        const double fine_error = difference(fine, reference) / size(reference);
        EXPECT_LT(fine_error, 5e-4) << coordinates;
        // A factor of four, unless rounding is reached (motions that the rule follows exactly).
        EXPECT_LT(fine_error, 0.3 * coarse_error + 1e-8) << coordinates;
        EXPECT_LT(fine.drift, 1e-3 * (1 + reference.exchanged)) << coordinates;
        // Momentum is linear in Cartesian coordinates, and the rule keeps it; in relative ones it is kept to second
        // order.
        if (coordinates == "relative") {
            EXPECT_LT(fine.momentum_change.norm(), 0.3 * coarse.momentum_change.norm() + 1e-8);
            EXPECT_LT(fine.momentum_change.norm(), 1e-3) << coordinates;
        } else {
            EXPECT_LT(fine.momentum_change.norm(), 1e-8) << coordinates;
        }
        EXPECT_LT(fine.angular_momentum_change.norm(), 1e-4) << coordinates;
    }
}

INSTANTIATE_TEST_SUITE_P(All, JointMotion, ::testing::ValuesIn(motion_cases()),
                         [](const auto& info) { return info.param.name; });

// However far a joint has turned at the start, its body is where the rest of a turn says, and all that hangs on it is
// turned with it.
TEST(InitialAngles, MayBeManyTurns) {
    for (const std::string& formulation : formulation_names()) {
        for (const double angle : {150.0, -2000.0}) {
            Simulation s(read(fmt::format(R"(
limber: 1
gravity: none
bodies:
  arm: {{mass: 1, inertia: [1, 1, 1], markers: {{tip: [0.3, 0, 0], end: [0, 0, 0.5]}}}}
  rotor: {{mass: 1, inertia: [0.1, 0.1, 0.1]}}
  nut: {{mass: 1, inertia: [0.1, 0.1, 0.1], at: [0, 0, 2]}}
joints:
  axis: {{revolute: [ground, arm], at: [0, 0, 0], axis: [0, 0, 1]}}
  upper: {{revolute: [arm, ground], at: [0, 0, 0.5], axis: [0, 0, 1]}}
  motor: {{revolute: [ground, rotor], at: [0, 0, 0], axis: [0, 0, 1]}}
  gearbox: {{gear: [axis.angle, motor.angle], ratio: -21}}
  screw: {{helical: [ground, nut], at: [0, 0, 2], axis: [0, 0, 1], pitch: 0.002}}
initial: {{positions: {{axis.angle: {}, screw.angle: 1000}}, rates: {{axis.angle: 1}}}}
sensors:
  angle: {{coordinate: axis.angle}}
  other: {{coordinate: upper.angle}}
  motor: {{coordinate: motor.angle}}
  tip: {{position: arm.tip}}
  screw: {{coordinate: screw.angle}}
  nut: {{position: nut}}
)",
                                          angle)),
                         options(formulation, "rk4"));
            EXPECT_NEAR(sense(s, "angle"), angle, 1e-8) << formulation;
            EXPECT_NEAR(sense(s, "other"), -angle, 1e-8) << formulation;
            EXPECT_NEAR(sense(s, "motor"), -21 * angle, 1e-6) << formulation;
            EXPECT_NEAR(sense(s, "tip.x"), 0.3 * std::cos(angle), 1e-9) << formulation;
            EXPECT_NEAR(sense(s, "tip.y"), 0.3 * std::sin(angle), 1e-9) << formulation;
            EXPECT_NEAR(sense(s, "screw"), 1000, 1e-8) << formulation;
            EXPECT_NEAR(sense(s, "nut.z"), 2 + 1000 / (2 * pi) * 0.002, 1e-9) << formulation;
            ASSERT_TRUE(s.advance(0.1, 1e-3).ok) << formulation;
            EXPECT_NEAR(sense(s, "angle"), angle + 0.1, 1e-5) << formulation;
            EXPECT_NEAR(sense(s, "motor"), -21 * (angle + 0.1), 1e-3) << formulation;
        }
    }
}

}  // namespace
}  // namespace limber::testing
