// A model made in code is the model of a file: the same text, the same motion to the bit, the same defaults.

#include <gtest/gtest.h>

#include <cmath>

#include "limber/limber.hpp"
#include "support/models.hpp"

namespace limber::testing {
namespace {

const char* const double_pendulum = R"(
limber: 1
plane: xy
bodies:
  upper: {rod: {from: [0, 0], to: [1, 0], mass: 1}}
  lower: {rod: {from: [1, 0], to: [2, 0], mass: 1}}
joints:
  shoulder: {revolute: [ground, upper.from]}
  elbow: {revolute: [upper.to, lower.from]}
sensors:
  tip: {position: lower.to}
)";

Model make_double_pendulum() {
    Model model = Model::in_plane();
    model.add(Rod{.name = "upper", .from = {0, 0}, .to = {1, 0}, .mass = 1});
    model.add(Rod{.name = "lower", .from = {1, 0}, .to = {2, 0}, .mass = 1});
    model.add(Revolute{.name = "shoulder", .between = {model.marker("ground"), model.marker("upper.from")}});
    model.add(Revolute{.name = "elbow", .between = {model.marker("upper.to"), model.marker("lower.from")}});
    model.add(Position{.name = "tip", .marker = model.marker("lower.to")});
    return model;
}

TEST(ModelInCode, IsTheModelOfAFile) {
    const Model from_file = read(double_pendulum);
    EXPECT_EQ(write_model_text(make_double_pendulum()), write_model_text(from_file));
    Simulation in_code(make_double_pendulum());
    Simulation of_file(from_file);
    const RunResult one = run_until(in_code, 0.5);
    const RunResult other = run_until(of_file, 0.5);
    EXPECT_EQ(one.table.columns, other.table.columns);
    EXPECT_EQ(one.table.values, other.table.values);
}

// Against the equations of motion of the double pendulum in its two angles, written here: nothing of the engine is in
// it.
TEST(ModelInCode, MovesAsTheEquationsOfTheDoublePendulumSay) {
    struct Angles {
        double a, b, da, db;
    };
    // Two thin rods of 1 kg and 1 m, angles from the horizontal, anticlockwise.
    const auto rates = [](const Angles& s) {
        constexpr double g = 9.81;
        const double c = std::cos(s.a - s.b);
        const double d = std::sin(s.a - s.b);
        const double m11 = 4.0 / 3;
        const double m12 = c / 2;
        const double m22 = 1.0 / 3;
        const double f1 = -d / 2 * s.db * s.db - 1.5 * g * std::cos(s.a);
        const double f2 = d / 2 * s.da * s.da - 0.5 * g * std::cos(s.b);
        const double det = m11 * m22 - m12 * m12;
        return Angles{s.da, s.db, (m22 * f1 - m12 * f2) / det, (m11 * f2 - m12 * f1) / det};
    };
    const auto moved = [](const Angles& s, const Angles& r, double h) {
        return Angles{s.a + h * r.a, s.b + h * r.b, s.da + h * r.da, s.db + h * r.db};
    };
    Angles s{0, 0, 0, 0};
    const double h = 1e-4;
    for (int i = 0; i < 10000; ++i) {
        const Angles k1 = rates(s);
        const Angles k2 = rates(moved(s, k1, h / 2));
        const Angles k3 = rates(moved(s, k2, h / 2));
        const Angles k4 = rates(moved(s, k3, h));
        s = moved(moved(moved(moved(s, k1, h / 6), k2, h / 3), k3, h / 3), k4, h / 6);
    }
    SimulationOptions options;
    options.integrator = "rk4";
    Simulation simulation(make_double_pendulum(), options);
    ASSERT_TRUE(simulation.advance(1, 1e-3).ok);
    EXPECT_NEAR(simulation.value("tip.x"), std::cos(s.a) + std::cos(s.b), 1e-8);
    EXPECT_NEAR(simulation.value("tip.y"), std::sin(s.a) + std::sin(s.b), 1e-8);
}

TEST(ModelInCode, PlacesJointsAsAFileDoes) {
    Model model;
    model.add(Box{.name = "a", .size = {0.4, 0.2, 0.1}, .mass = 2, .at = {1, 0, 0}});
    model.add(RigidBody{.name = "b", .mass = 3, .centre = {0.1, 0, 0}, .inertia = {0.1, 0.2, 0.25}, .at = {2, 0, 0}});
    model.add(Revolute{.name = "hinge", .between = {model.marker("ground"), model.marker("a")}},
              {.at = Number3{0.5, 0, 0}, .axis = Number3{0, 1, 0}});
    model.add(Universal{.name = "cross", .between = {model.marker("a"), model.marker("b")}},
              {.at_marker = model.marker("b"), .axis = Number3{1, 0, 0}, .x = Number3{0, 0, 1}});
    model.add(TorsionSpring{.name = "s", .coordinate = {"hinge.angle"}, .law = {.stiffness = 5}});
    model.add(Cable{.name = "rope", .between = {model.marker("ground"), model.marker("b")}, .length = 2.5});
    const Model from_file = read(R"(
limber: 1
bodies:
  a: {box: {size: [0.4, 0.2, 0.1], mass: 2}, at: [1, 0, 0]}
  b: {mass: 3, com: [0.1, 0, 0], inertia: [0.1, 0.2, 0.25], at: [2, 0, 0]}
joints:
  hinge: {revolute: [ground, a], at: [0.5, 0, 0], axis: [0, 1, 0]}
  cross: {universal: [a, b], at: b, axis: [1, 0, 0], x: [0, 0, 1]}
forces:
  s: {torsion-spring: hinge.angle, stiffness: 5}
stops:
  rope: {cable: [ground, b], length: 2.5}
)");
    EXPECT_EQ(write_model_text(model), write_model_text(from_file));
    Simulation in_code(model);
    Simulation of_file(from_file);
    ASSERT_TRUE(in_code.advance(0.2, 1e-3).ok);
    ASSERT_TRUE(of_file.advance(0.2, 1e-3).ok);
    EXPECT_EQ(in_code.state().q, of_file.state().q);
    EXPECT_EQ(in_code.state().v, of_file.state().v);
}

TEST(ModelInCode, SaysWhatIsWrong) {
    Model model = make_double_pendulum();
    EXPECT_THROW(model.add(Revolute{.name = "shoulder"}), ModelError) << "a name twice";
    EXPECT_THROW(model.add(Gear{.name = "g"}, {.at = Number3{0, 0, 0}}), ModelError) << "a gear has no place";
    EXPECT_THROW(model.add(Revolute{.name = "r", .between = {model.marker("ground"), model.marker("lower")}},
                           {.x = Number3{1, 0, 0}}),
                 ModelError);
    EXPECT_THROW(Simulation([&] {
                     Model other = make_double_pendulum();
                     other.add(Limit{.name = "l", .coordinate = {"elbow.angle"}});
                     return other;
                 }()),
                 ModelError)
        << "a limit without an end";
    Simulation simulation(model);
    try {
        simulation.value("tip.z");
        ADD_FAILURE();
    } catch (const ModelError& error) {
        EXPECT_NE(std::string(error.what()).find("did you mean 'tip."), std::string::npos) << error.what();
    }
    EXPECT_THROW(simulation.body_frame("middle"), ModelError);
    EXPECT_THROW(run_until(simulation, 0.1).table.column("tip"), ModelError);
}

TEST(ModelInCode, ShowsNoWorkThatNobodyCounts) {
    Model model = make_double_pendulum();
    model.add(EnergySensor{.name = "w", .kind = EnergyKind::work});
    Simulation simulation(model);
    EXPECT_TRUE(std::isnan(simulation.value("w")));
    EXPECT_EQ(run_until(simulation, 0.01).table.column("w").size(), 11U);
}

}  // namespace
}  // namespace limber::testing
