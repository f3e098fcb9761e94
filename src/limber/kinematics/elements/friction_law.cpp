#include "limber/kinematics/elements/friction_law.hpp"

#include <algorithm>
#include <cmath>

namespace limber {
namespace {

struct Rest {
    double value = 0, by_v = 0;  // s
};

Rest stribeck(const FrictionLaw& law, double v) {
    const double ratio = v / law.stribeck;
    const double value = std::exp(-ratio * ratio);
    return {value, -2 * ratio / law.stribeck * value};
}

// s with its lag.
Rest resting(const FrictionLaw& law, double v, const Bristles& start, double passed) {
    const Rest now = stribeck(law, v);
    if (!(law.dwell > 0) || now.value < start.rest) return now;
    const double kept = std::exp(-passed / law.dwell);
    return {now.value + (start.rest - now.value) * kept, now.by_v * (1 - kept)};
}

struct Bend {
    double value, by_x, by_v;  // z
    double most, most_by_v;    // z_m
};

// x and v of what rubs.
Bend bend(const FrictionLaw& law, double x, double v, const Bristles& start, double passed) {
    const Rest s = resting(law, v, start, passed);
    const double slope = law.bend / law.kinetic * (law.at_rest - law.kinetic);
    Bend z{};
    z.most = law.bend + slope * s.value;
    z.most_by_v = slope * s.by_v;
    const double way = x - law.lever * start.place;
    const double end = std::copysign(z.most, way);
    const double kept = std::exp(-std::abs(way) / z.most);
    z.value = end + (start.bend - end) * kept;
    z.by_x = kept * (1 - start.bend / end);
    const double by_most = std::copysign(1 - kept, way) + (start.bend - end) * kept * std::abs(way) / (z.most * z.most);
    z.by_v = by_most * z.most_by_v;
    return z;
}

FrictionForce regularised(const FrictionLaw& law, double v) {
    const Rest s = stribeck(law, v);
    const double mu = law.kinetic + (law.at_rest - law.kinetic) * s.value;
    const double sign = std::tanh(v / law.slip);
    return {-mu * sign, 0, -(law.at_rest - law.kinetic) * s.by_v * sign - mu * (1 - sign * sign) / law.slip};
}

FrictionForce bristles(const FrictionLaw& law, double x, double v, const Bristles& start, double passed) {
    const Bend z = bend(law, x, v, start, passed);
    const double stiffness = law.kinetic / law.bend;
    const double speed = std::abs(v);
    const double rate = v - speed * z.value / z.most;
    const double rate_by_x = -speed * z.by_x / z.most;
    const double rate_by_v =
        1 - std::copysign(z.value / z.most, v * z.value) - speed * (z.by_v - z.value * z.most_by_v / z.most) / z.most;
    return {-stiffness * (z.value + law.damping * rate), -stiffness * (z.by_x + law.damping * rate_by_x),
            -stiffness * (z.by_v + law.damping * rate_by_v)};
}

}  // namespace

FrictionForce evaluate_friction(const FrictionLaw& law, double load, double x, double v, const Bristles& start,
                                double passed) {
    const double r = law.lever;
    const FrictionForce f = law.kind == FrictionLaw::Kind::regularised ? regularised(law, r * v)
                                                                       : bristles(law, r * x, r * v, start, passed);
    return {r * load * f.force, r * r * load * f.by_x, r * r * load * f.by_v};
}

Bristles advance_bristles(const FrictionLaw& law, double x, double v, const Bristles& start, double passed) {
    const double r = law.lever;
    return {bend(law, r * x, r * v, start, passed).value, x, resting(law, r * v, start, passed).value};
}

}  // namespace limber
