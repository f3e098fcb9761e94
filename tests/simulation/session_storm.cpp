// Storms of random edits on running mechanisms, with undo, redo and time travel; journals that give the same bits
// again.

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>

#include "limber/io/model_writer.hpp"
#include "limber/simulation/journal.hpp"
#include "limber/simulation/pacing.hpp"
#include "support/models.hpp"
#include "support/random_mechanism.hpp"

namespace limber::testing {
namespace {

template <class List>
std::string any_of(const List& names) {
    return names.empty() ? "nothing" : *rc::gen::elementOf(names);
}

double number(double low, double high) {
    return low + (high - low) * *rc::gen::inRange(0, 1000) / 1000.0;
}

std::string vector(const Model& model, double size) {
    return model.planar ? fmt::format("[{}, {}]", number(-size, size), number(-size, size))
                        : fmt::format("[{}, {}, {}]", number(-size, size), number(-size, size), number(-size, size));
}

// An edit that may well be refused.
std::string random_edit(const Session& s, int serial) {
    const Model& m = s.model();
    const std::vector<std::string> bodies = m.bodies.names();
    const std::vector<std::string> joints = m.joints.names();
    switch (*rc::gen::inRange(0, 20)) {
        case 0:
            return fmt::format("add bodies.n{} {{box: {{size: {}, mass: {}}}, at: {}}}", serial,
                               m.planar ? "[0.2, 0.3]" : "[0.2, 0.2, 0.3]", number(0.1, 3), vector(m, 2));
        case 1:
            return fmt::format("add bodies.n{} {{sphere: {{radius: 0.1, mass: {}}}, at: {}}}", serial, number(0.1, 3),
                               vector(m, 2));
        case 2:
            return fmt::format("add joints.j{} {{revolute: [{}, {}], at: {}}}", serial, any_of(bodies), any_of(bodies),
                               any_of(bodies));
        case 3:
            return fmt::format("close joints.j{} {{{}: [{}, {}]}}", serial, m.planar ? "revolute" : "spherical",
                               any_of(bodies), any_of(bodies));
        case 4:
            return fmt::format("add forces.k{} {{spring: [{}, {}], stiffness: {}, damping: 0.5}}", serial,
                               any_of(bodies), any_of(bodies), number(1, 30));
        case 5:
            return fmt::format("remove joints.{}{}", any_of(joints),
                               *rc::gen::arbitrary<bool>() ? " with dependents" : "");
        case 6: return fmt::format("remove bodies.{} with dependents", any_of(bodies));
        case 7: return fmt::format("remove forces.{} with dependents", any_of(m.forces.names()));
        case 8: return "set gravity " + vector(m, 10);
        case 9:
            return fmt::format("set bodies.{}.{}.mass {}", any_of(bodies),
                               any_of(std::vector<std::string>{"rod", "box", "sphere"}), number(0.1, 4));
        case 10: return "lock " + any_of(joints);
        case 11: return "unlock " + any_of(joints);
        case 12: return fmt::format("pull {} {}", any_of(bodies), vector(m, 2));
        case 13: return "release";
        case 14: return fmt::format("impulse {} {}", any_of(bodies), vector(m, 0.5));
        case 15: return "use formulation " + any_of(formulation_names());
        case 16:
            return "use integrator " +
                   any_of(std::vector<std::string>{"trapezoidal", "rk4", "newmark", "generalized-alpha"});
        case 17: return "undo";
        case 18: return "redo";
        default: return fmt::format("go {}", number(0, 1) * s.last_time());
    }
}

// Divisions come and go, and with them bodies of every kind: the last ones of a component, points that nothing turns,
// rods without mass that only their neighbours hold.
std::string random_edit_of_divided(const Session& s, int serial) {
    const Model& m = s.model();
    const std::vector<std::string> bodies = m.bodies.names();
    switch (*rc::gen::inRange(0, 12)) {
        case 0:
        case 1:
            return "use division " +
                   any_of(std::vector<std::string>{"body", "tree", "groups", "auto", "auto:2", "auto:5", "none"});
        case 2:
            return fmt::format("add bodies.n{} {{point: {{mass: {}}}, at: {}}}", serial, number(0.1, 3), vector(m, 2));
        case 3: return fmt::format("add bodies.n{} {{rod: {{from: {}, to: {}}}}}", serial, vector(m, 2), vector(m, 2));
        case 4:
            return fmt::format("add bodies.n{} {{rod: {{from: {}, to: {}, mass: 1}}}}", serial, vector(m, 2),
                               vector(m, 2));
        case 5: return fmt::format("remove bodies.{} with dependents", any_of(bodies));
        case 6:
            return fmt::format("add joints.j{} {{{}: [{}, {}], at: {}}}", serial, m.planar ? "revolute" : "spherical",
                               any_of(bodies), any_of(bodies), any_of(bodies));
        case 7: return "use threads " + std::to_string(*rc::gen::inRange(1, 4));
        default: return random_edit(s, serial);
    }
}

// From nothing at all to mechanisms that are divided from the start.
Model divided_base_model() {
    const int choice = *rc::gen::inRange(0, 6);
    if (choice == 0) return read("limber: 1\nplane: xy\n");
    if (choice == 1) return read("limber: 1\n");
    if (choice == 2) return example("modular/double-pendulum.yaml");
    if (choice == 3) return example("modular/two-oscillators.yaml");
    if (choice == 4)
        return read(R"(
limber: 1
bodies:
  base: {box: {size: [1, 1, 0.2], mass: 10}}
  arm: {rod: {from: [0.5, 0, 0], to: [1, 0, 0]}}
  wheel: {box: {size: [0.2, 0.2, 0.2], mass: 2}, at: [1, 0, 0]}
joints:
  hang: {spherical: [ground, base], at: [0, 0, 0.5]}
  hinge: {revolute: [base, arm], at: [0.5, 0, 0], axis: [0, 1, 0]}
  hub: {fixed: [arm, wheel], at: [1, 0, 0]}
components:
  one: {bodies: [base, wheel]}
  two: {bodies: [arm]}
modular: {division: groups}
)");
    return example("double-pendulum.yaml");
}

// Examples, so that edits have familiar names to hit, or mechanisms of any kind.
Model base_model() {
    if (*rc::gen::arbitrary<bool>())
        return example(
            any_of(std::vector<std::string>{"double-pendulum.yaml", "slider-crank.yaml", "simple-pendulum.yaml",
                                            "loops/spatial-four-bar.yaml", "loops/bennett.yaml"}));
    const bool planar = *rc::gen::arbitrary<bool>();
    const Topology topology = *rc::gen::element(Topology::tree, Topology::loops, Topology::redundant);
    Model model = read_model_text(RandomMechanism(planar, topology).draw(), "random mechanism").model;
    try {
        const Simulation start(model);
    } catch (const ModelError&) {
        RC_DISCARD("a driver asks for what the joints do not allow");
    }
    return model;
}

// What is wrong with the state; empty: nothing.
std::string trouble_of(Session& s) {
    const State& x = s.simulation().state();
    if (!x.q.allFinite() || !x.v.allFinite() || !x.a.allFinite()) return "the state is not finite";
    const ConstraintErrors errors = s.observer().compute_errors(x);
    if (errors.position < 1e-4) return "";
    return fmt::format(
        "joints are open by {} (rate {}) of {} at t = {} s under {} and {}; largest speed {}, acceleration {}",
        errors.position, errors.velocity, s.simulation().system().length_scale(), x.t, s.options().formulation,
        s.options().integrator, x.v.lpNorm<Eigen::Infinity>(), x.a.lpNorm<Eigen::Infinity>());
}

int accepted_edits = 0;
int storms = 0;
int refused_edits = 0;
int resumed_from_snapshots = 0;

using EditMaker = std::string (*)(const Session&, int);

void storm(const Model& model, EditMaker make_edit, int max_edits) {
    const std::string start = write_model_text(model);
    SessionOptions options;
    options.step = 2e-3;
    options.renewal = 10;
    const std::string path =
        (std::filesystem::temp_directory_path() / fmt::format("limber-storm-{}.journal", ::getpid())).string();
    std::vector<std::string> log;
    std::uint64_t end = 0;
    std::string end_text;
    {
        SimulationOptions simulation_options;
        apply_modular_defaults(model, simulation_options);
        Session s(model, simulation_options, options);
        const auto journal = Journal::create(path, s);
        s.record(journal);
        const int count = *rc::gen::resize(rc::kNominalSize, rc::gen::inRange(1, max_edits));
        for (int i = 0; i < count; ++i) {
            const std::string edit = make_edit(s, i);
            const std::uint64_t state = s.fingerprint();
            const EditReport report = s.apply(edit);
            log.push_back(fmt::format("{} {}: {}", s.steps(), edit, report.ok ? "ok" : report.reason));
            (report.ok ? accepted_edits : refused_edits) += 1;
            if (!report.ok && s.fingerprint() != state) {
                for (const auto& line : log) RC_LOG() << line << "\n";
                RC_FAIL("a refused edit has changed the state");
            }
            // A step may fail where edits have made a mechanism that cannot move on; the state stays good.
            for (int k = *rc::gen::inRange(0, 5); k > 0 && s.step().ok; --k) {
            }
            if (const std::string trouble = trouble_of(s); !trouble.empty()) {
                for (const auto& line : log) RC_LOG() << line << "\n";
                RC_FAIL(trouble);
            }
        }
        journal->finish(s);
        end = s.fingerprint();
        end_text = write_model_text(s.model());
    }
    ReplayReport report;
    Session again = replay_journal(path, report);
    for (const auto& line : log) RC_LOG() << line << "\n";
    RC_ASSERT(report.mismatch.empty());
    RC_ASSERT(again.fingerprint() == end);
    RC_ASSERT(write_model_text(again.model()) == end_text);
    // The same from the last snapshot, if there is one.
    ReplayOptions from_snapshot;
    from_snapshot.longest_replay = 0;
    ReplayReport short_report;
    const Session resumed = replay_journal(path, short_report, from_snapshot);
    RC_ASSERT(resumed.fingerprint() == end);
    RC_ASSERT(write_model_text(resumed.model()) == end_text);
    resumed_from_snapshots += short_report.is_from_snapshot ? 1 : 0;
    // Undo of everything, the mouse let go, gives the start model back exactly.
    again.apply(std::string("release"));
    while (again.can_undo()) {
        const EditReport undone = again.apply("undo");
        if (!undone.ok) RC_FAIL("undo '" + again.next_undo() + "': " + undone.reason);
    }
    // Joints whose ends had moved apart are on their way back, or disabled where there is no way.
    Model undone = again.model();
    for (const auto handle : undone.joints.handles()) {
        undone.joints.get(handle).closing.clear();
        undone.joints.get(handle).is_disabled = false;
    }
    if (write_model_text(undone) != start) RC_FAIL("undone:\n" + write_model_text(undone) + "\nstart:\n" + start);
    std::filesystem::remove(path);
    std::filesystem::remove(path + ".snapshot");
}

// One storm in `stride` of those that would be made, of all sizes; LIMBER_ALL_STORMS=1 makes all,
// RC_PARAMS="max_success=1000 seed=7" more and others.
bool withstands(const char* description, int stride, const std::function<void()>& make_storm) {
    if (std::getenv("LIMBER_ALL_STORMS") != nullptr) stride = 1;
    accepted_edits = refused_edits = resumed_from_snapshots = storms = 0;
    int calls = 0;
    bool has_failed = false;  // smaller examples are sought
    const bool is_good = rc::check(description, [&] {
        if (!has_failed && calls++ % stride != 0) return;
        ++storms;
        try {
            make_storm();
        } catch (...) {
            has_failed = true;
            throw;
        }
    });
    std::printf("%d edits accepted, %d refused; %d sessions resumed from snapshots\n", accepted_edits, refused_edits,
                resumed_from_snapshots);
    return is_good;
}

TEST(EditStorm, NeverBreaksADividedSession) {
    EXPECT_TRUE(withstands("storms of random edits on divided mechanisms", 2,
                           [] { storm(divided_base_model(), random_edit_of_divided, 50); }));
    // Fewer storms are made under the sanitizers.
    EXPECT_GT(accepted_edits, 2.0 * storms);
    EXPECT_GT(refused_edits, 1.2 * storms);
    EXPECT_GT(resumed_from_snapshots, 0.08 * storms);
}

TEST(EditStorm, NeverBreaksASession) {
    EXPECT_TRUE(withstands("storms of random edits", 4, [] { storm(base_model(), random_edit, 100); }));
    EXPECT_GT(accepted_edits, 8.0 * storms);
    EXPECT_GT(refused_edits, 2.4 * storms);
}

// ---------------------------------------------------------------- journals

class JournalFile : public ::testing::Test {
protected:
    std::string path_ =
        (std::filesystem::temp_directory_path() / fmt::format("limber-journal-{}.journal", ::getpid())).string();
    void TearDown() override {
        std::filesystem::remove(path_);
        std::filesystem::remove(path_ + ".snapshot");
    }

