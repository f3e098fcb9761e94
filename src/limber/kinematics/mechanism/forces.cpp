// Applied forces of a model as force elements on features.

#include <algorithm>

#include "limber/kinematics/mechanism/builder.hpp"

namespace limber {

// Names in a law's expression that are neither x, v, t nor parameters are joint coordinates, position sensors, or
// their rates ("crank.angle.rate").
template <int D>
std::vector<std::string> MechanismBuilder<D>::law_inputs(const Force& force, std::vector<LawInput>& inputs) {
    std::vector<std::string> names;
    if (force.law.kind != ScalarLaw::Kind::expression) return names;
    for (const std::string& name : force.law.expression.names()) {
        if (name == "x" || name == "v" || name == "t" || model_.parameters.contains(name)) continue;
        LawInput input;
        const std::string base = without_rate(name);
        input.is_rate = base != name;
        input.measure = find_or_make_scalar(base);
        if (input.measure < 0) continue;  // binding will report the unknown name
        inputs.push_back(input);
        names.push_back(name);
    }
    if (inputs.size() > max_law_inputs)
        throw ModelError(fmt::format("force '{}': a law can use at most {} other scalars, found {}", force.name,
                                     max_law_inputs, inputs.size()));
    return names;
}

template <int D>
void MechanismBuilder<D>::add_scalar_force(const Force& force, int measure, double sign) {
    const std::string what = fmt::format("force '{}'", force.name);
    ForceElement<D> e;
    e.kind = ForceKind::scalar;
    e.name = force.name;
    e.measure = measure;
    e.sign = sign;
    if (force.free_value) {
        e.free_value = evaluation_.number(*force.free_value, what);
    } else if (force.type != ForceType::motor) {
        e.free_value = reference_value(measure);
    }
    const std::vector<std::string> names = law_inputs(force, e.inputs);
    e.law = BoundLaw(evaluation_, force.law, names, what);
    std::vector<int> slots = measure_features(measure);
    for (const LawInput& input : e.inputs) {
        const std::vector<int> more = measure_features(input.measure);
        slots.insert(slots.end(), more.begin(), more.end());
    }
    m_.forces.add(std::move(e), slots);
}

template <int D>
void MechanismBuilder<D>::add_bushing(const Force& force) {
    const std::string what = fmt::format("force '{}'", force.name);
    constexpr int n = D == 2 ? 3 : 6;
    ForceElement<D> e;
    e.kind = ForceKind::bushing;
    e.name = force.name;
    const auto matrix = [&](const std::vector<Number>& numbers, const char* name) {
        MatX k = MatX::Zero(n, n);
        if (numbers.empty()) return k;
        if (numbers.size() != n && numbers.size() != n * n)
            throw ModelError(
                fmt::format("{}: {} takes {} numbers (the diagonal) or {} (the matrix row by row), found {}", what,
                            name, n, n * n, numbers.size()));
        for (int i = 0; i < n; ++i)
            for (int j = 0; j < n; ++j) {
                if (numbers.size() == n && i != j) continue;
                k(i, j) = evaluation_.number(numbers[numbers.size() == n ? i : i * n + j], what + ": " + name);
            }
        return k;
    };
    e.stiffness = matrix(force.stiffness, "stiffness");
    e.damping = matrix(force.damping, "damping");
    const MarkerFeatures<D> a = marker(force.a);
    const MarkerFeatures<D> b = marker(force.b);
    for (int i = 0; i < D; ++i)
        e.components.push_back({{1.0, measure(MeasureKind::dot_point, {a.point, b.point, a.axis[i]})}});
    // Skew part of a_i . b_j: rotation about the remaining axis.
    const auto rotation = [&](int i, int j) {
        e.components.push_back({{0.5, measure(MeasureKind::dot, {a.axis[i], b.axis[j]})},
                                {-0.5, measure(MeasureKind::dot, {a.axis[j], b.axis[i]})}});
    };
    if constexpr (D == 3) {
        rotation(2, 1);
        rotation(0, 2);
    }
    rotation(1, 0);
    std::vector<int> slots;
    for (const auto& component : e.components)
        for (const RowTerm& term : component)
            for (const int feature : measure_features(term.measure))
                if (std::find(slots.begin(), slots.end(), feature) == slots.end()) slots.push_back(feature);
    m_.forces.add(std::move(e), slots);
}

template <int D>
void MechanismBuilder<D>::add_force(const Force& force) {
    const std::string what = fmt::format("force '{}'", force.name);
    m_.force_index[force.name] = static_cast<int>(m_.forces.elements.size());
    switch (force.type) {
        case ForceType::spring: {
            const int a = marker(force.a).point;
            const int b = marker(force.b).point;
            if (a == b) throw ModelError(what + ": the two ends are the same marker");
            add_scalar_force(force, measure(MeasureKind::distance, {a, b}), -1);
            break;
        }
        case ForceType::torsion_spring: add_scalar_force(force, scalar(force.scalar, what), -1); break;
        case ForceType::motor: add_scalar_force(force, scalar(force.scalar, what), 1); break;
        case ForceType::servo: {
            ForceElement<D> e;
            e.kind = ForceKind::servo;
            e.name = force.name;
            e.measure = scalar(force.scalar, what);
            e.target = time_function(force.target, what + ": target");
            e.gain = evaluation_.number(force.gain, what + ": gain");
            e.rate_gain = evaluation_.number(force.rate_gain, what + ": rate-gain");
            if (force.limit) e.limit = evaluation_.number(*force.limit, what + ": limit");
            const std::vector<int> slots = measure_features(e.measure);
            m_.forces.add(std::move(e), slots);
            break;
        }
        case ForceType::force:
        case ForceType::torque: {
            ForceElement<D> e;
            e.kind = force.type == ForceType::force ? ForceKind::vector : ForceKind::couple;
            e.name = force.name;
            e.in_marker_axes = force.frame == Force::Frame::body;
            for (int k = 0; k < 3; ++k) e.component[k] = TimeFunction(evaluation_.bind(force.vector[k], {"t"}, what));
            const MarkerFeatures<D> on = marker(force.b);
            std::vector<int> slots(on.axis.begin(), on.axis.end());
            if (force.type == ForceType::force) {
                if (!e.in_marker_axes) slots.clear();
                slots.insert(slots.begin(), on.point);
            }
            m_.forces.add(std::move(e), slots);
            break;
        }
        case ForceType::bushing: add_bushing(force); break;
        case ForceType::drag: {
            ForceElement<D> e;
            e.kind = ForceKind::drag;
            e.name = force.name;
            e.linear = evaluation_.number(force.linear, what + ": linear");
            e.quadratic = evaluation_.number(force.quadratic, what + ": quadratic");
            e.medium = evaluation_.vector(force.vector, what + ": medium").template head<D>();
            const int point = marker(force.b).point;
            m_.forces.add(std::move(e), {point});
            break;
        }
        case ForceType::pull: {
            ForceElement<D> e;
            e.kind = ForceKind::pull;
            e.name = force.name;
            e.gain = evaluation_.number(force.gain, what + ": stiffness");
            e.rate_gain = evaluation_.number(force.rate_gain, what + ": damping");
            const Vec3 target = evaluation_.vector(force.vector, what + ": target");
            e.target_memory = static_cast<int>(m_.initial_memory.size());
            for (int k = 0; k < D; ++k) new_memory(-1, target[k]);
            const int point = marker(force.b).point;
            m_.forces.add(std::move(e), {point});
            break;
        }
        case ForceType::tyre: add_tyre(force); break;
        case ForceType::friction: add_friction(force); break;
    }
}

// The equation that holds a coordinate while its friction sticks, as a row of the element under construction.
template <int D>
void MechanismBuilder<D>::add_stick_row(int coordinate, FrictionElement& friction, const std::string& what) {
    friction.first_row = static_cast<int>(m_.constraints.rows.size());
    friction.row_count = 1;
    UserVelocityRow user;
    user.coefficients.push_back(evaluation_.bind(Number(1.0), {"t"}, what));
    user.rhs = evaluation_.bind(Number(0.0), {"t"}, what);
    m_.constraints.add_user_velocity_row(static_cast<int>(m_.elements.size()) - 1, {coordinate}, std::move(user));
    m_.constraints.rows.back().flag = friction.stick;
}

template <int D>
void MechanismBuilder<D>::add_slip_force(int coordinate, FrictionElement friction, const FrictionLaw& law) {
    if (law.is_compliant()) friction.compliant = static_cast<int>(m_.forces.elements.size());
    ForceElement<D> e;
    e.kind = ForceKind::friction;
    e.name = friction.name;
    e.measure = coordinate;
    e.slip_memory = friction.slip;
    e.friction = law;
    m_.forces.add(std::move(e), measure_features(coordinate));
    m_.friction.push_back(std::move(friction));
}

template <int D>
FrictionLaw MechanismBuilder<D>::compliant_friction(const Force& force, double lever, const std::string& what) const {
    FrictionLaw law;
    law.kind =
        force.friction_kind == FrictionKind::regularised ? FrictionLaw::Kind::regularised : FrictionLaw::Kind::bristle;
    law.lever = lever;
    law.kinetic = evaluation_.number(force.coefficient, what + ": coefficient");
    law.at_rest = force.static_coefficient ? evaluation_.number(*force.static_coefficient, what) : law.kinetic;
    const auto read = [&](const char* key, double& value, bool may_be_zero) {
        const auto it = force.friction_numbers.find(key);
        if (it != force.friction_numbers.end()) value = evaluation_.number(it->second, what + ": " + key);
        if (!(value > 0 || (may_be_zero && value == 0)))
            throw ModelError(fmt::format("{}: {} must be positive, found {}", what, key, value));
    };
    read("slip", law.slip, false);
    read("stribeck", law.stribeck, false);
    read("bend", law.bend, false);
    read("bristle-damping", law.damping, true);
    read("dwell", law.dwell, true);
    if (!(law.kinetic > 0)) throw ModelError(what + ": the coefficient of a compliant law must be positive");
    return law;
}

// Friction against a joint coordinate, from the reaction of its joint.
template <int D>
void MechanismBuilder<D>::add_friction(const Force& force) {
    const std::string what = fmt::format("force '{}'", force.name);
    const int coordinate = scalar(force.scalar, what);
    const auto joint = m_.element_index.find(force.scalar.substr(0, force.scalar.rfind('.')));
    if (joint == m_.element_index.end())
        throw ModelError(fmt::format("{}: friction acts on the coordinate of a joint, found '{}'", what, force.scalar));
    const auto number = [&](const Number& n, const char* key) {
        const double value = evaluation_.number(n, what + ": " + key);
        if (!(value >= 0)) throw ModelError(fmt::format("{}: {} must not be negative, found {}", what, key, value));
        return value;
    };
    FrictionElement friction;
    friction.name = force.name;
    const bool is_angle = m_.measure(coordinate).kind == MeasureKind::angle;
    const double radius = is_angle ? number(force.radius, "radius") : 1;
    if (is_angle && radius == 0) throw ModelError(what + ": friction of a turning joint needs the radius of the pin");
    friction.kinetic = radius * number(force.coefficient, "coefficient");
    friction.at_rest =
        force.static_coefficient ? radius * number(*force.static_coefficient, "static") : friction.kinetic;
    if (friction.at_rest < friction.kinetic)
        throw ModelError(what + ": static friction must not be below the kinetic one");
    friction.arm = number(force.arm, "arm");
    friction.preload = number(force.preload, "preload");
    friction.joint = joint->second;
    friction.stick = new_memory(-1, 0);
    friction.slip = new_slip_memory();
    if (force.friction_kind == FrictionKind::coulomb) {
        ConstraintElement<D>& element = start_element(ElementRole::friction, force.name);
        add_stick_row(coordinate, friction, what);
        element.row_count = 1;
        add_slip_force(coordinate, std::move(friction), {});
    } else {
        friction.kinetic = 1;  // its law wants the load, not the force
        add_slip_force(coordinate, std::move(friction), compliant_friction(force, radius, what));
    }
}

template <int D>
std::shared_ptr<const RoadProfile> MechanismBuilder<D>::road(Handle<RoadDefinition> handle) {
    const RoadDefinition& definition = model_.roads.get(handle);
    auto& known = roads_[definition.name];
    if (known) return known;
    auto profile = std::make_shared<RoadProfile>();
    const std::string what = fmt::format("road '{}'", definition.name);
    for (const RoadPiece& piece : definition.pieces) {
        const auto number = [&](const char* key, double fallback) {
            const auto it = piece.numbers.find(key);
            return it == piece.numbers.end() ? fallback : evaluation_.number(it->second, what + ": " + key);
        };
        const auto positive = [&](const char* key, double fallback) {
            const double value = number(key, fallback);
            if (!(value > 0)) throw ModelError(fmt::format("{}: {} must be positive, found {}", what, key, value));
            return value;
        };
        using K = RoadPiece::Kind;
        switch (piece.kind) {
            case K::bump: profile->add_bump(number("from", 0), positive("length", 1), number("height", 0)); break;
            case K::ramp: {
                const double from = number("from", 0);
                const double to = number("to", 1);
                const double rounding = number("rounding", 0);
                if (!(to > from)) throw ModelError(fmt::format("{}: a ramp needs 'to' beyond 'from'", what));
                if (!(rounding >= 0 && rounding <= to - from))
                    throw ModelError(fmt::format("{}: rounding must lie between 0 and the length of the ramp", what));
                profile->add_ramp(from, to, number("height", 0), rounding);
                break;
            }
            case K::stairs: {
                const double run = positive("run", 1);
                const double riser = positive("riser", 0.1);
                const double count = positive("count", 1);
                if (riser > run) throw ModelError(fmt::format("{}: risers are longer than the run", what));
                if (count > 10000) throw ModelError(fmt::format("{}: more than 10000 steps", what));
                profile->add_stairs(number("from", 0), static_cast<int>(count), run, number("rise", 0), riser);
                break;
            }
            case K::table: profile->add_table(evaluation_.table(*piece.table, what)); break;
            case K::height: profile->add_expression(evaluation_.bind(piece.height, {"x"}, what)); break;
            case K::random: {
                const double length = positive("length", 100);
                if (length > 1e5) throw ModelError(fmt::format("{}: a random road longer than 100 km", what));
                profile->add_random(number("from", 0), length, positive("roughness", 16e-6),
                                    static_cast<unsigned>(std::clamp(number("seed", 1), 0.0, 4e9)));
                break;
            }
        }
    }
    known = profile;
    return known;
}

template <int D>
void MechanismBuilder<D>::add_tyre(const Force& force) {
    const std::string what = fmt::format("force '{}'", force.name);
    ForceElement<D> e;
    e.kind = ForceKind::tyre;
    e.name = force.name;
    e.tyre.road = road(force.road);
    const auto positive = [&](const Number& number, const char* key) {
        const double value = evaluation_.number(number, what + ": " + key);
        if (!(value > 0)) throw ModelError(fmt::format("{}: {} must be positive, found {}", what, key, value));
        return value;
    };
    e.tyre.radius = positive(force.radius, "radius");
    e.tyre.stiffness = positive(force.vertical_stiffness, "stiffness");
    e.tyre.damping = evaluation_.number(force.vertical_damping, what + ": damping");
    const MarkerFeatures<D> on = marker(force.b);
    std::vector<int> slots{on.point};
    if (!force.lateral.empty()) {
        if (D == 2) throw ModelError(what + ": lateral forces need a spatial model");
        CalspanCoefficients k;
        const auto take = [&](const char* key, double& target) {
            const auto it = force.lateral.find(key);
            if (it != force.lateral.end()) target = evaluation_.number(it->second, what + ": " + key);
        };
        take("A0", k.a0);
        take("A1", k.a1);
        take("A2", k.a2);
        take("A3", k.a3);
        take("A4", k.a4);
        take("B1", k.b1);
        take("B3", k.b3);
        take("B4", k.b4);
        take("SN", k.skid);
        take("AF1", k.af1);
        take("AF2", k.af2);
        if (!(k.a0 > 0 && k.a2 > 0 && k.a4 > 0))
            throw ModelError(what + ": A0, A2 and A4 of the lateral model must be positive");
        e.tyre.lateral = k;
    }
    // With camber the force has a moment about the wheel's centre.
    if (D == 3) slots.insert(slots.end(), on.axis.begin(), on.axis.end());
    m_.forces.add(std::move(e), slots);
}

#define LIMBER_INSTANTIATE(D)                                                                    \
    template void MechanismBuilder<D>::add_force(const Force&);                                  \
    template void MechanismBuilder<D>::add_stick_row(int, FrictionElement&, const std::string&); \
    template void MechanismBuilder<D>::add_slip_force(int, FrictionElement, const FrictionLaw&);
LIMBER_INSTANTIATE(2)
LIMBER_INSTANTIATE(3)
#undef LIMBER_INSTANTIATE

}  // namespace limber
