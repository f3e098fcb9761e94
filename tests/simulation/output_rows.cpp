// Rows of a run between the ends of its steps: the steps are the same, the rows are as good as the scheme, and no
// impact is smeared out. Rows up to the last good state, whatever ends the run.

#include <gtest/gtest.h>

#include <cmath>

#include "limber/simulation/run.hpp"
#include "support/model_text.hpp"

namespace limber::testing {
namespace {

RunOptions run_of(double until, double step, double every) {
    RunOptions o;
    o.until = until;
    o.step = step;
    o.every = every;
    return o;
}

const char* const oscillator = R"(
limber: 1
plane: xy
gravity: [0, 0]
bodies:
  mass: {at: [1, 0], point: {mass: 2}}
joints:
  guide: {prismatic: [ground, mass], axis: [1, 0]}
forces:
  spring: {motor: guide.displacement, law: -18*x}
sensors:
  x: {coordinate: guide.displacement}
  v: {rate: guide.displacement}
  a: {acceleration: mass}
)";

// A pendulum that goes round: large rotations in every set of coordinates, a closed form only of its energy.
const char* const pendulum = R"(
limber: 1
bodies:
  rod: {rod: {from: [0, 0, 0], to: [1, 0, 0], mass: 1}, angular-velocity: [0, 0, 8]}
joints:
  pin: {revolute: [ground, rod.from], axis: [0, 0, 1]}
gravity: [0, -9.81, 0]
sensors:
  angle: {coordinate: pin.angle}
  tip: {position: rod.to}
  open: {error: position}
  opening: {error: velocity}
  load: {reaction: pin}
  energy: {energy: total}
)";

double column_error(const ResultTable& table, const std::string& name, const std::function<double(double)>& exact) {
    double largest = 0;
    const std::size_t column = table.find(name).at(0);
    for (std::size_t row = 0; row < table.rows(); ++row)
        largest = std::max(largest, std::abs(table.at(row, column) - exact(table.at(row, 0))));
    return largest;
}

TEST(OutputRows, DoNotChangeTheSteps) {
    const Model model = example("double-pendulum.yaml");
    for (const char* integrator : {"trapezoidal", "rk4", "generalized-alpha"}) {
        Simulation plain(model, options("global", integrator));
        const RunResult at_steps = run(plain, run_of(1, 0.01, 0.01));
        for (const double every : {0.003, 0.007, 0.013, 0.25, 2.0}) {
            Simulation other(model, options("global", integrator));
            const RunResult rows = run(other, run_of(1, 0.01, every));
            EXPECT_EQ(rows.summary.steps, 100);
            EXPECT_EQ(rows.summary.iterations, at_steps.summary.iterations);
            EXPECT_TRUE(same_bits(plain.state().q, other.state().q)) << integrator << " " << every;
            EXPECT_TRUE(same_bits(plain.state().v, other.state().v)) << integrator << " " << every;
            // One at the start, one at each instant, one at the end.
            const auto whole = static_cast<std::size_t>(std::floor(1 / every + 1e-9));
            EXPECT_EQ(rows.table.rows(), 1 + whole + (whole * every < 1 - 1e-9 ? 1 : 0)) << every;
            for (std::size_t row = 0; row < rows.table.rows(); ++row)
                EXPECT_NEAR(rows.table.at(row, 0), std::min(1.0, static_cast<double>(row) * every), 1e-12);
            for (std::size_t i = 0; i < rows.summary.sensors.size(); ++i)
                EXPECT_EQ(rows.summary.sensors[i].max, at_steps.summary.sensors[i].max);
        }
    }
}

// x'' = -9 x from rest at 1: closed form. What rows add to the error of the scheme must not show in its order.
TEST(OutputRows, AreOfTheOrderOfTheScheme) {
    const Model model = read(oscillator);
    const std::pair<const char*, int> schemes[] = {
        {"trapezoidal", 2}, {"hht", 2}, {"generalized-alpha", 2}, {"higher-order", 3}, {"rk4", 4}};
    for (const auto& [integrator, order] : schemes) {
        double last_x = 0;
        double last_v = 0;
        double last_a = 0;
        for (const double h : {0.04, 0.02, 0.01}) {
            Simulation simulation(model, options("augmented-lagrangian", integrator));
            const ResultTable table = run(simulation, run_of(2, h, h * 0.3819660112501051)).table;
            ASSERT_GT(table.rows(), 100U);
            const double x = column_error(table, "x", [](double t) { return std::cos(3 * t); });
            const double v = column_error(table, "v", [](double t) { return -3 * std::sin(3 * t); });
            const double a = column_error(table, "a.x", [](double t) { return -9 * std::cos(3 * t); });
            if (last_x > 0) {
                const double least = std::pow(2, order) * 0.8;
                EXPECT_GT(last_x / x, least) << integrator << " " << h;
                EXPECT_GT(last_v / v, least) << integrator << " " << h;
                EXPECT_GT(last_a / a, least) << integrator << " " << h;
            }
            last_x = x;
            last_v = v;
            last_a = a;
        }
    }
}

