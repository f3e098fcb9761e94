// Tooth forces against textbook dynamics: where they act, which way they lean, and what the bearings carry.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "limber/model/error.hpp"
#include "support/models.hpp"

namespace limber::testing {
namespace {

using Pair = std::tuple<std::string, std::string>;

class Gears : public ::testing::TestWithParam<Pair> {
protected:
    Simulation start(const std::string& yaml) const {
        return Simulation(read(yaml), options(std::get<0>(GetParam()), "rk4", std::get<1>(GetParam())));
    }
    // The reach of a finite penalty.
    double tolerance() const { return std::get<0>(GetParam()) == "penalty" ? 1e-4 : 1e-6; }
};

constexpr double g = 9.80665;

std::string rack_model(const std::string& more) {
    return R"(
limber: 1
gravity: [0, 0, -9.80665]
bodies:
  pinion: {mass: 1, inertia: [0.1, 0.1, 0.04], turn: [0, 1, 0, 90 deg]}
  rack: {mass: 1, inertia: [0.1, 0.1, 0.04], at: [0, 0.1, 0]}
joints:
  hinge: {revolute: [ground, pinion], at: [0, 0, 0], axis: [1, 0, 0]}
  rail: {prismatic: [ground, rack], at: [0, -0.1, 0], axis: [0, 0, 1]}
  mesh: {rack-and-pinion: [hinge.angle, rail.displacement], radius: 0.1)" +
           more + R"(}
sensors: {hinge: {reaction: hinge}, rail: {reaction: rail}, mesh: {reaction: mesh}, speed: {velocity: rack}, w: {rate: hinge.angle}}
)";
}

// The rack falls with a = g / (1 + I / (m r^2)) = g / 5 and hangs on the pinion's teeth with 4/5 of its weight.
TEST_P(Gears, APinionCarriesItsRack) {
    Simulation s = start(rack_model(""));
    const double tooth = 0.8 * g;
    for (const double t : {0.0, 0.3}) {
        ASSERT_TRUE(s.advance(t, 1e-3).ok);
        EXPECT_NEAR(sense(s, "mesh.fz"), tooth, tolerance());
        EXPECT_NEAR(sense(s, "mesh.fx"), 0, tolerance());
        EXPECT_NEAR(sense(s, "mesh.fy"), 0, tolerance());
        EXPECT_NEAR(sense(s, "hinge.fz"), g + tooth, tolerance());
        EXPECT_NEAR(sense(s, "hinge.fy"), 0, tolerance());
        EXPECT_NEAR(sense(s, "rail.fx"), 0, tolerance());
        EXPECT_NEAR(sense(s, "rail.fy"), 0, tolerance());
        // The ground carries both weights less what falls.
        EXPECT_NEAR(sense(s, "hinge.fz") + sense(s, "rail.fz"), 2 * g - g / 5, tolerance());
        // The rack falls along its teeth, which do no work: v = r w.
        EXPECT_NEAR(sense(s, "speed.z"), -g / 5 * t, tolerance());
        EXPECT_NEAR(sense(s, "speed.z"), 0.1 * sense(s, "w"), tolerance());
    }
}

TEST_P(Gears, PressurePushesRackAndPinionApart) {
    Simulation s = start(rack_model(", pressure-angle: 20 deg, at: [0.05, 7, 3]"));
    const double tooth = 0.8 * g;
    const double apart = tooth * std::tan(20 * pi / 180);
    EXPECT_NEAR(sense(s, "mesh.fz"), tooth, tolerance());
    EXPECT_NEAR(sense(s, "mesh.fy"), apart, tolerance()) << "the rack lies at +y of the pinion";
    EXPECT_NEAR(sense(s, "hinge.fz"), g + tooth, tolerance());
    EXPECT_NEAR(sense(s, "hinge.fy"), apart, tolerance());
    EXPECT_NEAR(sense(s, "rail.fy"), -apart, tolerance());
    // The teeth meet at (0.05, 0.1, 0), the rack's centre is at (0, 0.1, 0): the rail holds their moment. Its force
    // acts at y = -0.1, z = 0.
    EXPECT_NEAR(sense(s, "rail.ty"), 0.05 * tooth, tolerance());
    EXPECT_NEAR(sense(s, "rail.tz"), -0.05 * apart, tolerance());
}

// Two spur gears of radii 0.2 and 0.1 (or a pinion in a ring), a torque on the first. F = I2 a2 / r2 at the pitch
// point.
std::string spur_model(double distance, double ratio, double torque, const std::string& more) {
    return fmt::format(R"(
limber: 1
plane: xy
gravity: [0, -9.80665]
bodies:
  a: {{mass: 2, inertia: 0.04}}
  b: {{mass: 1, inertia: 0.3, at: [{}, 0]}}
joints:
  one: {{revolute: [ground, a], at: [0, 0]}}
  two: {{revolute: [ground, b], at: [{}, 0]}}
  mesh: {{gear: [one.angle, two.angle], ratio: {}{}}}
forces: {{drive: {{motor: one.angle, law: {}}}}}
sensors: {{one: {{reaction: one}}, two: {{reaction: two}}, mesh: {{reaction: mesh}}, turned: {{reaction: mesh, axes: b}}, angle: {{coordinate: two.angle}}}}
)",
                       distance, distance, ratio, more, torque);
}

