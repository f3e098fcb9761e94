#include "limber/simulation/run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

namespace limber {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
}

// Follows a run: energy balance, constraint errors, sensor ranges.
class Monitor {
public:
    Monitor(Simulation& simulation, RunResult& result) : simulation_(simulation), result_(result) {
        Observer& observer = simulation_.observer();
        result_.table.columns = {"t"};
        for (const auto& name : observer.columns()) {
            result_.table.columns.push_back(name);
            result_.summary.sensors.push_back({name, 0, INFINITY, -INFINITY});
        }
        const Energies energies = observer.compute_energies(simulation_.state());
        start_energy_ = energies.kinetic + energies.potential;
        least_kinetic_ = most_kinetic_ = energies.kinetic;
        work_.start(energies.power);
        look();
    }

    void after_step(double h) {
        const Energies energies = simulation_.observer().compute_energies(simulation_.state());
        work_.add_step(energies.power, h);
        const double balance = energies.kinetic + energies.potential - work_.work() - start_energy_;
        RunSummary& summary = result_.summary;
        summary.energy_drift = std::max(summary.energy_drift, std::abs(balance));
        least_kinetic_ = std::min(least_kinetic_, energies.kinetic);
        most_kinetic_ = std::max(most_kinetic_, energies.kinetic);
        summary.exchanged_energy = most_kinetic_ - least_kinetic_;
        look();
    }

    void record() {
        result_.table.values.push_back(simulation_.time());
        result_.table.values.insert(result_.table.values.end(), values_.begin(), values_.end());
    }

    bool is_finite() const {
        return std::all_of(values_.begin(), values_.end(), [](double v) { return std::isfinite(v); }) &&
               std::isfinite(result_.summary.energy_drift);
    }

private:
    void look() {
        Observer& observer = simulation_.observer();
        RunSummary& summary = result_.summary;
        const ConstraintErrors errors = observer.compute_errors(simulation_.state());
        summary.errors.position = std::max(summary.errors.position, errors.position);
        summary.errors.velocity = std::max(summary.errors.velocity, errors.velocity);
        summary.errors.acceleration = std::max(summary.errors.acceleration, errors.acceleration);
        observer.observe(simulation_.state(), work_.work(), values_);
        for (std::size_t i = 0; i < values_.size(); ++i) {
            SensorSummary& sensor = summary.sensors[i];
            sensor.final = values_[i];
            sensor.min = std::min(sensor.min, values_[i]);
            sensor.max = std::max(sensor.max, values_[i]);
        }
    }

    Simulation& simulation_;
    RunResult& result_;
    std::vector<double> values_;
    WorkIntegrator work_;
    double start_energy_ = 0, least_kinetic_ = 0, most_kinetic_ = 0;
};

}  // namespace

RunResult run(Simulation& simulation, const RunOptions& options) {
    RunResult result;
    RunSummary& summary = result.summary;
    const double start = simulation.time();
    Monitor monitor(simulation, result);
    monitor.record();
    const double every = options.every > 0 ? options.every : options.step;
    const double tiny = 1e-9 * options.step;
    long recorded = 0;
    auto last_progress = Clock::now();
    while (simulation.time() < options.until - tiny) {
        // The next whole step, cut short at an instant of output and at the end.
        const double next_output = start + static_cast<double>(recorded + 1) * every;
        const double target =
            std::min({start + std::floor((simulation.time() - start) / options.step + 1 + 1e-9) * options.step,
                      next_output, options.until});
        const double h = target - simulation.time();
        const auto before = Clock::now();
        const StepReport report = simulation.step(h);
        summary.wall_time += seconds_since(before);
        summary.iterations += report.iterations;
        if (!report.ok) {
            summary.ok = false;
            summary.failure = fmt::format("the step from t = {:.9g} failed: {}", simulation.time(), report.reason);
            break;
        }
        ++summary.steps;
        summary.divided_steps += report.substeps > 1 ? 1 : 0;
        monitor.after_step(h);
        if (!monitor.is_finite()) {
            summary.ok = false;
            summary.failure =
                fmt::format("a sensor or the energy is not finite after t = {:.9g}", simulation.time() - h);
            break;
        }
        if (simulation.time() >= next_output - tiny || simulation.time() >= options.until - tiny) {
            monitor.record();
            ++recorded;
        }
        if (options.progress && seconds_since(last_progress) > 0.05) {
            options.progress(simulation.time());
            last_progress = Clock::now();
        }
    }
    summary.reached = simulation.time();
    summary.real_time_factor = summary.wall_time > 0 ? (summary.reached - start) / summary.wall_time : 0;
    return result;
}

}  // namespace limber
