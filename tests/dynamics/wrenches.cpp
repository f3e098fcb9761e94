// Reactions and forces on either body, about any point, along any axes: statics, Newton and Euler.

#include <gtest/gtest.h>

#include <cmath>

#include "limber/model/error.hpp"
#include "support/refusal.hpp"

namespace limber::testing {
namespace {

constexpr double g = 9.81;

Vec3 force(Simulation& s, const std::string& name) {
    return {sense(s, name + ".fx"), sense(s, name + ".fy"), sense(s, name + ".fz")};
}
Vec3 torque(Simulation& s, const std::string& name) {
    return {sense(s, name + ".tx"), sense(s, name + ".ty"), sense(s, name + ".tz")};
}
void expect_vector(const Vec3& found, const Vec3& expected, double tolerance, const std::string& what) {
    for (int k = 0; k < 3; ++k) EXPECT_NEAR(found[k], expected[k], tolerance) << what << k;
}

// A beam of 2 m and 3 kg clamped to the ground: force and moment about the clamp, the tip and a third point.
TEST(Wrenches, OfAClampAreToldAboutAnyPoint) {
    const std::string yaml = R"(
limber: 1
bodies:
  beam: {box: {size: [2, 0.1, 0.1], mass: 3}, at: [1, 0, 0], markers: {tip: [1, 0, 0], turned: {at: [0, 0, 0], turn: [0, 0, 1, 90 deg]}}}
  ground: {markers: {aside: [0, 0.5, 0]}}
joints:
  clamp: {fixed: [ground, beam], at: [0, 0, 0], axis: [0, 0, 1]}
sensors:
  beam: {reaction: clamp}
  ground: {reaction: clamp, body: ground}
  tip: {reaction: clamp, at: beam.tip}
  tip_ground: {reaction: clamp, body: ground, at: beam.tip}
  aside: {reaction: clamp, body: beam, at: ground.aside}
  turned: {reaction: clamp, at: marker, axes: beam.turned}
  second: {reaction: clamp, at: second-marker, axes: second-marker}
)";
    const double w = 3 * g;
    for (const std::string& formulation : formulation_names()) {
        Simulation s(read(yaml), options(formulation, "rk4"));
        expect_vector(force(s, "beam"), {0, 0, w}, 1e-6, "beam");
        expect_vector(torque(s, "beam"), {0, -w, 0}, 1e-6, "beam");
        expect_vector(force(s, "ground"), {0, 0, -w}, 1e-6, "ground");
        expect_vector(torque(s, "ground"), {0, w, 0}, 1e-6, "ground");
        // M_P = M_O + (O - P) x F
        expect_vector(torque(s, "tip"), {0, w, 0}, 1e-6, "tip");
        expect_vector(torque(s, "tip_ground"), {0, -w, 0}, 1e-6, "tip_ground");
        expect_vector(torque(s, "aside"), {-0.5 * w, -w, 0}, 1e-6, "aside");
        // x of the turned axes is y of the world.
        expect_vector(force(s, "turned"), {0, 0, w}, 1e-6, "turned");
        expect_vector(torque(s, "turned"), {-w, 0, 0}, 1e-6, "turned");
        expect_vector(torque(s, "second"), {0, -w, 0}, 1e-6, "second");
    }
}

// Two moving bodies of the plane: what a joint does to one it does to the other, and both obey Newton and Euler.
TEST(Wrenches, OfJointsAndForcesMoveTheBodies) {
    const std::string yaml = R"(
limber: 1
plane: xy
bodies:
  a: {rod: {from: [0, 0], to: [1, 0.2], mass: 2, radius: 0.1}}
  b: {rod: {from: [1, 0.2], to: [1.5, -0.6], mass: 1.5, radius: 0.1}}
joints:
  one: {revolute: [ground, a.from]}
  two: {revolute: [a.to, b.from]}
forces:
  k: {spring: [ground, b.to], stiffness: 40, damping: 2, free-length: 0.3}
  t: {torsion-spring: two.angle, stiffness: 3, damping: 0.2, free-value: 0.4}
  m: {motor: one.angle, law: 2 - 0.3*v}
  f: {force: a.to, vector: [1, -2], frame: body}
  c: {torque: b, vector: 0.5 - t}
sensors:
  two_a: {reaction: two, body: a, at: a.com}
  two_b: {reaction: two, body: b, at: b.com}
  two_at: {reaction: two, body: b}
  one_a: {reaction: one, body: a, at: a.com}
  one_ground: {reaction: one, body: ground, at: ground}
  one_origin: {reaction: one, body: a, at: ground}
  k_b: {force: k, body: b, at: b.com}
  k_own: {force: k, body: b}
  k_ground: {force: k, body: ground}
  k: {force: k}
  t_a: {force: t, body: a, at: a.com}
  t_b: {force: t, body: b, at: b.com}
  m_a: {force: m, body: a, at: a.com}
  f_a: {force: f, body: a, at: a.com}
  c_b: {force: c, body: b, at: b.com}
  aa: {acceleration: a.com}
  ab: {acceleration: b.com}
  wa: {angular-acceleration: a}
  wb: {angular-acceleration: b}
  pb: {position: b.to}
)";
    for (const auto& [formulation, coordinates] : {std::pair{"global", "natural"},
                                                   {"augmented-lagrangian", "reference-point"},
                                                   {"composite-body", "relative"}}) {
        Simulation s(read(yaml), options(formulation, "trapezoidal", coordinates));
        for (const double t : {0.0, 0.37}) {
            ASSERT_TRUE(s.advance(t, 1e-3).ok);
            const auto sum = [&](const std::string& component, const std::vector<std::string>& names) {
                double total = 0;
                for (const std::string& name : names) total += sense(s, name + "." + component);
                return total;
            };
            const std::vector<std::string> on_a{"one_a", "two_a", "t_a", "m_a", "f_a"};
            const std::vector<std::string> on_b{"two_b", "k_b", "t_b", "c_b"};
            EXPECT_NEAR(sum("fx", on_a), 2 * sense(s, "aa.x"), 1e-6) << coordinates;
            EXPECT_NEAR(sum("fy", on_a) - 2 * g, 2 * sense(s, "aa.y"), 1e-6) << coordinates;
            EXPECT_NEAR(sum("fx", on_b), 1.5 * sense(s, "ab.x"), 1e-6) << coordinates;
            EXPECT_NEAR(sum("fy", on_b) - 1.5 * g, 1.5 * sense(s, "ab.y"), 1e-6) << coordinates;
            // Thin rods in the plane: I = m l^2 / 12 about the centre.
            EXPECT_NEAR(sum("tz", on_a), 2 * (1 + 0.04) / 12 * sense(s, "wa"), 1e-6) << coordinates;
            EXPECT_NEAR(sum("tz", on_b), 1.5 * (0.25 + 0.64) / 12 * sense(s, "wb"), 1e-6) << coordinates;
            for (const char* component : {"fx", "fy", "tz"})
                EXPECT_NEAR(sum(component, {"one_origin", "one_ground"}), 0, 1e-9) << coordinates << component;
            // A spring pulls its end towards the other one, and has no moment about it.
            const Vec2 tip(sense(s, "pb.x"), sense(s, "pb.y"));
            EXPECT_NEAR(sense(s, "k_own.fx"), -sense(s, "k") * tip.x() / tip.norm(), 1e-9);
            EXPECT_NEAR(sense(s, "k_own.fy"), -sense(s, "k") * tip.y() / tip.norm(), 1e-9);
            EXPECT_NEAR(sense(s, "k_own.tz"), 0, 1e-12);
            EXPECT_NEAR(sense(s, "k_ground.fx"), sense(s, "k") * tip.x() / tip.norm(), 1e-9);
            EXPECT_NEAR(sense(s, "two_at.tz"), 0, 1e-6);
        }
    }
}

