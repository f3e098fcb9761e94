#include "limber/simulation/present_place.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

#include "limber/kinematics/body_space/assembly.hpp"
#include "limber/kinematics/body_space/twist_constraints.hpp"
#include "limber/kinematics/forces/scalar_force.hpp"
#include "limber/math/rotation.hpp"
#include "limber/model/beam_numbers.hpp"
#include "limber/model/evaluation.hpp"
#include "limber/simulation/flexible_transfer.hpp"

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

// Motion of the bodies now, put back onto the constraints if a formulation has left them a little open: places taken
// from there would contradict the joints for good.
template <int D>
BodyStates<D> settled_states(const Simulation& simulation) {
    constexpr double rounding = 1e-10;
    const auto& system = static_cast<const MechanismSystem<D>&>(simulation.system());
    const State& state = simulation.state();
    BodyStates<D> states;
    system.export_states(state.q, state.v, states);
    const auto evaluation = system.make_evaluation();
    system.update_residuals(*evaluation, state.t, state.q, state.memory);
    const auto open = evaluation->phi.head(system.holonomic_rows());
    if (open.size() == 0 || open.template lpNorm<Eigen::Infinity>() < rounding * system.length_scale()) return states;
    BodyStates<D> settled = states;
    std::vector<double> memory = state.memory;
    return assemble(system.mechanism(), settled, memory, state.t, false).converged ? settled : states;
}

// Where bodies are now.
struct BodyFrames {
    std::map<std::string, Frame> rigid;
    /// Sections of flexible bodies, by the part of the length.
    std::function<std::optional<Frame>(const std::string& body, double along)> section;

    std::optional<Frame> find(const std::string& body) const {
        const auto known = rigid.find(body);
        if (known != rigid.end()) return known->second;
        return section ? section(body, 0) : std::nullopt;
    }
};

template <int D>
BodyFrames frames_of(const Simulation& simulation) {
    const BodyStates<D> states = settled_states<D>(simulation);
    const auto& bodies = static_cast<const MechanismSystem<D>&>(simulation.system()).mechanism().bodies;
    BodyFrames frames;
    for (std::size_t b = 0; b < bodies.size(); ++b) {
        if (bodies[b].node >= 0) continue;
        Frame& frame = frames.rigid[bodies[b].name];
        frame.axes.template topLeftCorner<D, D>() = states[b].axes;
        frame.position.template head<D>() = states[b].position - states[b].axes * bodies[b].centre;
    }
    const Mechanism<D>& m = static_cast<const MechanismSystem<D>&>(simulation.system()).mechanism();
    frames.section = [&m, states](const std::string& body, double along) -> std::optional<Frame> {
        const auto state = FlexibleTransfer<D>(m, states).find(body, along);
        if (!state) return std::nullopt;
        Frame frame;
        frame.axes.template topLeftCorner<D, D>() = state->axes;
        frame.position.template head<D>() = state->position;
        return frame;
    };
    return frames;
}

// The part of the length of a flexible body where it is nearest to a point now.
double find_nearest(const BodyFrames& frames, const std::string& body, const Vec3& point) {
    constexpr int grid = 200;
    const auto distance = [&](double along) { return (frames.section(body, along).value().position - point).norm(); };
    double best = 0;
    for (int i = 1; i <= grid; ++i)
        if (const double along = static_cast<double>(i) / grid; distance(along) < distance(best)) best = along;
    // By halving: the distance falls towards the nearest place from both sides.
    constexpr int halvings = 32;  // to 1e-12 of the length
    double step = 1.0 / grid;
    for (int i = 0; i < halvings; ++i) {
        step /= 2;
        for (const double along : {std::max(best - step, 0.0), std::min(best + step, 1.0)})
            if (distance(along) < distance(best)) best = along;
    }
    return best;
}