    std::uint64_t record() {
        SessionOptions options;
        options.step = 1e-3;
        Session s(example("double-pendulum.yaml"), {}, options);
        const auto journal = Journal::create(path_, s);
        s.record(journal);
        EXPECT_TRUE(s.advance(0.25).ok);
        EXPECT_TRUE(s.apply("set gravity [0, -3]").ok);
        EXPECT_TRUE(s.advance(0.5).ok);
        EXPECT_TRUE(s.apply("go 0.1").ok);
        EXPECT_TRUE(s.apply("use formulation hybrid").ok);
        EXPECT_TRUE(s.advance(0.4).ok);
        journal->finish(s);
        return s.fingerprint();
    }
};

TEST_F(JournalFile, GivesTheSameBitsAgain) {
    const std::uint64_t end = record();
    ReplayReport report;
    const Session again = replay_journal(path_, report);
    EXPECT_EQ(again.fingerprint(), end);
    EXPECT_EQ(report.edits, 3);
    EXPECT_GE(report.checked, 1);
    EXPECT_TRUE(report.mismatch.empty());
    EXPECT_FALSE(report.is_cut);
}

// A rule whose first edit is made and whose second is refused: that step cannot be made. Nothing of it is left, neither
// in the session nor in the bits that follow once the rule has gone.
TEST_F(JournalFile, KnowsNothingOfStepsThatFailed) {
    SessionOptions options;
    options.step = 1e-3;
    Session s(example("double-pendulum.yaml"), {}, options);
    const auto journal = Journal::create(path_, s);
    s.record(journal);
    ASSERT_TRUE(s.apply("add events.bad {rises: t - 0.1005, do: ['set gravity [0, 0]', remove joints.nothing]}").ok);
    EXPECT_FALSE(s.advance(0.2).ok);
    EXPECT_NEAR(s.time(), 0.1, 1e-12);
    const std::uint64_t state = s.fingerprint();
    const std::string model = write_model_text(s.model());
    EXPECT_EQ(model.find("gravity: [0, 0]"), std::string::npos) << "the first edit of the rule";
    const StepReport failed = s.step();
    EXPECT_FALSE(failed.ok);
    EXPECT_NE(failed.reason.find("remove joints.nothing"), std::string::npos) << failed.reason;
    EXPECT_EQ(s.fingerprint(), state);
    EXPECT_EQ(write_model_text(s.model()), model);
    ASSERT_TRUE(s.apply("remove events.bad").ok);
    ASSERT_TRUE(s.advance(0.2).ok);
    journal->finish(s);
    ReplayReport report;
    EXPECT_EQ(replay_journal(path_, report).fingerprint(), s.fingerprint());
    EXPECT_TRUE(report.mismatch.empty());
    const std::uint64_t end = s.fingerprint();
    ASSERT_TRUE(s.apply("go 0.05").ok);
    ASSERT_TRUE(s.apply("go 0.2").ok);
    EXPECT_EQ(s.fingerprint(), end);
}

TEST_F(JournalFile, CanBeCutAnywhere) {
    record();
    std::ifstream file(path_, std::ios::binary);
    const std::string whole((std::istreambuf_iterator<char>(file)), {});
    const std::size_t header = whole.find('\n') + 1;
    long last_steps = 0;
    for (std::size_t size = header; size <= whole.size(); size += 37) {
        std::ofstream(path_, std::ios::binary) << whole.substr(0, size);
        ReplayReport report;
        const Session s = replay_journal(path_, report);
        EXPECT_EQ(report.is_cut, whole[size - 1] != '\n');
        EXPECT_TRUE(report.mismatch.empty());
        // And goes on.
        Session more = replay_journal(path_, report);
        const auto journal = Journal::append(path_);
        more.record(journal);
        EXPECT_TRUE(more.step().ok);
        EXPECT_TRUE(more.apply("set gravity [0, -1]").ok);
        ReplayReport again;
        EXPECT_EQ(replay_journal(path_, again).fingerprint(), more.fingerprint());
        last_steps = s.steps();
    }
    EXPECT_GT(last_steps, 0);
}

TEST_F(JournalFile, SaysWhatIsWrongAndWhere) {
    record();
    std::ifstream file(path_, std::ios::binary);
    std::string text((std::istreambuf_iterator<char>(file)), {});
    const auto expect_error = [&](const std::string& content, const std::string& message) {
        std::ofstream(path_, std::ios::binary) << content;
        ReplayReport report;
        try {
            replay_journal(path_, report);
            ADD_FAILURE() << message;
        } catch (const ModelError& error) {
            EXPECT_NE(std::string(error.what()).find(message), std::string::npos) << error.what();
        }
    };
    expect_error("", "no beginning");
    expect_error("limber: 1\n", ":1: not a line of a journal");
    expect_error("{}\n", "not a journal");
    const std::size_t header = text.find('\n') + 1;
    expect_error(text.substr(0, header) + "{\"steps\": 3, \"edit\": \"remove joints.nothing\"}\n",
                 ":2: an edit was refused");
    // A state that differs is told, not hidden.
    const auto place = text.find("\"state\":\"") + 9;
    text[place] = text[place] == '0' ? '1' : '0';
    std::ofstream(path_, std::ios::binary) << text;
    ReplayReport report;
    replay_journal(path_, report);
    EXPECT_FALSE(report.mismatch.empty());
}

// ---------------------------------------------------------------- pacing

TEST(Pacer, KeepsRealTimeAndMultiplesOfIt) {
    for (const double speed : {0.5, 1.0, 4.0}) {
        Pacer pacer(speed);
        pacer.start(0, 100);
        double t = 0;
        for (int i = 0; i < 2000; ++i) {
            const double now = 100 + 0.001 * i;
            while (pacer.is_due(t, 0.002, now)) {
                t += 0.002;
                pacer.observe(t, now);
            }
        }
        EXPECT_NEAR(t, 2 * speed, 0.01);
        EXPECT_NEAR(pacer.report().real_time_factor, speed, 0.02 * speed);
        EXPECT_FALSE(pacer.report().is_late);
    }
}

// A step that takes three times as long as it advances: the simulation runs at a third, says so, and owes nothing
// afterwards.
TEST(Pacer, NeverPilesUpWhatCannotBeMade) {
    Pacer pacer(1);
    pacer.start(0, 0);
    double t = 0;
    double now = 0;
    while (now < 3) {
        if (pacer.is_due(t, 0.01, now)) {
            t += 0.01;
            now += 0.03;
        } else {
            now += 0.001;
        }
        pacer.observe(t, now);
    }
    EXPECT_NEAR(pacer.report().real_time_factor, 1.0 / 3, 0.02);
    EXPECT_TRUE(pacer.report().is_late);
    EXPECT_LT(pacer.report().behind, 0.2);
    // The machine is fast again: real time at once, without a rush.
    const double t0 = t;
    const double now0 = now;
    while (now < now0 + 2) {
        while (pacer.is_due(t, 0.01, now)) t += 0.01;
        now += 0.001;
        pacer.observe(t, now);
    }
    EXPECT_NEAR(t - t0, 2, 0.15);
    EXPECT_FALSE(pacer.report().is_late);
}

TEST(Pacer, StandsStillWhilePaused) {
    Pacer pacer(1);
    pacer.start(0, 0);
    pacer.pause();
    EXPECT_FALSE(pacer.is_due(0, 0.01, 50));
    pacer.start(0, 50);
    EXPECT_FALSE(pacer.is_due(0, 0.01, 50.001));
    EXPECT_TRUE(pacer.is_due(0, 0.01, 50.02));
}

}  // namespace
}  // namespace limber::testing
