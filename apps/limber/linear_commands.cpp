// limber modes: eigenvalues, frequencies, damping and mode shapes at a state of a model.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>

#include "common.hpp"
#include "interrupt.hpp"
#include "limber/analysis/linear/modes.hpp"

namespace limber::app {
namespace {

struct LinearArguments {
    ModelArguments model;
    std::string at = "start", summary = "text";
    int count = 0;

    void add_to(CLI::App& command) {
        model.add_to(command, false);
        command
            .add_option("--at", at,
                        "start (default), equilibrium, or a time to which the model runs before, as its section "
                        "'simulation' says")
            ->type_name("STATE");
        command.add_option("--count", count, "Only so many eigenvalues, those of smallest magnitude (default: all)")
            ->type_name("K")
            ->check(CLI::PositiveNumber);
        command.add_option("--summary", summary, "text (default), or json: one JSON object and nothing else")
            ->type_name("FORM")
            ->check(CLI::IsMember({"text", "json"}));
    }
};

LinearModel linearise_at(const LinearArguments& arguments, const ModelFile& file) {
    if (!arguments.model.coordinates.empty())
        throw ModelError("--coordinates does nothing here: independent coordinates are found from the relative ones");
    try {
        SimulationOptions options = simulation_options_of(file.model);
        LinearOptions linear;
        if (arguments.at == "equilibrium") {
            options = SimulationOptions{};
            options.coordinates = "relative";
            options.from_equilibrium = true;
            linear.at_rest = true;
        }
        Simulation simulation(file.model, options);
        if (arguments.at != "start" && arguments.at != "equilibrium") {
            const double until = positive_number(arguments.at, 0, "--at");
            const RunResult result = run_until(simulation, until);
            if (!result.summary.ok) throw std::runtime_error(result.summary.failure);
        }
        return linearise(simulation, linear);
    } catch (const ModelError& error) {
        throw ModelError(file.locate(error.what()));
    }
}

std::vector<int> choose(const LinearModes& modes, int count) {
    std::vector<int> chosen(modes.eigen.values.size());
    std::iota(chosen.begin(), chosen.end(), 0);
    if (count == 0 || count >= static_cast<int>(chosen.size())) return chosen;
    std::ranges::stable_sort(
        chosen, [&](int a, int b) { return std::abs(modes.eigen.values[a]) < std::abs(modes.eigen.values[b]); });
    chosen.resize(count);
    std::ranges::sort(chosen);
    return chosen;
}

nlohmann::ordered_json number_or_null(double value) {
    return std::isfinite(value) ? nlohmann::ordered_json(value) : nlohmann::ordered_json(nullptr);
}

nlohmann::ordered_json describe_shape(const LinearModes& modes, int k) {
    nlohmann::ordered_json json;
    const ModeShape& shape = modes.shapes[k];
    json["shape"] = nlohmann::ordered_json::object();
    json["participation"] = nlohmann::ordered_json::object();
    for (std::size_t i = 0; i < modes.model.motions.size(); ++i) {
        const auto place = static_cast<Eigen::Index>(i);
        const std::complex<double> value = shape.shape[place];
        json["shape"][modes.model.motions[i]] = {value.real(), value.imag()};
        json["participation"][modes.model.motions[i]] = shape.participation[place];
    }
    return json;
}

void print_json(const LinearModes& modes, const std::vector<int>& chosen) {
    nlohmann::ordered_json json;
    for (const char* key : {"eigenvalues", "frequencies_hz", "damping_ratios"}) json[key] = nlohmann::json::array();
    for (const int k : chosen) {
        json["eigenvalues"].push_back({modes.eigen.values[k].real(), modes.eigen.values[k].imag()});
        json["frequencies_hz"].push_back(modes.frequencies_hz[k]);
        json["damping_ratios"].push_back(number_or_null(modes.damping_ratios[k]));
    }
    json["zero"] = modes.zero;
    json["verdict"] = modes.verdict;
    json["reason"] = modes.reason;
    json["modes"] = nlohmann::json::array();
    for (const int k : chosen) json["modes"].push_back(describe_shape(modes, k));
    fmt::print("{}\n", json.dump(2));
}

std::string name_largest(const LinearModes& modes, int k) {
    const VecX& shares = modes.shapes[k].participation;
    if (shares.size() == 0) return "";
    int largest = 0;
    shares.maxCoeff(&largest);
    return fmt::format("{:.0f} % {}", 100 * shares[largest], modes.model.motions[largest]);
}

void print_text(const LinearModes& modes, const std::vector<int>& chosen, const std::string& title) {
    fmt::print("{}\n  {}: {}\n", title, modes.verdict, modes.reason);
    for (const std::string& name : modes.zero) fmt::print("  free: {}\n", name);
    std::vector<std::vector<std::string>> rows{{"real [1/s]", "imaginary [1/s]", "[Hz]", "damping", "most of all"}};
    for (const int k : chosen) {
        const std::complex<double> value = modes.eigen.values[k];
        if (value.imag() < 0) continue;
        rows.push_back({fmt::format("{:.8g}", value.real()), fmt::format("{:.8g}", value.imag()),
                        fmt::format("{:.6g}", modes.frequencies_hz[k]),
                        std::isfinite(modes.damping_ratios[k]) ? fmt::format("{:.5g}", modes.damping_ratios[k]) : "",
                        name_largest(modes, k)});
    }
    fmt::print("\n{}", format_table(rows));
}

int show_modes(const LinearArguments& arguments) {
    end_on_interrupt();
    const ModelFile file = arguments.model.read();
    const LinearModes modes = find_modes(linearise_at(arguments, file));
    const std::vector<int> chosen = choose(modes, arguments.count);
    if (arguments.summary == "json")
        print_json(modes, chosen);
    else
        print_text(modes, chosen, file.model.title.empty() ? arguments.model.path : file.model.title);
    return ok;
}

}  // namespace

void add_linear_commands(CLI::App& app, int& exit_code) {
    auto arguments = std::make_shared<LinearArguments>();
    CLI::App* command =
        app.add_subcommand("modes", "Eigenvalues, frequencies, damping and mode shapes, and what is free to move");
    arguments->add_to(*command);
    command->footer(
        "Examples:\n"
        "  limber modes examples/double-pendulum.yaml --at equilibrium\n"
        "  limber modes examples/bicycle.yaml --set u=5 --summary json");
    command->callback([arguments, &exit_code] { exit_code = show_modes(*arguments); });
}

}  // namespace limber::app
