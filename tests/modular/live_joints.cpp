// Joints between components that come and go through the door of a simulation: the components stay what they are, and
// the motion is that of a mechanism compiled anew.

#include <gtest/gtest.h>

#include <fmt/format.h>
#include "limber/modular/live_joints.hpp"

#include <cstdio>

#include "limber/io/element_edits.hpp"
#include "limber/simulation/journal.hpp"
#include "limber/simulation/run.hpp"
#include "support/model_text.hpp"
#include "support/models.hpp"

namespace limber::testing {
namespace {

// Three components of two rods each, and a spring past the one in the middle.
constexpr const char* six_rods = R"(
limber: 1
plane: xy
bodies:
  a1: {rod: {from: [0, 0], to: [1, 0], mass: 1}}
  a2: {rod: {from: [1, 0], to: [2, 0], mass: 2}}
  b1: {rod: {from: [2, 0], to: [3, 0], mass: 1}}
  b2: {rod: {from: [3, 0], to: [4, 0], mass: 3}}
  c1: {rod: {from: [4, 0], to: [5, 0], mass: 1}}
  c2: {rod: {from: [5, 0], to: [6, 0], mass: 1}}
joints:
  hook: {revolute: [ground, a1.from]}
  in_a: {revolute: [a1.to, a2.from]}
  ab: {revolute: [a2.to, b1.from]}
  in_b: {revolute: [b1.to, b2.from]}
  bc: {revolute: [b2.to, c1.from]}
  in_c: {revolute: [c1.to, c2.from]}
forces:
  across: {spring: [a2.to, c1.from], stiffness: 40, free-length: 1.5}
components:
  a: {bodies: ["a*"]}
  b: {bodies: ["b*"]}
  c: {bodies: ["c*"]}
sensors:
  tip: {position: c2.to}
)";

SimulationOptions by_groups() {
    SimulationOptions o = options("global", "trapezoidal");
    o.modular.division = "groups";
    return o;
}

Simulation run_to(double t) {
    Simulation simulation(read(six_rods), by_groups());
    EXPECT_TRUE(simulation.advance(t, 1e-3).ok);
    return simulation;
}

// Between the ends of two rods of one metre, now.
double find_distance(const Simulation& simulation, const std::string& first, const std::string& second) {
    const auto place = [&](const std::string& marker) {
        const Frame frame = simulation.body_frame(marker.substr(0, 2));
        return Vec3(frame.position + frame.axes * Vec3(marker.ends_with(".to") ? 1 : 0, 0, 0));
    };
    return (place(first) - place(second)).norm();
}

Model without(Model model, const std::string& joint) {
    remove_element(model, "joints", joint, false);
    return model;
}

// The same edit, but with everything compiled anew: another number of threads is another way to compute.
TransferReport transfer_compiled(Simulation& simulation, const Model& model) {
    SimulationOptions other = simulation.options();
    other.modular.threads = 2;
    const long before = simulation.component_compilations();
    TransferReport report = simulation.transfer(model, other);
    EXPECT_EQ(simulation.component_compilations(), before + 1);
    return report;
}

TransferReport transfer_joints_only(Simulation& simulation, const Model& model) {
    const long before = simulation.component_compilations();
    TransferReport report = simulation.transfer(model, simulation.options());
    EXPECT_EQ(simulation.component_compilations(), before);
    return report;
}

void expect_same_motion(Simulation& a, Simulation& b, double until) {
    ASSERT_TRUE(a.advance(until, 1e-3).ok);
    ASSERT_TRUE(b.advance(until, 1e-3).ok);
    EXPECT_LT((a.state().q - b.state().q).lpNorm<Eigen::Infinity>(), 1e-8);
    EXPECT_LT((a.state().v - b.state().v).lpNorm<Eigen::Infinity>(), 1e-6);
    const std::vector<double> seen = sense_all(a);
    const std::vector<double> expected = sense_all(b);
    ASSERT_EQ(seen.size(), expected.size());
    for (std::size_t i = 0; i < seen.size(); ++i) EXPECT_NEAR(seen[i], expected[i], 1e-8);
}

TEST(LiveJoints, LeaveAndNothingElseChanges) {
    Simulation simulation = run_to(0.2);
    Simulation compiled = run_to(0.2);
    const State before = simulation.state();
    const TransferReport report = transfer_joints_only(simulation, without(simulation.model(), "bc"));
    EXPECT_TRUE(same_bits(simulation.state().q, before.q));
    EXPECT_TRUE(same_bits(simulation.state().v, before.v));
    EXPECT_EQ(report.kinetic_lost, 0);
    EXPECT_TRUE(report.impulses.empty());
    // What held the third component falls away: other accelerations.
    EXPECT_GT((simulation.state().a - before.a).lpNorm<Eigen::Infinity>(), 0.1);
    transfer_compiled(compiled, without(compiled.model(), "bc"));
    EXPECT_LT((simulation.state().a - compiled.state().a).lpNorm<Eigen::Infinity>(), 1e-6);
    expect_same_motion(simulation, compiled, 0.4);
}

// Apart for a while, then held where they are: an impulse, and the same one as if everything had been compiled.
TEST(LiveJoints, ComeWithTheImpulseOfAnImpact) {
    Simulation simulation = run_to(0.2);
    Simulation compiled = run_to(0.2);
    for (Simulation* s : {&simulation, &compiled}) {
        transfer_joints_only(*s, without(s->model(), "bc"));
        ASSERT_TRUE(s->advance(0.3, 1e-3).ok);
    }
    Model model = simulation.model();
    add_element(model, "joints", "bar", "{distance: [b2.to, c1.from]}");
    const double gap = find_distance(simulation, "b2.to", "c1.from");
    ASSERT_GT(gap, 1e-2);
    model.joints.get(model.joints.find("bar")).as<DistanceJoint>()->length = Number(gap);

    const TransferReport found = transfer_joints_only(simulation, model);
    const TransferReport expected = transfer_compiled(compiled, model);
    EXPECT_GT(expected.kinetic_lost, 1e-3);
    EXPECT_NEAR(found.kinetic_lost, expected.kinetic_lost, 1e-9 * (1 + expected.kinetic_lost));
    EXPECT_NEAR(found.energy_before - found.energy_after, found.kinetic_lost, 1e-9);
    const auto impulse_of = [](const TransferReport& report, const std::string& joint) {
        for (const JointImpulse& impulse : report.impulses)
            if (impulse.joint == joint) return impulse.impulse;
        return Vec3(Vec3::Zero());
    };
    for (const char* joint : {"bar", "ab"}) {
        EXPECT_GT(impulse_of(expected, joint).norm(), 1e-3) << joint;
        EXPECT_LT((impulse_of(found, joint) - impulse_of(expected, joint)).norm(), 1e-7) << joint;
    }
    expect_same_motion(simulation, compiled, 0.5);
}

TEST(LiveJoints, CanBeDisabledAndEnabled) {
    Simulation simulation = run_to(0.1);
    const State before = simulation.state();
    Model model = simulation.model();
    model.joints.get(model.joints.find("bc")).is_disabled = true;
    transfer_joints_only(simulation, model);
    EXPECT_EQ(simulation.system().rows(), 10);  // five of the six joints, two rows each
    EXPECT_GT((simulation.state().a - before.a).lpNorm<Eigen::Infinity>(), 0.1);
    model.joints.get(model.joints.find("bc")).is_disabled = false;
    transfer_joints_only(simulation, model);
    EXPECT_EQ(simulation.system().rows(), 12);
    EXPECT_TRUE(same_bits(simulation.state().q, before.q));
    EXPECT_LT((simulation.state().v - before.v).lpNorm<Eigen::Infinity>(), 1e-10);
    EXPECT_LT((simulation.state().a - before.a).lpNorm<Eigen::Infinity>(), 1e-4);
}

// A body that no joint between components has held yet, a joint inside a component, ends that are apart: all is
// compiled.
TEST(LiveJoints, WhatConcernsMoreIsCompiled) {
    const auto expect_compiled = [](const std::string& from, const std::string& to, double part) {
        Simulation simulation = run_to(0.3);
        Model model = simulation.model();
        const double length = part * find_distance(simulation, from, to);
        add_element(model, "joints", "bar", fmt::format("{{distance: [{}, {}], length: {}}}", from, to, length));
        const long before = simulation.component_compilations();
        simulation.transfer(model, simulation.options());
        EXPECT_EQ(simulation.component_compilations(), before + 1) << from << " " << to;
        const StepReport report = simulation.advance(0.31, 1e-3);
        EXPECT_TRUE(report.ok) << from << " " << to << ": " << report.reason;
    };
    expect_compiled("a1.to", "c1.to", 1);
    expect_compiled("b1.from", "b2.to", 1);
    expect_compiled("a2.to", "c1.from", 0.99);
    Simulation simulation = run_to(0.05);
    const long before = simulation.component_compilations();
    simulation.transfer(without(simulation.model(), "in_b"), simulation.options());
    EXPECT_EQ(simulation.component_compilations(), before + 1);
}

// Wrong joints are refused, and nothing has happened.
TEST(LiveJoints, RefuseWhatIsWrong) {
    Simulation simulation = run_to(0.05);
    const State before = simulation.state();
    Model model = simulation.model();
    Joint joint = model.joints.get(model.joints.find("bc"));
    joint.name = "self";
    joint.between()->first = joint.between()->second;
    model.joints.add(joint);
    EXPECT_THROW(simulation.transfer(model, simulation.options()), ModelError);
    EXPECT_TRUE(same_bits(simulation.state().q, before.q));
    EXPECT_TRUE(simulation.model().joints.find("self").is_null());
    EXPECT_TRUE(simulation.advance(0.1, 1e-3).ok);
}

// Steps, edits between components, snapshots in between: going back in time gives the same bits.
TEST(LiveJoints, AreReplayedToTheBit) {
    SessionOptions session_options;
    session_options.renewal = 20;
    Session session(read(six_rods), by_groups(), session_options);
    const auto steps = [&](int count) {
        for (int i = 0; i < count; ++i) ASSERT_TRUE(session.step().ok);
    };
    steps(30);
    ASSERT_TRUE(session.apply("remove joints.bc").ok);
    steps(5);
    const long compilations = session.simulation().component_compilations();
    ASSERT_TRUE(session.apply("undo").ok);  // its ends have come apart: they are put together, and all is compiled
    EXPECT_EQ(session.simulation().component_compilations(), compilations + 1);
    steps(40);
    ASSERT_TRUE(session.apply("remove joints.ab").ok);
    steps(7);
    const std::uint64_t end = session.fingerprint();
    const double t = session.time();
    ASSERT_TRUE(session.apply("go 0.025").ok);
    EXPECT_NE(session.fingerprint(), end);
    ASSERT_TRUE(session.apply(Edit{GoToTime{t}}).ok);
    EXPECT_EQ(session.fingerprint(), end);
    EXPECT_NEAR(session.energy_drift(), 0, 1e-3);
}

// A journal tells how the mechanism was divided, and when that changed.
TEST(LiveJoints, AreReplayedFromAJournal) {
    const std::string path = ::testing::TempDir() + "divided.journal";
    Session session(read(six_rods), by_groups());
    const auto journal = Journal::create(path, session);
    session.record(journal);
    ASSERT_TRUE(session.advance(0.02).ok);
    ASSERT_TRUE(session.apply("remove joints.bc").ok);
    ASSERT_TRUE(session.advance(0.03).ok);
    ASSERT_TRUE(session.apply("use division none").ok);
    EXPECT_TRUE(session.simulation().components().empty());
    ASSERT_TRUE(session.advance(0.04).ok);
    ASSERT_TRUE(session.apply("use division auto:2").ok);
    EXPECT_EQ(session.simulation().components().size(), 2U);
    ASSERT_TRUE(session.advance(0.05).ok);
    journal->finish(session);
    ReplayReport report;
    const Session again = replay_journal(path, report);
    EXPECT_EQ(report.mismatch, "");
    EXPECT_EQ(report.edits, 3);
    EXPECT_EQ(again.fingerprint(), session.fingerprint());
    std::remove(path.c_str());
}

TEST(LiveJoints, JournalsKeepTheStepsOfUzawa) {
    const std::string path = ::testing::TempDir() + "uzawa.journal";
    const Model model = example("modular/uzawa.yaml");
    SimulationOptions o = options("augmented-lagrangian", "trapezoidal");
    apply_modular_defaults(model, o);
    Session session(model, o);
    const auto journal = Journal::create(path, session);
    session.record(journal);
    ASSERT_TRUE(session.advance(0.01).ok);
    journal->finish(session);
    ReplayReport report;
    const Session again = replay_journal(path, report);
    EXPECT_EQ(report.mismatch, "");
    EXPECT_EQ(again.options().modular.joint_rho, o.modular.joint_rho);
    std::remove(path.c_str());
}

// ---------------------------------------------------------------- what is recorded

TEST(DividedRun, RecordsTheEvaluationsOfEveryStep) {
    Simulation simulation(read(six_rods), by_groups());
    RunOptions run_options;
    run_options.until = 0.02;
    const RunResult result = run(simulation, run_options);
    ASSERT_TRUE(result.summary.ok) << result.summary.failure;
    const ResultTable& table = result.table;
    ASSERT_EQ(table.columns, (std::vector<std::string>{"t", "tip.x", "tip.y", "gluing.evaluations"}));
    ASSERT_EQ(table.values.size(), 4U * 21U);
    double sum = 0;
    for (std::size_t i = 3; i < table.values.size(); i += 4) sum += table.values[i];
    EXPECT_EQ(sum, static_cast<double>(result.summary.iterations));
    EXPECT_EQ(table.values[3], 0);  // before the first step
    Simulation whole(read(six_rods), options("global", "trapezoidal"));
    EXPECT_EQ(run(whole, run_options).table.columns.back(), "tip.y");
}

}  // namespace
}  // namespace limber::testing
