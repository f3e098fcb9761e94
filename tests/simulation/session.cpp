// Live sessions: edits while it moves, undo, time travel, events, accounts of energy and momentum.

#include "limber/simulation/session.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "limber/io/edit_text.hpp"
#include "limber/io/model_writer.hpp"
#include "support/models.hpp"

namespace limber::testing {
namespace {

SessionOptions steps_of(double step) {
    SessionOptions o;
    o.step = step;
    return o;
}

void expect_ok(const EditReport& report) {
    EXPECT_TRUE(report.ok) << report.reason;
}

double sensed(Session& session, const std::string& name) {
    std::vector<double> values;
    session.observer().observe(session.simulation().state(), session.work(), values);
    const auto& columns = session.observer().columns();
    const auto it = std::find(columns.begin(), columns.end(), name);
    EXPECT_NE(it, columns.end()) << name;
    return it == columns.end() ? NAN : values[static_cast<std::size_t>(it - columns.begin())];
}

Vec3 momentum(Session& session, Vec3* angular = nullptr) {
    Vec3 linear;
    Vec3 turning;
    session.observer().compute_momentum(session.simulation().state(), linear, turning);
    if (angular != nullptr) *angular = turning;
    return linear;
}

// Acceleration solvers with projection, so that every formulation satisfies its constraints to rounding.
std::string exact_integrator(const std::string& formulation) {
    return find_formulation(formulation).is_step_solver() ? "trapezoidal" : "rk4";
}

const char* const two_links = R"(
limber: 1
plane: xy
bodies:
  ground: {markers: {left: [2, 1], right: [4, 1]}}
  upper: {rod: {from: [0, 0], to: [1, 0], mass: 1}}
  lower: {rod: {from: [1, 0], to: [2, 0], mass: 1}}
joints:
  shoulder: {revolute: [ground, upper.from]}
  elbow: {revolute: [upper.to, lower.from]}
sensors:
  tip: {position: lower.to}
  knee: {position: upper.to}
  free: {position: lower.from}
)";

// ---------------------------------------------------------------- figure 9 of Joli et al. 2008

class LiveDoublePendulum : public ::testing::TestWithParam<std::string> {};

TEST_P(LiveDoublePendulum, LosesItsJointAndGetsItBack) {
    Session s(read(two_links), options(GetParam(), exact_integrator(GetParam())), steps_of(1e-3));
    ASSERT_TRUE(s.advance(0.3).ok);
    // Deleted while it swings: nothing jumps, and the lower link flies on with what it has.
    const VecX knee{{sensed(s, "knee.x"), sensed(s, "knee.y")}};
    const Vec3 before = momentum(s);
    const EditReport removed = s.apply("remove joints.elbow");
    expect_ok(removed);
    EXPECT_LT(removed.transfer.largest_move, 1e-12);
    EXPECT_LT((momentum(s) - before).norm(), 1e-9);
    EXPECT_NEAR(sensed(s, "knee.x"), knee[0], 1e-9);
    EXPECT_NEAR(removed.transfer.energy_after, removed.transfer.energy_before, 1e-9);
    const double height = sensed(s, "free.y");
    ASSERT_TRUE(s.advance(0.4).ok);
    EXPECT_LT(sensed(s, "free.y"), height - 0.05);
    EXPECT_GT(std::hypot(sensed(s, "knee.x") - sensed(s, "free.x"), sensed(s, "knee.y") - sensed(s, "free.y")), 0.02);
    // Undone: the ends are apart, so they are drawn together, then the joint holds again.
    expect_ok(s.apply("undo"));
    EXPECT_FALSE(s.model().joints.get(s.model().joints.find("elbow")).closing.empty());
    ASSERT_TRUE(s.advance(2).ok);
    EXPECT_TRUE(s.model().joints.get(s.model().joints.find("elbow")).closing.empty());
    EXPECT_NEAR(sensed(s, "knee.x"), sensed(s, "free.x"), 1e-6);
    EXPECT_NEAR(sensed(s, "knee.y"), sensed(s, "free.y"), 1e-6);
    const auto notes = s.take_notes();
    ASSERT_EQ(notes.size(), 1U);
    EXPECT_EQ(notes[0].text, "joint 'elbow' has closed");
    // Made again, and a new joint where the bodies are.
    expect_ok(s.apply("redo"));
    ASSERT_TRUE(s.advance(2.05).ok);
    Vec3 angular;
    momentum(s, &angular);
    const EditReport joined = s.apply("add joints.hook {revolute: [upper, lower], at: lower.from}");
    expect_ok(joined);
    EXPECT_LT(joined.transfer.largest_move, 1e-9);
    // The new joint acts between the links only: momentum about the shoulder stays, kinetic energy is lost.
    Vec3 angular_after;
    momentum(s, &angular_after);
    EXPECT_NEAR(angular_after.z(), angular.z(), 1e-8);
    EXPECT_GE(joined.transfer.kinetic_lost, 0);
    EXPECT_NEAR(joined.transfer.energy_before - joined.transfer.energy_after, joined.transfer.kinetic_lost, 1e-8);
    ASSERT_TRUE(s.advance(2.5).ok);
    // Everything is accounted for, to the error of the integration.
    EXPECT_LT(std::abs(s.energy_drift()), 2e-3);
}

INSTANTIATE_TEST_SUITE_P(All, LiveDoublePendulum, ::testing::ValuesIn(formulation_names()),
                         [](const auto& info) { return test_name(info.param); });

// A new joint between two free bodies: the impulse it reports is the change of momentum of its second body.
TEST(Session, ReportsTheImpulseOfANewJoint) {
    Session s(read(R"(
limber: 1
gravity: none
bodies:
  a: {box: {size: [1, 1, 1], mass: 2}, velocity: [1, 0, 0]}
  b: {box: {size: [1, 1, 1], mass: 3}, at: [2, 0, 0], velocity: [0, 1, 0], angular-velocity: [0, 0, 1]}
sensors: {va: {velocity: a.com}, vb: {velocity: b.com}}
)"),
              options("global", "trapezoidal"), steps_of(1e-3));
    const Vec3 start{sensed(s, "vb.x"), sensed(s, "vb.y"), sensed(s, "vb.z")};
    const EditReport report = s.apply("add joints.pin {spherical: [a, b], at: [1, 0, 0]}");
    expect_ok(report);
    const Vec3 after{sensed(s, "vb.x"), sensed(s, "vb.y"), sensed(s, "vb.z")};
    ASSERT_EQ(report.transfer.impulses.size(), 1U);
    EXPECT_EQ(report.transfer.impulses[0].joint, "pin");
    EXPECT_LT((report.transfer.impulses[0].impulse - 3 * (after - start)).norm(), 1e-8);
    // Plastic impact: the energy lost is that of the impulse over the relative velocity, 1/2 p . dv.
    EXPECT_GT(report.transfer.kinetic_lost, 0.1);
    EXPECT_LT((momentum(s) - Vec3(2, 3, 0)).norm(), 1e-9);
}

// ---------------------------------------------------------------- edits that are refused change nothing

TEST(Session, RefusesBadEditsAndChangesNothing) {
    Session s(read(two_links), options("global", "trapezoidal"), steps_of(1e-3));
    ASSERT_TRUE(s.advance(0.05).ok);
    const std::string text = write_model_text(s.model());
    const std::uint64_t state = s.fingerprint();
    for (const char* edit : {"add joints.elbow {revolute: [upper, lower]}",
                             "add joints.x {revolute: [upper.to, nobody.from]}",
                             "add joints.far {revolute: [ground, lower.to]}",
                             "remove joints.nothing",
                             "remove bodies.upper",
                             "remove bodies.ground with dependents",
                             "set bodies.upper.rod.mass heavy",
                             "set bodies.upper.rod.weight 2",
                             "set parameters.nothing 1",
                             "lock nothing",
                             "unlock elbow",
                             "pull ground [0, 0]",
                             "pull nothing [0, 0]",
                             "release",
                             "impulse nothing [1, 0]",
                             "use formulation magic",
                             "use coordinates polar",
                             "use step -1",
                             "use rho 7",
                             "undo",
                             "redo",
                             "go -1",
                             "go 99",
                             "jump",
                             "",
                             "{add: joints.x}",
                             "{set: a.b, value: [}",
                             "pull upper.to [1]",
                             "add joints.y {revolute: [upper.to, lower.from], closing: -1}"}) {
        const EditReport report = s.apply(std::string(edit));
        EXPECT_FALSE(report.ok) << edit;
        EXPECT_FALSE(report.reason.empty()) << edit;
        EXPECT_EQ(s.fingerprint(), state) << edit;
        EXPECT_EQ(write_model_text(s.model()), text) << edit;
    }
    EXPECT_NE(s.apply(std::string("add joints.far {revolute: [ground, lower.to]}")).reason.find("close joints.far"),
              std::string::npos);
    EXPECT_TRUE(s.step().ok);
}

TEST(Session, UndoesEverythingInAnyDepth) {
    Session s(read(two_links), options("global", "trapezoidal"), steps_of(1e-3));
    const std::string start = write_model_text(s.model());
    const std::vector<std::string> edits{"set bodies.upper.rod.mass 3",
                                         "set gravity [0, -1.62]",
                                         "add bodies.ball {sphere: {radius: 0.1, mass: 0.2}, at: [3, 0]}",
                                         "add forces.k {spring: [lower.to, ball], stiffness: 30}",
                                         "lock elbow",
                                         "use formulation hybrid",
                                         "use step 2e-3",
                                         "unlock elbow",
                                         "remove bodies.lower with dependents",
                                         "set title Another"};
    std::vector<std::string> texts;
    for (const std::string& edit : edits) {
        texts.push_back(write_model_text(s.model()));
        expect_ok(s.apply(edit));
        ASSERT_TRUE(s.step().ok);
    }
    const std::string end = write_model_text(s.model());
    for (std::size_t i = edits.size(); i-- > 0;) {
        expect_ok(s.apply("undo"));
        EXPECT_EQ(write_model_text(s.model()), texts[i]) << edits[i];
        ASSERT_TRUE(s.step().ok);
    }
    EXPECT_EQ(write_model_text(s.model()), start);
    EXPECT_EQ(s.options().formulation, "global");
    EXPECT_EQ(s.step_length(), 1e-3);
    EXPECT_FALSE(s.apply("undo").ok);
    for (std::size_t i = 0; i < edits.size(); ++i) {
        expect_ok(s.apply("redo"));
        ASSERT_TRUE(s.step().ok);
        for (const auto handle : s.model().joints.handles())  // what is apart is being drawn together
            if (!s.model().joints.get(handle).closing.empty()) {
                ASSERT_TRUE(s.advance(s.time() + 1).ok);
            }
    }
    EXPECT_EQ(write_model_text(s.model()), end);
}

// ---------------------------------------------------------------- switching methods

TEST(Session, SwitchesBetweenAllFormulationsWithoutAJump) {
    for (const std::string& from : formulation_names())
        for (const std::string& to : formulation_names()) {
            if (from == to) continue;
            Session s(example("slider-crank.yaml"), options(from, exact_integrator(from)), steps_of(1e-3));
            ASSERT_TRUE(s.advance(0.2).ok);
            const double x = sensed(s, "slider.x");
            const EditReport report = s.apply("use formulation " + to);
            expect_ok(report);
            EXPECT_NEAR(sensed(s, "slider.x"), x, 1e-9) << from << " " << to;
            EXPECT_NEAR(report.transfer.energy_after, report.transfer.energy_before, 1e-8) << from << " " << to;
            expect_ok(s.apply("use integrator rk4"));
            ASSERT_TRUE(s.advance(0.4).ok) << from << " " << to;
            EXPECT_LT(std::abs(s.energy_drift()), 1e-4) << from << " " << to;
        }
}

// ---------------------------------------------------------------- going back

TEST(Session, GoesBackAndForthToTheSameBits) {
    Session s(read(two_links), options("global", "trapezoidal"), steps_of(1e-3));
    ASSERT_TRUE(s.advance(0.3).ok);
    expect_ok(s.apply("set bodies.lower.rod.mass 2"));
    ASSERT_TRUE(s.advance(0.5).ok);
    const std::uint64_t middle = s.fingerprint();
    expect_ok(s.apply("use formulation augmented-lagrangian"));
    ASSERT_TRUE(s.advance(0.9).ok);
    expect_ok(s.apply("impulse lower.to [0, 1]"));
    const std::uint64_t end = s.fingerprint();
    const std::string end_text = write_model_text(s.model());

    expect_ok(s.apply("go 0.5"));
    EXPECT_NEAR(s.time(), 0.5, 1e-9);
    EXPECT_EQ(s.fingerprint(), middle);
    expect_ok(s.apply("go 0.1"));
    EXPECT_NE(write_model_text(s.model()), end_text);  // before the mass was changed
    expect_ok(s.apply("go 0.9"));
    EXPECT_EQ(s.fingerprint(), end);
    EXPECT_EQ(write_model_text(s.model()), end_text);

    // A branch: what comes after is another story, and the old one is gone.
    expect_ok(s.apply("go 0.4"));
    expect_ok(s.apply("set gravity none"));
    ASSERT_TRUE(s.advance(0.6).ok);
    EXPECT_NEAR(s.last_time(), 0.6, 1e-9);
    EXPECT_FALSE(s.apply("go 0.8").ok);
}

// ---------------------------------------------------------------- hand and mouse

TEST(Session, PullsAMarkerToTheTarget) {
    Session s(read(two_links), options("global", "trapezoidal"), steps_of(5e-4));
    expect_ok(s.apply("pull lower.to [1.2, 1.2] stiffness 500 damping 40"));
    const long compiled = s.compilations();
    ASSERT_TRUE(s.advance(4).ok);
    expect_ok(s.apply("pull lower.to [1.3, 1.1]"));
    EXPECT_EQ(s.compilations(), compiled);  // a target is moved without compiling
    ASSERT_TRUE(s.advance(12).ok);
    // Held against the weight of the links: k x = force, small against the stiffness.
    EXPECT_NEAR(sensed(s, "tip.x"), 1.3, 0.03);
    EXPECT_NEAR(sensed(s, "tip.y"), 1.1, 0.04);
    EXPECT_LT(std::abs(s.energy_drift()), 0.05);
    expect_ok(s.apply("release"));
    EXPECT_TRUE(s.model().forces.handles().empty());
    EXPECT_FALSE(s.can_undo());
}

TEST(Session, LocksAndUnlocksAJoint) {
    for (const char* formulation : {"global", "hybrid", "articulated-body"}) {
        Session s(example("double-pendulum.yaml"), options(formulation, "rk4"), steps_of(1e-3));
        ASSERT_TRUE(s.advance(0.3).ok);
        const std::string joint = s.model().joints.names().back();
        expect_ok(s.apply("lock " + joint));
        const int freedoms = s.simulation().compute_mobility().freedoms;
        EXPECT_EQ(freedoms, 1);
        ASSERT_TRUE(s.advance(0.5).ok);
        expect_ok(s.apply("unlock " + joint));
        EXPECT_EQ(s.simulation().compute_mobility().freedoms, 2);
        EXPECT_LT(std::abs(s.energy_drift()), 1e-5);
    }
}

// A disabled joint lets go; enabled again, its ends are drawn together without a jump.
TEST(Session, DisablesAndEnablesAJoint) {
    Session s(read(two_links), options("global", "trapezoidal"), steps_of(1e-3));
    ASSERT_TRUE(s.advance(0.1).ok);
    expect_ok(s.apply("set joints.elbow.disabled true"));
    EXPECT_EQ(s.simulation().compute_mobility().freedoms, 4);
    ASSERT_TRUE(s.advance(0.6).ok);
    const Vec3 tip(sensed(s, "tip.x"), sensed(s, "tip.y"), 0);
    const EditReport report = s.apply("set joints.elbow.disabled false");
    expect_ok(report);
    EXPECT_LT(report.transfer.largest_move, 1e-9);
    EXPECT_NEAR(sensed(s, "tip.x"), tip.x(), 1e-9);
    EXPECT_NEAR(sensed(s, "tip.y"), tip.y(), 1e-9);
    ASSERT_TRUE(s.advance(2.5).ok);
    const auto notes = s.take_notes();
    ASSERT_EQ(notes.size(), 1U);
    EXPECT_EQ(notes[0].text, "joint 'elbow' has closed");
    EXPECT_EQ(s.simulation().compute_mobility().freedoms, 2);
    // Both edits can be taken back, one after the other.
    expect_ok(s.apply("undo"));
    EXPECT_EQ(s.simulation().compute_mobility().freedoms, 4);
    expect_ok(s.apply("undo"));
    EXPECT_EQ(s.simulation().compute_mobility().freedoms, 2);
}

// Two ends of a rod drawn to places that are farther apart than it is long: whatever the drawing has come to, edits can
// be made and taken back, and what cannot be is given up with a note.
TEST(Session, TakesEditsBackWhereJointsCannotMeet) {
    Session s(read(two_links), options("global", "trapezoidal"), steps_of(1e-3));
    const std::string start = write_model_text(s.model());
    expect_ok(s.apply("remove joints.elbow"));
    expect_ok(s.apply("close joints.hook {revolute: [ground.left, lower.from]}"));
    expect_ok(s.apply("close joints.eye {revolute: [ground.right, lower.to]}"));
    for (int i = 0; i < 300; ++i) {
        expect_ok(s.apply("set gravity [0, -5]"));
        ASSERT_TRUE(s.step().ok);
        expect_ok(s.apply("undo"));
    }
    const auto notes = s.take_notes();
    ASSERT_FALSE(notes.empty());
    EXPECT_NE(notes[0].text.find("cannot be drawn together"), std::string::npos) << notes[0].text;
    while (s.can_undo()) expect_ok(s.apply("undo"));
    ASSERT_TRUE(s.advance(s.time() + 2).ok);
    EXPECT_EQ(write_model_text(s.model()), start);
}

// Two rods on their way to each other are pinned together beside the line between their centres: these could go on
// approaching each other only by turning at thousands of rad/s.
TEST(Session, RefusesJointsThatWouldThrowBodiesAbout) {
    Session s(read(R"(
limber: 1
plane: xy
gravity: none
bodies:
  a: {rod: {from: [0, 0], to: [1, 0], mass: 1}}
  b: {rod: {from: [3, 0], to: [4, 0], mass: 1}}
)"),
              options("global", "trapezoidal"), steps_of(1e-3));
    expect_ok(s.apply("close joints.clasp {revolute: [a, b]}"));
    ASSERT_TRUE(s.advance(0.02).ok);
    const EditReport report = s.apply("add joints.pin {revolute: [a, b], at: [2, 1e-3]}");
    EXPECT_FALSE(report.ok);
    EXPECT_NE(report.reason.find("throw the bodies about"), std::string::npos) << report.reason;
    ASSERT_TRUE(s.advance(3).ok);
    EXPECT_TRUE(s.model().joints.get(s.model().joints.find("clasp")).closing.empty());
}

// A third pin where two others hold already. Its place is that of the moment, with the gap that gains have left: what
// remains of its rows must not be taken for a constraint.
TEST(Session, TakesAPinThatOthersMakeNeedless) {
    for (const auto& formulation : formulation_names()) {
        Session s(read_model_text("limber: 1\nplane: xy\nbodies:\n"
                                  "  frame: {box: {size: [0.3, 0.2], mass: 3}, at: [-0.2, -0.1], angle: 1}\n"
                                  "  arm: {box: {size: [0.2, 0.3], mass: 2}, at: [1.3, -1.4], angular-velocity: 0.1}\n"
                                  "joints:\n"
                                  "  pin: {revolute: [ground, arm], at: [0, 0]}\n"
                                  "  weld: {fixed: [frame, ground], at: [-0.1, 0.1]}\n",
                                  "pins")
                      .model,
                  options(formulation, "trapezoidal"), steps_of(2e-3));
        ASSERT_TRUE(s.advance(0.02).ok) << formulation;
        ASSERT_TRUE(s.apply("add joints.again {revolute: [frame, arm], at: ground}").ok) << formulation;
        const Energies start = s.observer().compute_energies(s.simulation().state());
        ASSERT_TRUE(s.advance(0.3).ok) << formulation;
        const Energies end = s.observer().compute_energies(s.simulation().state());
        EXPECT_NEAR(end.kinetic + end.potential, start.kinetic + start.potential, 1e-4) << formulation;
        EXPECT_LT(s.observer().compute_errors(s.simulation().state()).position, 1e-5) << formulation;
    }
}

// Length of a link while it runs: bodies move as little as they can, loops stay closed.
TEST(Session, ChangesALengthWhileItRuns) {
    Session s(read(R"(
limber: 1
plane: xy
parameters: {L: 1}
bodies:
  crank: {rod: {from: [0, 0], to: [0, L], mass: 1}}
  rod: {rod: {from: [0, L], to: [2, 1.5], mass: 1}}
  rocker: {rod: {from: [2, 1.5], to: [2, 0], mass: 1}}
joints:
  a: {revolute: [ground, crank.from]}
  b: {revolute: [crank.to, rod.from]}
  c: {revolute: [rod.to, rocker.from]}
  d: {revolute: [rocker.to, ground], at: [2, 0]}
)"),
              options("global", "trapezoidal"), steps_of(1e-3));
    ASSERT_TRUE(s.advance(0.2).ok);
    const EditReport report = s.apply("set parameters.L 1.1");
    expect_ok(report);
    EXPECT_GT(report.transfer.largest_move, 0.01);
    EXPECT_LT(report.transfer.largest_move, 0.3);
    EXPECT_LT(s.observer().compute_errors(s.simulation().state()).position, 1e-10);
    ASSERT_TRUE(s.advance(1).ok);
}

// ---------------------------------------------------------------- events

// Seguy et al. 2003: half a swing of a uniform rod takes 0.96666743 s; after k swaps the link lies on the axis between
// k - 1 and k.
TEST(Events, LetThePendulumWalk) {
    const Model model = example("live/walking-pendulum.yaml");
    Session s(model, options("augmented-lagrangian", "rk4"), steps_of(0.005));
    std::vector<double> swaps;
    const double start = s.observer().compute_energies(s.simulation().state()).potential;
    while (swaps.size() < 20) {
        ASSERT_TRUE(s.step().ok);
        for (const SessionNote& note : s.take_notes()) {
            swaps.push_back(note.time);
            const auto k = static_cast<double>(swaps.size());
            // Read after the rest of the step, which is at most 5 ms of a motion that begins at rest.
            EXPECT_NEAR(std::max(sensed(s, "from.x"), sensed(s, "to.x")), k, 1e-3);
            EXPECT_NEAR(std::min(sensed(s, "from.x"), sensed(s, "to.x")), k - 1, 1e-3);
            EXPECT_LT(std::max(std::abs(sensed(s, "from.y")), std::abs(sensed(s, "to.y"))), 1e-3);
        }
        const Energies e = s.observer().compute_energies(s.simulation().state());
        EXPECT_LT(e.kinetic + e.potential, start + 1e-6);
    }
    for (std::size_t i = 0; i < swaps.size(); ++i)
        EXPECT_NEAR(swaps[i], 0.96666743 * static_cast<double>(i + 1), 2e-5 * static_cast<double>(i + 1));
}

// A pin that breaks at 40 N. For the arm and bob released from the horizontal, the event comes when the reaction
// reaches it, to the precision of the integration, not of the step.
TEST(Events, AreLocatedInsideTheStep) {
    double first = 0;
    for (const double step : {4e-3, 1e-3}) {
        Session s(example("live/breaking-link.yaml"), options("global", "trapezoidal"), steps_of(step));
        while (s.model().joints.size() == 2) {
            ASSERT_LT(s.time(), 1.5);
            ASSERT_TRUE(s.step().ok);
        }
        const auto notes = s.take_notes();
        ASSERT_EQ(notes.size(), 1U);
        EXPECT_TRUE(s.model().sensors.find("load").is_null());
        if (first == 0) first = notes[0].time;
        EXPECT_NEAR(notes[0].time, first, 5e-5);
    }
}

TEST(Events, HappenOnceIfSo) {
    Session s(example("live/latch.yaml"), options("global", "trapezoidal"), steps_of(5e-3));
    ASSERT_TRUE(s.advance(6).ok);
    EXPECT_FALSE(s.model().joints.find("hinge_lock").is_null());
    EXPECT_EQ(s.take_notes().size(), 1U);
    EXPECT_NEAR(sensed(s, "angle"), -pi / 3, 1e-6);
    EXPECT_NEAR(sensed(s, "speed"), 0, 1e-9);
}

// ---------------------------------------------------------------- text of edits

TEST(EditText, ReadsWhatItWrites) {
    for (const char* text :
         {"add joints.pin {revolute: [a.to, b.from]}", "close joints.pin {revolute: [a, b], at: [1, 2]}",
          "remove bodies.rod", "remove bodies.rod with dependents", "set bodies.rod.rod.mass 2*m", "set gravity [0, 0]",
          "lock elbow", "unlock elbow", "pull rod.to [1, 2, 0]", "pull rod.to [1, 2, 0] stiffness 100 damping 5",
          "release", "impulse rod.to [0, 1, 0]", "impulse rod.to [0, 1, 0] moment [0, 0, 0.5]", "use integrator rk4",
          "undo", "redo", "renew", "go 1.5"})
        EXPECT_EQ(format_edit(parse_edit(text)), text);
    EXPECT_EQ(format_edit(parse_edit("{add: joint.pin, value: {revolute: [a.to, b.from]}}")),
              "add joints.pin {revolute: [a.to, b.from]}");
    EXPECT_EQ(format_edit(parse_edit("{pull: rod.to, target: [1, 2], stiffness: 3}")),
              "pull rod.to [1, 2, 0] stiffness 3");
    EXPECT_EQ(format_edit(parse_edit("{remove: bodies.rod, dependents: true}")), "remove bodies.rod with dependents");
}

}  // namespace
}  // namespace limber::testing
