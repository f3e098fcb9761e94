// The limber command: reads the arguments, runs a command, turns errors into messages and exit codes.
//
//   0  done      1  the input is wrong, or a file cannot be written      2  the solver failed      130  interrupted

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>
#include <system_error>

#include "command_line.hpp"
#include "common.hpp"
#include "limber/model/error.hpp"

namespace limber::app {

namespace {

std::vector<std::string> command_names(CLI::App& app) {
    std::vector<std::string> names;
    for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
        names.push_back(command->get_name());
    return names;
}

// The first word is a command or a flag of the program itself.
void check_command_name(CLI::App& app, int argc, char** argv) {
    const std::vector<std::string> names = command_names(app);
    const std::string word = argc > 1 ? argv[1] : "";
    if (word.empty())
        throw ModelError(
            fmt::format("a command is missing: one of {}; 'limber --help' explains them", fmt::join(names, ", ")));
    if (word.starts_with('-') || std::find(names.begin(), names.end(), word) != names.end()) return;
    throw ModelError(fmt::format("there is no command '{}'{}; commands: {}", word, did_you_mean(word, names),
                                 fmt::join(names, ", ")));
}

// What was not expected, with the option that may have been meant.
std::string describe_extras(CLI::App& app) {
    const auto parsed = app.get_subcommands();
    CLI::App& command = parsed.empty() ? app : *parsed.front();
    std::vector<std::string> known;
    for (const CLI::Option* option : command.get_options())
        for (const std::string& name : option->get_lnames()) known.push_back("--" + name);
    const std::vector<std::string> extras = app.remaining(true);
    const auto option =
        std::find_if(extras.begin(), extras.end(), [](const std::string& word) { return word.starts_with('-'); });
    const std::string help = parsed.empty() ? "limber --help" : fmt::format("limber {} --help", command.get_name());
    if (option != extras.end()) {
        const std::string name = option->substr(0, option->find('='));
        return fmt::format("unknown option '{}'{}; '{}' lists all", name, did_you_mean(name, known), help);
    }
    return fmt::format("unexpected argument '{}'; '{}' says what is expected", extras.empty() ? "" : extras.front(),
                       help);
}

}  // namespace

int run_command_line(int argc, char** argv) {
    CLI::App app{
        "Limber simulates mechanisms: rigid bodies, joints, forces, open and closed loops.\n"
        "One model, every formulation.",
        "limber"};
    app.set_version_flag("--version", "limber 0.1.0");
    app.require_subcommand(1);
    app.get_formatter()->column_width(34);
    app.footer(
        "Start with:\n"
        "  limber studio\n"
        "  limber run examples/slider-crank.yaml --plot slider.x slider.svg\n"
        "  limber play examples/double-pendulum.yaml\n"
        "  limber check examples/n-four-bar.yaml --set N=5\n"
        "  limber compare examples/double-pendulum.yaml --reference\n"
        "\n'limber COMMAND --help' explains a command. Exit codes: 0 done, 1 wrong input or a file that "
        "cannot be written, 2 the solver failed, 130 interrupted (Ctrl-C).");
    // A file that must not grow any more is an error of the write, told like any other.
    std::signal(SIGXFSZ, SIG_IGN);
    int exit_code = ok;
    add_run_command(app, exit_code);
    add_play_command(app, exit_code);
    add_replay_command(app, exit_code);
    add_check_command(app, exit_code);
    add_compare_command(app, exit_code);
    add_equilibrium_command(app, exit_code);
    add_linear_commands(app, exit_code);
    add_list_command(app, exit_code);
#ifdef LIMBER_STUDIO
    add_studio_command(app, exit_code);
#endif
    try {
        check_command_name(app, argc, argv);
        app.parse(argc, argv);
    } catch (const CLI::ExtrasError&) {
        fmt::print(stderr, "error: {}\n", describe_extras(app));
        return bad_input;
    } catch (const CLI::ParseError& error) {
        // Of a flag of the program that is none, the first complaint is that there is no command.
        if (argc > 1 && error.get_exit_code() != 0 && app.get_subcommands().empty()) {
            fmt::print(stderr, "error: {}\n", describe_extras(app));
            return bad_input;
        }
        return app.exit(error) == 0 ? ok : bad_input;
    } catch (const ModelError& error) {
        fmt::print(stderr, "error: {}\n", error.what());
        return bad_input;
    } catch (const std::system_error& error) {  // of printing
        fmt::print(stderr, "error: {}\n", error.what());
        return bad_input;
    } catch (const std::exception& error) {
        fmt::print(stderr, "error: {}\n", error.what());
        return solver_failed;
    }
    if (std::fflush(stdout) != 0) {
        fmt::print(stderr, "error: cannot write to standard output: {}\n", std::strerror(errno));
        return exit_code == ok ? static_cast<int>(bad_input) : exit_code;
    }
    return exit_code;
}

}  // namespace limber::app
