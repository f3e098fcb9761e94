// A session: clock, events, snapshots. Edits are in session_edits.cpp.

#include "limber/simulation/session.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "limber/io/edit_text.hpp"
#include "limber/math/interruption.hpp"
#include "limber/model/error.hpp"
#include "limber/model/evaluation.hpp"
#include "limber/simulation/fingerprint.hpp"
#include "limber/simulation/journal.hpp"
#include "limber/simulation/option_table.hpp"
#include "limber/simulation/present_place.hpp"

namespace limber {
namespace {

constexpr int max_events_in_a_step = 100;
// Events are located to this part of the step.
constexpr double event_precision = 1e-10;
// A joint whose ends have come so near, over the typical length, holds from then on.
constexpr double closed_gap = 1e-5;

std::size_t bytes_of(const Situation& s) {
    const State& x = s.state;
    return sizeof(double) * static_cast<std::size_t>(x.q.size() + x.v.size() + x.a.size() + x.lambda.size() +
                                                     x.scheme_a.size() + x.previous_a.size()) +
           sizeof(double) * x.memory.size() + sizeof(ContactPoint) * x.contacts.size() + sizeof(Situation) +
           // Long histories of edits weigh more than the state: each snapshot lists them all.
           sizeof(s.undo.front()) * (s.undo.capacity() + s.redo.capacity()) +
           sizeof(s.rules.front()) * s.rules.capacity();
}

void check(const SessionOptions& options) {
    const auto require = [](bool is_right, const char* what, double found) {
        if (!is_right) throw ModelError(fmt::format("{}, found {}", what, found));
    };
    require(options.step >= shortest_session_step && options.step <= longest_session_step,
            "the step must be a positive number of seconds, 1e-12 to 1e6", options.step);
    require(options.snap >= 0 && std::isfinite(options.snap), "snap must be a length, or 0", options.snap);
    require(options.closing_frequency > 0 && std::isfinite(options.closing_frequency),
            "the closing frequency must be positive", options.closing_frequency);
    require(options.renewal >= 1, "there must be at least one step between snapshots",
            static_cast<double>(options.renewal));
}

}  // namespace

Session::Session(Model model, SimulationOptions options, SessionOptions session_options)
    : session_options_(session_options), step_(session_options.step) {
    check(session_options);
    simulation_ = std::make_shared<Simulation>(std::move(model), std::move(options));
    simulation_->watch_work(true);
    simulation_->begin_account();
    watch_rules();
    keep_snapshot();
}

SessionOptions session_options_of(const Model& model) {
    SessionOptions options;
    if (model.simulation.step) options.step = ModelEvaluation(model).number(*model.simulation.step, "simulation: step");
    return options;
}

Session::Session(const Model& model) : Session(model, simulation_options_of(model), session_options_of(model)) {}

Session::Session(const Situation& situation, const SessionOptions& session_options)
    : session_options_(session_options) {
    check(session_options);
    restore(situation);
    last_time_ = time();
    keep_snapshot();
}

Session::Session(Simulation& simulation)
    : simulation_(std::shared_ptr<void>(), &simulation), last_time_(simulation.time()) {
    session_options_.renewal = no_renewal;
    simulation_->watch_work(true);
    simulation_->begin_account();
}

Session::~Session() = default;
Session::Session(Session&&) noexcept = default;
Session& Session::operator=(Session&&) noexcept = default;

double Session::first_time() const {
    return snapshots_.front().state.t;
}

double Session::last_time() const {
    return std::max(last_time_, time());
}

double Session::energy_drift() {
    return simulation_->account().find_drift(observer().compute_energies(simulation_->state()));
}

std::vector<SessionNote> Session::take_notes() {
    return std::exchange(notes_, {});
}

void Session::record(std::shared_ptr<Journal> journal) {
    journal_ = std::move(journal);
}

// ---------------------------------------------------------------- steps

StepReport Session::step_by(double h) {
    if (!is_rerunning_) drop_future();
    if (!renew_solvers()) {
        StepReport refused;
        refused.ok = false;
        refused.reason = journal_->trouble();
        return refused;
    }
    StepReport report = step_while_closing(h);
    if (!report.ok) {
        // What the attempt has left in the solvers would show in later bits, which replay and time travel could not
        // repeat. A plain run has neither.
        if (snapshots_.empty()) return report;
        if (is_rerunning_ || is_renewed_here()) {
            simulation_->renew();
        } else {
            is_renewal_due_ = true;
            renew_solvers();
        }
        return report;
    }
    ++steps_;
    close_joints();
    if (steps_ % session_options_.renewal == 0) {
        simulation_->renew();
        keep_snapshot();
        if (journal_ && !is_rerunning_ && snapshots_.back().steps == steps_)
            journal_->keep_snapshot(snapshots_.back(), *this);
    }
    last_time_ = std::max(last_time_, time());
    if (journal_ && !is_rerunning_) journal_->write_step(*this);
    return report;
}

bool Session::renew_solvers() {
    if (!is_renewal_due_) return true;
    is_renewal_due_ = false;
    is_renewal_due_ = !apply(Edit(RenewSolvers{})).ok;
    return !is_renewal_due_;
}

StepReport Session::advance(double end) {
    StepReport total;
    total.substeps = 0;
    while (total.ok && time() + 0.5 * step_ < end) {
        const StepReport report = step();
        total.ok = report.ok;
        total.reason = report.reason;
        total.iterations += report.iterations;
        total.substeps += report.substeps;
        total.events.insert(total.events.end(), report.events.begin(), report.events.end());
    }
    return total;
}

bool Session::is_renewed_here() const {
    return tape_place_ > 0 && tape_[tape_place_ - 1].steps == steps_ &&
           std::holds_alternative<RenewSolvers>(tape_[tape_place_ - 1].edit);
}

// Wholly or not at all.
StepReport Session::step_with_events(double h) {
    if (rules_.empty()) {
        const double work_before = work();
        StepReport report = make_part(h);
        if (report.ok && watch_part_) watch_part_(path_, work_before);
        return report;
    }
    std::optional<Situation> before_edits;
    const Moment start = present();
    const std::vector<Situation::RuleState> rules = rules_;
    const std::size_t notes = notes_.size();
    StepReport report = step_through_events(h, before_edits);
    if (report.ok) return report;
    if (before_edits) restore(*before_edits);
    go_back(start);
    rules_ = rules;
    notes_.resize(notes);
    return report;
}

StepReport Session::step_through_events(double h, std::optional<Situation>& before_edits) {
    StepReport report;
    double left = h;
    const double end = time() + h;
    for (int events = 0;; ++events) {
        const Moment before = present();
        const StepReport part = make_part(left);
        report.iterations += part.iterations;
        report.substeps += part.substeps - 1;
        if (!part.ok) {
            report.ok = false;
            report.reason = part.reason;
            return report;
        }
        double done = left;
        const StepReport fired = fire_events(before, left, done, before_edits);
        if (!fired.ok) return fired;
        const auto& events_of = (done < left ? fired : part).events;
        report.events.insert(report.events.end(), events_of.begin(), events_of.end());
        if (done >= left) {
            if (watch_part_) watch_part_(path_, before.account.work);
            return report;
        }
        left = end - time();
        if (left < 1e-9 * h) return report;
        if (events == max_events_in_a_step) {
            report.ok = false;
            report.reason = fmt::format("more than {} events within one step", max_events_in_a_step);
            return report;
        }
    }
}

// Ends that cannot meet stop the motion or tear the mechanism apart: rather disable the joint.
StepReport Session::step_while_closing(double h) {
    if (closing_.empty()) return step_with_events(h);
    const Situation start = capture();
    const std::size_t notes = notes_.size();
    while (true) {
        const Situation before = capture();
        StepReport report = step_with_events(h);
        const bool is_torn =
            report.ok && !closing_.empty() &&
            observer().compute_errors(simulation_->state()).position > torn * simulation_->system().length_scale();
        if (report.ok && !is_torn) return report;
        if (is_torn) restore(before);
        if (give_up_closing()) continue;
        restore(start);
        notes_.resize(notes);
        if (report.ok) report.reason = "joints whose ends are drawn together tear the mechanism apart";
        report.ok = false;
        return report;
    }
}

// Rules watched: those of the model, with the side of zero they are on now. What they knew is kept.
void Session::watch_rules() {
    std::vector<Situation::RuleState> rules;
    observer().evaluate_conditions(simulation_->state(), conditions_);
    const auto& events = model().events;
    for (const auto handle : events.handles()) {
        Situation::RuleState rule;
        rule.name = events.get(handle).name;
        for (const auto& known : rules_)
            if (known.name == rule.name) rule.is_done = known.is_done;
        const double value = conditions_[rules.size()];
        rule.side = value > 0 ? 1 : value < 0 ? -1 : 0;
        rules.push_back(std::move(rule));
    }
    rules_ = std::move(rules);
    closing_.clear();
    for (const auto handle : model().joints.handles())
        if (!model().joints.get(handle).closing.empty()) closing_.push_back(model().joints.get(handle).name);
}

// After a step from `before`: if a condition has passed through zero, goes back to that moment and makes the edits of
// the first such rule. `done` becomes the part of the step up to there, `before_edits` the session before the first
// edits of the step.
StepReport Session::fire_events(const Moment& before, double h, double& done, std::optional<Situation>& before_edits) {
    StepReport report;
    const auto handles = model().events.handles();
    observer().evaluate_conditions(simulation_->state(), conditions_);
    const Moment after = present();
    double first = h;
    std::size_t which = handles.size();
    for (std::size_t i = 0; i < handles.size(); ++i) {
        const EventRule& rule = model().events.get(handles[i]);
        const int side = conditions_[i] > 0 ? 1 : conditions_[i] < 0 ? -1 : 0;
        if (rules_[i].is_done || side == 0 || rules_[i].side == 0 || side == rules_[i].side) continue;
        if (rule.as<Rises>() != nullptr && side < 0) continue;
        if (rule.as<Falls>() != nullptr && side > 0) continue;
        const double at = find_event(before, i, h, conditions_[i]);
        if (which == handles.size() || at < first) {
            first = at;
            which = i;
        }
    }
    if (which == handles.size()) {
        go_back(after);
        observer().evaluate_conditions(simulation_->state(), conditions_);
        for (std::size_t i = 0; i < rules_.size(); ++i)
            if (conditions_[i] != 0) rules_[i].side = conditions_[i] > 0 ? 1 : -1;
        return report;
    }
    const EventRule rule = model().events.get(handles[which]);
    go_back(before);
    const StepReport again = make_part(first);
    if (!again.ok) return again;
    if (watch_part_) watch_part_(path_, before.account.work);
    report.events = again.events;
    done = first;
    // Passed, whatever the last digits say; other rules are where they are.
    const int new_side = -rules_[which].side;
    watch_rules();
    rules_[which].side = new_side;
    if (rule.action().once) rules_[which].is_done = true;
    const std::vector<Situation::RuleState> known = rules_;
    if (!before_edits) before_edits = capture();
    for (const std::string& text : rule.action().edits.lines) {
        is_in_event_ = true;
        const EditReport edit = perform(parse_edit(text));
        is_in_event_ = false;
        if (edit.ok) continue;
        report.ok = false;
        report.reason = fmt::format("event '{}': '{}' was refused: {}", rule.name, text, edit.reason);
        return report;
    }
    for (auto& now : rules_)
        for (const auto& old : known)
            if (now.name == old.name && old.name == rule.name) now.side = old.side;
    notes_.push_back({time(), fmt::format("event '{}'", rule.name)});
    return report;
}

// The part of the step after which the condition has just changed its side: regula falsi (Illinois) on whole steps from
// `before`.
double Session::find_event(const Moment& before, std::size_t rule, double h, double end_value) {
    double low = 0;
    double high = h;
    go_back(before);
    observer().evaluate_conditions(simulation_->state(), conditions_);
    double low_value = conditions_[rule];
    double high_value = end_value;
    int last_side = 0;
    for (int i = 0; i < 60 && high - low > event_precision * h; ++i) {
        double at =
            low_value == high_value ? 0.5 * (low + high) : high - high_value * (high - low) / (high_value - low_value);
        if (!(at > low && at < high)) at = 0.5 * (low + high);
        go_back(before);
        if (!simulation_->step(at).ok) break;
        observer().evaluate_conditions(simulation_->state(), conditions_);
        const double value = conditions_[rule];
        if ((value > 0) == (end_value > 0) && value != 0) {
            high = at;
            high_value = value;
            if (last_side > 0) low_value /= 2;
            last_side = 1;
        } else {
            low = at;
            low_value = value;
            if (last_side < 0) high_value /= 2;
            last_side = -1;
        }
    }
    return high;
}

// Joints whose ends have met hold from now on.
void Session::close_joints() {
    const std::vector<std::string> closing = closing_;
    for (const std::string& name : closing) {
        const double scale = std::min(1.0, simulation_->system().length_scale());
        if (closing_gap(model().joints.get(model().joints.find(name)), time()) > closed_gap * scale) continue;
        Model next = plain_model();
        const Model before = next;
        next.joints.get(next.joints.find(name)).closing.clear();
        try {
            transfer(next, options(), {});
        } catch (const ModelError&) {
            continue;  // not yet
        }
        // The edit that has brought the joint is undone as a whole.
        follow_change(before, next);
        notes_.push_back({time(), fmt::format("joint '{}' has closed", name)});
    }
}

void Session::follow_change(const Model& from, const Model& to) {
    for (auto* list : {&undo_, &redo_})
        for (auto& entry : *list) {
            auto changed = std::make_shared<Situation::Entry>(*entry);
            changed->change.follow(from, to);
            entry = std::move(changed);
        }
}

bool Session::give_up_closing() {
    if (closing_.empty()) return false;
    const std::string name = closing_.back();
    Model next = plain_model();
    const Model before = next;
    Joint& joint = next.joints.get(next.joints.find(name));
    joint.closing.clear();
    joint.is_disabled = true;
    try {
        transfer(next, options(), {});
    } catch (const ModelError&) {
        return false;
    }
    follow_change(before, next);
    notes_.push_back({time(), fmt::format("joint '{}' is disabled: its ends cannot be drawn together", name)});
    return true;
}

// ---------------------------------------------------------------- snapshots

Situation Session::capture() const {
    Situation s;
    s.model = simulation_->model();
    s.options = simulation_->options();
    s.step = step_;
    s.steps = steps_;
    s.state = simulation_->state();
    s.account = simulation_->account();
    s.longest_step = simulation_->longest_step();
    s.undo = undo_;
    s.redo = redo_;
    s.rules = rules_;
    return s;
}

void Session::restore(const Situation& s) {
    simulation_ = std::make_shared<Simulation>(s.model, s.options, s.state);
    observer().follow_step(s.longest_step);
    simulation_->watch_work(true);
    simulation_->restore(s.state, s.account);
    ++compilations_;
    step_ = s.step;
    steps_ = s.steps;
    undo_ = s.undo;
    redo_ = s.redo;
    watch_rules();
    rules_ = s.rules;
}

void Session::keep_snapshot() {
    if (!snapshots_.empty() && snapshots_.back().steps >= steps_) return;
    snapshots_.push_back(capture());
    std::size_t bytes = 0;
    for (const Situation& s : snapshots_) bytes += bytes_of(s);
    if (bytes <= session_options_.snapshot_memory || snapshots_.size() < 4) return;
    // Every other one goes; the first and the last stay.
    std::deque<Situation> kept;
    for (std::size_t i = 0; i < snapshots_.size(); ++i)
        if (i % 2 == 0 || i + 1 == snapshots_.size()) kept.push_back(std::move(snapshots_[i]));
    snapshots_ = std::move(kept);
}

void Session::drop_future() {
    if (tape_place_ == tape_.size() && last_time_ <= time()) return;
    tape_.resize(tape_place_);
    while (snapshots_.size() > 1 && snapshots_.back().steps > steps_) snapshots_.pop_back();
    last_time_ = time();
}

EditReport Session::perform_edit(const GoToTime& edit) {
    EditReport report;
    const double slack = 1e-9 * step_;
    if (!(edit.time >= first_time() - slack && edit.time <= last_time() + slack)) {
        report.ok = false;
        report.reason = fmt::format("t = {} is not between {} and {}", edit.time, first_time(), last_time());
        return report;
    }
    const auto later = std::find_if(snapshots_.begin() + 1, snapshots_.end(),
                                    [&](const Situation& s) { return s.state.t > edit.time + slack; });
    const Situation present = capture();
    const std::size_t present_place = tape_place_;
    const std::vector<SessionNote> notes = notes_;
    try {
        rerun(*std::prev(later), edit.time);
    } catch (const Interrupted&) {
        const Uninterrupted hold;
        restore(present);
        tape_place_ = present_place;
        is_rerunning_ = false;
        notes_ = notes;
        throw;
    }
    notes_ = notes;
    report.is_compiled = true;
    report.message = fmt::format("at t = {:.6g} s", time());
    return report;
}

// From a snapshot to a later time, with the edits of the tape.
void Session::rerun(const Situation& from, double until) {
    const double slack = 1e-9 * step_;
    restore(from);
    // Edits made at the very step of a snapshot came after it was taken.
    tape_place_ = static_cast<std::size_t>(
        std::find_if(tape_.begin(), tape_.end(), [&](const Mark& m) { return m.steps >= steps_; }) - tape_.begin());
    is_rerunning_ = true;
    // An edit made at the very time asked for comes after it, except at the end, where nothing else comes.
    const bool is_last = until >= last_time_ - slack;
    while (true) {
        check_interruption();
        while (tape_place_ < tape_.size() && tape_[tape_place_].steps == steps_ && (is_last || time() < until - slack))
            perform(tape_[tape_place_++].edit);
        if (time() + 0.5 * step_ > until) break;
        if (!step().ok) break;
    }
    is_rerunning_ = false;
}

std::uint64_t Session::fingerprint() const {
    if (known_model_.compilations != compilations_) known_model_ = {compilations_, fingerprint_of_model()};
    Fingerprint fingerprint;
    fingerprint.add(known_model_.fingerprint);
    fingerprint.add(options());
    for (const auto& row : session_option_rows())
        std::visit([&](const auto& value) { fingerprint.add(value); }, row.get(session_options_));
    const EnergyAccount& account = simulation_->account();
    for (const double number : {step_, account.start, account.dissipated, simulation_->longest_step()})
        fingerprint.add(number);
    fingerprint.add(steps_);
    fingerprint.add(simulation_->state());
    fingerprint.add(account.work);
    for (const Situation::RuleState& rule : rules_) {
        fingerprint.add(rule.name);
        fingerprint.add(rule.side);
        fingerprint.add(rule.is_done);
    }
    return fingerprint.value();
}

std::uint64_t Session::fingerprint_of_model() const {
    Fingerprint fingerprint;
    fingerprint.add(fingerprint_of(plain_model()));
    // No file can say what the mouse does.
    if (const Pull* pull = find_pull()) {
        const ModelEvaluation numbers(model());
        fingerprint.add(model().markers.get(pull->marker).name);
        fingerprint.add(numbers.number(pull->stiffness, "pull"));
        fingerprint.add(numbers.number(pull->damping, "pull"));
    }
    return fingerprint.value();
}

}  // namespace limber
