#include "limber/simulation/run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "limber/model/error.hpp"

namespace limber {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
}

// What is run: a simulation alone, or a session.
class Runner {
public:
    explicit Runner(Simulation& simulation) : simulation_(&simulation), was_watched_(simulation.watches_work()) {
        simulation.watch_work(true);
    }
    explicit Runner(Session& session) : session_(&session) {}
    ~Runner() {
        if (simulation_ != nullptr) simulation_->watch_work(was_watched_);
    }
    Runner(const Runner&) = delete;
    Runner& operator=(const Runner&) = delete;

    void resume(const RunCheckpoint& from) { work_ = from.work; }
    /// The stepper forgets its past, so that going on and resuming are the same.
    void save(RunCheckpoint& to) {
        simulation_->forget_past();
        to.state = simulation_->state();
        to.work = work_;
    }
    bool is_session() const { return session_ != nullptr; }
    bool is_divided() const { return simulation().options().modular.is_on(); }

    Observer& observer() const { return session_ != nullptr ? session_->observer() : simulation_->observer(); }
    const Simulation& simulation() const { return session_ != nullptr ? session_->simulation() : *simulation_; }
    const State& state() const { return simulation().state(); }
    double time() const { return simulation().time(); }
    double work() const { return session_ != nullptr ? session_->work() : work_; }
    /// Counts changes of what can be observed.
    long changes() const { return session_ != nullptr ? session_->compilations() : 0; }
    std::vector<Warning> warnings() const {
        return session_ != nullptr ? session_->find_warnings() : find_warnings(*simulation_);
    }

    StepReport step(double h) {
        if (session_ != nullptr) return session_->step_by(h);
        StepReport report = simulation_->step(h);
        work_ += report.work;
        return report;
    }
    /// What does not balance.
    double find_drift(const Energies& energies, double start) const {
        return session_ != nullptr ? session_->energy_drift() : energies.total() - work_ - start;
    }

private:
    Simulation* simulation_ = nullptr;
    Session* session_ = nullptr;
    bool was_watched_ = false;
    double work_ = 0;
};

// Of a divided mechanism: what the joints between components asked them in the step that ends there.
constexpr const char* questions_column = "gluing.questions";

// Follows a run: energy balance, constraint errors, sensor ranges.
class Monitor {
public:
    Monitor(Runner& runner, RunResult& result) : runner_(runner), result_(result), is_divided_(runner.is_divided()) {
        Observer& observer = runner_.observer();
        result_.table.columns = {"t"};
        for (const auto& name : observer.columns()) {
            result_.table.columns.push_back(name);
            result_.summary.sensors.push_back({name, 0, INFINITY, -INFINITY});
        }
        if (is_divided_) result_.table.columns.emplace_back(questions_column);
        energy_.begin(observer.compute_energies(runner_.state()), observer.compute_weight_energy(runner_.time()));
        find_columns();
        look();
    }

    void resume(const RunCheckpoint& from) {
        if (from.so_far.table.columns != result_.table.columns)
            throw ModelError("the checkpoint has other sensors than the model");
        result_ = from.so_far;
        energy_ = from.energy;
        turn_ = from.turn;
        look();
    }
    void save(RunCheckpoint& to) const {
        to.so_far = result_;
        to.energy = energy_;
        to.turn = turn_;
    }

    void after_step(double h, const StepReport& report) {
        questions_ = report.iterations;
        const Energies energies = runner_.observer().compute_energies(runner_.state());
        energy_.follow(energies, runner_.work(), runner_.find_drift(energies, energy_.start));
        RunSummary& summary = result_.summary;
        summary.contact_loss = energies.impact_loss;
        summary.energy_drift = energy_.drift;
        summary.exchanged_energy = energy_.exchanged();
        summary.work = energy_.work_done();
        turn_.follow(runner_.observer().find_fastest_turn(runner_.state()), h, report.substeps);
        if (runner_.changes() != changes_) find_columns();
        look();
    }

    /// Why the run must not go on; empty: it may.
    std::string find_failure(double h) const {
        if (!is_finite())
            return fmt::format("a sensor or the energy is not finite after t = {:.9g}", runner_.time() - h);
        const std::string runaway = find_runaway(energy_, errors_, runner_.simulation().system().length_scale(),
                                                 runner_.simulation().options().energy_bound, h);
        return runaway.empty() ? "" : fmt::format("at t = {:.6g} s {}", runner_.time(), runaway);
    }

    void add_warnings(double step) {
        const auto add = [&](const std::optional<Warning>& warning) {
            if (warning) result_.summary.warnings.push_back(*warning);
        };
        if (result_.summary.ok) add(find_drift_warning(energy_, step));
        const SimulationOptions& options = runner_.simulation().options();
        add(find_turn_warning(turn_, find_integrator(options.integrator).order));
    }

    void record() {
        result_.table.values.push_back(runner_.time());
        result_.table.values.insert(result_.table.values.end(), values_.begin(), values_.end());
        if (is_divided_) result_.table.values.push_back(questions_);
    }

private:
    bool is_finite() const {
        for (std::size_t i = 0; i < values_.size(); ++i)
            if (place_[i] < observed_.size() && !std::isfinite(values_[i])) return false;
        return std::isfinite(result_.summary.energy_drift);
    }

