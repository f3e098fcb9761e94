#include "limber/math/rotation.hpp"

#include <Eigen/LU>

namespace limber {

Mat3 nearest_rotation(const Mat3& almost) {
    Mat3 r = almost;
    for (int i = 0; i < 20; ++i) {
        const Mat3 next = 0.5 * (r + r.inverse().transpose());
        const double change = (next - r).cwiseAbs().maxCoeff();
        r = next;
        if (change < 1e-15) break;
    }
    return r;
}

Mat3 frame_from_z(const Vec3& z, const Vec3* x_hint) {
    const Vec3 k = z.normalized();
    Vec3 x = Vec3::Zero();
    if (x_hint != nullptr) x = *x_hint - k * k.dot(*x_hint);
    if (x.norm() < 1e-9) {
        // The world axis least aligned with z, so that a vertical z keeps x along world x.
        int least = 0;
        k.cwiseAbs().minCoeff(&least);
        if (std::abs(k.x()) < 0.9) least = 0;
        x = Vec3::Unit(least) - k * k(least);
    }
    x.normalize();
    Mat3 frame;
    frame << x, k.cross(x), k;
    return frame;
}

Mat3 shortest_rotation(const Vec3& a, const Vec3& b) {
    return Quat::FromTwoVectors(a, b).toRotationMatrix();
}

}  // namespace limber
