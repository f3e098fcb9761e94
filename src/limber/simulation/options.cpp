#include "limber/simulation/options.hpp"

#include <fmt/format.h>

#include <cmath>
#include <vector>

#include "limber/model/error.hpp"
#include "limber/model/evaluation.hpp"
#include "limber/model/expression.hpp"
#include "limber/simulation/option_needs.hpp"
#include "limber/simulation/option_table.hpp"

namespace limber {
namespace {

// Null: there is none of that name that can be set.
const OptionRow<SimulationOptions>* find_row(const std::string& name) {
    for (const auto& row : simulation_option_rows())
        if (name == row.name && *row.meaning != '\0') return &row;
    return nullptr;
}

OptionValue read_value(const OptionRow<SimulationOptions>& row, const std::string& text) {
    const OptionValue usual = row.get({});
    if (std::holds_alternative<std::string>(usual)) return text;
    const double number = Expression::parse(text).bind({}).constant();
    if (std::holds_alternative<long>(usual) && number == std::floor(number) && std::abs(number) < 1e15)
        return static_cast<long>(number);
    return number;
}

}  // namespace

SimulationOptions simulation_options_of(const Model& model) {
    SimulationOptions options;
    if (!model.simulation.formulation.empty()) options.formulation = model.simulation.formulation;
    if (!model.simulation.integrator.empty()) options.integrator = model.simulation.integrator;
    options.coordinates = model.simulation.coordinates;
    options.from_equilibrium = model.simulation.start == StartPose::equilibrium;
    apply_contact_defaults(model, options);
    apply_gain_defaults(model, options);
    apply_modular_defaults(model, options);
    return options;
}

std::string explain_no_effect(const std::string& name, const SimulationOptions& options, const Model& model) {
    const OptionRow<SimulationOptions>* row = find_row(name);
    if (row == nullptr) return {};
    const auto acts = [&](const std::string& formulation, const std::string& integrator) {
        return row->need->is_met({find_formulation(formulation.empty() ? options.formulation : formulation),
                                  find_integrator(integrator.empty() ? options.integrator : integrator), options,
                                  model});
    };
    if (acts("", "")) return {};
    if (options.modular.is_on())
        for (const ComponentGroup& group : model.simulation.components)
            if (acts(group.formulation, group.integrator)) return {};
    return fmt::format("option {} does nothing with {} and {}{}: it needs {}", name, options.formulation,
                       options.integrator, options.modular.is_on() ? " in components" : "", row->need->words);
}

void apply_contact_defaults(const Model& model, SimulationOptions& options) {
    if (model.simulation.impacts) options.contact_options.impact_law = *model.simulation.impacts;
}

void apply_gain_defaults(const Model& model, SimulationOptions& options) {
    const SimulationDefaults& s = model.simulation;
    const ModelEvaluation numbers(model);
    if (s.frequency) options.formulation_options.frequency = numbers.number(*s.frequency, "simulation: frequency");
    if (s.damping) options.formulation_options.damping = numbers.number(*s.damping, "simulation: damping");
    const auto by_joint = [&](const std::vector<JointNumber>& from, const std::string& what, NumbersByJoint& to) {
        for (const auto& [joint, value] : from) to.emplace_back(joint, numbers.number(value, what + ": " + joint));
    };
    by_joint(s.joint_frequency, "simulation: joint-frequency", options.formulation_options.joint_frequency);
    by_joint(s.joint_damping, "simulation: joint-damping", options.formulation_options.joint_damping);
}

void apply_modular_defaults(const Model& model, SimulationOptions& options) {
    const ModularDefaults& m = model.simulation.modular;
    options.modular.division = m.division;
    const auto word = [&](const char* name, const std::string& value) {
        if (!value.empty()) set_option(options, name, value);
    };
    word("gluing", m.gluing);
    word("coupling", m.coupling);
    word("course", m.course);
    word("row-inertia", m.row_inertia);
    if (m.use_iteration) options.modular.use_iteration = *m.use_iteration;
    const ModelEvaluation numbers(model);
    if (m.tolerance) options.modular.tolerance = numbers.number(*m.tolerance, "modular: tolerance");
    if (m.rho) options.modular.rho = numbers.number(*m.rho, "modular: rho");
    for (const auto& [joint, rho] : m.joint_rho)
        options.modular.joint_rho.emplace_back(joint, numbers.number(rho, "modular: joint-rho: " + joint));
}

std::string describe_options() {
    std::string text;
    for (const auto& row : simulation_option_rows()) {
        if (*row.meaning == '\0') continue;
        text += fmt::format("{:<22} {}", row.name, row.meaning);
        if (!row.words.empty()) text += fmt::format(": {} ({})", fmt::join(row.words, ", "), row.words.front());
        text += '\n';
    }
    return text;
}

void set_option(SimulationOptions& options, const std::string& name, const std::string& value) {
    if (const auto* row = find_row(name)) return row->set(options, read_value(*row, value));
    std::vector<std::string> names;
    for (const auto& row : simulation_option_rows())
        if (*row.meaning != '\0') names.emplace_back(row.name);
    throw ModelError(
        fmt::format("unknown option '{}'{}; known: {}", name, did_you_mean(name, names), fmt::join(names, ", ")));
}

}  // namespace limber
