// limber play: a live session in the terminal. limber replay: a journal made to run again.

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <csignal>
#include <fstream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "common.hpp"
#include "limber/io/edit_text.hpp"
#include "limber/io/files.hpp"
#include "limber/io/model_writer.hpp"
#include "limber/math/interruption.hpp"
#include "limber/simulation/journal.hpp"
#include "limber/simulation/pacing.hpp"

namespace limber::app {
namespace {

// [s] of computing that a replay may take before a session is resumed from its snapshot instead.
constexpr double longest_recovery = 10;

struct PlayArguments {
    ModelArguments model;
    std::string formulation, integrator, step, until, speed = "1", journal;
    bool resume = false;
};

double now() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

const char* const commands =
    "pause, play                 stop and go on\n"
    "step [N]                    N steps while paused\n"
    "speed K | max               times real time, or as fast as possible\n"
    "at TIME EDIT                make an edit when the time comes\n"
    "show                        sensors now\n"
    "save FILE                   write the model as it is\n"
    "help, quit\n";

// Lines of standard input as they come, without waiting for them.
class LineInput {
public:
    bool is_open() const { return is_open_; }

    /// Waits for up to `seconds`; false: nothing yet.
    bool next(double seconds, std::string& line) {
        if (take(line)) return true;
        if (!is_open_) {
            if (seconds > 0) ::usleep(static_cast<useconds_t>(seconds * 1e6));
            return false;
        }
        pollfd descriptor{STDIN_FILENO, POLLIN, 0};
        if (::poll(&descriptor, 1, static_cast<int>(std::ceil(seconds * 1000))) <= 0) return false;
        char buffer[4096];
        const ssize_t count = ::read(STDIN_FILENO, buffer, sizeof buffer);
        if (count <= 0) {
            is_open_ = false;
            if (!text_.empty()) text_ += '\n';
        } else {
            text_.append(buffer, static_cast<std::size_t>(count));
        }
        return take(line);
    }

private:
    bool take(std::string& line) {
        const auto end = text_.find('\n');
        if (end == std::string::npos) return false;
        line = text_.substr(0, end);
        text_.erase(0, end + 1);
        return true;
    }

    std::string text_;
    bool is_open_ = true;
};

// Set by Ctrl-C. The first one ends what is going on, an edit that takes long included, and lets the journal be
// finished; a second one the program.
std::atomic<bool> is_interrupted = false;

extern "C" void note_interrupt(int /*signal*/) {
    is_interrupted = true;
    std::signal(SIGINT, SIG_DFL);
}

class Player {
public:
    Player(Session session, const PlayArguments& arguments, double until, double speed,
           std::shared_ptr<Journal> journal)
        : session_(std::move(session)), journal_(std::move(journal)), until_(until), pacer_(speed) {
        is_terminal_ = ::isatty(STDERR_FILENO) != 0 && ::isatty(STDIN_FILENO) != 0;
        title_ = session_.model().title.empty() ? arguments.model.path : session_.model().title;
    }

    int play() {
        std::signal(SIGINT, note_interrupt);
        fmt::print("{}\n", title_);
        if (is_terminal_) fmt::print("Type edits while it runs: 'help' lists them, 'quit' ends.\n");
        std::fflush(stdout);
        pacer_.start(session_.time(), now());
        while (!is_done_ && !is_interrupted) {
            std::string line;
            const double patience =
                pacer_.is_paused() ? 0.1 : std::min(0.05, pacer_.wait(session_.time(), session_.step_length(), now()));
            while (!is_done_ && !is_interrupted && input_.next(pacer_.is_paused() || patience > 0 ? patience : 0, line))
                obey(line);
            if (!input_.is_open() && pacer_.is_paused()) break;
            // A few steps, then look at the input again.
            const double slice = now() + 0.01;
            while (!is_done_ && !is_interrupted && pacer_.is_due(session_.time(), session_.step_length(), now()) &&
                   now() < slice)
                advance();
            pacer_.observe(session_.time(), now());
            show_status();
            if (!input_.is_open() && scheduled_.empty() && !std::isfinite(until_)) break;
        }
        clear_status();
        if (journal_) journal_->finish(session_);
        tell_of_journal();
        fmt::print("t = {:.6g} s after {} steps, energy drift {:.3g} J\n", session_.time(), session_.steps(),
                   session_.energy_drift());
        return exit_code_;
    }

private:
    void advance() {
        while (!scheduled_.empty() && scheduled_.begin()->first <= session_.time() + 0.5 * session_.step_length()) {
            const std::string edit = scheduled_.begin()->second;
            scheduled_.erase(scheduled_.begin());
            apply(edit);
        }
        if (session_.time() + 0.5 * session_.step_length() > until_) {
            is_done_ = true;
            return;
        }
        const StepReport report = session_.step();
        if (!report.ok) {
            say(fmt::format("stopped: {}", report.reason));
            exit_code_ = solver_failed;
            if (is_terminal_) {
                pacer_.pause();
            } else {
                is_done_ = true;
            }
        }
        for (const SessionNote& note : session_.take_notes()) say(note.text, note.time);
        tell_of_journal();
    }

