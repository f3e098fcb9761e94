#include "limber/kinematics/forces/friction_law.hpp"

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
Rest resting(const FrictionLaw& law, double v, double rest_before, double passed) {
    const Rest now = stribeck(law, v);
    if (!(law.dwell > 0) || now.value < rest_before) return now;
    const double kept = std::exp(-passed / law.dwell);
    return {now.value + (rest_before - now.value) * kept, now.by_v * (1 - kept)};
}

// z_m
struct MostBend {
    double value, by_v;
};

MostBend max_bend(const FrictionLaw& law, const Rest& s) {
    const double slope = law.bend / law.kinetic * (law.at_rest - law.kinetic);
    return {law.bend + slope * s.value, slope * s.by_v};
}

struct Bend {
    double value, by_x, by_v;  // z
    double most, max_by_v;     // z_m
};

// x and v of what rubs.
Bend bend(const FrictionLaw& law, double x, double v, const Bristles& start, double passed) {
    const MostBend most = max_bend(law, resting(law, v, start.rest, passed));
    Bend z{};
    z.most = most.value;
    z.max_by_v = most.by_v;
    const double way = x - law.lever * start.place;
    const double end = std::copysign(z.most, way);
    const double kept = std::exp(-std::abs(way) / z.most);
    z.value = end + (start.bend - end) * kept;
    z.by_x = kept * (1 - start.bend / end);
    const double by_most = std::copysign(1 - kept, way) + (start.bend - end) * kept * std::abs(way) / (z.most * z.most);
    z.by_v = by_most * z.max_by_v;
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
        1 - std::copysign(z.value / z.most, v * z.value) - speed * (z.by_v - z.value * z.max_by_v / z.most) / z.most;
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
    return {bend(law, r * x, r * v, start, passed).value, x, resting(law, r * v, start.rest, passed).value};
}

SurfaceFriction evaluate_surface_friction(const FrictionLaw& law, const Vec3& v, const SurfaceBristles& start,
                                          double passed) {
    const double speed = v.norm();
    const Rest s = resting(law, speed, start.rest, passed);
    const MostBend most = max_bend(law, s);
    const double ways = speed * passed / most.value;  // of what bends bristles
    const double kept = std::exp(-ways);
    // z_m (1 - kept) / |v|, which is finite at rest.
    const double gained = speed > 0 ? -most.value * std::expm1(-ways) / speed : passed;
    SurfaceFriction f;
    const Vec3 z = kept * start.bend + gained * v;
    f.end = {z, s.value};
    const Vec3 along = speed > 0 ? Vec3(v / speed) : Vec3::Zero();
    const Vec3 from_end = start.bend - most.value * along;
    const Vec3 by_speed =
        -passed / most.value * kept * from_end + most.by_v * ((1 - kept) * along + kept * ways / most.value * from_end);
    const Mat3 z_by_v = gained * Mat3::Identity() + (by_speed - gained * along) * along.transpose();
    const Vec3 rate = v - speed / most.value * z;
    const Mat3 rate_by_v = Mat3::Identity() - speed / most.value * z_by_v +
                           (speed * most.by_v / most.value - 1) / most.value * z * along.transpose();
    const double stiffness = law.kinetic / law.bend;
    f.force = -stiffness * (z + law.damping * rate);
    f.by_velocity = -stiffness * (z_by_v + law.damping * rate_by_v);
    return f;
}

}  // namespace limber
