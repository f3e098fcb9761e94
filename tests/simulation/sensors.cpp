// Sensors: derivatives against differences, relative motion, expressions, turns counted.

#include <gtest/gtest.h>

#include <cmath>

#include "limber/model/error.hpp"
#include "support/models.hpp"

namespace limber::testing {
namespace {

TEST(Sensors, TheViewShowsWhatSensorsMeasure) {
    const Model model = read(R"(
limber: 1
bodies:
  a: {box: {size: [0.6, 0.1, 0.05], mass: 1}, at: [0.3, 0, 0]}
  b: {box: {size: [0.05, 0.5, 0.1], mass: 0.8}, at: [0.6, 0.25, 0]}
joints:
  one: {revolute: [ground, a], at: [0, 0, 0], axis: [0, 1, 0]}
  two: {universal: [a, b], at: [0.6, 0, 0]}
forces:
  k: {spring: [ground, b], stiffness: 30, damping: 1}
sensors:
  p: {position: b}
  v: {velocity: b.com}
  r: {reaction: two}
  f: {force: k}
)");
    Simulation s(model, options("augmented-lagrangian", "rk4"));
    ASSERT_TRUE(s.advance(0.3, 1e-3).ok);
    const auto values = sense_all(s);
    MotionView view;
    s.observer().compute_view(s.state(), true, view);
    ASSERT_EQ(view.joints.size(), 2U);
    for (int k = 0; k < 3; ++k) {
        EXPECT_NEAR(view.poses[1].position[k], values[k], 1e-12);
        EXPECT_NEAR(view.velocities[1][k], values[3 + k], 1e-12);
        EXPECT_NEAR(view.joints[1].force[k], values[6 + k], 1e-9);
        EXPECT_NEAR(view.joints[1].torque[k], values[9 + k], 1e-9);
    }
    EXPECT_NEAR(view.forces[0], values[12], 1e-12);
    EXPECT_GT(view.joints[1].force.norm(), 1);
    s.observer().compute_view(s.state(), false, view);
    EXPECT_TRUE(view.joints.empty());
}

TEST(Sensors, VelocityAndAccelerationAreDerivatives) {
    const Model model = read(R"(
limber: 1
bodies:
  a: {box: {size: [0.6, 0.1, 0.05], mass: 1}, at: [0.3, 0, 0], markers: {m: {at: [0.1, 0.2, 0.1], xyz: [0.3, 0.2, 0.1]}}}
  b: {box: {size: [0.05, 0.5, 0.1], mass: 0.8}, at: [0.6, 0.25, 0], markers: {m: [0.1, 0.2, -0.1]}}
joints:
  one: {revolute: [ground, a], at: [0, 0, 0], axis: [0, 1, 0]}
  two: {universal: [a, b], at: [0.6, 0, 0]}
initial: {rates: {one.angle: 2, two.angle1: 3}}
sensors:
  p: {position: b.m}
  v: {velocity: b.m}
  a: {acceleration: b.m}
  rp: {position: b.m, relative-to: a.m}
  rv: {velocity: b.m, relative-to: a.m}
  ra: {acceleration: b.m, relative-to: a.m}
  w: {angular-velocity: b}
  wa: {angular-acceleration: b}
  c: {coordinate: two.angle1}
  cr: {rate: two.angle1}
  ca: {acceleration: two.angle1}
)");
    Simulation s(model, options("augmented-lagrangian", "rk4"));
    ASSERT_TRUE(s.advance(0.3, 1e-4).ok);
    constexpr double h = 1e-4;
    const auto before = sense_all(s);
    ASSERT_TRUE(s.step(h).ok);
    const auto& columns = s.observer().columns();
    const auto now = sense_all(s);
    ASSERT_TRUE(s.step(h).ok);
    const auto after = sense_all(s);
    const auto index = [&](const std::string& name) {
        return static_cast<std::size_t>(std::find(columns.begin(), columns.end(), name) - columns.begin());
    };
    const auto check = [&](const std::string& value, const std::string& rate) {
        const std::size_t i = index(value);
        EXPECT_NEAR((after[i] - before[i]) / (2 * h), now[index(rate)], 1e-5 * (1 + std::abs(now[index(rate)])))
            << rate;
    };
    for (const char* k : {".x", ".y", ".z"}) {
        check("p" + std::string(k), "v" + std::string(k));
        check("v" + std::string(k), "a" + std::string(k));
        check("rp" + std::string(k), "rv" + std::string(k));
        check("rv" + std::string(k), "ra" + std::string(k));
        check("w" + std::string(k), "wa" + std::string(k));
    }
    check("c", "cr");
    check("cr", "ca");
}

TEST(Sensors, AnglesCountTheirTurns) {
    for (const std::string coordinates : {"natural", "reference-point", "relative"}) {
        Simulation s(read(R"(
limber: 1
plane: xy
gravity: none
bodies: {wheel: {disc: {radius: 1, mass: 1}, angular-velocity: 10}}
joints: {axle: {revolute: [ground, wheel]}}
sensors: {turn: {coordinate: axle.angle}}
)"),
                     options("global", "trapezoidal", coordinates));
        ASSERT_TRUE(s.advance(10, 1e-3).ok);
        EXPECT_NEAR(sense(s, "turn"), 100, 1e-2);
        EXPECT_GT(sense(s, "turn"), 6 * pi);
    }
}

TEST(Sensors, ScrewAdvancesWithEveryTurn) {
    Simulation s(example("joints/helical.yaml"), options("augmented-lagrangian", "rk4"));
    ASSERT_TRUE(s.advance(3, 5e-4).ok);
    EXPECT_LT(sense(s, "turn"), -60) << "many turns";
    EXPECT_NEAR(sense(s, "drop"), 0.2 * sense(s, "turn") / (2 * pi), 1e-10);
    // J w' = -m g p / 2 pi - (p / 2 pi)^2 m w'  ->  turn = -1/2 alpha t^2
    const double lead = 0.2 / (2 * pi);
    const double alpha = 3 * 9.81 * lead / (0.5 * 3 * 0.04 + 3 * lead * lead);
    EXPECT_NEAR(sense(s, "turn"), -0.5 * alpha * 9, 5e-7);  // up to seven turns a second
}

TEST(Sensors, ExpressionsUseOtherSensorsInAnyOrder) {
    Simulation s(read(R"(
limber: 1
plane: xy
parameters: {k: 3}
bodies: {ball: {point: {mass: 2}, at: [1, 2]}}
sensors:
  last: {expression: first + 1}
  first: {expression: 'k*p.x + hypot(p.x, p.y) + t'}
  p: {position: ball}
  e: {energy: potential}
)"));
    EXPECT_DOUBLE_EQ(sense(s, "first"), 3 + std::sqrt(5.0));
    EXPECT_DOUBLE_EQ(sense(s, "last"), 4 + std::sqrt(5.0));
    EXPECT_DOUBLE_EQ(sense(s, "e"), 2 * 9.81 * 2);
}

TEST(Sensors, RefuseCircularExpressions) {
    const Model model = read(R"(
limber: 1
sensors:
  a: {expression: b}
  b: {expression: a}
)");
    EXPECT_THROW(Simulation simulation(model), ModelError);
}

TEST(Sensors, ErrorsAreThoseOfTheConstraints) {
    Simulation s(read(R"(
limber: 1
plane: xy
bodies: {bob: {rod: {from: [0, 0], to: [1, 0], mass: 1}}}
joints: {pivot: {revolute: [ground, bob.from]}}
sensors:
  position: {error: position}
  velocity: {error: velocity}
  acceleration: {error: acceleration}
)"),
                 options("baumgarte", "trapezoidal"));
    ASSERT_TRUE(s.advance(1, 1e-2).ok);
    const ConstraintErrors errors = s.observer().compute_errors(s.state());
    EXPECT_DOUBLE_EQ(sense(s, "position"), errors.position);
    EXPECT_DOUBLE_EQ(sense(s, "velocity"), errors.velocity);
    EXPECT_DOUBLE_EQ(sense(s, "acceleration"), errors.acceleration);
    EXPECT_GT(errors.position, 0) << "gains leave a trace";
}

// A particle on a string of length 1, a little too far out and moving: every term of eq. (15) by hand.
TEST(Sensors, RelativeErrorIsThatOfTheDefinition) {
    SimulationOptions o = options("baumgarte", "trapezoidal");
    o.coordinates = "reference-point";
    Simulation s(read(R"(
limber: 1
plane: xy
bodies: {bob: {mass: 2, inertia: 0.1, at: [1, 0]}}
joints: {string: {distance: [ground, bob]}}
sensors: {sigma: {error: relative}}
)"),
                 o);
    EXPECT_EQ(s.observer().compute_relative_error(s.state()), 0) << "no step, no gains";
    const double h = 1e-2;
    s.observer().follow_step(h);
    State state = s.state();
    const double gap = 1e-5;
    const double rate = 2e-3;
    const double speed = 3;
    state.q.head<2>() = Vec<2>(1 + gap, 0);
    state.v.head<2>() = Vec<2>(rate, speed);
    // The row is (r . r - L^2) / (2 L). Gravity pulls across the string, so only the motion remains: K lambda = -v . v
    // / L - e.
    const double error = 2 * 0.1 * 0.2 * pi / h * rate * (1 + gap) + std::pow(0.2 * pi / h, 2) * (gap + gap * gap / 2);
    const double expected = error / (speed * speed + rate * rate + error);
    EXPECT_NEAR(s.observer().compute_relative_error(state), expected, 1e-9 * expected);
    s.restore(state);
    EXPECT_DOUBLE_EQ(sense(s, "sigma"), s.observer().compute_relative_error(state));
}

TEST(Sensors, RelativeErrorFallsWithTheStep) {
    const auto largest = [](double h) {
        SimulationOptions with_gains = options("baumgarte", "trapezoidal");
        with_gains.formulation_options.stabilisation = Stabilisation::gains;
        Simulation s(example("double-pendulum.yaml"), with_gains);
        double result = 0;
        while (s.time() < 1) {
            EXPECT_TRUE(s.step(h).ok);
            result = std::max(result, s.observer().compute_relative_error(s.state()));
        }
        return result;
    };
    const double coarse = largest(1e-2);
    EXPECT_GT(coarse, 0);
    EXPECT_LT(largest(1e-3), 0.3 * coarse);
}

TEST(Simulation, IsDeterministic) {
    const auto run_once = [] {
        Simulation s(example("n-four-bar.yaml", {{"N", "5"}}), options("global", "trapezoidal"));
        EXPECT_TRUE(s.advance(2, 1e-3).ok);
        return s.state().q;
    };
    const VecX first = run_once();
    const VecX second = run_once();
    for (Eigen::Index i = 0; i < first.size(); ++i) EXPECT_EQ(first[i], second[i]);
}

TEST(Simulation, RunsModelsWithoutUnknowns) {
    // Everything fixed, or nothing there: legal, and boring.
    for (const char* yaml :
         {"{limber: 1}", "{limber: 1, plane: xy}",
          "{limber: 1, bodies: {a: {mass: 1, inertia: [1, 1, 1]}}, joints: {j: {fixed: [ground, a]}},"
          " sensors: {r: {reaction: j}}}"})
        for (const std::string& formulation : formulation_names())
            for (const std::string integrator : {"trapezoidal", "rk4", "reference"}) {
                Simulation s(read(yaml), options(formulation, integrator));
                EXPECT_TRUE(s.advance(0.1, 0.01).ok) << yaml << formulation << integrator;
            }
}

TEST(Simulation, RunsMasslessLinks) {
    // A point mass on a massless rod on a massless rod: the rods' own spin and swing have no inertia.
    for (const std::string& coordinates : all_coordinates())
        for (const std::string& formulation : formulation_names()) {
            if (!fits(formulation, coordinates)) continue;
            Simulation s(read(R"(
limber: 1
bodies:
  upper: {rod: {from: [0, 0, 0], to: [1, 0, 0]}}
  lower: {rod: {from: [1, 0, 0], to: [2, 0, 0]}}
  bob: {point: {mass: 1}, at: [2, 0, 0]}
joints:
  pivot: {revolute: [ground, upper.from], axis: [0, 1, 0]}
  elbow: {fixed: [upper.to, lower.from]}
  grip: {spherical: [lower.to, bob]}
sensors: {bob: {position: bob}}
)"),
                         options(formulation, find_formulation(formulation).is_step_solver() ? "trapezoidal" : "rk4",
                                 coordinates));
            ASSERT_TRUE(s.advance(1, 1e-3).ok) << formulation << " " << coordinates;
            // A pendulum of length 2 from the horizontal: energy gives the speed, the rod keeps the distance.
            EXPECT_NEAR(std::hypot(sense(s, "bob.x"), sense(s, "bob.z")), 2, 1e-6) << formulation << " " << coordinates;
            EXPECT_NEAR(sense(s, "bob.y"), 0, 1e-6);
            const Energies e = s.observer().compute_energies(s.state());
            EXPECT_NEAR(e.kinetic + e.potential, 0, 1e-3) << formulation << " " << coordinates;
        }
}

// A wheel of radius 0.5 on an arm, both turned by drivers: everything in closed form.
TEST(Sensors, ComponentsAlongTheAxesOfAMarker) {
    Simulation s(read(R"(
limber: 1
gravity: none
bodies:
  arm: {mass: 1, inertia: [1, 1, 1]}
  wheel: {mass: 1, inertia: [1, 1, 1], at: [1, 0, 0], markers: {rim: [0.5, 0, 0]}}
joints:
  pivot: {revolute: [ground, arm], at: [0, 0, 0], axis: [0, 0, 1]}
  axle: {revolute: [arm, wheel], at: [1, 0, 0], axis: [1, 0, 0]}
drivers:
  turn: {coordinate: pivot.angle, follows: 0.3*t + 0.5*t^2}
  spin: {coordinate: axle.angle, follows: 2*t}
sensors:
  p: {position: wheel.rim, axes: arm}
  v: {velocity: wheel.rim, axes: arm}
  a: {acceleration: wheel.rim, axes: wheel}
  w: {angular-velocity: wheel, axes: arm}
  alpha: {angular-acceleration: wheel, axes: arm}
  seen: {angular-acceleration: wheel, relative-to: arm}
  r: {reaction: axle, axes: arm}
  back: {position: arm, relative-to: wheel, axes: arm}
)"));
    ASSERT_TRUE(s.advance(0.7, 1e-3).ok);
    const double w = 0.3 + 0.7;
    const auto expect = [&](const std::string& name, double x, double y, double z) {
        EXPECT_NEAR(sense(s, name + ".x"), x, 1e-7) << name;
        EXPECT_NEAR(sense(s, name + ".y"), y, 1e-7) << name;
        EXPECT_NEAR(sense(s, name + ".z"), z, 1e-7) << name;
    };
    expect("p", 1.5, 0, 0);
    expect("v", 0, 1.5 * w, 0);
    // (-w^2, w', 0) times 1.5 in the arm, which the wheel sees turned by 2 t about x.
    expect("a", -1.5 * w * w, 1.5 * std::cos(1.4), -1.5 * std::sin(1.4));
    expect("w", 2, 0, w);
    expect("alpha", 0, 2 * w, 1);
    expect("seen", 0, 0, 0);
    expect("back", -1, 0, 0);
    EXPECT_NEAR(sense(s, "r.fx"), -w * w, 1e-6);
    EXPECT_NEAR(sense(s, "r.fy"), 1, 1e-6);
}

TEST(Sensors, RefuseWhatSaysNothing) {
    const auto refusal = [](const std::string& sensor) {
        try {
            Simulation s(read(R"(
limber: 1
bodies: {arm: {mass: 1, inertia: [1, 1, 1], markers: {tip: [1, 0, 0]}}}
joints: {pivot: {revolute: [ground, arm], at: [0, 0, 0], axis: [0, 1, 0]}}
drivers: {turn: {coordinate: pivot.angle, follows: t}}
sensors: {s: {)" + sensor + "}}\n"));
        } catch (const ModelError& error) {
            return std::string(error.what());
        }
        return std::string();
    };
    for (const char* kind : {"angular-velocity", "angular-acceleration", "velocity", "acceleration"}) {
        const std::string what = refusal(std::string(kind) + ": arm.tip, relative-to: arm");
        EXPECT_NE(what.find("test.yaml:6"), std::string::npos) << what;
        EXPECT_NE(what.find(std::string("the ") + kind + " would be zero"), std::string::npos) << what;
        EXPECT_NE(what.find("write 'axes: arm' in place of 'relative-to'"), std::string::npos) << what;
        EXPECT_EQ(refusal(std::string(kind) + ": arm.tip, axes: arm"), "");
    }
    EXPECT_NE(refusal("reaction: turn, axes: arm").find("'axes' would have no effect"), std::string::npos);
    EXPECT_NE(refusal("acceleration: pivot.angle, axes: arm").find("'axes' would have no effect"), std::string::npos);
    EXPECT_EQ(refusal("position: arm.tip, relative-to: arm"), "");
}

}  // namespace
}  // namespace limber::testing
