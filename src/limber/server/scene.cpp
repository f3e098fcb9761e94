#include "limber/server/scene.hpp"

#include <map>
#include <nlohmann/json.hpp>
#include <unordered_map>

#include "limber/io/format.hpp"
#include "limber/model/beam_numbers.hpp"
#include "limber/model/evaluation.hpp"
#include "limber/simulation/compiled_model.hpp"
#include "limber/simulation/warning.hpp"

namespace limber {
namespace {

using Json = nlohmann::ordered_json;
Json list_of(const Vec3& v) {
    return {v.x(), v.y(), v.z()};
}

Json list_of(const Quat& q) {
    return {q.x(), q.y(), q.z(), q.w()};
}

const char* shape_name(Shape::Kind kind) {
    switch (kind) {
        case Shape::Kind::plane: return "plane";
        case Shape::Kind::sphere: return "sphere";
        case Shape::Kind::box: return "box";
        case Shape::Kind::capsule: return "capsule";
        case Shape::Kind::cylinder: return "cylinder";
        case Shape::Kind::cone: return "cone";
        case Shape::Kind::convex: return "convex";
        case Shape::Kind::mesh: break;
    }
    return "mesh";
}

// Sizes in the order of a solid's: box three sides, round ones radius and length.
Json shape_size(const Shape& shape) {
    if (shape.kind == Shape::Kind::box) return list_of(2 * shape.half);
    return {shape.radius, 2 * shape.half_length};
}

// Flexible bodies are drawn piece by piece.
struct Piece {
    int index = 0;
    double along = 0;
};
struct Pieces {
    std::unordered_map<std::uint32_t, std::vector<Piece>> of_body;  // by slot of the body in the model
    std::unordered_map<std::string, std::pair<int, Frame>> markers;
};

template <int D>
Pieces find_pieces(const Simulation& simulation) {
    const Mechanism<D>& m = static_cast<const MechanismSystem<D>&>(simulation.system()).mechanism();
    Pieces pieces;
    for (std::size_t b = 0; b < m.bodies.size(); ++b)
        if (m.bodies[b].node >= 0)
            pieces.of_body[m.bodies[b].handle.index].push_back({static_cast<int>(b), m.bodies[b].along});
    for (const auto& [name, place] : m.piece_markers) {
        Frame frame;
        frame.position.template head<D>() = place.point;
        frame.axes.template topLeftCorner<D, D>() = place.axes;
        pieces.markers.emplace(name, std::pair(place.body, frame));
    }
    return pieces;
}

class SceneWriter {
public:
    SceneWriter(const Model& model, const std::vector<CollisionShape>& shapes, Pieces pieces)
        : model_(model), numbers_(model), shapes_(shapes), pieces_(std::move(pieces)) {}

    Json bodies() {
        Json list = Json::array();
        for (const auto handle : model_.bodies.handles()) {
            const Body& body = model_.bodies.get(handle);
            const bool is_ground = handle == model_.ground();
            if (body.beam) {
                add_pieces(handle, list);
                continue;
            }
            body_index_[body.name] = is_ground ? -1 : next_body_++;
            Json entry{{"name", body.name}, {"index", body_index_[body.name]}, {"solids", solids(handle)}};
            // Bodies that touch by their solids are drawn as those.
            if (body.shapes) entry["shapes"] = shapes(handle);
            if (!is_ground) {
                const MassProperties mass = numbers_.mass_properties(handle);
                entry["mass"] = mass.mass;
                entry["centre"] = list_of(mass.centre);
            }
            list.push_back(std::move(entry));
        }
        return list;
    }

    Json markers() {
        Json list = Json::array();
        for (const auto handle : model_.markers.handles()) {
            const Marker& marker = model_.markers.get(handle);
            const auto on_piece = pieces_.markers.find(marker.name);
            const bool is_on_piece = on_piece != pieces_.markers.end();
            const Frame frame = is_on_piece ? on_piece->second.second : numbers_.marker_frame(handle);
            const int body = is_on_piece ? on_piece->second.first : body_index_.at(model_.bodies.get(marker.body).name);
            marker_index_[marker.name] = static_cast<int>(list.size());
            list.push_back({{"name", marker.name},
                            {"body", body},
                            {"position", list_of(frame.position)},
                            {"quaternion", list_of(Quat(frame.axes))},
                            {"own", marker.is_joints_own}});
        }
        return list;
    }

    Json joints() const {
        Json list = Json::array();
        for (const auto handle : model_.joints.handles()) {
            const Joint& joint = model_.joints.get(handle);
            Json entry{{"name", joint.name},
                       {"type", joint.note().name},
                       {"a", index_of(joint.ends().first)},
                       {"b", index_of(joint.ends().second)},
                       {"coordinates", coordinate_names(joint.type, model_.planar)},
                       {"closing", !joint.closing.empty()}};
            if (joint.is_disabled) entry["disabled"] = true;
            if (const auto* disc = joint.as<RollingDisc>()) entry["radius"] = numbers_.number(disc->radius, joint.name);
            list.push_back(std::move(entry));
        }
        return list;
    }