TEST_P(Gears, SpurGearsLoadTheirBearings) {
    for (const double torque : {5.0, -5.0}) {
        for (const bool is_ring : {false, true}) {
            const double r1 = 0.2;
            const double r2 = is_ring ? 0.5 : 0.1;
            const double ratio = is_ring ? r1 / r2 : -r1 / r2;
            Simulation s = start(spur_model(is_ring ? r1 - r2 : r1 + r2, ratio, torque, ", pressure-angle: 20 deg"));
            // They meet at (0.2, 0), where the driven wheel is pushed along +y by a positive torque.
            const double tooth = 0.3 * (r1 / r2) * torque / (0.04 + 0.3 * (r1 / r2) * (r1 / r2)) / r2;
            const double apart = std::abs(tooth) * std::tan(20 * pi / 180);
            ASSERT_TRUE(s.advance(0.1, 1e-3).ok);
            EXPECT_NEAR(sense(s, "mesh.fy"), tooth, tolerance());
            EXPECT_NEAR(sense(s, "mesh.fx"), apart, tolerance()) << torque << is_ring;
            EXPECT_NEAR(sense(s, "mesh.tz"), 0, tolerance());
            EXPECT_NEAR(sense(s, "one.fx"), apart, tolerance());
            EXPECT_NEAR(sense(s, "one.fy"), 2 * g + tooth, tolerance());
            EXPECT_NEAR(sense(s, "two.fx"), -apart, tolerance());
            EXPECT_NEAR(sense(s, "two.fy"), g - tooth, tolerance());
            // The same force in the axes of the second wheel.
            const double c = std::cos(sense(s, "angle"));
            const double d = std::sin(sense(s, "angle"));
            EXPECT_NEAR(sense(s, "turned.fx"), c * apart + d * tooth, tolerance());
            EXPECT_NEAR(sense(s, "turned.fy"), -d * apart + c * tooth, tolerance());
        }
    }
}

