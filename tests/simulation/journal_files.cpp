// What happens to journals: full disks, damage, crashes in the middle of an edit, two programs at once, numbers from
// strangers; and snapshots from which long sessions are brought back.

#include <gtest/gtest.h>

#include "limber/simulation/journal.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "limber/io/model_writer.hpp"
#include "limber/math/interruption.hpp"
#include "limber/simulation/journal_options.hpp"
#include "support/full_disk.hpp"
#include "support/models.hpp"
#include "support/option_values.hpp"

namespace limber::testing {
namespace {

namespace fs = std::filesystem;

class JournalFiles : public ::testing::Test {
protected:
    JournalFiles()
        : folder_(fs::temp_directory_path() / ("limber-journals-" + std::to_string(::getpid()))),
          path_((folder_ / "session.journal").string()) {
        fs::create_directories(folder_);
    }
    ~JournalFiles() override { fs::remove_all(folder_); }

    static Session make_session(long renewal = 20) {
        SessionOptions options;
        options.step = 1e-3;
        options.renewal = renewal;
        return Session(example("double-pendulum.yaml"), {}, options);
    }
    std::string content() const {
        std::ifstream file(path_, std::ios::binary);
        return {std::istreambuf_iterator<char>(file), {}};
    }
    void write(const std::string& text) const { std::ofstream(path_, std::ios::binary) << text; }
    /// Steps, edits and steps; returns the fingerprint of the end.
    std::uint64_t record(long renewal = 20) const {
        Session s = make_session(renewal);
        const auto journal = Journal::create(path_, s);
        s.record(journal);
        EXPECT_TRUE(s.advance(0.03).ok);
        EXPECT_TRUE(s.apply("set gravity [0, -3]").ok);
        EXPECT_TRUE(s.advance(0.05).ok);
        EXPECT_TRUE(s.apply("use formulation hybrid").ok);
        EXPECT_TRUE(s.advance(0.07).ok);
        journal->finish(s);
        return s.fingerprint();
    }
    std::string refusal_of(const std::string& text) const {
        write(text);
        ReplayReport report;
        try {
            replay_journal(path_, report);
        } catch (const ModelError& error) {
            return error.what();
        }
        return "";
    }

