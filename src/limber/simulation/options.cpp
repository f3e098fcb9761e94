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

// One formulation with one integrator: of the whole, or of a component.
struct Method {
    const FormulationInfo& formulation;
    const IntegratorInfo& integrator;
    const SimulationOptions& options;
    const Model& model;

    bool is_time_stepping() const { return integrator.name == "moreau-jean"; }
    bool is_structural() const { return !integrator.needs_accelerations && !is_time_stepping(); }
    bool is_divided() const { return options.modular.is_on(); }
    bool has_stops() const { return model.stops.size() > 0; }
    bool acts_at_events() const {
        return !has_stops() || options.contact_options.treatment == ContactTreatment::events;
    }
    /// Time-stepping of rigid bodies that touch takes stops for contacts, with a law of their own.
    bool steps_over_stops() const {
        const auto handles = model.contacts.handles();
        return is_time_stepping() && std::any_of(handles.begin(), handles.end(), [&](const auto handle) {
                   return model.contacts.get(handle).law == ContactRule::Law::rigid;
               });
    }
    bool has_newton() const { return formulation.is_step_solver && is_structural() && acts_at_events(); }
    /// Accelerations are integrated, and constraints stabilised.
    bool is_stabilised() const {
        return !has_newton() && !is_time_stepping() && integrator.name != "reference" && acts_at_events();
    }
    bool has_gains() const {
        const Stabilisation chosen = options.formulation_options.stabilisation;
        return is_stabilised() &&
               (chosen == Stabilisation::gains ||
                (chosen == Stabilisation::automatic && is_structural() && formulation.name != "null-space"));
    }
    bool couples_accelerations() const { return is_divided() && options.modular.coupling == Coupling::acceleration; }
    bool has_relative_error() const {
        const auto handles = model.sensors.handles();
        return std::any_of(handles.begin(), handles.end(), [&](const auto handle) {
            return model.sensors.get(handle).quantity == Sensor::Quantity::relative_error;
        });
    }
};

// Where an option acts, and the same in words: "it needs ...". Every option has one.
struct Need {
    const char* words;
    bool (*is_met)(const Method&);
};

constexpr Need any_run{"", [](const Method&) { return true; }};
constexpr Need divided{"a mechanism divided into components (--modular)",
                       [](const Method& m) { return m.is_divided(); }};
constexpr Need newton{"global, hybrid or semi-recursive with a structural integrator",
                      [](const Method& m) { return m.has_newton(); }};
constexpr Need stabilised{
    "accelerations that are integrated: a structural integrator with an acceleration solver, rk4 or "
    "semi-implicit-euler",
    [](const Method& m) { return m.is_stabilised(); }};
// What gains ask of the constraints' accelerations is judged: without gains there is nothing to judge.
constexpr Need gains{
    "stabilising gains (option stabilisation=gains, or a structural integrator with an acceleration solver other than "
    "null-space)",
    [](const Method& m) { return m.has_gains(); }};
constexpr Need gains_or_error{
    "stabilising gains (option stabilisation=gains, or a structural integrator with an acceleration solver other than "
    "null-space), coupling=acceleration, or a sensor {error: relative}",
    [](const Method& m) { return m.has_gains() || m.couples_accelerations() || m.has_relative_error(); }};
constexpr Need stops{"a model with stops", [](const Method& m) { return m.has_stops(); }};

struct WordOption {
    const char* name;
    const char* meaning;
    std::vector<std::string> words;  // the first is the default
    std::function<void(SimulationOptions&, int)> apply;
    Need need;
};

