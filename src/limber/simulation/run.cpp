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
    explicit Runner(Simulation& simulation) : simulation_(&simulation) {
        const Energies energies = simulation.observer().compute_energies(simulation.state());
        start_energy_ = energies.kinetic + energies.potential + energies.impact_loss;
        work_.start(energies.power);
    }
    explicit Runner(Session& session) : session_(&session) {}

    void resume(const RunCheckpoint& from) {
        work_ = from.work;
        start_energy_ = from.start_energy;
    }
    /// The stepper forgets its past, so that going on and resuming are the same.
    void save(RunCheckpoint& to) {
        simulation_->forget_past();
        to.state = simulation_->state();
        to.work = work_;
        to.start_energy = start_energy_;
    }
    bool is_session() const { return session_ != nullptr; }
    bool is_divided() const { return simulation().options().modular.is_on(); }

    Observer& observer() const { return session_ != nullptr ? session_->observer() : simulation_->observer(); }
    const State& state() const { return simulation().state(); }
    double time() const { return simulation().time(); }
    double work() const { return session_ != nullptr ? session_->work() : work_.work(); }
    /// Counts changes of what can be observed.
    long changes() const { return session_ != nullptr ? session_->compilations() : 0; }

    StepReport step(double h) { return session_ != nullptr ? session_->step_by(h) : simulation_->step(h); }
    /// After a step: what does not balance.
    double balance(const Energies& energies, double h) {
        if (session_ != nullptr) return session_->energy_drift();
        work_.add_step(energies.power, h);
        return energies.kinetic + energies.potential + energies.impact_loss - work_.work() - start_energy_;
    }

private:
    const Simulation& simulation() const { return session_ != nullptr ? session_->simulation() : *simulation_; }

    Simulation* simulation_ = nullptr;
    Session* session_ = nullptr;
    WorkIntegrator work_;
    double start_energy_ = 0;
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
        const Energies energies = observer.compute_energies(runner_.state());
        least_kinetic_ = most_kinetic_ = energies.kinetic;
        find_columns();
        look();
    }

    void resume(const RunCheckpoint& from) {
        if (from.so_far.table.columns != result_.table.columns)
            throw ModelError("the checkpoint has other sensors than the model");
        result_ = from.so_far;
        least_kinetic_ = from.least_kinetic;
        most_kinetic_ = from.most_kinetic;
        look();
    }
    void save(RunCheckpoint& to) const {
        to.so_far = result_;
        to.least_kinetic = least_kinetic_;
        to.most_kinetic = most_kinetic_;
    }

    void after_step(double h, int iterations) {
        questions_ = iterations;
        const Energies energies = runner_.observer().compute_energies(runner_.state());
        RunSummary& summary = result_.summary;
        summary.contact_loss = energies.impact_loss;
        summary.energy_drift = std::max(summary.energy_drift, std::abs(runner_.balance(energies, h)));
        least_kinetic_ = std::min(least_kinetic_, energies.kinetic);
        most_kinetic_ = std::max(most_kinetic_, energies.kinetic);
        summary.exchanged_energy = most_kinetic_ - least_kinetic_;
        if (runner_.changes() != changes_) find_columns();
        look();
    }

    void record() {
        result_.table.values.push_back(runner_.time());
        result_.table.values.insert(result_.table.values.end(), values_.begin(), values_.end());
        if (is_divided_) result_.table.values.push_back(questions_);
    }

    bool is_finite() const {
        for (std::size_t i = 0; i < values_.size(); ++i)
            if (place_[i] < observed_.size() && !std::isfinite(values_[i])) return false;
        return std::isfinite(result_.summary.energy_drift);
    }

private:
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
        const ConstraintErrors errors = observer.compute_errors(runner_.state());
        summary.errors.position = std::max(summary.errors.position, errors.position);
        summary.errors.velocity = std::max(summary.errors.velocity, errors.velocity);
        summary.errors.acceleration = std::max(summary.errors.acceleration, errors.acceleration);
        summary.errors.complementarity = std::max(summary.errors.complementarity, errors.complementarity);
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
    double least_kinetic_ = 0, most_kinetic_ = 0;
};

RunResult run(Runner runner, const RunOptions& options) {
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
            summary.failure = fmt::format("the step from t = {:.9g} failed: {}", runner.time(), report.reason);
            break;
        }
        ++summary.steps;
        summary.events.insert(summary.events.end(), report.events.begin(), report.events.end());
        summary.divided_steps += report.substeps > 1 ? 1 : 0;
        monitor.after_step(h, report.iterations);
        if (!monitor.is_finite()) {
            summary.ok = false;
            summary.failure = fmt::format("a sensor or the energy is not finite after t = {:.9g}", runner.time() - h);
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
    summary.reached = runner.time();
    summary.real_time_factor = summary.wall_time > 0 ? (summary.reached - start) / summary.wall_time : 0;
    return result;
}

}  // namespace

RunResult run(Simulation& simulation, const RunOptions& options) {
    return run(Runner(simulation), options);
}

RunResult run(Session& session, const RunOptions& options) {
    return run(Runner(session), options);
}

}  // namespace limber
