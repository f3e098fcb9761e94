// Stops as rows that are never negative, between marker A (first body) and marker B (second body), d = b - a; n rows.
//
//   limit      x - min, max - x of a joint coordinate, sensor or sum of them  1 or 2
//   wall       d . n_A - radius, n_A the z axis of A (plane: y)               1
//   stop       |d| - length: at least so far apart                            1
//   cable      length - |d|: at most so far apart                             1
//   clearance  gap - |d|: a pin with play in its hole                         1
//   slot       gap -+ d . t_A, t_A across the slot: y (space: x and y)        2 (4)
//
// Distances are written as (|d|^2 - L^2) / (2 L), which is smooth where the points coincide and has the rate of |d| at
// contact.

#include "limber/kinematics/forces/slip_force.hpp"
#include "limber/kinematics/mechanism/builder.hpp"

namespace limber {

// One row with its flag and what is remembered about it.
template <int D>
void MechanismBuilder<D>::add_gap(const std::string& name, const StopImpact& impact, const std::vector<RowTerm>& terms,
                                  double rhs, int exact_gap) {
    const std::string what = fmt::format("stop '{}'", name);
    add_row(terms, rhs);
    StopRow gap;
    gap.row = static_cast<int>(m_.constraints.rows.size()) - 1;
    gap.element = static_cast<int>(m_.elements.size()) - 1;
    gap.flag = m_.template add_memory<ContactMemory>(name);
    gap.impulse = m_.template add_memory<ImpulseMemory>(name);
    gap.exact_gap = exact_gap;
    gap.restitution = evaluation_.number(impact.restitution, what + ": restitution");
    if (!(gap.restitution >= 0 && gap.restitution <= 1))
        throw ModelError(fmt::format("{}: restitution must lie between 0 and 1, found {}", what, gap.restitution));
    if (impact.latch) gap.latch_speed = evaluation_.number(*impact.latch, what + ": latch");
    m_.constraints.rows.back().flag = gap.flag;
    m_.stops.push_back(gap);
}

template <int D>
void MechanismBuilder<D>::add_distance_gap(const std::string& name, const StopImpact& impact, double length,
                                           double sign) {
    const int distance = measure(MeasureKind::distance, {element_->a.point, element_->b.point});
    const int square = measure(MeasureKind::half_square, {element_->a.point, element_->b.point}, length);
    add_gap(name, impact, {{sign, square}}, 0, distance);
}

template <int D>
double MechanismBuilder<D>::positive_number(const std::string& stop, const Number& number, const char* key) const {
    const double value = evaluation_.number(number, fmt::format("stop '{}': {}", stop, key));
    if (!(value > 0)) throw ModelError(fmt::format("stop '{}': {} must be positive, found {}", stop, key, value));
    return value;
}

template <int D>
double MechanismBuilder<D>::stop_length(const std::string& name, const std::optional<Number>& length) const {
    const double start = (m_.reference.value[element_->b.point] - m_.reference.value[element_->a.point]).norm();
    return positive_number(name, length.value_or(Number(start)), "length");
}

template <int D>
void MechanismBuilder<D>::add_friction_memory(FrictionElement& friction) {
    friction.stick = m_.template add_memory<StickMemory>(friction.name);
    friction.slip = m_.template add_memory<SlipMemory>(friction.name);
    friction.bristles = m_.template add_memory<BristleMemory>(friction.name);
}

template <int D>
std::optional<FrictionElement> MechanismBuilder<D>::stop_friction(const std::string& name,
                                                                  const StopFriction& coefficients, double lever) {
    const std::string what = fmt::format("stop '{}'", name);
    FrictionElement friction;
    friction.name = name;
    friction.kinetic = lever * evaluation_.number(coefficients.kinetic, what + ": friction");
    friction.at_rest = coefficients.at_rest
                           ? lever * evaluation_.number(*coefficients.at_rest, what + ": static-friction")
                           : friction.kinetic;
    if (!(friction.kinetic >= 0 && friction.at_rest >= friction.kinetic))
        throw ModelError(what + ": friction must not be negative, and static friction not below it");
    if (friction.at_rest == 0) return std::nullopt;
    friction.contact = static_cast<int>(m_.stops.size()) - 1;
    add_friction_memory(friction);
    return friction;
}

template <int D>
void MechanismBuilder<D>::add_sliding_friction(const std::string& name, const StopFriction& coefficients,
                                               std::array<int, 2> axes, double radius, RowKind kind, bool is_round) {
    std::optional<FrictionElement> friction = stop_friction(name, coefficients, 1);
    if (!friction) return;
    friction->first_row = static_cast<int>(m_.constraints.rows.size());
    friction->row_count = D - 1;
    std::vector<int> slots{element_->a.point};
    slots.insert(slots.end(), element_->a.axis.begin(), element_->a.axis.end());
    slots.push_back(element_->b.point);
    slots.insert(slots.end(), element_->b.axis.begin(), element_->b.axis.end());
    Row row;
    row.kind = kind;
    row.element = static_cast<int>(m_.elements.size()) - 1;
    row.radius = radius;
    row.is_round = is_round;
    row.flag = friction->stick;
    auto force = std::make_shared<SlipForce<D>>();
    force->slip = friction->slip;
    force->bristles = friction->bristles;
    for (int k = 0; k < D - 1; ++k) {
        row.axis = axes[k];
        m_.constraints.add_velocity_row(row, slots);
        force->rows[k] = row;
    }
    m_.forces.add(name, std::move(force), slots);
    m_.friction.push_back(std::move(*friction));
}

// What rubs at the end of a coordinate's range: another coordinate, as the turning of a shaft against its shoulder.
template <int D>
void MechanismBuilder<D>::add_limit_friction(const std::string& name, const Limit& limit, int coordinate) {
    const std::string what = fmt::format("stop '{}'", name);
    const bool is_angle = m_.measure(coordinate).kind == MeasureKind::angle;
    const double radius = is_angle ? evaluation_.number(limit.radius, what + ": radius") : 1;
    if (!(radius > 0)) throw ModelError(what + ": friction against an angle needs the radius at which it acts");
    std::optional<FrictionElement> friction = stop_friction(name, limit.friction, radius);
    if (!friction) return;
    add_stick_row(coordinate, *friction, what);
    add_slip_force(coordinate, std::move(*friction), {});
}

template <int D>
void MechanismBuilder<D>::add_stop(const Stop& stop) {
    if (!m_.impact_loss.exists()) m_.impact_loss = m_.template add_memory<ImpactLossMemory>("");
    const ElementEnds ends = ends_of(stop);
    const MarkerPair between{ends.a, ends.b};
    element_ = &start_element(ElementRole::stop, stop.name, ends.a.is_null() ? nullptr : &between);
    std::visit([&](const auto& type) { add_gaps(stop.name, type); }, stop.type);
    element_->row_count = static_cast<int>(m_.constraints.rows.size()) - element_->first_row;
    element_ = nullptr;
}

template <int D>
void MechanismBuilder<D>::add_gaps(const std::string& name, const Limit& limit) {
    const std::string what = fmt::format("stop '{}'", name);
    const auto number = [&](const Number& n, const char* key) { return evaluation_.number(n, what + ": " + key); };
    const ScalarSum limited = scalar_sum(limit.coordinate.name, what);
    if (!limit.minimum && !limit.maximum) throw ModelError(what + ": it has neither a minimum nor a maximum");
    if (limit.minimum && limit.maximum && !(number(*limit.minimum, "min") < number(*limit.maximum, "max")))
        throw ModelError(what + ": min must lie below max");
    const int rubbing = limit.along.name.empty() ? -1 : scalar(limit.along.name, what);
    const auto add_end = [&](double sign, const Number& end, const char* key) {
        std::vector<RowTerm> terms = limited.terms;
        for (RowTerm& term : terms) term.coefficient *= sign;
        add_gap(name, limit.impact, terms, sign * (number(end, key) - limited.constant));
        if (rubbing >= 0) add_limit_friction(name, limit, rubbing);
    };
    if (limit.minimum) add_end(1, *limit.minimum, "min");
    if (limit.maximum) add_end(-1, *limit.maximum, "max");
}

template <int D>
void MechanismBuilder<D>::add_gaps(const std::string& name, const Wall& wall) {
    const double radius = wall.has_rim ? positive_number(name, wall.radius, "radius of the rim")
                                       : evaluation_.number(wall.radius, fmt::format("stop '{}': radius", name));
    const auto& a = element_->a;
    const auto& b = element_->b;
    // In the plane a disc is seen from its side, as a ball is.
    if (D == 3 && wall.has_rim) {
        const int height = measure(MeasureKind::disc_height, {a.point, a.axis[D - 1], b.point, b.axis[D - 1]}, radius);
        add_gap(name, wall.impact, {{1.0, height}}, 0);
    } else {
        add_gap(name, wall.impact, {{1.0, measure(MeasureKind::dot_point, {a.point, b.point, a.axis[D - 1]})}}, radius);
    }
    add_sliding_friction(name, wall.friction, {0, 1}, radius, wall.has_rim ? RowKind::rolling : RowKind::sliding);
}

template <int D>
void MechanismBuilder<D>::add_gaps(const std::string& name, const KeepApart& stop) {
    const double radius = evaluation_.number(stop.radius, fmt::format("stop '{}': radius", name));
    const double distance = stop_length(name, stop.length);
    if (radius > distance)
        throw ModelError(
            fmt::format("stop '{}': radius must not exceed the length {}, found {}", name, distance, radius));
    add_distance_gap(name, stop.impact, distance, 1);
    add_sliding_friction(name, stop.friction, {0, 1}, radius > 0 ? radius : distance / 2, RowKind::sliding, true);
}

template <int D>
void MechanismBuilder<D>::add_gaps(const std::string& name, const Cable& cable) {
    add_distance_gap(name, cable.impact, stop_length(name, cable.length), -1);
}

template <int D>
void MechanismBuilder<D>::add_gaps(const std::string& name, const Clearance& clearance) {
    const double radius = evaluation_.number(clearance.radius, fmt::format("stop '{}': radius", name));
    add_distance_gap(name, clearance.impact, positive_number(name, clearance.gap, "gap"), -1);
    // The pin touches on its far side.
    add_sliding_friction(name, clearance.friction, {0, 1}, -radius, RowKind::sliding, true);
}

template <int D>
void MechanismBuilder<D>::add_gaps(const std::string& name, const Slot& slot) {
    const double gap = positive_number(name, slot.gap, "gap");
    const auto& a = element_->a;
    for (int axis = D == 2 ? 1 : 0; axis < 2; ++axis)
        for (const double sign : {1.0, -1.0}) {
            const int across = measure(MeasureKind::dot_point, {a.point, element_->b.point, a.axis[axis]});
            add_gap(name, slot.impact, {{sign, across}}, -gap);
            add_sliding_friction(name, slot.friction, {1 - axis, 2}, 0, RowKind::sliding);
        }
}

template void MechanismBuilder<2>::add_friction_memory(FrictionElement&);
template void MechanismBuilder<3>::add_friction_memory(FrictionElement&);
template void MechanismBuilder<2>::add_stop(const Stop&);
template void MechanismBuilder<3>::add_stop(const Stop&);

}  // namespace limber
