// The manoeuvres of the Iltis: formulations agree, energy is balanced, left and right are mirror images, corners are
// steady; and wheels that spin.

#include <gtest/gtest.h>

#include <cmath>

#include "support/models.hpp"

namespace limber::testing {
namespace {

struct Manoeuvre {
    std::string name, file;
    ParameterOverrides overrides;
    double until = 1;
    double step = 1e-3;
    /// Metres between formulations with the same integrator.
    double agreement = 3e-6;
};

std::ostream& operator<<(std::ostream& out, const Manoeuvre& m) {
    return out << m.name;
}

Simulation start(const std::string& formulation, const std::string& file, const ParameterOverrides& overrides = {}) {
    SimulationOptions o = options(formulation, find_formulation(formulation).is_step_solver() ? "trapezoidal" : "rk4");
    o.from_equilibrium = true;
    return Simulation(example("iltis/" + file, overrides), o);
}

RunSummary run_for(Simulation& simulation, double until, double step = 1e-3) {
    RunOptions o;
    o.until = until;
    o.step = step;
    const RunSummary summary = run(simulation, o).summary;
    EXPECT_TRUE(summary.ok) << summary.failure;
    return summary;
}

class IltisManoeuvre : public ::testing::TestWithParam<Manoeuvre> {};

// Allowed differences follow from one in metres: a roll over half a wheel base, a load through a tyre of 460 kN/m.
double allowed(const std::string& column, double metres) {
    if (column.starts_with("load")) return 460e3 * metres;
    if (column == "pitch" || column == "roll") return metres * 180 / pi;
    return metres;
}

TEST_P(IltisManoeuvre, IsTheSameInAllFormulationsAndKeepsTheBalanceOfEnergy) {
    const Manoeuvre& m = GetParam();
    const std::vector<std::string> watched{"chassis.x", "chassis.y", "chassis.z", "pitch",  "roll",  "wheel00.z",
                                           "wheel01.z", "wheel10.z", "wheel11.z", "load00", "load11"};
    std::vector<std::vector<double>> first;  // of the trapezoidal rule, of rk4
    for (const auto& group : {std::vector<std::string>{"global", "hybrid", "semi-recursive"},
                              {"composite-body", "articulated-body", "null-space"}}) {
        std::vector<double> leader;
        for (const std::string& formulation : group) {
            SCOPED_TRACE(formulation);
            Simulation s = start(formulation, m.file, m.overrides);
            const RunSummary summary = run_for(s, m.until, m.step);
            EXPECT_LT(summary.energy_drift, 2e-3 * summary.exchanged_energy);
            EXPECT_LT(summary.errors.position, 1e-6);
            std::vector<double> values;
            for (const std::string& column : watched) values.push_back(sense(s, column));
            if (leader.empty()) leader = values;
            for (std::size_t i = 0; i < watched.size(); ++i)
                EXPECT_NEAR(values[i], leader[i], allowed(watched[i], m.agreement)) << watched[i];
        }
        first.push_back(leader);
    }
    // The integrators differ by the error of the trapezoidal rule at these steps.
    for (std::size_t i = 0; i < watched.size(); ++i)
        EXPECT_NEAR(first[0][i], first[1][i], allowed(watched[i], 2e-4)) << watched[i];
}

INSTANTIATE_TEST_SUITE_P(
    All, IltisManoeuvre,
    ::testing::Values(Manoeuvre{"bump_anti_phase_5", "bump-anti-phase.yaml", {}, 0.6, 5e-4},
                      Manoeuvre{"bump_anti_phase_10", "bump-anti-phase.yaml", {{"speed", "10"}}, 0.4, 5e-4},
                      Manoeuvre{"ramp_to_steer_10", "ramp-to-steer.yaml", {{"speed", "10"}}, 0.7},
                      Manoeuvre{"ramp_to_steer_20", "ramp-to-steer.yaml", {}, 0.7},
                      Manoeuvre{"ramp_to_steer_30", "ramp-to-steer.yaml", {{"speed", "30"}}, 0.5, 5e-4},
                      Manoeuvre{"sinusoidal_steer", "sinusoidal-steer.yaml", {}},
                      Manoeuvre{"ramp_and_stairs", "ramp-and-stairs.yaml", {}, 2.6},
                      Manoeuvre{"random_road", "random-road.yaml", {}, 0.6, 5e-4},
                      Manoeuvre{"spinning_wheels", "spinning-wheels.yaml", {}, 0.6, 5e-4}),
    [](const auto& info) { return info.param.name; });

// Left and right exchanged.
TEST(IltisMirror, SidesAreMirrorImages) {
    struct Pair {
        std::string file, parameter, one, other;
    };
    for (const Pair& p : {Pair{"bump-anti-phase.yaml", "height", "0.2", "-0.2"},
                          Pair{"ramp-to-steer.yaml", "travel", "0.002", "-0.002"},
                          Pair{"sinusoidal-steer.yaml", "amplitude", "0.004", "-0.004"}})
        for (const std::string formulation : {"global", "hybrid"}) {
            SCOPED_TRACE(p.file + ", " + formulation);
            Simulation one = start(formulation, p.file, {{p.parameter, p.one}});
            Simulation other = start(formulation, p.file, {{p.parameter, p.other}});
            ASSERT_TRUE(one.advance(0.8, 1e-3).ok);
            ASSERT_TRUE(other.advance(0.8, 1e-3).ok);
            EXPECT_GT(std::abs(sense(one, "roll")), 0.1);
            for (const char* column : {"chassis.x", "chassis.z", "pitch"})
                EXPECT_NEAR(sense(one, column), sense(other, column), 1e-6) << column;
            for (const char* column : {"chassis.y", "roll"})
                EXPECT_NEAR(sense(one, column), -sense(other, column), 1e-6) << column;
            for (const std::string axle : {"0", "1"}) {
                EXPECT_NEAR(sense(one, "load" + axle + "0"), sense(other, "load" + axle + "1"), 1e-2);
                EXPECT_NEAR(sense(one, "wheel" + axle + "0.z"), sense(other, "wheel" + axle + "1.z"), 1e-6);
            }
        }
}

TEST(IltisMirror, StraightRoadsKeepItStraight) {
    for (const std::string formulation : {"global", "hybrid"}) {
        Simulation s = start(formulation, "ramp-and-stairs.yaml", {});
        ASSERT_TRUE(s.advance(3, 1e-3).ok);
        EXPECT_GT(sense(s, "chassis.x"), 12);  // on the stairs
        EXPECT_NEAR(sense(s, "chassis.y"), 0, 1e-6);
        EXPECT_NEAR(sense(s, "roll"), 0, 1e-5);
        EXPECT_NEAR(sense(s, "load00"), sense(s, "load01"), 1e-1);
    }
}

// The same vehicle with the joints of the paper: 26 coordinates (and five more numbers of Euler parameters) in place of
// 24, with other closures, but the same motion, over the first stairs, too.
TEST(IltisTopology, BallJointsMoveAsFourBarsDo) {
    Simulation four_bars = start("hybrid", "ramp-and-stairs.yaml", {});
    Simulation balls = start("hybrid", "ramp-and-stairs-26.yaml", {});
    EXPECT_EQ(four_bars.system().size() - four_bars.system().rows(), 10);
    EXPECT_EQ(balls.system().size(), 26 + 5);
    EXPECT_EQ(balls.system().rows(), 16 + 5);
    ASSERT_TRUE(four_bars.advance(3, 2e-3).ok);
    ASSERT_TRUE(balls.advance(3, 2e-3).ok);
    EXPECT_GT(sense(balls, "chassis.x"), 12);
    for (const char* column : {"chassis.x", "chassis.z", "wheel00.z", "wheel11.z"})
        EXPECT_NEAR(sense(balls, column), sense(four_bars, column), 1e-5) << column;
    EXPECT_NEAR(sense(balls, "pitch"), sense(four_bars, "pitch"), 1e-3);
}

// Bump stops and shock absorbers have kinks; still the balance of energy must close with the square of the step.
TEST(IltisAntiPhase, EnergyIsBalancedToSecondOrder) {
    const auto drift = [](double step) {
        Simulation s = start("hybrid", "bump-anti-phase.yaml", {{"speed", "10"}});
        return run_for(s, 1, step).energy_drift;
    };
    // Steps of 1 ms go past the blows of tyres and bump stops.
    const double coarse = drift(5e-4);
    EXPECT_LT(coarse, 5);
    EXPECT_LT(drift(1.25e-4), coarse / 9);
}

// The right wheels climb, the left ones go down: the chassis rolls to the left, and rises far less than over a bump on
// both sides.
TEST(IltisAntiPhase, RollsAwayFromTheBump) {
    for (const std::string speed : {"5", "10"}) {
        SCOPED_TRACE(speed);
        const double middle = (0.97 + 2.5) / std::stod(speed);
        Simulation alike = start("hybrid", "bump-in-phase.yaml", {{"speed", speed}});
        Simulation opposite = start("hybrid", "bump-anti-phase.yaml", {{"speed", speed}});
        const double height = sense(opposite, "chassis.z");
        ASSERT_TRUE(alike.advance(middle, 1e-3).ok);
        ASSERT_TRUE(opposite.advance(middle, 1e-3).ok);
        EXPECT_GT(sense(opposite, "wheel01.z"), sense(opposite, "wheel00.z") + 0.1);
        EXPECT_LT(sense(opposite, "roll"), -5);
        EXPECT_NEAR(sense(alike, "roll"), 0, 1e-6);
        EXPECT_LT(std::abs(sense(opposite, "chassis.z") - height), 0.4 * (sense(alike, "chassis.z") - height));
    }
}

// ---------------------------------------------------------------- corners

// The rack lies behind the front axle and goes left, so the vehicle turns right. Slowly, it follows its wheels: yaw
// rate = speed * steer angle / wheel base, the angle being the travel of the rack over its distance from the steering
// axis.
TEST(IltisSteer, FollowsItsWheelsWhenSlow) {
    Simulation s = start("hybrid", "ramp-to-steer.yaml", {{"speed", "3"}});
    ASSERT_TRUE(s.advance(5, 2e-3).ok);
    const double speed = std::hypot(sense(s, "motion.x"), sense(s, "motion.y"));
    const double expected = -speed * (0.002 / 0.14) / 2.017;
    EXPECT_NEAR(sense(s, "turning.z"), expected, 0.05 * std::abs(expected));
}

// Steady circles: the tyres carry the weight where the planes of the wheels meet the road, and their moment about the
// road below the centre of mass is that of the centripetal force m v r at its height and of the wheels, whose angular
// momentum turns with the vehicle.
TEST(IltisSteer, CornersSteadily) {
    double gain = 1;  // yaw rate over speed
    for (const double speed : {10.0, 20.0, 30.0}) {
        SCOPED_TRACE(speed);
        Simulation s = start("hybrid", "ramp-to-steer.yaml", {{"speed", std::to_string(speed)}});
        ASSERT_TRUE(s.advance(4, 1e-3).ok);
        const double before = sense(s, "turning.z");
        ASSERT_TRUE(s.advance(5, 1e-3).ok);
        const double yaw_rate = sense(s, "turning.z");
        EXPECT_LT(yaw_rate, 0);
        EXPECT_NEAR(yaw_rate, before, 2e-3 * std::abs(before));

        const Vec2 chassis(sense(s, "chassis.x"), sense(s, "chassis.y"));
        const Vec2 left = (Vec2(sense(s, "left.x"), sense(s, "left.y")) - chassis).normalized();
        constexpr double hub_mass = 57.35;
        constexpr double arm_masses = 4 * 6;
        double mass = 1260 + arm_masses;
        double moment_of_mass = 1260 * sense(s, "chassis.z") + arm_masses * 0.2655;
        double spin_momentum = 0;
        double weight_moment = 0;  // of the wheels; the chassis leans towards the outer ones
        double load = 0;
        double moment = 0;
        for (const std::string wheel : {"00", "01", "10", "11"}) {
            const Vec2 at(sense(s, "wheel" + wheel + ".x"), sense(s, "wheel" + wheel + ".y"));
            const double height = sense(s, "wheel" + wheel + ".z");
            const double camber = std::asin(sense(s, "tip" + wheel + ".z") - height);
            load += sense(s, "load" + wheel);
            moment += sense(s, "load" + wheel) * ((at - chassis).dot(left) + height * std::tan(camber));
            weight_moment += hub_mass * 9.81 * (at - chassis).dot(left);
            spin_momentum += 1.908 * speed / (wheel[0] == '0' ? 0.364325 : 0.363812);
            mass += hub_mass;
            moment_of_mass += hub_mass * sense(s, "wheel" + wheel + ".z");
        }
        const double v = std::hypot(sense(s, "motion.x"), sense(s, "motion.y"));
        EXPECT_NEAR(load, mass * 9.81, 1e-5 * load);
        EXPECT_NEAR(moment, weight_moment - (moment_of_mass * v + spin_momentum) * yaw_rate, 2e-3 * moment);
        // Understeer: the circle widens with the speed.
        EXPECT_LT(std::abs(yaw_rate) / v, gain);
        gain = std::abs(yaw_rate) / v;
    }
}

// ---------------------------------------------------------------- wheels that spin

TEST(IltisWheels, KeepTheirAngularMomentumWhenFree) {
    for (const std::string formulation : {"global", "hybrid", "articulated-body"}) {
        SCOPED_TRACE(formulation);
        Simulation s = start(formulation, "spinning-wheels.yaml");
        EXPECT_EQ(s.compute_mobility().freedoms, 14);
        // Rolling at the start; in equilibrium the axles are tilted a little.
        EXPECT_NEAR(sense(s, "spin10"), 5 / 0.363812, 1e-4);
        const double front = sense(s, "momentum00");
        const double rear = sense(s, "momentum10");
        // What the scheme leaves falls with the square of the step: 2e-5 at 1 ms, 4e-6 at 0.5 ms, 4e-7 at 0.25 ms.
        ASSERT_TRUE(s.advance(1, 5e-4).ok);
        // The hubs tilt and steer on the way, so the spin itself changes; the momentum about the axle does not.
        EXPECT_GT(std::abs(sense(s, "turning01.x")), 1e-3);
        for (const std::string wheel : {"00", "01", "10", "11"})
            EXPECT_NEAR(sense(s, "momentum" + wheel), wheel[0] == '0' ? front : rear, 1e-5) << wheel;
    }
}

TEST(IltisWheels, GainTheTorqueTimesTheTime) {
    for (const std::string formulation : {"global", "hybrid", "articulated-body"}) {
        SCOPED_TRACE(formulation);
        Simulation driven = start(formulation, "spinning-wheels.yaml", {{"torque", "20"}});
        Simulation free = start(formulation, "spinning-wheels.yaml");
        ASSERT_TRUE(driven.advance(0.5, 1e-3).ok);
        ASSERT_TRUE(free.advance(0.5, 1e-3).ok);
        // The torque grows for 0.1 s. In natural coordinates the trapezoidal rule turns a wheel with an error of (angle
        // per step)^2.
        const double gained = 20 * (0.5 - 0.05);
        const double error = formulation == "global" ? std::pow(1e-3 * sense(driven, "spin10"), 2) * gained : 1e-6;
        EXPECT_NEAR(sense(driven, "momentum10") - sense(free, "momentum10"), gained, error);
        EXPECT_NEAR(sense(driven, "momentum00"), sense(free, "momentum00"), 1e-4);
        // The motors stand on the hubs, turn them backwards and lift the nose.
        EXPECT_LT(sense(driven, "pitch"), sense(free, "pitch") - 0.01);
    }
}

}  // namespace
}  // namespace limber::testing
