// Parameters found before the motion begins, against what statics and Newton's law say by hand.

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "limber/io/model_writer.hpp"
#include "limber/model/evaluation.hpp"
#include "limber/simulation/session.hpp"
#include "limber/simulation/start_conditions.hpp"
#include "support/models.hpp"

namespace limber::testing {
namespace {

// What the error says; empty: there is none.
std::string why_conditions_fail(const std::function<void()>& act) {
    try {
        act();
    } catch (const ModelError& error) {
        return error.what();
    }
    return "";
}

double found_value(const Model& model, const std::string& name) {
    return ModelEvaluation(model).number(Number(name), "parameter");
}

// Moments about the rear spring: 2 F = 1962 + 500 * 1.4.
TEST(StartConditions, FindSpringsForARideHeight) {
    Simulation s(example("ride-height.yaml"));
    EXPECT_NEAR(found_value(s.model(), "front"), 1331 / 0.1, 1e-3);
    EXPECT_NEAR(found_value(s.model(), "rear_length"), 0.4 + 1131.0 / 15000, 1e-8);
    ASSERT_TRUE(s.advance(1, 1e-3).ok);  // it starts there, and stays
    EXPECT_NEAR(sense(s, "front.y"), 0.4, 1e-7);
    EXPECT_NEAR(sense(s, "rear.y"), 0.4, 1e-7);
}

// A rod held out by a torque: m g l / 2 cos(angle), in the plane and in space.
TEST(StartConditions, FindAForceThatBalancesTheStart) {
    for (const char* space : {"plane: xy\n", "gravity: [0, -9.81, 0]\n"}) {
        const bool planar = std::string(space).starts_with("plane");
        const Model model = read(std::string("limber: 1\n") + space + R"(
parameters: {hold: 1}
bodies: {rod: {rod: {from: )" + (planar ? "[0, 0], to: [0.6, 0.8]" : "[0, 0, 0], to: [0.6, 0.8, 0], radius: 0.01") +
                                 R"(, mass: 3}}}
joints: {pin: {revolute: [ground, rod]}}
forces: {motor: {motor: pin.angle, law: hold + 0*x}}
sensors: {tipping: {acceleration: pin.angle}}
solve: {hold: {sensor: tipping, equals: 0}}
)");
        for (const char* formulation : {"global", "semi-recursive", "articulated-body"}) {
            Simulation s(model,
                         options(formulation, formulation == std::string("articulated-body") ? "rk4" : "trapezoidal"));
            EXPECT_NEAR(found_value(s.model(), "hold"), 3 * 9.81 * 0.3, 1e-6) << formulation << space;
            EXPECT_LT(std::abs(sense(s, "tipping")), 1e-6);
        }
    }
}

const char* const hanging = R"(
limber: 1
plane: xy
parameters: {k: 40, wanted: 0.35}
bodies:
  ground: {markers: {top: [0, 1]}}
  load: {mass: 2, inertia: [1], at: [0, 0.5]}
joints: {guide: {prismatic: [ground, load], at: [0, 0.5], axis: [0, -1]}}
forces: {spring: {spring: [ground.top, load], stiffness: k, free-length: 0.3}}
sensors:
  height: {position: load}
  stretch: {expression: 1 - height.y}
  aside: {expression: height.x}
)";

// k (0.65 - 0.3) = 2 g, found again wherever the search begins, and left alone once found.
TEST(StartConditions, AreAFixedPoint) {
    const std::string text = std::string(hanging) + "solve: {k: {sensor: height.y, equals: wanted, at: equilibrium}}\n";
    for (const double guess : {20.0, 40.0, 300.0}) {
        Model model = read(text);
        model.parameters.set("k", Number(guess));
        const Model found = solve_start_conditions(model, simulation_options_of(model));
        EXPECT_NEAR(found_value(found, "k"), 2 * 9.81 / 0.35, 1e-6) << guess;
        const Model again = solve_start_conditions(found, simulation_options_of(found));
        EXPECT_EQ(found_value(again, "k"), found_value(found, "k"));
        // As a file it finds the same again.
        const Model written = read(write_model_text(found));
        EXPECT_EQ(written.simulation.conditions, found.simulation.conditions);
        EXPECT_EQ(found_value(written, "k"), found_value(found, "k"));
    }
    // The motion itself begins where it is written.
    Simulation s(read(text));
    EXPECT_NEAR(sense(s, "height.y"), 0.5, 1e-9);
}

// An expression that rests on the parameter may be asked for, and a value that depends on it.
TEST(StartConditions, MayAskForExpressions) {
    const Model model =
        read(std::string(hanging) + "solve: {k: {sensor: stretch, equals: 0.3 + 0.01*k, at: equilibrium}}\n");
    // k * 0.01 k = 2 g
    EXPECT_NEAR(found_value(solve_start_conditions(model, simulation_options_of(model)), "k"), std::sqrt(1962.0), 1e-5);
}

TEST(StartConditions, SayWhatIsWrong) {
    const auto message = [](const std::string& section) {
        return why_conditions_fail([&] { Simulation s(read(hanging + section)); });
    };
    EXPECT_NE(message("solve: {kk: {sensor: height.y, equals: 1}}\n").find("there is no parameter 'kk'"),
              std::string::npos);
    EXPECT_NE(message("solve: {k: {sensor: hight.y, equals: 1}}\n").find("there is no sensor 'hight.y'"),
              std::string::npos);
    EXPECT_NE(message("solve: {k: {sensor: height.y}}\n").find("'equals' is missing"), std::string::npos);
    EXPECT_NE(message("solve: {k: {sensor: height, equals: 1}}\n").find("there is no sensor column 'height'"),
              std::string::npos);
    // Where it starts the spring does not move it.
    EXPECT_NE(message("solve: {k: {sensor: height.y, equals: 0.4}}\n").find("solve 'k': the parameter has no effect"),
              std::string::npos);
    // Nothing hangs above its free length.
    EXPECT_NE(message("solve: {k: {sensor: height.y, equals: 0.8, at: equilibrium}}\n").find("solve 'k': no value"),
              std::string::npos);
}

// An edit leaves the value that was found.
TEST(StartConditions, AreNotMetAgainByEdits) {
    Session session(read(std::string(hanging) + "solve: {k: {sensor: height.y, equals: wanted, at: equilibrium}}\n"),
                    options("global", "trapezoidal"));
    session.apply("set gravity [0, -5]");
    EXPECT_NEAR(found_value(session.model(), "k"), 2 * 9.81 / 0.35, 1e-6);
}

}  // namespace
}  // namespace limber::testing
