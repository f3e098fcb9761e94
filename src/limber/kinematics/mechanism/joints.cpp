// Joints as lists of primitive constraints between marker A (first body) and marker B (second body).
// d = b - a is the vector between the two points; x, y, z are marker axes; n rows.
//
//   space                                            n   plane                                   n
//   fixed               a = b; axes equal            6   a = b; x_A . y_B = 0                    3
//   revolute            a = b; z_A || z_B            5   a = b                                   2
//   prismatic           d || z_A; axes equal         5   d . y_A = 0; x_A . y_B = 0 (along x)     2
//   cylindrical         d || z_A; z_A || z_B         4
//   spherical           a = b                        3
//   universal           a = b; x_A . y_B = 0         4
//   planar              d . z_A = 0; z_A || z_B      3
//   helical             cylindrical; s = p theta/2pi 5
//   point_on_line       d || z_A                     2   d . y_A = 0                             1
//   point_on_plane      d . z_A = 0                  1
//   distance            |d| = L                      1   the same                                1
//   parallel_axes       z_A || z_B                   2   x_A . y_B = 0                           1
//   perpendicular_axes  z_A . z_B = 0                1   x_A . x_B = 0                           1
//   constant_velocity   a = b; x_A.y_B - y_A.x_B = 0 4
//   point_on_curve      distance from the curve = 0  2   the same                                1
//   rolling_disc        height = 0; slip = 0 (2)     3   height = 0; slip = 0 (1)                2
//   skate               sideways slip = 0            1   the same                                1
//   gear, rack_and_pinion, coupling:  sum c_i * coordinate_i = const                             1
//   velocity:           sum c_i(scalars, t) * rate_i = b                                         1
//
// Axes equal: x_A.y_B = x_A.z_B = y_A.z_B = 0 (the off-diagonal products; the diagonal ones have zero gradient).
// z_A || z_B: z_A.x_B = z_A.y_B = 0.  d || z_A: d.x_A = d.y_A = 0.

#include <cmath>

#include "limber/kinematics/mechanism/builder.hpp"

