// How a session comes to its model: a file, an example, a journal, its own journal of before.

#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "limber/math/interruption.hpp"
#include "limber/model/error.hpp"
#include "limber/model/evaluation.hpp"
#include "limber/server/live_session.hpp"
#include "limber/simulation/journal.hpp"
#include "limber/simulation/journal_snapshot.hpp"

namespace limber {
namespace {

constexpr std::size_t max_bodies = 5000;
constexpr ReadLimits studio_limits{max_bodies};
constexpr std::size_t snapshot_memory = 4'000'000;

// [s] of computing that a session which is brought back may take to be replayed; beyond, it goes on from its last
// snapshot.
constexpr double longest_recovery = 10;

void refuse_large(const Model& model) {
    if (model.bodies.size() > max_bodies)
        throw ModelError(fmt::format("the model has {} bodies; the studio takes {}", model.bodies.size(), max_bodies));
}

void write_whole_file(const std::string& path, const std::string& text) {
    std::ofstream file(path, std::ios::binary);
    file << text;
    file.close();
    if (!file) throw ModelError("the journal cannot be kept in the workspace: the disk may be full");
}

}  // namespace

void LiveSession::open(Model model, const std::string& name) {
    refuse_large(model);
    const SimulationOptions options = simulation_options_of(model);
    SessionOptions session_options = session_options_of(model);
    session_options.snapshot_memory = snapshot_memory;
    auto next = std::make_unique<Session>(std::move(model), options, session_options);
    std::shared_ptr<Journal> journal;
    if (library_->has_workspace()) journal = Journal::create(library_->journal_path(id_), *next, journal_.get());
    take(std::move(next), name, std::move(journal));
}

void LiveSession::take(std::unique_ptr<Session> next, const std::string& name, std::shared_ptr<Journal> journal) {
    session_ = std::move(next);
    has_model_ = true;
    journal_ = std::move(journal);
    if (journal_) session_->record(journal_);
    recording_.clear();
    name_ = name;
    is_playing_ = false;
    ghost_.reset();
    ghost_choice_ = {};
    pull_target_.reset();
    restart_clock();
    send_scene();
    send_state();
}

Session LiveSession::replay(const std::string& path, bool recovers, ReplayReport& report) {
    ReplayOptions options;
    options.recovers = recovers;
    options.snapshot_memory = snapshot_memory;
    options.longest_replay = recovers ? longest_recovery : INFINITY;
    options.on_progress = [this](double done, double time) {
        greet();
        send_json({{"type", "progress"}, {"text", "Bringing the session back"}, {"done", done}, {"time", time}});
        return !is_stopping_;
    };
    Session session = replay_journal(path, report, options);
    refuse_large(session.model());
    send_json({{"type", "progress"}, {"text", ""}, {"done", 1}, {"time", session.time()}});
    return session;
}

void LiveSession::replay_uploaded(const std::string& path, const std::string& name, Json& reply) {
    ReplayReport report;
    auto next = std::make_unique<Session>(replay(path, false, report));
    reply["steps"] = report.steps;
    reply["edits"] = report.edits;
    reply["checked"] = report.checked;
    reply["mismatch"] = report.mismatch;
    reply["fingerprint"] = print_fingerprint(*next);
    // It becomes the autosave of this session.
    const std::string own = library_->journal_path(id_);
    auto journal = Journal::append(path);
    remove_snapshot(own);
    std::filesystem::rename(path, own);
    journal->has_moved_to(own);
    take(std::move(next), name, std::move(journal));
}

void LiveSession::resume_from_journal() {
    const std::string path = library_->journal_path(id_);
    std::shared_ptr<Journal> journal;
    try {
        journal = Journal::append(path);  // nobody else may take it meanwhile
    } catch (const std::exception& error) {
        if (!Journal::is_in_use(path)) return drop_journal(error.what());
        send_note("error", fmt::format("The autosaved session could not be brought back: {}.", error.what()));
        return;
    }
    is_recovering_ = true;
    try {
        const WorkLimit limit(is_stopping_);
        ReplayReport report;
        auto next = std::make_unique<Session>(replay(path, true, report));
        is_recovering_ = false;
        std::string kept;
        if (!report.trouble.empty()) kept = keep_damaged_journal(path);
        journal->cut_to(report.good_bytes);
        take(std::move(next), "autosave", std::move(journal));
        if (!report.trouble.empty())
            send_note(
                "error",
                fmt::format("The session was brought back to t = {:.4g} s. What follows in its journal could not be "
                            "made again ({}); the whole of it is kept as {}.",
                            session_->time(), report.trouble, std::filesystem::path(kept).filename().string()));
        if (report.is_from_snapshot)
            send_note("info",
                      fmt::format("The session was brought back from its snapshot at t = {:.4g} s: what came before "
                                  "can no longer be undone or gone back to here.",
                                  report.start_time));
    } catch (const ReplayStopped&) {
        // The server ends; the journal is as it was.
    } catch (const Interrupted&) {
        // Likewise.
    } catch (const std::bad_alloc& error) {
        drop_journal(fmt::format("{} ({})", error.what(), describe_bytes(memory_.budget())));
    } catch (const std::exception& error) {
        drop_journal(error.what());
    }
}

// What cannot be read is not written over by what comes next.
void LiveSession::drop_journal(const std::string& reason) {
    is_recovering_ = false;
    const std::string kept = library_->keep_journal(id_);
    send_json({{"type", "progress"}, {"text", ""}, {"done", 1}, {"time", 0}});
    send_note(
        "error",
        fmt::format("The autosaved session could not be brought back: {}. Its journal is kept in the workspace as {}.",
                    reason, kept));
    send_state();
}

void LiveSession::perform_command(const OpenModel& command, Json& reply) {
    switch (command.source) {
        case OpenModel::Source::example: open(library_->read_example(command.name).model, command.name); break;
        case OpenModel::Source::file:
            open(read_model_text(library_->read_file(command.name), command.name, {}, nullptr, studio_limits).model,
                 command.name);
            break;
        case OpenModel::Source::text:
            open(read_model_text(command.text, command.name, {}, nullptr, studio_limits).model, command.name);
            break;
        case OpenModel::Source::journal: {
            // The reader of journals takes a file, so it becomes one.
            const std::string path = library_->journal_path(id_ + "-upload");
            if (path.empty()) throw ModelError("there is no workspace to keep the journal in");
            try {
                write_whole_file(path, command.text);
                replay_uploaded(path, command.name, reply);
            } catch (const std::exception&) {
                std::filesystem::remove(path);
                throw;
            }
            break;
        }
    }
}

}  // namespace limber
