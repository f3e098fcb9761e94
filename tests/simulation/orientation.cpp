// Orientation in numbers against turns that are known: gimbals led by drivers, a free symmetric top, the plane.

#include <gtest/gtest.h>

#include <cmath>

#include "limber/math/rotation_angles.hpp"
#include "limber/model/error.hpp"
#include "support/refusal.hpp"

namespace limber::testing {
namespace {

constexpr std::array<double, 3> end_angles{0.7, 0.5, -1.1};

std::string axis_text(char axis) {
    return axis == 'x' ? "[1, 0, 0]" : axis == 'y' ? "[0, 1, 0]" : "[0, 0, 1]";
}
Vec3 axis_vector(char axis) {
    return axis == 'x' ? Vec3::UnitX() : axis == 'y' ? Vec3::UnitY() : Vec3::UnitZ();
}

// Three nested gimbals, turned at constant rates to the given angles at t = 1.
std::string gimbals(const std::string& sequence, const std::array<double, 3>& angles, const std::string& sensors) {
    std::string yaml = "limber: 1\ngravity: none\nbodies:\n";
    for (const char* body : {"outer", "middle", "inner"})
        yaml += std::string("  ") + body + ": {mass: 1, inertia: [1, 2, 2.5]}\n";
    yaml += "joints:\n";
    const std::array<std::string, 4> chain{"ground", "outer", "middle", "inner"};
    for (int k = 0; k < 3; ++k)
        yaml += "  j" + std::to_string(k) + ": {revolute: [" + chain[k] + ", " + chain[k + 1] +
                "], at: [0, 0, 0], axis: " + axis_text(sequence[k]) + "}\n";
    yaml += "drivers:\n";
    for (int k = 0; k < 3; ++k)
        yaml += "  d" + std::to_string(k) + ": {coordinate: j" + std::to_string(k) +
                ".angle, follows: " + std::to_string(angles[k]) + "*t}\n";
    return yaml + "sensors:\n" + sensors;
}

class OrientationIn : public ::testing::TestWithParam<std::string> {};

TEST_P(OrientationIn, AnySequenceOfGimbalsIsRead) {
    const std::string sequence = GetParam();
    const std::string sensors = "  s: {orientation: inner, as: " + sequence + "}\n" + R"(
  m: {orientation: inner, as: matrix}
  q: {orientation: inner}
  a: {orientation: inner, as: axis-angle}
  own: {orientation: inner, relative-to: middle, as: axis-angle}
)";
    for (const auto& [formulation, coordinates] :
         {std::pair{"global", "natural"}, {"global", "reference-point"}, {"global", "relative"}}) {
        Simulation s(read(gimbals(sequence, end_angles, sensors)), options(formulation, "trapezoidal", coordinates));
        ASSERT_TRUE(s.advance(1, 0.01).ok);
        EXPECT_NEAR(sense(s, "s.first"), end_angles[0], 1e-8) << sequence << coordinates;
        EXPECT_NEAR(sense(s, "s.second"), end_angles[1], 1e-8) << sequence << coordinates;
        EXPECT_NEAR(sense(s, "s.third"), end_angles[2], 1e-8) << sequence << coordinates;
        Mat3 r = Mat3::Identity();
        for (int k = 0; k < 3; ++k) r = r * Eigen::AngleAxisd(end_angles[k], axis_vector(sequence[k]));
        const std::string letters = "xyz";
        for (int i = 0; i < 3; ++i)
            for (int j = 0; j < 3; ++j)
                EXPECT_NEAR(sense(s, std::string("m.") + letters[i] + letters[j]), r(i, j), 1e-8);
        // Rodrigues: R = 1 + sin a K + (1 - cos a) K^2, and the quaternion has half the angle.
        const Vec3 u(sense(s, "a.x"), sense(s, "a.y"), sense(s, "a.z"));
        const double angle = sense(s, "a.angle");
        Mat3 k;
        k << 0, -u.z(), u.y(), u.z(), 0, -u.x(), -u.y(), u.x(), 0;
        const Mat3 again = Mat3::Identity() + std::sin(angle) * k + (1 - std::cos(angle)) * k * k;
        EXPECT_LT((again - r).norm(), 1e-8);
        EXPECT_NEAR(sense(s, "q.w"), std::cos(angle / 2), 1e-8);
        EXPECT_GE(sense(s, "q.w"), 0);
        EXPECT_NEAR(sense(s, "q.x"), std::sin(angle / 2) * u.x(), 1e-8);
        EXPECT_NEAR(sense(s, "q.y"), std::sin(angle / 2) * u.y(), 1e-8);
        EXPECT_NEAR(sense(s, "q.z"), std::sin(angle / 2) * u.z(), 1e-8);
        // The last turn alone, by 1.1 rad against its axis.
        EXPECT_NEAR(sense(s, "own.angle"), 1.1, 1e-8);
        EXPECT_NEAR(sense(s, std::string("own.") + sequence[2]), -1, 1e-8);
    }
}

INSTANTIATE_TEST_SUITE_P(Sequences, OrientationIn,
                         ::testing::Values("xyz", "xzy", "yxz", "yzx", "zxy", "zyx", "xyx", "xzx", "yxy", "yzy", "zxz",
                                           "zyz"),
                         [](const auto& sequence) { return sequence.param; });

TEST(Orientation, RollPitchAndYawAreThoseOfVehicles) {
    // Turned to the left, then nose down, then leaning to the right.
    Simulation s(read(gimbals("zyx", {0.3, 0.2, 0.1}, "  car: {orientation: inner, as: roll-pitch-yaw}\n")));
    ASSERT_TRUE(s.advance(1, 0.01).ok);
    EXPECT_NEAR(sense(s, "car.yaw"), 0.3, 1e-8);
    EXPECT_NEAR(sense(s, "car.pitch"), 0.2, 1e-8);
    EXPECT_NEAR(sense(s, "car.roll"), 0.1, 1e-8);
}

TEST(Orientation, OfLockedGimbalsLeavesTheThirdAngleOut) {
    // With a quarter turn in the middle only the sum or the difference of the others is there to be seen.
    const auto turned = [](double angle, const Vec3& axis) {
        return Eigen::AngleAxisd(angle, axis).toRotationMatrix();
    };
    const auto expect = [](const Vec3& found, double first, double second) {
        EXPECT_NEAR(found[0], first, 1e-12);
        EXPECT_NEAR(found[1], second, 1e-12);
        EXPECT_EQ(found[2], 0);
    };
    for (const double sign : {1.0, -1.0}) {
        const Mat3 cardan =
            turned(0.3, Vec3::UnitX()) * turned(sign * pi / 2, Vec3::UnitY()) * turned(0.2, Vec3::UnitZ());
        expect(find_turns(cardan, {0, 1, 2}), 0.3 + sign * 0.2, sign * pi / 2);
        const Mat3 other =
            turned(0.3, Vec3::UnitX()) * turned(sign * pi / 2, Vec3::UnitZ()) * turned(0.2, Vec3::UnitY());
        expect(find_turns(other, {0, 2, 1}), 0.3 - sign * 0.2, sign * pi / 2);
    }
    const Mat3 euler = turned(0.3, Vec3::UnitZ()) * turned(0.2, Vec3::UnitZ());
    expect(find_turns(euler, {2, 0, 2}), 0.5, 0);
    const Mat3 over = turned(0.3, Vec3::UnitZ()) * turned(pi, Vec3::UnitX()) * turned(0.2, Vec3::UnitZ());
    expect(find_turns(over, {2, 0, 2}), 0.3 - 0.2, pi);
}

// Free, I = (A, A, C), angular momentum L along z: nutation stays, precession at L / A, spin at L cos(n) (1/C - 1/A).
TEST(Orientation, OfAFreeTopFollowsItsAngularMomentum) {
    constexpr double a = 2;
    constexpr double c = 0.5;
    constexpr double nutation = 0.6;
    constexpr double l = 3;
    // Along the body's axes w = (0, L sin n / A, L cos n / C); the body is turned by n about x.
    const Vec3 own(0, l * std::sin(nutation) / a, l * std::cos(nutation) / c);
    const Vec3 w = Eigen::AngleAxisd(nutation, Vec3::UnitX()) * own;
    const auto number = [](double value) { return std::to_string(value); };
    char text[600];
    std::snprintf(text, sizeof text, R"(
limber: 1
gravity: none
bodies:
  top: {mass: 1, inertia: [2, 2, 0.5], turn: [1, 0, 0, 0.6], angular-velocity: [%.17g, %.17g, %.17g]}
sensors:
  euler: {orientation: top, as: zxz}
  w: {angular-velocity: top, axes: top}
)",
                  w.x(), w.y(), w.z());
    for (const auto& [formulation, coordinates] :
         {std::pair{"augmented-lagrangian", "natural"}, {"augmented-lagrangian", "reference-point"}}) {
        Simulation s(read(text), options(formulation, "rk4", coordinates));
        EXPECT_NEAR(sense(s, "euler.first"), 0, 1e-12) << number(w.y());
        constexpr double t = 0.9;
        ASSERT_TRUE(s.advance(t, 5e-4).ok);
        const double spin = l * std::cos(nutation) * (1 / c - 1 / a);
        EXPECT_NEAR(sense(s, "euler.first"), l / a * t, 1e-7) << coordinates;
        EXPECT_NEAR(sense(s, "euler.second"), nutation, 1e-7) << coordinates;
        EXPECT_NEAR(sense(s, "euler.third"), std::remainder(spin * t, 2 * pi), 1e-7) << coordinates;
        // Seen from the body, the angular velocity goes round its axis the other way.
        EXPECT_NEAR(sense(s, "w.x"), own.y() * std::sin(spin * t), 1e-6);
        EXPECT_NEAR(sense(s, "w.y"), own.y() * std::cos(spin * t), 1e-6);
        EXPECT_NEAR(sense(s, "w.z"), own.z(), 1e-7);
    }
}