double largest(const ResultTable& table, const std::string& name) {
    double largest = 0;
    for (std::size_t row = 0; row < table.rows(); ++row)
        largest = std::max(largest, std::abs(table.at(row, table.find(name).at(0))));
    return largest;
}

// Of some rows against others, which come `stride` times as often.
double largest_difference(const ResultTable& table, std::size_t every, const ResultTable& exact, std::size_t stride,
                          const std::string& name) {
    double largest = 0;
    for (const std::size_t column : table.find(name))
        for (std::size_t row = 0; row * every < table.rows(); ++row)
            largest = std::max(largest, std::abs(table.at(row * every, column) - exact.at(row * stride, column)));
    return largest;
}

// Beside the same scheme at the ends of its steps, against SUNDIALS: rows between them have the same order, in all
// coordinates, for motion and forces. The joints of interpolated rows are closed to fourth or sixth order; relative
// coordinates have nothing to leave open.
TEST(OutputRows, KeepJointsClosedAndForcesRight) {
    for (const std::string integrator : {"trapezoidal", "rk4"})
        for (const std::string coordinates : {"natural", "reference-point", "relative"}) {
            const bool is_rk4 = integrator == "rk4";
            const std::string formulation = is_rk4 || coordinates == "relative" ? "augmented-lagrangian" : "global";
            std::vector<double> last;
            for (const double h : {0.02, 0.01}) {
                Simulation between(read(pendulum), options(formulation, integrator, coordinates));
                Simulation at_steps(read(pendulum), options(formulation, integrator, coordinates));
                Simulation fine(read(pendulum), options("augmented-lagrangian", "reference", coordinates));
                const ResultTable rows = run(between, run_of(0.6, h, h / 2.5)).table;
                const ResultTable ends = run(at_steps, run_of(0.6, h, 0)).table;
                const ResultTable exact = run(fine, run_of(0.6, h / 2.5, 0)).table;
                ASSERT_EQ(rows.rows(), exact.rows());
                std::vector<double> errors;
                for (const char* name : {"angle", "tip", "load", "energy"}) {
                    errors.push_back(largest_difference(rows, 1, exact, 1, name));
                    // 2.5 rows per step: every other step ends with one.
                    const double at_ends = largest_difference(ends, 2, exact, 5, name);
                    EXPECT_LT(errors.back(), (is_rk4 ? 10 : 1.5) * at_ends + 1e-9)
                        << integrator << " " << coordinates << " " << name << " " << h;
                }
                const double open = largest(rows, "open") - largest(ends, "open");
                if (!last.empty()) {
                    const double least = 0.8 * (is_rk4 ? 16 : 4);
                    for (std::size_t i = 0; i < errors.size(); ++i)
                        EXPECT_GT(last[i] / errors[i], least) << integrator << " " << coordinates << " " << i;
                    if (coordinates != "relative") {
                        EXPECT_GT(last.back() / open, 0.8 * (is_rk4 ? 64 : 16)) << integrator << " " << coordinates;
                    }
                }
                last = errors;
                last.push_back(open);
            }
            if (coordinates == "relative") {
                EXPECT_LT(last.back(), 1e-12);
            }
        }
}

