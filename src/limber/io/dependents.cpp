#include "limber/io/dependents.hpp"

#include <algorithm>
#include <set>

#include "limber/io/marker_origin.hpp"
#include "limber/kinematics/mechanism/mechanism.hpp"

namespace limber {
namespace {

// Whether an element refers to one of those that go. Names in expressions are looked up as the compiler does: a joint
// coordinate before a sensor.
class ReferenceSearch {
public:
    ReferenceSearch(const Model& model, const std::set<ElementName>& gone) : model_(model), gone_(gone) {}

    bool is_gone(ElementKind kind, const std::string& name) const { return gone_.count({kind, name}) != 0; }

    bool needs(const Number& number) const {
        const auto& names = number.expression().names();
        const auto& tables = number.expression().table_names();
        return std::any_of(names.begin(), names.end(),
                           [&](const auto& n) { return is_gone(ElementKind::parameter, n) || needs_scalar(n); }) ||
               std::any_of(tables.begin(), tables.end(), [&](const auto& n) { return is_gone(ElementKind::table, n); });
    }
    bool needs(const std::optional<Number>& number) const { return number && needs(*number); }
    template <class Numbers>
    bool needs_any(const Numbers& numbers) const {
        return std::any_of(numbers.begin(), numbers.end(), [&](const auto& n) { return needs(n); });
    }
    bool needs(const Number3& numbers) const { return needs_any(numbers); }
    bool needs(const std::pair<const std::string, Number>& entry) const { return needs(entry.second); }
    bool needs(const Placement& placement) const {
        return needs_any(placement.position) || needs_any(placement.orientation.values);
    }
    bool needs(const TableDefinition& table) const { return needs_any(table.x) || needs_any(table.y); }
    bool needs(const std::optional<TableDefinition>& table) const { return table && needs(*table); }
    bool needs(const TimeLaw& law) const { return needs(law.expression) || needs(law.table); }
    bool needs(const CurveDefinition& curve) const { return needs_any(curve.points); }
    bool needs(const RoadPiece& piece) const {
        return needs_any(piece.numbers) || needs(piece.table) || needs(piece.height);
    }
    bool needs(const RoadDefinition& road) const { return needs_any(road.pieces); }
    bool needs(const Solid& solid) const {
        return needs_any(solid.size) || needs(solid.mass) || needs(solid.density) ||
               (solid.end_masses && needs_any(*solid.end_masses)) || needs_any(solid.inertia) || needs(solid.placement);
    }
    bool needs(const Body& body) const {
        return needs(body.placement) || (body.ends && needs_any(*body.ends)) || needs_any(body.solids) ||
               needs(body.velocity) || needs(body.angular_velocity);
    }
    bool needs(MarkerHandle handle) const {
        const Marker* marker = model_.markers.find(handle);
        return marker != nullptr && is_gone(ElementKind::marker, marker->name);
    }
    bool needs(const Marker& marker) const {
        return is_gone(ElementKind::body, model_.bodies.get(marker.body).name) || needs(marker.base) ||
               needs(marker.placement);
    }
    bool needs(const ScalarTerm& term) const { return needs_scalar(term.scalar) || needs(term.coefficient); }
    bool needs(const Joint& joint) const {
        const CurveDefinition* curve = model_.curves.find(joint.curve);
        return needs(joint.a) || needs(joint.b) || needs(joint.length) || needs(joint.pitch) || needs(joint.radius) ||
               needs(joint.ratio) || needs_any(joint.terms) || needs(joint.offset) ||
               (curve != nullptr && is_gone(ElementKind::curve, curve->name));
    }
    bool needs(const Driver& driver) const {
        const auto* component = std::get_if<MarkerComponent>(&driver.target);
        const bool needs_target = component != nullptr ? needs(component->marker) || needs(component->reference)
                                                       : needs_scalar(std::get<std::string>(driver.target));
        return needs_target || needs(driver.law);
    }
    bool needs(const ScalarLaw& law) const {
        return needs(law.stiffness) || needs(law.damping) || needs(law.preload) || needs_any(law.coefficients) ||
               needs(law.table) || needs(law.expression);
    }
    bool needs(const Force& force) const {
        const RoadDefinition* road = model_.roads.find(force.road);
        return needs(force.a) || needs(force.b) || needs_scalar(force.scalar) || needs(force.law) ||
               needs(force.free_value) || needs(force.target) || needs(force.gain) || needs(force.rate_gain) ||
               needs(force.limit) || needs(force.vector) || needs_any(force.stiffness) || needs_any(force.damping) ||
               needs(force.linear) || needs(force.quadratic) ||
               (road != nullptr && is_gone(ElementKind::road, road->name)) || needs(force.radius) ||
               needs(force.vertical_stiffness) || needs(force.vertical_damping) || needs_any(force.lateral);
    }
    bool needs(const Sensor& sensor) const {
        const Joint* joint = model_.joints.find(sensor.joint);
        const Force* force = model_.forces.find(sensor.force);
        return needs(sensor.marker) || needs(sensor.reference) || needs_scalar(sensor.scalar) ||
               (joint != nullptr && is_gone(ElementKind::joint, joint->name)) ||
               is_gone(ElementKind::driver, sensor.driver) ||
               (force != nullptr && is_gone(ElementKind::force, force->name)) || needs_column(sensor.expression);
    }
    bool needs(const InitialValue& value) const { return needs_scalar(value.scalar) || needs(value.value); }
    bool needs(const SimulationDefaults& simulation) const {
        return needs(simulation.until) || needs(simulation.step) || needs(simulation.every);
    }

private:
    // "crank.angle", "crank.angle.rate", "tip.x", "swing"
    bool needs_scalar(const std::string& scalar) const {
        const auto dot = scalar.find('.');
        const std::string owner = scalar.substr(0, dot);
        if (const Joint* joint = model_.joints.find(model_.joints.find(owner));
            joint != nullptr && dot != std::string::npos) {
            const std::string rest = scalar.substr(dot + 1);
            const auto names = joint_coordinate_names(joint->type, model_.planar);
            if (std::find(names.begin(), names.end(), rest.substr(0, rest.find('.'))) != names.end())
                return is_gone(ElementKind::joint, owner);
        }
        return is_gone(ElementKind::sensor, owner);
    }
    // An expression of sensors names their columns and no coordinates.
    bool needs_column(const Number& expression) const {
        const auto& names = expression.expression().names();
        const auto& tables = expression.expression().table_names();
        return std::any_of(names.begin(), names.end(),
                           [&](const std::string& n) {
                               const bool is_sensor = !model_.sensors.find(n.substr(0, n.find('.'))).is_null();
                               return is_sensor ? is_gone(ElementKind::sensor, n.substr(0, n.find('.')))
                                                : is_gone(ElementKind::parameter, n);
                           }) ||
               std::any_of(tables.begin(), tables.end(), [&](const auto& n) { return is_gone(ElementKind::table, n); });
    }

