// Work and energy balance as runs and comparisons tell them, against closed forms.

#include <gtest/gtest.h>

#include <cmath>

#include "limber/analysis/study.hpp"
#include "support/models.hpp"

namespace limber {
namespace {

using namespace testing;

RunSummary run_for(const Model& model, const SimulationOptions& options, double until, double step) {
    Simulation s(model, options);
    RunOptions o;
    o.until = until;
    o.step = step;
    return run(s, o).summary;
}

// A mass on a rail that a damper stops: v = v0 exp(-c t / m); the damper takes m v0^2/2 (1 - exp(-2 c t / m)).
Model damped_mass() {
    return read(R"(
limber: 1
plane: xy
gravity: [0, 0]
bodies: {block: {mass: 2, inertia: 1, velocity: [3, 0]}}
joints: {rail: {prismatic: [ground, block], axis: [1, 0]}}
forces: {damper: {drag: block, linear: 4}}
sensors: {work: {energy: work}}
)");
}

TEST(EnergyBalance, OfADamperIsOfTheSchemesOrder) {
    const Model model = damped_mass();
    const auto drift = [&](double h) {
        return run_for(model, options("augmented-lagrangian", "rk4", "reference-point"), 2, h).energy_drift;
    };
    const double coarse = drift(0.1);
    const double fine = drift(0.05);
    EXPECT_LT(coarse, 1e-3 * 9);
    EXPECT_GT(std::log2(coarse / fine), 3.7);
    // A long step of the reference is many short ones.
    const RunSummary reference =
        run_for(model, options("augmented-lagrangian", "reference", "reference-point"), 2, 0.5);
    EXPECT_LT(reference.energy_drift, 1e-7);
    ASSERT_EQ(reference.sensors.size(), 1U);
    EXPECT_NEAR(reference.sensors[0].final, -9 * (1 - std::exp(-8.0)), 1e-7);
}

// A block that a driver moves as x = A sin(w t): what the driver puts in is the kinetic energy, at every instant.
TEST(EnergyBalance, OfADriverIsOfFourthOrder) {
    const Model model = read(R"(
limber: 1
plane: xy
bodies: {block: {mass: 2, inertia: 1, velocity: [1.5, 0]}}
joints: {rail: {prismatic: [ground, block], axis: [1, 0]}}
drivers: {push: {coordinate: rail.displacement, follows: 0.5*sin(3*t)}}
sensors: {work: {energy: work}}
)");
    for (const char* formulation : {"augmented-lagrangian", "global", "articulated-body"}) {
        const auto work = [&](double h) {
            Simulation s(model, options(formulation, "rk4"));
            s.watch_work(true);
            return s.advance(0.8, h).work;
        };
        const auto kinetic = [](double t) { return std::pow(1.5 * std::cos(3 * t), 2); };
        const double exact = kinetic(0.8) - kinetic(0);
        const double coarse = std::abs(work(0.1) - exact);
        const double fine = std::abs(work(0.05) - exact);
        EXPECT_LT(coarse, 1e-3) << formulation;
        EXPECT_GT(std::log2(coarse / fine), 3.5) << formulation;
    }
}

// A servo that holds an arm up: nothing moves, so nothing works, whatever the torque and the step.
TEST(EnergyBalance, OfAServoAtRestIsZero) {
    const Model model = read(R"(
limber: 1
plane: xy
bodies: {arm: {rod: {from: [0, 0], to: [0.5, 0], mass: 2}}}
joints: {shoulder: {revolute: [ground, arm.from], x: [1, 0]}}
forces: {servo: {servo: shoulder.angle, target: 0, gain: 400, rate-gain: 40}}
simulation: {start: equilibrium}
)");
    SimulationOptions chosen = simulation_options_of(model);
    for (const double h : {1e-3, 1e-2, 0.1}) {
        const RunSummary summary = run_for(model, chosen, 5, h);
        EXPECT_LT(summary.energy_drift, 1e-9) << h;
        EXPECT_TRUE(summary.warnings.empty()) << summary.warnings[0].text;
    }
}

// An arm that a servo catches. The trapezoidal rule at a step of 25 time constants of the servo's damping lets the
// velocity alternate from step to step; the arm hardly moves, and hardly any work is done on it.
Model falling_arm(const char* gains) {
    return read(std::string(R"(
limber: 1
plane: xy
bodies: {arm: {rod: {from: [0, 0], to: [0.5, 0], mass: 2}}}
joints: {shoulder: {revolute: [ground, arm.from], x: [1, 0]}}
forces: {servo: {servo: shoulder.angle, target: 0, )") +
                gains + "}}\n");
}

TEST(EnergyBalance, OfAServoConvergesWithTheScheme) {
    const Model soft = falling_arm("gain: 40, rate-gain: 4");
    const auto drift = [&](double h) {
        return run_for(soft, options("augmented-lagrangian", "rk4"), 1, h).energy_drift;
    };
    EXPECT_GT(std::log2(drift(8e-3) / drift(4e-3)), 3.7);
    const Model stiff = falling_arm("gain: 400, rate-gain: 40");
    for (const double h : {1e-3, 1e-2, 0.1})
        EXPECT_LT(run_for(stiff, options("global", "trapezoidal"), 5, h).energy_drift, 1e-5) << h;
    EXPECT_LT(run_for(stiff, options("augmented-lagrangian", "reference"), 1, 0.1).energy_drift, 1e-8);
}

// Power that jumps at the end of a step, by an impact, and losses of impacts are no drift: neither of a run nor of a
// comparison.
TEST(EnergyBalance, KnowsImpactsAlikeInRunsAndComparisons) {
    const Model model = read(R"(
limber: 1
plane: xy
bodies: {block: {mass: 1, inertia: 1, at: [0, 1]}}
joints: {rail: {prismatic: [ground, block], at: [0, 1], axis: [0, 1]}}
forces: {drag: {drag: block, linear: 0.5}}
stops: {floor: {limit: rail.displacement, min: -1, restitution: 0.6}}
sensors: {place: {position: block}}
)");
    const RunSummary summary = run_for(model, options("augmented-lagrangian", "rk4"), 2, 1e-2);
    EXPECT_GT(summary.contact_loss, 3);
    EXPECT_LT(summary.energy_drift, 1e-6);
    StudyOptions study;
    study.until = 2;
    study.instants = {1, 2};
    const StudyRun point = run_study_point(model, {"augmented-lagrangian", "rk4", NAN, 1e-2}, study);
    ASSERT_TRUE(point.is_done()) << point.failure;
    EXPECT_LT(point.energy_drift, 1e-6);
}

// A velocity joint that asks for v = 1 + t: what it does to 2 kg is the kinetic energy (1 + t)^2 - 1 it gives, in every
// formulation and scheme; with a rigid contact somewhere else, too, where time-stepping keeps the account.
TEST(EnergyBalance, OfVelocityJointsCountsWhatTheyDrive) {
    const std::string model = R"(
limber: 1
gravity: none
bodies:
  block: {mass: 2, inertia: [1, 1, 1], velocity: [1, 0, 0]}
joints:
  rail: {prismatic: [ground, block], at: [0, 0, 0], axis: [1, 0, 0]}
  pace: {velocity: {rail.displacement: 1}, equals: 1 + t}
sensors: {work: {energy: work}}
)";
    const double exact = 3;  // J after 1 s
    const auto check = [&](const std::string& text, const SimulationOptions& options, const std::string& what) {
        const RunSummary summary = run_for(read(text), options, 1, 0.01);
        ASSERT_TRUE(summary.ok) << what << ": " << summary.failure;
        EXPECT_NEAR(summary.sensors[0].final, exact, 1e-6 * exact) << what;
        EXPECT_LT(summary.energy_drift, 1e-6 * exact) << what;
    };
    for (const std::string& formulation : formulation_names())
        for (const char* integrator : {"trapezoidal", "rk4", "reference"})
            check(model, options(formulation, integrator), formulation + " " + integrator);
    check(model, options("global", "moreau-jean"), "moreau-jean");
    check(model + "contacts: {never: {rigid: [block, ground]}}\n", options("global", "moreau-jean"), "with contacts");
}

// Time-stepping: a driver that accelerates 2 kg by x = t^2 does the work 4 t^2.
TEST(EnergyBalance, OfTimeSteppingCountsDriversThatAccelerate) {
    const Model model = read(R"(
limber: 1
plane: xy
gravity: [0, 0]
bodies: {block: {mass: 2, inertia: 1}}
joints: {rail: {prismatic: [ground, block], at: [0, 0], axis: [1, 0]}}
drivers: {push: {coordinate: rail.displacement, follows: t^2}}
contacts: {never: {rigid: [block, ground]}}
sensors: {work: {energy: work}, place: {position: block}}
)");
    for (const double h : {1e-2, 1e-3}) {
        const RunSummary summary = run_for(model, options("global", "moreau-jean"), 1, h);
        ASSERT_TRUE(summary.ok) << summary.failure;
        EXPECT_NEAR(summary.sensors[0].final, 4, 1e-9);
        EXPECT_NEAR(summary.sensors[1].final, 1, 1e-9);
        EXPECT_LT(summary.energy_drift, 1e-9);
    }
}

// Time-stepping: a brick that a driver drags over a floor takes mu m g v from it, and heats the floor by as much.
TEST(EnergyBalance, OfTimeSteppingCountsDrivers) {
    const Model model = read(R"(
limber: 1
plane: xy
bodies:
  ground: {shapes: [{box: {size: [20, 1], at: [0, -0.5]}}]}
  brick: {mass: 2, inertia: 0.01, at: [0, 0.05], velocity: [0.5, 0], shapes: [{box: {size: [0.2, 0.1]}}]}
drivers: {pull: {marker: brick, component: x, follows: 0.5*t}}
contacts: {floor: {rigid: [brick, ground], friction: 0.3}}
sensors: {work: {energy: work}, lost: {energy: impacts}}
simulation: {integrator: moreau-jean}
)");
    for (const double h : {1e-2, 1e-3}) {
        Simulation s(model);
        RunOptions o;
        o.until = 2;
        o.step = h;
        const RunSummary summary = run(s, o).summary;
        ASSERT_TRUE(summary.ok) << summary.failure;
        const double exact = 0.3 * 2 * 9.81 * 0.5 * 2;
        EXPECT_NEAR(summary.sensors[0].final, exact, 1e-3 * exact) << h;
        EXPECT_NEAR(summary.sensors[1].final, exact, 1e-3 * exact) << h;
        EXPECT_LT(summary.energy_drift, 1e-6 * exact) << h;
    }
}

// Plain runs, sessions and single steps count in one place, and impulses too, whoever gives them.
TEST(EnergyBalance, IsOneAccountForPlainAndLiveRuns) {
    const Model model = damped_mass();
    const SimulationOptions o = options("augmented-lagrangian", "rk4");
    RunOptions run_options;
    run_options.until = 0.5;
    run_options.step = 0.0078125;
    Simulation plain(model, o);
    const RunResult result = run(plain, run_options);
    SessionOptions session_options;
    session_options.step = run_options.step;
    Session live(model, o, session_options);
    ASSERT_TRUE(live.advance(run_options.until).ok);
    const double exact = -9 * (1 - std::exp(-2.0));
    EXPECT_NEAR(plain.account().work, exact, 1e-6);
    EXPECT_EQ(live.work(), plain.account().work);
    EXPECT_EQ(result.table.column("work").back(), plain.account().work);
    EXPECT_TRUE(std::isnan(plain.value("work")));  // nobody watches any more

    // p = 3 N s on m = 2 kg at the speed 3 exp(-1) gives p v + p^2 / (2 m).
    const double brought = 3 * 3 * std::exp(-1.0) + 9.0 / 4;
    plain.apply_impulse("block", Vec3(3, 0, 0), Vec3::Zero());
    live.apply(Edit(ApplyImpulse{"block", Vec3(3, 0, 0), Vec3::Zero()}));
    EXPECT_NEAR(plain.account().dissipated, -brought, 1e-6);
    EXPECT_NEAR(live.simulation().account().dissipated, -brought, 1e-6);
    EXPECT_NEAR(plain.account().find_drift(plain.observer().compute_energies(plain.state())), 0, 1e-6);
    EXPECT_NEAR(live.energy_drift(), 0, 1e-6);
}

// A wheel that is led over waves: under constant forces the scheme's account closes, and contacts take energy, not
// give.
TEST(EnergyBalance, OfAWheelOnARoadCloses) {
    const Model model = example("contact/bumpy-road.yaml");
    const auto drift = [&](double h) {
        Simulation s(model);
        RunOptions o;
        o.until = 1;
        o.step = h;
        const RunSummary summary = run(s, o).summary;
        EXPECT_GE(summary.contact_loss, 0);
        return summary.energy_drift;
    };
    EXPECT_LT(drift(2e-3), 1e-10);
    EXPECT_LT(drift(5e-4), 1e-10);
}

}  // namespace
}  // namespace limber
