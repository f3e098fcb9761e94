// Reading journals: each line is made to happen again.

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "limber/io/model_file.hpp"
#include "limber/math/clock.hpp"
#include "limber/math/interruption.hpp"
#include "limber/model/error.hpp"
#include "limber/simulation/journal.hpp"
#include "limber/simulation/journal_options.hpp"
#include "limber/simulation/journal_snapshot.hpp"

namespace limber {
namespace {

using Json = nlohmann::ordered_json;
namespace fs = std::filesystem;

// Steps are written twenty times a second, so no journal of ours has nearly as many between two lines.
constexpr long max_steps_in_a_line = 10'000'000;
constexpr long max_replayed_steps = 1'000'000'000'000'000;

class Replay {
public:
    Replay(const std::string& path, ReplayReport& report, const ReplayOptions& options)
        : path_(path), report_(report), options_(options) {
        // A pipe would hold up the opening.
        std::error_code error;
        if (fs::exists(path, error) && !fs::is_regular_file(path, error))
            throw ModelError(fmt::format("cannot read the journal '{}': it is not a regular file", path));
        file_.open(path, std::ios::binary);
        if (!file_) throw ModelError(fmt::format("cannot read the journal '{}'", path));
        size_ = std::max<double>(1, static_cast<double>(fs::file_size(path, error)));
    }

    Session run() {
        while (next_line()) {
            try {
                perform(line_);
            } catch (const ModelError& error) {
                const std::string trouble = fmt::format("{}:{}: {}", path_, number_, error.what());
                if (!options_.recovers || !session_) throw ModelError(trouble);
                report_.trouble = trouble;
                break;
            }
            good_bytes_ += static_cast<long>(line_.size()) + 1;
        }
        if (!session_) throw ModelError(fmt::format("{}: the journal has no beginning", path_));
        report_.steps = session_->steps();
        report_.good_bytes = good_bytes_;
        return std::move(*session_);
    }

private:
    // False: there is no further one that is whole.
    bool next_line() {
        if (!std::getline(file_, line_)) return false;
        ++number_;
        // No end of line: the last one, cut short. Or an edit that was being applied when the program died.
        report_.is_cut = file_.eof() || (line_.starts_with(pending_mark) && file_.peek() == EOF);
        return !report_.is_cut;
    }

    void perform(const std::string& line) {
        Json json;
        try {
            json = Json::parse(line);
        } catch (const Json::exception& error) {
            throw ModelError(fmt::format("not a line of a journal: {}", error.what()));
        }
        if (!json.is_object()) throw ModelError("not a line of a journal: expected an object");
        if (!session_) return start(json, line);
        Session& session = *session_;
        make_steps(session, json);
        if (json.contains("edit")) make_edit(session, json.at("edit"));
        if (json.contains("state")) compare(session, json.at("state"));
    }

    void start(const Json& json, const std::string& line) {
        if (!json.contains("limber_journal")) throw ModelError("this is not a journal");
        if (json.at("limber_journal") != journal_version)
            throw ModelError(fmt::format(
                "this is a journal of version {}, and this program reads version {}: replay it with the program that "
                "wrote it",
                json.at("limber_journal").dump().substr(0, 40), journal_version));
        if (!json.contains("model") || !json.at("model").is_string() || !json.contains("options"))
            throw ModelError("the first line of a journal has 'options' and 'model'");
        RecordedOptions recorded = read_options(json.at("options"));
        recorded.session.snapshot_memory = options_.snapshot_memory;
        if (start_from_snapshot(recorded, line)) return;
        session_.emplace(read_model_text(json.at("model"), path_).model, recorded.simulation, recorded.session);
        report_.start_time = session_->time();
    }

    bool start_from_snapshot(const RecordedOptions& recorded, const std::string& line) {
        if (!(options_.longest_replay < find_snapshot_cost(path_))) return false;
        const auto snapshot = read_snapshot(path_, identify_journal(line));
        if (!snapshot || static_cast<double>(snapshot->place.bytes) > size_) return false;
        try {
            Session session(snapshot->situation, recorded.session);
            if (print_fingerprint(session) != snapshot->place.fingerprint) return false;
            session_.emplace(std::move(session));
        } catch (const std::runtime_error&) {
            return false;  // its model or state is damaged
        }
        // The line under way is counted when it is done.
        good_bytes_ = snapshot->place.bytes - static_cast<long>(line.size()) - 1;
        file_.seekg(snapshot->place.bytes);
        report_.is_from_snapshot = true;
        report_.start_time = session_->time();
        return true;
    }

    void make_steps(Session& session, const Json& json) {
        const long steps = read_whole_number(json, "steps", 0, max_replayed_steps);
        // A journal that went back in time has fewer steps than before; its edit says where to.
        if (steps - session.steps() > max_steps_in_a_line)
            throw ModelError(fmt::format("'steps': expected at most {} more than {}, found {}", max_steps_in_a_line,
                                         session.steps(), steps));
        while (session.steps() < steps) {
            check_interruption();
            const StepReport step = session.step();
            if (!step.ok) throw ModelError("a step failed that did not fail before: " + step.reason);
            tell(session);
        }
        if (session.steps() != steps) throw ModelError("more steps have been made than written");
    }

    void make_edit(Session& session, const Json& edit) {
        if (!edit.is_string()) throw ModelError("'edit': expected a text");
        const EditReport report = session.apply(edit.get<std::string>());
        check_interruption();  // an edit that is given up is one that was refused
        if (!report.ok) throw ModelError("an edit was refused that was not refused before: " + report.reason);
        ++report_.edits;
        tell(session);
    }

    void compare(const Session& session, const Json& state) {
        ++report_.checked;
        if (!report_.mismatch.empty() || state == print_fingerprint(session)) return;
        report_.mismatch = fmt::format("after {} steps, t = {:.9g} s", session.steps(), session.time());
    }

    void tell(const Session& session) {
        if (!options_.on_progress || steady_seconds() - last_told_ < options_.progress_interval) return;
        last_told_ = steady_seconds();
        if (!options_.on_progress(std::min(1.0, static_cast<double>(good_bytes_) / size_), session.time()))
            throw ReplayStopped();
    }

    const std::string path_;
    ReplayReport& report_;
    const ReplayOptions& options_;
    std::ifstream file_;
    std::string line_;
    long number_ = 0, good_bytes_ = 0;
    double size_ = 1, last_told_ = steady_seconds();
    std::optional<Session> session_;
};

}  // namespace

Session replay_journal(const std::string& path, ReplayReport& report, const ReplayOptions& options) {
    if (options.longest_replay < 1e300) {
        // A snapshot is a short cut, and only as good as what comes after it shows.
        try {
            Session session = Replay(path, report, options).run();
            if (!report.is_from_snapshot || (report.mismatch.empty() && report.trouble.empty())) return session;
        } catch (const ModelError&) {
            if (!report.is_from_snapshot) throw;
        }
        report = {};
    }
    ReplayOptions whole = options;
    whole.longest_replay = 1e300;
    return Replay(path, report, whole).run();
}

}  // namespace limber
