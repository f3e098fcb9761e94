#include "limber/simulation/present_place.hpp"

#include <algorithm>

#include "limber/kinematics/body_space/twist_constraints.hpp"
#include "limber/math/rotation.hpp"
#include "limber/model/evaluation.hpp"

namespace limber {
namespace {

Placement numbers_of(const Frame& frame, bool planar) {
    Placement placement;
    for (int k = 0; k < 3; ++k) placement.position[k] = Number(frame.position[k]);
    placement.orientation.kind = planar ? Orientation::Kind::angle : Orientation::Kind::quaternion;
    if (planar) {
        placement.orientation.values = {Number(std::atan2(frame.axes(1, 0), frame.axes(0, 0)))};
    } else {
        const Quat q(frame.axes);
        placement.orientation.values = {Number(q.w()), Number(q.x()), Number(q.y()), Number(q.z())};
    }
    return placement;
}

// A marker given in world axes becomes one given in its body, which has moved since the model was written.
void place_marker(const Simulation& simulation, const ModelEvaluation& numbers, Model& model, MarkerHandle handle) {
    const Marker& marker = std::as_const(model).markers.get(handle);
    if (marker.place != Marker::Kind::world && marker.place != Marker::Kind::turned) return;
    const Body& body = std::as_const(model).bodies.get(marker.body);
    if (marker.body == model.ground() || simulation.model().bodies.find(body.name).is_null()) return;
    const Frame pose = simulation.body_frame(body.name);
    Frame frame = numbers.frame(marker.placement, marker.name);
    frame.axes = (pose.axes.transpose() * frame.axes).eval();
    frame.position = marker.place == Marker::Kind::world
                         ? Vec3(pose.axes.transpose() * (frame.position - pose.position))
                         : numbers.marker_frame(marker.base).position;
    Marker& placed = model.markers.get(handle);
    placed.place = Marker::Kind::body;
    placed.placement = numbers_of(frame, model.planar);
    placed.base = {};
    placed.is_joints_own = true;
}

bool measures_at_reference(const Joint& joint) {
    switch (joint.type) {
        case JointType::distance: return !joint.length;
        case JointType::helical:
        case JointType::gear:
        case JointType::rack_and_pinion:
        case JointType::coupling: return !joint.offset;
        default: return false;
    }
}

bool measures_at_reference(const Force& force) {
    return !force.free_value && (force.type == ForceType::spring || force.type == ForceType::torsion_spring);
}

template <class T>
std::vector<Handle<T>> new_elements(const Table<T>& before, const Table<T>& after) {
    std::vector<Handle<T>> list;
    for (const auto& change : before.changes_to(after)) {
        if (!change.after.element) continue;
        const bool is_changed = change.before.element && change.before.generation == change.after.generation;
        if (!is_changed) list.push_back({change.index, change.after.generation});
    }
    return list;
}

// Lengths and offsets left open: what the new mechanism measures now.
template <int D>
void measure_now(const Simulation& simulation, const std::vector<JointHandle>& joints,
                 const std::vector<ForceHandle>& forces, Model& model) {
    const auto& system = static_cast<const MechanismSystem<D>&>(simulation.system());
    const Mechanism<D> m = make_mechanism<D>(model);
    BodyStates<D> old_states;
    BodyStates<D> states;
    std::vector<double> memory;
    const State& state = simulation.state();
    system.export_states(state.q, state.v, old_states);
    carry_over(system.mechanism(), old_states, state.memory, m, states, memory);
    FeatureState<D> features;
    features.resize(m.features.size());
    update_features<D>(m, states, m.used_features, features);
    refresh_memory(m, features, memory);
    const MeasureContext<D> context{features, memory, m.curves};
    for (const JointHandle handle : joints) {
        Joint& joint = model.joints.get(handle);
        const ConstraintElement<D>& element = m.elements[m.element_index.at(joint.name)];
        if (joint.type == JointType::distance) {
            joint.length = Number((features.value[element.b.point] - features.value[element.a.point]).norm());
            continue;
        }
        const Row& row = m.constraints.rows[element.first_row + element.row_count - 1];
        double sum = 0;
        for (int k = row.first_term; k < row.first_term + row.term_count; ++k)
            sum +=
                m.constraints.terms[k].coefficient * compute_value(m.measure(m.constraints.terms[k].measure), context);
        joint.offset = Number(sum);
    }
    for (const ForceHandle handle : forces) {
        Force& force = model.forces.get(handle);
        force.free_value =
            Number(compute_value(m.measure(m.forces.elements[m.force_index.at(force.name)].measure), context));
    }
}

}  // namespace

void place_new_elements(const Simulation& simulation, Model& model) {
    const Model& before = simulation.model();
    {
        const Model as_read = model;  // numbers are those of the model before its markers change
        const ModelEvaluation numbers(as_read);
        for (const MarkerHandle handle : new_elements(before.markers, as_read.markers))
            place_marker(simulation, numbers, model, handle);
    }
    std::vector<JointHandle> joints = new_elements(before.joints, model.joints);
    std::vector<ForceHandle> forces = new_elements(before.forces, model.forces);
    std::erase_if(joints, [&](JointHandle h) { return !measures_at_reference(std::as_const(model).joints.get(h)); });
    std::erase_if(forces, [&](ForceHandle h) { return !measures_at_reference(std::as_const(model).forces.get(h)); });
    if (joints.empty() && forces.empty()) return;
    if (model.planar) {
        measure_now<2>(simulation, joints, forces, model);
    } else {
        measure_now<3>(simulation, joints, forces, model);
    }
}

}  // namespace limber
