// Sessions that go wrong harm nobody else: too much memory, full disks, damaged journals, threads that cannot be had,
// saves at the same time, two servers on one workspace.

#include <gtest/gtest.h>

#include <fstream>
#include <thread>

#include "limber/server/memory_account.hpp"
#include "limber/simulation/journal.hpp"
#include "server/live_page.hpp"
#include "support/full_disk.hpp"

namespace limber {
namespace {

using testing::FullDisk;
namespace fs = std::filesystem;

bool is_note(const Json& message, const std::string& part) {
    return message["type"] == "note" && message["text"].get<std::string>().find(part) != std::string::npos;
}

std::string read_text(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

// ---------------------------------------------------------------- memory

// Compilers may leave out memory that nobody looks at.
const void* volatile looked_at = nullptr;
std::vector<char> get_memory(std::size_t bytes) {
    std::vector<char> memory(bytes);
    looked_at = memory.data();
    return memory;
}

TEST(MemoryAccount, CountsWhatThisThreadHas) {
    if (!MemoryAccount::can_count()) GTEST_SKIP() << "something else owns malloc";
    MemoryAccount account(0);
    std::vector<double> kept;
    {
        const MemoryAccount::Use use(&account);
        kept.resize(100'000);
        EXPECT_GE(account.used(), 800'000U);
        EXPECT_LT(account.used(), 810'000U);
        // Eigen and C get theirs from malloc.
        const VecX vector = VecX::Zero(50'000);
        EXPECT_GE(account.used(), 1'200'000U);
        {
            const UncountedMemory others;
            kept.shrink_to_fit();
            const std::vector<char> more = get_memory(8'000'000);
            EXPECT_LT(account.used(), 1'300'000U);
        }
    }
    const std::size_t before = account.used();
    EXPECT_LT(before, 810'000U) << "the vector of Eigen has gone";
    kept = std::vector<double>(200'000);
    EXPECT_EQ(account.used(), before) << "nobody uses the account now";
}

TEST(MemoryAccount, RefusesWhatDoesNotFit) {
    if (!MemoryAccount::can_count()) GTEST_SKIP() << "something else owns malloc";
    MemoryAccount account(10'000'000);
    const MemoryAccount::Use use(&account);
    {
        const std::vector<char> most = get_memory(9'000'000);
        EXPECT_FALSE(account.is_exceeded());
        EXPECT_THROW(get_memory(2'000'000), MemoryExceeded);
        EXPECT_TRUE(account.is_exceeded());
        // What is small may still be had, so that things can be put away.
        EXPECT_NO_THROW(std::string(1000, 'x'));
    }
    account.clear_excess();
    EXPECT_NO_THROW(get_memory(2'000'000));
    EXPECT_THROW(get_memory(8'000'000'000), std::bad_alloc);
    // Small blocks have an end, too.
    std::vector<std::unique_ptr<std::string>> small;
    small.reserve(1000);
    EXPECT_THROW(for (int i = 0; i < 1000; ++i) small.push_back(std::make_unique<std::string>(30'000, 'x')),
                 MemoryExceeded);
    EXPECT_LE(account.used(), 12'600'000U);
}

TEST(MemoryAccount, ReadsSizes) {
    EXPECT_EQ(parse_bytes("1 GiB"), std::size_t(1) << 30);
    EXPECT_EQ(parse_bytes("300MiB"), 300U << 20);
    EXPECT_EQ(parse_bytes("2e9"), 2'000'000'000U);
    EXPECT_EQ(describe_bytes(std::size_t(1) << 30), "1 GiB");
    for (const char* wrong : {"", "x", "1 GB", "0", "-1 GiB", "1e99", "nan", "1 GiB x"})
        EXPECT_THROW(parse_bytes(wrong), std::runtime_error) << wrong;
}

class SmallSessions : public LiveSessions {
protected:
    SmallSessions() : LiveSessions(24U << 20) {}
    void SetUp() override {
        if (!MemoryAccount::can_count()) GTEST_SKIP() << "something else owns malloc";
    }
};

std::string chain(int bodies) {
    return "limber: 1\nplane: xy\nbodies:\n  for i in 0.." + std::to_string(bodies) +
           ":\n    b<i>: {rod: {from: [i, 0], to: [i + 1, 0], mass: 1}}\n";
}

// What is open stays open.
TEST_F(SmallSessions, RefuseModelsThatAreTooLarge) {
    open(pendulum);
    const Json refused = ask(OpenModel{OpenModel::Source::text, "large.yaml", chain(4900)});
    EXPECT_FALSE(refused.value("ok", true));
    EXPECT_NE(refused["reason"].get<std::string>().find("more memory than a session may have (24 MiB)"),
              std::string::npos)
        << refused;
    EXPECT_TRUE(ask(MakeSteps{5})["ok"]);
    EXPECT_TRUE(ask(EditModel{"set gravity [0, -1]"})["ok"]);
}

// Another session notices nothing of it.
TEST_F(SmallSessions, EndAloneWhenTheyGrowTooLarge) {
    const std::string other_id = make_secret();
    LiveSession other(other_id, library_, 24U << 20);
    const auto other_page = std::make_shared<Page>();
    other.attach(other_page);
    other.submit({1, OpenModel{OpenModel::Source::text, "test.yaml", pendulum}});
    open(pendulum);
    // Balls that all touch each other: contacts grow with the square of their number.
    bool has_ended = false;
    ASSERT_TRUE(ask(EditModel{"add contacts.all {linear: [all, all], stiffness: 1000, damping: 1}"})["ok"]);
    for (int i = 0; i < 400 && !has_ended; ++i) {
        const Json reply =
            ask(EditModel{"add bodies.c" + std::to_string(i) + " {disc: {radius: 0.5, mass: 1}, at: [3, 0]}"});
        has_ended = reply.is_null() ||
                    (!reply["ok"] && reply["reason"].get<std::string>().find("memory") != std::string::npos) ||
                    (!reply["ok"] && reply["reason"] == "no model is open");
        if (!reply.is_null() && !reply["ok"] && !has_ended) FAIL() << reply;
    }
    EXPECT_TRUE(has_ended);
    const Json note = page_->wait_for([](const Json& m) { return is_note(m, "The session has ended"); });
    ASSERT_FALSE(note.is_null());
    EXPECT_NE(note["text"].get<std::string>().find("24 MiB"), std::string::npos) << note;
    EXPECT_NE(note["text"].get<std::string>().find(".journal.kept-1"), std::string::npos) << note;
    EXPECT_TRUE(fs::exists(folder_ / "autosave" / (id_ + ".journal.kept-1")));
    // The page is still there and can open something else.
    open(pendulum);
    EXPECT_TRUE(ask(MakeSteps{5})["ok"]);
    other.submit({2, MakeSteps{5}});
    const Json answer = other_page->wait_for([](const Json& m) { return m["type"] == "reply" && m["id"] == 2; });
    EXPECT_TRUE(answer.value("ok", false)) << answer;
}

// Frames and messages are made by one thread and freed by another; the account must not run away with them.
TEST_F(SmallSessions, AreNotChargedForWhatTheySend) {
    open(pendulum);
    for (int i = 0; i < 300; ++i) {
        ASSERT_TRUE(ask(WriteModel{})["ok"]);
        session_->submit({0, AcknowledgeFrame{static_cast<std::uint32_t>(page_->frame_count())}});
        ASSERT_FALSE(ask(EditModel{"nonsense " + std::string(200'000, 'x')})["ok"]);
    }
    EXPECT_TRUE(ask(MakeSteps{5})["ok"]);
}

// ---------------------------------------------------------------- journals

class Autosave : public LiveSessions {
protected:
    fs::path journal_path() const { return folder_ / "autosave" / (id_ + ".journal"); }
    void end_server() { session_.reset(); }
    void start_server() {
        session_ = std::make_unique<LiveSession>(id_, library_);
        session_->resume();
        page_ = std::make_shared<Page>();
        session_->attach(page_);
    }
};

TEST_F(Autosave, SurvivesAFullDisk) {
    open(pendulum);
    ASSERT_TRUE(ask(MakeSteps{10})["ok"]);
    ASSERT_TRUE(ask(EditModel{"set gravity [0, -1]"})["ok"]);
    Json before;
    {
        const FullDisk full(fs::file_size(journal_path()) + 10);
        const Json refused = ask(EditModel{"set gravity [0, -2]"});
        EXPECT_FALSE(refused["ok"]);
        EXPECT_NE(refused["reason"].get<std::string>().find("the journal cannot be written"), std::string::npos);
        EXPECT_FALSE(page_->wait_for([](const Json& m) { return is_note(m, "Not saved"); }).is_null());
        EXPECT_FALSE(ask(EditModel{"set gravity [0, -3]"})["ok"]);
    }
    ASSERT_TRUE(ask(EditModel{"set gravity [0, -4]"})["ok"]);
    EXPECT_FALSE(page_->wait_for([](const Json& m) { return is_note(m, "can be written again"); }).is_null());
    before = ask(MakeSteps{20});
    end_server();
    start_server();
    EXPECT_EQ(ask(Pause{})["fingerprint"], before["fingerprint"]);
    EXPECT_NE(ask(WriteModel{})["text"].get<std::string>().find("[0, -4]"), std::string::npos);
}

TEST_F(Autosave, ComesBackUpToABadLineAndKeepsTheRest) {
    open(pendulum);
    const Json good = ask(EditModel{"set gravity [0, -1]"});
    const Json at = ask(Pause{});
    end_server();
    const std::string damaged = read_text(journal_path()) + "{\"steps\":0,\"ed\n{\"steps\":5,\"edit\":\"undo\"}\n";
    std::ofstream(journal_path(), std::ios::binary) << damaged;
    start_server();
    EXPECT_EQ(ask(Pause{})["fingerprint"], at["fingerprint"]);
    EXPECT_FALSE(page_->wait_for([](const Json& m) { return is_note(m, "is kept as"); }).is_null());
    EXPECT_EQ(read_text(journal_path().string() + ".damaged-1"), damaged);
    ASSERT_TRUE(ask(EditModel{"set gravity [0, -7]"})["ok"]);
    end_server();
    start_server();
    EXPECT_NE(ask(WriteModel{})["text"].get<std::string>().find("[0, -7]"), std::string::npos);
}

TEST_F(Autosave, IsNotWrittenOverIfItCannotBeRead) {
    open(pendulum);
    end_server();
    const std::string damaged = "{\"limber_journal\":1,\"options\":{\"renewal\":0}}\nand more\n";
    std::ofstream(journal_path(), std::ios::binary) << damaged;
    start_server();
    EXPECT_FALSE(page_->wait_for([](const Json& m) { return is_note(m, "could not be brought back"); }).is_null());
    open(pendulum);
    EXPECT_EQ(read_text(journal_path().string() + ".kept-1"), damaged);
    EXPECT_TRUE(ask(EditModel{"set gravity [0, -7]"})["ok"]);
}

// One hundred others are newer, but somebody is at work on this one.
TEST_F(Autosave, IsNotDroppedWhileItIsWritten) {
    open(pendulum);
    const fs::path folder = folder_ / "autosave";
    const auto old = fs::file_time_type::clock::now() - std::chrono::hours(1000);
    fs::last_write_time(journal_path(), old);
    std::ofstream(folder / "old.journal") << "{}\n";
    fs::last_write_time(folder / "old.journal", old);
    for (int i = 0; i < 100; ++i) std::ofstream(folder / (std::to_string(i) + ".journal")) << "{}\n";
    library_->drop_old_journals();
    EXPECT_TRUE(fs::exists(journal_path()));
    EXPECT_FALSE(fs::exists(folder / "old.journal"));
    EXPECT_TRUE(fs::exists(folder / "99.journal"));
}

TEST_F(Autosave, TellsHowFarItHasGot) {
    open(pendulum);
    // About a second of replay.
    for (int i = 0; i < 12; ++i) ASSERT_TRUE(ask(MakeSteps{10'000})["ok"]);
    const Json before = ask(Pause{});
    end_server();
    start_server();
    EXPECT_FALSE(page_->wait_for([](const Json& m) { return m["type"] == "progress" && m["done"] == 1; }).is_null());
    EXPECT_EQ(ask(Pause{})["fingerprint"], before["fingerprint"]);
}

// A server that is ended while it brings a session back leaves the journal for the next one.
TEST_F(Autosave, IsLeftAsItWasByAServerThatEndsMeanwhile) {
    open(pendulum);
    for (int i = 0; i < 12; ++i) ASSERT_TRUE(ask(MakeSteps{10'000})["ok"]);
    const Json before = ask(Pause{});
    end_server();
    const std::string journal = read_text(journal_path());
    start_server();
    page_->wait_for([](const Json& m) { return m["type"] == "progress"; });
    end_server();
    EXPECT_EQ(read_text(journal_path()), journal);
    EXPECT_FALSE(fs::exists(journal_path().string() + ".kept-1"));
    start_server();
    EXPECT_EQ(ask(Pause{})["fingerprint"], before["fingerprint"]);
}

// A journal of a stranger, brought to the page: refused with its line, and nothing that was open is lost.
TEST_F(Autosave, IsNotReplacedByAnUploadThatIsWrong) {
    open(pendulum);
    ASSERT_TRUE(ask(EditModel{"set gravity [0, -1]"})["ok"]);
    const std::string good = ask(ReadJournal{})["text"];
    const std::string header = good.substr(0, good.find('\n') + 1);
    const auto with = [&](const std::string& what, const std::string& in_place) {
        std::string text = header;
        return text.replace(text.find(what), what.size(), in_place);
    };
    for (const std::string& wrong :
         {with("\"renewal\":200", "\"renewal\":0"), header + "{\"steps\":1e18}\n",
          header + "{\"steps\":1000000000000000000}\n", std::string("{}\n"), std::string("\n")}) {
        const Json reply = ask(OpenModel{OpenModel::Source::journal, "strange.journal", wrong});
        ASSERT_FALSE(reply.is_null()) << wrong.substr(0, 200);
        EXPECT_FALSE(reply["ok"]);
        EXPECT_NE(reply["reason"].get<std::string>().find(".journal:"), std::string::npos) << reply;
    }
    EXPECT_NE(ask(WriteModel{})["text"].get<std::string>().find("[0, -1]"), std::string::npos);
    EXPECT_EQ(read_text(journal_path()), good);
    EXPECT_TRUE(ask(OpenModel{OpenModel::Source::journal, "good.journal", good})["ok"]);
}

// ---------------------------------------------------------------- saving

TEST_F(LiveSessions, SavesOfTwoAtOnceDoNotMix) {
    const std::string one(300'000, 'a');
    const std::string other(300'000, 'b');
    std::atomic<bool> is_done = false;
    std::thread first([&] {
        for (int i = 0; i < 100; ++i) library_->save_file("same.yaml", one);
        is_done = true;
    });
    long torn = 0;
    while (!is_done) {
        library_->save_file("same.yaml", other);
        const std::string found = library_->read_file("same.yaml");
        torn += found != one && found != other;
    }
    first.join();
    EXPECT_EQ(torn, 0);
    EXPECT_EQ(std::distance(fs::directory_iterator(folder_ / "autosave"), {}), 0) << "nothing is left lying about";
    {
        const FullDisk full(1000);
        EXPECT_THROW(library_->save_file("same.yaml", one), std::runtime_error);
    }
    EXPECT_EQ(library_->read_file("same.yaml").size(), 300'000U);
}

}  // namespace
}  // namespace limber