// The rack of tests/dynamics/gears.cpp: it hangs on the pinion with 4/5 of its weight.
TEST(Wrenches, OfTeethActOnBothWheels) {
    constexpr double weight = 9.80665;
    const std::string yaml = R"(
limber: 1
gravity: [0, 0, -9.80665]
bodies:
  pinion: {mass: 1, inertia: [0.1, 0.1, 0.04], turn: [0, 1, 0, 90 deg]}
  rack: {mass: 1, inertia: [0.1, 0.1, 0.04], at: [0, 0.1, 0]}
joints:
  hinge: {revolute: [ground, pinion], at: [0, 0, 0], axis: [1, 0, 0]}
  rail: {prismatic: [ground, rack], at: [0, -0.1, 0], axis: [0, 0, 1]}
  mesh: {rack-and-pinion: [hinge.angle, rail.displacement], radius: 0.1}
sensors:
  hinge: {reaction: hinge}
  rack: {reaction: mesh}
  pinion: {reaction: mesh, body: pinion}
  about: {reaction: mesh, body: pinion, at: pinion}
  own: {reaction: mesh, body: pinion, at: pinion, axes: pinion}
)";
    Simulation s(read(yaml), options("global", "trapezoidal"));
    ASSERT_TRUE(s.advance(0.3, 1e-3).ok);
    const double tooth = 0.8 * weight;
    expect_vector(force(s, "hinge"), {0, 0, 17.65197}, 1e-5, "hinge");
    expect_vector(force(s, "rack"), {0, 0, tooth}, 1e-6, "rack");
    expect_vector(force(s, "pinion"), {0, 0, -tooth}, 1e-6, "pinion");
    expect_vector(torque(s, "pinion"), Vec3::Zero(), 1e-9, "pinion");
    // Euler: 0.04 w' = -0.04 (g / 5) / 0.1
    expect_vector(torque(s, "about"), {-0.1 * tooth, 0, 0}, 1e-6, "about");
    EXPECT_NEAR(torque(s, "about").x(), -0.04 * weight / 5 / 0.1, 1e-6);
    EXPECT_NEAR(torque(s, "own").z(), -0.1 * tooth, 1e-6) << "the pinion's axis is its z";
    EXPECT_NE(refusal_of(yaml + "  bad: {reaction: mesh, at: marker}\n").find("belongs to no marker"),
              std::string::npos);
    EXPECT_NE(refusal_of(yaml + "  bad: {reaction: hinge, body: rack}\n")
                  .find("the reaction of joint 'hinge' does not act on body 'rack'; it acts on ground, pinion"),
              std::string::npos);
}

