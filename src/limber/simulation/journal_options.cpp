#include "limber/simulation/journal_options.hpp"

#include <fmt/format.h>

#include <cmath>
#include <functional>
#include <nlohmann/json.hpp>
#include <type_traits>

#include "limber/model/error.hpp"

namespace limber {
namespace {

using Json = nlohmann::ordered_json;

constexpr double largest_option = 1e30;
constexpr std::size_t longest_word = 200;
constexpr std::size_t most_joints = 1'000'000;

[[noreturn]] void refuse(const char* key, const std::string& expected, const Json& found) {
    const std::string text = found.dump(-1, ' ', false, Json::error_handler_t::replace);
    throw ModelError(fmt::format("'{}': expected {}, found {}", key, expected, text.substr(0, 40)));
}

const Json& member(const Json& json, const char* key) {
    const auto it = json.is_object() ? json.find(key) : json.end();
    if (it == json.end()) throw ModelError(fmt::format("'{}' is missing", key));
    return *it;
}

enum class Presence { always, newer };  // newer: journals of before have none

struct Setting {
    const char* section;  // empty: at the top
    const char* key;
    Presence presence;
    std::function<void(const RecordedOptions&, Json&)> write;
    std::function<void(const Json&, RecordedOptions&)> read;
};

// `at` gives the place of the setting in constant and other options alike.
template <class At>
Setting number(const char* section, const char* key, At at, double least, double most,
               Presence presence = Presence::always) {
    return {section, key, presence, [=](const RecordedOptions& o, Json& json) { json[key] = at(o); },
            [=](const Json& json, RecordedOptions& o) {
                using Number = std::remove_reference_t<decltype(at(o))>;
                if constexpr (std::is_integral_v<Number>) {
                    at(o) = static_cast<Number>(
                        read_whole_number(json, key, static_cast<long>(least), static_cast<long>(most)));
                } else {
                    at(o) = read_number(json, key, least, most);
                }
            }};
}

// Words are kept as their places in the enumeration, of which `last` is the last.
template <class At, class Enumeration>
Setting word(const char* section, const char* key, At at, Enumeration last, Presence presence = Presence::always) {
    return {section, key, presence, [=](const RecordedOptions& o, Json& json) { json[key] = static_cast<int>(at(o)); },
            [=](const Json& json, RecordedOptions& o) {
                at(o) = static_cast<Enumeration>(read_whole_number(json, key, 0, static_cast<long>(last)));
            }};
}

template <class At>
Setting flag(const char* section, const char* key, At at) {
    return {section, key, Presence::always, [=](const RecordedOptions& o, Json& json) { json[key] = at(o); },
            [=](const Json& json, RecordedOptions& o) {
                if (!member(json, key).is_boolean()) refuse(key, "true or false", json.at(key));
                at(o) = json.at(key).get<bool>();
            }};
}

template <class At>
Setting text(const char* section, const char* key, At at) {
    return {section, key, Presence::always, [=](const RecordedOptions& o, Json& json) { json[key] = at(o); },
            [=](const Json& json, RecordedOptions& o) {
                const Json& found = member(json, key);
                if (!found.is_string() || found.get_ref<const std::string&>().size() > longest_word)
                    refuse(key, "a word", found);
                at(o) = found.get<std::string>();
            }};
}

Setting joint_rho() {
    return {"modular", "joint_rho", Presence::newer,
            [](const RecordedOptions& o, Json& json) { json["joint_rho"] = o.simulation.modular.joint_rho; },
            [](const Json& json, RecordedOptions& o) {
                const Json& list = member(json, "joint_rho");
                if (!list.is_array() || list.size() > most_joints) refuse("joint_rho", "a list of joints", list);
                o.simulation.modular.joint_rho.clear();
                for (const Json& item : list) {
                    if (!item.is_array() || item.size() != 2 || !item[0].is_string() || !item[1].is_number())
                        refuse("joint_rho", "pairs of a joint and a number", item);
                    const double rho = item[1];
                    if (!(rho >= 0 && rho <= largest_option)) refuse("joint_rho", "numbers from 0 to 1e30", item);
                    o.simulation.modular.joint_rho.emplace_back(item[0], rho);
                }
            }};
}

#define LIMBER_AT(place)   \
    [](auto& o) -> auto& { \
        return o.place;    \
    }

const std::vector<Setting>& settings() {
    const auto newer = Presence::newer;
    static const std::vector<Setting> list{
        text("", "formulation", LIMBER_AT(simulation.formulation)),
        text("", "integrator", LIMBER_AT(simulation.integrator)),
        text("", "coordinates", LIMBER_AT(simulation.coordinates)),
        flag("", "from_equilibrium", LIMBER_AT(simulation.from_equilibrium)),
        number("", "penalty", LIMBER_AT(simulation.formulation_options.penalty), 0, 1e14),
        number("", "frequency", LIMBER_AT(simulation.formulation_options.frequency), 0, 10),
        number("", "damping", LIMBER_AT(simulation.formulation_options.damping), 0, 10),
        word("", "stabilisation", LIMBER_AT(simulation.formulation_options.stabilisation), Stabilisation::none),
        flag("", "approximate_tangent", LIMBER_AT(simulation.formulation_options.use_approximate_tangent)),
        number("", "max_iterations", LIMBER_AT(simulation.formulation_options.max_iterations), 1, 1e6),
        number("", "tolerance", LIMBER_AT(simulation.formulation_options.tolerance), 1e-14, 1e-2),
        number("", "xi", LIMBER_AT(simulation.integrator_options.newmark_xi), -1, 0),
        number("", "delta", LIMBER_AT(simulation.integrator_options.hht_delta), 0, 1.0 / 3.0),
        number("", "rho", LIMBER_AT(simulation.integrator_options.rho_infinity), 0, 1),
        number("", "reference_tolerance", LIMBER_AT(simulation.integrator_options.reference_tolerance), 1e-14, 1e-2),
        number("", "passes", LIMBER_AT(simulation.integrator_options.corrector_passes), 1, 100),
        number("", "max_halvings", LIMBER_AT(simulation.integrator_options.max_halvings), 0, 30),
        number("", "step_control", LIMBER_AT(simulation.integrator_options.step_control), 0, largest_option),
        text("modular", "division", LIMBER_AT(simulation.modular.division)),
        word("modular", "gluing", LIMBER_AT(simulation.modular.gluing), Gluing::penalty),
        word("modular", "coupling", LIMBER_AT(simulation.modular.coupling), Coupling::acceleration),
        word("modular", "course", LIMBER_AT(simulation.modular.course), ForceCourse::quadratic),
        number("modular", "tolerance", LIMBER_AT(simulation.modular.tolerance), 1e-13, 1),
        number("modular", "rho", LIMBER_AT(simulation.modular.rho), 0, largest_option),
        joint_rho(),
        flag("modular", "iterates", LIMBER_AT(simulation.modular.use_iteration)),
        number("modular", "max_questions", LIMBER_AT(simulation.modular.max_questions), 1, 1e9),
        number("modular", "threads", LIMBER_AT(simulation.modular.threads), 1, 256, newer),
        word("", "stops", LIMBER_AT(simulation.contact_options.treatment), ContactTreatment::penalty, newer),
        number("", "stop_stiffness", LIMBER_AT(simulation.contact_options.stiffness), 0, largest_option, newer),
        word("", "impacts", LIMBER_AT(simulation.contact_options.impact_law), ImpactLaw::in_turn, newer),
        number("", "shortest_flight", LIMBER_AT(simulation.contact_options.shortest_flight), 0, 1, newer),
        number("", "energy_bound", LIMBER_AT(simulation.energy_bound), 0, largest_option, newer),
        number("", "step", LIMBER_AT(session.step), shortest_session_step, longest_session_step),
        number("", "snap", LIMBER_AT(session.snap), 0, largest_option),
        number("", "closing_frequency", LIMBER_AT(session.closing_frequency), 1e-6, 1e9),
        number("", "renewal", LIMBER_AT(session.renewal), 1, 1e9),
    };
    return list;
}

#undef LIMBER_AT

}  // namespace

long read_whole_number(const Json& json, const char* key, long least, long most) {
    const Json& found = member(json, key);
    const std::string expected = fmt::format("a whole number from {} to {}", least, most);
    if (!found.is_number_integer()) refuse(key, expected, found);
    // Of the unsigned ones the largest do not fit.
    if (found.is_number_unsigned() && found.get<std::uint64_t>() > static_cast<std::uint64_t>(most))
        refuse(key, expected, found);
    const auto value = found.get<std::int64_t>();
    if (value < least || value > most) refuse(key, expected, found);
    return value;
}

double read_number(const Json& json, const char* key, double least, double most) {
    const Json& found = member(json, key);
    const double value = found.is_number() ? found.get<double>() : std::nan("");
    if (!(value >= least && value <= most)) refuse(key, fmt::format("a number from {:g} to {:g}", least, most), found);
    return value;
}

Json write_options(const RecordedOptions& options) {
    Json json = Json::object();
    for (const Setting& setting : settings())
        setting.write(options, *setting.section == '\0' ? json : json[setting.section]);
    return json;
}

RecordedOptions read_options(const Json& json) {
    if (!json.is_object()) refuse("options", "settings by name", json);
    RecordedOptions options;
    for (const Setting& setting : settings()) {
        const bool is_top = *setting.section == '\0';
        // Older journals know nothing of components.
        if (!is_top && !json.contains(setting.section)) continue;
        const Json& place = is_top ? json : json.at(setting.section);
        if (setting.presence == Presence::newer && place.is_object() && !place.contains(setting.key)) continue;
        setting.read(place, options);
    }
    return options;
}

}  // namespace limber
