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
//   custom:             residuals of a user's class = 0, see custom_joints.cpp                   1 .. 6
//
// Axes equal: x_A.y_B = x_A.z_B = y_A.z_B = 0 (the off-diagonal products; the diagonal ones have zero gradient).
// z_A || z_B: z_A.x_B = z_A.y_B = 0.  d || z_A: d.x_A = d.y_A = 0.

#include <cmath>

#include "limber/kinematics/mechanism/builder.hpp"
#include "limber/model/linear_form.hpp"

namespace limber {
namespace {

const char* axis_names[] = {"x", "y", "z"};

// The motion that a joint leaves free, where it is a sequence of turns and slides; nothing: it is none.
template <int D>
struct FreeMotions {
    using K = JointMotion::Kind;
    using List = std::optional<std::vector<JointMotion>>;
    static constexpr int z = 2;

    static List list(std::initializer_list<JointMotion> motions) { return std::vector<JointMotion>(motions); }

    List operator()(const Fixed&) const { return list({}); }
    List operator()(const Revolute&) const { return list({{K::turn, z}}); }
    List operator()(const Prismatic&) const { return list({{K::slide, D == 2 ? 0 : z}}); }
    List operator()(const Cylindrical&) const { return list({{K::turn, z}, {K::slide, z}}); }
    List operator()(const Spherical&) const { return list({{K::ball}}); }
    List operator()(const Universal&) const { return list({{K::turn, 0}, {K::turn, 1}}); }
    List operator()(const PlanarJoint&) const { return list({{K::slide, 0}, {K::slide, 1}, {K::turn, z}}); }
    List operator()(const Helical&) const { return list({{K::screw, z, pitch / (2 * pi), offset}}); }
    List operator()(const PointOnLine&) const {
        return D == 2 ? list({{K::slide, 0}, {K::turn, z}}) : list({{K::slide, z}, {K::ball}});
    }
    List operator()(const PointOnPlane&) const { return list({{K::slide, 0}, {K::slide, 1}, {K::ball}}); }
    List operator()(const ParallelAxes&) const {
        return D == 2 ? list({{K::slide, 0}, {K::slide, 1}})
                      : list({{K::slide, 0}, {K::slide, 1}, {K::slide, 2}, {K::turn, z}});
    }
    template <class Type>
    List operator()(const Type&) const {
        return std::nullopt;
    }

