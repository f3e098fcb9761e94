// What a session does with each command of its page.

#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>

#include "limber/io/edit_text.hpp"
#include "limber/io/element_edits.hpp"
#include "limber/io/model_writer.hpp"
#include "limber/math/interruption.hpp"
#include "limber/model/error.hpp"
#include "limber/model/evaluation.hpp"
#include "limber/server/base64.hpp"
#include "limber/server/live_session.hpp"
#include "limber/simulation/journal.hpp"
#include "limber/simulation/journal_snapshot.hpp"

namespace limber {
namespace {

constexpr std::size_t longest_journal = 32'000'000;
// Opening a model and changing it: what takes longer is given up, so that one page's model does not keep a processor
// for good.
constexpr std::chrono::seconds longest_compilation{60};

// How long a command may take to read and compile; nothing: as long as the session lives. Going back in time makes
// steps, which may be many.
std::optional<WorkLimit::Clock::duration> longest_work(const ClientMessage& message) {
    const auto* open = std::get_if<OpenModel>(&message.command);
    const auto* edit = std::get_if<EditModel>(&message.command);
    const bool is_limited = (open != nullptr && open->source != OpenModel::Source::journal) ||
                            (edit != nullptr && !edit->text.starts_with("go "));
    if (!is_limited) return std::nullopt;
    return longest_compilation;
}

// Commands that make steps end between two of them, not in the middle of one.
bool makes_steps(const ClientMessage& message) {
    return std::holds_alternative<MakeSteps>(message.command);
}

std::string read_whole_file(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

}  // namespace

void LiveSession::perform(const ClientMessage& message) {
    Json reply{{"type", "reply"}, {"id", message.id}, {"ok", true}};
    try {
        std::optional<WorkLimit> limit;
        if (!makes_steps(message)) limit.emplace(is_stopping_, longest_work(message));
        std::visit([&](const auto& command) { perform_command(command, reply); }, message.command);
    } catch (const std::bad_alloc& error) {
        reply["ok"] = false;
        reply["reason"] = fmt::format("{} ({})", error.what(), describe_bytes(memory_.budget()));
        // What was open before is as it was, unless it is itself too large.
        if (std::holds_alternative<OpenModel>(message.command)) memory_.clear_excess();
    } catch (const std::exception& error) {
        reply["ok"] = false;
        reply["reason"] = error.what();
    }
    if (message.id != 0) send_json(reply);
    tell_of_journal();
    // The model of before, or one that was refused, has been given back to malloc, which would keep it.
    if (std::holds_alternative<OpenModel>(message.command)) MemoryAccount::trim();
}

Session& LiveSession::session() {
    if (!session_) throw ModelError("no model is open");
    return *session_;
}

// ---------------------------------------------------------------- editing

void LiveSession::perform_command(const EditModel& command, Json& reply) {
    const Edit edit = parse_edit(command.text);
    const EditReport report = session().apply(edit);
    if (!report.ok) throw ModelError(report.reason);
    reply["message"] = report.message;
    const auto* pull = std::get_if<PullMarker>(&edit);
    if (pull != nullptr) pull_target_ = pull->target;
    if (std::holds_alternative<ReleaseMarker>(edit) || std::holds_alternative<GoToTime>(edit)) pull_target_.reset();
    is_changed_ = true;
    if (!report.is_compiled) {
        if (pull != nullptr && ghost_) ghost_->move_target("mouse_pull", pull->target);
        return;
    }
    restart_clock();
    restart_ghost();
    send_scene();
    send_state();
}

void LiveSession::perform_command(const DescribeElement& element, Json& reply) {
    Json list = Json::array();
    for (const Property& property : properties(session().model(), element.section, element.name))
        list.push_back({{"field", property.field}, {"value", property.value}});
    reply["properties"] = std::move(list);
    reply["yaml"] = write_element(session().model(), element.section, element.name);
}

// ---------------------------------------------------------------- clock

void LiveSession::perform_command(const Play&, Json&) {
    session();
    is_playing_ = true;
    restart_clock();
    send_state();
}

void LiveSession::perform_command(const Pause&, Json& reply) {
    is_playing_ = false;
    if (!session_) return;
    reply["time"] = session_->time();
    reply["fingerprint"] = fmt::format("{:016x}", session_->fingerprint());
    send_state();
}

void LiveSession::perform_command(const MakeSteps& steps, Json& reply) {
    session();
    is_playing_ = false;
    const long compilations = session_->compilations();
    for (int i = 0; i < steps.count && !is_stopping_; ++i)
        if (!make_step()) break;
    if (session_->compilations() != compilations) {
        restart_ghost();
        send_scene();
    }
    reply["time"] = session_->time();
    reply["fingerprint"] = fmt::format("{:016x}", session_->fingerprint());
    send_state();
}

void LiveSession::perform_command(const SetSpeed& speed, Json&) {
    pacer_ = Pacer(speed.factor);
    restart_clock();
    send_state();
}

// ---------------------------------------------------------------- files

void LiveSession::perform_command(const WriteModel& write, Json& reply) {
    const std::string text = write_model_text(session().model());
    if (!write.file.empty()) {
        library_->save_file(write.file, text);
        name_ = write.file;
    }
    reply["text"] = text;
}

void LiveSession::perform_command(const ReadJournal&, Json& reply) {
    session();
    if (!journal_) throw ModelError("there is no journal: start the studio with --workspace");
    journal_->finish(*session_);
    if (!journal_->trouble().empty()) throw ModelError(journal_->trouble());
    const std::string path = library_->journal_path(id_);
    if (std::filesystem::file_size(path) > longest_journal)
        throw ModelError("the journal is too long to be sent; it is in the workspace, in the folder autosave");
    reply["text"] = read_whole_file(path);
    reply["fingerprint"] = fmt::format("{:016x}", session_->fingerprint());
}

void LiveSession::perform_command(const ReadResults& results, Json& reply) {
    const std::string bytes = encode_results(recording_.table(), results.format, session().model().title);
    reply["base64"] = encode_base64(bytes);
}

void LiveSession::perform_command(const ListGallery&, Json& reply) {
    reply["examples"] = Json::parse(library_->gallery());
}

void LiveSession::perform_command(const ListFiles&, Json& reply) {
    reply["files"] = library_->file_names();
}

// ---------------------------------------------------------------- comparing

void LiveSession::perform_command(const SetGhost& choice, Json&) {
    session();
    const SetGhost before = ghost_choice_;
    ghost_choice_ = choice;
    try {
        make_ghost();
    } catch (const std::exception&) {
        ghost_choice_ = before;
        throw;
    }
    send_state();
}

void LiveSession::restart_ghost() {
    try {
        make_ghost();
    } catch (const std::exception& error) {
        ghost_.reset();
        ghost_choice_ = {};
        send_note("warning", fmt::format("The second formulation cannot go on: {}", error.what()));
    }
}

// The same motion from this moment on, computed in another way.
void LiveSession::make_ghost() {
    ghost_.reset();
    drop_samples();
    if (ghost_choice_.formulation.empty()) return;
    SimulationOptions options = session_->options();
    options.formulation = find_formulation(ghost_choice_.formulation).name;
    options.coordinates.clear();
    if (!ghost_choice_.integrator.empty()) options.integrator = find_integrator(ghost_choice_.integrator).name;
    auto next = std::make_unique<Simulation>(session_->model(), session_->options(), session_->simulation().state());
    next->transfer(session_->model(), options);
    ghost_ = std::move(next);
}

void LiveSession::perform_command(const ShowReactions& show, Json&) {
    shows_reactions_ = show.is_on;
    send_state();
}

}  // namespace limber
