#include "common.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <functional>

#include "limber/model/evaluation.hpp"

namespace limber::app {

void ModelArguments::add_to(CLI::App& command, bool with_simulation) {
    command.add_option("model", path, "Model file (YAML)")->required()->type_name("MODEL");
    command.add_option("--set", set, "Value of a parameter of the model, in place of the one in the file")
        ->type_name("NAME=VALUE")
        ->take_all();
    command
        .add_option("--coordinates", coordinates,
                    "natural, reference-point or relative (default: what suits the formulation)")
        ->type_name("SET");
    if (with_simulation)
        command.add_option("--option", options, "Setting of formulation or integrator; see 'limber list options'")
            ->type_name("NAME=VALUE")
            ->take_all();
}

std::pair<std::string, std::string> split_assignment(const std::string& text, const char* what) {
    const auto equals = text.find('=');
    if (equals == std::string::npos || equals == 0)
        throw ModelError(fmt::format("{}: expected NAME=VALUE, found '{}'", what, text));
    return {text.substr(0, equals), text.substr(equals + 1)};
}

ModelFile ModelArguments::read() const {
    ParameterOverrides overrides;
    for (const std::string& assignment : set) overrides.push_back(split_assignment(assignment, "--set"));
    return read_model_file(path, overrides);
}

namespace {

struct OptionFormat {
    const char* name;
    const char* meaning;
    double least, most;
    std::function<void(SimulationOptions&, double)> apply;
};

const std::vector<OptionFormat>& option_formats() {
    static const std::vector<OptionFormat> list{
        {"penalty", "over the inertia a constraint meets (global 1e6, augmented-lagrangian 1e7, penalty 1e8)", 1, 1e14,
         [](auto& o, double v) { o.formulation_options.penalty = v; }},
        {"frequency", "of the stabilising gains, times the step (0.628)", 0, 10,
         [](auto& o, double v) { o.formulation_options.frequency = v; }},
        {"damping", "ratio of the stabilising gains (0.1)", 0, 10,
         [](auto& o, double v) { o.formulation_options.damping = v; }},
        {"tolerance", "of Newton's iteration, over the change in a step (1e-7)", 1e-14, 1e-2,
         [](auto& o, double v) { o.formulation_options.tolerance = v; }},
        {"xi", "newmark: dissipation, -1 .. 0 (-0.1)", -1, 0,
         [](auto& o, double v) { o.integrator_options.newmark_xi = v; }},
        {"delta", "hht: dissipation, 0 .. 1/3 (0.1)", 0, 1.0 / 3.0,
         [](auto& o, double v) { o.integrator_options.hht_delta = v; }},
        {"rho", "generalized-alpha: spectral radius at infinity, 0 .. 1 (0.8)", 0, 1,
         [](auto& o, double v) { o.integrator_options.rho_infinity = v; }},
        {"passes", "corrector passes of structural schemes on acceleration solvers (2)", 1, 100,
         [](auto& o, double v) { o.integrator_options.corrector_passes = static_cast<int>(v); }},
        {"step-control", "tolerance of eq. (24) of Seguy 2003; 0 is off (0)", 0, 1e30,
         [](auto& o, double v) { o.integrator_options.step_control = v; }},
        {"reference-tolerance", "of the reference integrator (1e-10)", 1e-14, 1e-2,
         [](auto& o, double v) { o.integrator_options.reference_tolerance = v; }},
    };
    return list;
}

}  // namespace

std::string describe_options() {
    std::string text = fmt::format("{:<22} {}\n", "stabilisation", "automatic, gains, projection or none (automatic)");
    for (const auto& option : option_formats()) text += fmt::format("{:<22} {}\n", option.name, option.meaning);
    return text;
}

void apply_option(const std::string& assignment, SimulationOptions& options) {
    const auto [name, value] = split_assignment(assignment, "--option");
    if (name == "stabilisation") {
        const std::vector<std::string> words{"automatic", "gains", "projection", "none"};
        const auto it = std::find(words.begin(), words.end(), value);
        if (it == words.end())
            throw ModelError(fmt::format("--option stabilisation: expected one of {}, found '{}'{}",
                                         fmt::join(words, ", "), value, did_you_mean(value, words)));
        options.formulation_options.stabilisation = static_cast<Stabilisation>(it - words.begin());
        return;
    }
    std::vector<std::string> names{"stabilisation"};
    for (const auto& option : option_formats()) {
        names.emplace_back(option.name);
        if (name != option.name) continue;
        const double number = Expression::parse(value).bind({}).constant();
        if (!(number >= option.least && number <= option.most))
            throw ModelError(fmt::format("--option {}: expected a number between {:.4g} and {:.4g}, found '{}'", name,
                                         option.least, option.most, value));
        option.apply(options, number);
        return;
    }
    throw ModelError(fmt::format("--option: unknown setting '{}'{}; known: {}", name, did_you_mean(name, names),
                                 fmt::join(names, ", ")));
}

double simulation_number(const Model& model, const std::optional<Number>& number, double fallback, const char* what) {
    return number ? ModelEvaluation(model).number(*number, fmt::format("simulation: {}", what)) : fallback;
}

// ---------------------------------------------------------------- terminal

ProgressBar::ProgressBar(double start, double end, bool is_enabled)
    : start_(start), end_(end), is_enabled_(is_enabled && isatty(STDERR_FILENO) != 0) {}

ProgressBar::~ProgressBar() {
    if (is_enabled_) fmt::print(stderr, "\r\033[K");
}

void ProgressBar::show(double at, const std::string& note) const {
    if (!is_enabled_) return;
    constexpr int width = 40;
    const double part = end_ > start_ ? std::clamp((at - start_) / (end_ - start_), 0.0, 1.0) : 1.0;
    const int filled = static_cast<int>(part * width);
    std::string bar;
    for (int i = 0; i < width; ++i) bar += i < filled ? "█" : "░";
    fmt::print(stderr, "\r\033[K{} {:3.0f} %  {}", bar, 100 * part, note);
    std::fflush(stderr);
}

std::string format_table(const std::vector<std::vector<std::string>>& rows, const std::string& indent) {
    std::vector<std::size_t> width;
    for (const auto& row : rows)
        for (std::size_t i = 0; i < row.size(); ++i) {
            if (i >= width.size()) width.push_back(0);
            width[i] = std::max(width[i], row[i].size());
        }
    std::string text;
    for (const auto& row : rows) {
        std::string line = indent;
        for (std::size_t i = 0; i < row.size(); ++i) {
            // Words to the left, numbers to the right.
            const bool is_number = !row[i].empty() && (row[i][0] == '-' || (row[i][0] >= '0' && row[i][0] <= '9'));
            const bool number_column = rows.size() > 1 && i < rows[1].size() && !rows[1][i].empty() &&
                                       (rows[1][i][0] == '-' || (rows[1][i][0] >= '0' && rows[1][i][0] <= '9'));
            if (i > 0) line += "  ";
            line += is_number || (number_column && &row == &rows.front()) ? fmt::format("{:>{}}", row[i], width[i])
                                                                          : fmt::format("{:<{}}", row[i], width[i]);
        }
        while (!line.empty() && line.back() == ' ') line.pop_back();
        text += line + "\n";
    }
    return text;
}

}  // namespace limber::app