    fs::path folder_;
    std::string path_;
};

// ---------------------------------------------------------------- full disks

// Wherever in its line the disk is full: the edit is refused and not made, the motion goes on, and once there is room
// again everything is as if nothing had been.
TEST_F(JournalFiles, RefuseEditsThatDoNotFit) {
    for (const std::uintmax_t room : {0, 1, 17, 40}) {
        Session s = make_session();
        const auto journal = Journal::create(path_, s);
        s.record(journal);
        ASSERT_TRUE(s.advance(0.01).ok);
        journal->finish(s);
        const std::string before = content();
        const std::string model = write_model_text(s.model());
        {
            const FullDisk full(before.size() + room);
            const std::uint64_t state = s.fingerprint();
            for (int attempt = 0; attempt < 2; ++attempt) {
                const EditReport refused = s.apply("set gravity [0, -1]");
                EXPECT_FALSE(refused.ok);
                EXPECT_NE(refused.reason.find("the journal cannot be written"), std::string::npos) << refused.reason;
                EXPECT_EQ(s.fingerprint(), state);
                EXPECT_EQ(write_model_text(s.model()), model);
                EXPECT_EQ(content(), before) << "half a line is left";
            }
            EXPECT_TRUE(s.advance(0.2).ok);
            journal->finish(s);
            EXPECT_FALSE(journal->trouble().empty());
        }
        EXPECT_TRUE(s.apply("set gravity [0, -2]").ok);
        EXPECT_TRUE(journal->trouble().empty());
        EXPECT_TRUE(s.advance(0.3).ok);
        journal->finish(s);
        ReplayReport report;
        EXPECT_EQ(replay_journal(path_, report).fingerprint(), s.fingerprint());
        EXPECT_EQ(report.edits, 1);
        EXPECT_EQ(report.mismatch, "");
    }
}

// A step that fails must be told to the journal, too: until that is possible no other is made.
TEST_F(JournalFiles, WaitWithStepsAfterOneThatFailed) {
    Session s = make_session();
    const auto journal = Journal::create(path_, s);
    s.record(journal);
    ASSERT_TRUE(s.apply("add events.bad {rises: t - 0.0105, do: [remove joints.nothing]}").ok);
    {
        const FullDisk full(content().size());
        EXPECT_FALSE(s.advance(0.02).ok);
        EXPECT_NE(s.step().reason.find("the journal cannot be written"), std::string::npos);
        EXPECT_FALSE(s.apply("remove events.bad").ok);
    }
    ASSERT_TRUE(s.apply("remove events.bad").ok);
    ASSERT_TRUE(s.advance(0.05).ok);
    journal->finish(s);
    ReplayReport report;
    EXPECT_EQ(replay_journal(path_, report).fingerprint(), s.fingerprint());
    EXPECT_EQ(report.mismatch, "");
}

// The journal of before is there until the new one is on disk.
TEST_F(JournalFiles, AreNotLostToOnesThatDoNotFit) {
    record();
    const std::string before = content();
    const Session next = make_session();
    {
        const FullDisk full(50);
        EXPECT_THROW(Journal::create(path_, next), std::runtime_error);
    }
    EXPECT_EQ(content(), before);
    EXPECT_EQ(std::distance(fs::directory_iterator(folder_), {}), 2) << "the journal and its snapshot";
}

// ---------------------------------------------------------------- edits that are not made

TEST_F(JournalFiles, ForgetEditsThatAreRefused) {
    Session s = make_session();
    const auto journal = Journal::create(path_, s);
    s.record(journal);
    const std::string before = content();
    EXPECT_FALSE(s.apply("remove joints.nothing").ok);
    EXPECT_EQ(content(), before);
    EXPECT_TRUE(s.apply("set gravity [0, -1]").ok);
    EXPECT_EQ(content(), before + "{\"steps\":0,\"edit\":\"set gravity [0, -1]\"}\n");
}

// Likewise one that was given up while it was compiled.
TEST_F(JournalFiles, ForgetEditsThatAreInterrupted) {
    Session s = make_session();
    const auto journal = Journal::create(path_, s);
    s.record(journal);
    const std::string before = content();
    const std::uint64_t state = s.fingerprint();
    {
        const std::atomic<bool> is_cancelled = true;
        const WorkLimit limit(is_cancelled);
        const EditReport report = s.apply("add bodies.more {point: {mass: 1}}");
        EXPECT_FALSE(report.ok);
        EXPECT_NE(report.reason.find("stopped"), std::string::npos) << report.reason;
    }
    EXPECT_EQ(content(), before);
    EXPECT_EQ(s.fingerprint(), state);
    EXPECT_TRUE(s.apply("add bodies.more {point: {mass: 1}}").ok);
}

// The program died while it made an edit, which nobody was told had been made: it may be the very edit that it died of.
TEST_F(JournalFiles, LeaveOutTheEditThatWasUnderWay) {
    const std::uint64_t end = record();
    const std::string whole = content();
    for (const std::string& rest : {std::string("?\"steps\":70,\"edit\":\"set gravity [0, -1]\"}\n"),
                                    std::string("?\"steps\":70,\"edit\":\"set gra"), std::string("{\"steps\":7")}) {
        write(whole + rest);
        ReplayReport report;
        Session s = replay_journal(path_, report);
        EXPECT_TRUE(report.is_cut);
        EXPECT_EQ(s.fingerprint(), end);
        // And goes on, with a shorter line than the one left out.
        const auto journal = Journal::append(path_);
        s.record(journal);
        EXPECT_TRUE(s.apply("undo").ok);
        EXPECT_EQ(content(), whole + "{\"steps\":70,\"edit\":\"undo\"}\n");
    }
}

// However often it is opened, nothing is written unless something has happened.
TEST_F(JournalFiles, AreAsTheyWereIfNothingHappens) {
    const auto open_and_finish = [&] {
        ReplayReport report;
        Session s = replay_journal(path_, report);
        const auto journal = Journal::append(path_);
        s.record(journal);
        journal->finish(s);
    };
    {
        Session s = make_session();
        Journal::create(path_, s);
    }
    const std::string header = content();
    open_and_finish();
    EXPECT_EQ(content(), header);
    record();
    const std::string whole = content();
    open_and_finish();
    EXPECT_EQ(content(), whole);
}

// ---------------------------------------------------------------- damage

TEST_F(JournalFiles, AreRecoveredUpToTheBadLine) {
    record();
    const std::string whole = content();
    const std::size_t second_edit = whole.find("{\"steps\":50,\"edit\"");
    ASSERT_NE(second_edit, std::string::npos);
    const std::string damaged = whole.substr(0, second_edit) + "{\"steps\":50,\"ed\x80\n" + whole.substr(second_edit);
    write(damaged);
    ReplayReport report;
    EXPECT_THROW(replay_journal(path_, report), ModelError);
    ReplayOptions options;
    options.recovers = true;
    report = {};
    Session s = replay_journal(path_, report, options);
    // As far as steps were written down before it, at least to the first edit.
    EXPECT_GE(s.steps(), 30);
    EXPECT_LE(s.steps(), 50);
    EXPECT_EQ(report.edits, 1);
    EXPECT_EQ(report.good_bytes, static_cast<long>(second_edit));
    EXPECT_NE(report.trouble.find("session.journal:"), std::string::npos) << report.trouble;
    const std::string copy = keep_damaged_journal(path_);
    const auto journal = Journal::append(path_);
    journal->cut_to(report.good_bytes);
    s.record(journal);
    EXPECT_TRUE(s.apply("set gravity [0, -1]").ok);
    journal->finish(s);
    ReplayReport again;
    EXPECT_EQ(replay_journal(path_, again).fingerprint(), s.fingerprint());
    std::ifstream file(copy, std::ios::binary);
    EXPECT_EQ(std::string(std::istreambuf_iterator<char>(file), {}), damaged);
    EXPECT_NE(keep_damaged_journal(path_), copy) << "no copy is written over";
}

// ---------------------------------------------------------------- two programs

TEST_F(JournalFiles, AreWrittenByOneProgramAtATime) {
    Session s = make_session();
    auto journal = Journal::create(path_, s);
    EXPECT_TRUE(Journal::is_in_use(path_));
    EXPECT_THROW(Journal::append(path_), std::runtime_error);
    EXPECT_THROW(Journal::create(path_, s), std::runtime_error);
    // Who has it may begin anew.
    journal = Journal::create(path_, s, journal.get());
    EXPECT_TRUE(Journal::is_in_use(path_));
    journal.reset();
    EXPECT_FALSE(Journal::is_in_use(path_));
    EXPECT_NO_THROW(Journal::append(path_));
}

// ---------------------------------------------------------------- numbers from strangers

TEST_F(JournalFiles, CheckEveryNumber) {
    record();
    const std::string whole = content();
    const std::size_t end = whole.find('\n') + 1;
    const std::string header = whole.substr(0, end);
    const auto with = [&](const std::string& key, const std::string& value) {
        const std::string place = "\"" + key + "\":";
        const std::size_t start = header.find(place) + place.size();
        EXPECT_GE(start, place.size()) << key;
        return header.substr(0, start) + value + header.substr(header.find_first_of(",}", start));
    };
    ASSERT_EQ(refusal_of(header), "");
    const std::vector<std::pair<std::string, std::string>> wrong{
        {"renewal", "0"},        {"renewal", "-5"},
        {"renewal", "1e18"},     {"renewal", "2.5"},
        {"renewal", "\"200\""},  {"renewal", "18446744073709551615"},
        {"step", "0"},           {"step", "-1"},
        {"step", "1e300"},       {"step", "null"},
        {"snap", "-1"},          {"closing-frequency", "0"},
        {"max-iterations", "0"}, {"halvings", "10000"},
        {"passes", "0"},         {"stabilisation", "\"perhaps\""},
        {"gluing", "-1"},        {"coupling", "2"},
        {"course", "9"},         {"stops", "4"},
        {"impacts", "3"},        {"penalty", "1e400"},
        {"tolerance", "0"},      {"from-equilibrium", "3"},
        {"integrator", "7"},     {"division", "true"},
        {"joint-rho", "5"},      {"gluing-evaluations", "0"},
        {"limber_journal", "2"}};
    for (const auto& [key, value] : wrong) {
        const std::string refusal = refusal_of(with(key, value));
        EXPECT_NE(refusal.find("session.journal:1:"), std::string::npos) << key << ": " << value << ": " << refusal;
    }
    for (const char* line : {R"({"steps":1e18})", R"({"steps":1000000000000000000})", R"({"steps":-1})",
                             R"({"steps":"3"})", R"({"steps":1.5})", R"({"steps":null})", R"({"state":"x"})",
                             R"({"steps":1,"edit":7})", R"([])", R"(7)", R"({"steps":100000000})"}) {
        const std::string refusal = refusal_of(header + line + "\n");
        EXPECT_NE(refusal.find("session.journal:2:"), std::string::npos) << line << ": " << refusal;
    }
}

RecordedOptions options_unlike_the_default() {
    RecordedOptions all;
    for (const auto& row : simulation_option_rows()) row.set(all.simulation, another_value(row, all.simulation));
    for (const auto& row : session_option_rows()) row.set(all.session, another_value(row, all.session));
    return all;
}

TEST_F(JournalFiles, HoldEveryOption) {
    const RecordedOptions all = options_unlike_the_default();
    const nlohmann::ordered_json json = write_options(all);
    const RecordedOptions found = read_options(nlohmann::ordered_json::parse(json.dump()));
    EXPECT_TRUE(found.simulation == all.simulation);
    EXPECT_FALSE(found.simulation == SimulationOptions{});
    EXPECT_EQ(found.session.step, all.session.step);
    EXPECT_EQ(found.session.snap, all.session.snap);
    EXPECT_EQ(found.session.closing_frequency, all.session.closing_frequency);
    EXPECT_EQ(found.session.renewal, all.session.renewal);
    // Each of them is looked for: a default that is written and read tells nothing.
    for (const auto& [key, value] : json.items()) {
        nlohmann::ordered_json without = json;
        without.erase(key);
        try {
            EXPECT_FALSE(read_options(without).simulation == all.simulation) << key;
        } catch (const ModelError& error) {
            EXPECT_NE(std::string(error.what()).find(key), std::string::npos) << error.what();
        }
    }
}

// ---------------------------------------------------------------- pipes

// Nobody writes into it, so whoever waited for a line would wait for good.
TEST_F(JournalFiles, AreNoPipes) {
    ASSERT_EQ(::mkfifo(path_.c_str(), 0600), 0);
    EXPECT_FALSE(Journal::is_in_use(path_));
    ReplayReport report;
    EXPECT_THROW(replay_journal(path_, report), ModelError);
    EXPECT_THROW(Journal::append(path_), std::runtime_error);
    const Session session = make_session();
    EXPECT_THROW(Journal::create(path_, session), std::runtime_error);
    EXPECT_TRUE(fs::is_fifo(path_)) << "it was replaced";
    fs::remove(path_);
    const std::uint64_t end = record();
    fs::remove(path_ + ".snapshot");
    ASSERT_EQ(::mkfifo((path_ + ".snapshot").c_str(), 0600), 0);
    ReplayOptions options;
    options.longest_replay = 0;
    report = {};
    EXPECT_EQ(replay_journal(path_, report, options).fingerprint(), end);
    EXPECT_FALSE(report.is_from_snapshot);
}

// ---------------------------------------------------------------- snapshots

// Bodies that come after others have gone stand last in the model, whether the session was resumed in between or not;
// and what the energy account has added up goes on.
TEST_F(JournalFiles, SnapshotsGoOnWithTheSameModelAfterRemovals) {
    std::uint64_t end = 0;
    std::string text;
    double work = 0;
    {
        Session s = make_session(10);
        const auto journal = Journal::create(path_, s);
        s.record(journal);
        ASSERT_TRUE(s.apply("add bodies.one {point: {mass: 1}, at: [3, 0]}").ok);
        ASSERT_TRUE(s.apply("add bodies.two {point: {mass: 2}, at: [4, 0]}").ok);
        ASSERT_TRUE(s.apply("add forces.drag {spring: [ground, lower.to], stiffness: 1, damping: 0.5}").ok);
        ASSERT_TRUE(s.apply("remove bodies.one").ok);
        ASSERT_TRUE(s.advance(0.01).ok);
        ASSERT_TRUE(fs::exists(path_ + ".snapshot"));
        ASSERT_TRUE(s.apply("add bodies.three {point: {mass: 3}, at: [5, 0]}").ok);
        ASSERT_TRUE(s.advance(0.015).ok);
        journal->finish(s);
        end = s.fingerprint();
        text = write_model_text(s.model());
        work = s.work();
    }
    EXPECT_LT(text.find("two:"), text.find("three:"));
    ReplayOptions options;
    options.longest_replay = 0;
    ReplayReport report;
    const Session resumed = replay_journal(path_, report, options);
    EXPECT_TRUE(report.is_from_snapshot);
    EXPECT_EQ(resumed.fingerprint(), end);
    EXPECT_EQ(write_model_text(resumed.model()), text);
    EXPECT_NE(work, 0);
    EXPECT_EQ(resumed.work(), work);
}

TEST_F(JournalFiles, GoOnFromTheLastSnapshotToTheBit) {
    const std::uint64_t end = record();
    ReplayOptions options;
    options.longest_replay = 0;
    ReplayReport report;
    Session s = replay_journal(path_, report, options);
    EXPECT_TRUE(report.is_from_snapshot);
    EXPECT_GT(report.start_time, 0);
    EXPECT_EQ(s.fingerprint(), end);
    EXPECT_EQ(report.mismatch, "");
    // What follows is that of a session which was never interrupted, whoever replays it from where.
    {
        const auto journal = Journal::append(path_);
        s.record(journal);
        EXPECT_TRUE(s.apply("add forces.k {spring: [ground, lower.to], stiffness: 5}").ok);
        EXPECT_TRUE(s.advance(0.2).ok);
        EXPECT_TRUE(s.apply("set gravity [0, -5]").ok);
        EXPECT_TRUE(s.advance(0.25).ok);
        journal->finish(s);
    }
    ReplayReport whole;
    EXPECT_EQ(replay_journal(path_, whole).fingerprint(), s.fingerprint());
    EXPECT_FALSE(whole.is_from_snapshot);
    EXPECT_EQ(whole.mismatch, "");
    ReplayReport again;
    EXPECT_EQ(replay_journal(path_, again, options).fingerprint(), s.fingerprint());
    EXPECT_TRUE(again.is_from_snapshot);
    // Where the journal goes back to before the snapshot, it does not help.
    EXPECT_TRUE(s.apply("undo").ok);
    EXPECT_TRUE(s.apply("undo").ok);
    again = {};
    EXPECT_EQ(replay_journal(path_, again, options).fingerprint(), s.fingerprint());
    EXPECT_FALSE(again.is_from_snapshot);
}

// Whatever a state consists of: contact points, stops that hold, bristles, counted turns, rules that wait, components
// in steps of their own.
TEST_F(JournalFiles, SnapshotsHoldStatesOfEveryKind) {
    for (const char* name :
         {"contact/balls-on-limited-arm.yaml", "contact/brick-on-slope.yaml", "contact/bouncing-ball.yaml",
          "contact/bristle-friction.yaml", "contact/latch.yaml", "iltis/divided.yaml", "modular/double-pendulum.yaml",
          "loops/bennett.yaml", "live/breaking-link.yaml"}) {
        const Model model = example(name);
        SessionOptions session_options;
        session_options.step = 1e-3;
        session_options.renewal = 10;
        std::uint64_t end = 0;
        double work = 0, drift = 0;
        std::size_t contacts = 0;
        {
            Session s(model, simulation_options_of(model), session_options);
            const auto journal = Journal::create(path_, s);
            s.record(journal);
            for (int i = 0; i < 13; ++i) ASSERT_TRUE(s.step().ok) << name;
            const EditReport edit = s.apply(model.planar ? "set gravity [0.5, -7]" : "set gravity [0, 0.5, -7]");
            ASSERT_TRUE(edit.ok) << name << ": " << edit.reason;
            for (int i = 0; i < 12; ++i) ASSERT_TRUE(s.step().ok) << name;
            journal->finish(s);
            end = s.fingerprint();
            work = s.work();
            drift = s.energy_drift();
            contacts = s.simulation().state().contacts.size();
        }
        ReplayOptions options;
        options.longest_replay = 0;
        ReplayReport report;
        Session resumed = replay_journal(path_, report, options);
        EXPECT_TRUE(report.is_from_snapshot) << name;
        EXPECT_EQ(report.mismatch, "") << name;
        EXPECT_EQ(resumed.fingerprint(), end) << name;
        EXPECT_EQ(resumed.simulation().state().contacts.size(), contacts) << name;
        EXPECT_EQ(resumed.work(), work) << name;
        EXPECT_EQ(resumed.energy_drift(), drift) << name;
    }
}

TEST_F(JournalFiles, AreReplayedFromTheBeginningWhereASnapshotDoesNotHelp) {
    const std::uint64_t end = record();
    const std::string snapshot = path_ + ".snapshot";
    std::ifstream file(snapshot, std::ios::binary);
    const std::string good((std::istreambuf_iterator<char>(file)), {});
    ASSERT_GT(good.size(), 100U);
    ReplayOptions options;
    options.longest_replay = 0;
    const auto expect_whole = [&](const std::string& content) {
        std::ofstream(snapshot, std::ios::binary) << content;
        ReplayReport report;
        EXPECT_EQ(replay_journal(path_, report, options).fingerprint(), end);
        EXPECT_FALSE(report.is_from_snapshot);
        EXPECT_EQ(report.edits, 2);
    };
    for (std::size_t size = 0; size < good.size(); size += 97) expect_whole(good.substr(0, size));
    // Anything in it may be wrong: at worst it is of no use.
    for (std::size_t place = 0; place < good.size(); place += 13) {
        std::string damaged = good;
        damaged[place] = static_cast<char>(damaged[place] ^ 0x15);
        std::ofstream(snapshot, std::ios::binary) << damaged;
        ReplayReport report;
        EXPECT_EQ(replay_journal(path_, report, options).fingerprint(), end) << "byte " << place;
        EXPECT_EQ(report.mismatch, "");
    }
    // Of another journal.
    std::ofstream(snapshot, std::ios::binary) << good;
    const Session other = make_session(21);
    fs::rename(snapshot, folder_ / "kept");
    Journal::create(path_, other);
    fs::rename(folder_ / "kept", snapshot);
    ReplayReport report;
    EXPECT_EQ(replay_journal(path_, report, options).fingerprint(), other.fingerprint());
    EXPECT_FALSE(report.is_from_snapshot);
}

TEST_F(JournalFiles, TellHowFarAReplayHasGotAndStopWhenTold) {
    record();
    ReplayOptions options;
    options.progress_interval = 0;
    std::vector<double> told;
    options.on_progress = [&](double done, double time) {
        told.push_back(done);
        EXPECT_GT(time, 0);
        return time < 0.06;
    };
    ReplayReport report;
    EXPECT_THROW(replay_journal(path_, report, options), ReplayStopped);
    ASSERT_GT(told.size(), 50U);
    EXPECT_TRUE(std::is_sorted(told.begin(), told.end()));
    EXPECT_GE(told.front(), 0);
    EXPECT_GT(told.back(), 0.5);
    EXPECT_LT(told.back(), 1);
}

}  // namespace
}  // namespace limber::testing