    const Model& model_;
    const std::set<ElementName>& gone_;
};

class RemovalSearch {
public:
    explicit RemovalSearch(const Model& model) : model_(model), search_(model, gone_) {}

    Removal find(const ElementName& element) {
        take(element, removal_.owned);
        // Each pass finds what refers to what the passes before have found.
        for (std::size_t before = 0; before != gone_.size();) {
            before = gone_.size();
            pass();
        }
        return std::move(removal_);
    }

private:
    void pass() {
        for (const auto& name : model_.parameters.names())
            if (search_.needs(model_.parameters.definition(name)))
                take({ElementKind::parameter, name}, removal_.dependents);
        scan(ElementKind::table, model_.tables);
        scan(ElementKind::curve, model_.curves);
        scan(ElementKind::road, model_.roads);
        scan(ElementKind::body, model_.bodies);
        for (const auto handle : model_.markers.handles()) scan_marker(handle);
        scan(ElementKind::joint, model_.joints);
        scan(ElementKind::driver, model_.drivers);
        scan(ElementKind::force, model_.forces);
        scan(ElementKind::sensor, model_.sensors);
        for (const InitialValue& value : model_.initial_positions)
            if (search_.needs(value)) take({ElementKind::initial_position, value.scalar}, removal_.dependents);
        for (const InitialValue& value : model_.initial_rates)
            if (search_.needs(value)) take({ElementKind::initial_rate, value.scalar}, removal_.dependents);
        if (search_.needs(model_.gravity)) take({ElementKind::gravity, ""}, removal_.dependents);
        if (search_.needs(model_.simulation)) take({ElementKind::simulation, ""}, removal_.dependents);
    }
    template <class Element>
    void scan(ElementKind kind, const Table<Element>& table) {
        for (const auto handle : table.handles()) {
            const Element& element = table.get(handle);
            if (search_.needs(element)) take({kind, element.name}, removal_.dependents);
        }
    }
    // A marker goes with its body; one that a joint has made goes with the joint, and takes the joint along.
    void scan_marker(MarkerHandle handle) {
        const Marker& marker = model_.markers.get(handle);
        if (!search_.needs(marker)) return;
        const bool goes_with_body = search_.is_gone(ElementKind::body, model_.bodies.get(marker.body).name);
        const bool is_owned = goes_with_body || !find_maker(model_, handle).is_null();
        take({ElementKind::marker, marker.name}, is_owned ? removal_.owned : removal_.dependents);
    }
    void take(const ElementName& element, std::vector<ElementName>& list) {
        if (!gone_.insert(element).second) return;
        list.push_back(element);
        if (element.kind != ElementKind::joint) return;
        const Joint& joint = model_.joints.get(model_.joints.find(element.name));
        if (!has_own_markers(model_, joint)) return;
        for (const MarkerHandle marker : {joint.a, joint.b})
            take({ElementKind::marker, model_.markers.get(marker).name}, removal_.owned);
    }

    const Model& model_;
    std::set<ElementName> gone_;
    ReferenceSearch search_;
    Removal removal_;
};

}  // namespace

std::string describe(const ElementName& element) {
    const auto named = [&](const char* kind) { return std::string(kind) + " '" + element.name + "'"; };
    switch (element.kind) {
        case ElementKind::parameter: return named("parameter");
        case ElementKind::table: return named(TableDefinition::kind);
        case ElementKind::curve: return named(CurveDefinition::kind);
        case ElementKind::road: return named(RoadDefinition::kind);
        case ElementKind::body: return named(Body::kind);
        case ElementKind::marker: return named(Marker::kind);
        case ElementKind::joint: return named(Joint::kind);
        case ElementKind::driver: return named(Driver::kind);
        case ElementKind::force: return named(Force::kind);
        case ElementKind::sensor: return named(Sensor::kind);
        case ElementKind::initial_position: return named("initial value of");
        case ElementKind::initial_rate: return named("initial rate of");
        case ElementKind::gravity: return "gravity";
        case ElementKind::simulation: return "simulation";
    }
    return "";
}

std::string describe(const std::vector<ElementName>& elements) {
    std::string text;
    for (std::size_t i = 0; i < elements.size(); ++i)
        text += (i == 0 ? "" : i + 1 < elements.size() ? ", " : " and ") + describe(elements[i]);
    return text;
}

Removal find_removal(const Model& model, const ElementName& element) {
    return RemovalSearch(model).find(element);
}

}  // namespace limber