// x1 = 2 x2 of two wheels on one axle, a torque of 3 on the first: (I1 + I2 / 4) x1'' = 3.
TEST(Wrenches, OfCouplingsAndDriversHaveSixComponents) {
    const std::string yaml = R"(
limber: 1
gravity: none
bodies:
  first: {mass: 1, inertia: [1, 1, 0.5]}
  second: {mass: 1, inertia: [1, 1, 2]}
  third: {mass: 1, inertia: [3, 3, 4]}
joints:
  one: {revolute: [ground, first], at: [0, 0, 0], axis: [0, 0, 1]}
  two: {revolute: [ground, second], at: [0, 0, 0], axis: [0, 0, 1]}
  three: {revolute: [ground, third], at: [0, 0, 0], axis: [0, 0, 1]}
  ratio: {coupling: {one.angle: 1, two.angle: -2}}
drivers:
  wind: {coordinate: three.angle, follows: 0.75*t^2}
forces:
  push: {motor: one.angle, law: 3}
sensors:
  number: {reaction: ratio}
  first: {reaction: ratio, body: first}
  second: {reaction: ratio, body: second, axes: second}
  ground: {reaction: ratio, body: ground}
  wind: {reaction: wind}
  third: {reaction: wind, body: third}
)";
    for (const auto& [formulation, coordinates] :
         {std::pair{"global", "natural"}, {"baumgarte", "reference-point"}, {"global", "relative"}}) {
        Simulation s(read(yaml), options(formulation, "trapezoidal", coordinates));
        ASSERT_TRUE(s.advance(0.2, 1e-3).ok);
        const double a = 3 / (0.5 + 2.0 / 4);
        expect_vector(torque(s, "first"), {0, 0, 0.5 * a - 3}, 1e-6, "first");
        expect_vector(torque(s, "second"), {0, 0, 2 * a / 2}, 1e-6, "second");
        expect_vector(torque(s, "ground"), {0, 0, 3 - 0.5 * a - a}, 1e-6, "ground");
        expect_vector(force(s, "second"), Vec3::Zero(), 1e-6, "second");
        EXPECT_NEAR(sense(s, "number"), 0.5 * a - 3, 1e-6);
        EXPECT_NEAR(sense(s, "wind"), 4 * 1.5, 1e-6);
        expect_vector(torque(s, "third"), {0, 0, 4 * 1.5}, 1e-6, "third");
    }
    EXPECT_NE(refusal_of(yaml + "  bad: {reaction: ratio, at: first}\n").find("with 'body: NAME'"), std::string::npos);
    EXPECT_NE(refusal_of(yaml + "  bad: {reaction: ratio, body: third}\n").find("does not act on body 'third'"),
              std::string::npos);
    EXPECT_NE(refusal_of(yaml + "  bad: {force: push, axes: first}\n").find("goes with 'body'"), std::string::npos);
    EXPECT_NE(
        refusal_of(yaml + "  bad: {force: push, body: second}\n").find("force 'push' does not act on body 'second'"),
        std::string::npos);
}

