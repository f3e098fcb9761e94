// Forces and torques given as vectors, and gravity that depends on the place: expressions of t, of the position and
// velocity of their own point (x, y, z, vx, vy, vz) and of any scalar or its rate.

#include <algorithm>
#include <string_view>

#include "limber/kinematics/forces/orbit_force.hpp"
#include "limber/kinematics/forces/vector_force.hpp"
#include "limber/kinematics/mechanism/builder.hpp"

namespace limber {
namespace {

constexpr std::array<const char*, 3> place_names{"x", "y", "z"};
constexpr std::array<const char*, 3> velocity_names{"vx", "vy", "vz"};

// -1: another name.
int find_name(const std::array<const char*, 3>& names, std::string_view name) {
    const auto found = std::find(names.begin(), names.end(), name);
    return found == names.end() ? -1 : static_cast<int>(found - names.begin());
}

}  // namespace

// A component of a point along an axis of the world.
template <int D>
int MechanismBuilder<D>::world_component(int point, int axis) {
    Measure<D> m;
    m.kind = MeasureKind::component;
    m.count = 1;
    m.feature[0] = point;
    m.axis = Vec<D>::Unit(axis);
    return m_.constraints.add_measure(m);
}

template <int D>
MotionVector<D> MechanismBuilder<D>::motion_vector(const Number3& components, int point, std::vector<int>& slots,
                                                   const std::string& what) {
    MotionVector<D> vector;
    std::vector<std::string> names{"t"};
    for (const Number& component : components)
        for (const std::string& name : component.names()) {
            if (model_.parameters.contains(name) || std::find(names.begin(), names.end(), name) != names.end())
                continue;
            LawInput input;
            const int along = find_name(place_names, name);
            const int rate_along = find_name(velocity_names, name);
            const int axis = std::max(along, rate_along);
            if (axis >= D) throw ModelError(fmt::format("{}: a planar model has no '{}'", what, name));
            if (axis >= 0) {
                input = {world_component(point, axis), rate_along >= 0};
            } else {
                input = law_input(name);
            }
            if (input.measure < 0) continue;  // binding will report the unknown name
            vector.inputs.push_back(input);
            names.push_back(name);
        }
    if (vector.inputs.size() > max_law_inputs)
        throw ModelError(fmt::format("{}: a vector can use at most {} scalars, found {}", what, max_law_inputs,
                                     vector.inputs.size()));
    for (int k = 0; k < 3; ++k) vector.component[k] = evaluation_.bind(components[k], names, what);
    for (const LawInput& input : vector.inputs) {
        const std::vector<int> features = measure_features(input.measure);
        slots.insert(slots.end(), features.begin(), features.end());
    }
    return vector;
}

template <int D>
void MechanismBuilder<D>::add_force(const std::string& name, const PointForce& force) {
    auto e = std::make_shared<VectorForce<D>>();
    e->in_marker_axes = force.frame == ForceFrame::body;
    const MarkerFeatures<D> on = marker(force.marker);
    std::vector<int> slots{on.point};
    if (e->in_marker_axes) slots.insert(slots.end(), on.axis.begin(), on.axis.end());
    e->vector = motion_vector(force.vector, on.point, slots, fmt::format("force '{}'", name));
    m_.forces.add(name, std::move(e), slots);
}

template <int D>
void MechanismBuilder<D>::add_force(const std::string& name, const Torque& torque) {
    auto e = std::make_shared<Couple<D>>();
    e->in_marker_axes = torque.frame == ForceFrame::body;
    const MarkerFeatures<D> on = marker(torque.marker);
    std::vector<int> slots(on.axis.begin(), on.axis.end());
    e->vector = motion_vector(torque.vector.components, on.point, slots, fmt::format("force '{}'", name));
    m_.forces.add(name, std::move(e), slots);
}

// Components that depend on time alone are a gravity that all bodies share; the others are forces at the centres of
// mass, since each body feels what is at its own.
template <int D>
void MechanismBuilder<D>::add_gravity() {
    if (model_.orbit) {
        add_orbit(evaluation_.number(*model_.orbit, "gravity: orbit"));
        return;
    }
    Number3 field{0.0, 0.0, 0.0};
    bool has_field = false;
    for (int k = 0; k < D; ++k) {
        const auto& names = model_.gravity[k].names();
        const bool depends_on_place = std::any_of(names.begin(), names.end(), [&](const std::string& name) {
            return !model_.parameters.contains(name) && find_name(place_names, name) >= 0;
        });
        if (depends_on_place) {
            field[k] = model_.gravity[k];
            has_field = true;
        } else {
            m_.gravity[k] = TimeFunction(evaluation_.bind(model_.gravity[k], {"t"}, "gravity"));
        }
    }
    for (std::size_t b = 0; b < m_.bodies.size() && has_field; ++b) {
        if (!(m_.bodies[b].mass > 0)) continue;
        auto e = std::make_shared<VectorForce<D>>();
        std::vector<int> slots{feature(static_cast<int>(b), true, Vec<D>::Zero())};
        e->vector = motion_vector(field, slots.front(), slots, "gravity");
        e->vector.factor = m_.bodies[b].mass;
        // No name that a force of the model could have.
        m_.forces.add(fmt::format("gravity of {}", m_.bodies[b].name), std::move(e), slots);
    }
}

template <int D>
void MechanismBuilder<D>::add_orbit(double rate) {
    for (std::size_t b = 0; b < m_.bodies.size(); ++b) {
        const MechanismBody<D>& body = m_.bodies[b];
        // What a lamina or a body is along its axes: J = 1/2 tr(I) - I.
        const Mat3 inertia = evaluation_.mass_properties(body.handle).inertia;
        const Mat3 moment = 0.5 * inertia.trace() * Mat3::Identity() - inertia;
        const InertiaEntries& given = model_.bodies.get(body.handle).given_mass.inertia;
        const bool is_bare = evaluation_.number(given.entries[2], body.name) != 0;
        if (D == 2 && is_bare)
            throw ModelError(
                fmt::format("body '{}': in an orbit a body needs its inertias along both axes, which 'inertia' does "
                            "not tell in the plane: give it a rod, box or disc with the mass, or take a spatial model",
                            body.name));
        auto e = std::make_shared<OrbitForce<D>>();
        e->rate = rate;
        e->mass = body.mass;
        e->second_moment = moment.topLeftCorner<D, D>();
        if (!(body.mass > 0) && e->second_moment.isZero(0)) continue;
        std::vector<int> slots{feature(static_cast<int>(b), true, Vec<D>::Zero())};
        if (!e->second_moment.isZero(0))
            for (int k = 0; k < D; ++k) slots.push_back(feature(static_cast<int>(b), false, Vec<D>::Unit(k)));
        m_.forces.add(fmt::format("orbit of {}", body.name), std::move(e), slots);
    }
}

#define LIMBER_INSTANTIATE(D)                                                            \
    template int MechanismBuilder<D>::world_component(int, int);                         \
    template void MechanismBuilder<D>::add_force(const std::string&, const PointForce&); \
    template void MechanismBuilder<D>::add_force(const std::string&, const Torque&);     \
    template void MechanismBuilder<D>::add_gravity();
LIMBER_INSTANTIATE(2)
LIMBER_INSTANTIATE(3)
#undef LIMBER_INSTANTIATE

}  // namespace limber