    // Where the sensors of the start are among those of now.
    void find_columns() {
        const auto& now = runner_.observer().columns();
        place_.clear();
        for (const SensorSummary& sensor : result_.summary.sensors)
            place_.push_back(static_cast<std::size_t>(std::find(now.begin(), now.end(), sensor.name) - now.begin()));
        changes_ = runner_.changes();
    }

    void look() {
        Observer& observer = runner_.observer();
        RunSummary& summary = result_.summary;
        errors_ = observer.compute_errors(runner_.state());
        summary.errors.position = std::max(summary.errors.position, errors_.position);
        summary.errors.velocity = std::max(summary.errors.velocity, errors_.velocity);
        summary.errors.acceleration = std::max(summary.errors.acceleration, errors_.acceleration);
        summary.errors.complementarity = std::max(summary.errors.complementarity, errors_.complementarity);
        observer.observe(runner_.state(), runner_.work(), observed_);
        values_.assign(place_.size(), std::nan(""));
        for (std::size_t i = 0; i < place_.size(); ++i) {
            if (place_[i] >= observed_.size()) continue;
            values_[i] = observed_[place_[i]];
            SensorSummary& sensor = summary.sensors[i];
            sensor.final = values_[i];
            sensor.min = std::min(sensor.min, values_[i]);
            sensor.max = std::max(sensor.max, values_[i]);
        }
    }

    Runner& runner_;
    RunResult& result_;
    std::vector<double> observed_, values_;
    std::vector<std::size_t> place_;  // of each sensor among the observed; beyond: gone
    long changes_ = 0;
    bool is_divided_ = false;  // at the start
    int questions_ = 0;
    EnergyRecord energy_;
    LargestTurn turn_;
    ConstraintErrors errors_;  // now
};

RunResult run(Runner& runner, const RunOptions& options) {
    RunResult result;
    RunSummary& summary = result.summary;
    if (runner.is_session() && (options.checkpoint_every > 0 || options.resume != nullptr))
        throw ModelError("a model with events cannot have checkpoints; its journal does what they do");
    const double start = options.resume != nullptr ? options.resume->start : runner.time();
    Monitor monitor(runner, result);
    long recorded = 0;
    if (options.resume != nullptr) {
        runner.resume(*options.resume);
        monitor.resume(*options.resume);
        recorded = options.resume->recorded;
    } else {
        summary.warnings = runner.warnings();
        monitor.record();
    }
    const auto checkpoint_after = [&](double t) {
        return start + (std::floor((t - start) / options.checkpoint_every + 1e-9) + 1) * options.checkpoint_every;
    };
    double next_checkpoint = checkpoint_after(runner.time());
    const double every = options.every > 0 ? options.every : options.step;
    const double tiny = 1e-9 * options.step;
    auto last_progress = Clock::now();
    while (runner.time() < options.until - tiny) {
        // The next whole step, cut short at an instant of output and at the end.
        const double next_output = start + static_cast<double>(recorded + 1) * every;
        const double target =
            std::min({start + std::floor((runner.time() - start) / options.step + 1 + 1e-9) * options.step, next_output,
                      options.until});
        const double h = target - runner.time();
        const auto before = Clock::now();
        const StepReport report = runner.step(h);
        summary.wall_time += seconds_since(before);
        summary.iterations += report.iterations;
        if (!report.ok) {
            summary.ok = false;
            summary.failure =
                fmt::format("the step from t = {:.9g} failed: {}", runner.time(),
                            report.reason.empty() ? "the solver found no motion; take a smaller step" : report.reason);
            break;
        }
        ++summary.steps;
        summary.events.insert(summary.events.end(), report.events.begin(), report.events.end());
        summary.divided_steps += report.substeps > 1 ? 1 : 0;
        monitor.after_step(h, report);
        summary.failure = monitor.find_failure(h);
        if (!summary.failure.empty()) {
            summary.ok = false;
            break;
        }
        if (runner.time() >= next_output - tiny || runner.time() >= options.until - tiny) {
            monitor.record();
            ++recorded;
        }
        if (options.checkpoint_every > 0 && runner.time() >= next_checkpoint - tiny) {
            next_checkpoint = checkpoint_after(runner.time());
            RunCheckpoint checkpoint;
            runner.save(checkpoint);
            monitor.save(checkpoint);
            checkpoint.start = start;
            checkpoint.recorded = recorded;
            if (options.keep) options.keep(checkpoint);
        }
        if (options.progress && seconds_since(last_progress) > 0.05) {
            options.progress(runner.time());
            last_progress = Clock::now();
        }
    }
    monitor.add_warnings(options.step);
    summary.reached = runner.time();
    summary.real_time_factor = summary.wall_time > 0 ? (summary.reached - start) / summary.wall_time : 0;
    return result;
}

}  // namespace

RunResult run(Simulation& simulation, const RunOptions& options) {
    Runner runner(simulation);
    return run(runner, options);
}

RunResult run(Session& session, const RunOptions& options) {
    Runner runner(session);
    return run(runner, options);
}

}  // namespace limber
