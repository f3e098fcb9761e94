#include "limber/modular/division.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <set>

#include "limber/kinematics/relative/tree.hpp"
#include "limber/model/error.hpp"
#include "limber/model/evaluation.hpp"
#include "limber/modular/partition.hpp"

namespace limber {
namespace {

template <int D>
void name_by_first_body(const Mechanism<D>& m, Division& division) {
    for (std::size_t b = 0; b < m.bodies.size(); ++b) {
        std::string& name = division.components[division.component_of_body[b]].name;
        if (name.empty()) name = m.bodies[b].whole_name();
    }
}

template <int D>
Division divide_by_body(const Mechanism<D>& m) {
    Division division;
    // The pieces of a flexible body stay together.
    int components = 0;
    for (std::size_t b = 0; b < m.bodies.size(); ++b)
        division.component_of_body.push_back(m.bodies[b].node > 0 ? components - 1 : components++);
    division.components.resize(components);
    // Joints with the ground too: a joint stands between components then, and can come and go.
    division.cut_elements.assign(m.elements.size(), true);
    division.cuts_all = true;
    name_by_first_body(m, division);
    return division;
}

template <int D>
Division divide_by_tree(const Mechanism<D>& m) {
    const RelativeTree<D> tree = choose_tree(m);
    Division division;
    division.component_of_body.assign(m.bodies.size(), -1);
    for (const TreeNode<D>& node : tree.nodes) {
        const int parent = node.parent < 0 ? -1 : tree.nodes[node.parent].body;
        if (parent < 0) {
            division.component_of_body[node.body] = static_cast<int>(division.components.size());
            division.components.emplace_back();
        } else {
            division.component_of_body[node.body] = division.component_of_body[parent];
        }
    }
    division.cut_elements.resize(m.elements.size());
    for (std::size_t e = 0; e < m.elements.size(); ++e)
        division.cut_elements[e] = !tree.is_tree_element[e] && bodies_of_element(m, static_cast<int>(e)).size() > 1;
    name_by_first_body(m, division);
    return division;
}

bool fits(const std::string& pattern, const std::string& name) {
    if (!pattern.ends_with('*')) return pattern == name;
    return name.starts_with(pattern.substr(0, pattern.size() - 1));
}

template <int D>
Division divide_by_groups(const Mechanism<D>& m, const Model& model) {
    const std::vector<ComponentGroup>& groups = model.simulation.components;
    if (groups.empty()) throw ModelError("the model has no components; give it a section 'components'");
    Division division;
    division.component_of_body.assign(m.bodies.size(), -1);
    const ModelEvaluation numbers(model);
    for (const ComponentGroup& group : groups) {
        const int index = static_cast<int>(division.components.size());
        const std::string what = fmt::format("component '{}'", group.name);
        ComponentSettings settings{group.name, group.formulation, group.integrator, group.coordinates, 0};
        if (group.step) settings.step = numbers.number(*group.step, what + ": step");
        if (group.step && !(settings.step > 0))
            throw ModelError(fmt::format("{}: expected a positive step, found {}", what, settings.step));
        const auto set = [&](const std::optional<Number>& number, const char* name, double& value) {
            if (number) value = numbers.number(*number, fmt::format("{}: {}", what, name));
        };
        set(group.penalty, "penalty", settings.penalty);
        set(group.frequency, "frequency", settings.frequency);
        set(group.damping, "damping", settings.damping);
        set(group.tolerance, "tolerance", settings.tolerance);
        division.components.push_back(settings);
        for (const std::string& pattern : group.bodies) {
            bool is_found = false;
            for (std::size_t b = 0; b < m.bodies.size(); ++b) {
                if (!fits(pattern, std::string(m.bodies[b].whole_name()))) continue;
                is_found = true;
                int& place = division.component_of_body[b];
                if (place >= 0 && place != index)
                    throw ModelError(fmt::format("{}: body '{}' is in component '{}' already", what, m.bodies[b].name,
                                                 division.components[place].name));
                place = index;
            }
            if (!is_found) throw ModelError(fmt::format("{}: there is no body '{}'", what, pattern));
        }
    }
    const auto rest = static_cast<int>(division.components.size());
    bool has_rest = false;
    for (int& place : division.component_of_body) {
        has_rest = has_rest || place < 0;
        if (place < 0) place = rest;
    }
    if (has_rest) division.components.push_back({"rest", "", "", "", 0});
    return division;
}

template <int D>
Division divide_automatically(const Mechanism<D>& m, int parts) {
    std::vector<std::set<int>> neighbours(m.bodies.size());
    const auto join = [&](const std::vector<int>& list) {
        for (const int a : list)
            for (const int b : list)
                if (a != b) neighbours[a].insert(b);
    };
    for (std::size_t e = 0; e < m.elements.size(); ++e) join(bodies_of_element(m, static_cast<int>(e)));
    for (std::size_t f = 0; f < m.forces.elements.size(); ++f) join(bodies_of_force(m, static_cast<int>(f)));
    Division division;
    division.component_of_body = partition_graph(neighbours, {}, parts);
    int count = 1;
    for (const int place : division.component_of_body) count = std::max(count, place + 1);
    division.components.resize(count);
    name_by_first_body(m, division);
    return division;
}

// Enough bodies per part that a part is worth a solver of its own.
constexpr int usual_part = 50;

template <int D>
Division divide_as(const Mechanism<D>& m, const Model& model, const std::string& kind) {
    if (kind == "body") return divide_by_body(m);
    if (kind == "tree") return divide_by_tree(m);
    if (kind == "groups") return divide_by_groups(m, model);
    if (kind == "auto")
        return divide_automatically(m, std::max<int>(2, static_cast<int>(m.bodies.size()) / usual_part));
    if (kind.starts_with("auto:")) {
        int parts = 0;
        const char* last = kind.data() + kind.size();
        const auto result = std::from_chars(kind.data() + 5, last, parts);
        if (result.ec == std::errc{} && result.ptr == last && parts > 0) return divide_automatically(m, parts);
    }
    throw ModelError(fmt::format("modular: expected body, tree, groups, auto or auto:K, found '{}'", kind));
}

}  // namespace

template <int D>
Division find_division(const Mechanism<D>& m, const Model& model, const ModularOptions& options) {
    Division division = divide_as(m, model, options.division);
    // What acts on the ground alone has a place, too, and so has a model that is still empty.
    if (division.components.empty()) division.components.push_back({"empty", "", "", "", 0});
    return division;
}

template <int D>
DividedParts<D> find_parts(const Mechanism<D>& m, const Division& division) {
    DividedParts<D> parts;
    parts.components.resize(division.components.size());
    parts.ports.resize(division.components.size());
    for (std::size_t b = 0; b < m.bodies.size(); ++b)
        parts.components[division.component_of_body[b]].bodies.push_back(static_cast<int>(b));
    std::set<int> ports;
    // The component that holds all of them, or -1.
    const auto home = [&](const std::vector<int>& bodies) {
        for (const int b : bodies)
            if (division.component_of_body[b] != division.component_of_body[bodies.front()]) return -1;
        return bodies.empty() ? 0 : division.component_of_body[bodies.front()];
    };
    for (std::size_t e = 0; e < m.elements.size(); ++e) {
        const std::vector<int> bodies = bodies_of_element(m, static_cast<int>(e));
        const bool is_cut = !division.cut_elements.empty() && division.cut_elements[e];
        const int place = is_cut ? -1 : home(bodies);
        (place < 0 ? parts.interface : parts.components[place]).elements.push_back(static_cast<int>(e));
        if (place < 0) ports.insert(bodies.begin(), bodies.end());
    }
    for (std::size_t f = 0; f < m.forces.elements.size(); ++f) {
        const std::vector<int> bodies = bodies_of_force(m, static_cast<int>(f));
        const int place = home(bodies);
        (place < 0 ? parts.interface : parts.components[place]).forces.push_back(static_cast<int>(f));
        if (place < 0) ports.insert(bodies.begin(), bodies.end());
    }
    for (const int b : ports) parts.ports[division.component_of_body[b]].push_back(b);
    for (const auto& list : parts.ports)
        parts.interface.bodies.insert(parts.interface.bodies.end(), list.begin(), list.end());
    return parts;
}

#define LIMBER_INSTANTIATE(D)                                                                  \
    template Division find_division(const Mechanism<D>&, const Model&, const ModularOptions&); \
    template DividedParts<D> find_parts(const Mechanism<D>&, const Division&);
LIMBER_INSTANTIATE(2)
LIMBER_INSTANTIATE(3)
#undef LIMBER_INSTANTIATE

}  // namespace limber