// A ball falls 1.25 m at 10 m/s^2 onto a floor with e = 0.5: hits at 0.5 s, 1 s, 1.25 s, ...; the trapezoidal rule is
// exact between impacts, so are the rows, in steps with an impact, too.
TEST(OutputRows, DoNotSmearImpacts) {
    const auto exact = [](double t, double& speed) {
        double begin = -0.5;  // of the flight
        double up = 5;
        while (t > begin + up / 5) {
            begin += up / 5;
            up /= 2;
        }
        speed = up - 10 * (t - begin);
        return 0.1 + up * (t - begin) - 5 * (t - begin) * (t - begin);
    };
    const Model model = example("contact/bouncing-ball.yaml");
    for (const char* integrator : {"trapezoidal", "rk4"}) {
        Simulation simulation(model, options("global", integrator));
        const RunResult result = run(simulation, run_of(1.4, 0.07, 0.0113));
        EXPECT_EQ(result.summary.steps, 20);
        const std::size_t y = result.table.find("centre.y").at(0);
        const std::size_t energy = result.table.find("energy").at(0);
        const std::size_t lost = result.table.find("lost").at(0);
        const std::size_t impulse = result.table.find("impulse").at(0);
        for (std::size_t row = 0; row < result.table.rows(); ++row) {
            const double t = result.table.at(row, 0);
            double speed = 0;
            const double height = exact(t, speed);
            EXPECT_NEAR(result.table.at(row, y), height, 1e-9) << integrator << " " << t;
            const double mechanical = 2 * (0.5 * speed * speed + 10 * height);
            EXPECT_NEAR(result.table.at(row, energy), mechanical, 1e-7) << integrator << " " << t;
            EXPECT_NEAR(result.table.at(row, lost), 27 - mechanical, 1e-7) << integrator << " " << t;
            const double sum = t < 0.5 ? 0 : t < 1 ? 15 : t < 1.25 ? 22.5 : t < 1.375 ? 26.25 : 28.125;
            EXPECT_NEAR(result.table.at(row, impulse), sum, 1e-7) << integrator << " " << t;
        }
    }
}

// Where nobody knows the instant of an impact, positions go on without a jump and velocities are those before it.
TEST(OutputRows, OfTimeSteppingStayBetweenTheEndsOfTheirStep) {
    const Model model = read(R"(
limber: 1
plane: xy
gravity: [0, -10]
bodies:
  ground: {shapes: [{plane: {}}]}
  ball: {at: [0, 0.6], disc: {radius: 0.1, mass: 1}}
contacts:
  floor: {rigid: [ground, ball], restitution: 0.5}
sensors:
  place: {position: ball}
  speed: {velocity: ball}
  floor: {contact: floor}
)");
    Simulation at_steps(model, options("global", "moreau-jean"));
    Simulation between(model, options("global", "moreau-jean"));
    const ResultTable ends = run(at_steps, run_of(1, 0.01, 0)).table;
    const RunResult result = run(between, run_of(1, 0.01, 0.0025));
    EXPECT_EQ(result.summary.steps, 100);
    const std::size_t y = ends.find("place.y").at(0);
    const std::size_t v = ends.find("speed.y").at(0);
    int held = 0;
    for (std::size_t row = 0; row < result.table.rows(); ++row) {
        const std::size_t step = row / 4;
        const std::size_t next = std::min(step + 1, ends.rows() - 1);
        const double low = std::min(ends.at(step, y), ends.at(next, y));
        const double high = std::max(ends.at(step, y), ends.at(next, y));
        EXPECT_GE(result.table.at(row, y), low - 0.05 * 0.01 * 10 * 0.01);
        EXPECT_LE(result.table.at(row, y), high + 0.05 * 0.01 * 10 * 0.01 + 2e-4);
        const bool has_jumped = ends.at(next, v) - ends.at(step, v) > 0;
        if (has_jumped) {
            EXPECT_EQ(result.table.at(row, v), ends.at(step, v));
            held += row % 4 != 0 ? 1 : 0;
        } else if (row % 4 != 0 && ends.at(next, v) != ends.at(step, v)) {
            // In flight: v = v0 - g t.
            EXPECT_NEAR(result.table.at(row, v), ends.at(step, v) - 10 * 0.0025 * static_cast<double>(row % 4), 1e-9);
        }
    }
    EXPECT_GT(held, 0);
}

// An event changes the model in the middle of a step: rows before and after it are of the model of their time. What
// depends on a speed has no potential, so the force does work.
TEST(OutputRows, GoThroughEventsOfTheModel) {
    const Model model = read(R"(
limber: 1
plane: xy
gravity: [0, -10]
bodies:
  lift: {point: {mass: 1}}
joints:
  guide: {prismatic: [ground, lift], axis: [0, 1]}
sensors:
  place: {position: lift}
  work: {energy: work}
forces:
  push: {motor: guide.displacement, law: 0}
events:
  kick: {rises: "t - 0.505", do: ["set forces.push.law 13 - 1e-30*v"], once: true}
)");
    Session session(model, options("global", "trapezoidal"), [] {
        SessionOptions o;
        o.step = 0.01;
        return o;
    }());
    const RunResult result = run(session, run_of(1, 0.01, 0.003));
    EXPECT_EQ(result.summary.steps, 100);
    ASSERT_EQ(result.table.rows(), 335U);
    for (std::size_t row = 0; row < result.table.rows(); ++row) {
        const double t = result.table.at(row, 0);
        const double after = std::max(0.0, t - 0.505);
        const double lifted = -5.05 * after + 1.5 * after * after;
        const double y = -5 * std::pow(std::min(t, 0.505), 2) + lifted;
        EXPECT_NEAR(result.table.at(row, result.table.find("place.y").at(0)), y, 1e-9) << t;
        EXPECT_NEAR(result.table.at(row, result.table.find("work").at(0)), 13 * lifted, 1e-6) << t;
    }
}

