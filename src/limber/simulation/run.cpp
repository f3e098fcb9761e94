#include "limber/simulation/run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <span>

#include "limber/model/error.hpp"
#include "limber/model/evaluation.hpp"

namespace limber {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
}

constexpr double max_values = 1e9;  // of a table in memory

// Of a divided mechanism: what the joints between components asked them in the step that ends there.
constexpr const char* evaluations_column = "gluing.evaluations";

// Over the size of the mechanism.
constexpr double closed_joints = 1e-6;

// When rows are due: at given instants, or at intervals.
class RowTimes {
public:
    RowTimes(double start, double every, std::span<const double> instants)
        : start_(start), every_(every), instants_(instants) {}
    double at(long row) const {
        if (instants_.empty()) return start_ + static_cast<double>(row) * every_;
        const auto i = static_cast<std::size_t>(row - 1);
        return i < instants_.size() ? instants_[i] : std::numeric_limits<double>::infinity();
    }

private:
    double start_, every_;
    std::span<const double> instants_;
};

// Follows a run: energy balance, constraint errors, sensor ranges, rows of the table.
class Monitor {
public:
    Monitor(Session& session, RunResult& result, const RowTimes& row_instants)
        : session_(session),
          result_(result),
          row_instants_(row_instants),
          is_divided_(session.options().modular.is_on()) {
        Observer& observer = session_.observer();
        result_.table.columns = {"t"};
        for (const auto& name : observer.columns()) {
            result_.table.columns.push_back(name);
            result_.summary.sensors.push_back({name, 0, INFINITY, -INFINITY});
        }
        if (is_divided_) result_.table.columns.emplace_back(evaluations_column);
        energy_.begin(observer.compute_energies(state()), observer.compute_weight_energy(session_.time()));
        find_columns();
        look();
        keep();
    }

    void resume(const RunCheckpoint& from) {
        if (from.so_far.table.columns != result_.table.columns ||
            from.so_far.summary.sensors.size() != result_.summary.sensors.size())
            throw ModelError("the checkpoint has other sensors than the model");
        result_ = from.so_far;
        energy_ = from.energy;
        turn_ = from.turn;
        recorded_ = from.recorded;
        look();
        keep();
    }
    void save(RunCheckpoint& to) const {
        to.so_far = result_;
        to.energy = energy_;
        to.turn = turn_;
        to.recorded = recorded_;
    }

    /// Instants of output before this one are found within the step.
    void begin_step(double before) {
        before_ = before;
        rows_.clear();
        row_times_.clear();
    }

    // Rows within a part of a step, before which so much work was done. Those after its beginning are of an attempt
    // that was taken back.
    void add_rows(const StepPath& path, double work) {
        while (!row_times_.empty() && row_times_.back() > path.begin_time()) {
            row_times_.pop_back();
            rows_.resize(rows_.size() - place_.size());
        }
        if (session_.compilations() != changes_) find_columns();
        while (true) {
            const double t = row_instants_.at(recorded_ + 1 + static_cast<long>(row_times_.size()));
            if (!(t < before_ && t <= path.end_time())) return;
            session_.simulation().interpolate(path, t, between_);
            session_.observer().observe(between_, work + work_within(path, between_), observed_);
            row_times_.push_back(t);
            for (const std::size_t place : place_)
                rows_.push_back(place < observed_.size() ? observed_[place] : std::nan(""));
        }
    }

    /// Empty, or why the run must not go on: the state before the step is the last good one then.
    std::string after_step(double h, const StepReport& report, double tiny) {
        const Energies energies = session_.observer().compute_energies(state());
        const double drift = session_.simulation().account().find_drift(energies);
        if (session_.compilations() != changes_) find_columns();
        look();
        if (!std::isfinite(drift) || !std::isfinite(energies.kinetic) || !is_finite())
            return fmt::format("a sensor or the energy is not finite after t = {:.9g}", kept_time_);
        follow_energy(energies, drift);
        const std::string runaway = find_runaway(energy_, errors_, session_.simulation().system().length_scale(),
                                                 session_.options().energy_bound, h);
        if (!runaway.empty()) return fmt::format("at t = {:.6g} s {}", session_.time(), runaway);
        turn_.follow(session_.observer().find_fastest_turn(state()), h, report.substeps);
        evaluations_ = report.iterations;
        for (std::size_t i = 0; i < row_times_.size(); ++i)
            write_row(row_times_[i], std::span(rows_).subspan(i * place_.size(), place_.size()));
        recorded_ += static_cast<long>(row_times_.size());
        keep();
        if (next_row() < kept_time_ + tiny) {
            write_row(kept_time_, kept_);
            ++recorded_;
        }
        return {};
    }

