// limber compare: the same model under several formulations, integrators, parameters and steps.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <tuple>
#include <utility>

#include "common.hpp"
#include "interrupt.hpp"
#include "limber/analysis/study_report.hpp"
#include "limber/simulation/run.hpp"
#include "output_files.hpp"

namespace limber::app {
namespace {

struct CompareArguments {
    ModelArguments model;
    std::vector<std::string> formulations, integrators, steps, sweeps, sensors;
    std::string until, output, plot, reference_step, accept;
    bool with_reference = false;
    int samples = 100;
    int repeats = 1;
};

// Instants of comparison: about `samples`, at multiples of the largest step so that steps need not be cut.
std::vector<double> sample_instants(const std::vector<double>& steps, double until, int samples) {
    const double largest = *std::max_element(steps.begin(), steps.end());
    const double interval = std::max(1.0, std::round(until / samples / largest)) * largest;
    std::vector<double> instants;
    for (int i = 1; i * interval < until * (1 + 1e-9); ++i) instants.push_back(i * interval);
    if (instants.empty() || instants.back() < until * (1 - 1e-9)) instants.push_back(until);
    return instants;
}

double parse_positive(const std::string& text, const char* what) {
    const double value = Expression::parse(text).bind({}).constant();
    if (!(value > 0)) throw ModelError(fmt::format("{}: expected a positive number, found '{}'", what, text));
    return value;
}

std::vector<double> chosen_steps(const CompareArguments& arguments) {
    std::vector<double> steps;
    for (const std::string& text : arguments.steps)
        for (const double step : parse_values(text)) {
            if (!(step > 0)) throw ModelError(fmt::format("--steps: expected positive numbers, found '{}'", text));
            steps.push_back(step);
        }
    return steps.empty() ? std::vector<double>{1e-2, 5e-3, 2e-3, 1e-3} : steps;
}

std::vector<StudyPoint> chosen_points(const CompareArguments& arguments, const SimulationOptions& file_choice,
                                      const std::vector<double>& steps) {
    const std::string& coordinates = file_choice.coordinates;
    std::vector<std::string> formulation_names = arguments.formulations;
    std::vector<std::string> integrator_names = arguments.integrators;
    // Time-stepping has no alternative where rigid bodies touch, and asks no formulation.
    const auto steps_over = [](const std::string& name) {
        return find_integrator(name).kind == IntegratorKind::time_stepping;
    };
    if (integrator_names.empty() && steps_over(file_choice.integrator)) integrator_names = {file_choice.integrator};
    if (formulation_names.empty() && integrator_names.size() == 1 && steps_over(integrator_names.front()))
        formulation_names = {file_choice.formulation};
    if (formulation_names.empty())
        for (const auto& info : formulations())
            if (coordinates.empty() || info.coordinates.empty() || info.coordinates == coordinates)
                formulation_names.push_back(info.name);
    if (integrator_names.empty()) integrator_names = {"trapezoidal", "rk4"};
    std::vector<Sweep> sweeps;
    for (const std::string& text : arguments.sweeps) {
        const auto [name, values] = split_assignment(text, "--sweep");
        sweeps.push_back({name, parse_values(values)});
    }
    return make_study_points(formulation_names, integrator_names, steps, sweeps);
}

StudyOptions chosen_options(const CompareArguments& arguments, const Model& model) {
    StudyOptions options;
    options.simulation = arguments.model.simulation_options(model, "", "");
    options.simulation.modular = {};
    options.until = arguments.until.empty() ? run_options_of(model).until : parse_positive(arguments.until, "--until");
    options.sensors = arguments.sensors;
    options.repeats = arguments.repeats;
    return options;
}

/// An option must act in one of the runs at least.
void refuse_idle_everywhere(const std::vector<std::string>& names, const std::vector<StudyPoint>& points,
                            SimulationOptions options, const Model& model) {
    for (const std::string& name : names) {
        std::string reason;
        for (const StudyPoint& point : points) {
            options.formulation = point.formulation;
            options.integrator = point.integrator;
            reason = explain_no_effect(name, options, model);
            if (reason.empty()) break;
        }
        if (!reason.empty()) throw ModelError(reason);
    }
}

struct Comparison {
    std::vector<StudyRun> runs;  // those that came to an end before the comparison was interrupted
    std::string error;           // what the errors are
    std::string failure;         // why there is nothing to compare with
};

std::string describe(const StudyPoint& point) {
    return fmt::format("{}, {}, step {:g}", point.formulation, point.integrator, point.step);
}

/// Runs of all points, or of those before it was interrupted. A choice that the model refuses, while it takes others,
/// is a run that failed; what is wrong with all is thrown.
std::vector<StudyRun> run_points(const Model& model, const std::vector<StudyPoint>& points, const StudyOptions& options,
                                 const StudyProgress& progress) {
    std::vector<StudyRun> runs;
    std::size_t refused = 0;
    for (const StudyPoint& point : points) {
        progress(point);
        try {
            StudyRun run = run_study_point(model, point, options);
            if (run.is_stopped) break;
            runs.push_back(std::move(run));
        } catch (const ModelError& error) {
            if (++refused == points.size()) throw;
            StudyRun run;
            run.point = point;
            run.failure = error.what();
            runs.push_back(std::move(run));
        }
    }
    return runs;
}

/// Errors at common instants, against one reference for all.
Comparison compare_at_instants(const CompareArguments& arguments, const Model& model,
                               const std::vector<StudyPoint>& points, const StudyOptions& options,
                               const StudyProgress& progress) {
    Comparison result;
    std::optional<StudyRun> reference;
    if (arguments.with_reference) {
        StudyPoint point{"augmented-lagrangian", "reference"};
        point.step = options.instants.front();
        progress(point);
        reference = run_study_point(model, point, options);
        if (reference->is_stopped) return result;
        if (!reference->is_done()) {
            result.failure = reference->failure;
            return result;
        }
    }
    result.runs = run_points(model, points, options, progress);
    if (result.runs.empty()) return result;
    if (!reference) {
        // The finest run of the highest order stands in for the truth.
        const auto rank = [](const StudyRun& run) {
            return std::tuple{run.is_done(), find_integrator(run.point.integrator).order, -run.point.step};
        };
        reference = *std::max_element(result.runs.begin(), result.runs.end(),
                                      [&](const StudyRun& a, const StudyRun& b) { return rank(a) < rank(b); });
    }
    for (StudyRun& run : result.runs)
        if (run.is_done()) run.error = compute_rms_error(run.path, reference->path);
    result.error = fmt::format(
        "root mean square over {} instants, against {}", options.instants.size(),
        arguments.with_reference ? "the reference (SUNDIALS, tolerance 1e-10)" : describe(reference->point));
    return result;
}

/// Errors by eq. (43), each formulation against its own fine run.
Comparison compare_along_paths(const CompareArguments& arguments, const Model& model,
                               const std::vector<StudyPoint>& points, const StudyOptions& options,
                               const StudyProgress& progress) {
    const double step = parse_positive(arguments.reference_step, "--reference-step");
    Study study = run_study(model, points, options, step, progress);
    Comparison result;
    for (const StudyRun& reference : study.references)
        if (!reference.is_done() && !reference.is_stopped)
            result.failure = fmt::format("{}: {}", describe(reference.point), reference.failure);
    result.runs = std::move(study.runs);
    result.error = fmt::format(
        "eq. (43) of Cuadrado and Dopico, against the same formulation with the trapezoidal rule at step {:g}", step);
    return result;
}

std::string format_parameter(const StudyPoint& point) {
    return std::isnan(point.parameter) ? "-" : fmt::format("{:.3g}", point.parameter);
}

std::vector<std::string> row_of(const StudyRun& run, double until) {
    const StudyPoint& p = run.point;
    std::vector<std::string> row{p.formulation, p.integrator, format_parameter(p), fmt::format("{:g}", p.step)};
    if (!run.is_done()) {
        row.emplace_back("failed");
        return row;
    }
    row.insert(row.end(),
               {fmt::format("{:.2e}", run.error), fmt::format("{:.2e}", run.energy_drift),
                fmt::format("{:.1e}", run.constraint_errors.position), fmt::format("{:.2f}", 1e3 * run.cpu_time),
                fmt::format("{:.0f}", until / run.cpu_time), fmt::format("{:.2f}", run.iterations_per_step)});
    return row;
}

/// When and why, below the table: reasons are too long for its columns.
void print_failures(const std::vector<StudyRun>& runs) {
    bool is_first = true;
    for (const StudyRun& run : runs) {
        if (run.is_done()) continue;
        fmt::print("{}  {}: {}\n", std::exchange(is_first, false) ? "\nFailed\n" : "", describe(run.point),
                   run.failure);
    }
}

/// All runs, or the fastest accepted one of each formulation and integrator. False: a run failed, or none was accepted.
bool print_table(const std::vector<StudyRun>& runs, std::optional<double> accepted, double until) {
    std::vector<std::vector<std::string>> rows{{"formulation", "integrator", "parameter", "step", "error",
                                                "energy drift", "constraint", "CPU ms", "x real time", "iterations"}};
    bool is_good = !accepted;
    std::vector<std::pair<std::string, std::string>> seen;
    for (const StudyRun& run : runs) {
        if (!accepted) {
            is_good = is_good && run.is_done();
            rows.push_back(row_of(run, until));
            continue;
        }
        const std::pair pair{run.point.formulation, run.point.integrator};
        if (std::find(seen.begin(), seen.end(), pair) != seen.end()) continue;
        seen.push_back(pair);
        const StudyRun* best = find_most_efficient(runs, *accepted, pair.first, pair.second);
        is_good = is_good || best != nullptr;
        rows.push_back(best != nullptr
                           ? row_of(*best, until)
                           : std::vector<std::string>{pair.first, pair.second, "-", "-", "no accepted run"});
    }
    fmt::print("{}", format_table(rows));
    print_failures(runs);
    return is_good;
}

int compare(const CompareArguments& arguments) {
    end_on_interrupt();
    const ModelFile file = arguments.model.read();
    const Model& model = file.model;
    StudyOptions options = chosen_options(arguments, model);
    const std::vector<double> steps = chosen_steps(arguments);
    const std::vector<StudyPoint> points = chosen_points(arguments, options.simulation, steps);
    refuse_idle_everywhere(arguments.model.option_names(), points, options.simulation, model);
    std::optional<double> accepted;
    if (!arguments.accept.empty()) accepted = parse_positive(arguments.accept, "--accept");
    const bool along_paths = !arguments.reference_step.empty();
    if (!along_paths)
        options.instants = sample_instants(steps, options.until, std::clamp(arguments.samples, 1, 100000));

    OutputFiles files;
    for (const std::string& path : {arguments.output, arguments.plot})
        if (!path.empty()) files.try_out(path);
    options.should_stop = &is_interrupted;
    const InterruptWatch watch;
    Comparison comparison;
    {
        const ProgressBar bar(0, static_cast<double>(points.size()), true);
        int started = 0;
        const auto progress = [&](const StudyPoint& point) { bar.show(started++, describe(point)); };
        comparison = along_paths ? compare_along_paths(arguments, model, points, options, progress)
                                 : compare_at_instants(arguments, model, points, options, progress);
    }
    if (!comparison.failure.empty()) {
        fmt::print(stderr, "error: the reference run failed: {}\n", comparison.failure);
        if (comparison.runs.empty()) return solver_failed;
    }
    const std::vector<StudyRun>& runs = comparison.runs;
    if (is_interrupted()) fmt::print(stderr, "interrupted: {} of {} runs were made\n", runs.size(), points.size());
    if (runs.empty()) return is_interrupted() ? interrupt_exit_code() : solver_failed;
    fmt::print("{}, {:g} s\n", model.title.empty() ? arguments.model.path : model.title, options.until);
    fmt::print("  error: {}\n", comparison.error);
    if (accepted)
        fmt::print("  the fastest runs with an error below {:g}; {} of {} runs are\n", *accepted,
                   std::count_if(runs.begin(), runs.end(), [&](const auto& r) { return r.error < *accepted; }),
                   runs.size());
    fmt::print("\n");
    const bool is_good = print_table(runs, accepted, options.until) && comparison.failure.empty();
    if (!arguments.output.empty() && files.write(arguments.output, format_study_csv(runs, options.until)))
        fmt::print("\n  all runs: {}\n", arguments.output);
    if (!arguments.plot.empty() && files.write(arguments.plot, render_svg(make_work_precision_plot(runs, model.title))))
        fmt::print("\n  work-precision plot: {}\n", arguments.plot);
    if (is_interrupted()) return interrupt_exit_code();
    if (!is_good) return solver_failed;
    return files.is_any_missing() ? bad_input : ok;
}

}  // namespace

void add_compare_command(CLI::App& app, int& exit_code) {
    auto arguments = std::make_shared<CompareArguments>();
    CLI::App* command = app.add_subcommand(
        "compare",
        "Run a model under several formulations, integrators, parameters and steps: error, energy drift, CPU time");
    arguments->model.add_to(*command, true);
    command->add_option("--formulations", arguments->formulations, "Formulations (default: all)")
        ->delimiter(',')
        ->type_name("F,...");
    command
        ->add_option("--integrators", arguments->integrators,
                     "Integrators (default: trapezoidal,rk4; moreau-jean if the file names it)")
        ->delimiter(',')
        ->type_name("I,...");
    command
        ->add_option("--steps", arguments->steps,
                     "Time steps, or ranges FROM:TO:BY of them (default: 0.01,0.005,0.002,0.001)")
        ->delimiter(',')
        ->type_name("S,...");
    command
        ->add_option("--sweep", arguments->sweeps,
                     "Values of an integrator's parameter, e.g. rho=0:1:0.25: xi of newmark, delta of hht, rho of "
                     "generalized-alpha")
        ->type_name("NAME=V,...")
        ->take_all();
    command->add_option("--until", arguments->until, "End time in seconds")->type_name("T");
    CLI::Option* samples =
        command->add_option("--samples", arguments->samples, "Number of instants compared (default 100)")
            ->type_name("N");
    CLI::Option* reference =
        command->add_flag("--reference", arguments->with_reference,
                          "Measure errors against a reference solution (default: against the finest run)");
    command
        ->add_option(
            "--reference-step", arguments->reference_step,
            "Measure errors after every step, by eq. (43) of Cuadrado and Dopico, against the same formulation "
            "with the trapezoidal rule at this step")
        ->type_name("S")
        ->excludes(reference)
        ->excludes(samples);
    command
        ->add_option("--accept", arguments->accept,
                     "Show only the fastest run with an error below this one, for each formulation and integrator")
        ->type_name("ERROR");
    command->add_option("--sensors", arguments->sensors, "Sensors to compare (default: positions and coordinates)")
        ->delimiter(',')
        ->type_name("SENSOR,...");
    command->add_option("--repeats", arguments->repeats, "Take the least CPU time of so many runs (default 1)")
        ->type_name("N")
        ->check(CLI::Range(1, 1000));
    command->add_option("--plot", arguments->plot, "Work-precision plot as SVG")->type_name("FILE.svg");
    command->add_option("--output", arguments->output, "All runs as CSV")->type_name("FILE.csv");
    command->footer(
        "Examples:\n"
        "  limber compare examples/double-pendulum.yaml --formulations global,baumgarte --steps 0.01,0.005 "
        "--reference\n"
        "  limber compare examples/iltis/ramp-and-stairs.yaml --formulations hybrid,global \\\n"
        "    --integrators trapezoidal,generalized-alpha --steps 0.01:0.05:0.005 --sweep rho=0:1:0.25 \\\n"
        "    --sensors chassis.z,wheel00.z,wheel11.z --reference-step 1e-3 --accept 5e-3");
    command->callback([arguments, &exit_code] { exit_code = compare(*arguments); });
}

}  // namespace limber::app
