// Applied forces of a model as force elements on features.

#include "limber/kinematics/mechanism/builder.hpp"

namespace limber {

// Names in a law's expression that are neither x, v, t nor parameters are joint coordinates, position sensors, or
// their rates ("crank.angle.rate").
template <int D>
std::vector<std::string> MechanismBuilder<D>::law_inputs(const Force& force, std::vector<LawInput>& inputs) {
    std::vector<std::string> names;
    if (force.law.kind != ScalarLaw::Kind::expression) return names;
    const std::string suffix = ".rate";
    for (const std::string& name : force.law.expression.expression().names()) {
        if (name == "x" || name == "v" || name == "t" || model_.parameters.contains(name)) continue;
        LawInput input;
        input.is_rate = name.size() > suffix.size() && name.ends_with(suffix);
        const std::string base = input.is_rate ? name.substr(0, name.size() - suffix.size()) : name;
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
        for (const RowTerm& term : component) {
            const std::vector<int> more = measure_features(term.measure);
            slots.insert(slots.end(), more.begin(), more.end());
        }
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
    }
}

template void MechanismBuilder<2>::add_force(const Force&);
template void MechanismBuilder<3>::add_force(const Force&);

}  // namespace limber