    Json forces() const {
        Json list = Json::array();
        for (const auto handle : model_.forces.handles()) {
            const Force& force = model_.forces.get(handle);
            const ElementEnds ends = ends_of(force);
            Json entry{{"name", force.name},
                       {"type", force.note().name},
                       {"a", index_of(ends.a)},
                       {"b", index_of(ends.b)},
                       {"scalar", ends.scalar}};
            if (const auto* tyre = force.as<Tyre>()) entry["radius"] = numbers_.number(tyre->radius, force.name);
            list.push_back(std::move(entry));
        }
        return list;
    }

    Json stops() const {
        Json list = Json::array();
        for (const auto handle : model_.stops.handles()) {
            const Stop& stop = model_.stops.get(handle);
            const auto number = [&](const Number& n) { return numbers_.number(n, stop.name); };
            const ElementEnds ends = ends_of(stop);
            Json entry{{"name", stop.name},
                       {"type", stop.note().name},
                       {"a", index_of(ends.a)},
                       {"b", index_of(ends.b)},
                       {"scalar", ends.scalar}};
            std::visit(
                [&](const auto& type) {
                    if constexpr (requires { type.minimum; }) {
                        if (type.minimum) entry["min"] = number(*type.minimum);
                        if (type.maximum) entry["max"] = number(*type.maximum);
                    }
                    if constexpr (requires { type.length; }) {
                        if (type.length) entry["length"] = number(*type.length);
                    }
                    if constexpr (requires { type.gap; }) entry["gap"] = number(type.gap);
                },
                stop.type);
            list.push_back(std::move(entry));
        }
        return list;
    }

    Json contacts() const {
        Json list = Json::array();
        for (const auto handle : model_.contacts.handles()) {
            const ContactRule& rule = model_.contacts.get(handle);
            list.push_back({{"name", rule.name}, {"type", rule.note().name}});
        }
        return list;
    }

private:
    // One entry for each piece; each reaches halfway to the next.
    void add_pieces(BodyHandle handle, Json& list) {
        const std::string& name = model_.bodies.get(handle).name;
        const SectionNumbers section = find_section(numbers_, model_.bodies.get(handle));
        const double length = numbers_.beam_line(handle).length();
        const std::vector<Piece>& pieces = pieces_.of_body.at(handle.index);
        body_index_[name] = next_body_;
        for (std::size_t i = 0; i < pieces.size(); ++i) {
            const double here = pieces[i].along;
            const double start = i == 0 ? 0 : (pieces[i - 1].along + here) / 2;
            const double end = i + 1 == pieces.size() ? 1 : (here + pieces[i + 1].along) / 2;
            const double size = (end - start) * length;
            const bool is_box = section.looks.y() > 0 && section.looks.z() == 0;
            Json solid{{"kind", is_box ? "box" : "rod"}, {"size", {size, section.looks.x()}}};
            if (is_box) solid["size"] = {size, 2 * section.looks.x(), 2 * section.looks.y()};
            solid["position"] = list_of(Vec3(((is_box ? (start + end) / 2 : start) - here) * length, 0, 0));
            solid["quaternion"] = list_of(Quat::Identity());
            solid["color"] = "";
            list.push_back({{"name", name},
                            {"index", pieces[i].index},
                            {"solids", Json::array({solid})},
                            {"along", here * length},
                            {"mass", section.mass * size},
                            {"centre", list_of(Vec3::Zero())}});
        }
        next_body_ += static_cast<int>(pieces.size());
    }

    // Shapes are placed from the centre of mass; those of the ground in the world.
    Json shapes(BodyHandle handle) const {
        const int index = body_index_.at(model_.bodies.get(handle).name);
        const Vec3 origin = index < 0 ? Vec3::Zero().eval() : numbers_.mass_properties(handle).centre;
        Json list = Json::array();
        for (const CollisionShape& placed : shapes_) {
            if (placed.body != index) continue;
            const Shape& shape = *placed.shape;
            Json entry{{"kind", shape_name(shape.kind)},
                       {"size", shape_size(shape)},
                       {"position", list_of(Vec3(origin + placed.place.position))},
                       {"quaternion", list_of(Quat(placed.place.axes))}};
            for (const Vec3& vertex : shape.vertices) entry["vertices"].push_back(list_of(vertex));
            for (const auto& triangle : shape.triangles) entry["triangles"].push_back(triangle);
            list.push_back(std::move(entry));
        }
        return list;
    }