// A marker given in world axes becomes one given in its body, which has moved since the model was written.
void place_marker(const BodyFrames& frames, const ModelEvaluation& numbers, Model& model, MarkerHandle handle) {
    const Marker& marker = std::as_const(model).markers.get(handle);
    if (marker.place != Marker::Kind::world && marker.place != Marker::Kind::turned) return;
    // New bodies, and the ground, are where they are written.
    const auto present = [&](BodyHandle handle) {
        return frames.find(std::as_const(model).bodies.get(handle).name).value_or(numbers.body_frame(handle));
    };
    // A new beam is where it is written, and so are the markers on it.
    const Body& body = std::as_const(model).bodies.get(marker.body);
    if (body.beam && !frames.section(body.name, 0)) return;
    Frame pose = present(marker.body);
    Frame frame = numbers.frame(marker.placement, marker.name);
    if (!marker.base.is_null()) {
        const BodyHandle other = std::as_const(model).markers.get(marker.base).body;
        const std::string& name = std::as_const(model).bodies.get(other).name;
        if (std::as_const(model).bodies.get(other).beam && frames.section(name, 0)) {
            const BeamPlace place = numbers.beam_place(marker.base);
            const Frame section = frames.section(name, place.arc_length / numbers.beam_line(other).length()).value();
            frame.position = (section * place.in_section).position;
        } else {
            const Frame at = present(other);
            frame.position = at.position + at.axes * numbers.marker_frame(marker.base).position;
        }
    }
    double arc_length = 0;
    if (body.beam) {
        const double length = numbers.beam_line(marker.body).length();
        const double along = find_nearest(frames, body.name, frame.position);
        arc_length = along * length;
        pose = frames.section(body.name, along).value();
        if (std::abs((pose.axes.transpose() * (frame.position - pose.position)).x()) > 1e-6 * length)
            throw ModelError(fmt::format("marker '{}' is beyond the ends of beam '{}'", marker.name, body.name));
    }
    frame.axes = (pose.axes.transpose() * frame.axes).eval();
    frame.position = (pose.axes.transpose() * (frame.position - pose.position)).eval();
    if (body.beam) frame.position.x() = arc_length;
    Marker& placed = model.markers.get(handle);
    placed.place = Marker::Kind::body;
    placed.placement = numbers_of(frame, model.planar);
    placed.base = {};
    placed.is_joints_own = true;
}

// What an element measures at the reference configuration if it is not given; null: nothing.
template <class Element>
std::optional<Number>* measured_field(Element& element) {
    return std::visit(
        [](auto& type) -> std::optional<Number>* {
            if constexpr (requires { type.length; }) return &type.length;
            if constexpr (requires { type.offset; }) return &type.offset;
            if constexpr (requires { type.free_length; }) return &type.free_length;
            if constexpr (requires { type.free_value; }) return &type.free_value;
            return nullptr;
        },
        element.type);
}

template <class Element>
bool measures_at_reference(Element element) {
    const std::optional<Number>* field = measured_field(element);
    return field != nullptr && !*field;
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

// What a changed model measures at the present motion of the bodies.
template <int D>
struct PresentMechanism {
    PresentMechanism(const Simulation& simulation, const Model& model) : m(make_mechanism<D>(model)) {
        const auto& system = static_cast<const MechanismSystem<D>&>(simulation.system());
        carry_over(system.mechanism(), settled_states<D>(simulation), simulation.state().memory, m, states, memory);
        features.resize(m.features.size());
        update_features<D>(m, states, m.used_features, features);
        refresh_memory(m, features, memory);
    }
    MeasureContext<D> context() const { return {features, memory, m.curves}; }
    /// A joint by its name, a stop as "stop name".
    const ConstraintElement<D>& element(const std::string& name) const { return m.elements[m.element_index.at(name)]; }
    double value(const Row& row) const {
        double sum = 0;
        for (int k = row.first_term; k < row.first_term + row.term_count; ++k)
            sum += m.constraints.terms[k].coefficient *
                   compute_value(m.measure(m.constraints.terms[k].measure), context());
        return sum;
    }
    double rate(const Row& row) const {
        double sum = 0;
        for (int k = row.first_term; k < row.first_term + row.term_count; ++k)
            sum +=
                m.constraints.terms[k].coefficient * compute_rate(m.measure(m.constraints.terms[k].measure), context());
        return sum;
    }

    Mechanism<D> m;
    BodyStates<D> states;
    std::vector<double> memory;
    FeatureState<D> features;
};

// Lengths and offsets left open.
template <int D>
void measure_now(const Simulation& simulation, const std::vector<JointHandle>& joints,
                 const std::vector<StopHandle>& stops, const std::vector<ForceHandle>& forces, Model& model) {
    const PresentMechanism<D> now(simulation, model);
    const Mechanism<D>& m = now.m;
    const auto distance = [&](const ConstraintElement<D>& element) {
        return Number((now.features.value[element.b.point] - now.features.value[element.a.point]).norm());
    };
    for (const StopHandle handle : stops) {
        Stop& stop = model.stops.get(handle);
        *measured_field(stop) = distance(now.element("stop " + stop.name));
    }
    for (const JointHandle handle : joints) {
        Joint& joint = model.joints.get(handle);
        const ConstraintElement<D>& element = now.element(joint.name);
        *measured_field(joint) = joint.as<DistanceJoint>() != nullptr
                                     ? distance(element)
                                     : Number(now.value(m.constraints.rows[element.first_row + element.row_count - 1]));
    }
    for (const ForceHandle handle : forces) {
        Force& force = model.forces.get(handle);
        const int measure = m.forces.elements[m.force_index.at(force.name)].template as<ScalarForce>()->measure;
        *measured_field(force) = Number(compute_value(m.measure(measure), now.context()));
    }
}

template <int D>
void start_closing_as(const Simulation& simulation, Model& model, JointHandle handle, double frequency) {
    const PresentMechanism<D> now(simulation, model);
    Joint& joint = model.joints.get(handle);
    const ConstraintElement<D>& element = now.element(joint.name);
    joint.closing = {Number(simulation.time()), Number(frequency)};
    for (int r = element.first_row; r < element.first_row + element.row_count; ++r) {
        const Row& row = now.m.constraints.rows[r];
        if (!row.is_holonomic()) continue;
        joint.closing.emplace_back(now.value(row) - row.rhs);
        joint.closing.emplace_back(now.rate(row));
    }
}

}  // namespace

