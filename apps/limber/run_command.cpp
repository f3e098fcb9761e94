// limber run: simulate a model and report.

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <memory>
#include <nlohmann/json.hpp>
#include <string_view>

#include "checkpoint.hpp"
#include "common.hpp"
#include "limber/io/model_writer.hpp"
#include "limber/io/svg_plot.hpp"
#include "limber/modular/exchange.hpp"

namespace limber::app {
namespace {

struct RunArguments {
    ModelArguments model;
    std::string formulation, integrator, step, until, every;
    std::string division, gluing, coupling, threads;
    std::string checkpoint, checkpoint_file = "limber.checkpoint";
    bool has_checkpoint_file = false;
    bool resume = false, distributed = false;
    std::vector<std::string> outputs;
    std::vector<std::pair<std::string, std::string>> plots;
    std::string summary = "text";
    bool quiet = false;
    bool from_equilibrium = false;
};

std::vector<std::string> split(const std::string& list) {
    std::vector<std::string> parts;
    std::string part;
    for (const char c : list + ",") {
        if (c == ',') {
            if (!part.empty()) parts.push_back(part);
            part.clear();
        } else {
            part += c;
        }
    }
    return parts;
}

// Sensors of a plot must exist before the run starts, not after it.
void check_plots(const RunArguments& arguments, const std::vector<std::string>& columns) {
    ResultTable table;
    table.columns = columns;
    std::vector<std::string> names = columns;
    for (const std::string& column : columns) names.push_back(column.substr(0, column.rfind('.')));
    for (const auto& [sensors, path] : arguments.plots) {
        if (!path.ends_with(".svg"))
            throw ModelError(fmt::format("--plot: expected a file name ending in .svg, found '{}'", path));
        for (const std::string& name : split(sensors))
            if (table.find(name).empty())
                throw ModelError(fmt::format("--plot: there is no sensor '{}'{}; known: {}", name,
                                             did_you_mean(name, names), fmt::join(columns, ", ")));
    }
    for (const std::string& path : arguments.outputs) results_format(path);  // throws
}

Plot make_plot(const ResultTable& table, const std::string& sensors, const std::string& title) {
    Plot plot;
    plot.title = title;
    plot.x_label = "t [s]";
    const std::vector<double> t = table.column(0);
    for (const std::string& name : split(sensors))
        for (const std::size_t index : table.find(name))
            plot.series.push_back({table.columns[index], t, table.column(index)});
    plot.y_label = plot.series.size() == 1 ? plot.series.front().name : "";
    return plot;
}

nlohmann::ordered_json json_number(double value) {
    return std::isfinite(value) ? nlohmann::ordered_json(value) : nlohmann::ordered_json(nullptr);
}

std::string json_summary(const RunSummary& s, const SimulationOptions& options, double step) {
    nlohmann::ordered_json json;
    json["formulation"] = options.formulation;
    json["integrator"] = options.integrator;
    json["coordinates"] = options.coordinates;
    if (options.modular.is_on()) {
        json["division"] = options.modular.division;
        json["gluing"] = gluing_names()[static_cast<std::size_t>(options.modular.gluing)];
    }
    json["step"] = step;
    json["steps"] = s.steps;
    json["time"] = s.reached;
    json["wall_time_s"] = s.wall_time;
    json["real_time_factor"] = json_number(s.real_time_factor);
    json["iterations"] = s.iterations;
    json["energy_drift"] = json_number(s.energy_drift);
    json["exchanged_energy"] = json_number(s.exchanged_energy);
    json["work"] = json_number(s.work);
    json["constraint_error"] = {{"position", json_number(s.errors.position)},
                                {"velocity", json_number(s.errors.velocity)},
                                {"acceleration", json_number(s.errors.acceleration)},
                                {"complementarity", json_number(s.errors.complementarity)}};
    json["contact_loss"] = json_number(s.contact_loss);
    json["contact_events"] = nlohmann::ordered_json::array();
    for (const ContactEvent& event : s.events)
        json["contact_events"].push_back({{"t", event.t},
                                          {"stop", event.stop},
                                          {"kind", contact_event_name(event.kind)},
                                          {"impulse", event.impulse},
                                          {"energy_lost", event.energy_lost}});
    json["sensors"] = nlohmann::ordered_json::object();
    for (const SensorSummary& sensor : s.sensors)
        json["sensors"][sensor.name] = {
            {"final", json_number(sensor.final)}, {"min", json_number(sensor.min)}, {"max", json_number(sensor.max)}};
    json["warnings"] = list_warnings(s.warnings);
    if (!s.ok) json["failure"] = s.failure;
    return json.dump(2);
}

// What contacts have taken and missed, how often stops were hit, and the first events.
void print_contacts(const RunSummary& s) {
    constexpr std::size_t most_lines = 12;
    if (s.contact_loss != 0 || s.errors.complementarity != 0)
        fmt::print("  contacts: {:.6g} J lost, complementarity to {:.2g} m\n", s.contact_loss,
                   s.errors.complementarity);
    if (s.events.empty()) return;
    const auto impacts = std::count_if(s.events.begin(), s.events.end(), [](const ContactEvent& event) {
        return event.kind == ContactEvent::Kind::impact;
    });
    fmt::print("  stops: {} impacts\n\n", impacts);
    std::vector<std::vector<std::string>> rows{{"t", "stop", "what", "impulse", "energy lost"}};
    for (std::size_t i = 0; i < std::min(most_lines, s.events.size()); ++i) {
        const ContactEvent& event = s.events[i];
        const bool is_impact = event.kind == ContactEvent::Kind::impact;
        rows.push_back({fmt::format("{:.9g}", event.t), event.stop, contact_event_name(event.kind),
                        is_impact ? fmt::format("{:.6g}", event.impulse) : "",
                        is_impact ? fmt::format("{:.6g}", event.energy_lost) : ""});
    }
    fmt::print("{}", format_table(rows));
    if (s.events.size() > most_lines) fmt::print("and {} more\n", s.events.size() - most_lines);
}

void print_summary(const Simulation& simulation, const RunSummary& s, double step) {
    const SimulationOptions& o = simulation.options();
    fmt::print("{}\n", simulation.model().title.empty() ? "Untitled model" : simulation.model().title);
    fmt::print("  {}, {}, step {:g} s; {} {} coordinates, {} constraint equations\n\n", o.formulation, o.integrator,
               step, simulation.system().size(), simulation.system().coordinates_name(), simulation.system().rows());
    fmt::print("  {} steps to t = {:g} s in {:.3g} s: {:.3g} times real time, {:.2f} iterations per step{}\n", s.steps,
               s.reached, s.wall_time, s.real_time_factor,
               s.steps > 0 ? static_cast<double>(s.iterations) / static_cast<double>(s.steps) : 0.0,
               s.divided_steps > 0 ? fmt::format(", {} steps had to be divided", s.divided_steps) : "");
    if (o.modular.is_on())
        fmt::print("  {} components, {} gluing\n", simulation.components().size(),
                   gluing_names()[static_cast<std::size_t>(o.modular.gluing)]);
    fmt::print("  largest constraint error: position {:.2g}, velocity {:.2g}, acceleration {:.2g}\n", s.errors.position,
               s.errors.velocity, s.errors.acceleration);
    fmt::print("  energy drift: {:.3g} J{}\n", s.energy_drift,
               s.exchanged_energy > 1e-3 * s.energy_drift
                   ? fmt::format(" ({:.2g} of the {:.3g} J exchanged)", s.energy_drift / s.exchanged_energy,
                                 s.exchanged_energy)
                   : "");
    print_contacts(s);
    if (s.sensors.empty()) return;
    std::vector<std::vector<std::string>> rows{{"sensor", "final", "min", "max"}};
    for (const SensorSummary& sensor : s.sensors)
        rows.push_back({sensor.name, fmt::format("{:.6g}", sensor.final), fmt::format("{:.6g}", sensor.min),
                        fmt::format("{:.6g}", sensor.max)});
    fmt::print("\n{}", format_table(rows));
}

// What a checkpoint belongs to: resuming anything else would give no run at all.
std::string describe_run(const Model& model, const SimulationOptions& options, const RunOptions& run) {
    return fmt::format("{}\n{} {} {} {} {} {} {}", write_model_text(model), options.formulation, options.integrator,
                       options.coordinates, options.modular.division, static_cast<int>(options.modular.gluing),
                       run.step, run.every);
}

// One of several processes of a run that is not distributed: all would do the same and write the same files. The first one says so.
bool is_copy(const RunArguments& arguments) {
    const char* processes = std::getenv("OMPI_COMM_WORLD_SIZE");
    const char* rank = std::getenv("OMPI_COMM_WORLD_RANK");
    if (arguments.distributed || processes == nullptr || rank == nullptr || std::string_view(processes) == "1")
        return false;
    if (std::string_view(rank) != "0") return true;
    throw ModelError(fmt::format(
        "mpirun has started this run {} times; add --distributed to spread one run over the processes", processes));
}

void refuse_idle_processes(std::size_t components) {
    const int processes = process_exchange() ? process_exchange()->size() : 1;
    if (processes == 1 || static_cast<std::size_t>(processes) <= components) return;
    throw ModelError(fmt::format(
        "{} processes for {} components: some would have nothing to do; start at most {} of them, or divide "
        "the mechanism into more (--modular auto:{})",
        processes, components, components, processes));
}

int run_model(const RunArguments& arguments) {
    if (is_copy(arguments)) return ok;
    const ModelFile file = arguments.model.read();
    const Model& model = file.model;
    const SimulationDefaults& defaults = model.simulation;
    SimulationOptions options = arguments.model.simulation_options(model, arguments.formulation, arguments.integrator);
    options.from_equilibrium = options.from_equilibrium || arguments.from_equilibrium;
    if (!arguments.division.empty()) options.modular.division = arguments.division;
    const auto set = [&](const char* name, const std::string& value) {
        if (!value.empty()) set_option(options, name, value);
    };
    if (arguments.has_checkpoint_file && arguments.checkpoint.empty() && !arguments.resume)
        throw ModelError("--checkpoint-file does nothing without --checkpoint or --resume");
    set("gluing", arguments.gluing);
    set("coupling", arguments.coupling);
    set("threads", arguments.threads);
    std::vector<std::string> given = arguments.model.option_names();
    const auto note = [&](const char* name, const std::string& value) {
        if (!value.empty()) given.emplace_back(name);
    };
    note("gluing", arguments.gluing);
    note("coupling", arguments.coupling);
    note("threads", arguments.threads);
    options.modular.exchange = process_exchange();
    if (arguments.distributed && !options.modular.is_on()) options.modular.division = "auto";
    refuse_idle_options(given, options, model);
    // Of several processes only the first has something to say.
    const bool speaks = !process_exchange() || process_exchange()->rank() == 0;
    RunOptions run_options;
    run_options.until =
        positive_number(arguments.until, simulation_number(model, defaults.until, 10, "until"), "--until");
    run_options.step = positive_number(arguments.step, simulation_number(model, defaults.step, 1e-3, "step"), "--step");
    run_options.every = positive_number(arguments.every,
                                        simulation_number(model, defaults.every, run_options.step, "every"), "--every");

    // A session where the model changes itself, otherwise a simulation is enough.
    std::unique_ptr<Session> session;
    std::unique_ptr<Simulation> simulation;
    RunCheckpoint resumed;
    if (!arguments.checkpoint.empty())
        run_options.checkpoint_every = positive_number(arguments.checkpoint, 0, "--checkpoint");
    try {
        if (model.events.size() > 0) {
            SessionOptions session_options;
            session_options.step = run_options.step;
            session = std::make_unique<Session>(model, options, session_options);
        } else {
            const std::string identity = describe_run(model, options, run_options);
            if (arguments.resume) {
                resumed = read_checkpoint(arguments.checkpoint_file, identity);
                run_options.resume = &resumed;
                simulation = std::make_unique<Simulation>(model, options, resumed.state);
            } else {
                simulation = std::make_unique<Simulation>(model, options);
            }
            run_options.keep = [&, identity](const RunCheckpoint& c) {
                if (speaks) write_checkpoint(arguments.checkpoint_file, identity, c);
            };
        }
    } catch (const ModelError& error) {
        throw ModelError(file.locate(error.what()));
    }
    const auto running = [&]() -> const Simulation& { return session ? session->simulation() : *simulation; };
    refuse_idle_processes(running().components().size());
    check_plots(arguments, (session ? session->observer() : simulation->observer()).columns());

    const bool is_json = arguments.summary == "json";
    RunResult result;
    {
        ProgressBar bar(0, run_options.until, !arguments.quiet && speaks);
        run_options.progress = [&](double t) { bar.show(t, fmt::format("t = {:.3f} s", t)); };
        result = session ? run(*session, run_options) : run(*simulation, run_options);
    }
    if (!speaks) return result.summary.ok ? ok : solver_failed;
    const std::string title = model.title.empty() ? arguments.model.path : model.title;
    for (const std::string& path : arguments.outputs) write_results(result.table, path, title);
    for (const auto& [sensors, path] : arguments.plots)
        write_text_file(path, render_svg(make_plot(result.table, sensors, title)));

    if (is_json) {
        fmt::print("{}\n", json_summary(result.summary, running().options(), run_options.step));
    } else if (!arguments.quiet) {
        print_summary(running(), result.summary, run_options.step);
        const std::vector<SessionNote> notes = session ? session->take_notes() : std::vector<SessionNote>{};
        for (const SessionNote& note : notes) fmt::print("\n  t = {:.6g} s: {}", note.time, note.text);
        if (!notes.empty()) fmt::print("\n");
        print_warnings(result.summary.warnings);
        for (const std::string& path : arguments.outputs) fmt::print("\n  results: {}\n", path);
        for (const auto& [sensors, path] : arguments.plots) fmt::print("\n  plot of {}: {}\n", sensors, path);
    }
    if (!result.summary.ok) {
        fmt::print(stderr, "error: {}\n", result.summary.failure);
        return solver_failed;
    }
    return ok;
}

}  // namespace

void add_run_command(CLI::App& app, int& exit_code) {
    auto arguments = std::make_shared<RunArguments>();
    CLI::App* command = app.add_subcommand("run", "Simulate a model and report");
    arguments->model.add_to(*command, true);
    command
        ->add_option("--formulation", arguments->formulation,
                     "How the motion is computed; see 'limber list formulations'")
        ->type_name("F");
    command->add_option("--integrator", arguments->integrator, "Integration scheme; see 'limber list integrators'")
        ->type_name("I");
    command
        ->add_option("--modular", arguments->division,
                     "Divide the mechanism into components: body, tree, groups (of the file), auto or auto:K")
        ->type_name("DIVISION");
    command
        ->add_option("--gluing", arguments->gluing,
                     "How components are held together: direct, conjugate-gradient, anderson, uzawa, penalty")
        ->type_name("G");
    command->add_option("--coupling", arguments->coupling, "end-of-step or acceleration")->type_name("C");
    command->add_option("--threads", arguments->threads, "Threads over components")->type_name("N");
    command->add_flag(
        "--distributed", arguments->distributed,
        "Spread the components over the processes of an MPI run: mpirun -n K limber run ... --distributed");
    command
        ->add_option("--checkpoint", arguments->checkpoint,
                     "Write a checkpoint every so many simulated seconds, from which --resume goes on")
        ->type_name("EVERY");
    command->add_option("--checkpoint-file", arguments->checkpoint_file, "Where (default: limber.checkpoint)")
        ->type_name("FILE");
    command->add_flag("--resume", arguments->resume, "Go on from the checkpoint");
    command->add_option("--step", arguments->step, "Time step in seconds (default: that of the model, or 0.001)")
        ->type_name("S");
    command->add_option("--until", arguments->until, "End time in seconds (default: that of the model, or 10)")
        ->type_name("T");
    command->add_option("--every", arguments->every, "Interval of output in seconds (default: every step)")
        ->type_name("S");
    command->add_option("--output", arguments->outputs, "Write all sensors to a .csv or .h5 file")
        ->type_name("FILE")
        ->take_all();
    command->add_option("--plot", arguments->plots, "Plot sensors over time as SVG: --plot tip.x,tip.y tip.svg")
        ->type_name("SENSOR,... FILE.svg");
    command->add_option("--summary", arguments->summary, "text (default), or json: one JSON object and nothing else")
        ->type_name("FORM")
        ->check(CLI::IsMember({"text", "json"}));
    command->add_flag("--from-equilibrium", arguments->from_equilibrium,
                      "Start from static equilibrium, with the velocities of the model");
    command->add_flag("--quiet", arguments->quiet, "Print errors only, and the JSON object if that was asked for");
    command->footer(
        "Examples:\n"
        "  limber run examples/slider-crank.yaml --plot slider.x,slider.y slider.svg\n"
        "  limber run examples/n-four-bar.yaml --set N=5 --formulation augmented-lagrangian --integrator rk4 --step "
        "0.01\n"
        "  limber run examples/andrews.yaml --output andrews.csv --summary json");
    command->callback([arguments, command, &exit_code] {
        arguments->has_checkpoint_file = command->count("--checkpoint-file") > 0;
        exit_code = run_model(*arguments);
    });
}

}  // namespace limber::app
