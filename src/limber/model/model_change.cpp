#include "limber/model/model_change.hpp"

#include <algorithm>

namespace limber {
namespace {

// visit(table, changes) for every table of the model beside its changes.
template <class SomeModel, class Changes, class Visit>
void for_each_table(SomeModel& model, Changes& changes, const Visit& visit) {
    visit(model.tables, std::get<0>(changes));
    visit(model.curves, std::get<1>(changes));
    visit(model.roads, std::get<2>(changes));
    visit(model.bodies, std::get<3>(changes));
    visit(model.markers, std::get<4>(changes));
    visit(model.joints, std::get<5>(changes));
    visit(model.drivers, std::get<6>(changes));
    visit(model.forces, std::get<7>(changes));
    visit(model.sensors, std::get<8>(changes));
    visit(model.events, std::get<9>(changes));
    visit(model.stops, std::get<10>(changes));
    visit(model.contacts, std::get<11>(changes));
}

bool same(const Number& a, const Number& b) {
    return a.text() == b.text();
}
bool same(const Number3& a, const Number3& b) {
    return same(a[0], b[0]) && same(a[1], b[1]) && same(a[2], b[2]);
}
bool same(const std::optional<Number>& a, const std::optional<Number>& b) {
    return a.has_value() == b.has_value() && (!a || same(*a, *b));
}
bool same(const Parameters& a, const Parameters& b) {
    const auto names = a.names();
    return names == b.names() && std::all_of(names.begin(), names.end(), [&](const std::string& name) {
               return same(a.definition(name), b.definition(name));
           });
}
bool same(const std::vector<InitialValue>& a, const std::vector<InitialValue>& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const InitialValue& x, const InitialValue& y) {
        return x.scalar == y.scalar && same(x.value, y.value);
    });
}
bool same(const std::vector<JointNumber>& a, const std::vector<JointNumber>& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const JointNumber& x, const JointNumber& y) {
        return x.joint == y.joint && same(x.value, y.value);
    });
}
bool same(const ModularDefaults& a, const ModularDefaults& b) {
    return a.division == b.division && a.gluing == b.gluing && a.coupling == b.coupling && a.course == b.course &&
           same(a.tolerance, b.tolerance) && same(a.rho, b.rho) && same(a.joint_rho, b.joint_rho) &&
           a.use_iteration == b.use_iteration;
}
bool same(const std::vector<ComponentGroup>& a, const std::vector<ComponentGroup>& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const ComponentGroup& x, const ComponentGroup& y) {
        return x.name == y.name && x.bodies == y.bodies && x.formulation == y.formulation &&
               x.integrator == y.integrator && x.coordinates == y.coordinates && same(x.step, y.step);
    });
}
bool same(const SimulationDefaults& a, const SimulationDefaults& b) {
    return same(a.until, b.until) && same(a.step, b.step) && same(a.every, b.every) && a.formulation == b.formulation &&
           a.integrator == b.integrator && a.coordinates == b.coordinates && a.from_equilibrium == b.from_equilibrium &&
           a.impacts == b.impacts && same(a.modular, b.modular) && same(a.components, b.components);
}

}  // namespace

ModelChange::Rest ModelChange::rest_of(const Model& model) {
    return {model.title,         model.gravity,   model.parameters, model.initial_positions,
            model.initial_rates, model.simulation};
}

ModelChange::ModelChange(const Model& before, const Model& after) : before_(rest_of(before)), after_(rest_of(after)) {
    const auto compare = [](const auto& from, const auto& to, auto& changes) { changes = from.changes_to(to); };
    compare(before.tables, after.tables, std::get<0>(elements_));
    compare(before.curves, after.curves, std::get<1>(elements_));
    compare(before.roads, after.roads, std::get<2>(elements_));
    compare(before.bodies, after.bodies, std::get<3>(elements_));
    compare(before.markers, after.markers, std::get<4>(elements_));
    compare(before.joints, after.joints, std::get<5>(elements_));
    compare(before.drivers, after.drivers, std::get<6>(elements_));
    compare(before.forces, after.forces, std::get<7>(elements_));
    compare(before.sensors, after.sensors, std::get<8>(elements_));
    compare(before.events, after.events, std::get<9>(elements_));
    compare(before.stops, after.stops, std::get<10>(elements_));
    compare(before.contacts, after.contacts, std::get<11>(elements_));
    changes_gravity_ = !same(before_.gravity, after_.gravity);
    changes_parameters_ = !same(before_.parameters, after_.parameters);
    changes_rest_ = before_.title != after_.title || !same(before_.initial_positions, after_.initial_positions) ||
                    !same(before_.initial_rates, after_.initial_rates) || !same(before_.simulation, after_.simulation);
}

bool ModelChange::is_empty() const {
    bool is_empty = !changes_gravity_ && !changes_parameters_ && !changes_rest_;
    std::apply([&](const auto&... changes) { is_empty = is_empty && (changes.empty() && ...); }, elements_);
    return is_empty;
}

std::optional<std::vector<Table<Joint>::Change>> ModelChange::find_joints_alone() const {
    const auto& markers = std::get<Changes<Marker>>(elements_);
    const auto& joints = std::get<Changes<Joint>>(elements_);
    std::size_t changes = 0;
    std::apply([&](const auto&... list) { changes = (list.size() + ...); }, elements_);
    if (changes_gravity_ || changes_parameters_ || changes_rest_ || changes != markers.size() + joints.size())
        return {};
    for (const auto& marker : markers) {
        const bool goes_with_a_joint =
            std::any_of(joints.begin(), joints.end(), [&](const Table<Joint>::Change& joint) {
                const MarkerPair* between = joint.before.element ? joint.before.element->between() : nullptr;
                return between != nullptr &&
                       (between->first.index == marker.index || between->second.index == marker.index);
            });
        if (marker.before.element && (marker.after.element || !goes_with_a_joint)) return {};
    }
    return joints;
}

void ModelChange::apply(Model& model, bool backwards) const {
    Model changed = model;
    for_each_table(changed, elements_, [&](auto& table, const auto& changes) { table.apply(changes, backwards); });
    const Rest& from = backwards ? after_ : before_;
    const Rest& to = backwards ? before_ : after_;
    if (changes_gravity_) {
        if (!same(changed.gravity, from.gravity)) throw ModelError("gravity has been changed since");
        changed.gravity = to.gravity;
    }
    if (changes_parameters_) {
        if (!same(changed.parameters, from.parameters)) throw ModelError("parameters have been changed since");
        changed.parameters = to.parameters;
    }
    if (changes_rest_) {
        changed.title = to.title;
        changed.initial_positions = to.initial_positions;
        changed.initial_rates = to.initial_rates;
        changed.simulation = to.simulation;
    }
    model = std::move(changed);
}

void ModelChange::follow(const Model& from, const Model& to) {
    const ModelChange step(from, to);
    const auto follow_table = [](auto& changes, const auto& steps) {
        for (auto& change : changes)
            for (const auto& next : steps)
                for (auto* side : {&change.before, &change.after})
                    if (next.index == change.index && next.before.element && side->element == next.before.element)
                        *side = next.after;
    };
    [&]<std::size_t... I>(std::index_sequence<I...>) {
        (follow_table(std::get<I>(elements_), std::get<I>(step.elements_)), ...);
    }
    (std::make_index_sequence<std::tuple_size_v<decltype(elements_)>>{});
}

}  // namespace limber