namespace limber {
namespace {

const char* axis_names[] = {"x", "y", "z"};

[[noreturn]] void needs_space(const Joint& joint) {
    throw ModelError(fmt::format("joint '{}': a {} joint needs a spatial model; this one is planar", joint.name,
                                 joint_type_name(joint.type)));
}

bool needs_markers(JointType type) {
    return type != JointType::gear && type != JointType::rack_and_pinion && type != JointType::coupling &&
           type != JointType::velocity;
}

}  // namespace

const char* joint_type_name(JointType type) {
    switch (type) {
        case JointType::fixed: return "fixed";
        case JointType::revolute: return "revolute";
        case JointType::prismatic: return "prismatic";
        case JointType::cylindrical: return "cylindrical";
        case JointType::spherical: return "spherical";
        case JointType::universal: return "universal";
        case JointType::planar: return "planar";
        case JointType::helical: return "helical";
        case JointType::point_on_line: return "point-on-line";
        case JointType::point_on_plane: return "point-on-plane";
        case JointType::distance: return "distance";
        case JointType::parallel_axes: return "parallel-axes";
        case JointType::perpendicular_axes: return "perpendicular-axes";
        case JointType::constant_velocity: return "constant-velocity";
        case JointType::gear: return "gear";
        case JointType::rack_and_pinion: return "rack-and-pinion";
        case JointType::coupling: return "coupling";
        case JointType::point_on_curve: return "point-on-curve";
        case JointType::rolling_disc: return "rolling-disc";
        case JointType::skate: return "skate";
        case JointType::velocity: return "velocity";
    }
    return "";
}

// ---------------------------------------------------------------- primitives

template <int D>
ConstraintElement<D>& MechanismBuilder<D>::start_element(ElementRole role, const std::string& name,
                                                         const Joint* joint) {
    ConstraintElement<D> element;
    element.name = name;
    element.role = role;
    element.first_row = static_cast<int>(m_.constraints.rows.size());
    if (joint != nullptr && needs_markers(joint->type)) {
        element.has_markers = true;
        element.a = marker(joint->a);
        element.b = marker(joint->b);
        element.body_a = body_index(joint->a);
        element.body_b = body_index(joint->b);
        if (element.body_a == element.body_b)
            throw ModelError(fmt::format("joint '{}': both markers are on the same body '{}'", name,
                                         model_.bodies.get(model_.markers.get(joint->a).body).name));
    }
    m_.element_index[element.key()] = static_cast<int>(m_.elements.size());
    m_.elements.push_back(element);
    return m_.elements.back();
}

template <int D>
void MechanismBuilder<D>::add_row(const std::vector<RowTerm>& terms, double rhs, int law) {
    m_.constraints.add_holonomic(static_cast<int>(m_.elements.size()) - 1, terms, rhs, law);
}

template <int D>
void MechanismBuilder<D>::share(int a, int b) {
    m_.shared.push_back({a, b, static_cast<int>(m_.elements.size()) - 1});
}

template <int D>
void MechanismBuilder<D>::coincide() {
    // In world axes: linear in the points, and the multipliers are the components of the joint force.
    for (int k = 0; k < D; ++k) {
        Measure<D> from;
        from.kind = MeasureKind::component;
        from.count = 1;
        from.axis = Vec<D>::Unit(k);
        Measure<D> to = from;
        from.feature[0] = element_->a.point;
        to.feature[0] = element_->b.point;
        const int first = m_.constraints.add_measure(from);
        add_row({{1.0, m_.constraints.add_measure(to)}, {-1.0, first}});
    }
    share(element_->a.point, element_->b.point);
}

template <int D>
void MechanismBuilder<D>::parallel_axes() {
    if constexpr (D == 2) {
        add_row({{1.0, measure(MeasureKind::dot, {element_->a.axis[0], element_->b.axis[1]})}});
        share(element_->a.axis[0], element_->b.axis[0]);
    } else {
        for (int k = 0; k < 2; ++k)
            add_row({{1.0, measure(MeasureKind::dot, {element_->a.axis[2], element_->b.axis[k]})}});
        share(element_->a.axis[2], element_->b.axis[2]);
    }
}

template <int D>
void MechanismBuilder<D>::align() {
    if constexpr (D == 2) {
        parallel_axes();
    } else {
        for (const auto& [i, j] : {std::pair{0, 1}, {0, 2}, {1, 2}})
            add_row({{1.0, measure(MeasureKind::dot, {element_->a.axis[i], element_->b.axis[j]})}});
        for (int k = 0; k < 3; ++k) share(element_->a.axis[k], element_->b.axis[k]);
    }
}

// The point of b on the line through a: along z in space, along x in the plane.
template <int D>
void MechanismBuilder<D>::on_line() {
    const int first = D == 2 ? 1 : 0;
    for (int k = first; k < 2; ++k)
        add_row({{1.0, measure(MeasureKind::dot_point, {element_->a.point, element_->b.point, element_->a.axis[k]})}});
}

// ---------------------------------------------------------------- joints

template <int D>
void MechanismBuilder<D>::add_joint(const Joint& joint) {
    const bool space_only = joint.type == JointType::cylindrical || joint.type == JointType::spherical ||
                            joint.type == JointType::universal || joint.type == JointType::planar ||
                            joint.type == JointType::helical || joint.type == JointType::point_on_plane ||
                            joint.type == JointType::constant_velocity;
    if (D == 2 && space_only) needs_space(joint);
    element_ = &start_element(ElementRole::joint, joint.name, &joint);
    const std::size_t first_shared = m_.shared.size();
    constexpr int last = D - 1;  // the plane's normal in space
    switch (joint.type) {
        case JointType::fixed:
            coincide();
            align();
            break;
        case JointType::revolute:
            coincide();
            if (D == 3) parallel_axes();
            break;
        case JointType::prismatic:
            on_line();
            align();
            break;
        case JointType::cylindrical:
            on_line();
            parallel_axes();
            break;
        case JointType::spherical: coincide(); break;
        case JointType::universal:
            coincide();
            add_row({{1.0, measure(MeasureKind::dot, {element_->a.axis[0], element_->b.axis[1]})}});
            break;
        case JointType::planar:
            add_row({{1.0, measure(MeasureKind::dot_point,
                                   {element_->a.point, element_->b.point, element_->a.axis[last]})}});
            parallel_axes();
            break;
        case JointType::helical: add_helical(joint); break;
        case JointType::point_on_line: on_line(); break;
        case JointType::point_on_plane:
            add_row({{1.0, measure(MeasureKind::dot_point,
                                   {element_->a.point, element_->b.point, element_->a.axis[last]})}});
            break;
        case JointType::distance: add_distance(joint); break;
        case JointType::parallel_axes: parallel_axes(); break;
        case JointType::perpendicular_axes: {
            const int k = D == 2 ? 0 : 2;
            add_row({{1.0, measure(MeasureKind::dot, {element_->a.axis[k], element_->b.axis[k]})}});
            break;
        }
        case JointType::constant_velocity:
            coincide();
            add_row({{1.0, measure(MeasureKind::dot, {element_->a.axis[0], element_->b.axis[1]})},
                     {-1.0, measure(MeasureKind::dot, {element_->a.axis[1], element_->b.axis[0]})}});
            break;
        case JointType::gear:
        case JointType::rack_and_pinion:
        case JointType::coupling: add_coupling(joint); break;
        case JointType::point_on_curve: add_curve(joint); break;
        case JointType::rolling_disc: add_rolling(joint); break;
        case JointType::skate: add_skate(); break;
        case JointType::velocity: add_user_velocity(joint); break;
    }
    if (joint.is_disabled) {
        m_.constraints.drop_rows_from(element_->first_row);
        m_.shared.resize(first_shared);
    } else if (joint.closing.empty()) {
        add_motions(joint);
    } else {
        lead_together(joint);
        m_.shared.resize(first_shared);
    }
    element_->row_count = static_cast<int>(m_.constraints.rows.size()) - element_->first_row;
    element_ = nullptr;
}

// The rows just made follow a law of time that ends at zero.
template <int D>
void MechanismBuilder<D>::lead_together(const Joint& joint) {
    const std::string what = fmt::format("joint '{}': closing", joint.name);
    ConstraintSet<D>& set = m_.constraints;
    const auto value = [&](std::size_t i) {
        return i < joint.closing.size() ? evaluation_.number(joint.closing[i], what) : 0.0;
    };
    const double since = value(0);
    const double frequency = value(1);
    if (!(frequency > 0))
        throw ModelError(
            fmt::format("{}: expected a positive frequency in the second place, found {}", what, frequency));
    std::size_t place = 2;
    for (std::size_t r = element_->first_row; r < set.rows.size(); ++r) {
        Row& row = set.rows[r];
        if (!row.is_holonomic()) continue;
        const double gap = value(place);
        const double slope = value(place + 1) + frequency * gap;
        place += 2;
        row.law = static_cast<int>(set.laws.size());
        const std::string time = fmt::format("(t - ({}))", since);
        set.laws.emplace_back(evaluation_.bind(
            Number(fmt::format("{} + ({} + ({})*{})*exp(-{}*{})", row.rhs, gap, slope, time, frequency, time)), {"t"},
            what));
    }
}

// The motion a joint leaves free, where it is a sequence of turns and slides.
template <int D>
void MechanismBuilder<D>::add_motions(const Joint& joint) {
    using K = JointMotion::Kind;
    constexpr int z = 2;
    std::vector<JointMotion> list;
    element_->is_cut = joint.is_cut;
    switch (joint.type) {
        case JointType::fixed: break;
        case JointType::revolute: list = {{K::turn, z}}; break;
        case JointType::prismatic: list = {{K::slide, D == 2 ? 0 : z}}; break;
        case JointType::cylindrical: list = {{K::turn, z}, {K::slide, z}}; break;
        case JointType::spherical: list = {{K::ball}}; break;
        case JointType::universal: list = {{K::turn, 0}, {K::turn, 1}}; break;
        case JointType::planar: list = {{K::slide, 0}, {K::slide, 1}, {K::turn, z}}; break;
        case JointType::helical: {
            const Row& row = m_.constraints.rows.back();
            const double pitch = evaluation_.number(joint.pitch, fmt::format("joint '{}': pitch", joint.name));
            list = {{K::screw, z, pitch / (2 * pi), row.rhs}};
            break;
        }
        case JointType::point_on_line:
            list = D == 2 ? std::vector<JointMotion>{{K::slide, 0}, {K::turn, z}}
                          : std::vector<JointMotion>{{K::slide, z}, {K::ball}};
            break;
        case JointType::point_on_plane: list = {{K::slide, 0}, {K::slide, 1}, {K::ball}}; break;
        case JointType::parallel_axes:
            list = {{K::slide, 0}, {K::slide, 1}};
            if (D == 3) list.insert(list.end(), {{K::slide, 2}, {K::turn, z}});
            break;
        default: return;
    }
    element_->motions = std::move(list);
}

template <int D>
void MechanismBuilder<D>::add_distance(const Joint& joint) {
    const Vec<D> d = m_.reference.value[element_->b.point] - m_.reference.value[element_->a.point];
    const double length =
        joint.length ? evaluation_.number(*joint.length, fmt::format("joint '{}': length", joint.name)) : d.norm();
    if (!(length > 0))
        throw ModelError(
            fmt::format("joint '{}': the distance must be positive, found {}; use a {} joint to join two "
                        "points",
                        joint.name, length, D == 2 ? "revolute" : "spherical"));
    add_row({{1.0, measure(MeasureKind::half_square, {element_->a.point, element_->b.point}, length)}});
}

template <int D>
void MechanismBuilder<D>::add_helical(const Joint& joint) {
    const double pitch = evaluation_.number(joint.pitch, fmt::format("joint '{}': pitch", joint.name));
    on_line();
    parallel_axes();
    const int turn = angle(element_->a.axis[0], element_->a.axis[1], element_->b.axis[0]);
    const int advance =
        measure(MeasureKind::dot_point, {element_->a.point, element_->b.point, element_->a.axis[D - 1]});
    std::vector<RowTerm> terms{{1.0, advance}};
    if (pitch != 0) terms.push_back({-pitch / (2 * pi), turn});
    const double rhs = joint.offset ? evaluation_.number(*joint.offset, fmt::format("joint '{}': offset", joint.name))
                                    : reference_value(terms);
    add_row(terms, rhs);
}

template <int D>
void MechanismBuilder<D>::add_coupling(const Joint& joint) {
    const std::string what = fmt::format("joint '{}'", joint.name);
    std::vector<RowTerm> terms;
    for (std::size_t i = 0; i < joint.terms.size(); ++i) {
        double c = evaluation_.number(joint.terms[i].coefficient, what + ": coefficient");
        // gear: second = ratio * first; rack and pinion: displacement (second) = radius * angle (first)
        if (joint.type == JointType::gear) c = i == 0 ? -evaluation_.number(joint.ratio, what + ": ratio") : 1.0;
        if (joint.type == JointType::rack_and_pinion)
            c = i == 0 ? -evaluation_.number(joint.radius, what + ": radius") : 1.0;
        const int index = scalar(joint.terms[i].scalar, what);
        if (c != 0) terms.push_back({c, index});
    }
    if (terms.empty()) throw ModelError(what + ": at least one coefficient must not be zero");
    const double rhs = joint.offset ? evaluation_.number(*joint.offset, what + ": offset") : reference_value(terms);
    add_row(terms, rhs);
}

template <int D>
void MechanismBuilder<D>::add_curve(const Joint& joint) {
    const std::string what = fmt::format("joint '{}'", joint.name);
    const CurveDefinition& definition = model_.curves.get(joint.curve);
    std::vector<Vec<D>> points;
    for (const Number3& n : definition.points)
        points.push_back(evaluation_.vector(n, fmt::format("curve '{}'", definition.name)).template head<D>());
    for (std::size_t i = 1; i < points.size(); ++i)
        if ((points[i] - points[i - 1]).norm() < 1e-12)
            throw ModelError(fmt::format("curve '{}': points {} and {} are the same", definition.name, i, i + 1));
    MeasuredCurve<D> curve;
    curve.curve = Curve<D>(points, definition.closed);
    curve.reference = curve_reference(curve.curve);
    m_.curves.push_back(curve);
    Measure<D> m;
    m.kind = MeasureKind::curve_offset;
    m.count = D + 2;
    m.curve = static_cast<int>(m_.curves.size()) - 1;
    m.feature[0] = element_->a.point;
    for (int k = 0; k < D; ++k) m.feature[k + 1] = element_->a.axis[k];
    m.feature[D + 1] = element_->b.point;
    Vec<D> y;
    const Vec<D> d = m_.reference.value[element_->b.point] - m_.reference.value[element_->a.point];
    for (int k = 0; k < D; ++k) y[k] = d.dot(m_.reference.value[element_->a.axis[k]]);
    const int index = m_.constraints.add_measure(m);
    m.memory = new_memory(index, curve.curve.project_globally(y));
    m_.constraints.measures[index].memory = m.memory;
    add_row({{1.0, index}});
    if (D == 3) {
        m.normal = 1;
        add_row({{1.0, m_.constraints.add_measure(m)}});
    }
}

template <int D>
void MechanismBuilder<D>::add_rolling(const Joint& joint) {
    const std::string what = fmt::format("joint '{}': radius", joint.name);
    const double radius = evaluation_.number(joint.radius, what);
    if (!(radius > 0)) throw ModelError(fmt::format("{} must be positive, found {}", what, radius));
    const auto& plane = element_->a;
    const auto& disc = element_->b;
    if constexpr (D == 2) {
        add_row({{1.0, measure(MeasureKind::dot_point, {plane.point, disc.point, plane.axis[1]})}}, radius);
    } else {
        add_row(
            {{1.0, measure(MeasureKind::disc_height, {plane.point, plane.axis[2], disc.point, disc.axis[2]}, radius)}});
    }
    std::vector<int> slots{plane.point};
    slots.insert(slots.end(), plane.axis.begin(), plane.axis.end());
    slots.push_back(disc.point);
    slots.insert(slots.end(), disc.axis.begin(), disc.axis.end());
    for (int k = 0; k < D - 1; ++k) {
        Row row;
        row.kind = RowKind::rolling;
        row.element = static_cast<int>(m_.elements.size()) - 1;
        row.radius = radius;
        row.axis = k;
        m_.constraints.add_velocity_row(row, slots);
    }
}

template <int D>
void MechanismBuilder<D>::add_skate() {
    std::vector<int> slots{element_->a.point};
    slots.insert(slots.end(), element_->a.axis.begin(), element_->a.axis.end());
    slots.push_back(element_->b.point);
    slots.push_back(element_->b.axis[1]);
    Row row;
    row.kind = RowKind::skate;
    row.element = static_cast<int>(m_.elements.size()) - 1;
    m_.constraints.add_velocity_row(row, slots);
}

template <int D>
void MechanismBuilder<D>::add_user_velocity(const Joint& joint) {
    const std::string what = fmt::format("joint '{}'", joint.name);
    // The scalars that appear in the coefficients are the variables of the row.
    UserVelocityRow user;
    std::vector<std::string> names;
    const auto collect = [&](const Number& n) {
        for (const std::string& name : n.names()) {
            if (name == "t" || model_.parameters.contains(name)) continue;
            if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
        }
    };
    for (const ScalarTerm& term : joint.terms) collect(term.coefficient);
    if (joint.offset) collect(*joint.offset);
    if (names.size() > 60) throw ModelError(what + ": more than 60 scalars in one velocity constraint");
    for (const std::string& name : names) user.inputs.push_back(scalar(name, what));
    names.emplace_back("t");
    std::vector<int> measures;
    for (const ScalarTerm& term : joint.terms) {
        measures.push_back(scalar(term.scalar, what));
        user.coefficients.push_back(evaluation_.bind(term.coefficient, names, what));
    }
    user.rhs = evaluation_.bind(joint.offset.value_or(Number(0.0)), names, what);
    m_.constraints.add_user_velocity_row(static_cast<int>(m_.elements.size()) - 1, measures, std::move(user));
}

// ---------------------------------------------------------------- drivers

template <int D>
int MechanismBuilder<D>::component_measure(const MarkerComponent& component) {
    if (component.axis >= D)
        throw ModelError(fmt::format("a planar model has no {} component", axis_names[component.axis]));
    const MarkerFeatures<D>& on = marker(component.marker);
    if (component.reference.is_null()) {
        Measure<D> m;
        m.kind = MeasureKind::component;
        m.count = 1;
        m.feature[0] = on.point;
        m.axis = Vec<D>::Unit(component.axis);
        return m_.constraints.add_measure(m);
    }
    const MarkerFeatures<D> reference = marker(component.reference);
    return measure(MeasureKind::dot_point, {reference.point, on.point, reference.axis[component.axis]});
}

template <int D>
void MechanismBuilder<D>::add_driver(const Driver& driver) {
    const std::string what = fmt::format("driver '{}'", driver.name);
    start_element(ElementRole::driver, driver.name);
    const int index = std::holds_alternative<std::string>(driver.target)
                          ? scalar(std::get<std::string>(driver.target), what)
                          : component_measure(std::get<MarkerComponent>(driver.target));
    m_.constraints.laws.push_back(time_function(driver.law, what));
    add_row({{1.0, index}}, 0, static_cast<int>(m_.constraints.laws.size()) - 1);
    m_.elements.back().row_count = 1;
}

template void MechanismBuilder<2>::add_row(const std::vector<RowTerm>&, double, int);
template ConstraintElement<2>& MechanismBuilder<2>::start_element(ElementRole, const std::string&, const Joint*);
template void MechanismBuilder<3>::add_row(const std::vector<RowTerm>&, double, int);
template ConstraintElement<3>& MechanismBuilder<3>::start_element(ElementRole, const std::string&, const Joint*);
template void MechanismBuilder<2>::add_joint(const Joint&);
template void MechanismBuilder<3>::add_joint(const Joint&);
template void MechanismBuilder<2>::add_driver(const Driver&);
template void MechanismBuilder<3>::add_driver(const Driver&);
template int MechanismBuilder<2>::component_measure(const MarkerComponent&);
template int MechanismBuilder<3>::component_measure(const MarkerComponent&);

}  // namespace limber