    // Once, when it can no longer be written; and what is not written is no success.
    void tell_of_journal() {
        if (!journal_ || journal_->trouble().empty() == trouble_.empty()) return;
        trouble_ = journal_->trouble();
        say(trouble_.empty() ? "the journal can be written again" : "not saved: " + trouble_);
        if (!trouble_.empty()) exit_code_ = solver_failed;
    }

    void apply(const std::string& edit) {
        const auto before = now();
        const WorkLimit limit(is_interrupted);
        const EditReport report = session_.apply(edit);
        const double latency = now() - before;
        if (report.ok) {
            say(fmt::format("{} ({:.2g} ms)", report.message.empty() ? edit : report.message, 1000 * latency));
        } else {
            say("refused: " + report.reason);
        }
    }

    void obey(const std::string& line) {
        const auto start = line.find_first_not_of(" \t\r");
        if (start == std::string::npos || line[start] == '#') return;
        const std::string text = line.substr(start);
        const auto space = text.find(' ');
        const std::string word = text.substr(0, space);
        const std::string rest = space == std::string::npos ? "" : text.substr(space + 1);
        try {
            if (word == "quit" || word == "exit") {
                is_done_ = true;
            } else if (word == "pause") {
                pacer_.pause();
            } else if (word == "play") {
                pacer_.start(session_.time(), now());
            } else if (word == "step") {
                pacer_.pause();
                const long count = rest.empty() ? 1 : step_count(rest);
                for (long i = 0; i < count && !is_done_ && !is_interrupted; ++i) advance();
                say(fmt::format("{} steps", count));
            } else if (word == "speed") {
                pacer_.set_speed(parse_speed(rest), session_.time(), now());
            } else if (word == "at") {
                const auto end = rest.find(' ');
                if (end == std::string::npos) throw ModelError("at: expected a time and an edit");
                const std::string edit = rest.substr(end + 1);
                parse_edit(edit);
                scheduled_.emplace(number(rest.substr(0, end)), edit);
            } else if (word == "show") {
                show_sensors();
            } else if (word == "save") {
                write_file(rest, write_model_text(session_.model()));
                say("saved to " + rest);
            } else if (word == "help") {
                clear_status();
                fmt::print("{}\n{}", describe_edits(), commands);
            } else {
                apply(text);
            }
        } catch (const std::exception& error) {
            say(std::string("refused: ") + error.what());
        }
    }

public:
    static double parse_speed(const std::string& text) {
        if (text == "max") return Pacer::as_fast_as_possible;
        const double speed = number(text);
        if (!(speed > 0)) throw ModelError(fmt::format("speed: expected a positive number or 'max', found '{}'", text));
        return speed;
    }

private:
    static long step_count(const std::string& text) {
        const double count = number(text);
        if (!(count >= 1 && count <= 1e9))
            throw ModelError(fmt::format("step: expected a number from 1 to 1e9, found '{}'", text));
        return std::lround(count);
    }
    static double number(const std::string& text) { return Expression::parse(text).bind({}).constant(); }

    void say(const std::string& text) { say(text, session_.time()); }
    void say(const std::string& text, double time) {
        clear_status();
        fmt::print("t = {:<9.6g} {}\n", time, text);
        std::fflush(stdout);
    }

