#include "limber/simulation/option_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "limber/io/field_words.hpp"
#include "limber/model/error.hpp"
#include "limber/modular/gluing.hpp"
#include "limber/simulation/option_needs.hpp"

namespace limber {
namespace {

constexpr double largest_number = 1e30;
constexpr std::size_t longest_text = 200;
constexpr std::size_t max_joints = 1'000'000;

template <class Options, class At>
using FieldAt = std::remove_cvref_t<std::invoke_result_t<At, Options&>>;

// `at` gives the field, in constant and other options alike.
template <class Options, class At>
OptionRow<Options> number(const char* name, At at, double least, double most, const char* meaning = "",
                          const Need& need = needs::any_run) {
    using Field = FieldAt<Options, At>;
    using Kept = std::conditional_t<std::is_integral_v<Field>, long, double>;
    return {.name = name,
            .meaning = meaning,
            .need = &need,
            .least = least,
            .most = most,
            .get = [at](const Options& o) { return OptionValue(static_cast<Kept>(at(o))); },
            .put = [at](Options& o, const OptionValue& v) { at(o) = static_cast<Field>(std::get<Kept>(v)); }};
}

template <class Options>
OptionRow<Options> or_automatic(OptionRow<Options> row) {
    row.is_zero_automatic = true;
    return row;
}

template <class Options>
OptionRow<Options> without_effect_on_results(OptionRow<Options> row) {
    row.changes_results = false;
    return row;
}

template <class Options, class Choice, class At>
OptionRow<Options> word(const char* name, At at, const std::vector<std::pair<std::string, Choice>>& choices,
                        const char* meaning, const Need& need) {
    OptionRow<Options> row{.name = name, .meaning = meaning, .need = &need};
    for (const auto& [text, choice] : choices) row.words.push_back(text);
    row.get = [at, choices](const Options& o) {
        const auto it = std::find_if(choices.begin(), choices.end(), [&](const auto& c) { return c.second == at(o); });
        return OptionValue(it->first);
    };
    row.put = [at, choices](Options& o, const OptionValue& v) {
        const auto it = std::find_if(choices.begin(), choices.end(),
                                     [&](const auto& c) { return c.first == std::get<std::string>(v); });
        at(o) = it->second;
    };
    return row;
}

// Names in the order of the enumerators.
template <class Choice>
std::vector<std::pair<std::string, Choice>> in_order(const std::vector<std::string>& names) {
    std::vector<std::pair<std::string, Choice>> choices;
    choices.reserve(names.size());
    for (const std::string& name : names) choices.emplace_back(name, static_cast<Choice>(choices.size()));
    return choices;
}

// Texts, truths and lists.
template <class Options, class At>
OptionRow<Options> plain(const char* name, At at) {
    using Field = FieldAt<Options, At>;
    return {.name = name,
            .need = &needs::any_run,
            .get = [at](const Options& o) { return OptionValue(at(o)); },
            .put = [at](Options& o, const OptionValue& v) { at(o) = std::get<Field>(v); }};
}

#define LIMBER_AT(place)   \
    [](auto& o) -> auto& { \
        return o.place;    \
    }

std::vector<OptionRow<SimulationOptions>> list_simulation_options() {
    using O = SimulationOptions;
    using S = Stabilisation;
    using T = ContactTreatment;
    using I = ImpactLaw;
    using C = ForceCourse;
    using A = StopAction;
    return {
        plain<O>("formulation", LIMBER_AT(formulation)),
        plain<O>("integrator", LIMBER_AT(integrator)),
        plain<O>("coordinates", LIMBER_AT(coordinates)),
        plain<O>("from-equilibrium", LIMBER_AT(from_equilibrium)),
        plain<O>("division", LIMBER_AT(modular.division)),
        plain<O>("joint-rho", LIMBER_AT(modular.joint_rho)),
        plain<O>("joint-frequency", LIMBER_AT(formulation_options.joint_frequency)),
        plain<O>("joint-damping", LIMBER_AT(formulation_options.joint_damping)),

        word<O, S>("stabilisation", LIMBER_AT(formulation_options.stabilisation),
                   {{"automatic", S::automatic}, {"gains", S::gains}, {"projection", S::projection}, {"none", S::none}},
                   "of constraints while accelerations are integrated", needs::stabilisation),
        word<O, bool>("tangent", LIMBER_AT(formulation_options.use_approximate_tangent),
                      {{"exact", false}, {"approximate", true}}, "of Newton's method in global, hybrid, semi-recursive",
                      needs::newton),
        word<O, bool>("kinks", LIMBER_AT(integrator_options.locate_kinks), {{"located", true}, {"ignored", false}},
                      "of force laws (bump stops, straight-line tables, tyres that lift off): a step that crosses one "
                      "is divided there, or not (located)",
                      needs::kinks),
        word<O, T>("stops", LIMBER_AT(contact_options.treatment),
                   {{"events", T::events},
                    {"augmented-lagrangian", T::augmented_lagrangian},
                    {"multipliers", T::multipliers},
                    {"penalty", T::penalty}},
                   "how they are treated: exactly, or by the methods of Glowinski and Nasser", needs::stops),
        word<O, A>("stop-action", LIMBER_AT(contact_options.action), {{"force", A::force}, {"impulse", A::impulse}},
                   "what multipliers of stops are: forces at the end of a step, or impulses that take speed at once",
                   needs::stop_multipliers),
        word<O, I>("impacts", LIMBER_AT(contact_options.impact_law), in_order<I>(words_of(I{})),
                   "law of several impacts at once: of velocities, of impulses, or one after the other",
                   needs::impacts),
        word<O, Gluing>("gluing", LIMBER_AT(modular.gluing), in_order<Gluing>(gluing_names()), "of components",
                        needs::division),
        word<O, Coupling>("coupling", LIMBER_AT(modular.coupling), in_order<Coupling>(coupling_names()),
                          "of components: what joints between them ask for", needs::division),
        word<O, C>("course", LIMBER_AT(modular.course),
                   {{"linear", C::linear}, {"hold", C::hold}, {"quadratic", C::quadratic}},
                   "of forces between components over a step that one of them divides", needs::division),
        word<O, bool>("gluing-iteration", LIMBER_AT(modular.use_iteration), {{"yes", true}, {"no", false}},
                      "of forces between components; no: they are extrapolated over the step", needs::division),

        or_automatic(number<O>(
            "penalty", LIMBER_AT(formulation_options.penalty), 1, 1e14,
            "over the inertia a constraint meets (global 1e6, augmented-lagrangian 1e7, penalty 1e8)", needs::penalty)),
        word<O, PenaltyForm>("penalty-form", LIMBER_AT(formulation_options.penalty_form),
                             {{"artificial-mass", PenaltyForm::artificial_mass}, {"springs", PenaltyForm::springs}},
                             "what the formulation penalty puts in the place of constraints, eqs. (8) and (6) of "
                             "Seguy 2003",
                             needs::penalty_formulation),
        word<O, RowInertia>("row-inertia", LIMBER_AT(formulation_options.row_inertia),
                            {{"response", RowInertia::response}, {"product", RowInertia::product}},
                            "that springs in the place of joints are made for; product: eq. (15) of Seguy 2003",
                            needs::spring_penalty),
        or_automatic(number<O>("frequency", LIMBER_AT(formulation_options.frequency), 1e-6, 10,
                               "of the stabilising gains, times the step (0.628; with step control 1.987)",
                               needs::gains_or_error)),
        or_automatic(number<O>("damping", LIMBER_AT(formulation_options.damping), 1e-6, 10,
                               "ratio of the stabilising gains (0.1; with step control 1)", needs::gains_or_error)),
        number<O>("velocity-gain", LIMBER_AT(formulation_options.velocity_gain), 1e-6, 10,
                  "of rows for velocities, times the step: eq. (21) of Seguy 2003 (0.1)", needs::velocity_gain),
        number<O>("max-iterations", LIMBER_AT(formulation_options.max_iterations), 1, 1e6),
        number<O>("tolerance", LIMBER_AT(formulation_options.tolerance), 1e-14, 1e-2,
                  "of Newton's iteration, over the change in a step (1e-7)", needs::structural),
        number<O>("xi", LIMBER_AT(integrator_options.newmark_xi), -1, 0, "newmark: dissipation, -1 .. 0 (-0.1)",
                  needs::newmark),
        number<O>("delta", LIMBER_AT(integrator_options.hht_delta), 0, 1.0 / 3.0, "hht: dissipation, 0 .. 1/3 (0.1)",
                  needs::hht),
        number<O>("rho", LIMBER_AT(integrator_options.rho_infinity), 0, 1,
                  "generalized-alpha: spectral radius at infinity, 0 .. 1 (0.8)", needs::generalized_alpha),
        number<O>("passes", LIMBER_AT(integrator_options.corrector_passes), 1, 100,
                  "corrector passes of structural schemes on acceleration solvers (2)", needs::corrector),
        number<O>("halvings", LIMBER_AT(integrator_options.max_halvings), 0, 30,
                  "of a step that fails, before the run does (10)", needs::halvings),
        number<O>("projection-interval", LIMBER_AT(integrator_options.projection_interval), 1, 1e6,
                  "steps from one projection onto the constraints to the next (1)", needs::projection),
        number<O>("step-control", LIMBER_AT(integrator_options.step_control), 0, largest_number,
                  "tolerance of eq. (24) of Seguy 2003; 0 is off (0)", needs::step_control),
        number<O>("stop-stiffness", LIMBER_AT(contact_options.stiffness), 0, largest_number,
                  "penalty of stops by force over depth, unless they are treated by events; 0 is automatic (0)",
                  needs::stop_penalty),
        number<O>("stop-rho", LIMBER_AT(contact_options.rho), 0, largest_number,
                  "by which multipliers of stops change over depth; 0: the penalty, or without one what is exact for a "
                  "single contact (0)",
                  needs::stop_multipliers),
        number<O>("shortest-flight", LIMBER_AT(contact_options.shortest_flight), 0, 1),
        number<O>("gluing-tolerance", LIMBER_AT(modular.tolerance), 1e-13, 1, "of the forces between components (1e-8)",
                  needs::division),
        number<O>("gluing-rho", LIMBER_AT(modular.rho), 0, largest_number,
                  "step of uzawa; 0: by the inertia that joints meet (0)", needs::uzawa),
        number<O>("gluing-evaluations", LIMBER_AT(modular.max_evaluations), 1, 1e9,
                  "of the components in a step, before it counts as failed (400)", needs::division),
        without_effect_on_results(number<O>("threads", LIMBER_AT(modular.threads), 1, 256,
                                            "that share out the components; results do not depend on it (1)",
                                            needs::division)),
        number<O>("energy-bound", LIMBER_AT(energy_bound), 0, largest_number,
                  "a run stops where its energy balance is off by so many times the energies of start, gravity and "
                  "work; 0 is off (100)"),
        number<O>("reference-tolerance", LIMBER_AT(integrator_options.reference_tolerance), 1e-14, 1e-2,
                  "of the reference integrator (1e-10)", needs::adaptive),
    };
}

std::vector<OptionRow<SessionOptions>> list_session_options() {
    using O = SessionOptions;
    return {
        number<O>("step", LIMBER_AT(step), shortest_session_step, longest_session_step),
        number<O>("snap", LIMBER_AT(snap), 0, largest_number),
        number<O>("closing-frequency", LIMBER_AT(closing_frequency), 1e-6, 1e9),
        number<O>("renewal", LIMBER_AT(renewal), 1, 1e9),
    };
}

#undef LIMBER_AT

// What is wrong with a value; empty: nothing.
template <class Options>
std::string expected_of(const OptionRow<Options>& row, const OptionValue& value, const OptionValue& now) {
    if (!row.words.empty()) {
        const auto* text = std::get_if<std::string>(&value);
        if (text != nullptr && std::find(row.words.begin(), row.words.end(), *text) != row.words.end()) return {};
        return fmt::format("one of {}", fmt::join(row.words, ", "));
    }
    const auto is_in_range = [&](double x) {
        return (x >= row.least && x <= row.most) || (row.is_zero_automatic && x == 0);
    };
    if (std::holds_alternative<long>(now)) {
        const auto* x = std::get_if<long>(&value);
        if (x != nullptr && is_in_range(static_cast<double>(*x))) return {};
        return fmt::format("a whole number between {:.4g} and {:.4g}", row.least, row.most);
    }
    if (std::holds_alternative<double>(now)) {
        const auto* x = std::get_if<double>(&value);
        if (x != nullptr && is_in_range(*x)) return {};
        return fmt::format("a number between {:.4g} and {:.4g}", row.least, row.most);
    }
    if (value.index() != now.index())
        return std::holds_alternative<bool>(now)          ? "true or false"
               : std::holds_alternative<std::string>(now) ? "a word"
                                                          : "pairs of a joint and a number";
    if (const auto* text = std::get_if<std::string>(&value); text != nullptr && text->size() > longest_text)
        return fmt::format("at most {} letters", longest_text);
    if (const auto* joints = std::get_if<JointNumbers>(&value)) {
        const bool are_fit = std::all_of(joints->begin(), joints->end(), [](const auto& joint) {
            return joint.second >= 0 && joint.second <= largest_number;
        });
        if (!are_fit || joints->size() > max_joints) return "joints with numbers from 0 to 1e30";
    }
    return {};
}

}  // namespace

std::string print(const OptionValue& value) {
    if (const auto* joints = std::get_if<JointNumbers>(&value)) {
        std::string text;
        for (const auto& [name, number] : *joints) text += fmt::format("{}={} ", name, number);
        return text;
    }
    return std::visit(
        [](const auto& v) {
            if constexpr (std::is_same_v<std::decay_t<decltype(v)>, JointNumbers>) {
                return std::string();
            } else {
                return fmt::format("{}", v);
            }
        },
        value);
}

template <class Options>
void OptionRow<Options>::set(Options& options, const OptionValue& value) const {
    const std::string expected = expected_of(*this, value, get(options));
    if (!expected.empty()) {
        const auto* text = std::get_if<std::string>(&value);
        throw ModelError(fmt::format("option {}: expected {}, found '{}'{}", name, expected, print(value).substr(0, 40),
                                     text != nullptr ? did_you_mean(*text, words) : ""));
    }
    put(options, value);
}

template struct OptionRow<SimulationOptions>;
template struct OptionRow<SessionOptions>;

const std::vector<OptionRow<SimulationOptions>>& simulation_option_rows() {
    static const std::vector<OptionRow<SimulationOptions>> rows = list_simulation_options();
    return rows;
}

const std::vector<OptionRow<SessionOptions>>& session_option_rows() {
    static const std::vector<OptionRow<SessionOptions>> rows = list_session_options();
    return rows;
}

}  // namespace limber
