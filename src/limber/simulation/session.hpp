#pragma once
// A live session: a simulation with a clock that is a sequence of steps and edits and nothing else. Edits are applied
// between steps, each either wholly or not at all; they can be undone while the motion goes on, and one can go back in
// time and branch.
//
// The same model, options and sequence of steps and edits give the same bits: every `renewal` steps everything that is
// remembered beside the state is dropped, so that going on from a snapshot is the same as never having stopped.

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "limber/model/edit.hpp"
#include "limber/model/model_change.hpp"
#include "limber/model/typed_edits.hpp"
#include "limber/simulation/simulation.hpp"
#include "limber/simulation/warning.hpp"

namespace limber {

inline constexpr double shortest_session_step = 1e-12, longest_session_step = 1e6;  ///< [s]

/// For SessionOptions::renewal: solvers go on as they are, and the first snapshot is the only one.
inline constexpr long no_renewal = 1'000'000'000;

struct SessionOptions {
    double step = 1e-3;
    /// How far a body may jump when a joint is added; 0: a hundredth of the mechanism's typical length.
    double snap = 0;
    double closing_frequency = 15;              ///< [rad/s] of the drive that draws the ends of a joint together
    long renewal = 200;                         ///< steps between snapshots; or no_renewal
    std::size_t snapshot_memory = 256'000'000;  ///< bytes; beyond, every other snapshot is dropped
};

/// With the step that the model's section 'simulation' says.
SessionOptions session_options_of(const Model& model);

struct EditReport {
    bool ok = true;
    std::string reason;        ///< why it was refused
    std::string message;       ///< what was done, in plain words
    bool is_compiled = false;  ///< whether the mechanism was changed: everything about it must be asked anew
    TransferReport transfer;
};

/// Something the session did by itself: an event rule fired, a joint closed.
struct SessionNote {
    double time = 0;
    std::string text;
};

/// Everything that changes while a session runs: a value.
struct Situation {
    Model model;
    SimulationOptions options;
    double step = 1e-3;
    long steps = 0;  ///< made so far
    State state;
    EnergyAccount account;
    double longest_step = 0;  ///< see Observer::follow_step
    /// What can be taken back, and made again; the last is the next.
    struct Entry {
        std::string edit;
        ModelChange change;
        SimulationOptions options_before, options_after;
        double step_before = 0, step_after = 0;
    };
    std::vector<std::shared_ptr<const Entry>> undo, redo;
    /// Per event rule, by name: on which side of zero its condition was, and whether it is done with.
    struct RuleState {
        std::string name;
        int side = 0;
        bool is_done = false;
    };
    std::vector<RuleState> rules;
};

class Journal;
struct RunOptions;
struct RunResult;

/// Told of a part of a step, and of the work done before it.
using PartWatcher = std::function<void(const StepPath& path, double work)>;

class Session {
public:
    /// Throws ModelError like Simulation.
    Session(Model model, SimulationOptions options, SessionOptions session_options = {});
    /// As the model's own section 'simulation' says, its step included.
    explicit Session(const Model& model);
    /// Goes on from a snapshot, to the bit. What came before it can neither be undone nor gone back to.
    Session(const Situation& situation, const SessionOptions& session_options);
    ~Session();
    Session(Session&&) noexcept;
    Session& operator=(Session&&) noexcept;

    const Simulation& simulation() const { return *simulation_; }
    Observer& observer() { return simulation_->observer(); }
    const Model& model() const { return simulation_->model(); }
    const SimulationOptions& options() const { return simulation_->options(); }
    const SessionOptions& session_options() const { return session_options_; }
    double time() const { return simulation_->time(); }
    double step_length() const { return step_; }
    long steps() const { return steps_; }
    /// Counts every change of the mechanism.
    long compilations() const { return compilations_; }
    /// Whether the model changes itself.
    bool has_events() const { return !rules_.empty(); }
    bool can_undo() const { return !undo_.empty(); }
    bool can_redo() const { return !redo_.empty(); }
    std::string next_undo() const { return undo_.empty() ? "" : undo_.back()->edit; }
    std::string next_redo() const { return redo_.empty() ? "" : redo_.back()->edit; }
    /// Earliest and latest time one can go to.
    double first_time() const;
    double last_time() const;
    /// Energy put in by everything that has no potential, without edits.
    double work() const { return simulation_->account().work; }
    /// See EnergyAccount.
    double energy_drift();
    /// See warning.hpp.
    std::vector<Warning> find_warnings() { return limber::find_warnings(*simulation_); }

    /// Applies an edit, or refuses it with a reason and changes nothing. If there is a journal, the edit is written
    /// before it is applied; what cannot be written is refused.
    EditReport apply(const Edit& edit);
    /// The same with values of the model's own types in place of words.
    EditReport apply(const TypedEdit& edit);
    /// The same from text; what cannot be read is refused.
    EditReport apply(const std::string& edit);
    /// One step, with the events inside it. On failure the state is the last good one.
    StepReport step() { return step_by(step_); }
    /// The same with another length.
    StepReport step_by(double h);
    /// Steps until `end`, as many whole ones as fit.
    StepReport advance(double end);
    /// What the session has done by itself since last asked.
    std::vector<SessionNote> take_notes();

