// The thread of a session: queue, clock, frames. What each command does is in live_commands.cpp.

#include "limber/server/live_session.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "limber/math/clock.hpp"
#include "limber/model/error.hpp"
#include "limber/server/scene.hpp"
#include "limber/simulation/journal.hpp"

namespace limber {
namespace {

constexpr std::size_t max_waiting_commands = 256;
constexpr std::uint32_t max_frames_under_way = 3;
constexpr std::size_t max_waiting_notes = 10;
constexpr auto frame_interval = std::chrono::microseconds(16'667);
// Of each frame's time so much may be spent on steps; the rest is for pictures and commands.
constexpr auto step_budget = std::chrono::milliseconds(13);
// Sensors are sampled this often [1/s] for plots, however slowly frames are taken.
constexpr double sample_rate = 120;
constexpr std::size_t max_samples = 240;

bool is_pull(const ClientMessage& message) {
    const auto* edit = std::get_if<EditModel>(&message.command);
    return edit != nullptr && message.id == 0 && edit->text.starts_with("pull ");
}

}  // namespace

LiveSession::LiveSession(std::string id, std::shared_ptr<const Library> library, std::size_t memory)
    : id_(std::move(id)), library_(std::move(library)), memory_(memory), next_frame_(Clock::now()), thread_([this] {
          run();
      }) {}

LiveSession::~LiveSession() {
    request_stop();
    thread_.join();
}

void LiveSession::request_stop() {
    is_stopping_ = true;
    wake_.notify_all();
}

void LiveSession::attach(std::shared_ptr<Outlet> outlet) {
    const std::scoped_lock lock(mutex_);
    outlet_ = std::move(outlet);
    is_greeting_due_ = true;
    wake_.notify_all();
}

void LiveSession::detach(const Outlet* outlet) {
    const std::scoped_lock lock(mutex_);
    if (outlet_.get() != outlet) return;
    outlet_.reset();
    if (has_model_ || is_busy_ || !inbox_.empty()) inbox_.push_back({0, Pause{}});
    wake_.notify_all();
}

bool LiveSession::is_attached() const {
    const std::scoped_lock lock(mutex_);
    return outlet_ != nullptr;
}

bool LiveSession::is_empty() const {
    const std::scoped_lock lock(mutex_);
    return !has_model_ && !is_busy_ && !is_resume_due_ && inbox_.empty();
}

void LiveSession::resume() {
    const std::scoped_lock lock(mutex_);
    is_resume_due_ = true;
    wake_.notify_all();
}

bool LiveSession::submit(ClientMessage message) {
    if (const auto* ack = std::get_if<AcknowledgeFrame>(&message.command)) {
        acknowledged_ = ack->number;
        return true;
    }
    const std::scoped_lock lock(mutex_);
    // The mouse moves faster than steps are made: only its last place counts.
    if (is_pull(message) && !inbox_.empty() && is_pull(inbox_.back())) {
        inbox_.back() = std::move(message);
        return true;
    }
    if (inbox_.size() >= max_waiting_commands) return false;
    inbox_.push_back(std::move(message));
    wake_.notify_all();
    return true;
}

// ---------------------------------------------------------------- thread

void LiveSession::run() {
    const MemoryAccount::Use use(&memory_);
    while (!is_stopping_) {
        ClientMessage message;
        while (wait_for_work(message) && !is_stopping_) {
            perform(message);
            end_if_too_large();
            const UncountedMemory others;  // the thread of the sockets has made it
            message = {};
        }
        if (is_stopping_) break;
        try {
            if (is_playing_) advance();
            send_frame_if_due();
        } catch (const std::exception& error) {
            is_playing_ = is_changed_ = false;
            if (!memory_.is_exceeded()) send_note("error", fmt::format("The motion was paused: {}", error.what()));
        }
        end_if_too_large();
        tell_of_journal();
    }
    // If the disk is full, there is nobody left to tell.
    if (journal_ && session_) journal_->finish(*session_);
    close();
    is_finished_ = true;
}

void LiveSession::end_if_too_large() {
    if (!memory_.is_exceeded() && !memory_.is_over()) return;
    const bool had_model = session_ != nullptr;
    close();
    memory_.clear_excess();
    if (!had_model) return;
    const std::string kept = library_->keep_journal(id_);
    send_note("error",
              fmt::format("The session has ended: it needed more than the {} of memory that a session may have. "
                          "Open a smaller model{}.",
                          describe_bytes(memory_.budget()),
                          kept.empty() ? "" : fmt::format("; its journal is kept in the workspace as {}", kept)));
    send_state();
}

void LiveSession::close() {
    is_playing_ = is_changed_ = false;
    ghost_.reset();
    ghost_choice_ = {};
    journal_.reset();
    session_.reset();
    recording_.clear();
    drop_samples();
    pull_target_.reset();
    has_model_ = false;
    MemoryAccount::trim();
}

void LiveSession::tell_of_journal() {
    const std::string trouble = journal_ ? journal_->trouble() : "";
    if (trouble.empty() == journal_trouble_.empty()) return;
    journal_trouble_ = trouble;
    if (trouble.empty()) {
        send_note("info", "The journal can be written again.");
    } else {
        send_note(
            "error",
            fmt::format("Not saved: {}. Changes are refused until it can be written; the motion goes on.", trouble));
    }
}

// True: a command was taken. False: it is time for steps or a frame.
bool LiveSession::wait_for_work(ClientMessage& message) {
    std::unique_lock lock(mutex_);
    const auto has_news = [&] { return !inbox_.empty() || is_greeting_due_ || is_resume_due_ || is_stopping_.load(); };
    is_busy_ = false;
    if (is_playing_ || (is_changed_ && outlet_)) {
        wake_.wait_until(lock, next_frame_, has_news);
    } else {
        wake_.wait(lock, has_news);
    }
    is_busy_ = is_resume_due_ || !inbox_.empty();
    if (is_greeting_due_) {
        lock.unlock();
        greet();
        return wait_for_work(message);
    }
    if (is_resume_due_) {
        is_resume_due_ = false;
        lock.unlock();
        resume_from_journal();
        end_if_too_large();
        return wait_for_work(message);
    }
    if (inbox_.empty()) return false;
    message = std::move(inbox_.front());
    inbox_.pop_front();
    return true;
}

void LiveSession::greet() {
    {
        const std::scoped_lock lock(mutex_);
        if (!is_greeting_due_) return;
        is_greeting_due_ = false;
    }
    frame_number_ = acknowledged_ = 0;
    send_json({{"type", "hello"}, {"session", id_}, {"workspace", library_->has_workspace()}});
    if (session_) send_scene();
    send_state();
    for (const auto& [level, text] : std::exchange(waiting_notes_, {})) send_note(level, text);
    if (!journal_trouble_.empty()) send_note("error", "Not saved: " + journal_trouble_);
}

// ---------------------------------------------------------------- clock

void LiveSession::restart_clock() {
    pacer_.start(session_ ? session_->time() : 0.0, steady_seconds());
}

bool LiveSession::make_step() {
    const StepReport report = session_->step();
    for (const SessionNote& note : session_->take_notes()) send_note("info", note.text);
    if (!report.ok) {
        is_playing_ = false;
        send_note("error",
                  fmt::format("The motion stopped at t = {:.4g} s: {}. Go back on the timeline, take a smaller "
                              "step, or change the mechanism.",
                              session_->time(), report.reason));
        send_state();
        return false;
    }
    iterations_ += 0.05 * (report.iterations - iterations_);
    if (ghost_) {
        const StepReport beside = ghost_->step(session_->step_length());
        if (!beside.ok) {
            send_note("warning", fmt::format("The second formulation stopped: {}", beside.reason));
            ghost_.reset();
            ghost_choice_ = {};
            drop_samples();
            send_state();
        }
    }
    if (std::abs(session_->time() - last_sample_) * sample_rate >= pacer_.speed()) take_sample();
    return true;
}

void LiveSession::advance() {
    const long compilations = session_->compilations();
    const auto start = Clock::now();
    while (pacer_.is_due(session_->time(), session_->step_length(), steady_seconds()) && !is_stopping_)
        if (!make_step() || Clock::now() - start > step_budget) break;
    pacer_.observe(session_->time(), steady_seconds());
    is_changed_ = true;
    if (session_->compilations() != compilations) {  // an event, or a joint that has closed
        restart_ghost();
        send_scene();
        send_state();
    }
}

// ---------------------------------------------------------------- messages

void LiveSession::send_json(const Json& json) {
    const UncountedMemory others;  // the thread of the sockets frees it
    const std::scoped_lock lock(mutex_);
    if (outlet_) outlet_->send_text(json.dump(-1, ' ', false, Json::error_handler_t::replace));
}

// What happens while nobody is there is told to who comes.
void LiveSession::send_note(const std::string& level, const std::string& text) {
    if (is_attached()) return send_json({{"type", "note"}, {"level", level}, {"text", text}});
    waiting_notes_.emplace_back(level, text);
    if (waiting_notes_.size() > max_waiting_notes) waiting_notes_.pop_front();
}

void LiveSession::send_scene() {
    drop_samples();  // they belong to the sensors of before
    recording_.set_columns(session_->observer().columns());
    Json scene = describe_scene(session_->simulation(), session_->observer());
    scene["type"] = "scene";
    scene["revision"] = ++revision_;
    scene["name"] = name_;
    send_json(scene);
    is_changed_ = true;
}

void LiveSession::send_state() {
    Json state{{"type", "state"}, {"open", session_ != nullptr}, {"playing", is_playing_}, {"speed", pacer_.speed()}};
    state["recovering"] = is_recovering_;
    if (session_) {
        const SimulationOptions& options = session_->options();
        state["undo"] = session_->next_undo();
        state["redo"] = session_->next_redo();
        state["formulation"] = options.formulation;
        state["integrator"] = options.integrator;
        state["coordinates"] = options.coordinates;
        state["division"] = options.modular.division;
        state["step"] = session_->step_length();
        state["ghost"] = ghost_choice_.formulation;
        state["reactions"] = shows_reactions_;
    }
    for (const auto& f : formulations()) state["formulations"].push_back({{"name", f.name}, {"text", f.description}});
    for (const auto& i : integrators()) state["integrators"].push_back({{"name", i.name}, {"text", i.description}});
    send_json(state);
    is_changed_ = true;
}

void LiveSession::send_frame_if_due() {
    const auto now = Clock::now();
    if (now < next_frame_) return;
    next_frame_ = std::max(next_frame_ + frame_interval, now);
    if (!session_ || !is_changed_) return;
    // A page that is behind gets no more until it has caught up. Without motion, the last frame waits for it.
    if (frame_number_ - acknowledged_ >= max_frames_under_way) return;
    is_changed_ = false;
    ++frame_number_;
    const StudioFrame frame = make_frame();
    const UncountedMemory others;  // the thread of the sockets frees it
    std::vector<std::uint8_t> bytes = encode_frame(frame);
    const std::scoped_lock lock(mutex_);
    if (outlet_) outlet_->send_frame(std::move(bytes));
}

StudioFrame LiveSession::make_frame() {
    StudioFrame f;
    const State& state = session_->simulation().state();
    Observer& observer = session_->observer();
    f.revision = revision_;
    f.number = frame_number_;
    f.is_playing = is_playing_;
    f.is_slow = pacer_.report().is_late && is_playing_;
    f.time = session_->time();
    f.first_time = session_->first_time();
    f.last_time = session_->last_time();
    f.energies = observer.compute_energies(state);
    f.work = session_->work();
    f.drift = session_->energy_drift();
    f.errors = observer.compute_errors(state);
    f.relative_error = observer.compute_relative_error(state);
    f.speed = pacer_.speed();
    f.speed_reached = pacer_.report().real_time_factor;
    f.iterations = iterations_;
    if (sample_count_ == 0 || last_sample_ != session_->time()) take_sample();
    f.sensor_count = observer.columns().size();
    f.samples = std::exchange(samples_, {});
    f.sample_count = std::exchange(sample_count_, 0);
    observer.compute_view(state, shows_reactions_, f.view);
    f.pull_target = pull_target_;
    if (ghost_) {
        f.has_ghost = true;
        f.ghost_poses = ghost_->observer().compute_poses(ghost_->state());
    }
    return f;
}

void LiveSession::take_sample() {
    if (sample_count_ >= max_samples) return;
    last_sample_ = session_->time();
    ++sample_count_;
    samples_.push_back(last_sample_);
    session_->observer().observe(session_->simulation().state(), session_->work(), sensors_);
    samples_.insert(samples_.end(), sensors_.begin(), sensors_.end());
    recording_.add(last_sample_, sensors_);
    if (!ghost_) return;
    ghost_->observer().observe(ghost_->state(), 0, sensors_);
    samples_.insert(samples_.end(), sensors_.begin(), sensors_.end());
}

void LiveSession::drop_samples() {
    samples_.clear();
    sample_count_ = 0;
}

}  // namespace limber
