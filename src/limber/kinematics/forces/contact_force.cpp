#include "limber/kinematics/forces/contact_force.hpp"

#include <cmath>

#include "limber/geometry/mesh.hpp"

namespace limber {
namespace {

/// Coefficient of friction: what it falls to with speed, what it is at rest, and the speed at which the difference is
/// lost.
struct Coefficient {
    double kinetic, at_rest, stribeck;
    explicit Coefficient(double constant) : kinetic(constant), at_rest(constant), stribeck(1) {}
    explicit Coefficient(const ContactLaw& law)
        : kinetic(law.friction), at_rest(law.static_friction), stribeck(law.stribeck) {}
};

/// mu(|v|) (2/pi) atan(|v|/slip) v/|v| and its derivative.
void regularised(const Coefficient& mu, double slip, const Vec3& v, Vec3& value, Mat3& slope) {
    const double speed = v.norm();
    if (speed < 1e-9 * slip) {
        value = mu.at_rest * 2 / pi / slip * v;
        slope = mu.at_rest * 2 / pi / slip * Mat3::Identity();
        return;
    }
    const double ratio = speed / mu.stribeck;
    const double excess = (mu.at_rest - mu.kinetic) * std::exp(-ratio * ratio);
    const double full = (mu.kinetic + excess) * 2 / pi;
    const double full_by_speed = -2 * ratio / mu.stribeck * excess * 2 / pi;
    const Vec3 direction = v / speed;
    const double size = full * std::atan(speed / slip);
    const double by_speed = full * slip / (slip * slip + speed * speed) + full_by_speed * std::atan(speed / slip);
    const Mat3 along = direction * direction.transpose();
    value = size * direction;
    slope = by_speed * along + size / speed * (Mat3::Identity() - along);
}

/// The moment against rolling and spinning at an angular velocity w of b against a.
void resist_turning(const ContactLaw& law, const Vec3& n, const NormalForce& normal, const Vec3& w, CompliantPoint& p) {
    const Mat3 about_normal = n * n.transpose();
    const Mat3 sideways = Mat3::Identity() - about_normal;
    Vec3 rolling;
    Vec3 spinning;
    Mat3 rolling_slope;
    Mat3 spinning_slope;
    regularised(Coefficient(law.rolling), law.turn_slip, sideways * w, rolling, rolling_slope);
    regularised(Coefficient(law.spinning), law.turn_slip, about_normal * w, spinning, spinning_slope);
    const Vec3 lever = rolling + spinning;
    p.torque = -normal.force * lever;
    p.torque_by_place = normal.by_depth * lever * n.transpose();
    p.torque_by_velocity = normal.by_rate * lever * n.transpose();
    p.torque_by_turning = -normal.force * (rolling_slope * sideways + spinning_slope * about_normal);
    p.power += p.torque.dot(w);
}

void evaluate_point(const ContactLaw& law, const Vec3& n, const ManifoldPoint& at, const MovingFrame& a,
                    const MovingFrame& b, const SurfaceBristles& bristles, double passed, CompliantPoint& p) {
    const double depth = -at.gap;
    const Vec3 u = b.velocity_at(at.point) - a.velocity_at(at.point);
    const double rate = -n.dot(u);
    const NormalForce normal = evaluate_normal_force(law, depth, rate);
    const Mat3 sideways = Mat3::Identity() - n * n.transpose();
    Vec3 friction;
    Mat3 slope;
    if (law.bristles) {
        // Those of before lie along the surface as it is now.
        const SurfaceFriction f =
            evaluate_surface_friction(*law.bristles, sideways * u, {sideways * bristles.bend, bristles.rest}, passed);
        friction = -f.force;
        slope = -f.by_velocity;
        p.bristles = f.end;
    } else {
        regularised(Coefficient(law), law.slip, sideways * u, friction, slope);
    }
    const Vec3 direction = n - friction;
    p.point = at.point;
    p.direction = n;
    p.normal = normal.force;
    p.force = normal.force * direction;
    p.by_place = -normal.by_depth * direction * n.transpose();
    p.by_velocity = -normal.by_rate * direction * n.transpose() - normal.force * slope * sideways;
    p.power = p.force.dot(u);
    p.torque.setZero();
    if (law.resists_turning()) resist_turning(law, n, normal, b.angular_velocity - a.angular_velocity, p);
    const double elastic = law.stiffness * std::pow(depth, law.exponent);
    p.elastic_energy = elastic * depth / (law.exponent + 1);
    p.elastic_power = elastic * rate;
}

}  // namespace

void evaluate_contact(const ContactPair& pair, const MovingFrame& a, const MovingFrame& b, bool planar,
                      const SurfaceBristles& bristles, double passed, CompliantPoints& result) {
    result.count = 0;
    const double reach = pair.reach_a + pair.reach_b;
    if ((a.frame.position - b.frame.position).squaredNorm() > reach * reach) return;
    Manifold manifold;
    const auto add = [&](Manifold& found) {
        if (planar) flatten(found);
        for (int k = 0; k < found.count && result.count < Manifold::max_points; ++k)
            evaluate_point(pair.law, found.normal, found.points[k], a, b, bristles, passed,
                           result.points[result.count++]);
    };
    for_each_manifold(*pair.shape_a, a.frame * pair.place_a, *pair.shape_b, b.frame * pair.place_b, 0, manifold, add);
}

SurfaceBristles mean_bristles(const CompliantPoints& points) {
    SurfaceBristles mean;
    double load = 0;
    for (int k = 0; k < points.count; ++k) {
        const CompliantPoint& p = points.points[k];
        load += p.normal;
        mean.bend += p.normal * p.bristles.bend;
        mean.rest += p.normal * p.bristles.rest;
    }
    if (!(load > 0)) return {};
    mean.bend /= load;
    mean.rest /= load;
    return mean;
}

}  // namespace limber