const std::vector<WordOption>& word_options() {
    static const std::vector<WordOption> list{
        {"stabilisation",
         "of constraints while accelerations are integrated",
         {"automatic", "gains", "projection", "none"},
         [](auto& o, int word) { o.formulation_options.stabilisation = static_cast<Stabilisation>(word); },
         stabilised},
        {"tangent",
         "of Newton's method in global, hybrid, semi-recursive",
         {"exact", "approximate"},
         [](auto& o, int word) { o.formulation_options.use_approximate_tangent = word == 1; },
         newton},
        {"stops",
         "how they are treated: exactly, or by the methods of Glowinski and Nasser",
         {"events", "augmented-lagrangian", "multipliers", "penalty"},
         [](auto& o, int word) { o.contact_options.treatment = static_cast<ContactTreatment>(word); },
         stops},
        {"impacts",
         "law of several impacts at once: of velocities, of impulses, or one after the other",
         {"newton", "poisson", "in-turn"},
         [](auto& o, int word) { o.contact_options.impact_law = static_cast<ImpactLaw>(word); },
         Need{"a model with stops that are treated by events",
              [](const Method& m) { return m.has_stops() && m.acts_at_events() && !m.steps_over_stops(); }}},
        {"gluing", "of components", gluing_names(),
         [](auto& o, int word) { o.modular.gluing = static_cast<Gluing>(word); }, divided},
        {"coupling", "of components: what joints between them ask for", coupling_names(),
         [](auto& o, int word) { o.modular.coupling = static_cast<Coupling>(word); }, divided},
        {"course",
         "of forces between components over a step that one of them divides",
         {"linear", "hold", "quadratic"},
         [](auto& o, int word) {
             constexpr ForceCourse courses[] = {ForceCourse::linear, ForceCourse::hold, ForceCourse::quadratic};
             o.modular.course = courses[word];
         },
         divided},
        {"gluing-iteration",
         "of forces between components; no: they are extrapolated over the step",
         {"yes", "no"},
         [](auto& o, int word) { o.modular.use_iteration = word == 0; },
         divided},
    };
    return list;
}

struct NumberOption {
    const char* name;
    const char* meaning;
    double least, most;
    std::function<void(SimulationOptions&, double)> apply;
    Need need;
};

