// limber run: simulate a model and report.

#include <fmt/format.h>

#include <cstdlib>
#include <memory>
#include <optional>
#include <string_view>

#include "common.hpp"
#include "interrupt.hpp"
#include "limber/modular/exchange.hpp"
#include "limber/simulation/checkpoint.hpp"
#include "limber/simulation/start_conditions.hpp"
#include "output_files.hpp"
#include "run_plots.hpp"
#include "run_summary.hpp"

namespace limber::app {
namespace {

struct RunArguments {
    ModelArguments model;
    std::string formulation, integrator, step, until, every;
    std::string division, gluing, coupling, threads;
    std::string checkpoint, checkpoint_file;
    bool resume = false, distributed = false;
    std::vector<std::string> outputs;
    RunPlots plots;
    std::string summary = "text";
    bool quiet = false;
    bool from_equilibrium = false;
};

// One of several processes of a run that is not distributed: all would do the same and write the same files. The first
// one says so.
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

SimulationOptions chosen_options(const RunArguments& arguments, const Model& model) {
    SimulationOptions options = arguments.model.simulation_options(model, arguments.formulation, arguments.integrator);
    options.from_equilibrium = options.from_equilibrium || arguments.from_equilibrium;
    if (!arguments.division.empty()) options.modular.division = arguments.division;
    std::vector<std::string> given = arguments.model.option_names();
    const auto set = [&](const char* name, const std::string& value) {
        if (value.empty()) return;
        set_option(options, name, value);
        given.emplace_back(name);
    };
    set("gluing", arguments.gluing);
    set("coupling", arguments.coupling);
    set("threads", arguments.threads);
    options.modular.exchange = process_exchange();
    if (arguments.distributed && !options.modular.is_on()) options.modular.division = "auto";
    refuse_idle_options(given, options, model);
    return options;
}

std::string name_checkpoint(const RunArguments& arguments) {
    return arguments.checkpoint_file.empty() ? "limber.checkpoint" : arguments.checkpoint_file;
}

RunOptions chosen_run(const RunArguments& arguments, const Model& model) {
    RunOptions run = run_options_of(model);
    run.until = positive_number(arguments.until, run.until, "--until");
    run.step = positive_number(arguments.step, run.step, "--step");
    run.every = positive_number(arguments.every, run.every > 0 ? run.every : run.step, "--every");
    if (!arguments.checkpoint.empty())
        run.checkpoint_every = positive_number(arguments.checkpoint, 0, "--checkpoint");
    else if (arguments.resume)
        run.checkpoint_every = read_checkpoint_interval(name_checkpoint(arguments));
    else if (!arguments.checkpoint_file.empty())
        throw ModelError("--checkpoint-file does nothing without --checkpoint or --resume");
    return run;
}

/// What is run, and how it goes on.
class RunningModel {
public:
    RunningModel(const RunArguments& arguments, const Model& model, bool speaks)
        : file_(name_checkpoint(arguments)), options_(chosen_run(arguments, model)) {
        const SimulationOptions simulation_options = chosen_options(arguments, model);
        SessionOptions session_options;
        session_options.step = options_.step;
        // Where the model does not change itself there is no need for a way back.
        if (model.events.size() == 0) session_options.renewal = no_renewal;
        identity_ = identify_run(model, simulation_options, options_);
        if (arguments.resume && model.events.size() == 0) {
            resumed_ = read_checkpoint(file_, identity_);
            options_.resume = &resumed_;
            Situation there;
            there.model = solve_start_conditions(model, simulation_options);
            there.options = simulation_options;
            there.step = options_.step;
            there.state = resumed_.state;
            there.account = resumed_.account();
            there.longest_step = resumed_.longest_step;
            session_ = std::make_unique<Session>(there, session_options);
        } else {
            session_ = std::make_unique<Session>(model, simulation_options, session_options);
        }
        if (speaks) options_.keep = [this](const RunCheckpoint& checkpoint) { keep(checkpoint); };
    }

    const Simulation& simulation() const { return session_->simulation(); }
    const std::vector<std::string>& columns() const { return session_->observer().columns(); }
    const std::vector<std::string>& units() const { return session_->observer().units(); }
    const RunOptions& options() const { return options_; }
    const std::string& checkpoint_file() const { return file_; }
    bool has_lost_checkpoints() const { return has_lost_checkpoints_; }
    std::optional<double> last_checkpoint() const { return last_checkpoint_; }
    std::vector<SessionNote> take_notes() { return session_->take_notes(); }

    RunResult run(std::function<void(double)> progress, std::function<bool()> should_stop) {
        options_.progress = std::move(progress);
        options_.should_stop = std::move(should_stop);
        return limber::run(*session_, options_);
    }

private:
    // A run is worth more than its checkpoints: it goes on without them.
    void keep(const RunCheckpoint& checkpoint) {
        try {
            write_checkpoint(file_, identity_, checkpoint);
            last_checkpoint_ = checkpoint.state.t;
        } catch (const ModelError& error) {
            if (!has_lost_checkpoints_) fmt::print(stderr, "error: {}; the run goes on\n", error.what());
            has_lost_checkpoints_ = true;
        }
    }