    double pitch = 0, offset = 0;  ///< of a screw
};

}  // namespace

// ---------------------------------------------------------------- primitives

template <int D>
ConstraintElement<D>& MechanismBuilder<D>::start_element(ElementRole role, const std::string& name,
                                                         const MarkerPair* between) {
    ConstraintElement<D> element;
    element.name = name;
    element.role = role;
    element.first_row = static_cast<int>(m_.constraints.rows.size());
    if (between != nullptr) {
        element.has_markers = true;
        element.a = marker(between->first);
        element.b = marker(between->second);
        element.body_a = body_index(between->first);
        element.body_b = body_index(between->second);
        if (element.body_a == element.body_b)
            throw ModelError(fmt::format("{} '{}': both markers are on the same body '{}'", element_role_name(role),
                                         name, model_.bodies.get(model_.markers.get(between->first).body).name));
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

// In the plane through a that is normal to its z.
template <int D>
void MechanismBuilder<D>::on_plane() {
    add_row({{1.0, measure(MeasureKind::dot_point, {element_->a.point, element_->b.point, element_->a.axis[D - 1]})}});
}

// ---------------------------------------------------------------- joints

template <int D>
void MechanismBuilder<D>::add_joint(const Joint& joint) {
    if (D == 2 && joint.note().is_spatial_only)
        throw ModelError(fmt::format("joint '{}': a {} joint needs a spatial model; this one is planar", joint.name,
                                     joint.note().name));
    element_ = &start_element(ElementRole::joint, joint.name, joint.between());
    const std::size_t first_shared = m_.shared.size();
    std::visit([&](const auto& type) { add_rows(joint.name, type); }, joint.type);
    if (joint.is_disabled) {
        m_.constraints.drop_rows_from(element_->first_row);
        m_.shared.resize(first_shared);
    } else if (joint.closing.empty()) {
        add_motions(joint);
    } else {
        add_closing_laws(joint);
        m_.shared.resize(first_shared);
    }
    element_->row_count = static_cast<int>(m_.constraints.rows.size()) - element_->first_row;
    element_ = nullptr;
}

// The rows just made follow a law of time that ends at zero.
template <int D>
void MechanismBuilder<D>::add_closing_laws(const Joint& joint) {
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

template <int D>
void MechanismBuilder<D>::add_motions(const Joint& joint) {
    FreeMotions<D> motions;
    if (const auto* screw = joint.as<Helical>()) {
        motions.pitch = evaluation_.number(screw->pitch, fmt::format("joint '{}': pitch", joint.name));
        motions.offset = m_.constraints.rows.back().rhs;
    }
    element_->is_cut = joint.is_cut;
    element_->motions = std::visit(motions, joint.type);
}

template <int D>
void MechanismBuilder<D>::add_rows(const std::string&, const Fixed&) {
    coincide();
    align();
}

template <int D>
void MechanismBuilder<D>::add_rows(const std::string&, const Revolute&) {
    coincide();
    if (D == 3) parallel_axes();
}

template <int D>
void MechanismBuilder<D>::add_rows(const std::string&, const Prismatic&) {
    on_line();
    align();
}

template <int D>
void MechanismBuilder<D>::add_rows(const std::string&, const Cylindrical&) {
    on_line();
    parallel_axes();
}

template <int D>
void MechanismBuilder<D>::add_rows(const std::string&, const Spherical&) {
    coincide();
}

template <int D>
void MechanismBuilder<D>::add_rows(const std::string&, const Universal&) {
    coincide();
    add_row({{1.0, measure(MeasureKind::dot, {element_->a.axis[0], element_->b.axis[1]})}});
}

template <int D>
void MechanismBuilder<D>::add_rows(const std::string&, const PlanarJoint&) {
    on_plane();
    parallel_axes();
}

template <int D>
void MechanismBuilder<D>::add_rows(const std::string&, const PointOnLine&) {
    on_line();
}

template <int D>
void MechanismBuilder<D>::add_rows(const std::string&, const PointOnPlane&) {
    on_plane();
}

template <int D>
void MechanismBuilder<D>::add_rows(const std::string&, const ParallelAxes&) {
    parallel_axes();
}

template <int D>
void MechanismBuilder<D>::add_rows(const std::string&, const PerpendicularAxes&) {
    const int k = D == 2 ? 0 : 2;
    add_row({{1.0, measure(MeasureKind::dot, {element_->a.axis[k], element_->b.axis[k]})}});
}

template <int D>
void MechanismBuilder<D>::add_rows(const std::string&, const ConstantVelocity&) {
    coincide();
    add_row({{1.0, measure(MeasureKind::dot, {element_->a.axis[0], element_->b.axis[1]})},
             {-1.0, measure(MeasureKind::dot, {element_->a.axis[1], element_->b.axis[0]})}});
}

template <int D>
void MechanismBuilder<D>::add_rows(const std::string& name, const DistanceJoint& joint) {
    const Vec<D> d = m_.reference.value[element_->b.point] - m_.reference.value[element_->a.point];
    const double length =
        joint.length ? evaluation_.number(*joint.length, fmt::format("joint '{}': length", name)) : d.norm();
    if (!(length > 0))
        throw ModelError(
            fmt::format("joint '{}': the distance must be positive, found {}; use a {} joint to join two "
                        "points",
                        name, length, D == 2 ? "revolute" : "spherical"));
    add_row({{1.0, measure(MeasureKind::half_square, {element_->a.point, element_->b.point}, length)}});
}

template <int D>
void MechanismBuilder<D>::add_rows(const std::string& name, const Helical& joint) {
    const double pitch = evaluation_.number(joint.pitch, fmt::format("joint '{}': pitch", name));
    on_line();
    parallel_axes();
    const int turn = angle(name, element_->a.axis[0], element_->a.axis[1], element_->b.axis[0]);
    const int advance =
        measure(MeasureKind::dot_point, {element_->a.point, element_->b.point, element_->a.axis[D - 1]});
    std::vector<RowTerm> terms{{1.0, advance}};
    if (pitch != 0) terms.push_back({-pitch / (2 * pi), turn});
    const double rhs = joint.offset ? evaluation_.number(*joint.offset, fmt::format("joint '{}': offset", name))
                                    : reference_value(terms);
    add_row(terms, rhs);
}

template <int D>
void MechanismBuilder<D>::add_sum(const std::string& name, const std::vector<std::pair<double, std::string>>& sum,
                                  const std::optional<Number>& offset) {
    const std::string what = fmt::format("joint '{}'", name);
    std::vector<RowTerm> terms;
    for (const auto& [coefficient, coordinate] : sum) {
        const int index = scalar(coordinate, what);
        if (coefficient != 0) terms.push_back({coefficient, index});
    }
    if (terms.empty()) throw ModelError(what + ": at least one coefficient must not be zero");
    add_row(terms, offset ? evaluation_.number(*offset, what + ": offset") : reference_value(terms));
}

template <int D>
void MechanismBuilder<D>::add_rows(const std::string& name, const Gear& gear) {
    const double ratio = evaluation_.number(gear.ratio, fmt::format("joint '{}': ratio", name));
    add_sum(name, {{-ratio, gear.coordinates.first}, {1.0, gear.coordinates.second}}, gear.offset);
}

template <int D>
void MechanismBuilder<D>::add_rows(const std::string& name, const RackAndPinion& rack) {
    const double radius = evaluation_.number(rack.radius, fmt::format("joint '{}': radius", name));
    add_sum(name, {{-radius, rack.coordinates.first}, {1.0, rack.coordinates.second}}, rack.offset);
}

template <int D>
void MechanismBuilder<D>::add_rows(const std::string& name, const CoordinateCoupling& coupling) {
    std::vector<std::pair<double, std::string>> sum;
    sum.reserve(coupling.terms.size());
    for (const ScalarTerm& term : coupling.terms)
        sum.emplace_back(evaluation_.number(term.coefficient, fmt::format("joint '{}': coefficient", name)),
                         term.scalar);
    add_sum(name, sum, coupling.offset);
}

template <int D>
void MechanismBuilder<D>::add_rows(const std::string& name, const PointOnCurve& joint) {
    const CurveDefinition& definition = model_.curves.get(joint.curve);
    std::vector<Vec<D>> points;
    points.reserve(definition.points.size());
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
    set_memory<CurveMemory>(index, name, curve.curve.project_globally(y));
    m.memory = m_.measure(index).memory;
    add_row({{1.0, index}});
    if (D == 3) {
        m.normal = 1;
        add_row({{1.0, m_.constraints.add_measure(m)}});
    }
}

template <int D>
void MechanismBuilder<D>::add_rows(const std::string& name, const RollingDisc& joint) {
    const std::string what = fmt::format("joint '{}': radius", name);
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
void MechanismBuilder<D>::add_rows(const std::string&, const Skate&) {
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
void MechanismBuilder<D>::add_rows(const std::string& name, const VelocityJoint& joint) {
    const std::string what = fmt::format("joint '{}'", name);
    const Number equals = joint.equals.value_or(Number(0.0));
    // The scalars that appear in the coefficients are the variables of the row.
    UserVelocityRow user;
    std::vector<std::string> names;
    std::vector<std::string> rate_names;
    std::vector<int> rates;
    const auto collect = [&](const Number& n, bool may_use_rates) {
        for (const std::string& used : n.names()) {
            if (used == "t" || model_.parameters.contains(used)) continue;
            const LawInput input = law_input(used);
            if (input.is_rate && input.measure >= 0) {
                if (!may_use_rates)
                    throw ModelError(
                        fmt::format("{}: a coefficient cannot use the rate '{}', which would make the equation "
                                    "nonlinear in rates; 'equals' can",
                                    what, used));
                rate_names.push_back(used);
                rates.push_back(input.measure);
            } else if (std::find(names.begin(), names.end(), used) == names.end()) {
                names.push_back(used);
            }
        }
    };
    for (const ScalarTerm& term : joint.terms) collect(term.coefficient, false);
    collect(equals, true);
    if (names.size() + rates.size() > 60) throw ModelError(what + ": more than 60 scalars in one velocity constraint");
    for (const std::string& used : names) user.inputs.push_back(scalar(used, what));
    names.emplace_back("t");
    std::vector<int> measures;
    for (const ScalarTerm& term : joint.terms) {
        measures.push_back(scalar(term.scalar, what));
        user.coefficients.push_back(evaluation_.bind(term.coefficient, names, what));
    }
    names.insert(names.end(), rate_names.begin(), rate_names.end());
    measures.insert(measures.end(), rates.begin(), rates.end());
    user.rates = static_cast<int>(rates.size());
    user.rhs = evaluation_.bind(equals, names, what);
    // Rates move to the other side of the equation, with what multiplies them.
    std::vector<Degree> variables(user.inputs.size() + 1);
    variables.resize(names.size(), {Degree::linear});
    if (user.rhs.evaluate(std::span<const Degree>(variables)).power == Degree::other)
        throw ModelError(
            fmt::format("{}: 'equals' may use rates to the first power only, found \"{}\"", what, equals.text()));
    m_.constraints.add_user_velocity_row(static_cast<int>(m_.elements.size()) - 1, measures, std::move(user));
}

// ---------------------------------------------------------------- drivers

template <int D>
int MechanismBuilder<D>::component_measure(MarkerHandle handle, MarkerHandle reference, int axis) {
    if (axis >= D) throw ModelError(fmt::format("a planar model has no {} component", axis_names[axis]));
    const MarkerFeatures<D> on = marker(handle);
    if (reference.is_null()) return world_component(on.point, axis);
    const MarkerFeatures<D> from = marker(reference);
    return measure(MeasureKind::dot_point, {from.point, on.point, from.axis[axis]});
}

template <int D>
void MechanismBuilder<D>::add_driver(const Driver& driver) {
    const std::string what = fmt::format("driver '{}'", driver.name);
    const bool has_marker = !driver.marker.is_null();
    if (has_marker != driver.component.has_value() || has_marker != driver.coordinate.name.empty())
        throw ModelError(what + ": expected either a coordinate or a marker with a component");
    start_element(ElementRole::driver, driver.name);
    const int index = has_marker
                          ? component_measure(driver.marker, driver.relative_to, static_cast<int>(*driver.component))
                          : scalar(driver.coordinate.name, what);
    m_.constraints.laws.push_back(time_function(driver.law, what));
    add_row({{1.0, index}}, 0, static_cast<int>(m_.constraints.laws.size()) - 1);
    m_.elements.back().row_count = 1;
}

template void MechanismBuilder<2>::add_row(const std::vector<RowTerm>&, double, int);
template ConstraintElement<2>& MechanismBuilder<2>::start_element(ElementRole, const std::string&, const MarkerPair*);
template void MechanismBuilder<3>::add_row(const std::vector<RowTerm>&, double, int);
template ConstraintElement<3>& MechanismBuilder<3>::start_element(ElementRole, const std::string&, const MarkerPair*);
template void MechanismBuilder<2>::coincide();
template void MechanismBuilder<3>::coincide();
template void MechanismBuilder<2>::add_joint(const Joint&);
template void MechanismBuilder<3>::add_joint(const Joint&);
template void MechanismBuilder<2>::add_driver(const Driver&);
template void MechanismBuilder<3>::add_driver(const Driver&);
template int MechanismBuilder<2>::component_measure(MarkerHandle, MarkerHandle, int);
template int MechanismBuilder<3>::component_measure(MarkerHandle, MarkerHandle, int);

}  // namespace limber
