#pragma once
// One person's mechanism in motion: a Session in a thread of its own, paced by the clock. Commands wait in a bounded
// queue and are carried out between steps; frames are made sixty times a second, and only if the page has taken the
// ones before. If a step takes longer than it should, time passes more slowly; nothing piles up.

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "limber/server/frame.hpp"
#include "limber/server/library.hpp"
#include "limber/server/memory_account.hpp"
#include "limber/server/protocol.hpp"
#include "limber/server/recording.hpp"
#include "limber/simulation/pacing.hpp"
#include "limber/simulation/session.hpp"

namespace limber {

struct ReplayReport;

/// Where a session's messages go. Called from the session's thread; must not block.
class Outlet {
public:
    virtual ~Outlet() = default;
    virtual void send_text(std::string text) = 0;
    virtual void send_frame(std::vector<std::uint8_t> frame) = 0;
};

class LiveSession {
public:
    /// `memory`: bytes that it may use, 0: any. Throws std::system_error if no thread can be started.
    LiveSession(std::string id, std::shared_ptr<const Library> library, std::size_t memory = 0);
    /// Waits for the step under way.
    ~LiveSession();
    LiveSession(const LiveSession&) = delete;
    LiveSession& operator=(const LiveSession&) = delete;

    const std::string& id() const { return id_; }
    /// A page has come, or come back: it is told everything anew.
    void attach(std::shared_ptr<Outlet> outlet);
    /// The page has gone: the motion pauses and waits for it.
    void detach(const Outlet* outlet);
    bool is_attached() const;
    /// No model is open, nor about to be: nothing is lost if it ends.
    bool is_empty() const;
    /// False if too many commands are waiting.
    bool submit(ClientMessage message);
    /// Goes on where the journal of this id has ended, if there is one.
    void resume();
    /// Asks the thread to end; is_finished() tells when it has.
    void request_stop();
    bool is_finished() const { return is_finished_; }

private:
    using Json = nlohmann::ordered_json;
    using Clock = std::chrono::steady_clock;

    void run();
    bool wait_for_work(ClientMessage& message);
    /// Tells a page that has come what there is.
    void greet();
    void resume_from_journal();
    void perform(const ClientMessage& message);
    // One per command: fills the reply, or throws ModelError.
    void perform_command(const OpenModel& open, Json& reply);
    void perform_command(const EditModel& edit, Json& reply);
    void perform_command(const Play&, Json& reply);
    void perform_command(const Pause&, Json& reply);
    void perform_command(const MakeSteps& steps, Json& reply);
    void perform_command(const SetSpeed& speed, Json& reply);
    void perform_command(const DescribeElement& element, Json& reply);
    void perform_command(const WriteModel& write, Json& reply);
    void perform_command(const ReadJournal&, Json& reply);
    void perform_command(const ReadResults& results, Json& reply);
    void perform_command(const SetGhost& ghost, Json& reply);
    void perform_command(const ShowReactions& show, Json& reply);
    void perform_command(const ListGallery&, Json& reply);
    void perform_command(const ListFiles&, Json& reply);
    void perform_command(const AcknowledgeFrame&, Json&) {}

    Session& session();
    void open(Model model, const std::string& name);
    /// From now on this one is shown, and recorded by the journal if there is one.
    void take(std::unique_ptr<Session> session, const std::string& name, std::shared_ptr<Journal> journal);
    void replay_uploaded(const std::string& path, const std::string& name, Json& reply);
    Session replay(const std::string& path, bool recovers, ReplayReport& report);
    void drop_journal(const std::string& reason);
    /// Ends what is open if it has used up its memory; the page stays.
    void end_if_too_large();
    void close();
    /// Once, when the journal can no longer be written, and when it can again.
    void tell_of_journal();
    void advance();
    bool make_step();
    void restart_clock();
    void make_ghost();     // throws ModelError
    void restart_ghost();  // after a change; gives up with a note if it cannot
    void send_json(const Json& json);
    void send_scene();
    void send_state();
    void send_note(const std::string& level, const std::string& text);
    void send_frame_if_due();
    StudioFrame make_frame();
    /// What the sensors show now goes into the next frame.
    void take_sample();
    void drop_samples();

    const std::string id_;
    const std::shared_ptr<const Library> library_;

    mutable std::mutex mutex_;  // guards the next six
    std::condition_variable wake_;
    std::deque<ClientMessage> inbox_;
    std::shared_ptr<Outlet> outlet_;
    bool is_greeting_due_ = false;
    bool is_resume_due_ = false;
    bool is_busy_ = false;  // with a command
    std::atomic<bool> has_model_ = false;
    std::atomic<bool> is_stopping_ = false, is_finished_ = false;
    std::atomic<std::uint32_t> acknowledged_ = 0;

    MemoryAccount memory_;
    // The thread's own.
    std::unique_ptr<Session> session_;
    std::shared_ptr<Journal> journal_;
    std::string name_;  // of the model that is open
    std::string journal_trouble_;
    bool is_recovering_ = false;
    std::deque<std::pair<std::string, std::string>> waiting_notes_;  // level and text
    std::unique_ptr<Simulation> ghost_;
    SetGhost ghost_choice_;
    bool is_playing_ = false, shows_reactions_ = false, is_changed_ = false;
    Pacer pacer_;
    double iterations_ = 0;
    std::optional<Vec3> pull_target_;
    std::vector<double> samples_, sensors_;
    std::size_t sample_count_ = 0;
    Recording recording_;
    double last_sample_ = 0;
    Clock::time_point next_frame_;
    std::uint32_t revision_ = 0, frame_number_ = 0;
    std::thread thread_;
};

}  // namespace limber
