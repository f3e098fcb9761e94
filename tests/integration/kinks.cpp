// Kinks of force laws within a step, against motions in closed form: a mass between a soft spring and a stiff stop, by
// an expression and by a table; a wheel that bounces on its tyre.

#include <gtest/gtest.h>

#include <cmath>

#include "limber/integration/kink_crossing.hpp"
#include "support/models.hpp"

namespace limber::testing {
namespace {

// x'' = -w1^2 x above zero and -w2^2 x below, from rest at `start`.
class StopMotion {
public:
    StopMotion(double start, double soft, double stiff) : start_(start), soft_(soft), stiff_(stiff) {}
    double at(double t) const {
        const double quarter = pi / 2 / soft_;
        if (t < quarter) return start_ * std::cos(soft_ * t);
        t = std::fmod(t - quarter, pi / stiff_ + pi / soft_);
        const double speed = start_ * soft_;
        if (t < pi / stiff_) return -speed / stiff_ * std::sin(stiff_ * t);
        return speed / soft_ * std::sin(soft_ * (t - pi / stiff_));
    }

private:
    double start_, soft_, stiff_;
};

constexpr double mass = 57, soft = 2e4, stop = 1e7, start = 0.05;  // as a wheel of the Iltis and its bump stop
const StopMotion stop_motion(start, std::sqrt(soft / mass), std::sqrt((soft + stop) / mass));

// The mass slides along an axis e; its spring from the origin has no force where it is 1 m long.
struct StopCase {
    const char* name;
    const char* yaml;
    double along;  // first component of e
};
constexpr StopCase stop_cases[] = {{"plane_expression", R"yaml(
limber: 1
plane: xy
gravity: none
bodies: {mass: {box: {size: [0.1, 0.1], mass: 57}, at: [1.05, 0]}}
joints: {rail: {prismatic: [ground, mass], at: [0, 0], axis: [1, 0]}}
forces: {stop: {spring: [ground, mass], free-length: 1, law: "2e4*x + if(x < 0, 1e7*x, 0)"}}
sensors: {mass: {position: mass}}
)yaml",
                                    1},
                                   {"plane_table", R"yaml(
limber: 1
plane: xy
gravity: none
bodies: {mass: {box: {size: [0.1, 0.1], mass: 57}, at: [1.05, 0]}}
joints: {rail: {prismatic: [ground, mass], at: [0, 0], axis: [1, 0]}}
forces: {stop: {spring: [ground, mass], free-length: 1, interpolation: linear, table: [[-0.1, -1.002e6], [0, 0], [0.1, 2e3]]}}
sensors: {mass: {position: mass}}
)yaml",
                                    1},
                                   {"space_expression", R"yaml(
limber: 1
gravity: none
bodies: {mass: {mass: 57, inertia: [1, 2, 3], at: [0.35, 0.7, 0.7]}}
joints: {rail: {prismatic: [ground, mass], at: [0, 0, 0], axis: [1, 2, 2]}}
forces: {stop: {spring: [ground, mass], free-length: 1, law: "2e4*x + min(0, 1e7*x)"
}
}
sensors: {mass: {position: mass}}
)yaml",
                                    1.0 / 3}};

struct Outcome {
    double error = 0;  // root of the mean square over all steps
    double drift = 0;  // of the energy, over what there is
    int divided = 0;
};

Outcome run_stop(const StopCase& c, const SimulationOptions& o, double step) {
    Simulation s(read(c.yaml), o);
    const double energy = soft * start * start / 2;
    Outcome outcome;
    const int steps = static_cast<int>(std::lround(1 / step));
    for (int i = 1; i <= steps; ++i) {
        const StepReport report = s.step(step);
        EXPECT_TRUE(report.ok) << report.reason;
        if (!report.ok) return outcome;
        EXPECT_NEAR(s.time(), i * step, 1e-12);
        outcome.divided += report.substeps > 1 ? 1 : 0;
        const double off = sense(s, "mass.x") / c.along - 1 - stop_motion.at(s.time());
        outcome.error += off * off / steps;
        outcome.drift =
            std::max(outcome.drift, std::abs(s.observer().compute_energies(s.state()).total() / energy - 1));
    }
    outcome.error = std::sqrt(outcome.error);
    return outcome;
}

std::vector<std::string> step_solvers() {
    std::vector<std::string> names;
    for (const FormulationInfo& info : formulations())
        if (info.is_step_solver()) names.push_back(info.name);
    return names;
}