    int index_of(MarkerHandle handle) const {
        return handle.is_null() ? -1 : marker_index_.at(model_.markers.get(handle).name);
    }

    Json solids(BodyHandle handle) const {
        const Body& body = model_.bodies.get(handle);
        Json list = Json::array();
        for (const Solid& solid : body.solids)
            std::visit(
                [&](const auto& one) {
                    const Frame frame = numbers_.frame(placement_of(solid), body.name);
                    Json size = Json::array();
                    if constexpr (std::is_same_v<std::decay_t<decltype(one)>, RodSolid>)
                        size.push_back(numbers_.rod_length(handle));
                    add_lengths(one, body.name, size);
                    list.push_back({{"kind", one.type.name},
                                    {"size", size},
                                    {"position", list_of(frame.position)},
                                    {"quaternion", list_of(Quat(frame.axes))},
                                    {"color", color_of(one)}});
                },
                solid);
        return list;
    }
    // In the order in which they are described.
    template <class OneSolid>
    void add_lengths(const OneSolid& solid, const std::string& body, Json& size) const {
        const auto add = [&](const Number& length) { size.push_back(numbers_.number(length, body)); };
        if constexpr (requires { solid.size; })
            for (int k = 0; k < (model_.planar ? 2 : 3); ++k) add(solid.size[k]);
        if constexpr (requires { solid.radius; }) add(solid.radius);
        if constexpr (requires { solid.length; }) add(solid.length);
        if constexpr (requires { solid.thickness; }) add(solid.thickness);
    }
    template <class OneSolid>
    static const std::string& color_of(const OneSolid& solid) {
        if constexpr (requires { solid.common; }) {
            return solid.common.color;
        } else {
            return solid.color;
        }
    }

    const Model& model_;
    ModelEvaluation numbers_;
    const std::vector<CollisionShape>& shapes_;
    Pieces pieces_;
    std::map<std::string, int> body_index_, marker_index_;
    int next_body_ = 0;
};

Json describe_mobility(const MobilityReport& report) {
    return {{"freedoms", report.freedoms},
            {"redundant", report.redundant},
            {"rows", report.rows},
            {"rank", report.rank},
            {"elements", report.redundant_elements}};
}

Json describe_warnings(const std::vector<Warning>& warnings) {
    Json list = Json::array();
    for (const Warning& warning : warnings)
        list.push_back({{"kind", warning.kind}, {"text", warning.text}, {"elements", warning.elements}});
    return list;
}

// Of a divided mechanism, in the order of Simulation::components_of_bodies.
Json describe_components(const Simulation& simulation) {
    Json list = Json::array();
    for (const ComponentSettings& c : simulation.components())
        list.push_back({{"name", c.name}, {"formulation", c.formulation}, {"integrator", c.integrator}});
    return list;
}

template <class T>
Json names_of(const Table<T>& table) {
    return table.names();
}

}  // namespace

Json describe_scene(const Simulation& simulation, Observer& observer) {
    const Model& model = simulation.model();
    SceneWriter writer(model, observer.shapes(),
                       in_dimension(model.planar, [&]<int D> { return find_pieces<D>(simulation); }));
    Json scene;
    scene["title"] = model.title;
    scene["planar"] = model.planar;
    scene["gravity"] = {model.gravity[0].text(), model.gravity[1].text(), model.gravity[2].text()};
    scene["scale"] = simulation.system().length_scale();
    scene["bodies"] = writer.bodies();
    scene["markers"] = writer.markers();
    scene["joints"] = writer.joints();
    scene["forces"] = writer.forces();
    scene["stops"] = writer.stops();
    scene["contacts"] = writer.contacts();
    scene["drivers"] = names_of(model.drivers);
    scene["sensors"] = names_of(model.sensors);
    scene["events"] = names_of(model.events);
    scene["parameters"] = model.parameters.names();
    scene["columns"] = observer.columns();
    std::optional<MobilityReport> mobility;
    if (model.bodies.size() <= max_bodies_for_mobility) mobility = simulation.compute_mobility();
    scene["mobility"] = mobility ? describe_mobility(*mobility) : Json();
    scene["warnings"] = describe_warnings(find_warnings(simulation, observer, mobility ? &*mobility : nullptr));
    scene["components"] = describe_components(simulation);
    scene["componentOf"] = simulation.components_of_bodies();
    Json poses = Json::array();
    for (const BodyPose& pose : observer.compute_poses(simulation.state()))
        poses.push_back({pose.position.x(), pose.position.y(), pose.position.z(), pose.orientation.x(),
                         pose.orientation.y(), pose.orientation.z(), pose.orientation.w()});
    scene["poses"] = std::move(poses);
    return scene;
}

}  // namespace limber
