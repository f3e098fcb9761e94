// What a run says about its start and about itself, and when it stops.

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>

#include "limber/math/interruption.hpp"
#include "support/models.hpp"

namespace limber {
namespace {

using namespace testing;

const Warning* find(const std::vector<Warning>& list, const std::string& kind) {
    const auto it = std::find_if(list.begin(), list.end(), [&](const Warning& w) { return w.kind == kind; });
    return it == list.end() ? nullptr : &*it;
}

std::vector<Warning> warnings_of(const std::string& yaml) {
    Simulation s(read(yaml));
    return find_warnings(s);
}

bool names(const Warning& warning, const std::string& element) {
    return std::find(warning.elements.begin(), warning.elements.end(), element) != warning.elements.end();
}

TEST(Warnings, TellWhatAssemblyMoved) {
    // The rod's end is 66 mm away from its pin.
    const auto list = warnings_of(R"(
limber: 1
plane: xy
bodies: {ground: {markers: {pin: [0, 0.066]}}, rod: {rod: {from: [0, 0], to: [1, 0], mass: 1}}}
joints: {a: {revolute: [ground.pin, rod.from]}}
)");
    const Warning* moved = find(list, "assembly");
    ASSERT_NE(moved, nullptr);
    EXPECT_TRUE(names(*moved, "rod"));
    // The heavy way: the centre moves by less than the end, a quarter of it at least.
    EXPECT_NE(moved->text.find("'rod' was moved"), std::string::npos) << moved->text;
}

// Where bodies go because 'initial' says so is no surprise, far turns of a geared rotor included.
TEST(Warnings, SayNothingOfBodiesThatInitialMoves) {
    const auto list = warnings_of(R"(
limber: 1
plane: xy
bodies:
  arm: {rod: {from: [0, 0], to: [1, 0], mass: 1}}
  rotor: {disc: {radius: 0.1, mass: 1}}
joints:
  pin: {revolute: [ground, arm.from]}
  motor: {revolute: [ground, rotor]}
  drive: {gear: [motor.angle, pin.angle], ratio: 60}
initial: {positions: {pin.angle: 70 deg}}
)");
    EXPECT_EQ(find(list, "assembly"), nullptr) << find(list, "assembly")->text;
}

TEST(Warnings, TellWhatTheJointsTookOfTheStart) {
    // Along the rod nothing can move: of 1/2 m v^2 with v = (1, 1) at the centre half is lost, and of what is left a
    // quarter, since the rod must turn.
    const auto list = warnings_of(R"(
limber: 1
plane: xy
bodies: {rod: {rod: {from: [0, 0], to: [1, 0], mass: 2}, velocity: [1, 1]}}
joints: {a: {revolute: [ground, rod.from]}}
)");
    const Warning* taken = find(list, "start-velocities");
    ASSERT_NE(taken, nullptr);
    EXPECT_TRUE(names(*taken, "rod"));
    EXPECT_NE(taken->text.find("1.25 of 2 J"), std::string::npos) << taken->text;
}

TEST(Warnings, NameRedundantJoints) {
    const auto list = warnings_of(R"(
limber: 1
bodies: {door: {box: {size: [1, 0.05, 2], mass: 20, at: [0.5, 0, 0]}}}
joints:
  low: {revolute: [ground, door], at: [0, 0, -0.8], axis: [0, 0, 1]}
  high: {revolute: [ground, door], at: [0, 0, 0.8], axis: [0, 0, 1]}
)");
    const Warning* redundant = find(list, "redundant");
    ASSERT_NE(redundant, nullptr);
    EXPECT_TRUE(names(*redundant, "low") && names(*redundant, "high"));
    EXPECT_EQ(redundant->text.substr(0, 7), "5 of 10") << redundant->text;
}

TEST(Warnings, FindShapesThatOverlapAtTheStart) {
    const std::string rest = R"(
contacts: {floor: {rigid: [ball, ground]}}
simulation: {integrator: moreau-jean}
)";
    const auto deep = warnings_of(
        "limber: 1\nbodies: {ground: {shapes: [{plane: {}}]}, ball: {sphere: {radius: 0.1, mass: 1}, at: [0, 0, -5]}}" +
        rest);
    const Warning* overlap = find(deep, "overlap");
    ASSERT_NE(overlap, nullptr);
    EXPECT_TRUE(names(*overlap, "ball") && names(*overlap, "ground"));
    EXPECT_NE(overlap->text.find("5.1 m"), std::string::npos) << overlap->text;
    const auto resting = warnings_of(
        "limber: 1\nbodies: {ground: {shapes: [{plane: {}}]}, ball: {sphere: {radius: 0.1, mass: 1}, at: [0, 0, "
        "0.1]}}" +
        rest);
    EXPECT_EQ(find(resting, "overlap"), nullptr);
}

TEST(Warnings, FindDriversThatContradictEachOther) {
    // The same place and speed at the start, other accelerations.
    const auto list = warnings_of(R"(
limber: 1
plane: xy
bodies: {block: {mass: 1, inertia: 1}}
joints: {rail: {prismatic: [ground, block], axis: [1, 0]}}
drivers:
  one: {coordinate: rail.displacement, follows: t^2}
  two: {marker: block, component: x, follows: 2*t^2}
)");
    const Warning* contradiction = find(list, "contradiction");
    ASSERT_NE(contradiction, nullptr);
    EXPECT_TRUE(names(*contradiction, "one") || names(*contradiction, "two")) << contradiction->text;
}

// The list of bodies is as long as there are bodies, of pairs not longer than contacts that are looked at: with a
// thousand spheres in one place that was half a minute of comparing names.
TEST(Warnings, CanBeInterruptedAmongManyOverlaps) {
    Simulation s(read(R"(
limber: 1
bodies:
  for i in 1..300:
    b<i>: {sphere: {radius: 1, mass: 1}, at: [i/10000, 0, 0]}
contacts: {all: {rigid: [all, all]}}
simulation: {integrator: moreau-jean}
)"));
    const std::vector<Warning> list = find_warnings(s);
    const Warning* overlap = find(list, "overlap");
    ASSERT_NE(overlap, nullptr);
    EXPECT_EQ(overlap->elements.size(), 300U);
    EXPECT_NE(overlap->text.find("44849 more pairs"), std::string::npos) << overlap->text;
    const std::atomic<bool> is_cancelled = true;
    const WorkLimit limit(is_cancelled);
    EXPECT_THROW(find_warnings(s), Interrupted);
}

TEST(Warnings, AreSilentAboutASoundModel) {
    for (const char* name : {"double-pendulum.yaml", "slider-crank.yaml", "contact/bouncing-ball.yaml"}) {
        Simulation s(example(name));
        const auto list = find_warnings(s);
        EXPECT_TRUE(list.empty()) << name << ": " << list[0].text;
    }
}

// ---------------------------------------------------------------- of runs

RunSummary run_for(const Model& model, const SimulationOptions& options, double until, double step) {
    Simulation s(model, options);
    RunOptions o;
    o.until = until;
    o.step = step;
    return run(s, o).summary;
}

// An explicit scheme on a spring that is too stiff for the step: w h = 10.
const char* stiff_spring = R"(
limber: 1
plane: xy
gravity: [0, 0]
bodies: {block: {mass: 1, inertia: 1, velocity: [1, 0]}}
joints: {rail: {prismatic: [ground, block], axis: [1, 0]}}
forces: {spring: {torsion-spring: rail.displacement, stiffness: 1e6}}
sensors: {place: {position: block}}
)";

TEST(Runs, StopWhereTheEnergyRunsAway) {
    const Model model = read(stiff_spring);
    const RunSummary summary = run_for(model, options("augmented-lagrangian", "rk4"), 1, 1e-2);
    EXPECT_FALSE(summary.ok);
    EXPECT_NE(summary.failure.find("energy has run away"), std::string::npos) << summary.failure;
    EXPECT_NE(summary.failure.find("energy-bound"), std::string::npos) << summary.failure;
    EXPECT_LT(summary.reached, 0.1);
    // The bound can be lifted.
    SimulationOptions lifted = options("augmented-lagrangian", "rk4");
    set_option(lifted, "energy-bound", "0");
    const RunSummary on = run_for(model, lifted, 0.05, 1e-2);
    EXPECT_TRUE(on.ok) << on.failure;
    EXPECT_GT(on.energy_drift, 1e3);
    // What is stable stays within it, at any step.
    const RunSummary implicit = run_for(model, options("global", "trapezoidal"), 1, 1e-2);
    EXPECT_TRUE(implicit.ok) << implicit.failure;
}

TEST(Runs, WarnOfADriftBeyondAHundredth) {
    const Model model = example("double-pendulum.yaml");
    SimulationOptions dissipative = options("global", "newmark");
    set_option(dissipative, "xi", "-1");
    const RunSummary coarse = run_for(model, dissipative, 2, 2e-2);
    const Warning* drift = find(coarse.warnings, "energy-drift");
    ASSERT_NE(drift, nullptr) << coarse.energy_drift << " of " << coarse.exchanged_energy;
    EXPECT_GT(coarse.energy_drift, 0.01 * coarse.exchanged_energy);
    const RunSummary fine = run_for(model, options("global", "trapezoidal"), 2, 1e-3);
    EXPECT_EQ(find(fine.warnings, "energy-drift"), nullptr) << fine.energy_drift << " of " << fine.exchanged_energy;
}

TEST(Runs, WarnOfABodyThatTurnsFarInAStep) {
    const Model model = read(R"(
limber: 1
gravity: [0, 0, 0]
bodies: {top: {mass: 1, inertia: [1, 2, 3], angular-velocity: [1000, 1, 0]}}
)");
    const RunSummary fast = run_for(model, {}, 0.01, 1e-3);
    const Warning* turn = find(fast.warnings, "large-turn");
    ASSERT_NE(turn, nullptr);
    EXPECT_EQ(turn->elements, std::vector<std::string>{"top"});
    EXPECT_NE(turn->text.find("try a step of 0.000"), std::string::npos) << turn->text;
    EXPECT_EQ(find(run_for(model, {}, 1e-3, 1e-4).warnings, "large-turn"), nullptr);
    EXPECT_EQ(find(run_for(model, options("global", "reference"), 0.01, 1e-3).warnings, "large-turn"), nullptr);
}

TEST(Runs, SayWhyAStepFailed) {
    // In relative coordinates without a constraint left: the accelerations become infinite.
    const Model model = read(stiff_spring);
    SimulationOptions chosen = options("composite-body", "rk4");
    chosen.energy_bound = 0;
    const RunSummary summary = run_for(model, chosen, 10, 1e-2);
    EXPECT_FALSE(summary.ok);
    EXPECT_NE(summary.failure.find("finite"), std::string::npos) << summary.failure;
}

TEST(Simulations, TakeTheirSettingsFromTheModel) {
    Simulation s(read(R"(
limber: 1
plane: xy
bodies: {rod: {rod: {from: [0, 0], to: [1, 0], mass: 2}}}
joints: {a: {revolute: [ground, rod.from]}}
simulation: {formulation: semi-recursive, integrator: hht, step: 0.02}
)"));
    EXPECT_EQ(s.options().formulation, "semi-recursive");
    EXPECT_EQ(s.options().integrator, "hht");
    EXPECT_EQ(s.options().coordinates, "relative");
    EXPECT_EQ(Session(s.model()).step_length(), 0.02);
}

TEST(Sensors, KnowNoMinusZero) {
    Simulation s(read(R"(
limber: 1
plane: xy
bodies: {block: {mass: 1, inertia: 1}}
joints: {rail: {prismatic: [ground, block], axis: [1, 0]}}
stops: {wall: {limit: rail.displacement, max: 0}}
sensors: {gap: {gap: wall}, back: {expression: -1*gap}}
)"));
    for (const double value : sense_all(s)) EXPECT_FALSE(std::signbit(value));
}

}  // namespace
}  // namespace limber