    void add_warnings(double step) {
        const auto add = [&](const std::optional<Warning>& warning) {
            if (warning) result_.summary.warnings.push_back(*warning);
        };
        if (result_.summary.ok) add(find_drift_warning(energy_, step));
        const SimulationOptions& options = session_.options();
        add(find_turn_warning(turn_, find_integrator(options.integrator).order));
    }

    void record_start() { write_row(kept_time_, kept_); }
    /// The last good state is the last row, whatever the interval.
    void finish(double tiny) {
        const ResultTable& table = result_.table;
        if (table.at(table.rows() - 1, 0) < kept_time_ - tiny) write_row(kept_time_, kept_);
    }
    double reached() const { return kept_time_; }
    /// Instant of the next row.
    double next_row() const { return row_instants_.at(recorded_ + 1); }

    /// Of a run that has failed: some methods go on for a while with drivers that the mechanism cannot follow, and tear
    /// it apart. So the search begins where its joints were closed.
    void find_lock(double step) {
        RunSummary& summary = result_.summary;
        if (summary.lock || closed_.q.size() == 0) return;
        summary.lock = session_.simulation().find_lock(closed_, step, kept_time_);
        if (summary.lock) summary.failure = fmt::format("{} ({})", summary.lock->describe(), summary.failure);
    }

private:
    const State& state() const { return session_.simulation().state(); }

    void follow_energy(const Energies& energies, double drift) {
        energy_.follow(energies, session_.work(), drift);
        RunSummary& summary = result_.summary;
        summary.contact_loss = energies.impact_loss;
        summary.energy_drift = energy_.drift;
        summary.exchanged_energy = energy_.exchanged();
        summary.work = energy_.work_done();
    }

    void write_row(double t, std::span<const double> values) {
        std::vector<double>& table = result_.table.values;
        table.push_back(t);
        table.insert(table.end(), values.begin(), values.end());
        if (is_divided_) table.push_back(evaluations_);
    }

    // From the begin of a part to a state on it.
    double work_within(const StepPath& path, const State& state) {
        Observer& observer = session_.observer();
        if (!observer.has_work()) return 0;
        const WorkSource source = session_.simulation().work_source();
        const int last = path.find_piece(state.t);
        double work = 0;
        for (int piece = 0; piece < last; ++piece)
            work += observer.compute_work(path.begin_of(piece), path.end_of(piece), source);
        return work + observer.compute_work(path.begin_of(last), state, source);
    }

    bool is_finite() const {
        for (std::size_t i = 0; i < values_.size(); ++i)
            if (place_[i] < observed_.size() && !std::isfinite(values_[i])) return false;
        return true;
    }

    // Where the sensors of the start are among those of now.
    void find_columns() {
        const auto& now = session_.observer().columns();
        place_.clear();
        for (const SensorSummary& sensor : result_.summary.sensors)
            place_.push_back(static_cast<std::size_t>(std::find(now.begin(), now.end(), sensor.name) - now.begin()));
        changes_ = session_.compilations();
        closed_.q.resize(0);  // of another mechanism
    }

    void look() {
        Observer& observer = session_.observer();
        errors_ = observer.compute_errors(state());
        observer.observe(state(), session_.work(), observed_);
        values_.assign(place_.size(), std::nan(""));
        for (std::size_t i = 0; i < place_.size(); ++i)
            if (place_[i] < observed_.size()) values_[i] = observed_[place_[i]];
    }

    // What was looked at is good.
    void keep() {
        RunSummary& summary = result_.summary;
        summary.errors.position = std::max(summary.errors.position, errors_.position);
        summary.errors.velocity = std::max(summary.errors.velocity, errors_.velocity);
        summary.errors.acceleration = std::max(summary.errors.acceleration, errors_.acceleration);
        summary.errors.complementarity = std::max(summary.errors.complementarity, errors_.complementarity);
        for (std::size_t i = 0; i < place_.size(); ++i) {
            if (place_[i] >= observed_.size()) continue;
            SensorSummary& sensor = summary.sensors[i];
            sensor.final = values_[i];
            sensor.min = std::min(sensor.min, values_[i]);
            sensor.max = std::max(sensor.max, values_[i]);
        }
        kept_ = values_;
        kept_time_ = session_.time();
        if (errors_.position < closed_joints * session_.simulation().system().length_scale()) closed_ = state();
    }

