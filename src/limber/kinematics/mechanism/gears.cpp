// Gears and racks: which bodies mesh, and where. Without an answer the row acts on its coordinates by torques (and the
// force along a rack) between the bodies of each joint, as a gearbox does whose inside nobody knows.

#include <cmath>
#include <numeric>

#include "limber/kinematics/body_space/gear_mesh.hpp"
#include "limber/kinematics/mechanism/builder.hpp"

namespace limber {
namespace {

// Bearings that hold a wheel against forces across its axis, or a rack against all but its motion.
bool can_carry(const Joint& joint, const std::string& coordinate, bool is_rack) {
    if (is_rack) return joint.as<Prismatic>() != nullptr;
    return coordinate == "angle" &&
           (joint.as<Revolute>() != nullptr || joint.as<Cylindrical>() != nullptr || joint.as<Helical>() != nullptr);
}

bool asks_for_teeth(const Teeth& teeth) {
    return teeth.place || teeth.pressure_angle.text() != Number().text();
}

// Null: neither a gear nor a rack.
const Teeth* teeth_of(const Joint& joint) {
    if (const auto* gear = joint.as<Gear>()) return &gear->teeth;
    if (const auto* rack = joint.as<RackAndPinion>()) return &rack->teeth;
    return nullptr;
}

}  // namespace

template <int D>
int MechanismBuilder<D>::find_bearing(const std::string& name, bool is_rack) const {
    const Sensor* sensor = model_.sensors.find(model_.sensors.find(name));
    const auto* coordinate = sensor != nullptr ? sensor->as<CoordinateSensor>() : nullptr;
    const std::string& scalar = coordinate != nullptr ? coordinate->coordinate.name : name;
    const auto dot = scalar.rfind('.');
    if (dot == std::string::npos) return -1;
    const Joint* joint = model_.joints.find(model_.joints.find(scalar.substr(0, dot)));
    if (joint == nullptr || !can_carry(*joint, scalar.substr(dot + 1), is_rack)) return -1;
    const int element = m_.element_index.at(joint->name);
    return m_.elements[element].row_count > 0 ? element : -1;
}

// Bodies that fixed joints make one have one number; the ground is the last.
template <int D>
std::vector<int> MechanismBuilder<D>::rigid_groups() const {
    std::vector<int> group(m_.bodies.size() + 1);
    std::iota(group.begin(), group.end(), 0);
    const auto place = [&](int body) { return body < 0 ? m_.bodies.size() : static_cast<std::size_t>(body); };
    for (const ConstraintElement<D>& e : m_.elements) {
        if (!e.motions || !e.motions->empty() || e.row_count == 0) continue;
        const int from = group[place(e.body_a)];
        const int to = group[place(e.body_b)];
        for (int& g : group)
            if (g == from) g = to;
    }
    return group;
}

template <int D>
std::optional<GearMesh> MechanismBuilder<D>::find_mesh(const Joint& joint, std::string& why_not) {
    GearMesh mesh;
    const auto* rack = joint.as<RackAndPinion>();
    const auto* gear = joint.as<Gear>();
    const Teeth& teeth = *teeth_of(joint);
    const CoordinatePair& coordinates = rack != nullptr ? rack->coordinates : gear->coordinates;
    mesh.has_rack = rack != nullptr;
    const std::string what = fmt::format("joint '{}'", joint.name);
    mesh.ratio = mesh.has_rack ? evaluation_.number(rack->radius, what + ": radius")
                               : evaluation_.number(gear->ratio, what + ": ratio");
    const double angle = evaluation_.number(teeth.pressure_angle, what + ": pressure-angle");
    if (!(angle >= 0 && angle < pi / 2))
        throw ModelError(fmt::format(
            "{}: pressure-angle must lie between 0 and 90 degrees, found {:.4g} degrees (an angle in degrees "
            "is written '20 deg')",
            what, angle * 180 / pi));
    mesh.tangent = std::tan(angle);
    for (int k = 0; k < 2; ++k) {
        const std::string& coordinate = k == 0 ? coordinates.first : coordinates.second;
        mesh.bearing[k] = find_bearing(coordinate, mesh.has_rack && k == 1);
        if (mesh.bearing[k] < 0) {
            why_not = fmt::format("'{}' is not the coordinate of a bearing that carries tooth forces", coordinate);
            return std::nullopt;
        }
    }
    const std::array<const ConstraintElement<D>*, 2> bearing{&m_.elements[mesh.bearing[0]],
                                                             &m_.elements[mesh.bearing[1]]};
    const std::vector<int> group = rigid_groups();
    const auto group_of = [&](const ConstraintElement<D>& e, bool second) {
        const int body = second ? e.body_b : e.body_a;
        return body < 0 ? group.back() : group[body];
    };
    const auto carries = [&](bool i, bool j) { return group_of(*bearing[0], i) == group_of(*bearing[1], j); };
    std::array<bool, 2> is_second{};  // of each joint: the carrier
    bool found = false;
    for (const bool i : {false, true})
        for (const bool j : {false, true})
            if (!found && carries(i, j)) {
                found = true;
                is_second = {i, j};
            }
    if (!found) {
        why_not = "no body carries both of its bearings";
        return std::nullopt;
    }
    for (int k = 0; k < 2; ++k) {
        const ConstraintElement<D>& e = *bearing[k];
        const MarkerFeatures<D>& carrier = is_second[k] ? e.b : e.a;
        mesh.wheel[k] = is_second[k] ? e.body_a : e.body_b;
        mesh.sense[k] = is_second[k] ? -1 : 1;
        mesh.point[k] = carrier.point;
        mesh.axis[k] = carrier.axis[D == 2 ? 0 : 2];
    }
    if (teeth.place) {
        const Vec<D> world = evaluation_.vector(*teeth.place, what + ": at").template head<D>();
        const int body = is_second[0] ? bearing[0]->body_b : bearing[0]->body_a;
        Vec<D> local = world;
        if (body >= 0) {
            const BodyState<D>& pose = m_.bodies[body].reference;
            local = pose.axes.transpose() * (world - pose.position);
        }
        mesh.place = feature(body, true, local);
    }
    if (!find_tooth_force<D>(mesh, m_.reference, &why_not)) return std::nullopt;
    return mesh;
}

template <int D>
void MechanismBuilder<D>::add_meshes() {
    for (const auto handle : model_.joints.handles()) {
        const Joint& joint = model_.joints.get(handle);
        const Teeth* teeth = teeth_of(joint);
        if (teeth == nullptr) continue;
        ConstraintElement<D>& element = m_.elements[m_.element_index.at(joint.name)];
        if (element.row_count == 0) continue;
        std::string why_not;
        std::optional<GearMesh> mesh = find_mesh(joint, why_not);
        if (!mesh && asks_for_teeth(*teeth))
            throw ModelError(fmt::format("joint '{}': 'at' and 'pressure-angle' say where and how teeth meet, but {}",
                                         joint.name, why_not));
        if (!mesh) {
            if (why_not == wheels_on_one_axis) continue;
            m_.notes.push_back(fmt::format(
                "joint '{}' acts by torques alone, and the reactions of its bearings have no tooth force: {}",
                joint.name, why_not));
            continue;
        }
        mesh->row = element.first_row;
        element.mesh = static_cast<int>(m_.meshes.size());
        m_.meshes.push_back(*mesh);
    }
}

// Where a slide begins that says nothing but its direction.
template <int D>
void MechanismBuilder<D>::note_origins() {
    const auto name_of = [&](MarkerHandle handle) {
        const std::string& body = model_.bodies.get(model_.markers.get(handle).body).name;
        return handle == model_.marker(body) ? body : model_.markers.get(handle).name;
    };
    for (const auto handle : model_.joints.handles()) {
        const Joint& joint = model_.joints.get(handle);
        if (joint.as<Prismatic>() == nullptr && joint.as<Cylindrical>() == nullptr) continue;
        const Marker& first = model_.markers.get(joint.ends().first);
        const Marker& second = model_.markers.get(joint.ends().second);
        if (first.place != Marker::Kind::turned || second.place != Marker::Kind::turned) continue;
        const ConstraintElement<D>& e = m_.elements[m_.element_index.at(joint.name)];
        const Vec<D> d = m_.reference.value[e.b.point] - m_.reference.value[e.a.point];
        const double start = d.dot(m_.reference.value[e.a.axis[D == 2 ? 0 : 2]]);
        if (std::abs(start) < 1e-9 * m_.length_scale) continue;
        m_.notes.push_back(fmt::format(
            "joint '{}' has 'axis' and no 'at': its displacement counts from '{}' and is {:.4g} as drawn; with 'at' it "
            "would be 0 there",
            joint.name, name_of(first.base), start));
    }
}

template void MechanismBuilder<2>::add_meshes();
template void MechanismBuilder<3>::add_meshes();
template void MechanismBuilder<2>::note_origins();
template void MechanismBuilder<3>::note_origins();

}  // namespace limber