// A bushing in space, turned and twisted: what it does to the two ends is opposite about any one point.
TEST(Wrenches, OfABushingAreOpposite) {
    Simulation s(read(R"(
limber: 1
bodies:
  a: {box: {size: [0.6, 0.1, 0.05], mass: 1}, at: [0.3, 0, 0], markers: {m: {at: [0.2, 0, 0], xyz: [0.1, 0.2, 0.3]}}}
  b: {box: {size: [0.05, 0.5, 0.1], mass: 0.8}, at: [0.6, 0.25, 0], markers: {m: [0, -0.2, 0.1]}}
joints: {one: {revolute: [ground, a], at: [0, 0, 0], axis: [0, 1, 0]}}
forces: {k: {bushing: [a.m, b.m], stiffness: [500, 400, 300, 20, 30, 40], damping: [5, 5, 5, 0.1, 0.1, 0.1]}}
sensors:
  a: {force: k, body: a, at: ground}
  b: {force: k, body: b, at: ground}
  own: {force: k, body: b, at: b.com}
  turned: {force: k, body: b, at: b.com, axes: b}
  acceleration: {acceleration: b.com}
  w: {angular-velocity: b, axes: b}
  alpha: {angular-acceleration: b, axes: b}
)"),
                 options("augmented-lagrangian", "rk4"));
    ASSERT_TRUE(s.advance(0.2, 5e-4).ok);
    expect_vector(force(s, "a") + force(s, "b"), Vec3::Zero(), 1e-10, "force");
    expect_vector(torque(s, "a") + torque(s, "b"), Vec3::Zero(), 1e-10, "torque");
    // Newton and Euler of the free body b, box of 0.8 kg.
    const Vec3 inertia = 0.8 / 12 * Vec3(0.25 + 0.01, 0.0025 + 0.01, 0.0025 + 0.25);
    const Vec3 w(sense(s, "w.x"), sense(s, "w.y"), sense(s, "w.z"));
    const Vec3 alpha(sense(s, "alpha.x"), sense(s, "alpha.y"), sense(s, "alpha.z"));
    const Vec3 euler = inertia.cwiseProduct(alpha) + w.cross(Vec3(inertia.cwiseProduct(w)));
    const Vec3 a(sense(s, "acceleration.x"), sense(s, "acceleration.y"), sense(s, "acceleration.z"));
    expect_vector(force(s, "own") - Vec3(0, 0, 0.8 * g), 0.8 * a, 1e-8, "newton");
    expect_vector(torque(s, "turned"), euler, 1e-8, "euler");
    EXPECT_GT(torque(s, "turned").norm(), 0.1);
}

}  // namespace
}  // namespace limber::testing