    std::string file_;
    RunOptions options_;
    RunIdentity identity_;
    RunCheckpoint resumed_;
    std::unique_ptr<Session> session_;
    bool has_lost_checkpoints_ = false;
    std::optional<double> last_checkpoint_;
};

void print_outcome(const RunArguments& arguments, RunningModel& running, const RunSummary& summary,
                   const std::vector<std::string>& files) {
    if (arguments.summary == "json") {
        fmt::print("{}\n", json_summary(summary, running.simulation().options(), running.options().step));
        return;
    }
    if (arguments.quiet) return;
    print_summary(running.simulation(), summary, running.options().step, running.options().until);
    const std::vector<SessionNote> notes = running.take_notes();
    for (const SessionNote& note : notes) fmt::print("\n  t = {:.6g} s: {}", note.time, note.text);
    if (!notes.empty()) fmt::print("\n");
    print_warnings(summary.warnings);
    for (const std::string& line : files) fmt::print("\n  {}\n", line);
    if (const auto last = running.last_checkpoint(); summary.is_stopped && last)
        fmt::print("\n  checkpoint at t = {:g} s: {}; --resume goes on from there\n", *last, running.checkpoint_file());
}

int run_model(const RunArguments& arguments) {
    if (is_copy(arguments)) return ok;
    // Of several processes only the first has something to say, and mpirun has the last word.
    const bool speaks = !process_exchange() || process_exchange()->rank() == 0;
    if (!process_exchange()) end_on_interrupt();
    const ModelFile file = arguments.model.read();
    std::optional<RunningModel> running;
    try {
        running.emplace(arguments, file.model, speaks);
    } catch (const ModelError& error) {
        throw ModelError(file.locate(error.what()));
    }
    refuse_idle_processes(running->simulation().components().size());
    arguments.plots.check(running->columns());
    for (const std::string& path : arguments.outputs) results_format(path);  // throws

    OutputFiles files;
    if (speaks) {
        for (const std::string& path : arguments.outputs) files.try_out(path);
        for (const auto& requests : {arguments.plots.over_time, arguments.plots.paths})
            for (const PlotRequest& request : requests) files.try_out(request.second);
        if (running->options().checkpoint_every > 0) files.try_out(running->checkpoint_file());
    }
    const std::vector<std::string> units = running->units();  // events may change the sensors, not the columns
    const InterruptWatch watch;                               // until all is written
    RunResult result;
    {
        const ProgressBar bar(0, running->options().until, !arguments.quiet && speaks);
        result = running->run([&](double t) { bar.show(t, fmt::format("t = {:.3f} s", t)); }, &is_interrupted);
    }
    if (!speaks) return result.summary.ok ? ok : solver_failed;

    const std::string title = file.model.title.empty() ? arguments.model.path : file.model.title;
    std::vector<std::string> written;
    for (const std::string& path : arguments.outputs)
        if (files.write(path, encode_results(result.table, results_format(path), title)))
            written.push_back("results: " + path);
    for (const auto& [request, plot] : arguments.plots.make(result.table, units, title))
        if (files.write(request.second, render_svg(plot)))
            written.push_back(fmt::format("plot of {}: {}", request.first, request.second));
    print_outcome(arguments, *running, result.summary, written);
    if (!result.summary.ok) {
        fmt::print(stderr, "error: {}\n", result.summary.failure);
        return solver_failed;
    }
    if (result.summary.is_stopped) return interrupt_exit_code();
    return files.is_any_missing() || running->has_lost_checkpoints() ? bad_input : ok;
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
    command->add_flag("--resume", arguments->resume,
                      "Go on from the checkpoint, with its interval unless --checkpoint says the same");
    command->add_option("--step", arguments->step, "Time step in seconds (default: that of the model, or 0.001)")
        ->type_name("S");
    command->add_option("--until", arguments->until, "End time in seconds (default: that of the model, or 10)")
        ->type_name("T");
    command
        ->add_option("--every", arguments->every,
                     "Interval of output in seconds (default: every step); between steps rows are interpolated")
        ->type_name("S");
    command->add_option("--output", arguments->outputs, "Write all sensors to a .csv or .h5 file")
        ->type_name("FILE")
        ->take_all();
    command
        ->add_option("--plot", arguments->plots.over_time, "Plot sensors over time as SVG: --plot tip.x,tip.y tip.svg")
        ->type_name("SENSOR,... FILE.svg");
    command
        ->add_option("--plot-xy", arguments->plots.paths,
                     "Plot sensors against each other as SVG, pairs of x and y: --plot-xy tip.x,tip.y path.svg")
        ->type_name("X,Y,... FILE.svg");
    command->add_option("--summary", arguments->summary, "text (default), or json: one JSON object and nothing else")
        ->type_name("FORM")
        ->check(CLI::IsMember({"text", "json"}));
    command->add_flag("--from-equilibrium", arguments->from_equilibrium,
                      "Start from static equilibrium, with the velocities of the model");
    command->add_flag("--quiet", arguments->quiet, "Print errors only, and the JSON object if that was asked for");
    command->footer(
        "Examples:\n"
        "  limber run examples/slider-crank.yaml --plot slider.x,slider.y slider.svg\n"
        "  limber run examples/loops/coupler-curve.yaml --plot-xy coupler.x,coupler.y coupler.svg\n"
        "  limber run examples/n-four-bar.yaml --set N=5 --formulation augmented-lagrangian --integrator rk4 --step "
        "0.01\n"
        "  limber run examples/andrews.yaml --output andrews.csv --summary json");
    command->callback([arguments, &exit_code] { exit_code = run_model(*arguments); });
}

}  // namespace limber::app