TEST(Orientation, InThePlaneIsAnAngleWithinHalfATurn) {
    Simulation s(read(R"(
limber: 1
plane: xy
gravity: none
bodies:
  arm: {mass: 1, inertia: 1, angle: 30 deg}
  wheel: {disc: {radius: 1, mass: 1}, angular-velocity: 10}
sensors:
  turn: {orientation: wheel}
  seen: {orientation: wheel, relative-to: arm}
  m: {orientation: wheel, as: matrix}
)"),
                 options("augmented-lagrangian", "rk4"));
    ASSERT_TRUE(s.advance(1, 1e-3).ok);
    const double angle = std::remainder(10.0, 2 * pi);
    EXPECT_NEAR(sense(s, "turn"), angle, 1e-8);
    EXPECT_NEAR(sense(s, "seen"), std::remainder(10.0 - pi / 6, 2 * pi), 1e-8);
    EXPECT_NEAR(sense(s, "m.xy"), -std::sin(10.0), 1e-8);
    EXPECT_NEAR(sense(s, "m.yx"), std::sin(10.0), 1e-8);
    EXPECT_EQ(s.observer().units()[0], "rad");
}

TEST(Orientation, RefusesWhatItCannotShow) {
    const auto refused = [](const std::string& plane, const std::string& sensor) {
        return refusal_of("limber: 1\n" + plane + "bodies: {arm: {point: {mass: 1}}}\nsensors: {s: {" + sensor +
                          "}}\n");
    };
    EXPECT_NE(refused("plane: xy\n", "orientation: arm, as: zxz").find("one angle"), std::string::npos);
    EXPECT_NE(refused("", "orientation: arm, as: zzx").find("expected one of quaternion, axis-angle"),
              std::string::npos);
    EXPECT_NE(refused("", "orientation: arm, axes: arm").find("axes"), std::string::npos);
}

}  // namespace
}  // namespace limber::testing
