// Beams as nodes and elements. A node is a body with a frame: the section at an arc length, with the mass of the beam
// near it. Nodes stand at both ends, at every marker, and between them at the points of Gauss and Lobatto, whose
// weights are the nodes' parts of the length: so lumped, mass, its centre and (from second order on) its moments of
// inertia are those of the line. Elements are forces between nodes (forces/beam_force.hpp).
//
// Rigid segments, for comparison: segments from the middle of one element to the middle of the next, and from the ends
// to the nearest middle, joined there without shear or stretch; a spring in each joint bends and twists as its element
// would.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "limber/kinematics/forces/beam_force.hpp"
#include "limber/kinematics/forces/point_forces.hpp"
#include "limber/kinematics/mechanism/builder.hpp"
#include "limber/math/interruption.hpp"
#include "limber/model/beam_numbers.hpp"

namespace limber {
namespace {

struct Quadrature {
    std::vector<double> place, weight;
};

// Of Lobatto, with the ends; index: order of the shape functions.
const Quadrature& node_rule(int order) {
    static const double inside = 1 / std::sqrt(5.0);
    static const std::array<Quadrature, 4> rules{
        Quadrature{}, Quadrature{{-1, 1}, {1, 1}}, Quadrature{{-1, 0, 1}, {1.0 / 3, 4.0 / 3, 1.0 / 3}},
        Quadrature{{-1, -inside, inside, 1}, {1.0 / 6, 5.0 / 6, 5.0 / 6, 1.0 / 6}}};
    return rules[order];
}

// Of Gauss: one point less than nodes.
const Quadrature& strain_rule(int order) {
    static const double two = std::numbers::inv_sqrt3;
    static const double three = std::sqrt(0.6);
    static const std::array<Quadrature, 4> rules{Quadrature{}, Quadrature{{0}, {2}}, Quadrature{{-two, two}, {1, 1}},
                                                 Quadrature{{-three, 0, three}, {5.0 / 9, 8.0 / 9, 5.0 / 9}}};
    return rules[order];
}

// Lagrange's polynomials of the nodes, and their slopes, at a place between -1 and 1.
void find_shape(const std::vector<double>& nodes, double x, std::array<double, max_beam_nodes>& shape,
                std::array<double, max_beam_nodes>& slope) {
    const auto count = nodes.size();
    for (std::size_t k = 0; k < count; ++k) {
        double value = 1;
        double sum = 0;
        for (std::size_t i = 0; i < count; ++i) {
            if (i == k) continue;
            value *= (x - nodes[i]) / (nodes[k] - nodes[i]);
            double product = 1 / (nodes[k] - nodes[i]);
            for (std::size_t j = 0; j < count; ++j)
                if (j != k && j != i) product *= (x - nodes[j]) / (nodes[k] - nodes[j]);
            sum += product;
        }
        shape[k] = value;
        slope[k] = sum;
    }
}

template <int D>
StrainVec<D> of_dimension(const Eigen::Matrix<double, 6, 1>& v) {
    if constexpr (D == 2) {
        return {v[0], v[1], v[5]};
    } else {
        return v;
    }
}

template <int D>
StrainMat<D> of_dimension(const Eigen::Matrix<double, 6, 6>& m) {
    if constexpr (D == 2) {
        constexpr std::array<int, 3> used{0, 1, 5};
        StrainMat<D> result;
        for (int i = 0; i < 3; ++i)
            for (int j = 0; j < 3; ++j) result(i, j) = m(used[i], used[j]);
        return result;
    } else {
        return m;
    }
}

// Places that markers ask for, each once.
std::vector<double> without_doubles(std::vector<double> places, double length) {
    std::sort(places.begin(), places.end());
    std::vector<double> result;
    for (const double s : places)
        if (result.empty() || s - result.back() > 1e-9 * length) result.push_back(s);
    return result;
}

// How many elements each stretch between places gets: by its length, one at least.
std::vector<int> share_elements(const std::vector<double>& places, int elements) {
    const auto stretches = static_cast<int>(places.size()) - 1;
    std::vector<int> count(stretches, 1);
    for (int given = stretches; given < elements; ++given) {
        int longest = 0;
        const auto size = [&](int i) { return (places[i + 1] - places[i]) / count[i]; };
        for (int i = 1; i < stretches; ++i)
            if (size(i) > size(longest) * (1 + 1e-9)) longest = i;
        ++count[longest];
    }
    return count;
}

}  // namespace

// All places along beams that markers ask for, in one pass over the markers.
template <int D>
void MechanismBuilder<D>::find_beam_markers() {
    for (const auto handle : model_.markers.handles()) {
        const Marker& marker = model_.markers.get(handle);
        if (!model_.bodies.get(marker.body).beam) continue;
        beams_[marker.body.index].nodes.push_back(evaluation_.beam_place(handle).arc_length);
    }
}

template <int D>
void MechanismBuilder<D>::add_beam(BodyHandle handle) {
    const Body& body = model_.bodies.get(handle);
    const Beam& beam = body.beam.value();
    const Subject what("body", body.name);
    const BeamLine& line = evaluation_.beam_line(handle);
    const SectionNumbers section = find_section(evaluation_, body);
    const auto count = [&](const Number& number, const char* key, int largest) {
        const double value = evaluation_.number(number, what.with(key));
        if (!(value >= 1 && value <= largest) || value != std::floor(value))
            throw ModelError(fmt::format("{}: expected a whole number from 1 to {}, found {:.6g}",
                                         what.with(key).text(), largest, value));
        return static_cast<int>(value);
    };
    const int elements = count(beam.elements, "elements", 1000000);
    const int order = beam.order ? count(*beam.order, "order", 3) : 2;
    if (beam.theory == BeamTheory::segments && beam.order)
        throw ModelError(fmt::format("{}: rigid segments have no 'order'", what.text()));

    BeamNodes& nodes = beams_[handle.index];
    nodes.nodes.insert(nodes.nodes.end(), {0.0, line.length()});
    const std::vector<double> places = without_doubles(nodes.nodes, line.length());
    const std::vector<int> shares = share_elements(places, elements);
    std::vector<double> ends{0};  // of the elements
    for (std::size_t i = 0; i < shares.size(); ++i)
        for (int k = 1; k <= shares[i]; ++k)
            ends.push_back(places[i] + (places[i + 1] - places[i]) * k / static_cast<double>(shares[i]));
    nodes.first_body = static_cast<int>(m_.bodies.size());
    if (beam.theory == BeamTheory::segments) {
        add_segments(handle, section, ends, nodes);
    } else {
        add_elements(handle, section, ends, order, nodes);
    }
    if (const double drag = evaluation_.number(beam.drag, what.with("mass-damping")); drag != 0)
        for (std::size_t b = nodes.first_body; b < m_.bodies.size(); ++b) {
            auto force = std::make_shared<DragForce<D>>();
            force->linear = drag * m_.bodies[b].mass;
            m_.forces.add(body.name, std::move(force), {feature(static_cast<int>(b), true, Vec<D>::Zero())});
        }
}

// A piece of a beam as a body: its frame at an arc length, its centre of mass there.
template <int D>
int MechanismBuilder<D>::add_beam_body(BodyHandle handle, double s, double mass, const Vec3& inertia) {
    const Body& body = model_.bodies.get(handle);
    const BeamLine& line = evaluation_.beam_line(handle);
    const Subject what("body", body.name);
    const Frame frame = line.at(s);
    const Vec3 omega = evaluation_.vector(body.angular_velocity.components, what.with("angular velocity"));
    const Vec3 velocity =
        evaluation_.vector(body.velocity, what.with("velocity")) + omega.cross(frame.position - line.at(0).position);
    MechanismBody<D> node;
    const int index = static_cast<int>(m_.bodies.size());
    node.node = index - beams_.at(handle.index).first_body;
    node.name = fmt::format("{}/{}", body.name, node.node);
    node.handle = handle;
    node.along = s / line.length();
    node.mass = mass;
    node.reference.position = frame.position.head<D>();
    node.reference.axes = frame.axes.topLeftCorner<D, D>();
    node.reference.velocity = velocity.head<D>();
    if constexpr (D == 2) {
        node.inertia(0, 0) = inertia.z();
        node.reference.angular_velocity[0] = omega.z();
    } else {
        node.inertia = inertia.asDiagonal();
        node.reference.angular_velocity = omega;
    }
    m_.bodies.push_back(std::move(node));
    return index;
}

template <int D>
void MechanismBuilder<D>::add_elements(BodyHandle handle, const SectionNumbers& section,
                                       const std::vector<double>& ends, int order, BeamNodes& nodes) {
    const Quadrature& rule = node_rule(order);
    const Quadrature& strains = strain_rule(order);
    const auto count = ends.size() - 1;
    nodes.nodes.assign(1, 0.0);
    std::vector<double>& length = nodes.length;
    length.assign(1, 0.0);
    for (std::size_t e = 0; e < count; ++e) {
        const double size = ends[e + 1] - ends[e];
        for (int k = 0; k <= order; ++k) {
            if (k > 0) {
                nodes.nodes.push_back(k == order ? ends[e + 1] : ends[e] + size * (rule.place[k] + 1) / 2);
                length.push_back(0);
            }
            length.back() += size / 2 * rule.weight[k];
        }
    }
    for (std::size_t n = 0; n < nodes.nodes.size(); ++n)
        add_beam_body(handle, nodes.nodes[n], section.mass * length[n], section.inertia * length[n]);

    Eigen::Matrix<double, 6, 1> prestress = -section.thermal_strain * section.stiffness.col(0);
    prestress[0] += section.prestress;
    for (std::size_t e = 0; e < count; ++e) {
        check_interruption();
        auto force = std::make_shared<BeamForce<D>>();
        force->node_count = order + 1;
        force->has_damping = section.damping > 0;
        std::vector<int> slots;
        for (int k = 0; k <= order; ++k) {
            const int body = nodes.first_body + static_cast<int>(e) * order + k;
            slots.push_back(feature(body, true, Vec<D>::Zero()));
            for (int b = 0; b < D; ++b) slots.push_back(feature(body, false, Vec<D>::Unit(b)));
        }
        const double size = ends[e + 1] - ends[e];
        for (std::size_t g = 0; g < strains.place.size(); ++g) {
            BeamPoint<D> point;
            find_shape(rule.place, strains.place[g], point.shape, point.slope);
            for (double& slope : point.slope) slope *= 2 / size;
            point.place = ends[e] + size * (strains.place[g] + 1) / 2;
            point.length = strains.weight[g] * size / 2;
            point.stiffness = of_dimension<D>(section.stiffness);
            point.damping = section.damping * point.stiffness;
            point.prestress = of_dimension<D>(prestress);
            force->points.push_back(point);
        }
        add_beam_force(handle, std::move(force), slots, ends[e], ends[e + 1]);
    }
}

template <int D>
void MechanismBuilder<D>::add_beam_force(BodyHandle beam, std::shared_ptr<BeamForce<D>> force,
                                         const std::vector<int>& slots, double start, double end) {
    const MeasureContext<D> context = reference_context();
    const ForceView<D> view{m_.constraints.measures, context, 0, slots.data(), static_cast<int>(slots.size())};
    for (BeamPoint<D>& point : force->points) point.unstrained = force->find_strain(view, point);
    m_.beam_spans.push_back({beam, static_cast<int>(m_.forces.elements.size()), start, end});
    m_.forces.add(model_.bodies.get(beam).name, std::move(force), slots);
}

template <int D>
void MechanismBuilder<D>::add_force(const std::string& name, const LineLoad& load) {
    const auto beam = beams_.find(load.beam.index);
    if (beam == beams_.end())
        throw ModelError(fmt::format("force '{}': '{}' is no beam", name, model_.bodies.get(load.beam).name));
    for (std::size_t k = 0; k < beam->second.length.size(); ++k) {
        const int body = beam->second.first_body + static_cast<int>(k);
        auto force = std::make_shared<VectorForce<D>>();
        force->in_marker_axes = load.frame == ForceFrame::body;
        std::vector<int> slots{feature(body, true, Vec<D>::Zero())};
        for (int b = 0; b < D && force->in_marker_axes; ++b) slots.push_back(feature(body, false, Vec<D>::Unit(b)));
        force->vector = motion_vector(load.vector, slots[0], slots, fmt::format("force '{}'", name));
        force->vector.factor = beam->second.length[k];
        m_.forces.add(name, std::move(force), slots);
    }
}

template <int D>
void MechanismBuilder<D>::add_segments(BodyHandle handle, const SectionNumbers& section,
                                       const std::vector<double>& ends, BeamNodes& nodes) {
    const BeamLine& line = evaluation_.beam_line(handle);
    const std::string& name = model_.bodies.get(handle).name;
    std::vector<double> joints;
    for (std::size_t e = 0; e + 1 < ends.size(); ++e) joints.push_back((ends[e] + ends[e + 1]) / 2);
    nodes.nodes.clear();
    nodes.limits = joints;
    for (std::size_t i = 0; i <= joints.size(); ++i) {
        const double start = i == 0 ? 0 : joints[i - 1];
        const double end = i == joints.size() ? line.length() : joints[i];
        const double length = end - start;
        const double mass = section.mass * length;
        // A straight rod: the middle of its part of the line may be a little beside it, which refinement takes away.
        const Vec3 inertia = section.inertia * length + Vec3(0, 1, 1) * mass * length * length / 12;
        nodes.nodes.push_back((start + end) / 2);
        nodes.length.push_back(length);
        add_beam_body(handle, nodes.nodes.back(), mass, inertia);
    }
    const auto frame_on = [&](int body, const Frame& frame) {
        const BodyState<D>& pose = m_.bodies[body].reference;
        MarkerFeatures<D> features;
        features.point = feature(body, true, pose.axes.transpose() * (frame.position.head<D>() - pose.position));
        for (int k = 0; k < D; ++k)
            features.axis[k] = feature(body, false, pose.axes.transpose() * frame.axes.col(k).head<D>());
        return features;
    };
    for (std::size_t i = 0; i < joints.size(); ++i) {
        const int first = nodes.first_body + static_cast<int>(i);
        const Frame frame = line.at(joints[i]);
        ConstraintElement<D>& element = start_element(ElementRole::joint, fmt::format("{}/{}", name, i));
        element_ = &element;
        element.has_markers = true;
        element.body_a = first;
        element.body_b = first + 1;
        element.a = frame_on(first, frame);
        element.b = frame_on(first + 1, frame);
        coincide();
        element.motions = {
            {JointMotion{.kind = D == 2 ? JointMotion::Kind::turn : JointMotion::Kind::ball, .axis = 2}}};
        element.row_count = static_cast<int>(m_.constraints.rows.size()) - element.first_row;
        auto force = std::make_shared<BeamForce<D>>();
        force->node_count = 2;
        force->has_damping = section.damping > 0;
        const double size = ends[i + 1] - ends[i];
        BeamPoint<D> point;
        point.place = joints[i];
        point.length = size;
        point.shape = {0.5, 0.5};
        point.slope = {-1 / size, 1 / size};
        point.stiffness = of_dimension<D>(section.stiffness);
        point.stiffness.template topRows<D>().setZero();
        point.stiffness.template leftCols<D>().setZero();
        point.damping = section.damping * point.stiffness;
        force->points.push_back(point);
        std::vector<int> slots;
        for (const MarkerFeatures<D>& end : {element.a, element.b}) {
            slots.push_back(end.point);
            slots.insert(slots.end(), end.axis.begin(), end.axis.end());
        }
        element_ = nullptr;
        add_beam_force(handle, std::move(force), slots, ends[i], ends[i + 1]);
    }
}

// The piece of a beam that a place along it moves with.
template <int D>
int MechanismBuilder<D>::find_beam_body(std::uint32_t slot, double s) const {
    const BeamNodes& nodes = beams_.at(slot);
    if (!nodes.limits.empty())
        return nodes.first_body +
               static_cast<int>(std::upper_bound(nodes.limits.begin(), nodes.limits.end(), s) - nodes.limits.begin());
    const auto after = std::lower_bound(nodes.nodes.begin(), nodes.nodes.end(), s);
    if (after == nodes.nodes.begin()) return nodes.first_body;
    const auto before = after - 1;
    const bool is_before = after == nodes.nodes.end() || s - *before < *after - s;
    return nodes.first_body + static_cast<int>((is_before ? before : after) - nodes.nodes.begin());
}

template <int D>
MarkerFeatures<D> MechanismBuilder<D>::beam_marker(MarkerHandle handle) {
    const PieceMarker<D>& place = m_.piece_markers.at(model_.markers.get(handle).name);
    MarkerFeatures<D> features;
    features.point = feature(place.body, true, place.point);
    for (int k = 0; k < D; ++k) features.axis[k] = feature(place.body, false, place.axes.col(k));
    return features;
}

template <int D>
void MechanismBuilder<D>::place_beam_markers() {
    for (const auto handle : model_.markers.handles()) {
        const Marker& marker = model_.markers.get(handle);
        if (!beams_.contains(marker.body.index)) continue;
        const BeamPlace place = evaluation_.beam_place(handle);
        const Frame frame = evaluation_.beam_line(marker.body).at(place.arc_length) * place.in_section;
        PieceMarker<D>& on_piece = m_.piece_markers[marker.name];
        on_piece.body = find_beam_body(marker.body.index, place.arc_length);
        const BodyState<D>& pose = m_.bodies[on_piece.body].reference;
        on_piece.point = pose.axes.transpose() * (frame.position.head<D>() - pose.position);
        // Rounding is no lever.
        if (on_piece.point.norm() < 1e-12 * evaluation_.beam_line(marker.body).length()) on_piece.point.setZero();
        on_piece.axes = pose.axes.transpose() * frame.axes.topLeftCorner<D, D>();
    }
}

template void MechanismBuilder<2>::find_beam_markers();
template void MechanismBuilder<3>::find_beam_markers();
template void MechanismBuilder<2>::add_beam(BodyHandle);
template void MechanismBuilder<3>::add_beam(BodyHandle);
template void MechanismBuilder<2>::add_force(const std::string&, const LineLoad&);
template void MechanismBuilder<3>::add_force(const std::string&, const LineLoad&);
template void MechanismBuilder<2>::place_beam_markers();
template void MechanismBuilder<3>::place_beam_markers();
template MarkerFeatures<2> MechanismBuilder<2>::beam_marker(MarkerHandle);
template MarkerFeatures<3> MechanismBuilder<3>::beam_marker(MarkerHandle);

}  // namespace limber
