#include "limber/simulation/options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <vector>

#include "limber/model/error.hpp"
#include "limber/model/evaluation.hpp"
#include "limber/model/expression.hpp"
#include "limber/modular/gluing.hpp"

namespace limber {
namespace {

struct WordOption {
    const char* name;
    const char* meaning;
    std::vector<std::string> words;  // the first is the default
    std::function<void(SimulationOptions&, int)> apply;
};

const std::vector<WordOption>& word_options() {
    static const std::vector<WordOption> list{
        {"stabilisation",
         "of constraints while accelerations are integrated",
         {"automatic", "gains", "projection", "none"},
         [](auto& o, int word) { o.formulation_options.stabilisation = static_cast<Stabilisation>(word); }},
        {"tangent",
         "of Newton's method in global, hybrid, semi-recursive",
         {"exact", "approximate"},
         [](auto& o, int word) { o.formulation_options.use_approximate_tangent = word == 1; }},
        {"stops",
         "how they are treated: exactly, or by the methods of Glowinski and Nasser",
         {"events", "augmented-lagrangian", "multipliers", "penalty"},
         [](auto& o, int word) { o.contact_options.treatment = static_cast<ContactTreatment>(word); }},
        {"impacts",
         "law of several impacts at once: of velocities, of impulses, or one after the other",
         {"newton", "poisson", "in-turn"},
         [](auto& o, int word) { o.contact_options.impact_law = static_cast<ImpactLaw>(word); }},
        {"gluing", "of components", gluing_names(),
         [](auto& o, int word) { o.modular.gluing = static_cast<Gluing>(word); }},
        {"coupling", "of components: what joints between them ask for", coupling_names(),
         [](auto& o, int word) { o.modular.coupling = static_cast<Coupling>(word); }},
        {"course",
         "of forces between components over a step that one of them divides",
         {"linear", "hold", "quadratic"},
         [](auto& o, int word) {
             constexpr ForceCourse courses[] = {ForceCourse::linear, ForceCourse::hold, ForceCourse::quadratic};
             o.modular.course = courses[word];
         }},
        {"gluing-iteration",
         "of forces between components; no: they are extrapolated over the step",
         {"yes", "no"},
         [](auto& o, int word) { o.modular.use_iteration = word == 0; }},
    };
    return list;
}

struct NumberOption {
    const char* name;
    const char* meaning;
    double least, most;
    std::function<void(SimulationOptions&, double)> apply;
};

const std::vector<NumberOption>& number_options() {
    static const std::vector<NumberOption> list{
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
        {"halvings", "of a step that fails, before the run does (10)", 0, 30,
         [](auto& o, double v) { o.integrator_options.max_halvings = static_cast<int>(v); }},
        {"step-control", "tolerance of eq. (24) of Seguy 2003; 0 is off (0)", 0, 1e30,
         [](auto& o, double v) { o.integrator_options.step_control = v; }},
        {"stop-stiffness",
         "penalty of stops by force over depth, unless they are treated by events; 0 is automatic (0)", 0, 1e30,
         [](auto& o, double v) { o.contact_options.stiffness = v; }},
        {"gluing-tolerance", "of the forces between components (1e-8)", 1e-13, 1,
         [](auto& o, double v) { o.modular.tolerance = v; }},
        {"gluing-rho", "step of uzawa; 0: by the inertia that joints meet (0)", 0, 1e30,
         [](auto& o, double v) { o.modular.rho = v; }},
        {"gluing-questions", "to the components in a step, before it counts as failed (400)", 1, 1e9,
         [](auto& o, double v) { o.modular.max_questions = static_cast<int>(v); }},
        {"threads", "that share out the components; results do not depend on it (1)", 1, 256,
         [](auto& o, double v) { o.modular.threads = static_cast<int>(v); }},
        {"reference-tolerance", "of the reference integrator (1e-10)", 1e-14, 1e-2,
         [](auto& o, double v) { o.integrator_options.reference_tolerance = v; }},
    };
    return list;
}

}  // namespace

void apply_contact_defaults(const Model& model, SimulationOptions& options) {
    if (!model.simulation.impacts.empty()) set_option(options, "impacts", model.simulation.impacts);
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
    if (m.use_iteration) options.modular.use_iteration = *m.use_iteration;
    const ModelEvaluation numbers(model);
    if (m.tolerance) options.modular.tolerance = numbers.number(*m.tolerance, "modular: tolerance");
    if (m.rho) options.modular.rho = numbers.number(*m.rho, "modular: rho");
    for (const auto& [joint, rho] : m.joint_rho)
        options.modular.joint_rho.emplace_back(joint, numbers.number(rho, "modular: joint-rho: " + joint));
}

std::string describe_options() {
    std::string text;
    for (const auto& option : word_options())
        text += fmt::format("{:<22} {}: {} ({})\n", option.name, option.meaning, fmt::join(option.words, ", "),
                            option.words.front());
    for (const auto& option : number_options()) text += fmt::format("{:<22} {}\n", option.name, option.meaning);
    return text;
}

void set_option(SimulationOptions& options, const std::string& name, const std::string& value) {
    std::vector<std::string> names;
    for (const auto& option : word_options()) {
        names.emplace_back(option.name);
        if (name != option.name) continue;
        const auto it = std::find(option.words.begin(), option.words.end(), value);
        if (it == option.words.end())
            throw ModelError(fmt::format("option {}: expected one of {}, found '{}'{}", name,
                                         fmt::join(option.words, ", "), value, did_you_mean(value, option.words)));
        option.apply(options, static_cast<int>(it - option.words.begin()));
        return;
    }
    for (const auto& option : number_options()) {
        names.emplace_back(option.name);
        if (name != option.name) continue;
        const double number = Expression::parse(value).bind({}).constant();
        if (!(number >= option.least && number <= option.most))
            throw ModelError(fmt::format("option {}: expected a number between {:.4g} and {:.4g}, found '{}'", name,
                                         option.least, option.most, value));
        option.apply(options, number);
        return;
    }
    throw ModelError(
        fmt::format("unknown option '{}'{}; known: {}", name, did_you_mean(name, names), fmt::join(names, ", ")));
}

}  // namespace limber