void place_new_elements(const Simulation& simulation, Model& model) {
    const Model& before = simulation.model();
    {
        const std::vector<MarkerHandle> markers = new_elements(before.markers, model.markers);
        const Model as_read = model;  // numbers are those of the model before its markers change
        const ModelEvaluation numbers(as_read);
        BodyFrames frames;
        if (!markers.empty()) frames = in_dimension(model.planar, [&]<int D> { return frames_of<D>(simulation); });
        for (const MarkerHandle handle : markers) place_marker(frames, numbers, model, handle);
    }
    std::vector<JointHandle> joints = new_elements(before.joints, model.joints);
    std::vector<ForceHandle> forces = new_elements(before.forces, model.forces);
    std::erase_if(joints, [&](JointHandle h) { return !measures_at_reference(std::as_const(model).joints.get(h)); });
    std::vector<StopHandle> stops = new_elements(before.stops, model.stops);
    std::erase_if(stops, [&](StopHandle h) { return !measures_at_reference(std::as_const(model).stops.get(h)); });
    std::erase_if(forces, [&](ForceHandle h) { return !measures_at_reference(std::as_const(model).forces.get(h)); });
    if (joints.empty() && stops.empty() && forces.empty()) return;
    // Where points meet as they are drawn, that distance is none; any other does until they are measured.
    const Number any_length(1e6);
    for (const StopHandle handle : stops) *measured_field(model.stops.get(handle)) = any_length;
    for (const JointHandle handle : joints)
        if (auto* distance = model.joints.get(handle).as<DistanceJoint>()) distance->length = any_length;
    in_dimension(model.planar, [&]<int D> { measure_now<D>(simulation, joints, stops, forces, model); });
}

void start_closing(const Simulation& simulation, Model& model, JointHandle joint, double frequency) {
    in_dimension(model.planar, [&]<int D> { start_closing_as<D>(simulation, model, joint, frequency); });
}

double closing_gap(const Joint& joint, double t) {
    const auto value = [&](std::size_t i) { return joint.closing[i].bind({}).constant(); };
    const double time = t - value(0);
    const double frequency = value(1);
    double largest = 0;
    for (std::size_t i = 2; i + 1 < joint.closing.size(); i += 2) {
        const double gap = value(i);
        const double slope = value(i + 1) + frequency * gap;
        largest = std::max(largest, std::abs(gap + slope * time) * std::exp(-frequency * time));
    }
    return largest;
}

}  // namespace limber
