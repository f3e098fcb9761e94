#include "limber/simulation/drawn_joints.hpp"

#include <fmt/format.h>

#include <cmath>

#include "limber/kinematics/body_space/twist_constraints.hpp"
#include "limber/model/error.hpp"

namespace limber {
namespace {

constexpr double sketchy = 1e-2;  // over the size of the mechanism: what assembly may mend without a word

bool is_ground_alone(const Model& model, MarkerHandle handle) {
    const Marker* marker = model.markers.find(handle);
    if (marker == nullptr || marker->body != model.ground()) return false;
    if (marker->place == Marker::Kind::turned) return is_ground_alone(model, marker->base);
    return handle == model.marker(model.bodies.get(model.ground()).name);
}

}  // namespace

template <int D>
void check_joints_on_ground(const Model& model, const Mechanism<D>& m, const std::vector<double>& memory) {
    BodyStates<D> states;
    for (const MechanismBody<D>& body : m.bodies) states.push_back(body.reference);
    TwistConstraints<D> constraints(m, m.constraints);
    constraints.update(states, memory, 0);
    for (const auto handle : model.joints.handles()) {
        const Joint& joint = model.joints.get(handle);
        const bool is_first = is_ground_alone(model, joint.ends().first);
        const auto element = m.element_index.find(joint.name);
        if ((!is_first && !is_ground_alone(model, joint.ends().second)) || element == m.element_index.end()) continue;
        const ConstraintElement<D>& e = m.elements[element->second];
        for (int r = e.first_row; r < e.first_row + e.row_count; ++r) {
            const double open = std::abs(constraints.values.phi[r]);
            if (!m.constraints.rows[r].is_holonomic() || !(open > sketchy * m.length_scale)) continue;
            const Marker& other = model.markers.get(is_first ? joint.ends().second : joint.ends().first);
            throw ModelError(
                fmt::format("joint '{}': 'ground' alone is the origin of the world, and from there the joint is open "
                            "by {} where '{}' is drawn; say where it is with 'at', or give the ground a marker "
                            "there",
                            joint.name, describe_row_error(open, constraints.quantity_of(m.constraints.rows[r])),
                            model.bodies.get(other.body).name));
        }
    }
}

template void check_joints_on_ground(const Model&, const Mechanism<2>&, const std::vector<double>&);
template void check_joints_on_ground(const Model&, const Mechanism<3>&, const std::vector<double>&);

}  // namespace limber
