#pragma once
// Shared by the commands: options of a simulation, progress bar, tables.

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "limber/io/model_file.hpp"
#include "limber/modular/exchange.hpp"
#include "limber/simulation/run.hpp"

namespace limber::app {

enum ExitCode { ok = 0, bad_input = 1, solver_failed = 2 };

/// What `run`, `check` and `compare` have in common.
struct ModelArguments {
    std::string path;
    std::vector<std::string> set;
    std::string coordinates;
    std::vector<std::string> options;

    void add_to(CLI::App& command, bool with_simulation);
    ModelFile read() const;
    /// What was given on the command line, or else by the model, or the default.
    SimulationOptions simulation_options(const Model& model, const std::string& formulation,
                                         const std::string& integrator) const;
    /// Names of the settings given.
    std::vector<std::string> option_names() const;
};

/// Throws ModelError if a setting given as --option NAME=VALUE, or by a flag of its own, does nothing under these
/// options.
void refuse_idle_options(const std::vector<std::string>& names, const SimulationOptions& options, const Model& model);

/// Under a heading, one per line; nothing if there are none.
void print_warnings(const std::vector<Warning>& warnings);
/// [{"kind", "text", "elements"}]
nlohmann::ordered_json list_warnings(const std::vector<Warning>& warnings);

/// A positive number given on the command line as an expression ("1e-3", "1/240"), or else the fallback.
double positive_number(const std::string& given, double fallback, const char* name);

/// "NAME=VALUE"; throws ModelError otherwise.
std::pair<std::string, std::string> split_assignment(const std::string& text, const char* what);

/// Settings given as --option NAME=VALUE.
void apply_option(const std::string& assignment, SimulationOptions& options);

/// A bar on the terminal while something runs; silent if standard error is not a terminal.
class ProgressBar {
public:
    ProgressBar(double start, double end, bool is_enabled);
    ~ProgressBar();
    ProgressBar(const ProgressBar&) = delete;
    ProgressBar& operator=(const ProgressBar&) = delete;
    void show(double at, const std::string& note = "") const;

private:
    double start_, end_;
    bool is_enabled_;
};

/// Columns aligned to their widest entry; the first row is the heading.
std::string format_table(const std::vector<std::vector<std::string>>& rows, const std::string& indent = "  ");

/// With the other processes of a distributed run; null: there are none. Set by the main program.
std::shared_ptr<Exchange>& process_exchange();

void add_run_command(CLI::App& app, int& exit_code);
void add_check_command(CLI::App& app, int& exit_code);
void add_equilibrium_command(CLI::App& app, int& exit_code);
void add_linear_commands(CLI::App& app, int& exit_code);
void add_play_command(CLI::App& app, int& exit_code);
void add_replay_command(CLI::App& app, int& exit_code);
void add_list_command(CLI::App& app, int& exit_code);
void add_compare_command(CLI::App& app, int& exit_code);
void add_studio_command(CLI::App& app, int& exit_code);

}  // namespace limber::app