    /// From now on every edit and every step goes to a journal, beginning with the model.
    void record(std::shared_ptr<Journal> journal);
    /// Called after every part of a step that is smooth or has stops only, before the edits of an event at its end.
    /// Parts are taken back, and come again, where a step is repeated. Empty: nobody is called.
    void watch_parts(PartWatcher watcher) { watch_part_ = std::move(watcher); }

    /// A number that two sessions share only if model, options, clock, state and all that the session has added up are
    /// the same to the bit.
    std::uint64_t fingerprint() const;

private:
    friend RunResult run(Simulation& simulation, const RunOptions& options);
    /// A plain run: without events and without a way back, and the simulation stays the caller's.
    explicit Session(Simulation& simulation);

    struct Mark {  // an edit on the tape
        long steps = 0;
        Edit edit;
    };

    /// Before anything else goes on after a step that failed. False: the journal cannot be written.
    bool renew_solvers();
    EditReport perform(const Edit& edit);
    EditReport perform_edit(const AddElement& edit);
    EditReport perform_edit(const RemoveElement& edit);
    EditReport perform_edit(const SetProperty& edit);
    EditReport perform_edit(const LockJoint& edit);
    EditReport perform_edit(const UnlockJoint& edit);
    EditReport perform_edit(const PullMarker& edit);
    EditReport perform_edit(const ReleaseMarker& edit);
    EditReport perform_edit(const ApplyImpulse& edit);
    EditReport perform_edit(const UseOption& edit);
    EditReport perform_edit(const UndoEdit& edit);
    EditReport perform_edit(const RedoEdit& edit);
    EditReport perform_edit(const RenewSolvers& edit);
    EditReport perform_edit(const GoToTime& edit);
    void rerun(const Situation& from, double until);
    /// The new model takes over, and can be undone if `entry` says what to call it.
    EditReport take_over(Model model, SimulationOptions options, double step, const TransferLimits& limits,
                         const std::string& entry);
    /// The same; ends of joints that the new model brings, and that are too far apart, are drawn together.
    EditReport take_over_and_close(Model model, SimulationOptions options, double step, const std::string& entry);
    /// The same for undo and redo where that fails: joints that are in the way have no effect, which `remark` says.
    EditReport take_over_disabling(Model model, SimulationOptions options, double step, std::string& remark);
    EditReport take_back(bool forwards);
    EditReport change_pull(Model next);
    /// Constraint error of joints that cannot be closed, over the typical length: more than gains may leave.
    static constexpr double torn = 2e-5;

    /// The model without the pull of the mouse, which is no part of what is undone. Edits start from it.
    Model plain_model() const;
    /// The pull of the mouse; null: there is none.
    const Pull* find_pull() const;
    std::uint64_t fingerprint_of_model() const;
    /// A plain model takes over; the pull goes on if what it holds is still there.
    TransferReport transfer(Model plain, SimulationOptions options, TransferLimits limits);
    double snap_distance() const;

    /// Of the simulation, in a part of a step that is made for good.
    StepReport make_part(double h) { return simulation_->step(h, watch_part_ ? &path_ : nullptr); }
    StepReport step_with_events(double h);
    StepReport step_through_events(double h, std::optional<Situation>& before_edits);
    bool is_renewed_here() const;
    StepReport step_while_closing(double h);
    /// A state of the simulation and what was counted until then.
    struct Moment {
        State state;
        EnergyAccount account;
    };
    Moment present() const { return {simulation_->state(), simulation_->account()}; }
    void go_back(const Moment& moment) { simulation_->restore(moment.state, moment.account); }
    StepReport fire_events(const Moment& before, double h, double& done, std::optional<Situation>& before_edits);
    double find_event(const Moment& before, std::size_t rule, double h, double start_value);
    void watch_rules();
    void close_joints();
    bool give_up_closing();
    void follow_change(const Model& from, const Model& to);

    Situation capture() const;
    void restore(const Situation& situation);
    void keep_snapshot();
    void drop_future();

    SessionOptions session_options_;
    std::shared_ptr<Simulation> simulation_;  // its own, unless the run is a plain one
    double step_ = 1e-3;
    long steps_ = 0;
    long compilations_ = 0;
    std::vector<std::shared_ptr<const Situation::Entry>> undo_, redo_;
    std::vector<Situation::RuleState> rules_;
    std::vector<double> conditions_;
    std::vector<std::string> closing_;  // joints whose ends are being drawn together

    std::deque<Situation> snapshots_;
    std::vector<Mark> tape_;
    std::size_t tape_place_ = 0;  // edits before it have been made
    PartWatcher watch_part_;
    StepPath path_;
    struct {
        long compilations = -1;
        std::uint64_t fingerprint = 0;
    } mutable known_model_;  // when the fingerprint of the model was last taken

    double last_time_ = 0;
    bool is_rerunning_ = false;
    bool is_in_event_ = false;
    bool is_renewal_due_ = false;  // the solvers remember a step that failed

    std::vector<SessionNote> notes_;
    std::shared_ptr<Journal> journal_;
};

}  // namespace limber