class Kinks : public ::testing::TestWithParam<std::tuple<std::string, std::string>> {};

TEST_P(Kinks, CostNeitherOrderNorEnergy) {
    for (const StopCase& c : stop_cases) {
        const SimulationOptions o = options(std::get<0>(GetParam()), std::get<1>(GetParam()));
        const Outcome first = run_stop(c, o, 0.005);
        EXPECT_GT(first.divided, 5) << c.name;
        if (o.integrator == "trapezoidal") {
            EXPECT_LT(first.drift, 1e-4) << c.name;
        }
        // The short time on a stop is followed in parts only where the stop is a condition of its own.
        if (std::string(c.name) == "plane_table") continue;
        const Outcome second = run_stop(c, o, 0.0025), third = run_stop(c, o, 0.00125);
        EXPECT_GT(first.error / second.error, 3.3) << c.name;
        EXPECT_LT(first.error / second.error, 4.7) << c.name;
        EXPECT_GT(second.error / third.error, 3.3) << c.name;
        EXPECT_LT(second.error / third.error, 4.7) << c.name;
        EXPECT_LT(third.error, 1e-3 * start) << c.name;
    }
}

INSTANTIATE_TEST_SUITE_P(All, Kinks,
                         ::testing::Combine(::testing::ValuesIn(step_solvers()),
                                            ::testing::Values("trapezoidal", "generalized-alpha")),
                         [](const auto& info) {
                             return test_name(std::get<0>(info.param) + "_" + std::get<1>(info.param));
                         });

// So that the cases above can tell: without division the stop gives and takes energy.
TEST(KinksIgnored, CostEnergy) {
    for (const StopCase& c : stop_cases) {
        SimulationOptions o = options("global", "trapezoidal");
        o.integrator_options.locate_kinks = false;
        const Outcome plain = run_stop(c, o, 0.005);
        EXPECT_EQ(plain.divided, 0) << c.name;
        EXPECT_GT(plain.drift, 0.1) << c.name;
    }
}

// A wheel falls on its tyre and bounces for ever.
class BouncingWheel : public ::testing::TestWithParam<std::string> {};

TEST_P(BouncingWheel, KeepsItsHeight) {
    const std::pair<const char*, const char*> models[] = {{R"yaml(
limber: 1
plane: xy
roads: {flat: {height: 0}}
bodies: {wheel: {disc: {radius: 0.3, mass: 30}, at: [0, 0.4]}}
forces: {tyre: {tyre: wheel, road: flat, radius: 0.3, stiffness: 2e5}}
sensors: {wheel: {position: wheel}}
)yaml",
                                                           "wheel.y"},
                                                          {R"yaml(
limber: 1
roads: {flat: {height: 0}}
bodies: {wheel: {mass: 30, inertia: [1, 1, 2], at: [0, 0, 0.4], markers: {axle: {turn: [1, 0, 0, -90 deg]}}}}
forces: {tyre: {tyre: wheel.axle, road: flat, radius: 0.3, stiffness: 2e5}}
sensors: {wheel: {position: wheel}}
)yaml",
                                                           "wheel.z"}};
    constexpr double g = 9.81, fall = 0.1, radius = 0.3;
    const double omega = std::sqrt(2e5 / 30), speed = std::sqrt(2 * g * fall);
    // depth = speed / omega sin(omega t) + g / omega^2 (1 - cos(omega t))
    const double contact = 2 * (pi - std::atan(speed * omega / g)) / omega;
    const auto height = [&](double t) {
        t = std::fmod(t + speed / g, 2 * speed / g + contact);
        if (t < 2 * speed / g) return radius + speed * t - g * t * t / 2;
        const double angle = omega * (t - 2 * speed / g);
        return radius - speed / omega * std::sin(angle) - g / (omega * omega) * (1 - std::cos(angle));
    };
    for (const auto& [yaml, sensor] : models) {
        const auto error_at = [&, text = yaml, name = sensor](double step) {
            Simulation s(read(text), options(GetParam(), "trapezoidal"));
            double sum = 0;
            for (int i = 1; i <= std::lround(1.5 / step); ++i) {
                EXPECT_TRUE(s.step(step).ok);
                sum += std::pow(sense(s, name) - height(i * step), 2) * step;
            }
            return std::sqrt(sum / 1.5);
        };
        // Longer steps follow the first half period on the tyre in parts, and are better than the order asks for.
        const double first = error_at(0.0025), second = error_at(0.00125);
        EXPECT_GT(first / second, 3) << sensor;
        EXPECT_LT(first / second, 5) << sensor;
        EXPECT_LT(second, 0.02 * fall) << sensor;
    }
}
INSTANTIATE_TEST_SUITE_P(All, BouncingWheel, ::testing::ValuesIn(step_solvers()),
                         [](const auto& info) { return test_name(info.param); });

