// limber compare: the same model under several formulations, integrators and steps.

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <ctime>
#include <memory>

#include "common.hpp"
#include "limber/io/svg_plot.hpp"

namespace limber::app {
namespace {

struct CompareArguments {
    ModelArguments model;
    std::vector<std::string> formulations, integrators, steps, sensors;
    std::string until, output, plot;
    bool with_reference = false;
    int samples = 100;
};

struct Combination {
    std::string formulation, integrator;
    double step = 0;
};

struct Outcome {
    Combination combination;
    std::string failure;
    double cpu_time = 0, drift = 0, error = NAN;
    ConstraintErrors errors;
    double iterations_per_step = 0;
    std::vector<std::vector<double>> samples;  // sensor values at common instants
};

double cpu_seconds() {
    timespec now{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// Instants of comparison: about `samples`, at multiples of the largest step so that steps need not be cut.
std::vector<double> sample_instants(const std::vector<double>& steps, double until, int samples) {
    const double largest = *std::max_element(steps.begin(), steps.end());
    const double interval = std::max(1.0, std::round(until / samples / largest)) * largest;
    std::vector<double> instants;
    for (int i = 1; i * interval < until * (1 + 1e-9); ++i) instants.push_back(i * interval);
    if (instants.empty() || instants.back() < until * (1 - 1e-9)) instants.push_back(until);
    return instants;
}

// The stepping alone, without looking: for the clock.
double time_combination(const Model& model, const SimulationOptions& options, double step, double until) {
    Simulation simulation(model, options);
    const double before = cpu_seconds();
    simulation.advance(until, step);
    return cpu_seconds() - before;
}

Outcome run_combination(const Model& model, SimulationOptions options, const Combination& c,
                        const std::vector<double>& instants) {
    Outcome outcome;
    outcome.combination = c;
    options.formulation = c.formulation;
    options.integrator = c.integrator;
    Simulation simulation(model, options);
    Observer& observer = simulation.observer();
    std::vector<double> values;
    WorkIntegrator work;
    const auto balance = [&] {
        const Energies e = observer.compute_energies(simulation.state());
        return std::pair{e.kinetic + e.potential, e.power};
    };
    const auto [start_energy, start_power] = balance();
    work.start(start_power);
    observer.observe(simulation.state(), 0, values);
    outcome.samples.push_back(values);
    long steps = 0;
    long iterations = 0;
    for (const double end : instants) {
        while (simulation.time() < end - 1e-9 * c.step) {
            const double h = std::min(c.step, end - simulation.time());
            const StepReport report = simulation.step(h);
            if (!report.ok) {
                outcome.failure = fmt::format("t = {:.3g} s: {}", simulation.time(), report.reason);
                return outcome;
            }
            ++steps;
            iterations += report.iterations;
            const auto [energy, power] = balance();
            work.add_step(power, h);
            outcome.drift = std::max(outcome.drift, std::abs(energy - work.work() - start_energy));
            const ConstraintErrors errors = observer.compute_errors(simulation.state());
            outcome.errors.position = std::max(outcome.errors.position, errors.position);
            outcome.errors.velocity = std::max(outcome.errors.velocity, errors.velocity);
        }
        observer.observe(simulation.state(), work.work(), values);
        outcome.samples.push_back(values);
    }
    outcome.iterations_per_step = static_cast<double>(iterations) / static_cast<double>(std::max(1L, steps));
    outcome.cpu_time = time_combination(model, options, c.step, instants.back());
    return outcome;
}

// Root of the mean square difference over all instants and chosen columns.
double difference(const Outcome& a, const Outcome& b, const std::vector<std::size_t>& columns) {
    double sum = 0;
    std::size_t count = 0;
    const std::size_t instants = std::min(a.samples.size(), b.samples.size());
    for (std::size_t i = 0; i < instants; ++i)
        for (const std::size_t k : columns) {
            const double d = a.samples[i][k] - b.samples[i][k];
            sum += d * d;
            ++count;
        }
    return count > 0 ? std::sqrt(sum / static_cast<double>(count)) : NAN;
}

std::vector<std::size_t> chosen_columns(const CompareArguments& arguments, const Model& model,
                                        const std::vector<std::string>& columns) {
    ResultTable table;
    table.columns = columns;
    std::vector<std::size_t> result;
    if (!arguments.sensors.empty()) {
        for (const std::string& name : arguments.sensors) {
            const auto found = table.find(name);
            if (found.empty())
                throw ModelError(fmt::format("--sensors: there is no sensor '{}'{}; known: {}", name,
                                             did_you_mean(name, columns), fmt::join(columns, ", ")));
            result.insert(result.end(), found.begin(), found.end());
        }
        return result;
    }
    for (const auto handle : model.sensors.handles()) {
        const Sensor& sensor = model.sensors.get(handle);
        if (sensor.quantity != Sensor::Quantity::position && sensor.quantity != Sensor::Quantity::coordinate) continue;
        const auto found = table.find(sensor.name);
        result.insert(result.end(), found.begin(), found.end());
    }
    if (result.empty())
        throw ModelError("the model has no position or coordinate sensor to compare by; name some with --sensors");
    return result;
}

double parse_positive(const std::string& text, const char* what) {
    const double value = Expression::parse(text).bind({}).constant();
    if (!(value > 0)) throw ModelError(fmt::format("{}: expected a positive number, found '{}'", what, text));
    return value;
}

Plot work_precision(const std::vector<Outcome>& outcomes, const std::string& title) {
    Plot plot;
    plot.title = title;
    plot.x_label = "CPU time [s]";
    plot.y_label = "error";
    plot.log_x = plot.log_y = true;
    for (const Outcome& o : outcomes) {
        if (!o.failure.empty()) continue;
        const std::string name = o.combination.formulation + ", " + o.combination.integrator;
        auto series =
            std::find_if(plot.series.begin(), plot.series.end(), [&](const auto& s) { return s.name == name; });
        if (series == plot.series.end()) {
            plot.series.push_back({name, {}, {}, true});
            series = plot.series.end() - 1;
        }
        series->x.push_back(o.cpu_time);
        series->y.push_back(o.error);
    }
    plot.width = 1100;
    plot.height = std::max(560, 120 + 20 * static_cast<int>(plot.series.size()));
    return plot;
}

int compare(const CompareArguments& arguments) {
    const ModelFile file = arguments.model.read();
    const Model& model = file.model;
    SimulationOptions options;
    if (!model.simulation.coordinates.empty()) options.coordinates = model.simulation.coordinates;
    if (!arguments.model.coordinates.empty()) options.coordinates = arguments.model.coordinates;
    options.from_equilibrium = model.simulation.from_equilibrium;
    for (const std::string& option : arguments.model.options) apply_option(option, options);

    std::vector<Combination> combinations;
    std::vector<std::string> formulation_names = arguments.formulations;
    if (formulation_names.empty())
        for (const auto& info : formulations())
            if (options.coordinates.empty() || info.coordinates.empty() || info.coordinates == options.coordinates)
                formulation_names.push_back(info.name);
    std::vector<std::string> integrator_names = arguments.integrators;
    if (integrator_names.empty()) integrator_names = {"trapezoidal", "rk4"};
    std::vector<double> steps;
    for (const std::string& text : arguments.steps) steps.push_back(parse_positive(text, "--steps"));
    if (steps.empty()) steps = {1e-2, 5e-3, 2e-3, 1e-3};
    const double until = arguments.until.empty() ? simulation_number(model, model.simulation.until, 10, "until")
                                                 : parse_positive(arguments.until, "--until");
    for (const std::string& f : formulation_names)
        for (const std::string& i : integrator_names)
            for (const double step : steps)
                combinations.push_back({find_formulation(f).name, find_integrator(i).name, step});

    const std::vector<std::size_t> columns =
        chosen_columns(arguments, model, Simulation(model, options).observer().columns());
    const std::vector<double> instants = sample_instants(steps, until, std::clamp(arguments.samples, 1, 100000));
    std::vector<Outcome> outcomes;
    Outcome reference;
    {
        ProgressBar bar(0, static_cast<double>(combinations.size()), true);
        if (arguments.with_reference) {
            bar.show(0, "reference");
            reference =
                run_combination(model, options, {"augmented-lagrangian", "reference", instants.front()}, instants);
            if (!reference.failure.empty()) {
                fmt::print(stderr, "error: the reference run failed: {}\n", reference.failure);
                return solver_failed;
            }
        }
        for (const Combination& c : combinations) {
            bar.show(static_cast<double>(outcomes.size()),
                     fmt::format("{}, {}, step {:g}", c.formulation, c.integrator, c.step));
            outcomes.push_back(run_combination(model, options, c, instants));
        }
    }
    if (!arguments.with_reference) {
        // The finest run of the highest order stands in for the truth.
        const auto rank = [](const Outcome& o) {
            return std::tuple{o.failure.empty(), find_integrator(o.combination.integrator).order, -o.combination.step};
        };
        reference = *std::max_element(outcomes.begin(), outcomes.end(),
                                      [&](const Outcome& a, const Outcome& b) { return rank(a) < rank(b); });
    }
    for (Outcome& o : outcomes)
        if (o.failure.empty()) o.error = difference(o, reference, columns);

    std::vector<std::vector<std::string>> rows{{"formulation", "integrator", "step", "error", "energy drift",
                                                "constraint", "CPU ms", "x real time", "iterations"}};
    bool all_ok = true;
    std::string csv =
        "formulation,integrator,step,error,energy_drift,constraint_error,cpu_time_s,iterations_per_step,failure\n";
    for (const Outcome& o : outcomes) {
        const Combination& c = o.combination;
        csv += fmt::format("{},{},{:g},{:.6g},{:.6g},{:.6g},{:.6g},{:.4g},\"{}\"\n", c.formulation, c.integrator,
                           c.step, o.error, o.drift, o.errors.position, o.cpu_time, o.iterations_per_step, o.failure);
        if (!o.failure.empty()) {
            all_ok = false;
            rows.push_back({c.formulation, c.integrator, fmt::format("{:g}", c.step), "failed at " + o.failure});
            continue;
        }
        rows.push_back({c.formulation, c.integrator, fmt::format("{:g}", c.step), fmt::format("{:.2e}", o.error),
                        fmt::format("{:.2e}", o.drift), fmt::format("{:.1e}", o.errors.position),
                        fmt::format("{:.2f}", 1e3 * o.cpu_time), fmt::format("{:.0f}", until / o.cpu_time),
                        fmt::format("{:.2f}", o.iterations_per_step)});
    }
    fmt::print("{}, {:g} s\n", model.title.empty() ? arguments.model.path : model.title, until);
    fmt::print("  error: root mean square over {} instants, against {}\n\n", instants.size(),
               arguments.with_reference ? "the reference (SUNDIALS, tolerance 1e-10)"
                                        : fmt::format("{}, {}, step {:g}", reference.combination.formulation,
                                                      reference.combination.integrator, reference.combination.step));
    fmt::print("{}", format_table(rows));
    if (!arguments.output.empty()) {
        write_text_file(arguments.output, csv);
        fmt::print("\n  table: {}\n", arguments.output);
    }
    if (!arguments.plot.empty()) {
        write_text_file(arguments.plot, render_svg(work_precision(outcomes, model.title)));
        fmt::print("\n  work-precision plot: {}\n", arguments.plot);
    }
    return all_ok ? ok : solver_failed;
}

}  // namespace

void add_compare_command(CLI::App& app, int& exit_code) {
    auto arguments = std::make_shared<CompareArguments>();
    CLI::App* command = app.add_subcommand(
        "compare", "Run a model under several formulations, integrators and steps: error, energy drift, CPU time");
    arguments->model.add_to(*command, true);
    command->add_option("--formulations", arguments->formulations, "Formulations (default: all)")
        ->delimiter(',')
        ->type_name("F,...");
    command->add_option("--integrators", arguments->integrators, "Integrators (default: trapezoidal,rk4)")
        ->delimiter(',')
        ->type_name("I,...");
    command->add_option("--steps", arguments->steps, "Time steps (default: 0.01,0.005,0.002,0.001)")
        ->delimiter(',')
        ->type_name("S,...");
    command->add_option("--until", arguments->until, "End time in seconds")->type_name("T");
    command->add_flag("--reference", arguments->with_reference,
                      "Measure errors against a reference solution (default: against the finest run)");
    command->add_option("--sensors", arguments->sensors, "Sensors to compare (default: positions and coordinates)")
        ->delimiter(',')
        ->type_name("SENSOR,...");
    command->add_option("--samples", arguments->samples, "Number of instants compared (default 100)")->type_name("N");
    command->add_option("--plot", arguments->plot, "Work-precision plot as SVG")->type_name("FILE.svg");
    command->add_option("--output", arguments->output, "Table as CSV")->type_name("FILE.csv");
    command->footer(
        "Example:\n"
        "  limber compare examples/double-pendulum.yaml --formulations global,baumgarte --steps 0.01,0.005 "
        "--reference");
    command->callback([arguments, &exit_code] { exit_code = compare(*arguments); });
}

}  // namespace limber::app