    void show_sensors() {
        std::vector<double> values;
        session_.observer().observe(session_.simulation().state(), session_.work(), values);
        clear_status();
        for (std::size_t i = 0; i < values.size(); ++i)
            fmt::print("  {} = {:.9g}\n", session_.observer().columns()[i], values[i]);
        std::fflush(stdout);
    }

    void show_status() {
        if (!is_terminal_ || now() - last_status_ < 0.1) return;
        last_status_ = now();
        const PaceReport pace = pacer_.report();
        fmt::print(stderr, "\r\033[Kt = {:.2f} s  {}  {}, {}, step {:g} s  energy drift {:.2g} J > ", session_.time(),
                   pacer_.is_paused() ? std::string("paused")
                                      : fmt::format("{:.2f} times real time{}", pace.real_time_factor,
                                                    pace.is_late ? " (cannot keep up)" : ""),
                   session_.options().formulation, session_.options().integrator, session_.step_length(),
                   session_.energy_drift());
        std::fflush(stderr);
    }

    void clear_status() const {
        if (is_terminal_) fmt::print(stderr, "\r\033[K");
    }

    Session session_;
    std::shared_ptr<Journal> journal_;
    double until_;
    Pacer pacer_;
    LineInput input_;
    std::multimap<double, std::string> scheduled_;
    std::string title_, trouble_;
    bool is_terminal_ = false, is_done_ = false;
    double last_status_ = 0;
    int exit_code_ = ok;
};

// How far a replay has got, on a terminal.
ReplayOptions with_progress(const char* what) {
    ReplayOptions options;
    if (::isatty(STDERR_FILENO) == 0) return options;
    options.on_progress = [what](double done, double time) {
        fmt::print(stderr, "\r\033[K{}: {:.0f} %, t = {:.4g} s", what, 100 * done, time);
        if (done >= 1) fmt::print(stderr, "\r\033[K");
        std::fflush(stderr);
        return true;
    };
    return options;
}

void end_progress(const ReplayOptions& options) {
    if (options.on_progress) fmt::print(stderr, "\r\033[K");
}

int resume(const PlayArguments& arguments, double until, double speed) {
    const std::string& path = arguments.model.path;
    // First of all: nobody else may write it meanwhile.
    const auto journal = Journal::append(path);
    ReplayOptions options = with_progress("Resuming");
    options.recovers = true;
    options.longest_replay = longest_recovery;
    ReplayReport report;
    Session session = replay_journal(path, report, options);
    end_progress(options);
    if (report.is_from_snapshot) {
        fmt::print(
            "Resumed after {} steps, from the snapshot at t = {:.6g} s: what came before can neither be undone nor "
            "gone back to.\n",
            report.steps, report.start_time);
    } else {
        fmt::print("Resumed after {} steps and {} edits.\n", report.steps, report.edits);
    }
    if (!report.mismatch.empty())
        fmt::print(stderr, "warning: the motion differs from the one recorded, first {}\n", report.mismatch);
    if (!report.trouble.empty()) {
        fmt::print(stderr,
                   "warning: {}\n  The session goes on from before that line; the whole journal is kept as {}\n",
                   report.trouble, keep_damaged_journal(path));
        journal->cut_to(report.good_bytes);
    }
    session.record(journal);
    return Player(std::move(session), arguments, until, speed, journal).play();
}

// A journal of this version may be written anew; anything else may be somebody's work that cannot be read here.
void refuse_to_replace(const std::string& path) {
    std::ifstream file(path);
    std::string header;
    if (!file || !std::getline(file, header)) return;
    const auto json = nlohmann::json::parse(header, nullptr, false);
    if (json.is_object() && json.value("limber_journal", 0) == journal_version) return;
    throw ModelError(fmt::format(
        "'{}' is there already and is no journal of this version: give another name, or remove it first", path));
}

int play_model(const PlayArguments& arguments) {
    const double until = arguments.until.empty() ? INFINITY : positive_number(arguments.until, 0, "--until");
    const double speed = Player::parse_speed(arguments.speed);
    if (arguments.resume) return resume(arguments, until, speed);
    const ModelFile file = arguments.model.read();
    const SimulationOptions options =
        arguments.model.simulation_options(file.model, arguments.formulation, arguments.integrator);
    refuse_idle_options(arguments.model.option_names(), options, file.model);
    SessionOptions session_options = session_options_of(file.model);
    session_options.step = positive_number(arguments.step, session_options.step, "--step");
    try {
        Session session(file.model, options, session_options);
        print_warnings(session.find_warnings());
        std::shared_ptr<Journal> journal;
        if (!arguments.journal.empty()) {
            refuse_to_replace(arguments.journal);
            journal = Journal::create(arguments.journal, session);
            session.record(journal);
        }
        return Player(std::move(session), arguments, until, speed, journal).play();
    } catch (const ModelError& error) {
        throw ModelError(file.locate(error.what()));
    }
}

int replay(const std::string& path) {
    ReplayReport report;
    const ReplayOptions options = with_progress("Replaying");
    Session session = replay_journal(path, report, options);
    end_progress(options);
    fmt::print("{}\n  {} steps, {} edits, t = {:.6g} s; state {:016x}\n",
               session.model().title.empty() ? "Untitled model" : session.model().title, report.steps, report.edits,
               session.time(), session.fingerprint());
    if (report.is_cut) fmt::print("  the last line of the journal is cut short and was left out\n");
    if (!report.mismatch.empty()) {
        fmt::print(stderr, "error: the motion differs from the one recorded, first {}\n", report.mismatch);
        return solver_failed;
    }
    fmt::print("  {} recorded states, all equal to the bit\n", report.checked);
    std::vector<double> values;
    session.observer().observe(session.simulation().state(), session.work(), values);
    std::vector<std::vector<std::string>> rows{{"sensor", "final"}};
    for (std::size_t i = 0; i < values.size(); ++i)
        rows.push_back({session.observer().columns()[i], fmt::format("{:.9g}", values[i])});
    if (!values.empty()) fmt::print("\n{}", format_table(rows));
    return ok;
}

}  // namespace

void add_play_command(CLI::App& app, int& exit_code) {
    auto arguments = std::make_shared<PlayArguments>();
    CLI::App* command = app.add_subcommand("play", "Run a model live: edits from standard input while it moves");
    arguments->model.add_to(*command, true);
    command->add_option("--formulation", arguments->formulation, "See 'limber list formulations'")->type_name("F");
    command->add_option("--integrator", arguments->integrator, "See 'limber list integrators'")->type_name("I");
    command->add_option("--step", arguments->step, "Time step in seconds")->type_name("S");
    command->add_option("--until", arguments->until, "End time in seconds (default: none)")->type_name("T");
    command->add_option("--speed", arguments->speed, "Times real time (default 1), or max")->type_name("K");
    command->add_option("--journal", arguments->journal, "Write every edit and step to a journal")->type_name("FILE");
    CLI::Option* resume =
        command->add_flag("--resume", arguments->resume, "MODEL is a journal: go on where it ends, as it was begun");
    // What a journal says itself.
    for (const char* name :
         {"--formulation", "--integrator", "--step", "--journal", "--set", "--coordinates", "--option"})
        resume->excludes(command->get_option(name));
    command->footer(
        "Lines of standard input are edits ('limber list edits') or commands:\n"
        "pause, play, step N, speed K, at TIME EDIT, show, save FILE, help, quit.\n\n"
        "Examples:\n"
        "  limber play examples/double-pendulum.yaml\n"
        "  printf 'at 1 remove joints.elbow with dependents\\nat 2 undo\\n' |\n"
        "    limber play examples/double-pendulum.yaml --speed max --until 5 --journal session.journal");
    command->callback([arguments, &exit_code] { exit_code = play_model(*arguments); });
}

void add_replay_command(CLI::App& app, int& exit_code) {
    auto path = std::make_shared<std::string>();
    CLI::App* command = app.add_subcommand("replay", "Run a journal again and compare with what it recorded");
    command->add_option("JOURNAL", *path, "Written by 'limber play --journal'")->required();
    command->footer("Example:\n  limber replay session.journal");
    command->callback([path, &exit_code] { exit_code = replay(*path); });
}

}  // namespace limber::app
