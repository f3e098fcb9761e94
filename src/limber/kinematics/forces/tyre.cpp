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

using Jet = Dual<9>;

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

// The lateral force for a vertical load, slip angle and camber.
template <class S>
S lateral_force(const CalspanCoefficients& k, const S& load, const S& slip, const S& camber, S& moment) {
    const S friction = (S(k.b1) * load + S(k.b3) + S(k.b4) * load * load) * S(k.skid);
    S shift(0.0);
    S ratio(0.0);
    if (value_of(load) <= k.a2) {
        const S cornering = S(k.a1) * load * (load - S(k.a2)) - S(k.a0 * k.a2);
        shift = S(-k.a2 * k.a3) * (S(k.a4) - load) * load / (S(k.a4) * cornering) * camber;
        ratio = cornering / (S(k.a2) * friction * load) * (slip + shift);
    } else {
        shift = S(k.a2 * k.a3 * (k.a4 - k.a2) / (k.a0 * k.a4)) * camber;
        ratio = S(-k.a0) / (friction * load) * (slip + shift);
    }
    S shape(value_of(ratio) < 0 ? -1.0 : 1.0);
    if (std::abs(value_of(ratio)) < 3) shape = ratio - ratio * abs(ratio) / S(3.0) + ratio * ratio * ratio / S(27.0);
    const S force = friction * load * shape;
    moment = (S(k.af1) * load + S(k.af2) * abs(force)) * force;
    return force;
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

template <class S>
Result<S> evaluate(const TyreLaw& law, bool planar, const Triple<S>& centre, const Triple<S>& axis,
                   const Triple<S>& velocity) {
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
    if (planar) return result;  // below the centre
    if (law.lateral) add_lateral(*law.lateral, normal_force, normal, axis, velocity, result);
    const Triple<S> tilting = cross(contact_arm(above * upright, normal, axis), result.force);
    for (int k = 0; k < 3; ++k) result.moment[k] += tilting[k];
    return result;
}

}  // namespace

TyreWrench evaluate_tyre(const TyreLaw& law, bool planar, const Vec3& centre, const Vec3& axis, const Vec3& velocity) {
    const auto triple = [](const Vec3& v) { return Triple<double>{v.x(), v.y(), v.z()}; };
    const Result<double> r = evaluate<double>(law, planar, triple(centre), triple(axis), triple(velocity));
    return {Vec3(r.force[0], r.force[1], r.force[2]), Vec3(r.moment[0], r.moment[1], r.moment[2]), r.normal};
}

void add_tyre_kinks(const TyreLaw& law, bool planar, const Vec3& centre, const Vec3& velocity, KinkArguments& kinks) {
    const UnaryDerivatives road = law.road->evaluate(centre.x());
    const int up = planar ? 1 : 2;
    const double depth = law.radius - (centre[up] - road.f);
    const double depth_rate = road.fx * velocity.x() - velocity[up];
    kinks.push_back({depth, depth_rate, kink_at_zero});
    if (law.damping > 0)
        kinks.push_back({law.stiffness * depth + law.damping * depth_rate, std::numeric_limits<double>::quiet_NaN(),
                         kink_at_zero});
    law.road->add_kinks(centre.x(), velocity.x(), kinks);
}

TyreContact measure_tyre(const TyreLaw& law, bool planar, const Vec3& centre, const Vec3& axis, const Vec3& velocity) {
    const auto triple = [](const Vec3& v) { return Triple<double>{v.x(), v.y(), v.z()}; };
    const auto vector = [](const Triple<double>& t) { return Vec3(t[0], t[1], t[2]); };
    const TyreWrench wrench = evaluate_tyre(law, planar, centre, axis, velocity);
    const UnaryDerivatives road = law.road->evaluate(centre.x());
    const double above = centre[planar ? 1 : 2] - road.f;
    TyreContact contact;
    contact.normal = wrench.normal;
    contact.depth = std::max(0.0, law.radius - above);
    if (planar) return contact;
    const double upright = 1 / std::hypot(1.0, road.fx);
    const Triple<double> normal{-road.fx * upright, 0, upright};
    Running<double> running;
    if (!find_running(normal, triple(axis), triple(velocity), running)) return contact;
    contact.slip = running.slip;
    contact.camber = running.camber;
    contact.longitudinal = wrench.force.dot(vector(running.forward));
    contact.lateral = wrench.force.dot(vector(running.left));
    const Vec3 arm = vector(contact_arm(above * upright, normal, triple(axis)));
    contact.aligning = (wrench.moment - arm.cross(wrench.force)).dot(vector(normal));
    return contact;
}

TyreWrench evaluate_tyre(const TyreLaw& law, bool planar, const Vec3& centre, const Vec3& axis, const Vec3& velocity,
                         TyreTangent& tangent) {
    const auto triple = [](const Vec3& v, int first) {
        return Triple<Jet>{Jet::variable(v.x(), first), Jet::variable(v.y(), first + 1),
                           Jet::variable(v.z(), first + 2)};
    };
    const Result<Jet> r = evaluate<Jet>(law, planar, triple(centre, 0), triple(axis, 3), triple(velocity, 6));
    TyreWrench wrench;
    wrench.normal = r.normal;
    for (int i = 0; i < 3; ++i) {
        wrench.force[i] = r.force[i].value;
        wrench.moment[i] = r.moment[i].value;
        for (int j = 0; j < 3; ++j) {
            tangent.by_centre(i, j) = r.force[i].partial[j];
            tangent.by_axis(i, j) = r.force[i].partial[3 + j];
            tangent.by_velocity(i, j) = r.force[i].partial[6 + j];
            tangent.by_centre(3 + i, j) = r.moment[i].partial[j];
            tangent.by_axis(3 + i, j) = r.moment[i].partial[3 + j];
            tangent.by_velocity(3 + i, j) = r.moment[i].partial[6 + j];
        }
    }
    return wrench;
}

}  // namespace limber