    Session& session_;
    RunResult& result_;
    RowTimes row_instants_;
    long recorded_ = 0;  // instants of output after the first
    ConstraintErrors errors_;
    std::vector<double> observed_, values_;
    std::vector<double> kept_;  // of the last good state
    double kept_time_ = 0;
    double before_ = 0;
    std::vector<double> row_times_, rows_;  // within the step that is being made
    State between_;
    State closed_;                    // the last one in which the joints are
    std::vector<std::size_t> place_;  // of each sensor among the observed; beyond: gone
    long changes_ = 0;
    bool is_divided_ = false;  // at the start
    int evaluations_ = 0;
    EnergyRecord energy_;
    LargestTurn turn_;
};

void check_options(Session& session, const RunOptions& options, double start, double every) {
    const bool is_plain = session.session_options().renewal == no_renewal && !session.has_events();
    if (!is_plain && (options.checkpoint_every > 0 || options.resume != nullptr))
        throw ModelError("a model with events cannot have checkpoints; its journal does what they do");
    if (options.resume != nullptr && session.time() > options.until + 1e-9 * options.step)
        throw ModelError(fmt::format("the checkpoint is at t = {:g} s, after the end of the run, {:g} s",
                                     session.time(), options.until));
    if (!options.instants.empty() && (options.checkpoint_every > 0 || options.resume != nullptr))
        throw ModelError("runs with given instants of output cannot have checkpoints");
    const double columns = 2.0 + static_cast<double>(session.observer().columns().size());
    if ((options.until - start) / every * columns > max_values)
        throw ModelError(fmt::format("every {:g} s until {:g} s: {:.3g} rows are more than fit into memory", every,
                                     options.until, (options.until - start) / every));
}

// Rows between the ends of steps, as long as it lives.
class RowsBetween {
public:
    RowsBetween(Session& session, Monitor& monitor, bool is_wanted) : session_(session) {
        if (!is_wanted) return;
        session_.watch_parts([this, &monitor](const StepPath& path, double work) {
            const auto before = Clock::now();
            monitor.add_rows(path, work);
            time_ += seconds_since(before);
        });
    }
    ~RowsBetween() { session_.watch_parts({}); }
    RowsBetween(const RowsBetween&) = delete;
    RowsBetween& operator=(const RowsBetween&) = delete;
    /// Seconds that they took since last asked.
    double take_time() { return std::exchange(time_, 0.0); }

private:
    Session& session_;
    double time_ = 0;
};

// When the next checkpoint is due.
class CheckpointClock {
public:
    CheckpointClock(double start, double interval, double now) : start_(start), interval_(interval) { pass(now); }
    bool is_due(double t) const { return interval_ > 0 && t >= next_; }
    void pass(double t) {
        if (interval_ > 0) next_ = start_ + (std::floor((t - start_) / interval_ + 1e-9) + 1) * interval_;
    }

private:
    double start_, interval_, next_ = 0;
};

void keep_checkpoint(Session& session, const Monitor& monitor, const RunOptions& options, double start) {
    // So that going on and resuming are the same.
    if (const EditReport renewed = session.apply(Edit(RenewSolvers{})); !renewed.ok) throw ModelError(renewed.reason);
    RunCheckpoint checkpoint;
    checkpoint.state = session.simulation().state();
    checkpoint.work = session.work();
    checkpoint.longest_step = session.simulation().longest_step();
    monitor.save(checkpoint);
    checkpoint.start = start;
    checkpoint.interval = options.checkpoint_every;
    if (options.keep) options.keep(checkpoint);
}

// Watches the work, as long as it lives.
class WorkWatch {
public:
    explicit WorkWatch(Simulation& simulation) : simulation_(simulation) { simulation_.watch_work(true); }
    ~WorkWatch() { simulation_.watch_work(was_watched_); }
    WorkWatch(const WorkWatch&) = delete;
    WorkWatch& operator=(const WorkWatch&) = delete;

private:
    Simulation& simulation_;
    bool was_watched_ = simulation_.watches_work();
};

}  // namespace