// Pieces that meet with one slope are no kink, nor is a law without pieces: such a step is made as ever.
TEST(SmoothLaws, AreNotDivided) {
    for (const char* law : {"100*x + if(v < -0.5, -1 + 2*v, if(v > 0.5, 1 + 2*v, 4*v))", "100*x + 400*x^3 + 2*v"}) {
        const bool has_corner = std::string(law).find("if") != std::string::npos;
        const std::string yaml = std::string(R"yaml(
limber: 1
plane: xy
gravity: none
bodies: {mass: {point: {mass: 1}, at: [1.3, 0]}}
forces: {k: {spring: [ground, mass], free-length: 1, law: ")yaml") +
                                 law + "\"}}\nsensors: {mass: {position: mass}}\n";
        Simulation s(read(yaml), options("global", "trapezoidal"));
        int divided = 0;
        for (int i = 0; i < 100; ++i) divided += s.step(0.01).substeps > 1 ? 1 : 0;
        EXPECT_EQ(divided > 0, has_corner) << law;
    }
    // As a data sheet has it: x^2 up to 1, then 2 x - 1.
    const std::string yaml = R"yaml(
limber: 1
plane: xy
gravity: none
bodies: {mass: {point: {mass: 1}, at: [1, 0], velocity: [2.7, 0]}}
forces: {k: {spring: [ground, mass], free-length: 0.5, law: "if(x > 1, 2*x - 1, x^2)"
}
}
sensors: {mass: {position: mass}}
)yaml";
    SimulationOptions o = options("global", "trapezoidal");
    Simulation located(read(yaml), o);
    o.integrator_options.locate_kinks = false;
    Simulation ignored(read(yaml), o);
    double farthest = 0;
    for (int i = 0; i < 100; ++i) {
        EXPECT_EQ(located.step(0.01).substeps, 1);
        EXPECT_EQ(ignored.step(0.01).substeps, 1);
        farthest = std::max(farthest, sense(located, "mass.x"));
    }
    EXPECT_GT(farthest, 1.6);  // it has passed there
    EXPECT_EQ(located.state().q, ignored.state().q);
    EXPECT_EQ(located.state().v, ignored.state().v);
}

KinkArguments one(double value, double rate, std::span<const double> at) {
    return {{value, rate, at}};
}

TEST(KinkCrossing, IsWhereTheCubicPasses) {
    constexpr double none = 1;
    const std::vector<double> zero{0}, many{-1, 0, 0.5, 2};
    const double unknown = std::nan("");
    EXPECT_EQ(find_first_crossing(one(1, 0, zero), one(0.5, 0, zero), 1, 1e-6), none);
    EXPECT_NEAR(find_first_crossing(one(1, unknown, zero), one(-3, unknown, zero), 1, 1e-6), 0.25, 1e-9);
    // 1 - 4 s^2 from 1 to -3: at rest first.
    EXPECT_NEAR(find_first_crossing(one(1, 0, zero), one(-3, -80, zero), 0.1, 1e-6), 0.5, 1e-9);
    // There and back: (s - 0.25) (s - 0.75), and the same from below.
    EXPECT_NEAR(find_first_crossing(one(0.1875, -1, zero), one(0.1875, 1, zero), 1, 1e-6), 0.25, 1e-9);
    EXPECT_NEAR(find_first_crossing(one(-0.1875, 1, zero), one(-0.1875, -1, zero), 1, 1e-6), 0.25, 1e-9);
    // What begins or ends at a kink has not crossed it.
    EXPECT_EQ(find_first_crossing(one(0, 1, zero), one(1, 1, zero), 1, 1e-6), none);
    EXPECT_EQ(find_first_crossing(one(1, -1, zero), one(0, -1, zero), 1, 1e-6), none);
    // The next one of several, either way.
    EXPECT_NEAR(find_first_crossing(one(0.25, 1, many), one(1.25, 1, many), 1, 1e-6), 0.25, 1e-9);
    EXPECT_NEAR(find_first_crossing(one(0.25, -2, many), one(-1.75, -2, many), 1, 1e-6), 0.125, 1e-9);
}

}  // namespace
}  // namespace limber::testing
