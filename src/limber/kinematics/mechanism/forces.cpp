// Applied forces of a model as force elements on features.

#include <algorithm>
#include <cmath>

#include "limber/kinematics/forces/bushing_force.hpp"
#include "limber/kinematics/forces/point_forces.hpp"
#include "limber/kinematics/forces/scalar_force.hpp"
#include "limber/kinematics/forces/servo_force.hpp"
#include "limber/kinematics/forces/slip_force.hpp"
#include "limber/kinematics/forces/tyre_force.hpp"
#include "limber/kinematics/forces/user_force.hpp"
#include "limber/kinematics/mechanism/builder.hpp"

namespace limber {
namespace {

std::string force_named(const std::string& name) {
    return fmt::format("force '{}'", name);
}

// Adds pieces to the profile of a road.
struct RoadBuilder {
    const ModelEvaluation& evaluation;
    std::string what;
    RoadProfile& profile;

    double number(const Number& number, const char* key) const { return evaluation.number(number, what + ": " + key); }
    double positive(const Number& given, const char* key) const {
        const double value = number(given, key);
        if (!(value > 0)) throw ModelError(fmt::format("{}: {} must be positive, found {}", what, key, value));
        return value;
    }
    void operator()(const RoadBump& bump) const {
        profile.add_bump(number(bump.from, "from"), positive(bump.length, "length"), number(bump.height, "height"));
    }
    void operator()(const RoadRamp& ramp) const {
        const double from = number(ramp.from, "from");
        const double to = number(ramp.to, "to");
        const double rounding = number(ramp.rounding.value_or(0.0), "rounding");
        if (!(to > from)) throw ModelError(fmt::format("{}: a ramp needs 'to' beyond 'from'", what));
        if (!(rounding >= 0 && rounding <= to - from))
            throw ModelError(fmt::format("{}: rounding must lie between 0 and the length of the ramp", what));
        profile.add_ramp(from, to, number(ramp.height, "height"), rounding);
    }
    void operator()(const RoadStairs& stairs) const {
        const double run = positive(stairs.run, "run");
        const double riser = positive(stairs.riser, "riser");
        const double count = positive(stairs.count, "count");
        if (riser > run) throw ModelError(fmt::format("{}: risers are longer than the run", what));
        if (count > 10000) throw ModelError(fmt::format("{}: more than 10000 steps", what));
        profile.add_stairs(number(stairs.from, "from"), static_cast<int>(count), run, number(stairs.rise, "rise"),
                           riser);
    }
    void operator()(const RandomRoad& road) const {
        const double length = positive(road.length, "length");
        if (length > 1e5) throw ModelError(fmt::format("{}: a random road longer than 100 km", what));
        profile.add_random(number(road.from.value_or(0.0), "from"), length,
                           16e-6 * std::pow(4.0, static_cast<int>(road.roughness)),
                           static_cast<unsigned>(std::clamp(number(road.seed.value_or(1.0), "seed"), 0.0, 4e9)));
    }
    void operator()(const RoadTable& road) const { profile.add_table(evaluation.table(road.table, what)); }
    void operator()(const RoadHeight& road) const { profile.add_expression(evaluation.bind(road.height, {"x"}, what)); }
};

}  // namespace

// Names in a law's expression that are neither x, v, t nor parameters are joint coordinates, position sensors, or
// their rates ("crank.angle.rate"), or sensors of a rate.
template <int D>
std::vector<std::string> MechanismBuilder<D>::law_inputs(const std::string& force, const ScalarLaw& law,
                                                         std::vector<LawInput>& inputs) {
    std::vector<std::string> names;
    if (law.kind != ScalarLaw::Kind::expression) return names;
    for (const std::string& name : law.expression.names()) {
        if (name == "x" || name == "v" || name == "t" || model_.parameters.contains(name)) continue;
        const LawInput input = law_input(name);
        if (input.measure < 0) continue;  // binding will report the unknown name
        inputs.push_back(input);
        names.push_back(name);
    }
    if (inputs.size() > max_law_inputs)
        throw ModelError(fmt::format("force '{}': a law can use at most {} other scalars, found {}", force,
                                     max_law_inputs, inputs.size()));
    return names;
}

template <int D>
void MechanismBuilder<D>::add_scalar_force(const std::string& name, const ScalarLaw& law, int measure, double sign,
                                           double free_value) {
    auto force = std::make_shared<ScalarForce<D>>();
    force->measure = measure;
    force->sign = sign;
    force->free_value = free_value;
    const std::vector<std::string> names = law_inputs(name, law, force->inputs);
    force->law = BoundLaw(evaluation_, law, names, force_named(name));
    std::vector<int> slots = measure_features(measure);
    for (const LawInput& input : force->inputs) {
        const std::vector<int> more = measure_features(input.measure);
        slots.insert(slots.end(), more.begin(), more.end());
    }
    m_.forces.add(name, std::move(force), slots);
}

template <int D>
void MechanismBuilder<D>::add_force(const std::string& force, const Bushing& bushing) {
    const std::string what = force_named(force);
    constexpr int n = D == 2 ? 3 : 6;
    auto e = std::make_shared<BushingForce<D>>();
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
    e->stiffness = matrix(bushing.stiffness, "stiffness");
    e->damping = matrix(bushing.damping, "damping");
    const MarkerFeatures<D> a = marker(bushing.between.first);
    const MarkerFeatures<D> b = marker(bushing.between.second);
    for (int i = 0; i < D; ++i)
        e->components.push_back({{1.0, measure(MeasureKind::dot_point, {a.point, b.point, a.axis[i]})}});
    // Skew part of a_i . b_j: rotation about the remaining axis.
    const auto rotation = [&](int i, int j) {
        e->components.push_back({{0.5, measure(MeasureKind::dot, {a.axis[i], b.axis[j]})},
                                 {-0.5, measure(MeasureKind::dot, {a.axis[j], b.axis[i]})}});
    };
    if constexpr (D == 3) {
        rotation(2, 1);
        rotation(0, 2);
    }
    rotation(1, 0);
    std::vector<int> slots;
    for (const auto& component : e->components)
        for (const RowTerm& term : component)
            for (const int feature : measure_features(term.measure))
                if (std::find(slots.begin(), slots.end(), feature) == slots.end()) slots.push_back(feature);
    m_.forces.add(force, std::move(e), slots);
}

template <int D>
void MechanismBuilder<D>::add_force(const Force& force) {
    m_.force_index[force.name] = static_cast<int>(m_.forces.elements.size());
    std::visit([&](const auto& type) { add_force(force.name, type); }, force.type);
}

template <int D>
void MechanismBuilder<D>::add_force(const std::string& name, const Spring& spring) {
    const std::string what = force_named(name);
    const int a = marker(spring.between.first).point;
    const int b = marker(spring.between.second).point;
    if (a == b) throw ModelError(what + ": the two ends are the same marker");
    const int distance = measure(MeasureKind::distance, {a, b});
    add_scalar_force(name, spring.law, distance, -1,
                     spring.free_length ? evaluation_.number(*spring.free_length, what) : reference_value(distance));
}

template <int D>
void MechanismBuilder<D>::add_force(const std::string& name, const TorsionSpring& spring) {
    const std::string what = force_named(name);
    const int coordinate = scalar(spring.coordinate.name, what);
    add_scalar_force(name, spring.law, coordinate, -1,
                     spring.free_value ? evaluation_.number(*spring.free_value, what) : reference_value(coordinate));
}

template <int D>
void MechanismBuilder<D>::add_force(const std::string& name, const Motor& motor) {
    ScalarLaw law;
    law.kind = ScalarLaw::Kind::expression;
    law.expression = motor.law;
    add_scalar_force(name, law, scalar(motor.coordinate.name, force_named(name)), 1, 0);
}

template <int D>
void MechanismBuilder<D>::add_force(const std::string& name, const Servo& servo) {
    const std::string what = force_named(name);
    auto force = std::make_shared<ServoForce<D>>();
    force->measure = scalar(servo.coordinate.name, what);
    force->target = time_function(servo.target, what + ": target");
    force->gain = evaluation_.number(servo.gain, what + ": gain");
    force->rate_gain = evaluation_.number(servo.rate_gain, what + ": rate-gain");
    if (servo.limit) force->limit = evaluation_.number(*servo.limit, what + ": limit");
    const std::vector<int> slots = measure_features(force->measure);
    m_.forces.add(name, std::move(force), slots);
}

template <int D>
void MechanismBuilder<D>::add_force(const std::string& name, const Drag& drag) {
    const std::string what = force_named(name);
    auto force = std::make_shared<DragForce<D>>();
    force->linear = evaluation_.number(drag.linear, what + ": linear");
    force->quadratic = evaluation_.number(drag.quadratic, what + ": quadratic");
    force->medium = evaluation_.vector(drag.medium, what + ": medium").template head<D>();
    m_.forces.add(name, std::move(force), {marker(drag.marker).point});
}

template <int D>
void MechanismBuilder<D>::add_force(const std::string& name, const Pull& pull) {
    const std::string what = force_named(name);
    auto force = std::make_shared<PullForce<D>>();
    force->stiffness = evaluation_.number(pull.stiffness, what + ": stiffness");
    force->damping = evaluation_.number(pull.damping, what + ": damping");
    const Vec3 target = evaluation_.vector(pull.target, what + ": target");
    force->target = m_.template add_memory<TargetMemory<D>>(name);
    force->target.in(m_.initial_memory) = target.template head<D>();
    m_.forces.add(name, std::move(force), {marker(pull.marker).point});
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
    auto force = std::make_shared<SlipForce<D>>();
    force->measure = coordinate;
    force->slip = friction.slip;
    force->bristles = friction.bristles;
    force->law = law;
    m_.forces.add(friction.name, std::move(force), measure_features(coordinate));
    m_.friction.push_back(std::move(friction));
}

template <int D>
FrictionLaw MechanismBuilder<D>::compliant_friction(const JointFriction& friction, double lever,
                                                    const std::string& what) const {
    FrictionLaw law;
    law.kind = friction.law == FrictionKind::regularised ? FrictionLaw::Kind::regularised : FrictionLaw::Kind::bristle;
    law.lever = lever;
    law.kinetic = evaluation_.number(friction.coefficient, what + ": coefficient");
    law.at_rest = friction.static_coefficient ? evaluation_.number(*friction.static_coefficient, what) : law.kinetic;
    const auto read = [&](const std::optional<Number>& given, const char* key, double& value, bool may_be_zero) {
        if (given) value = evaluation_.number(*given, what + ": " + key);
        if (!(value > 0 || (may_be_zero && value == 0)))
            throw ModelError(fmt::format("{}: {} must be positive, found {}", what, key, value));
    };
    read(friction.slip, "slip", law.slip, false);
    read(friction.stribeck, "stribeck", law.stribeck, false);
    read(friction.bend, "bend", law.bend, false);
    read(friction.bristle_damping, "bristle-damping", law.damping, true);
    read(friction.dwell, "dwell", law.dwell, true);
    if (!(law.kinetic > 0)) throw ModelError(what + ": the coefficient of a compliant law must be positive");
    return law;
}

// Friction against a joint coordinate, from the reaction of its joint.
template <int D>
void MechanismBuilder<D>::add_force(const std::string& name, const JointFriction& force) {
    const std::string what = force_named(name);
    const int coordinate = scalar(force.coordinate.name, what);
    const auto joint = m_.element_index.find(force.coordinate.name.substr(0, force.coordinate.name.rfind('.')));
    if (joint == m_.element_index.end())
        throw ModelError(
            fmt::format("{}: friction acts on the coordinate of a joint, found '{}'", what, force.coordinate.name));
    const auto number = [&](const Number& n, const char* key) {
        const double value = evaluation_.number(n, what + ": " + key);
        if (!(value >= 0)) throw ModelError(fmt::format("{}: {} must not be negative, found {}", what, key, value));
        return value;
    };
    FrictionElement friction;
    friction.name = name;
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
    add_friction_memory(friction);
    if (force.law == FrictionKind::coulomb) {
        ConstraintElement<D>& element = start_element(ElementRole::friction, name);
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
    const RoadBuilder builder{evaluation_, fmt::format("road '{}'", definition.name), *profile};
    for (const RoadPiece& piece : definition.pieces) std::visit(builder, piece);
    known = profile;
    return known;
}

template <int D>
void MechanismBuilder<D>::add_force(const std::string& name, const Tyre& tyre) {
    const std::string what = force_named(name);
    auto force = std::make_shared<TyreForce<D>>();
    force->law.road = road(tyre.road);
    const auto positive = [&](const Number& number, const char* key) {
        const double value = evaluation_.number(number, what + ": " + key);
        if (!(value > 0)) throw ModelError(fmt::format("{}: {} must be positive, found {}", what, key, value));
        return value;
    };
    force->law.radius = positive(tyre.radius, "radius");
    force->law.stiffness = positive(tyre.stiffness, "stiffness");
    force->law.damping = evaluation_.number(tyre.damping, what + ": damping");
    const MarkerFeatures<D> on = marker(tyre.marker);
    std::vector<int> slots{on.point};
    if (tyre.lateral) {
        if (D == 2) throw ModelError(what + ": lateral forces need a spatial model");
        const LateralTyre& lateral = *tyre.lateral;
        CalspanCoefficients k;
        const auto take = [&](const Number& number, const char* key, double& target) {
            target = evaluation_.number(number, what + ": " + key);
        };
        const auto take_given = [&](const std::optional<Number>& number, const char* key, double& target) {
            if (number) take(*number, key, target);
        };
        take(lateral.a0, "A0", k.a0);
        take(lateral.a1, "A1", k.a1);
        take(lateral.a2, "A2", k.a2);
        take_given(lateral.a3, "A3", k.a3);
        take_given(lateral.a4, "A4", k.a4);
        take_given(lateral.b1, "B1", k.b1);
        take(lateral.b3, "B3", k.b3);
        take_given(lateral.b4, "B4", k.b4);
        take_given(lateral.skid_number, "SN", k.skid);
        take_given(lateral.af1, "AF1", k.af1);
        take_given(lateral.af2, "AF2", k.af2);
        if (!(k.a0 > 0 && k.a2 > 0 && k.a4 > 0))
            throw ModelError(what + ": A0, A2 and A4 of the lateral model must be positive");
        force->law.lateral = k;
    }
    if (tyre.longitudinal) {
        BrushCoefficients k;
        k.stiffness = positive(tyre.longitudinal->stiffness, "longitudinal: stiffness");
        k.friction = positive(tyre.longitudinal->friction, "longitudinal: friction");
        if (tyre.longitudinal->slow_speed)
            k.slow = positive(*tyre.longitudinal->slow_speed, "longitudinal: slow-speed");
        force->law.longitudinal = k;
    }
    // With camber or a longitudinal law the force has a moment about the wheel's centre.
    if (D == 3 || tyre.longitudinal) slots.insert(slots.end(), on.axis.begin(), on.axis.end());
    m_.forces.add(name, std::move(force), slots);
}

template <int D>
void MechanismBuilder<D>::add_force(const std::string& name, const CustomForce& custom) {
    if (custom.law == nullptr) throw ModelError(force_named(name) + ": a custom force needs a law");
    auto force = std::make_shared<UserForce<D>>();
    force->law = custom.law;
    std::vector<int> slots;
    for (const MarkerHandle handle : {custom.between.first, custom.between.second}) {
        const MarkerFeatures<D> on = marker(handle);
        slots.push_back(on.point);
        slots.insert(slots.end(), on.axis.begin(), on.axis.end());
    }
    m_.forces.add(name, std::move(force), slots);
}

#define LIMBER_INSTANTIATE(D)                                                                    \
    template void MechanismBuilder<D>::add_force(const Force&);                                  \
    template void MechanismBuilder<D>::add_stick_row(int, FrictionElement&, const std::string&); \
    template void MechanismBuilder<D>::add_slip_force(int, FrictionElement, const FrictionLaw&);
LIMBER_INSTANTIATE(2)
LIMBER_INSTANTIATE(3)
#undef LIMBER_INSTANTIATE

}  // namespace limber
