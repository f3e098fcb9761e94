#include "limber/model/evaluation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "limber/math/rotation.hpp"
#include "limber/model/beam_numbers.hpp"

namespace limber {

ModelEvaluation::ModelEvaluation(const Model& model) : model_(model) {
    for (auto& [name, value] : model.parameters.evaluate()) parameters_[name] = value;
    for (const auto handle : model.tables.handles()) {
        const TableDefinition& definition = model.tables.get(handle);
        tables_[definition.name] = table(definition, fmt::format("table '{}'", definition.name));
    }
}

BoundExpression ModelEvaluation::bind(const Number& n, const std::vector<std::string>& slots,
                                      const Subject& what) const {
    Expression::Scope scope;
    scope.resolve = [&](const std::string& name) -> std::optional<Expression::Meaning> {
        const auto slot = std::find(slots.begin(), slots.end(), name);
        if (slot != slots.end()) return Expression::Meaning{std::nullopt, static_cast<int>(slot - slots.begin())};
        const auto parameter = parameters_.find(name);
        if (parameter != parameters_.end()) return Expression::Meaning{parameter->second, -1};
        return std::nullopt;
    };
    scope.find_table = [&](const std::string& name) -> std::shared_ptr<const Interpolation> {
        const auto it = tables_.find(name);
        return it == tables_.end() ? nullptr : it->second;
    };
    scope.known_names = [&] {
        std::vector<std::string> names = slots;
        for (const auto& [name, value] : parameters_) names.push_back(name);
        return names;
    };
    try {
        return n.bind(scope);
    } catch (const ModelError& error) {
        throw ModelError(fmt::format("{}: {}", what.text(), error.what()));
    }
}

double ModelEvaluation::number(const Number& n, const Subject& what) const {
    // Most numbers are written out; compiling a model while it runs must be quick.
    if (const auto value = n.literal(); value && std::isfinite(*value)) return *value;
    const auto& names = n.names();
    if (std::find(names.begin(), names.end(), "t") != names.end() && parameters_.count("t") == 0)
        throw ModelError(fmt::format("{} must not depend on t: \"{}\"", what.text(), n.text()));
    const double value = bind(n, {}, what).constant();
    if (!std::isfinite(value))
        throw ModelError(fmt::format("{} is not a finite number: \"{}\"", what.text(), n.text()));
    return value;
}

Vec3 ModelEvaluation::vector(const Number3& n, const Subject& what) const {
    return {number(n[0], what), number(n[1], what), number(n[2], what)};
}

Frame ModelEvaluation::frame(const Placement& placement, const Subject& what) const {
    Frame frame;
    frame.position = vector(placement.position, what.with("position"));
    const auto& values = placement.orientation.values;
    const Subject turn = what.with("orientation");
    const auto at = [&](int i) { return number(values[i], turn); };
    const auto direction = [&](int first) {
        const Vec3 v(at(first), at(first + 1), at(first + 2));
        if (v.norm() < 1e-12) throw ModelError(turn.text() + ": a direction must not be zero");
        return v;
    };
    switch (placement.orientation.kind) {
        case Orientation::Kind::none: break;
        case Orientation::Kind::angle: frame.axes = Eigen::AngleAxisd(at(0), Vec3::UnitZ()).toRotationMatrix(); break;
        case Orientation::Kind::axis_angle:
            frame.axes = Eigen::AngleAxisd(at(3), direction(0).normalized()).toRotationMatrix();
            break;
        case Orientation::Kind::xyz:
            frame.axes = (Eigen::AngleAxisd(at(0), Vec3::UnitX()) * Eigen::AngleAxisd(at(1), Vec3::UnitY()) *
                          Eigen::AngleAxisd(at(2), Vec3::UnitZ()))
                             .toRotationMatrix();
            break;
        case Orientation::Kind::quaternion: {
            const Quat q(at(0), at(1), at(2), at(3));
            if (q.norm() < 1e-12) throw ModelError(turn.text() + ": the quaternion must not be zero");
            frame.axes = q.normalized().toRotationMatrix();
            break;
        }
        case Orientation::Kind::axes: {
            const Vec3 z = direction(0);
            if (values.size() == 6) {
                const Vec3 x = direction(3);
                frame.axes = frame_from_z(z, &x);
            } else {
                frame.axes = frame_from_z(z);
            }
            break;
        }
    }
    return frame;
}

const ModelEvaluation::BodyPlace& ModelEvaluation::place(BodyHandle handle) const {
    const Body& body = model_.bodies.get(handle);
    if (places_.size() <= handle.index) places_.resize(handle.index + 1);
    auto& known = places_[handle.index];
    if (!known) known = compute_place(body);
    return *known;
}

const Frame& ModelEvaluation::body_frame(BodyHandle body) const {
    return place(body).frame;
}

double ModelEvaluation::rod_length(BodyHandle body) const {
    return place(body).rod_length;
}

ModelEvaluation::BodyPlace ModelEvaluation::compute_place(const Body& body) const {
    BodyPlace result;
    Frame& frame = result.frame;
    if (body.beam) {
        result.beam = std::make_shared<const BeamLine>(*this, body);
        frame = result.beam->at(0);
        return result;
    }
    const RodSolid* rod = body.rod();
    if (rod == nullptr) {
        frame = this->frame(body.placement, {"body", body.name});
        return result;
    }
    frame.position = vector(rod->from, {"body", body.name, "from"});
    Vec3 x = vector(rod->to, {"body", body.name, "to"}) - frame.position;
    result.rod_length = x.norm();
    if (result.rod_length < 1e-12)
        throw ModelError(fmt::format("body '{}': the rod's two ends are the same point", body.name));
    x /= result.rod_length;
    if (model_.planar) {
        frame.axes << x, Vec3(-x.y(), x.x(), 0), Vec3::UnitZ();
    } else {
        // z as near to world z as x allows.
        Vec3 z = Vec3::UnitZ() - x * x.z();
        if (z.norm() < 0.1) z = Vec3::UnitY() - x * x.y();
        z.normalize();
        frame.axes << x, z.cross(x), z;
    }
    return result;
}

const BeamLine& ModelEvaluation::beam_line(BodyHandle body) const {
    return *place(body).beam;
}

// Of a marker given in the world's axes.
Frame ModelEvaluation::world_frame(const Marker& marker, const Subject& what) const {
    Frame world = frame(marker.placement, what);
    if (!marker.base.is_null())
        world.position = (body_frame(model_.markers.get(marker.base).body) * marker_frame(marker.base)).position;
    return world;
}

BeamPlace ModelEvaluation::beam_place(MarkerHandle handle) const {
    const Marker& marker = model_.markers.get(handle);
    const Subject what("marker", marker.name);
    const BeamLine& line = beam_line(marker.body);
    BeamPlace place;
    switch (marker.place) {
        case Marker::Kind::centre_of_mass:
            throw ModelError(what.text() + ": a beam has no marker at its centre of mass");
        case Marker::Kind::body:
        case Marker::Kind::rod_start:
        case Marker::Kind::rod_end:
            place.in_section = frame(marker.placement, what);
            place.arc_length = marker.place == Marker::Kind::rod_end ? line.length() : place.in_section.position.x();
            place.in_section.position.x() = 0;
            if (place.arc_length < 0 || place.arc_length > line.length() * (1 + 1e-12))
                throw ModelError(fmt::format("{}: an arc length lies between 0 and {:.6g} m on beam '{}', found {:.6g}",
                                             what.text(), line.length(), model_.bodies.get(marker.body).name,
                                             place.arc_length));
            break;
        case Marker::Kind::world:
        case Marker::Kind::turned: {
            const Frame world = world_frame(marker, what);
            place.arc_length = line.find_nearest(world.position);
            const Frame section = line.at(place.arc_length);
            place.in_section = {section.local_point(world.position), section.axes.transpose() * world.axes};
            break;
        }
    }
    return place;
}

Frame ModelEvaluation::marker_frame(MarkerHandle handle) const {
    const Marker& marker = model_.markers.get(handle);
    const Subject what("marker", marker.name);
    if (const BodyPlace& on = this->place(marker.body); on.beam) {
        const BeamPlace along = beam_place(handle);
        const Frame world = on.beam->at(along.arc_length) * along.in_section;
        return {on.frame.local_point(world.position), on.frame.axes.transpose() * world.axes};
    }
    Frame local = frame(marker.placement, what);
    switch (marker.place) {
        case Marker::Kind::body:
        case Marker::Kind::rod_start: break;
        case Marker::Kind::rod_end: local.position.x() += rod_length(marker.body); break;
        case Marker::Kind::centre_of_mass: local.position += mass_properties(marker.body).centre; break;
        case Marker::Kind::world: {
            const Frame pose = body_frame(marker.body);
            if (!marker.base.is_null()) {
                const Frame other = body_frame(model_.markers.get(marker.base).body);
                local.position = other.position + other.axes * marker_frame(marker.base).position;
            }
            local.position = pose.axes.transpose() * (local.position - pose.position);
            local.axes = pose.axes.transpose() * local.axes;
            break;
        }
        case Marker::Kind::turned:
            local.position = marker_frame(marker.base).position;
            local.axes = body_frame(marker.body).axes.transpose() * local.axes;
            break;
    }
    if (model_.planar && std::abs(local.axes(2, 2) - 1) > 1e-9)
        throw ModelError(what.text() + ": in a planar model a frame can only be turned about z");
    return local;
}

MassProperties ModelEvaluation::mass_properties(BodyHandle handle) const {
    const Body& body = model_.bodies.get(handle);
    std::vector<MassProperties> parts;
    parts.reserve(body.solids.size());
    if (body.beam) {
        // As it is written; cut into a hundred pieces.
        const BeamLine& line = beam_line(handle);
        const SectionNumbers section = find_section(*this, body);
        constexpr int pieces = 100;
        const double length = line.length() / pieces;
        for (int i = 0; i < pieces; ++i) {
            const Frame frame = line.at((i + 0.5) * length);
            const Mat3 axes = line.at(0).axes.transpose() * frame.axes;
            const Vec3 inertia = section.inertia * length + Vec3(0, 1, 1) * section.mass * std::pow(length, 3) / 12;
            parts.push_back({section.mass * length, line.at(0).local_point(frame.position),
                             axes * inertia.asDiagonal() * axes.transpose()});
        }
    }
    for (const Solid& solid : body.solids)
        parts.push_back(solid_mass_properties(*this, solid, rod_length(handle), model_.planar, {"body", body.name}));
    if (!body.beam) parts.push_back(given_mass_properties(*this, body.given_mass, model_.planar, {"body", body.name}));
    return combine(parts);
}

std::shared_ptr<const Interpolation> ModelEvaluation::table(const TableDefinition& definition,
                                                            const std::string& what) const {
    std::vector<double> x;
    std::vector<double> y;
    for (std::size_t i = 0; i < definition.x.size(); ++i) {
        x.push_back(number(definition.x[i], what));
        y.push_back(number(definition.y[i], what));
        if (i > 0 && !(x[i] > x[i - 1]))
            throw ModelError(fmt::format("{}: the first column must grow from row to row; row {} has {} after {}", what,
                                         i + 1, x[i], x[i - 1]));
    }
    if (x.size() < 2) throw ModelError(what + ": a table needs at least two rows");
    return std::make_shared<const Interpolation>(std::move(x), std::move(y), definition.interpolation);
}

}  // namespace limber
