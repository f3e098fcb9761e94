// Stops as rows that are never negative, between marker A (first body) and marker B (second body), d = b - a; n rows.
//
//   limit      x - min, max - x of a joint coordinate, sensor or sum of them  1 or 2
//   wall       d . n_A - radius, n_A the z axis of A (plane: y)               1
//   stop       |d| - length: at least so far apart                            1
//   cable      length - |d|: at most so far apart                             1
//   clearance  gap - |d|: a pin with play in its hole                         1
//   slot       gap -+ d . t_A, t_A across the slot: y (space: x and y)        2 (4)
//
// Distances are written as (|d|^2 - L^2) / (2 L), which is smooth where the points coincide and has the rate of |d| at contact.

#include "limber/kinematics/mechanism/builder.hpp"

namespace limber {

// One row with its flag and what is remembered about it.
template <int D>
void MechanismBuilder<D>::add_gap(const Stop& stop, const std::vector<RowTerm>& terms, double rhs, int exact_gap) {
    const std::string what = fmt::format("stop '{}'", stop.name);
    add_row(terms, rhs);
    UnilateralRow gap;
    gap.row = static_cast<int>(m_.constraints.rows.size()) - 1;
    gap.element = static_cast<int>(m_.elements.size()) - 1;
    gap.flag = new_memory(-1, 0);
    gap.impulse = new_memory(-1, 0);
    gap.exact_gap = exact_gap;
    gap.restitution = evaluation_.number(stop.restitution, what + ": restitution");
    if (!(gap.restitution >= 0 && gap.restitution <= 1))
        throw ModelError(fmt::format("{}: restitution must lie between 0 and 1, found {}", what, gap.restitution));
    if (stop.latch) gap.latch_speed = evaluation_.number(*stop.latch, what + ": latch");
    m_.constraints.rows.back().flag = gap.flag;
    m_.unilateral.push_back(gap);
}

template <int D>
int MechanismBuilder<D>::new_slip_memory() {
    const int first = new_memory(-1, 0);
    for (int k = 1; k < slip_size; ++k) new_memory(-1, 0);
    return first;
}

template <int D>
std::optional<FrictionElement> MechanismBuilder<D>::stop_friction(const Stop& stop, double lever) {
    const std::string what = fmt::format("stop '{}'", stop.name);
    FrictionElement friction;
    friction.name = stop.name;
    friction.kinetic = lever * evaluation_.number(stop.friction, what + ": friction");
    friction.at_rest = stop.static_friction
                           ? lever * evaluation_.number(*stop.static_friction, what + ": static-friction")
                           : friction.kinetic;
    if (!(friction.kinetic >= 0 && friction.at_rest >= friction.kinetic))
        throw ModelError(what + ": friction must not be negative, and static friction not below it");
    if (friction.at_rest == 0) return std::nullopt;
    friction.contact = static_cast<int>(m_.unilateral.size()) - 1;
    friction.stick = new_memory(-1, 0);
    friction.slip = new_slip_memory();
    return friction;
}

template <int D>
void MechanismBuilder<D>::add_sliding_friction(const Stop& stop, std::array<int, 2> axes, double radius, RowKind kind,
                                               bool is_round) {
    std::optional<FrictionElement> friction = stop_friction(stop, 1);
    if (!friction) return;
    friction->first_row = static_cast<int>(m_.constraints.rows.size());
    friction->row_count = D - 1;
    const MarkerFeatures<D> a = marker(stop.a);
    const MarkerFeatures<D> b = marker(stop.b);
    std::vector<int> slots{a.point};
    slots.insert(slots.end(), a.axis.begin(), a.axis.end());
    slots.push_back(b.point);
    slots.insert(slots.end(), b.axis.begin(), b.axis.end());
    Row row;
    row.kind = kind;
    row.element = static_cast<int>(m_.elements.size()) - 1;
    row.radius = radius;
    row.is_round = is_round;
    row.flag = friction->stick;
    ForceElement<D> force;
    force.kind = ForceKind::friction;
    force.name = stop.name;
    force.slip_memory = friction->slip;
    for (int k = 0; k < D - 1; ++k) {
        row.axis = axes[k];
        m_.constraints.add_velocity_row(row, slots);
        force.slip_rows[k] = row;
    }
    m_.forces.add(std::move(force), slots);
    m_.friction.push_back(std::move(*friction));
}

// What rubs at the end of a coordinate's range: another coordinate, as the turning of a shaft against its shoulder.
template <int D>
void MechanismBuilder<D>::add_limit_friction(const Stop& stop, int coordinate) {
    const std::string what = fmt::format("stop '{}'", stop.name);
    const bool is_angle = m_.measure(coordinate).kind == MeasureKind::angle;
    const double radius = is_angle ? evaluation_.number(stop.radius, what + ": radius") : 1;
    if (!(radius > 0)) throw ModelError(what + ": friction against an angle needs the radius at which it acts");
    std::optional<FrictionElement> friction = stop_friction(stop, radius);
    if (!friction) return;
    add_stick_row(coordinate, *friction, what);
    add_slip_force(coordinate, std::move(*friction), {});
}

template <int D>
void MechanismBuilder<D>::add_stop(const Stop& stop) {
    const std::string what = fmt::format("stop '{}'", stop.name);
    if (m_.impact_loss < 0) m_.impact_loss = new_memory(-1, 0);
    ConstraintElement<D>& element = start_element(ElementRole::stop, stop.name);
    const auto number = [&](const Number& n, const char* key) { return evaluation_.number(n, what + ": " + key); };
    const auto positive = [&](double value, const char* key) {
        if (!(value > 0)) throw ModelError(fmt::format("{}: {} must be positive, found {}", what, key, value));
        return value;
    };
    if (stop.type == StopType::limit) {
        const ScalarSum limited = scalar_sum(stop.scalar, what);
        if (stop.minimum && stop.maximum && !(number(*stop.minimum, "min") < number(*stop.maximum, "max")))
            throw ModelError(fmt::format("{}: min must lie below max", what));
        const int rubbing = stop.along.empty() ? -1 : scalar(stop.along, what);
        const auto add_end = [&](double sign, const Number& end, const char* key) {
            std::vector<RowTerm> terms = limited.terms;
            for (RowTerm& term : terms) term.coefficient *= sign;
            add_gap(stop, terms, sign * (number(end, key) - limited.constant));
            if (rubbing >= 0) add_limit_friction(stop, rubbing);
        };
        if (stop.minimum) add_end(1, *stop.minimum, "min");
        if (stop.maximum) add_end(-1, *stop.maximum, "max");
    } else {
        const MarkerFeatures<D> a = marker(stop.a);
        const MarkerFeatures<D> b = marker(stop.b);
        element.has_markers = true;
        element.a = a;
        element.b = b;
        element.body_a = body_index(stop.a);
        element.body_b = body_index(stop.b);
        if (element.body_a == element.body_b) throw ModelError(what + ": both markers are on the same body");
        const auto along = [&](int axis) { return measure(MeasureKind::dot_point, {a.point, b.point, a.axis[axis]}); };
        // sign 1: at least `length` apart; -1: at most.
        const auto apart = [&](double length, double sign) {
            const int distance = measure(MeasureKind::distance, {a.point, b.point});
            const int square = measure(MeasureKind::half_square, {a.point, b.point}, length);
            add_gap(stop, {{sign, square}}, 0, distance);
        };
        const auto length = [&] {
            if (stop.length) return positive(number(*stop.length, "length"), "length");
            return positive((m_.reference.value[b.point] - m_.reference.value[a.point]).norm(), "length");
        };
        const double radius = number(stop.radius, "radius");
        switch (stop.type) {
            case StopType::limit: break;
            case StopType::wall:
                if (stop.has_rim) positive(radius, "radius of the rim");
                // In the plane a disc is seen from its side, as a ball is.
                if (D == 3 && stop.has_rim) {
                    add_gap(stop,
                            {{1.0, measure(MeasureKind::disc_height, {a.point, a.axis[D - 1], b.point, b.axis[D - 1]},
                                           radius)}},
                            0);
                } else {
                    add_gap(stop, {{1.0, along(D - 1)}}, radius);
                }
                add_sliding_friction(stop, {0, 1}, radius, stop.has_rim ? RowKind::rolling : RowKind::sliding);
                break;
            case StopType::stop: {
                const double distance = length();
                if (radius > distance)
                    throw ModelError(
                        fmt::format("{}: radius must not exceed the length {}, found {}", what, distance, radius));
                apart(distance, 1);
                add_sliding_friction(stop, {0, 1}, radius > 0 ? radius : distance / 2, RowKind::sliding, true);
                break;
            }
            case StopType::cable: apart(length(), -1); break;
            case StopType::clearance:
                apart(positive(number(stop.gap, "gap"), "gap"), -1);
                // The pin touches on its far side.
                add_sliding_friction(stop, {0, 1}, -radius, RowKind::sliding, true);
                break;
            case StopType::slot: {
                const double gap = positive(number(stop.gap, "gap"), "gap");
                for (int axis = D == 2 ? 1 : 0; axis < 2; ++axis)
                    for (const double sign : {1.0, -1.0}) {
                        add_gap(stop, {{sign, along(axis)}}, -gap);
                        add_sliding_friction(stop, {1 - axis, 2}, radius, RowKind::sliding);
                    }
                break;
            }
        }
    }
    element.row_count = static_cast<int>(m_.constraints.rows.size()) - element.first_row;
}

template int MechanismBuilder<2>::new_slip_memory();
template int MechanismBuilder<3>::new_slip_memory();
template void MechanismBuilder<2>::add_stop(const Stop&);
template void MechanismBuilder<3>::add_stop(const Stop&);

}  // namespace limber