// Bevel gears on axes x and z, of radii 0.1 and 0.2 where they meet at (0.2, 0, 0.1): half angles of their cones d1, d2
// with tan d1 = 1/2. The driving torque on the first pushes the second along -y; apart, the first is pushed to its axis
// by F tan(a) cos(d1) and along it, away from the apex, by F tan(a) sin(d1).
TEST_P(Gears, BevelGearsPushAlongTheirAxesToo) {
    for (const double angle : {0.0, 20.0}) {
        Simulation s = start(fmt::format(R"(
limber: 1
gravity: none
bodies:
  a: {{mass: 1, inertia: [0.02, 0.03, 0.03]}}
  b: {{mass: 1, inertia: [0.05, 0.05, 0.08]}}
joints:
  one: {{revolute: [ground, a], at: [0, 0, 0], axis: [1, 0, 0]}}
  two: {{revolute: [ground, b], at: [0, 0, 0], axis: [0, 0, 1]}}
  mesh: {{gear: [one.angle, two.angle], ratio: -0.5, at: [0.2, 0, 0.1], pressure-angle: {} deg}}
forces: {{drive: {{motor: one.angle, law: 3}}}}
sensors: {{one: {{reaction: one}}, two: {{reaction: two}}, mesh: {{reaction: mesh}}}}
)",
                                         angle));
        const double tooth = 0.08 * 0.5 * 3 / (0.02 + 0.08 * 0.25) / 0.2;
        const double apart = tooth * std::tan(angle * pi / 180);
        const double c = 2 / std::sqrt(5.0);
        const double d = 1 / std::sqrt(5.0);
        EXPECT_NEAR(sense(s, "mesh.fx"), -d * apart, tolerance());
        EXPECT_NEAR(sense(s, "mesh.fy"), -tooth, tolerance());
        EXPECT_NEAR(sense(s, "mesh.fz"), c * apart, tolerance());
        EXPECT_NEAR(sense(s, "one.fx"), -d * apart, tolerance());
        EXPECT_NEAR(sense(s, "one.fy"), -tooth, tolerance());
        EXPECT_NEAR(sense(s, "one.fz"), c * apart, tolerance());
        EXPECT_NEAR(sense(s, "two.fx"), d * apart, tolerance());
        EXPECT_NEAR(sense(s, "two.fz"), -c * apart, tolerance());
        // Moments about the apex of (0.2, 0, 0.1) x F that the axes do not let turn.
        EXPECT_NEAR(sense(s, "two.tx"), -0.1 * tooth, tolerance());
        EXPECT_NEAR(sense(s, "two.ty"), 0.1 * d * apart + 0.2 * c * apart, tolerance());
    }
}

// A planet on an arm around a sun that is the ground. The arm turns with a = M / (I_arm + m R^2 + I (1 + s/r)^2); the
// sun's teeth turn the planet.
TEST_P(Gears, APlanetRollsAroundItsSun) {
    Simulation s = start(R"(
limber: 1
plane: xy
gravity: none
bodies:
  arm: {mass: 1, inertia: 0.02}
  planet: {mass: 0.5, inertia: 0.003, at: [0.4, 0]}
joints:
  pivot: {revolute: [ground, arm], at: [0, 0]}
  pin: {revolute: [arm, planet], at: [0.4, 0]}
  mesh: {gear: [pivot.angle, pin.angle], ratio: 3}
forces: {drive: {motor: pivot.angle, law: 0.7}}
sensors: {pivot: {reaction: pivot}, pin: {reaction: pin, axes: arm}, mesh: {reaction: mesh, axes: arm}, turn: {coordinate: pivot.angle}, ground: {reaction: mesh}}
)");
    const double a = 0.7 / (0.02 + 0.5 * 0.16 + 0.003 * 16);
    const double tooth = 0.003 * 4 * a / 0.1;
    for (const double t : {0.0, 0.4}) {
        ASSERT_TRUE(s.advance(t, 1e-3).ok);
        const double w = a * t;
        EXPECT_NEAR(sense(s, "turn"), 0.5 * a * t * t, tolerance());
        EXPECT_NEAR(sense(s, "mesh.fx"), 0, tolerance());
        EXPECT_NEAR(sense(s, "mesh.fy"), -tooth, tolerance());
        EXPECT_NEAR(sense(s, "pin.fx"), -0.5 * 0.4 * w * w, tolerance());
        EXPECT_NEAR(sense(s, "pin.fy"), 0.5 * 0.4 * a + tooth, tolerance());
        // All that the ground exerts, on the arm and through the sun's teeth, is the planet's mass times its
        // acceleration.
        const double c = std::cos(sense(s, "turn"));
        const double d = std::sin(sense(s, "turn"));
        EXPECT_NEAR(sense(s, "pivot.fx") + sense(s, "ground.fx"), 0.5 * 0.4 * (-w * w * c - a * d), tolerance());
        EXPECT_NEAR(sense(s, "pivot.fy") + sense(s, "ground.fy"), 0.5 * 0.4 * (-w * w * d + a * c), tolerance());
    }
}

