#include "limber/kinematics/forces/tyre.hpp"

#include <algorithm>
#include <cmath>

#include "limber/kinematics/elements/triple.hpp"
#include "limber/math/dual_vectors.hpp"

namespace limber {
namespace {

using std::abs;
using std::atan;
using std::sqrt;

using Jet = Dual<10>;

template <class S>
Triple<S> scaled(const S& s, const Triple<S>& a) {
    return {s * a[0], s * a[1], s * a[2]};
}

// The point of the wheel's plane that lies on the road, from the centre: h below it along the normal and h tan(camber)
// across. Beyond a camber of 60 degrees the point would leave the wheel; from there on it comes back below the centre
// of a wheel that lies on its side.
constexpr double max_lean = 0.25;  // cos^2 of that camber
template <class S>
Triple<S> contact_arm(const S& h, const Triple<S>& normal, const Triple<S>& axis) {
    const S out = dot(normal, axis);
    Triple<S> across{axis[0] - out * normal[0], axis[1] - out * normal[1], axis[2] - out * normal[2]};
    const S square = dot(across, across);  // cos^2 of the camber
    const S reach = h * out / (value_of(square) > max_lean ? square : S(max_lean));
    return {reach * across[0] - h * normal[0], reach * across[1] - h * normal[1], reach * across[2] - h * normal[2]};
}

// At standstill the direction of slip is not defined; below this speed [m/s] the lateral force fades out.
constexpr double slow_wheel = 0.01;

// Friction times load, and slip over it, for a vertical load, slip angle and camber: F_y is their product while the
// slip is small.
template <class S>
S lateral_ratio(const CalspanCoefficients& k, const S& load, const S& slip, const S& camber, S& limit) {
    const S friction = (S(k.b1) * load + S(k.b3) + S(k.b4) * load * load) * S(k.skid);
    limit = friction * load;
    if (value_of(load) > k.a2) {
        const S shift = S(k.a2 * k.a3 * (k.a4 - k.a2) / (k.a0 * k.a4)) * camber;
        return S(-k.a0) / (friction * load) * (slip + shift);
    }
    const S cornering = S(k.a1) * load * (load - S(k.a2)) - S(k.a0 * k.a2);
    const S shift = S(-k.a2 * k.a3) * (S(k.a4) - load) * load / (S(k.a4) * cornering) * camber;
    return cornering / (S(k.a2) * friction * load) * (slip + shift);
}

template <class S>
S aligning_moment(const CalspanCoefficients& k, const S& load, const S& force) {
    return (S(k.af1) * load + S(k.af2) * abs(force)) * force;
}

// The lateral force where nothing slides ahead.
template <class S>
S lateral_force(const CalspanCoefficients& k, const S& load, const S& slip, const S& camber, S& moment) {
    S limit(0.0);
    const S ratio = lateral_ratio(k, load, slip, camber, limit);
    S shape(value_of(ratio) < 0 ? -1.0 : 1.0);
    if (std::abs(value_of(ratio)) < 3) shape = ratio - ratio * abs(ratio) / S(3.0) + ratio * ratio * ratio / S(27.0);
    const S force = limit * shape;
    moment = aligning_moment(k, load, force);
    return force;
}

// g of a brush whose slips share its friction.
template <class S>
S brush_share(const S& x, const S& y) {
    const S square = x * x + y * y;
    if (!(value_of(square) > 1e-24)) return S(1.0);
    const S slip = sqrt(square);
    if (value_of(slip) >= 3) return S(1.0) / slip;
    return S(1.0) - slip / S(3.0) + square / S(27.0);
}

template <class S>
struct Result {
    Triple<S> force{S(0.0), S(0.0), S(0.0)}, moment{S(0.0), S(0.0), S(0.0)};
    double normal = 0;
};

// How a wheel runs on a plane with that normal.
template <class S>
struct Running {
    Triple<S> forward, left;  // axes in the road plane
    S rolling, slip, camber;  // rolling: share of the lateral force, which fades out at standstill
};

// False: the wheel lies on its side.
template <class S>
bool find_running(const Triple<S>& normal, const Triple<S>& axis, const Triple<S>& velocity, Running<S>& running) {
    running.forward = cross(axis, normal);
    const S length = sqrt(dot(running.forward, running.forward));
    if (!(value_of(length) > 0.1)) return false;
    running.forward = scaled(S(1.0) / length, running.forward);
    running.left = cross(normal, running.forward);
    const S ahead = dot(velocity, running.forward);
    const S speed_squared = ahead * ahead + S(slow_wheel * slow_wheel);
    running.rolling = ahead * ahead / speed_squared;
    running.slip = atan(dot(velocity, running.left) / sqrt(speed_squared));
    running.camber = atan(dot(normal, axis) / length);
    return true;
}

// Side force in the road plane and aligning moment.
template <class S>
void add_lateral(const CalspanCoefficients& k, const S& load, const Triple<S>& normal, const Triple<S>& axis,
                 const Triple<S>& velocity, Result<S>& result) {
    Running<S> running;
    if (!find_running(normal, axis, velocity, running)) return;
    S aligning(0.0);
    const S side = running.rolling * lateral_force(k, load, running.slip, running.camber, aligning);
    aligning = running.rolling * aligning;
    for (int i = 0; i < 3; ++i) {
        result.force[i] += side * running.left[i];
        result.moment[i] += aligning * normal[i];
    }
}

// How the wheel's point on the road slides ahead.
template <class S>
struct Sliding {
    S speed, ratio;  // of rolling, never below the slow one; sigma
};

template <class S>
Sliding<S> find_sliding(const BrushCoefficients& k, const Running<S>& running, const Triple<S>& arm,
                        const Triple<S>& axis, const Triple<S>& velocity, const S& spin) {
    const S rolled = S(-1.0) * dot(cross(axis, arm), running.forward) * spin;
    const S speed = sqrt(rolled * rolled + S(k.slow * k.slow));
    return {speed, (rolled - dot(velocity, running.forward)) / speed};
}

// Both forces in the road plane, and the aligning moment.
template <class S>
void add_brush(const TyreLaw& law, const S& load, const Triple<S>& normal, const Triple<S>& arm, const Triple<S>& axis,
               const Triple<S>& velocity, const S& spin, Result<S>& result) {
    Running<S> running;
    if (!find_running(normal, axis, velocity, running)) return;
    const BrushCoefficients& k = law.longitudinal.value();
    const Sliding<S> sliding = find_sliding(k, running, arm, axis, velocity, spin);
    const S limit = S(k.friction) * load;
    const S x = S(k.stiffness) * sliding.ratio / limit;
    S y(0.0);
    S side_limit(0.0);
    if (law.lateral) {
        const S ahead = dot(velocity, running.forward);
        const S over_rolling = sqrt(ahead * ahead + S(k.slow * k.slow)) / sliding.speed;
        y = lateral_ratio(*law.lateral, load, over_rolling * running.slip, running.camber, side_limit);
    }
    const S share = brush_share(x, y);
    const S along = limit * share * x;
    const S unfaded = side_limit * share * y;
    const S side = running.rolling * unfaded;
    S aligning(0.0);
    if (law.lateral) aligning = running.rolling * aligning_moment(*law.lateral, load, unfaded);
    for (int i = 0; i < 3; ++i) {
        result.force[i] += along * running.forward[i] + side * running.left[i];
        result.moment[i] += aligning * normal[i];
    }
}

template <class S>
struct Wheel {
    Triple<S> centre, axis, velocity;
    S spin;
};

template <class S>
Result<S> evaluate(const TyreLaw& law, bool planar, const Wheel<S>& wheel) {
    const auto& [centre, axis, velocity, spin] = wheel;
    Result<S> result;
    const UnaryDerivatives road = law.road->evaluate(value_of(centre[0]));
    const int up = planar ? 1 : 2;
    const S height = chain(road, centre[0]);
    const S slope = chain(UnaryDerivatives{road.fx, road.fxx, 0}, centre[0]);
    const S above = centre[up] - height;
    const S depth = S(law.radius) - above;
    const S depth_rate = slope * velocity[0] - velocity[up];
    const S upright = S(1.0) / sqrt(S(1.0) + slope * slope);
    const S normal_force = (S(law.stiffness) * depth + S(law.damping) * depth_rate) * upright;
    if (!(value_of(depth) > 0) || !(value_of(normal_force) > 0)) return result;
    Triple<S> normal{-slope * upright, S(0.0), S(0.0)};
    normal[up] = upright;
    result.normal = value_of(normal_force);
    result.force = scaled(normal_force, normal);
    if (planar && !law.longitudinal) return result;  // below the centre
    const Triple<S> arm = contact_arm(above * upright, normal, axis);
    if (law.longitudinal) {
        add_brush(law, normal_force, normal, arm, axis, velocity, spin, result);
    } else if (law.lateral) {
        add_lateral(*law.lateral, normal_force, normal, axis, velocity, result);
    }
    const Triple<S> tilting = cross(arm, result.force);
    for (int k = 0; k < 3; ++k) result.moment[k] += tilting[k];
    return result;
}

Triple<double> tyre_triple(const Vec3& v) {
    return {v.x(), v.y(), v.z()};
}
Vec3 tyre_vector(const Triple<double>& t) {
    return {t[0], t[1], t[2]};
}

}  // namespace

TyreWrench evaluate_tyre(const TyreLaw& law, bool planar, const WheelMotion& wheel) {
    const Result<double> r = evaluate<double>(
        law, planar, {tyre_triple(wheel.centre), tyre_triple(wheel.axis), tyre_triple(wheel.velocity), wheel.spin});
    return {tyre_vector(r.force), tyre_vector(r.moment), r.normal};
}

void add_tyre_kinks(const TyreLaw& law, bool planar, const Vec3& centre, const Vec3& velocity, KinkArguments& kinks) {
    const UnaryDerivatives road = law.road->evaluate(centre.x());
    const int up = planar ? 1 : 2;
    const double depth = law.radius - (centre[up] - road.f);
    const double depth_rate = road.fx * velocity.x() - velocity[up];
    kinks.push_back({depth, depth_rate, kink_at_zero});
    if (law.damping > 0)
        kinks.push_back(
            {law.stiffness * depth + law.damping * depth_rate, std::numeric_limits<double>::quiet_NaN(), kink_at_zero});
    law.road->add_kinks(centre.x(), velocity.x(), kinks);
}

TyreContact measure_tyre(const TyreLaw& law, bool planar, const WheelMotion& wheel) {
    const TyreWrench wrench = evaluate_tyre(law, planar, wheel);
    const UnaryDerivatives road = law.road->evaluate(wheel.centre.x());
    const double above = wheel.centre[planar ? 1 : 2] - road.f;
    TyreContact contact;
    contact.normal = wrench.normal;
    contact.depth = std::max(0.0, law.radius - above);
    if (planar && !law.longitudinal) return contact;
    const double upright = 1 / std::hypot(1.0, road.fx);
    Triple<double> normal{-road.fx * upright, 0, 0};
    normal[planar ? 1 : 2] = upright;
    Running<double> running;
    if (!find_running(normal, tyre_triple(wheel.axis), tyre_triple(wheel.velocity), running)) return contact;
    contact.slip = running.slip;
    contact.camber = running.camber;
    contact.longitudinal = wrench.force.dot(tyre_vector(running.forward));
    contact.lateral = wrench.force.dot(tyre_vector(running.left));
    const Triple<double> arm = contact_arm(above * upright, normal, tyre_triple(wheel.axis));
    contact.aligning = (wrench.moment - tyre_vector(arm).cross(wrench.force)).dot(tyre_vector(normal));
    if (law.longitudinal && wrench.normal > 0)
        contact.slip_ratio = find_sliding(*law.longitudinal, running, arm, tyre_triple(wheel.axis),
                                          tyre_triple(wheel.velocity), wheel.spin)
                                 .ratio;
    return contact;
}

TyreWrench evaluate_tyre(const TyreLaw& law, bool planar, const WheelMotion& wheel, TyreTangent& tangent) {
    const auto variables = [](const Vec3& v, int first) {
        return Triple<Jet>{Jet::variable(v.x(), first), Jet::variable(v.y(), first + 1),
                           Jet::variable(v.z(), first + 2)};
    };
    const Result<Jet> r = evaluate<Jet>(law, planar,
                                        {variables(wheel.centre, 0), variables(wheel.axis, 3),
                                         variables(wheel.velocity, 6), Jet::variable(wheel.spin, 9)});
    TyreWrench wrench;
    wrench.normal = r.normal;
    const auto take = [&](const Triple<Jet>& of, Vec3& value, int first_row) {
        for (int i = 0; i < 3; ++i) {
            value[i] = of[i].value;
            for (int j = 0; j < 3; ++j) {
                tangent.by_centre(first_row + i, j) = of[i].partial[j];
                tangent.by_axis(first_row + i, j) = of[i].partial[3 + j];
                tangent.by_velocity(first_row + i, j) = of[i].partial[6 + j];
            }
            tangent.by_spin[first_row + i] = of[i].partial[9];
        }
    };
    take(r.force, wrench.force, 0);
    take(r.moment, wrench.moment, 3);
    return wrench;
}

}  // namespace limber
