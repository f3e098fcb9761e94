#include "limber/analysis/study.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <ctime>
#include <sstream>

#include "limber/io/results.hpp"
#include "limber/model/error.hpp"
#include "limber/model/expression.hpp"
#include "limber/simulation/run.hpp"

namespace limber {
namespace {

using Clock = std::chrono::steady_clock;

double cpu_seconds() {
    timespec now{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

SimulationOptions options_of(const StudyPoint& point, SimulationOptions options) {
    options.formulation = point.formulation;
    options.integrator = point.integrator;
    if (!std::isnan(point.parameter))
        set_option(options, find_integrator(point.integrator).parameter, fmt::format("{}", point.parameter));
    return options;
}

std::vector<std::size_t> find_columns(const std::vector<std::string>& sensors, const Model& model,
                                      const std::vector<std::string>& columns) {
    ResultTable table;
    table.columns = columns;
    std::vector<std::size_t> result;
    const auto add = [&](const std::string& name) {
        const auto found = table.find(name);
        result.insert(result.end(), found.begin(), found.end());
        return !found.empty();
    };
    for (const std::string& name : sensors)
        if (!add(name))
            throw ModelError(fmt::format("there is no sensor '{}'{}; known: {}", name, did_you_mean(name, columns),
                                         fmt::join(columns, ", ")));
    if (!sensors.empty()) return result;
    for (const auto handle : model.sensors.handles()) {
        const Sensor& sensor = model.sensors.get(handle);
        if (sensor.as<Position>() != nullptr || sensor.as<CoordinateSensor>() != nullptr) add(sensor.name);
    }
    if (result.empty()) throw ModelError("the model has no position or coordinate sensor to compare by; name others");
    return result;
}

// The run that is looked at.
StudyRun run_to_look(const Model& model, const StudyPoint& point, const StudyOptions& options) {
    Simulation simulation(model, options_of(point, options.simulation));
    const auto columns = find_columns(options.sensors, model, simulation.observer().columns());
    RunOptions run_options{.until = options.until, .step = point.step};
    if (!options.instants.empty()) run_options.until = options.instants.back();
    run_options.instants = options.instants;
    run_options.should_stop = options.should_stop;
    run_options.longest = options.longest_run;
    const auto [table, summary] = run(simulation, run_options);

    StudyRun result{.point = point, .failure = summary.failure, .is_stopped = summary.is_stopped};
    if (summary.is_stopped) result.failure = "stopped";
    result.energy_drift = summary.energy_drift;
    result.exchanged_energy = summary.exchanged_energy;
    result.constraint_errors = summary.errors;
    result.iterations_per_step =
        static_cast<double>(summary.iterations) / static_cast<double>(std::max(1L, summary.steps));
    for (std::size_t row = 0; row < table.rows(); ++row) {
        result.path.times.push_back(table.at(row, 0));
        std::vector<double>& values = result.path.values.emplace_back();
        for (const std::size_t k : columns) values.push_back(table.at(row, k + 1));
    }
    return result;
}

// The stepping alone: to look between steps would leave the caches cold.
void measure_time(const Model& model, const StudyOptions& options, StudyRun& run) {
    run.cpu_time = run.slowest_step = std::numeric_limits<double>::infinity();
    for (int repeat = 0; repeat < std::max(1, options.repeats); ++repeat) {
        Simulation simulation(model, options_of(run.point, options.simulation));
        double slowest = 0;
        const double start = cpu_seconds();
        auto last = Clock::now();
        while (simulation.time() < options.until - 1e-9 * run.point.step) {
            if (options.is_stopped()) {
                run.is_stopped = true;
                return;
            }
            if (!simulation.step(std::min(run.point.step, options.until - simulation.time())).ok) break;
            const auto now = Clock::now();
            slowest = std::max(slowest, std::chrono::duration<double>(now - last).count());
            last = now;
        }
        run.cpu_time = std::min(run.cpu_time, cpu_seconds() - start);
        run.slowest_step = std::min(run.slowest_step, slowest);
    }
}

}  // namespace

StudyRun run_study_point(const Model& model, const StudyPoint& point, const StudyOptions& options) {
    StudyRun run = run_to_look(model, point, options);
    if (run.is_done()) measure_time(model, options, run);
    return run;
}

double compute_rms_error(const SensorPath& path, const SensorPath& reference) {
    double sum = 0;
    std::size_t count = 0;
    for (std::size_t j = 0; j < std::min(path.values.size(), reference.values.size()); ++j)
        for (std::size_t i = 0; i < path.values[j].size(); ++i, ++count)
            sum += std::pow(path.values[j][i] - reference.values[j][i], 2);
    return std::sqrt(sum / static_cast<double>(count));
}

double compute_path_error(const SensorPath& path, const SensorPath& reference) {
    const std::size_t sensors = path.values.front().size();
    std::vector<double> squares(sensors, 0.0);
    std::size_t next = 1;  // the first instant of the reference not before that of the run
    for (std::size_t j = 0; j < path.times.size(); ++j) {
        while (next + 1 < reference.times.size() && reference.times[next] < path.times[j]) ++next;
        const double part =
            (path.times[j] - reference.times[next - 1]) / (reference.times[next] - reference.times[next - 1]);
        for (std::size_t i = 0; i < sensors; ++i) {
            const double z = (1 - part) * reference.values[next - 1][i] + part * reference.values[next][i];
            squares[i] += std::pow(path.values[j][i] - z, 2);
        }
    }
    double sum = 0;
    for (const double square : squares) sum += std::sqrt(square);
    return sum / static_cast<double>(sensors * path.times.size());
}

Study run_study(const Model& model, const std::vector<StudyPoint>& points, const StudyOptions& options,
                double reference_step, const StudyProgress& progress) {
    Study study;
    const auto carry_out = [&](const StudyPoint& point) {
        if (progress) progress(point);
        return run_study_point(model, point, options);
    };
    const auto reference_of = [&](const std::string& formulation) -> const StudyRun& {
        for (const StudyRun& run : study.references)
            if (run.point.formulation == formulation) return run;
        study.references.push_back(
            carry_out({formulation, "trapezoidal", std::numeric_limits<double>::quiet_NaN(), reference_step}));
        return study.references.back();
    };
    for (const StudyPoint& point : points) {
        const StudyRun& reference = reference_of(point.formulation);
        StudyRun run = carry_out(point);
        if (run.is_stopped || reference.is_stopped) break;
        if (run.is_done() && reference.is_done()) run.error = compute_path_error(run.path, reference.path);
        run.path = {};
        study.runs.push_back(std::move(run));
    }
    return study;
}

std::vector<StudyRun> find_accepted(std::span<const StudyRun> runs, const Acceptance& acceptance) {
    const auto is_within = [&](const StudyRun& run) {
        return run.is_done() && run.error < acceptance.error && run.energy_drift < acceptance.energy_drift;
    };
    const auto is_same_method = [](const StudyPoint& a, const StudyPoint& b) {
        const bool is_same_parameter =
            a.parameter == b.parameter || (std::isnan(a.parameter) && std::isnan(b.parameter));
        return a.formulation == b.formulation && a.integrator == b.integrator && is_same_parameter;
    };
    std::vector<StudyRun> accepted;
    for (const StudyRun& run : runs)
        if (std::all_of(runs.begin(), runs.end(), [&](const StudyRun& other) {
                return !is_same_method(run.point, other.point) || other.point.step > run.point.step || is_within(other);
            }))
            accepted.push_back(run);
    return accepted;
}

const StudyRun* find_most_efficient(std::span<const StudyRun> runs, double accepted_error,
                                    const std::string& formulation, const std::string& integrator) {
    const StudyRun* best = nullptr;
    for (const StudyRun& run : runs)
        if (run.point.formulation == formulation && (integrator.empty() || run.point.integrator == integrator) &&
            run.is_done() && run.error < accepted_error && (best == nullptr || run.cpu_time < best->cpu_time))
            best = &run;
    return best;
}

// ---------------------------------------------------------------- points

std::vector<double> parse_values(const std::string& text) {
    const auto split = [](const std::string& whole, char separator) {
        std::vector<std::string> parts;
        std::istringstream stream(whole);
        for (std::string part; std::getline(stream, part, separator);) parts.push_back(part);
        return parts;
    };
    constexpr double max_values = 1e5;
    std::vector<double> values;
    for (const std::string& part : split(text, ',')) {
        std::vector<double> numbers;
        for (const std::string& number : split(part, ':'))
            numbers.push_back(Expression::parse(number).bind({}).constant());
        if (numbers.size() == 1) {
            values.push_back(numbers[0]);
            continue;
        }
        const double count = numbers.size() == 3 ? std::floor((numbers[1] - numbers[0]) / numbers[2] + 1e-9) : NAN;
        if (!(count >= 0 && count < max_values && numbers[2] != 0))
            throw ModelError(fmt::format("expected a value or a range FROM:TO:BY, found '{}'", part));
        for (int i = 0; i <= static_cast<int>(count); ++i) values.push_back(numbers[0] + i * numbers[2]);
        // The end itself, where rounding brings the last value next to it.
        if (std::abs(values.back() - numbers[1]) < 1e-8 * std::abs(numbers[2])) values.back() = numbers[1];
    }
    if (values.empty()) throw ModelError("expected a value or a range FROM:TO:BY, found nothing");
    return values;
}

std::vector<StudyPoint> make_study_points(const std::vector<std::string>& formulations,
                                          const std::vector<std::string>& integrators, const std::vector<double>& steps,
                                          const std::vector<Sweep>& sweeps) {
    for (const Sweep& sweep : sweeps) {
        std::vector<std::string> known;
        for (const std::string& name : integrators)
            if (const std::string& parameter = find_integrator(name).parameter; !parameter.empty())
                known.push_back(parameter);
        if (std::find(known.begin(), known.end(), sweep.name) == known.end())
            throw ModelError(fmt::format("no chosen integrator has a parameter '{}'{}; they have: {}", sweep.name,
                                         did_you_mean(sweep.name, known),
                                         known.empty() ? "none" : fmt::format("{}", fmt::join(known, ", "))));
    }
    std::vector<StudyPoint> points;
    for (const std::string& formulation : formulations)
        for (const std::string& name : integrators) {
            const IntegratorInfo& integrator = find_integrator(name);
            std::vector<double> parameters;
            for (const Sweep& sweep : sweeps)
                if (sweep.name == integrator.parameter)
                    parameters.insert(parameters.end(), sweep.values.begin(), sweep.values.end());
            if (parameters.empty()) parameters.push_back(std::numeric_limits<double>::quiet_NaN());
            for (const double parameter : parameters)
                for (const double step : steps)
                    points.push_back({find_formulation(formulation).name, integrator.name, parameter, step});
        }
    return points;
}

}  // namespace limber