// Friction that slips and sticks, against the same run with rows at its steps: forces there are those of the instant.
TEST(OutputRows, KnowTheForcesOfFriction) {
    const Model model = example("contact/brick-on-incline.yaml", {{"speed", "1"}});
    Simulation simulation(model, options("global", "trapezoidal"));
    const ResultTable table = run(simulation, run_of(0.5, 0.02, 0.003)).table;
    // Slips with a = g sin - mu g cos, here slightly decelerating.
    const double slope = std::atan(0.99 * 0.5);
    const double a = 9.81 * (std::sin(slope) - 0.5 * std::cos(slope));
    for (std::size_t row = 0; row < table.rows(); ++row) {
        const double t = table.at(row, 0);
        EXPECT_NEAR(table.at(row, table.find("speed.x").at(0)), 1 + a * t, 1e-7) << t;
        const double load = table.at(row, table.find("left").at(0)) + table.at(row, table.find("right").at(0));
        EXPECT_NEAR(load, 3 * 9.81 * std::cos(slope), 1e-5) << t;
    }
}

TEST(OutputRows, EndWithTheLastGoodState) {
    // Asked to stop after 37 steps.
    const Model model = example("double-pendulum.yaml");
    Simulation simulation(model, options("global", "trapezoidal"));
    RunOptions o = run_of(10, 0.01, 0.1);
    int asked = 0;
    o.should_stop = [&] { return asked++ == 37; };
    const RunResult stopped = run(simulation, o);
    EXPECT_TRUE(stopped.summary.ok);
    EXPECT_TRUE(stopped.summary.is_stopped);
    EXPECT_EQ(stopped.summary.steps, 37);
    EXPECT_NEAR(stopped.summary.reached, 0.37, 1e-12);
    ASSERT_EQ(stopped.table.rows(), 5U);
    EXPECT_NEAR(stopped.table.at(3, 0), 0.3, 1e-12);
    EXPECT_NEAR(stopped.table.at(4, 0), 0.37, 1e-12);
    const double tip = sense(simulation, "tip.x");
    EXPECT_EQ(stopped.table.at(4, stopped.table.find("tip.x").at(0)), tip);

    // Driven to where it cannot follow: acos(0.375).
    Simulation locked(example("loops/lock-up.yaml"));
    const RunResult failed = run(locked, run_of(1, 0.001, 0.5));
    EXPECT_FALSE(failed.summary.ok);
    EXPECT_EQ(failed.summary.reached, locked.time());
    const std::size_t last = failed.table.rows() - 1;
    EXPECT_EQ(failed.table.at(last, 0), locked.time());
    EXPECT_NEAR(failed.table.at(last, failed.table.find("crank").at(0)), std::acos(0.375), 1e-2);
}

// A sensor that stops being a number ends the run; what is told ends one step before.
TEST(OutputRows, EndBeforeWhatIsNotANumber) {
    const Model model = read(R"(
limber: 1
plane: xy
gravity: [0, 0]
bodies: {ball: {point: {mass: 1}, velocity: [1, 0]}}
sensors:
  x: {position: ball}
  root: {expression: sqrt(0.505 - t)}
)");
    Simulation simulation(model);
    const RunResult result = run(simulation, run_of(1, 0.01, 0.1));
    EXPECT_FALSE(result.summary.ok);
    EXPECT_NEAR(result.summary.reached, 0.5, 1e-9);
    EXPECT_EQ(result.summary.steps, 50);
    for (const double value : result.table.values) EXPECT_TRUE(std::isfinite(value));
    EXPECT_NEAR(result.table.at(result.table.rows() - 1, 0), 0.5, 1e-9);
    EXPECT_NEAR(result.summary.sensors.back().final, std::sqrt(0.005), 1e-9);
}

TEST(OutputRows, ThatCannotBeKeptAreRefused) {
    Simulation simulation(example("double-pendulum.yaml"));
    EXPECT_THROW(run(simulation, run_of(10, 0.01, 1e-12)), ModelError);
}

}  // namespace
}  // namespace limber::testing
