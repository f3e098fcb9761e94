// Scalars known by name: joint coordinates ("crank.angle"), components of position sensors ("tip.x") and sensors of
// coordinates ("beta"). They are made when first asked for, so a joint whose angle nobody uses costs nothing.

#include "limber/kinematics/mechanism/builder.hpp"

namespace limber {

std::vector<std::string> joint_coordinate_names(JointType type, bool planar) {
    switch (type) {
        case JointType::revolute: return {"angle"};
        case JointType::prismatic: return {"displacement"};
        case JointType::cylindrical:
        case JointType::helical: return {"angle", "displacement"};
        case JointType::universal: return {"angle1", "angle2"};
        case JointType::planar: return {"x", "y", "angle"};
        case JointType::point_on_line:
            return planar ? std::vector<std::string>{"displacement", "angle"}
                          : std::vector<std::string>{"displacement"};
        case JointType::point_on_plane: return {"x", "y"};
        case JointType::distance: return {"length"};
        case JointType::parallel_axes:
        case JointType::point_on_curve:
        case JointType::fixed:
        case JointType::spherical:
        case JointType::perpendicular_axes:
        case JointType::constant_velocity:
        case JointType::gear:
        case JointType::rack_and_pinion:
        case JointType::coupling:
        case JointType::velocity: return {};
        case JointType::rolling_disc:
            return planar ? std::vector<std::string>{"displacement", "angle"} : std::vector<std::string>{"x", "y"};
        case JointType::skate: return planar ? std::vector<std::string>{"x", "y", "angle"} : std::vector<std::string>{};
    }
    return {};
}

std::string without_rate(const std::string& name) {
    const std::string suffix = ".rate";
    return name.size() > suffix.size() && name.ends_with(suffix) ? name.substr(0, name.size() - suffix.size()) : name;
}

template <int D>
int MechanismBuilder<D>::joint_coordinate(const Joint& joint, const std::string& coordinate) {
    const auto names = joint_coordinate_names(joint.type, D == 2);
    if (std::find(names.begin(), names.end(), coordinate) == names.end()) return -1;
    const MarkerFeatures<D> a = marker(joint.a);
    const MarkerFeatures<D> b = marker(joint.b);
    const auto along = [&](int axis) { return measure(MeasureKind::dot_point, {a.point, b.point, a.axis[axis]}); };
    if (coordinate == "angle") return angle(a.axis[0], a.axis[1], b.axis[0]);
    if (coordinate == "angle1") return angle(a.axis[1], a.axis[2 % D], b.axis[1]);
    if (coordinate == "angle2") return angle(b.axis[0], b.axis[2 % D], a.axis[0]);
    if (coordinate == "displacement") return along(D == 2 ? 0 : D - 1);
    if (coordinate == "x") return along(0);
    if (coordinate == "y") return along(1);
    if (coordinate == "length") return measure(MeasureKind::distance, {a.point, b.point});
    return -1;
}

template <int D>
int MechanismBuilder<D>::sensor_scalar(const std::string& name) {
    const auto dot = name.rfind('.');
    const auto whole = model_.sensors.find(name);
    if (!whole.is_null() && model_.sensors.get(whole).quantity == Sensor::Quantity::coordinate)
        return find_or_make_scalar(model_.sensors.get(whole).scalar);
    if (dot == std::string::npos) return -1;
    const auto handle = model_.sensors.find(name.substr(0, dot));
    if (handle.is_null()) return -1;
    const Sensor& sensor = model_.sensors.get(handle);
    if (sensor.quantity != Sensor::Quantity::position) return -1;
    const std::string component = name.substr(dot + 1);
    const int axis = component == "x" ? 0 : component == "y" ? 1 : component == "z" ? 2 : 3;
    if (axis >= D) return -1;
    return component_measure({sensor.marker, sensor.reference, axis});
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
    const auto joint = model_.joints.find(name.substr(0, name.rfind('.')));
    if (!joint.is_null()) {
        const JointType type = model_.joints.get(joint).type;
        const auto names = joint_coordinate_names(type, D == 2);
        throw ModelError(names.empty() ? fmt::format("{}: a {} joint has no coordinate (asked for '{}')", what,
                                                     joint_type_name(type), name)
                                       : fmt::format("{}: joint '{}' has the coordinate(s) {}; found '{}'", what,
                                                     model_.joints.get(joint).name, fmt::join(names, ", "), name));
    }
    throw ModelError(
        fmt::format("{}: there is no joint coordinate '{}'{}", what, name, did_you_mean(name, scalar_names())));
}

template <int D>
std::vector<std::string> MechanismBuilder<D>::scalar_names() const {
    std::vector<std::string> names;
    for (const auto handle : model_.joints.handles()) {
        const Joint& joint = model_.joints.get(handle);
        for (const auto& coordinate : joint_coordinate_names(joint.type, D == 2))
            names.push_back(joint.name + "." + coordinate);
    }
    for (const auto handle : model_.sensors.handles()) {
        const Sensor& sensor = model_.sensors.get(handle);
        if (sensor.quantity == Sensor::Quantity::coordinate) names.push_back(sensor.name);
        if (sensor.quantity == Sensor::Quantity::position)
            for (const char* component : {".x", ".y", ".z"}) names.push_back(sensor.name + component);
    }
    return names;
}

template int MechanismBuilder<2>::scalar(const std::string&, const std::string&);
template int MechanismBuilder<3>::scalar(const std::string&, const std::string&);
template int MechanismBuilder<2>::find_or_make_scalar(const std::string&);
template int MechanismBuilder<3>::find_or_make_scalar(const std::string&);
template std::vector<std::string> MechanismBuilder<2>::scalar_names() const;
template std::vector<std::string> MechanismBuilder<3>::scalar_names() const;

}  // namespace limber
