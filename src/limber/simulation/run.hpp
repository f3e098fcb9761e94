#pragma once
// A whole run: from the start to an end time, with a record of the sensors and a summary of how it went.

#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "limber/io/results.hpp"
#include "limber/simulation/energy_record.hpp"
#include "limber/simulation/session.hpp"

namespace limber {

struct RunCheckpoint;

struct RunOptions {
    double until = 10;
    double step = 1e-3;
    /// Interval of output; 0: every step. Steps are the same whatever it is: between their ends rows are interpolated
    /// (Simulation::interpolate).
    double every = 0;
    /// Instants of output in place of those of `every`, ascending. Steps end at them, and whole ones are counted anew
    /// from each. Not with checkpoints.
    std::vector<double> instants{};
    /// Interval of checkpoints in simulated time, each handed to `keep`; 0: none. Not for sessions
    /// with events or a way back, which have journals.
    double checkpoint_every = 0;
    std::function<void(const RunCheckpoint&)> keep{};
    /// What is run goes on from here; null: it starts.
    const RunCheckpoint* resume = nullptr;
    /// Called now and then with the time reached; may be empty.
    std::function<void(double t)> progress{};
    /// Asked before every step; true ends the run there. May be empty.
    std::function<bool()> should_stop{};
    /// Seconds of stepping after which a run counts as failed.
    double longest = std::numeric_limits<double>::infinity();
};

struct SensorSummary {
    std::string name;
    double final = 0, min = 0, max = 0;
};

struct RunSummary {
    bool ok = true;
    std::string failure;             ///< what went wrong, and when
    std::optional<LockReport> lock;  ///< if it failed because the drivers cannot go on
    bool is_stopped = false;         ///< ended because it was asked to
    double reached = 0;              ///< time of the last good state, with which the results end
    long steps = 0;
    long divided_steps = 0;  ///< steps that had to be cut in pieces
    long iterations = 0;
    double wall_time = 0;      ///< seconds spent advancing the solution, without recording and metering
    double metering_time = 0;  ///< seconds spent finding the work done, for the energy balance
    double real_time_factor = 0;
    double energy_drift = 0;             ///< largest |kinetic + potential + contact_loss - work - start|
    double contact_loss = 0;             ///< energy that stops and rigid contacts have taken
    double exchanged_energy = 0;         ///< range of the kinetic energy
    std::vector<ContactEvent> events;    ///< of stops: impacts, contacts that begin and end
    double work = 0;                     ///< range of the work of everything without a potential
    ConstraintErrors errors;             ///< largest seen
    std::vector<Warning> warnings;       ///< of the start and of the run
    std::vector<SensorSummary> sensors;  ///< over all steps
};

struct RunResult {
    ResultTable table;
    RunSummary summary;
};

/// A run half way. Steppers forget their past where one is made, so what follows is the same to the bit, gone on or
/// resumed.
struct RunCheckpoint {
    State state;
    double start = 0;  ///< time at the start of the run
    double work = 0;   ///< so far
    EnergyRecord energy;
    LargestTurn turn;
    double longest_step = 0;  ///< so far
    double interval = 0;      ///< of checkpoints [s]
    long recorded = 0;        ///< instants of output after the first
    RunResult so_far;

    EnergyAccount account() const { return {energy.start, work}; }
};

/// What the model's section 'simulation' says about end, step and output.
RunOptions run_options_of(const Model& model);

/// Without events.
RunResult run(Simulation& simulation, const RunOptions& options);
/// With the events of the model. Sensors that an event removes are not a number from then on.
RunResult run(Session& session, const RunOptions& options);
/// To an end time, with step and output as the model says.
template <class Moving>  // Simulation or Session
RunResult run_until(Moving& moving, double until) {
    RunOptions options = run_options_of(moving.model());
    options.until = until;
    return run(moving, options);
}

}  // namespace limber
