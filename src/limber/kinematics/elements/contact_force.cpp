#include "limber/kinematics/elements/contact_force.hpp"

#include <cmath>

#include "limber/geometry/mesh.hpp"

namespace limber {
namespace {

/// coefficient (2/pi) atan(|v|/slip) v/|v| and its derivative.
void regularised(double coefficient, double slip, const Vec3& v, Vec3& value, Mat3& slope) {
    const double speed = v.norm();
    const double full = coefficient * 2 / pi;
    if (speed < 1e-9 * slip) {
        value = full / slip * v;
        slope = full / slip * Mat3::Identity();
        return;
    }
    const Vec3 direction = v / speed;
    const double size = full * std::atan(speed / slip);
    const Mat3 along = direction * direction.transpose();
    value = size * direction;
    slope = full * slip / (slip * slip + speed * speed) * along + size / speed * (Mat3::Identity() - along);
}

void evaluate_point(const ContactLaw& law, const Vec3& n, const ManifoldPoint& at, const MovingFrame& a,
                    const MovingFrame& b, CompliantPoint& p) {
    const double depth = -at.gap;
    const Vec3 u = b.velocity_at(at.point) - a.velocity_at(at.point);
    const double rate = -n.dot(u);
    const NormalForce normal = evaluate_normal_force(law, depth, rate);
    const Mat3 sideways = Mat3::Identity() - n * n.transpose();
    Vec3 friction;
    Mat3 slope;
    regularised(law.friction, law.slip, sideways * u, friction, slope);
    const Vec3 direction = n - friction;
    p.point = at.point;
    p.normal = normal.force;
    p.force = normal.force * direction;
    p.by_place = -normal.by_depth * direction * n.transpose();
    p.by_velocity = -normal.by_rate * direction * n.transpose() - normal.force * slope * sideways;
    p.torque.setZero();
    if (law.rolling > 0 || law.spinning > 0) {
        const Vec3 w = b.angular_velocity - a.angular_velocity;
        Vec3 rolling;
        Vec3 spinning;
        regularised(law.rolling, law.slip, sideways * w, rolling, slope);
        regularised(law.spinning, law.slip, n * n.dot(w), spinning, slope);
        p.torque = -normal.force * (rolling + spinning);
        p.power = p.torque.dot(w);
    } else {
        p.power = 0;
    }
    p.power += p.force.dot(u);
    const double elastic = law.stiffness * std::pow(depth, law.exponent);
    p.elastic_energy = elastic * depth / (law.exponent + 1);
    p.elastic_power = elastic * rate;
}

}  // namespace

void evaluate_contact(const ContactPair& pair, const MovingFrame& a, const MovingFrame& b, bool planar,
                      CompliantPoints& result) {
    result.count = 0;
    const double reach = pair.reach_a + pair.reach_b;
    if ((a.frame.position - b.frame.position).squaredNorm() > reach * reach) return;
    Manifold manifold;
    const auto add = [&](Manifold& found) {
        if (planar) flatten(found);
        for (int k = 0; k < found.count && result.count < Manifold::max_points; ++k)
            evaluate_point(pair.law, found.normal, found.points[k], a, b, result.points[result.count++]);
    };
    for_each_manifold(*pair.shape_a, a.frame * pair.place_a, *pair.shape_b, b.frame * pair.place_b, 0, manifold, add);
}

}  // namespace limber