const std::vector<NumberOption>& number_options() {
    static const std::vector<NumberOption> list{
        {"penalty", "over the inertia a constraint meets (global 1e6, augmented-lagrangian 1e7, penalty 1e8)", 1, 1e14,
         [](auto& o, double v) { o.formulation_options.penalty = v; },
         Need{"a formulation with penalties: global, hybrid, augmented-lagrangian, composite-body, penalty, or "
              "baumgarte and null-space for their projection",
              [](const Method& m) {
                  const std::string& f = m.formulation.name;
                  if (m.is_time_stepping() || !m.acts_at_events()) return false;
                  if (f == "hybrid") return m.is_structural();
                  return f != "semi-recursive" && f != "articulated-body" && f != "canonical-momenta";
              }}},
        {"frequency", "of the stabilising gains, times the step (0.628)", 0, 10,
         [](auto& o, double v) { o.formulation_options.frequency = v; }, gains_or_error},
        {"damping", "ratio of the stabilising gains (0.1)", 0, 10,
         [](auto& o, double v) { o.formulation_options.damping = v; }, gains_or_error},
        {"tolerance", "of Newton's iteration, over the change in a step (1e-7)", 1e-14, 1e-2,
         [](auto& o, double v) { o.formulation_options.tolerance = v; },
         Need{"a structural integrator", [](const Method& m) { return m.is_structural() && m.acts_at_events(); }}},
        {"xi", "newmark: dissipation, -1 .. 0 (-0.1)", -1, 0,
         [](auto& o, double v) { o.integrator_options.newmark_xi = v; },
         Need{"the integrator newmark", [](const Method& m) { return m.integrator.name == "newmark"; }}},
        {"delta", "hht: dissipation, 0 .. 1/3 (0.1)", 0, 1.0 / 3.0,
         [](auto& o, double v) { o.integrator_options.hht_delta = v; },
         Need{"the integrator hht", [](const Method& m) { return m.integrator.name == "hht"; }}},
        {"rho", "generalized-alpha: spectral radius at infinity, 0 .. 1 (0.8)", 0, 1,
         [](auto& o, double v) { o.integrator_options.rho_infinity = v; },
         Need{"the integrator generalized-alpha",
              [](const Method& m) { return m.integrator.name == "generalized-alpha"; }}},
        {"passes", "corrector passes of structural schemes on acceleration solvers (2)", 1, 100,
         [](auto& o, double v) { o.integrator_options.corrector_passes = static_cast<int>(v); },
         Need{"a structural integrator with an acceleration solver, or coupling=acceleration",
              [](const Method& m) { return (m.is_structural() && m.is_stabilised()) || m.couples_accelerations(); }}},
        {"halvings", "of a step that fails, before the run does (10)", 0, 30,
         [](auto& o, double v) { o.integrator_options.max_halvings = static_cast<int>(v); },
         Need{"an integrator other than moreau-jean and reference",
              [](const Method& m) {
                  return m.is_divided() ||
                         (!m.is_time_stepping() && m.integrator.name != "reference" && m.acts_at_events());
              }}},
        {"step-control", "tolerance of eq. (24) of Seguy 2003; 0 is off (0)", 0, 1e30,
         [](auto& o, double v) { o.integrator_options.step_control = v; }, gains},
        {"stop-stiffness",
         "penalty of stops by force over depth, unless they are treated by events; 0 is automatic (0)", 0, 1e30,
         [](auto& o, double v) { o.contact_options.stiffness = v; },
         Need{"stops=augmented-lagrangian or stops=penalty, and a model with stops",
              [](const Method& m) {
                  const ContactTreatment chosen = m.options.contact_options.treatment;
                  return m.has_stops() &&
                         (chosen == ContactTreatment::augmented_lagrangian || chosen == ContactTreatment::penalty);
              }}},
        {"gluing-tolerance", "of the forces between components (1e-8)", 1e-13, 1,
         [](auto& o, double v) { o.modular.tolerance = v; }, divided},
        {"gluing-rho", "step of uzawa; 0: by the inertia that joints meet (0)", 0, 1e30,
         [](auto& o, double v) { o.modular.rho = v; },
         Need{"a divided mechanism with gluing=uzawa",
              [](const Method& m) { return m.is_divided() && m.options.modular.gluing == Gluing::uzawa; }}},
        {"gluing-questions", "to the components in a step, before it counts as failed (400)", 1, 1e9,
         [](auto& o, double v) { o.modular.max_questions = static_cast<int>(v); }, divided},
        {"threads", "that share out the components; results do not depend on it (1)", 1, 256,
         [](auto& o, double v) { o.modular.threads = static_cast<int>(v); }, divided},
        {"energy-bound",
         "a run stops where its energy balance is off by so many times the energies of start, gravity and work; 0 is "
         "off "
         "(100)",
         0, 1e30, [](auto& o, double v) { o.energy_bound = v; }, any_run},
        {"reference-tolerance", "of the reference integrator (1e-10)", 1e-14, 1e-2,
         [](auto& o, double v) { o.integrator_options.reference_tolerance = v; },
         Need{"the integrator reference", [](const Method& m) { return m.integrator.name == "reference"; }}},
    };
    return list;
}

}  // namespace

SimulationOptions simulation_options_of(const Model& model) {
    SimulationOptions options;
    if (!model.simulation.formulation.empty()) options.formulation = model.simulation.formulation;
    if (!model.simulation.integrator.empty()) options.integrator = model.simulation.integrator;
    options.coordinates = model.simulation.coordinates;
    options.from_equilibrium = model.simulation.from_equilibrium;
    apply_contact_defaults(model, options);
    apply_modular_defaults(model, options);
    return options;
}

std::string explain_no_effect(const std::string& name, const SimulationOptions& options, const Model& model) {
    const Need* need = nullptr;
    for (const auto& option : word_options())
        if (name == option.name) need = &option.need;
    for (const auto& option : number_options())
        if (name == option.name) need = &option.need;
    if (need == nullptr) return {};
    const auto acts = [&](const std::string& formulation, const std::string& integrator) {
        return need->is_met({find_formulation(formulation.empty() ? options.formulation : formulation),
                             find_integrator(integrator.empty() ? options.integrator : integrator), options, model});
    };
    if (acts("", "")) return {};
    if (options.modular.is_on())
        for (const ComponentGroup& group : model.simulation.components)
            if (acts(group.formulation, group.integrator)) return {};
    return fmt::format("option {} does nothing with {} and {}{}: it needs {}", name, options.formulation,
                       options.integrator, options.modular.is_on() ? " in components" : "", need->words);
}

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
