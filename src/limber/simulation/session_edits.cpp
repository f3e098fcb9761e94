// Edits of a session: each builds the next model, which takes over if it can.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "limber/io/edit_text.hpp"
#include "limber/io/element_edits.hpp"
#include "limber/io/typed_edits.hpp"
#include "limber/math/interruption.hpp"
#include "limber/model/error.hpp"
#include "limber/model/evaluation.hpp"
#include "limber/simulation/journal.hpp"
#include "limber/simulation/present_place.hpp"
#include "limber/simulation/session.hpp"

namespace limber {
namespace {

const char* const pull_name = "mouse_pull";
// Default of a pull: an oscillation of two hertz of the body alone, critically damped.
constexpr double pull_frequency = 4 * pi;

EditReport refuse(std::string reason) {
    EditReport report;
    report.ok = false;
    report.reason = std::move(reason);
    return report;
}

std::string lock_name(const std::string& joint) {
    return joint + "_lock";
}

std::string describe_transfer(const TransferReport& report) {
    std::string text;
    if (report.largest_move > 1e-9) text += fmt::format(", moved by {:.3g} m", report.largest_move);
    if (std::abs(report.kinetic_lost) > 1e-9) text += fmt::format(", {:.3g} J lost", report.kinetic_lost);
    for (const JointImpulse& impulse : report.impulses)
        if (report.impulses.size() <= 3)
            text += fmt::format(", impulse of '{}' {:.3g} N s", impulse.joint, impulse.impulse.norm());
    return text;
}

// Those that hold afterwards and did not before.
std::vector<std::string> joints_brought(const Model& before, const Model& after) {
    std::vector<std::string> names;
    for (const auto& change : before.joints.changes_to(after.joints)) {
        const bool held = change.before.element && !change.before.element->is_disabled;
        if (change.after.element && !change.after.element->is_disabled && !held)
            names.push_back(change.after.element->name);
    }
    return names;
}

// Joints without which the next model may do, in the order of trying: those it brings; then also those whose ends are
// still being drawn together, one of them or all; then all but one, since a body without inertia must be held by one.
std::vector<std::vector<std::string>> joints_in_the_way(const Model& before, const Model& next) {
    const std::vector<std::string> brought = joints_brought(before, next);
    std::vector<std::string> all = brought;
    for (const auto handle : next.joints.handles()) {
        const Joint& joint = next.joints.get(handle);
        if (!joint.closing.empty() && !joint.is_disabled &&
            std::find(brought.begin(), brought.end(), joint.name) == brought.end())
            all.push_back(joint.name);
    }
    std::vector<std::vector<std::string>> choices{brought};
    for (std::size_t i = brought.size(); i < all.size(); ++i) {
        choices.push_back(brought);
        choices.back().push_back(all[i]);
    }
    choices.push_back(all);
    for (const std::string& held : all) {
        choices.push_back(all);
        std::erase(choices.back(), held);
    }
    return choices;
}

}  // namespace

EditReport Session::apply(const std::string& text) {
    try {
        return apply(parse_edit(text));
    } catch (const ModelError& error) {
        return refuse(error.what());
    } catch (const Interrupted& error) {
        return refuse(error.what());
    }
}

EditReport Session::apply(const TypedEdit& edit) {
    try {
        return apply(write_edit(model(), edit));
    } catch (const ModelError& error) {
        return refuse(error.what());
    }
}

EditReport Session::apply(const Edit& edit) {
    const bool is_travel = std::holds_alternative<GoToTime>(edit);
    if (!renew_solvers()) return refuse(journal_->trouble());
    std::optional<Journal::PendingEdit> pending;
    if (journal_) {
        pending.emplace(*journal_, steps_, format_edit(edit));
        if (!pending->is_written()) return refuse(journal_->trouble());
    }
    EditReport report = perform(edit);
    if (!report.ok) return report;
    if (!is_travel) {
        drop_future();
        tape_.push_back({steps_, edit});
        tape_place_ = tape_.size();
    }
    if (pending) pending->confirm();
    if (journal_ && !journal_->trouble().empty()) report.message += "; " + journal_->trouble();
    return report;
}

EditReport Session::perform(const Edit& edit) {
    try {
        return std::visit([this](const auto& e) { return perform_edit(e); }, edit);
    } catch (const ModelError& error) {
        return refuse(error.what());
    } catch (const Interrupted& error) {
        return refuse(error.what());
    }
}

double Session::snap_distance() const {
    return session_options_.snap > 0 ? session_options_.snap : 0.01 * simulation_->system().length_scale();
}

Model Session::plain_model() const {
    Model plain = model();
    const ForceHandle pull = plain.forces.find(pull_name);
    if (!pull.is_null()) plain.forces.remove(pull);
    return plain;
}

const Pull* Session::find_pull() const {
    const Force* force = model().forces.find(model().forces.find(pull_name));
    return force != nullptr ? force->as<Pull>() : nullptr;
}

TransferReport Session::transfer(Model next, SimulationOptions options, TransferLimits limits) {
    // Ends that are drawn together by a law of time can contradict others, or ask for what no motion can follow.
    const Table<Joint>& joints = next.joints;
    const auto handles = joints.handles();
    if (std::any_of(handles.begin(), handles.end(), [&](auto joint) { return !joints.get(joint).closing.empty(); })) {
        limits.rate = session_options_.closing_frequency;
        limits.gap = torn * simulation_->system().length_scale();
    }
    const Pull* pull = find_pull();
    if (pull != nullptr && next.markers.contains(pull->marker)) next.add(Force(pull_name, *pull));
    TransferReport report = simulation_->transfer(std::move(next), std::move(options), limits);
    const Uninterrupted hold;  // the new mechanism is there: the rest follows
    ++compilations_;
    watch_rules();
    return report;
}

EditReport Session::take_over(Model next, SimulationOptions options, double step, const TransferLimits& limits,
                              const std::string& entry) {
    auto record = std::make_shared<Situation::Entry>();
    record->edit = entry;
    record->change = ModelChange(plain_model(), next);
    record->options_before = this->options();
    record->step_before = step_;
    EditReport report;
    report.transfer = transfer(std::move(next), std::move(options), limits);
    report.is_compiled = true;
    step_ = step;
    record->options_after = this->options();
    record->step_after = step_;
    if (!entry.empty() && !is_in_event_) {
        undo_.push_back(std::move(record));
        redo_.clear();
    }
    report.message = entry + describe_transfer(report.transfer);
    return report;
}

EditReport Session::take_over_and_close(Model next, SimulationOptions options, double step, const std::string& entry) {
    const std::vector<std::string> brought = joints_brought(model(), next);
    TransferLimits limits;
    if (!brought.empty()) limits.move = snap_distance();
    try {
        return take_over(next, options, step, limits, entry);
    } catch (const ModelError&) {
        if (brought.empty()) throw;
        const Model direct = next;
        for (const std::string& joint : brought)
            start_closing(*simulation_, next, next.joints.find(joint), session_options_.closing_frequency);
        EditReport report = take_over(next, std::move(options), step, {}, entry);
        follow_change(direct, next);
        return report;
    }
}

EditReport Session::perform_edit(const AddElement& edit) {
    if (edit.section == "forces" && edit.name == pull_name)
        throw ModelError(fmt::format("'{}' is the name of the mouse's pull", pull_name));
    Model next = plain_model();
    add_element(next, edit.section, edit.name, edit.yaml);
    place_new_elements(*simulation_, next);
    const std::string entry = fmt::format("add {}.{}", edit.section, edit.name);
    const bool can_move = edit.section == "joints" || edit.section == "drivers";
    TransferLimits limits;
    if (can_move) limits.move = snap_distance();
    if (!edit.closes_gradually) {
        try {
            return take_over(std::move(next), options(), step_, limits, entry);
        } catch (const ModelError& error) {
            if (edit.section != "joints") throw;
            throw ModelError(
                fmt::format("{}; 'close {}.{} ...' draws the ends together", error.what(), edit.section, edit.name));
        }
    }
    return take_over_and_close(std::move(next), options(), step_, entry);
}

EditReport Session::perform_edit(const RemoveElement& edit) {
    Model next = plain_model();
    const std::vector<std::string> removed = remove_element(next, edit.section, edit.name, edit.with_dependents);
    EditReport report =
        take_over(std::move(next), options(), step_, {}, fmt::format("remove {}.{}", edit.section, edit.name));
    if (removed.size() > 1)
        report.message += fmt::format(", with {}", fmt::join(removed.begin() + 1, removed.end(), ", "));
    return report;
}

EditReport Session::perform_edit(const SetProperty& edit) {
    Model next = plain_model();
    set_property(next, edit.path, edit.yaml);
    return take_over_and_close(std::move(next), options(), step_, fmt::format("set {} {}", edit.path, edit.yaml));
}

EditReport Session::perform_edit(const LockJoint& edit) {
    const auto handle = model().joints.find(edit.joint);
    if (handle.is_null())
        throw ModelError(
            fmt::format("there is no joint '{}'{}", edit.joint, did_you_mean(edit.joint, model().joints.names())));
    const Joint& joint = model().joints.get(handle);
    if (joint.between() == nullptr)
        throw ModelError(fmt::format("joint '{}' joins no two bodies that could be held", edit.joint));
    if (!model().joints.find(lock_name(edit.joint)).is_null())
        throw ModelError(fmt::format("joint '{}' is locked already", edit.joint));
    const auto body_of = [&](MarkerHandle m) { return model().bodies.get(model().markers.get(m).body).name; };
    // Where the second body's frame is now; any place would do.
    Model next = plain_model();
    const std::string first = body_of(joint.between()->first);
    const std::string second = body_of(joint.between()->second);
    const Vec3 at = simulation_->body_frame(second).position;
    add_element(next, "joints", lock_name(edit.joint),
                next.planar
                    ? fmt::format("{{fixed: [{}, {}], at: [{}, {}]}}", first, second, at.x(), at.y())
                    : fmt::format("{{fixed: [{}, {}], at: [{}, {}, {}]}}", first, second, at.x(), at.y(), at.z()));
    place_new_elements(*simulation_, next);
    return take_over(std::move(next), options(), step_, {}, "lock " + edit.joint);
}

EditReport Session::perform_edit(const UnlockJoint& edit) {
    if (model().joints.find(lock_name(edit.joint)).is_null())
        throw ModelError(fmt::format("joint '{}' is not locked", edit.joint));
    Model next = plain_model();
    remove_element(next, "joints", lock_name(edit.joint), true);
    return take_over(std::move(next), options(), step_, {}, "unlock " + edit.joint);
}

EditReport Session::perform_edit(const PullMarker& edit) {
    if (!edit.target.allFinite()) throw ModelError("the target is not finite");
    const MarkerHandle marker = model().marker(edit.marker);
    const BodyHandle body = model().markers.get(marker).body;
    if (body == model().ground()) throw ModelError("the ground cannot be pulled");
    const Pull* known = find_pull();
    if (known != nullptr && known->marker == marker && !edit.stiffness && !edit.damping) {
        simulation_->move_target(pull_name, edit.target);
        return {};
    }
    const double mass = ModelEvaluation(model()).mass_properties(body).mass;
    for (const auto& gain : {edit.stiffness, edit.damping})
        if (gain && !(*gain >= 0 && std::isfinite(*gain)))
            throw ModelError(fmt::format("stiffness and damping of a pull must not be negative, found {}", *gain));
    const double stiffness = edit.stiffness.value_or((mass > 0 ? mass : 1.0) * pull_frequency * pull_frequency);
    Pull pull{.name = pull_name,
              .marker = marker,
              .stiffness = stiffness,
              .damping = edit.damping.value_or(2 * std::sqrt(stiffness * (mass > 0 ? mass : 1.0)))};
    for (int k = 0; k < 3; ++k) pull.target[k] = Number(model().planar && k == 2 ? 0.0 : edit.target[k]);
    Model next = plain_model();
    next.add(std::move(pull));
    return change_pull(std::move(next));
}

EditReport Session::perform_edit(const ReleaseMarker&) {
    if (model().forces.find(pull_name).is_null()) throw ModelError("nothing is being pulled");
    return change_pull(plain_model());
}

EditReport Session::change_pull(Model next) {
    EditReport report;
    report.transfer = simulation_->transfer(std::move(next), options());
    const Uninterrupted hold;
    report.is_compiled = true;
    ++compilations_;
    watch_rules();
    return report;
}

EditReport Session::perform_edit(const ApplyImpulse& edit) {
    if (!edit.impulse.allFinite() || !edit.moment.allFinite()) throw ModelError("the impulse is not finite");
    const Uninterrupted hold;
    EditReport report;
    report.transfer = simulation_->apply_impulse(edit.marker, edit.impulse, edit.moment);
    report.message = fmt::format("impulse on {}{}", edit.marker, describe_transfer(report.transfer));
    return report;
}

EditReport Session::perform_edit(const UseOption& edit) {
    SimulationOptions next = options();
    double step = step_;
    if (edit.name == "formulation") {
        next.formulation = find_formulation(edit.value).name;
        next.coordinates.clear();
    } else if (edit.name == "integrator") {
        next.integrator = find_integrator(edit.value).name;
    } else if (edit.name == "coordinates") {
        parse_coordinate_kind(edit.value);
        next.coordinates = edit.value;
    } else if (edit.name == "division") {
        next.modular.division = edit.value == "none" ? "" : edit.value;
    } else if (edit.name == "step") {
        step = Expression::parse(edit.value).bind({}).constant();
        if (!(step >= shortest_session_step && step <= longest_session_step))
            throw ModelError(
                fmt::format("the step must be a positive number of seconds, 1e-12 to 1e6, found '{}'", edit.value));
    } else {
        set_option(next, edit.name, edit.value);
    }
    const std::string idle = explain_no_effect(edit.name, next, model());
    EditReport report =
        take_over(plain_model(), std::move(next), step, {}, fmt::format("use {} {}", edit.name, edit.value));
    // The next edit may bring what it needs, so it is kept; but not in silence.
    if (report.ok && !idle.empty()) notes_.push_back({time(), idle});
    return report;
}

EditReport Session::perform_edit(const UndoEdit&) {
    return take_back(false);
}

EditReport Session::perform_edit(const RedoEdit&) {
    return take_back(true);
}

EditReport Session::perform_edit(const RenewSolvers&) {
    const Uninterrupted hold;
    simulation_->renew();
    return {};
}

// Edits can always be taken back: joints that the motion of now does not allow are there again, but without effect.
EditReport Session::take_over_disabling(Model next, SimulationOptions options, double step, std::string& remark) {
    const std::vector<std::vector<std::string>> choices = joints_in_the_way(model(), next);
    const auto attempt = [&](const std::vector<std::string>& disabled) {
        Model without = next;
        for (const std::string& name : disabled) {
            Joint& joint = without.joints.get(without.joints.find(name));
            joint.closing.clear();
            joint.is_disabled = true;
        }
        EditReport report = take_over(without, options, step, {}, "");
        follow_change(next, without);
        remark = fmt::format(", disabled: {}", fmt::join(disabled, ", "));
        return report;
    };
    for (std::size_t i = 0; i + 1 < choices.size(); ++i) {
        try {
            return attempt(choices[i]);
        } catch (const ModelError&) {
            continue;  // the last one tells what is wrong
        }
    }
    return attempt(choices.back());
}

EditReport Session::take_back(bool forwards) {
    auto& from = forwards ? redo_ : undo_;
    if (from.empty()) throw ModelError(forwards ? "there is nothing to redo" : "there is nothing to undo");
    const auto entry = from.back();
    Model next = plain_model();
    if (forwards) {
        entry->change.repeat(next);
    } else {
        entry->change.revert(next);
    }
    SimulationOptions next_options = forwards ? entry->options_after : entry->options_before;
    const double step = forwards ? entry->step_after : entry->step_before;
    const std::string name = fmt::format("{} '{}'", forwards ? "redo" : "undo", entry->edit);
    EditReport report;
    std::string remark;
    try {
        report = take_over_and_close(next, next_options, step, "");
    } catch (const ModelError&) {
        report = take_over_disabling(std::move(next), std::move(next_options), step, remark);
    }
    report.message = name + describe_transfer(report.transfer) + remark;
    auto& to = forwards ? undo_ : redo_;
    to.push_back(from.back());
    from.pop_back();
    return report;
}

}  // namespace limber
