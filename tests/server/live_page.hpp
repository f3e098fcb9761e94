#pragma once
// A page that listens to a session, and a session in a workspace of its own.

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>

#include "limber/server/access.hpp"
#include "limber/server/live_session.hpp"

namespace limber {

using Json = nlohmann::json;

inline const char* const pendulum = R"(
limber: 1
plane: xy
bodies:
  upper: {rod: {from: [0, 0], to: [1, 0], mass: 1}}
  lower: {rod: {from: [1, 0], to: [1, -1], mass: 1}}
joints:
  pivot: {revolute: [ground, upper.from]}
  elbow: {revolute: [upper.to, lower.from]}
sensors:
  tip: {position: lower.to}
)";

/// Collects what a session says, and acknowledges frames if told to.
class Page : public Outlet {
public:
    void send_text(std::string text) override {
        const std::scoped_lock lock(mutex_);
        texts_.push_back(Json::parse(text));
        changed_.notify_all();
    }
    void send_frame(std::vector<std::uint8_t> frame) override {
        const std::scoped_lock lock(mutex_);
        frames_.push_back(std::move(frame));
        changed_.notify_all();
    }

    /// The first message that satisfies a condition; null if it does not come. The patience is for busy machines: only
    /// what fails takes so long.
    Json wait_for(const std::function<bool(const Json&)>& condition,
                  std::chrono::seconds patience = std::chrono::seconds(60)) {
        std::unique_lock lock(mutex_);
        Json found;
        changed_.wait_for(lock, patience, [&] {
            for (const Json& text : texts_)
                if (condition(text)) {
                    found = text;
                    return true;
                }
            return false;
        });
        return found;
    }
    std::size_t frame_count() {
        const std::scoped_lock lock(mutex_);
        return frames_.size();
    }
    bool wait_for_frames(std::size_t count) {
        std::unique_lock lock(mutex_);
        return changed_.wait_for(lock, std::chrono::seconds(60), [&] { return frames_.size() >= count; });
    }
    template <class T>
    T last_frame_value(std::size_t at) {
        const std::scoped_lock lock(mutex_);
        T value{};
        std::memcpy(&value, frames_.back().data() + at, sizeof(T));
        return value;
    }

private:
    std::mutex mutex_;
    std::condition_variable changed_;
    std::vector<Json> texts_;
    std::vector<std::vector<std::uint8_t>> frames_;
};

class LiveSessions : public ::testing::Test {
protected:
    explicit LiveSessions(std::size_t memory = 0)
        : folder_(std::filesystem::temp_directory_path() /
                  ("limber-live-" + std::to_string(::getpid()) + "-" + make_secret())),
          library_(std::make_shared<Library>(std::span<const Asset>(), folder_.string())),
          session_(std::make_unique<LiveSession>(id_, library_, memory)) {
        session_->attach(page_);
    }
    ~LiveSessions() override {
        session_.reset();
        std::filesystem::remove_all(folder_);
    }

    Json ask(Command command) {
        const std::int64_t id = ++last_id_;
        EXPECT_TRUE(session_->submit({id, std::move(command)}));
        return page_->wait_for([&](const Json& m) { return m["type"] == "reply" && m["id"] == id; });
    }
    void open(const std::string& text) {
        const Json reply = ask(OpenModel{OpenModel::Source::text, "test.yaml", text});
        ASSERT_TRUE(reply.value("ok", false)) << reply;
    }

    std::filesystem::path folder_;
    std::string id_ = make_secret();
    std::shared_ptr<Library> library_;
    std::shared_ptr<Page> page_ = std::make_shared<Page>();
    std::unique_ptr<LiveSession> session_;
    std::int64_t last_id_ = 0;
};

}  // namespace limber
