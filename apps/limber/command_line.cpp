// The limber command: reads the arguments, runs a command, turns errors into messages and exit codes.
//
//   0  done      1  the input is wrong      2  the solver failed

#include <fmt/format.h>

#include <exception>

#include "command_line.hpp"
#include "common.hpp"
#include "limber/model/error.hpp"

namespace limber::app {

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
        "\n'limber COMMAND --help' explains a command. Exit codes: 0 done, 1 wrong input, 2 the solver failed.");
    int exit_code = ok;
    add_run_command(app, exit_code);
    add_play_command(app, exit_code);
    add_replay_command(app, exit_code);
    add_check_command(app, exit_code);
    add_compare_command(app, exit_code);
    add_equilibrium_command(app, exit_code);
    add_list_command(app, exit_code);
#ifdef LIMBER_STUDIO
    add_studio_command(app, exit_code);
#endif
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        return app.exit(error) == 0 ? ok : bad_input;
    } catch (const ModelError& error) {
        fmt::print(stderr, "error: {}\n", error.what());
        return bad_input;
    } catch (const std::exception& error) {
        fmt::print(stderr, "error: {}\n", error.what());
        return solver_failed;
    }
    return exit_code;
}

}  // namespace limber::app
