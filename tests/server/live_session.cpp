// A session behind its page: commands, clock, frames, and what happens when the page goes away.

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>

#include "server/live_page.hpp"

namespace limber {
namespace {

std::string decode(const std::string& base64) {
    const std::string letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string bytes;
    unsigned bits = 0;
    int count = 0;
    for (const char letter : base64) {
        if (letter == '=') break;
        bits = (bits << 6) | static_cast<unsigned>(letters.find(letter));
        count += 6;
        if (count < 8) continue;
        count -= 8;
        bytes += static_cast<char>((bits >> count) & 255U);
    }
    return bytes;
}

TEST_F(LiveSessions, SaysWhatIsThere) {
    open(pendulum);
    const Json scene = page_->wait_for([](const Json& m) { return m["type"] == "scene"; });
    EXPECT_EQ(scene["bodies"].size(), 3U);
    EXPECT_EQ(scene["joints"][1]["name"], "elbow");
    EXPECT_EQ(scene["columns"], Json({"tip.x", "tip.y"}));
    EXPECT_EQ(scene["mobility"]["freedoms"], 2);
    const Json element = ask(DescribeElement{"bodies", "upper"});
    const auto has = [&](const char* field, const char* value) {
        for (const Json& p : element["properties"])
            if (p["field"] == field && p["value"] == value) return true;
        return false;
    };
    EXPECT_TRUE(has("rod.mass", "1")) << element;
}

TEST_F(LiveSessions, WarnsOfWhatTheJointsMoved) {
    open(pendulum);
    const Json sound = page_->wait_for([](const Json& m) { return m["type"] == "scene"; });
    EXPECT_EQ(sound["warnings"], Json::array());
    std::string apart = pendulum;
    const std::string start = "lower: {rod: {from: [1, 0]";
    apart.replace(apart.find(start), start.size(), "lower: {rod: {from: [1.1, 0]");
    open(apart);
    const Json scene = page_->wait_for([](const Json& m) { return m["type"] == "scene" && !m["warnings"].empty(); });
    ASSERT_FALSE(scene.is_null());
    EXPECT_EQ(scene["warnings"][0]["kind"], "assembly");
    EXPECT_FALSE(scene["warnings"][0]["elements"].empty());
}

TEST_F(LiveSessions, TellsLineAndFieldOfAWrongModel) {
    const Json reply = ask(OpenModel{OpenModel::Source::text, "bad.yaml", "limber: 1\nbodies:\n  a: {rodd: 1}\n"});
    EXPECT_FALSE(reply["ok"]);
    EXPECT_NE(reply["reason"].get<std::string>().find("bad.yaml:3"), std::string::npos) << reply;
    EXPECT_NE(reply["reason"].get<std::string>().find("rodd"), std::string::npos) << reply;
    // What cannot be done without a model is refused too.
    EXPECT_FALSE(ask(Play{})["ok"]);
    EXPECT_FALSE(ask(WriteModel{})["ok"]);
}

// Whatever is in the workspace: nothing holds up a session, so that it can be ended.
TEST_F(LiveSessions, IsNotHeldUpByPipes) {
    ASSERT_EQ(::mkfifo((folder_ / "pipe.yaml").c_str(), 0600), 0);
    const Json reply = ask(OpenModel{OpenModel::Source::file, "pipe.yaml", ""});
    ASSERT_FALSE(reply.is_null()) << "it waits for a writer";
    EXPECT_FALSE(reply["ok"]);
    open(pendulum);
    // A journal that is none: the session of before does not come back, but a new one does.
    const std::string id = make_secret();
    ASSERT_EQ(::mkfifo(library_->journal_path(id).c_str(), 0600), 0);
    LiveSession other(id, library_);
    const auto page = std::make_shared<Page>();
    other.attach(page);
    other.resume();
    const Json note = page->wait_for([](const Json& m) { return m["type"] == "note"; });
    ASSERT_FALSE(note.is_null());
    EXPECT_NE(note["text"].get<std::string>().find("not a regular file"), std::string::npos) << note;
}

TEST_F(LiveSessions, RefusesTooManyBodiesWhenTheyAreMet) {
    const Json reply = ask(OpenModel{OpenModel::Source::text, "many.yaml",
                                     "limber: 1\nbodies:\n  for i in 1..200000:\n    b<i>: {point: {mass: 1}}\n"});
    ASSERT_FALSE(reply.is_null());
    EXPECT_FALSE(reply["ok"]);
    EXPECT_EQ(reply["reason"].get<std::string>().find("many.yaml:4: bodies.b5000: the model has more than 5000 bodies"),
              0U)
        << reply;
}

// Reading and compiling this takes long; it ends when it is told to, and says so.
TEST_F(LiveSessions, EndsInTheMiddleOfCompiling) {
    session_->submit({7, OpenModel{OpenModel::Source::text, "chain.yaml",
                                   "limber: 1\nbodies:\n  for i in 1..4900:\n"
                                   "    b<i>: {rod: {from: [i-1, 0, 0], to: [i, 0, 0], mass: 1}}\n"
                                   "joints:\n  first: {spherical: [ground, b1.from]}\n"
                                   "  for i in 2..4900:\n    j<i>: {spherical: [b<i-1>.to, b<i>.from]}\n"}});
    page_->wait_for([](const Json& m) { return m["type"] == "state"; });
    std::this_thread::sleep_for(std::chrono::milliseconds(50));  // most probably it has begun
    session_->request_stop();
    for (int i = 0; i < 1000 && !session_->is_finished(); ++i)
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    EXPECT_TRUE(session_->is_finished());
    const Json reply = page_->wait_for([](const Json& m) { return m["type"] == "reply"; }, std::chrono::seconds(0));
    // Told before it began, it does not begin at all.
    if (reply.is_null()) return;
    EXPECT_FALSE(reply["ok"]);
    EXPECT_EQ(reply["reason"], "stopped before it was done");
}

TEST_F(LiveSessions, KeepsTheClock) {
    open(pendulum);
    ask(SetSpeed{2});
    ask(Play{});
    const auto start = std::chrono::steady_clock::now();
    std::this_thread::sleep_for(std::chrono::milliseconds(600));
    const Json paused = ask(Pause{});
    const double passed = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    // A busy machine may be late, never early.
    EXPECT_LE(paused["time"].get<double>(), 2 * passed + 0.1);
    EXPECT_GT(paused["time"].get<double>(), 0.05);
}

TEST_F(LiveSessions, SendsNoFramesToAPageThatDoesNotTakeThem) {
    open(pendulum);
    ask(Play{});
    ASSERT_TRUE(page_->wait_for_frames(3));
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    EXPECT_EQ(page_->frame_count(), 3U);
    session_->submit({0, AcknowledgeFrame{page_->last_frame_value<std::uint32_t>(8)}});
    EXPECT_TRUE(page_->wait_for_frames(6));
}

TEST_F(LiveSessions, BoundsTheQueue) {
    open(pendulum);
    // Steps keep the session busy while commands come in.
    session_->submit({0, MakeSteps{10'000}});
    bool is_full = false;
    for (int i = 0; i < 1000 && !is_full; ++i) is_full = !session_->submit({0, DescribeElement{"bodies", "upper"}});
    EXPECT_TRUE(is_full);
    // The mouse is not among what is refused as long as it only moves.
    const Json reply = page_->wait_for([](const Json&) { return true; });
    EXPECT_FALSE(reply.is_null());
}

TEST_F(LiveSessions, PausesWhenThePageGoesAndComesBackAsItWas) {
    open(pendulum);
    ask(Play{});
    ASSERT_TRUE(page_->wait_for_frames(2));
    session_->detach(page_.get());
    EXPECT_FALSE(session_->is_attached());
    const auto again = std::make_shared<Page>();
    session_->attach(again);
    const Json state = again->wait_for([](const Json& m) { return m["type"] == "state" && !m["playing"]; });
    EXPECT_TRUE(state.value("open", false)) << state;
    const Json scene = again->wait_for([](const Json& m) { return m["type"] == "scene"; });
    EXPECT_EQ(scene["name"], "test.yaml");
}

TEST_F(LiveSessions, GoesOnFromItsJournalToTheBit) {
    open(pendulum);
    ask(MakeSteps{100});
    ASSERT_TRUE(ask(EditModel{"remove joints.elbow"})["ok"]);
    const Json before = ask(MakeSteps{57});
    session_.reset();  // the server ends

    session_ = std::make_unique<LiveSession>(id_, library_);
    session_->resume();
    page_ = std::make_shared<Page>();
    session_->attach(page_);
    const Json after = ask(Pause{});
    EXPECT_EQ(after["fingerprint"], before["fingerprint"]);
    EXPECT_EQ(after["time"], before["time"]);
}

TEST_F(LiveSessions, HandsOutWhatTheSensorsHaveShown) {
    open(pendulum);
    EXPECT_TRUE(ask(MakeSteps{300})["ok"]);
    ASSERT_TRUE(ask(EditModel{"add sensors.e {energy: total}"})["ok"]);
    EXPECT_TRUE(ask(MakeSteps{300})["ok"]);
    const Json csv = ask(ReadResults{ResultFormat::csv});
    ASSERT_TRUE(csv["ok"]);
    const std::string text = decode(csv["base64"]);
    EXPECT_EQ(text.substr(0, text.find('\n')), "t,tip.x,tip.y,e");
    const auto lines = std::count(text.begin(), text.end(), '\n');
    // Every ninth of 600 steps, which is 120 times a second rounded to steps; frames may add a few.
    EXPECT_GE(lines, 66);
    EXPECT_LE(lines, 80);
    EXPECT_NE(text.find("nan"), std::string::npos) << "before it was there the sensor has shown nothing";
    const Json hdf5 = ask(ReadResults{ResultFormat::hdf5});
    EXPECT_EQ(decode(hdf5["base64"]).substr(1, 3), "HDF");
}

TEST_F(LiveSessions, GhostFollowsTheSameMotion) {
    open(pendulum);
    ASSERT_TRUE(ask(SetGhost{"augmented-lagrangian", "rk4"})["ok"]);
    ask(MakeSteps{200});
    // At most two frames are from before.
    ASSERT_TRUE(page_->wait_for_frames(1));
    session_->submit({0, AcknowledgeFrame{page_->last_frame_value<std::uint32_t>(8)}});
    const std::size_t count = page_->frame_count();
    ask(MakeSteps{1});
    ASSERT_TRUE(page_->wait_for_frames(count + 1));
    // Two bodies of the ghost are in the frame.
    EXPECT_EQ(page_->last_frame_value<std::uint32_t>(128 + 16), 2U);
    EXPECT_FALSE(ask(SetGhost{"no-such", ""})["ok"]);
    EXPECT_TRUE(ask(SetGhost{"", ""})["ok"]);
}

}  // namespace
}  // namespace limber
