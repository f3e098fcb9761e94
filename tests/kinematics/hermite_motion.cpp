// The motion between two states of a body, against motions that are known.

#include "limber/kinematics/body_space/hermite_motion.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "limber/math/rotation.hpp"

namespace limber {
namespace {

// Turns about two axes in turn, R = Rz(a t) Rx(b t), on a circle: everything in closed form.
constexpr double a = 1.3;
constexpr double b = 0.7;

BodyState<3> motion(double t) {
    BodyState<3> s;
    const Mat3 z = Eigen::AngleAxisd(a * t, Vec3::UnitZ()).toRotationMatrix();
    s.axes = z * Eigen::AngleAxisd(b * t, Vec3::UnitX()).toRotationMatrix();
    s.angular_velocity = a * Vec3::UnitZ() + z * Vec3(b, 0, 0);
    s.position = {std::cos(2 * t), std::sin(2 * t), 0.1 * t * t};
    s.velocity = {-2 * std::sin(2 * t), 2 * std::cos(2 * t), 0.2 * t};
    return s;
}

TwistVec<3> rate(double t) {
    const Mat3 z = Eigen::AngleAxisd(a * t, Vec3::UnitZ()).toRotationMatrix();
    TwistVec<3> r;
    r << -4 * std::cos(2 * t), -4 * std::sin(2 * t), 0.2, (a * Vec3::UnitZ()).cross(Vec3(z * Vec3(b, 0, 0)));
    return r;
}

struct Errors {
    double pose = 0, twist = 0;
};

Errors largest_errors(double h, bool is_quintic) {
    const double t = 0.4;
    HermiteMotion<3> between;
    if (is_quintic) {
        between.connect(motion(t), motion(t + h), rate(t), rate(t + h), h);
    } else {
        between.connect(motion(t), motion(t + h), h);
    }
    Errors errors;
    for (double s = 0; s <= 1.001; s += 0.125) {
        BodyState<3> found;
        between.find(s, found);
        const BodyState<3> exact = motion(t + s * h);
        errors.pose =
            std::max({errors.pose, (found.position - exact.position).norm(), (found.axes - exact.axes).norm()});
        errors.twist = std::max({errors.twist, (found.velocity - exact.velocity).norm(),
                                 (found.angular_velocity - exact.angular_velocity).norm()});
    }
    return errors;
}

TEST(HermiteMotion, IsOfFourthAndSixthOrder) {
    const Errors cubic = largest_errors(0.2, false);
    const Errors finer_cubic = largest_errors(0.1, false);
    EXPECT_NEAR(std::log2(cubic.pose / finer_cubic.pose), 4, 0.2);
    EXPECT_NEAR(std::log2(cubic.twist / finer_cubic.twist), 3, 0.2);
    EXPECT_LT(finer_cubic.pose, 1e-4);
    const Errors quintic = largest_errors(0.2, true);
    const Errors finer_quintic = largest_errors(0.1, true);
    EXPECT_NEAR(std::log2(quintic.pose / finer_quintic.pose), 6, 0.3);
    EXPECT_NEAR(std::log2(quintic.twist / finer_quintic.twist), 5, 0.3);
    EXPECT_LT(finer_quintic.pose, 1e-7);
}

TEST(HermiteMotion, MeetsBothEnds) {
    for (const bool is_quintic : {false, true}) {
        HermiteMotion<3> between;
        const double h = 0.3;
        if (is_quintic) {
            between.connect(motion(0), motion(h), rate(0), rate(h), h);
        } else {
            between.connect(motion(0), motion(h), h);
        }
        for (const double s : {0.0, 1.0}) {
            BodyState<3> found;
            between.find(s, found);
            EXPECT_LT((found.axes - motion(s * h).axes).norm(), 1e-14);
            EXPECT_LT((found.angular_velocity - motion(s * h).angular_velocity).norm(), 1e-13);
            EXPECT_LT((found.velocity - motion(s * h).velocity).norm(), 1e-13);
        }
    }
}

// Turns of more than half a revolution, in the plane and in space, are known from the velocities.
TEST(HermiteMotion, CountsTurns) {
    const double speed = 9;
    BodyState<2> plane_from;
    BodyState<2> plane_to;
    plane_from.angular_velocity[0] = plane_to.angular_velocity[0] = speed;
    plane_to.axes = rotation2(speed);
    HermiteMotion<2> plane;
    plane.connect(plane_from, plane_to, 1);
    BodyState<2> middle;
    plane.find(0.5, middle);
    EXPECT_LT((middle.axes - rotation2(0.5 * speed)).norm(), 1e-13);
    EXPECT_NEAR(middle.angular_velocity[0], speed, 1e-12);

    const Vec3 axis = Vec3(1, 2, -0.5).normalized();
    BodyState<3> from;
    BodyState<3> to;
    from.angular_velocity = to.angular_velocity = speed * axis;
    to.axes = Eigen::AngleAxisd(speed, axis).toRotationMatrix();
    HermiteMotion<3> space;
    space.connect(from, to, 1);
    BodyState<3> half;
    space.find(0.5, half);
    EXPECT_LT((half.axes - Eigen::AngleAxisd(0.5 * speed, axis).toRotationMatrix()).norm(), 1e-12);
}

}  // namespace
}  // namespace limber
