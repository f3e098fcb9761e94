// Scalars known by name: joint coordinates ("crank.angle"), components of position sensors ("tip.x") and sensors of
// coordinates ("beta"). They are made when first asked for, so a joint whose angle nobody uses costs nothing.
// Limits take sums of them, too: sensors of expressions that are linear.

#include "limber/kinematics/mechanism/builder.hpp"
#include "limber/model/linear_form.hpp"

namespace limber {
namespace {

const Sensor* find_sensor(const Model& model, const std::string& name) {
    return model.sensors.find(model.sensors.find(name));
}

/// Null if it is of another type, too.
template <class Type>
const Type* find_sensor(const Model& model, const std::string& name) {
    const Sensor* sensor = find_sensor(model, name);
    return sensor != nullptr ? sensor->as<Type>() : nullptr;
}

// The sensor that a name may mean: "beta", or "tip" of "tip.x".
const Sensor* find_sensor_of_column(const Model& model, const std::string& column) {
    const Sensor* whole = find_sensor(model, column);
    return whole != nullptr ? whole : find_sensor(model, column.substr(0, column.rfind('.')));
}

}  // namespace

std::string without_rate(const std::string& name) {
    const std::string suffix = ".rate";
    return name.size() > suffix.size() && name.ends_with(suffix) ? name.substr(0, name.size() - suffix.size()) : name;
}

template <int D>
int MechanismBuilder<D>::joint_coordinate(const Joint& joint, const std::string& coordinate) {
    const auto names = coordinate_names(joint.type, D == 2);
    if (std::find(names.begin(), names.end(), coordinate) == names.end()) return -1;
    const MarkerFeatures<D> a = marker(joint.ends().first);
    const MarkerFeatures<D> b = marker(joint.ends().second);
    const auto along = [&](int axis) { return measure(MeasureKind::dot_point, {a.point, b.point, a.axis[axis]}); };
    const std::string name = joint.name + "." + coordinate;
    if (coordinate == "angle") return angle(name, a.axis[0], a.axis[1], b.axis[0]);
    if (coordinate == "angle1") return angle(name, a.axis[1], a.axis[2 % D], b.axis[1]);
    if (coordinate == "angle2") return angle(name, b.axis[0], b.axis[2 % D], a.axis[0]);
    if (coordinate == "displacement") return along(D == 2 ? 0 : D - 1);
    if (coordinate == "x") return along(0);
    if (coordinate == "y") return along(1);
    if (coordinate == "length") return measure(MeasureKind::distance, {a.point, b.point});
    return -1;
}

template <int D>
int MechanismBuilder<D>::sensor_scalar(const std::string& name) {
    if (const auto* whole = find_sensor<CoordinateSensor>(model_, name))
        return find_or_make_scalar(whole->coordinate.name);
    const auto dot = name.rfind('.');
    if (dot == std::string::npos) return -1;
    const auto* position = find_sensor<Position>(model_, name.substr(0, dot));
    if (position == nullptr) return -1;
    const std::string component = name.substr(dot + 1);
    const int axis = component == "x" ? 0 : component == "y" ? 1 : component == "z" ? 2 : 3;
    if (axis >= D) return -1;
    const MarkerHandle from = position->relative_to;
    if (position->axes.is_null()) return component_measure(position->marker, from, axis);
    const int on = marker(position->marker).point;
    const int origin = from.is_null() ? feature(-1, true, Vec<D>::Zero()) : marker(from).point;
    return measure(MeasureKind::dot_point, {origin, on, marker(position->axes).axis[axis]});
}

template <int D>
LawInput MechanismBuilder<D>::law_input(const std::string& name) {
    if (const auto* rate = find_sensor<RateSensor>(model_, name))
        return {find_or_make_scalar(rate->coordinate.name), true};
    const std::string base = without_rate(name);
    return {find_or_make_scalar(base), base != name};
}

template <int D>
int MechanismBuilder<D>::find_or_make_scalar(const std::string& name) {
    const auto known = scalar_by_name_.find(name);
    if (known != scalar_by_name_.end()) return known->second;
    if (std::find(making_.begin(), making_.end(), name) != making_.end())
        throw ModelError(fmt::format("'{}' is defined in terms of itself", name));
    making_.push_back(name);
    int index = -1;
    const auto dot = name.rfind('.');
    if (dot != std::string::npos) {
        const auto joint = model_.joints.find(name.substr(0, dot));
        if (!joint.is_null()) index = joint_coordinate(model_.joints.get(joint), name.substr(dot + 1));
    }
    if (index < 0) index = sensor_scalar(name);
    making_.pop_back();
    if (index >= 0) scalar_by_name_[name] = index;
    return index;
}

template <int D>
int MechanismBuilder<D>::scalar(const std::string& name, const std::string& what) {
    const int index = find_or_make_scalar(name);
    if (index >= 0) return index;
    if (const Joint* joint = model_.joints.find(model_.joints.find(name.substr(0, name.rfind('.'))))) {
        const auto names = coordinate_names(joint->type, D == 2);
        throw ModelError(names.empty() ? fmt::format("{}: a {} joint has no coordinate (asked for '{}')", what,
                                                     joint->note().name, name)
                                       : fmt::format("{}: joint '{}' has the coordinate(s) {}; found '{}'", what,
                                                     joint->name, fmt::join(names, ", "), name));
    }
    if (const Sensor* sensor = find_sensor_of_column(model_, name)) {
        if (sensor->as<Position>() != nullptr)
            throw ModelError(fmt::format("{}: sensor '{}' has the components {}; found '{}'", what, sensor->name,
                                         D == 2 ? "x, y" : "x, y, z", name));
        throw ModelError(
            fmt::format("{}: expected a joint coordinate, a component of a position sensor or a coordinate sensor; "
                        "sensor '{}' is none of these",
                        what, sensor->name));
    }
    throw ModelError(
        fmt::format("{}: there is no joint coordinate '{}'{}", what, name, did_you_mean(name, scalar_names())));
}

template <int D>
ScalarSum MechanismBuilder<D>::scalar_sum(const std::string& name, const std::string& what) {
    if (const auto* sensor = find_sensor<ExpressionSensor>(model_, name))
        return expression_sum(name, sensor->expression, what);
    return {{{1.0, scalar(name, what)}}, 0};
}

template <int D>
ScalarSum MechanismBuilder<D>::expression_sum(const std::string& sensor, const Number& expression,
                                              const std::string& what) {
    const auto refuse = [&](const std::string& why) {
        throw ModelError(fmt::format(
            "{}: sensor '{}' {}; expected a sum of multiples of joint coordinates and components of position sensors "
            "(for distances between points there are stop and cable)",
            what, sensor, why));
    };
    if (std::find(making_.begin(), making_.end(), sensor) != making_.end()) refuse("is defined in terms of itself");
    making_.push_back(sensor);
    std::vector<std::string> columns;
    std::vector<ScalarSum> sums;
    std::vector<LinearForm> variables;
    for (const std::string& name : expression.names()) {
        if (find_sensor_of_column(model_, name) == nullptr) {
            if (name == "t") refuse("depends on t");
            continue;  // a parameter, or unknown, which binding will report
        }
        variables.push_back(LinearForm::variable(static_cast<int>(columns.size())));
        columns.push_back(name);
        sums.push_back(column_sum(name, fmt::format("{}: sensor '{}'", what, sensor)));
    }
    const BoundExpression bound = evaluation_.bind(expression, columns, what);
    const LinearForm form = bound.evaluate(std::span<const LinearForm>(variables));
    if (!form.is_linear) refuse(fmt::format("is no such sum: \"{}\"", expression.text()));
    ScalarSum total{{}, form.constant};
    for (std::size_t k = 0; k < form.coefficient.size(); ++k) {
        total.constant += form.coefficient[k] * sums[k].constant;
        for (const RowTerm& term : sums[k].terms)
            if (form.coefficient[k] != 0) total.terms.push_back({form.coefficient[k] * term.coefficient, term.measure});
    }
    if (total.terms.empty()) refuse("depends on no position");
    making_.pop_back();
    return total;
}

// Expressions of sensors name their columns, and no joint coordinates.
template <int D>
ScalarSum MechanismBuilder<D>::column_sum(const std::string& column, const std::string& what) {
    const int index = sensor_scalar(column);
    return index >= 0 ? ScalarSum{{{1.0, index}}, 0} : scalar_sum(column, what);
}

template <int D>
std::vector<std::string> MechanismBuilder<D>::scalar_names() const {
    std::vector<std::string> names;
    for (const auto handle : model_.joints.handles()) {
        const Joint& joint = model_.joints.get(handle);
        for (const auto& coordinate : coordinate_names(joint.type, D == 2))
            names.push_back(joint.name + "." + coordinate);
    }
    for (const auto handle : model_.sensors.handles()) {
        const Sensor& sensor = model_.sensors.get(handle);
        if (sensor.as<CoordinateSensor>() != nullptr) names.push_back(sensor.name);
        if (sensor.as<Position>() != nullptr)
            for (const char* component : {".x", ".y", ".z"}) names.push_back(sensor.name + component);
    }
    return names;
}

template int MechanismBuilder<2>::scalar(const std::string&, const std::string&);
template int MechanismBuilder<3>::scalar(const std::string&, const std::string&);
template ScalarSum MechanismBuilder<2>::scalar_sum(const std::string&, const std::string&);
template ScalarSum MechanismBuilder<3>::scalar_sum(const std::string&, const std::string&);
template int MechanismBuilder<2>::find_or_make_scalar(const std::string&);
template int MechanismBuilder<3>::find_or_make_scalar(const std::string&);
template LawInput MechanismBuilder<2>::law_input(const std::string&);
template LawInput MechanismBuilder<3>::law_input(const std::string&);
template std::vector<std::string> MechanismBuilder<2>::scalar_names() const;
template std::vector<std::string> MechanismBuilder<3>::scalar_names() const;

}  // namespace limber