RunResult run(Session& session, const RunOptions& options) {
    RunResult result;
    RunSummary& summary = result.summary;
    const double start = options.resume != nullptr ? options.resume->start : session.time();
    const double every = options.every > 0 ? options.every : options.step;
    const double tiny = 1e-9 * options.step;
    check_options(session, options, start, every);
    Monitor monitor(session, result, RowTimes(start, every, options.instants));
    if (options.resume != nullptr) {
        monitor.resume(*options.resume);
    } else {
        summary.warnings = session.find_warnings();
        monitor.record_start();
    }
    // Where all instants of output are ends of steps, there is nothing to find within them.
    const double ratio = every / options.step;
    const double off = std::abs(ratio - std::round(ratio)) * options.step * (options.until - start) / every;
    RowsBetween rows(session, monitor, options.instants.empty() && (ratio < 0.5 || off > tiny));
    double origin = start;  // of whole steps
    CheckpointClock checkpoints(start, options.checkpoint_every, session.time());
    auto last_progress = Clock::now();
    while (session.time() < options.until - tiny) {
        if (options.should_stop && options.should_stop()) {
            summary.is_stopped = true;
            break;
        }
        // The next whole step, cut short at the end and at instants of output only.
        const double whole = origin + std::floor((session.time() - origin) / options.step + 1 + 1e-9) * options.step;
        double target = std::min(whole, options.until);
        if (!options.instants.empty() && monitor.next_row() < target + tiny) origin = target = monitor.next_row();
        const double h = target - session.time();
        monitor.begin_step(target - tiny);
        const auto before = Clock::now();
        const double metered = session.simulation().metering_time();
        const StepReport report = session.step_by(h);
        const double metering = std::max(0.0, session.simulation().metering_time() - metered);
        summary.metering_time += metering;
        summary.wall_time += seconds_since(before) - metering - rows.take_time();
        summary.iterations += report.iterations;
        if (!report.ok) {
            summary.ok = false;
            summary.lock = session.simulation().lock();
            summary.failure =
                fmt::format("the step from t = {:.9g} failed: {}", session.time(),
                            report.reason.empty() ? "the solver found no motion; take a smaller step" : report.reason);
            break;
        }
        summary.failure = monitor.after_step(h, report, tiny);
        if (!summary.failure.empty()) {
            summary.ok = false;
            break;
        }
        if (summary.wall_time > options.longest) {
            summary.ok = false;
            summary.failure = fmt::format("given up after {:g} s of computing", options.longest);
            break;
        }
        ++summary.steps;
        summary.events.insert(summary.events.end(), report.events.begin(), report.events.end());
        summary.divided_steps += report.substeps > 1 ? 1 : 0;
        // Not where the last step was cut short: a longer run would not come there.
        if (checkpoints.is_due(session.time() + tiny) && target > whole - tiny) {
            checkpoints.pass(session.time());
            keep_checkpoint(session, monitor, options, start);
        }
        if (options.progress && seconds_since(last_progress) > 0.05) {
            options.progress(session.time());
            last_progress = Clock::now();
        }
    }
    if (!summary.ok) monitor.find_lock(options.step);
    monitor.finish(tiny);
    monitor.add_warnings(options.step);
    summary.reached = monitor.reached();
    summary.real_time_factor = summary.wall_time > 0 ? (summary.reached - start) / summary.wall_time : 0;
    return result;
}

RunResult run(Simulation& simulation, const RunOptions& options) {
    const WorkWatch watch(simulation);
    Session session(simulation);
    if (const RunCheckpoint* from = options.resume) {
        simulation.restore(simulation.state(), from->account());
        simulation.observer().follow_step(from->longest_step);
    }
    return run(session, options);
}

RunOptions run_options_of(const Model& model) {
    const SimulationDefaults& defaults = model.simulation;
    RunOptions options;
    const ModelEvaluation numbers(model);
    const auto take = [&](const std::optional<Number>& number, double& target, const char* what) {
        if (number) target = numbers.number(*number, fmt::format("simulation: {}", what));
    };
    take(defaults.until, options.until, "until");
    take(defaults.step, options.step, "step");
    take(defaults.every, options.every, "every");
    return options;
}

}  // namespace limber