INSTANTIATE_TEST_SUITE_P(All, Gears, ::testing::ValuesIn(formulations_in_coordinates()), [](const auto& info) {
    return test_name(std::get<0>(info.param) + "_" + std::get<1>(info.param));
});

// Friction in a bearing feels the tooth force: a wheel driven by a steady torque over a second one that is braked.
TEST(GearFriction, BearingsRubUnderTheToothForce) {
    Simulation s(read(R"(
limber: 1
plane: xy
gravity: none
bodies:
  a: {mass: 1, inertia: 0.01}
  b: {mass: 1, inertia: 0.01, at: [0.2, 0]}
joints:
  one: {revolute: [ground, a], at: [0, 0]}
  two: {revolute: [ground, b], at: [0.2, 0]}
  mesh: {gear: [one.angle, two.angle], ratio: -1}
initial: {rates: {one.angle: 1}}
forces:
  drive: {motor: one.angle, law: 2}
  load: {motor: two.angle, law: 2}
  dry: {friction: two.angle, coefficient: 0.1, radius: 0.05}
sensors: {turn: {acceleration: one.angle}, mesh: {reaction: mesh}}
)"),
                 options("augmented-lagrangian", "rk4"));
    // Wheel one: 0.01 x = 2 - 0.1 F. Wheel two turns the other way: 0.01 x = 0.1 F - 2 - mu r F.
    const double tooth = 4 / (0.2 - 0.1 * 0.05);
    ASSERT_TRUE(s.advance(0.05, 1e-3).ok);
    EXPECT_NEAR(sense(s, "mesh.fy"), tooth, 1e-6);
    EXPECT_NEAR(sense(s, "turn"), (2 - 0.1 * tooth) / 0.01, 1e-4);
}

TEST(GearMeshes, ThatCannotBeToldActByTorques) {
    const auto gears = [](const std::string& second, const std::string& more) {
        return read(R"(
limber: 1
bodies:
  a: {mass: 1, inertia: [1, 1, 1]}
  b: {mass: 1, inertia: [1, 1, 1], at: [0.3, 0, 0]}
joints:
  one: {revolute: [ground, a], at: [0, 0, 0], axis: [0, 0, 1]}
  two: {revolute: [ground, b], )" +
                    second + R"(}
  mesh: {gear: [one.angle, two.angle], ratio: -2)" +
                    more + R"(}
sensors: {mesh: {reaction: mesh}}
)");
    };
    Simulation coaxial(gears("at: [0, 0, 1], axis: [0, 0, 1]", ""));
    ASSERT_EQ(coaxial.observer().columns(), std::vector<std::string>{"mesh"});
    EXPECT_TRUE(coaxial.notes().empty()) << "a gearbox";
    Simulation bevel(gears("at: [0, 0, 0], axis: [1, 0, 0]", ""));
    ASSERT_EQ(bevel.notes().size(), 1U);
    EXPECT_EQ(bevel.notes()[0],
              "joint 'mesh' acts by torques alone, and the reactions of its bearings have no tooth force: of bevel "
              "gears the place where the "
              "teeth meet must be given ('at')");
    EXPECT_EQ(Simulation(gears("at: [0, 0, 0], axis: [1, 0, 0]", ", at: [2, 0, 1]")).observer().columns().size(), 6U);
    EXPECT_THROW(Simulation(gears("at: [0, 0, 1], axis: [0, 0, 1]", ", pressure-angle: 20 deg")), ModelError);
    EXPECT_THROW(Simulation(gears("at: [0.3, 0.2, 1], axis: [1, 0, 0]", ", at: [0, 0, 0]")), ModelError) << "skew axes";
    EXPECT_THROW(Simulation(gears("at: [0.3, 0, 0], axis: [0, 0, 1]", ", pressure-angle: 20")), ModelError)
        << "radians";
    EXPECT_TRUE(Simulation(gears("at: [0.3, 0, 0], axis: [0, 0, 1]", "")).notes().empty());
}

}  // namespace
}  // namespace limber::testing
