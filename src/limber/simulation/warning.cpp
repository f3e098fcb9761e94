#include "limber/simulation/warning.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "limber/simulation/simulation.hpp"

namespace limber {
namespace {

constexpr double noticed_energy = 1e-6;       // taken out of the start, over what was given
constexpr double left_open = 1e-9;            // by joints after assembly, over the typical length
constexpr double missed_acceleration = 1e-4;  // of a constraint, over accelerations of the start
constexpr std::size_t max_listed_names = 6;

std::string join(const std::vector<std::string>& names) {
    std::string text;
    for (std::size_t i = 0; i < std::min(names.size(), max_listed_names); ++i)
        text += fmt::format("{}'{}'", i == 0 ? "" : ", ", names[i]);
    if (names.size() > max_listed_names) text += fmt::format(" and {} more", names.size() - max_listed_names);
    return text;
}

const char* plural(std::size_t count, const char* one, const char* many) {
    return count == 1 ? one : many;
}

void add_start_warnings(const Simulation& simulation, std::vector<Warning>& list) {
    const StartChanges& changes = simulation.start_changes();
    if (!changes.moved.empty()) {
        Warning warning{"assembly", "", {}};
        double turned = 0;
        for (const auto& move : changes.moved) {
            warning.elements.push_back(move.body);
            turned = std::max(turned, move.angle);
        }
        warning.text = fmt::format(
            "the joints do not meet where the model puts the bodies: {} {} moved, by up to {:.3g} m and {:.3g} rad",
            join(warning.elements), plural(changes.moved.size(), "was", "were"), changes.moved.front().distance,
            turned);
        list.push_back(std::move(warning));
    }
    if (!changes.changed.empty() && changes.are_velocities_kept)
        list.push_back({"start-velocities",
                        fmt::format("the joints do not allow the velocities of {}, which are left as written: the "
                                    "joints open from the start on, as far as the method lets them",
                                    join(changes.changed)),
                        changes.changed});
    const double lost = simulation.velocity_start().energy_lost;
    if (!changes.changed.empty() && lost > noticed_energy * changes.kinetic_given)
        list.push_back({"start-velocities",
                        fmt::format("the joints do not allow the velocities of the start: those of {} were changed, "
                                    "{:.3g} of {:.3g} J taken out",
                                    join(changes.changed), lost, changes.kinetic_given),
                        changes.changed});
}

void add_mobility_warnings(const Simulation& simulation, const MobilityReport& mobility, std::vector<Warning>& list) {
    const Model& model = simulation.model();
    if (mobility.redundant > 0)
        list.push_back({"redundant",
                        fmt::format("{} of {} constraint equations {} redundant: the reactions of {} are not unique "
                                    "(the smallest are reported)",
                                    mobility.redundant, mobility.rows, plural(mobility.redundant, "is", "are"),
                                    join(mobility.redundant_elements)),
                        mobility.redundant_elements});
    if (mobility.singular_start)
        list.push_back({"dead-point", "the mechanism starts at a dead point: more can move there than elsewhere", {}});
    if (mobility.freedoms == 0 && mobility.bodies > 0 && model.drivers.size() == 0)
        list.push_back({"nothing-moves", "nothing can move: the joints leave no degree of freedom", {}});
}

// Those whose accelerations are off by a good part of the largest error. Rows are called "joint 'crank'" and the like.
std::vector<std::string> find_missed_elements(const System& system, const State& state, double missed) {
    const auto e = system.make_evaluation();
    system.update(*e, state.t, state.q, state.v, state.memory);
    VecX rows(system.rows());
    multiply(system.jacobian_pattern(), e->jacobian, state.a, rows);
    rows += e->bias;
    std::vector<std::string> elements;
    for (int r = 0; r < system.rows(); ++r) {
        const std::string name = system.row_name(r);
        const auto from = name.find('\'');
        if (std::abs(rows[r]) < 0.1 * missed || from == std::string::npos) continue;
        elements.push_back(name.substr(from + 1, name.rfind('\'') - from - 1));
    }
    elements.erase(std::unique(elements.begin(), elements.end()), elements.end());
    return elements;
}

// Joints that contradict each other by less than what stops the assembly, or only in their accelerations.
void add_contradictions(const Simulation& simulation, Observer& observer, bool is_singular,
                        std::vector<Warning>& list) {
    const AssemblyReport& assembly = simulation.assembly();
    const double size = simulation.system().length_scale();
    if (assembly.largest_error > left_open * size) {
        list.push_back({"contradiction",
                        fmt::format("joints contradict each other: '{}' stays open by {:.3g}", assembly.worst.element,
                                    assembly.largest_error),
                        {assembly.worst.element}});
        return;
    }
    const State& state = simulation.state();
    const SimulationOptions& options = simulation.options();
    // Time-stepping knows no accelerations at the start, and in divided mechanisms components have their own.
    const bool steps_over = find_integrator(options.integrator).kind == IntegratorKind::time_stepping;
    if (is_singular || state.t > 0 || steps_over || options.modular.is_on()) return;
    const double missed = observer.compute_errors(state).acceleration;
    const double usual = state.a.size() > 0 ? state.a.lpNorm<Eigen::Infinity>() : 0.0;
    if (!(missed > missed_acceleration * (usual + size))) return;
    std::vector<std::string> elements = find_missed_elements(simulation.system(), state, missed);
    list.push_back({"contradiction",
                    fmt::format("joints or drivers contradict each other: constraint accelerations are off by {:.3g}{}",
                                missed, elements.empty() ? "" : ", at " + join(elements)),
                    std::move(elements)});
}

void add_unattached(const Model& model, std::vector<Warning>& list) {
    if (model.contacts.size() > 0) return;  // what is attached to nothing may still touch
    Warning warning{"unattached", "", {}};
    std::vector<bool> is_used(model.bodies.slot_count(), false);
    const auto note_body = [&](MarkerHandle marker) {
        if (!marker.is_null()) is_used[model.markers.get(marker).body.index] = true;
    };
    const auto note_ends = [&](const auto& ends) {
        note_body(ends.a);
        note_body(ends.b);
    };
    for (const auto handle : model.joints.handles()) note_ends(ends_of(model.joints.get(handle)));
    for (const auto handle : model.forces.handles()) note_ends(ends_of(model.forces.get(handle)));
    for (const auto handle : model.stops.handles()) note_ends(ends_of(model.stops.get(handle)));
    for (const auto handle : model.bodies.handles())
        if (handle != model.ground() && !is_used[handle.index])
            warning.elements.push_back(model.bodies.get(handle).name);
    if (warning.elements.empty()) return;
    warning.text = fmt::format("nothing is attached to {} {}", plural(warning.elements.size(), "body", "bodies"),
                               join(warning.elements));
    list.push_back(std::move(warning));
}

void add_overlaps(const Simulation& simulation, std::vector<Warning>& list) {
    if (simulation.time() > 0) return;
    std::vector<ShapeOverlap> overlaps = simulation.find_overlaps();
    if (overlaps.empty()) return;
    std::stable_sort(overlaps.begin(), overlaps.end(),
                     [](const ShapeOverlap& x, const ShapeOverlap& y) { return x.depth > y.depth; });
    Warning warning{"overlap", "", {}};
    std::set<std::string> listed;
    for (const ShapeOverlap& overlap : overlaps)
        for (const std::string& name : {overlap.a, overlap.b})
            if (listed.insert(name).second) warning.elements.push_back(name);
    const ShapeOverlap& worst = overlaps.front();
    warning.text = fmt::format(
        "'{}' and '{}' overlap at the start by {:.3g} m{}: {}", worst.a, worst.b, worst.depth,
        overlaps.size() > 1 ? fmt::format(", and {} more pairs", overlaps.size() - 1) : "",
        worst.is_rigid ? "rigid bodies will be moved apart at once" : "a compliant contact will throw them apart");
    list.push_back(std::move(warning));
}

}  // namespace

std::vector<Warning> find_warnings(Simulation& simulation) {
    return find_warnings(simulation, simulation.observer());
}

std::vector<Warning> find_warnings(const Simulation& simulation, Observer& observer, const MobilityReport* known) {
    std::vector<Warning> list;
    const Model& model = simulation.model();
    for (const std::string& note : simulation.notes()) list.push_back({"model", note, {}});
    add_start_warnings(simulation, list);
    const bool is_small = known != nullptr || model.bodies.size() <= max_bodies_for_mobility;
    MobilityReport mobility;
    if (known != nullptr) {
        mobility = *known;
    } else if (is_small) {
        mobility = simulation.compute_mobility();
    }
    if (is_small) add_mobility_warnings(simulation, mobility, list);
    add_contradictions(simulation, observer, mobility.singular_start, list);
    add_unattached(model, list);
    add_overlaps(simulation, list);
    return list;
}

}  // namespace limber
