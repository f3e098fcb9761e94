// Motions without inertia, under all formulations and integrators, beside equations of motion written here and
// integrated by themselves.

#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "limber/simulation/session.hpp"
#include "support/measures.hpp"
#include "support/models.hpp"
#include "support/refusal.hpp"
#include "support/runge_kutta.hpp"

namespace limber::testing {
namespace {

std::vector<std::string> integrator_names() {
    std::vector<std::string> names;
    for (const auto& info : integrators()) names.push_back(info.name);
    return names;
}

bool balances(const std::string& formulation, const std::string& integrator) {
    const std::vector<std::string> schemes = {"trapezoidal", "newmark", "hht", "generalized-alpha"};
    return find_formulation(formulation).is_step_solver() &&
           std::find(schemes.begin(), schemes.end(), integrator) != schemes.end();
}

// ---------------------------------------------------------------- held by joints

constexpr double crank_length = 0.5099019513592785;  // of (0, 0.5, 0.1)

// The rod joins (0, 0.5, 0.1) of a crank about x with (x, 0.2, 0) of a slider along x.
const char* const rod_in_loop = R"(
limber: 1
gravity: [0, -9.80665, 0]
bodies:
  b1: {solids: [{cylinder: {radius: 0.025, length: 0.5099019513592785, density: 7700, at: [0, 0.25, 0.05], z: [0, 0.5, 0.1]}}]}
  b2: {solids: [{cylinder: {radius: 0.025, length: 0.2, density: 7700, at: [0, 0.1, 0], z: [0, 0.2, 0]}}], at: [1, 0, 0]}
  rod: {at: [1, 0.2, 0]}
joints:
  j1: {revolute: [ground, b1], at: [0, 0, 0], axis: [1, 0, 0]}
  j2: {prismatic: [ground, b2], at: [1, 0, 0], axis: [1, 0, 0]}
  u: {universal: [b2, rod], at: [1, 0.2, 0], axis: [1, 0, 0], x: [0, 1, 0]}
  s: {spherical: [b1, rod], at: [0, 0.5, 0.1]}
initial: {rates: {j1.angle: 5.235987755982989}}
sensors:
  angle: {coordinate: j1.angle}
  rate: {rate: j1.angle}
)";

/// Angle and rate of the crank after a time, from the one equation of motion there is.
std::array<double, 2> crank_motion(double end) {
    const double m1 = 7700 * pi * 0.025 * 0.025 * crank_length;
    const double m2 = 7700 * pi * 0.025 * 0.025 * 0.2;
    const double i1 = m1 * (crank_length * crank_length / 3 + 0.025 * 0.025 / 4);
    const double start = std::atan2(0.1, 0.5);
    const double rod_square = 1 + 0.3 * 0.3 + 0.1 * 0.1;
    // Position of the slider and its derivatives by the angle: (x)^2 + (y - 0.2)^2 + z^2 = rod^2.
    const auto slider = [&](double q) {
        const double y = crank_length * std::cos(start + q);
        const double z = crank_length * std::sin(start + q);
        // d(y - 0.2)^2 + z^2 = crank^2 + 0.04 - 0.4 y
        const double x = std::sqrt(rod_square - crank_length * crank_length - 0.04 + 0.4 * y);
        const double first = -0.2 * z / x;
        return std::array<double, 3>{x, first, (-0.2 * y - first * first) / x};
    };
    return integrate<2>({0, 5.235987755982989}, end, 20000, [&](const std::array<double, 2>& y) {
        const auto [x, x1, x2] = slider(y[0]);
        const double torque = m1 * 9.80665 * 0.5 * crank_length * std::sin(start + y[0]);
        return std::array<double, 2>{y[1], (torque - m2 * x1 * x2 * y[1] * y[1]) / (i1 + m2 * x1 * x1)};
    });
}

// rk4 lost 0.5 J of 39 where coordinates are relative.
TEST(MasslessRodInLoop, MovesAsItsOneEquationOfMotionSays) {
    const double end = 1;
    const auto exact = crank_motion(end);
    for (const auto& [formulation, coordinates] : formulations_in_coordinates())
        for (const std::string& integrator : integrator_names()) {
            SCOPED_TRACE(formulation + " " + coordinates + " " + integrator);
            const SimulationOptions chosen = options(formulation, integrator, coordinates);
            const auto angle_and_rate = [&chosen, end](double step) {
                Simulation s(read(rod_in_loop), chosen);
                examples::advance_or_throw(s, end, step);
                return Vec2(sense(s, "angle"), sense(s, "rate"));
            };
            const int order = find_integrator(integrator).order;
            Vec2 found = angle_and_rate(order == 1 ? 5e-4 : 2.5e-3);
            // What a scheme of first order misses is seen beside an error of the model only if it is extrapolated.
            if (order == 1) found = 2 * angle_and_rate(2.5e-4) - found;
            // A penalty leaves an error of its own.
            const double exactly = formulation == "penalty" ? 2e-5 : 2e-6;
            const double allowed = order >= 4 ? exactly : 5e-3;
            EXPECT_NEAR(found[0], exact[0], allowed);
            EXPECT_NEAR(found[1], exact[1], 10 * allowed);
        }
}

TEST(MasslessRodInLoop, KeepsEnergyInRelativeCoordinates) {
    for (const std::string formulation : {"semi-recursive", "hybrid", "articulated-body", "canonical-momenta"}) {
        Simulation s(read(rod_in_loop), options(formulation, "rk4"));
        const auto energy = [&] {
            const Energies e = s.observer().compute_energies(s.state());
            return e.kinetic + e.potential;
        };
        const double before = energy();
        ASSERT_TRUE(s.advance(5, 2.5e-3).ok) << formulation;
        EXPECT_NEAR(energy(), before, 2e-5) << formulation;
    }
}

// Convergence was erratic, and higher-order came to 1e40 without a word: the bead's own turn has no inertia.
TEST(PointMass, OnATurningRodFollowsTheClosedForm) {
    const Model model = example("drivers/rotating-rod.yaml");
    const double exact = 0.1 * std::cosh(4.0);
    for (const std::string& formulation : formulation_names())
        for (const std::string& integrator : integrator_names()) {
            SCOPED_TRACE(formulation + " " + integrator);
            const int order = find_integrator(integrator).order;
            double error[2];
            for (const int i : {0, 1}) {
                Simulation s(model, options(formulation, integrator));
                ASSERT_TRUE(s.advance(2, i == 0 ? 0.02 : 0.01).ok);
                error[i] = std::abs(sense(s, "radius") / exact - 1);
            }
            EXPECT_LT(error[1], order == 1 ? 0.1 : 1e-3);
            const double factor = std::pow(2.0, std::min(order, 3)) / 1.5;
            if (error[1] > 1e-8) {
                EXPECT_LT(error[1], error[0] / factor);
            }
        }
}

// Two massless rods and a point: swing as one pendulum of length 2.
TEST(PointMass, OnMasslessRodsSwingsLikeAPendulum) {
    const Model model = read(R"(
limber: 1
plane: xy
gravity: [0, -9.81]
bodies:
  upper: {rod: {from: [0, 0], to: [1, 0]}}
  lower: {rod: {from: [1, 0], to: [2, 0]}}
  bob: {point: {mass: 3}, at: [2, 0]}
joints:
  pivot: {revolute: [ground, upper.from]}
  elbow: {fixed: [upper.to, lower.from]}
  grip: {revolute: [lower.to, bob]}
sensors: {angle: {coordinate: pivot.angle}}
)");
    const auto exact = integrate<2>({0, 0}, 1, 10000, [](const std::array<double, 2>& y) {
        return std::array<double, 2>{y[1], -9.81 / 2 * std::cos(y[0])};
    });
    for (const auto& [formulation, coordinates] : formulations_in_coordinates())
        for (const std::string& integrator : integrator_names()) {
            SCOPED_TRACE(formulation + " " + coordinates + " " + integrator);
            Simulation s(model, options(formulation, integrator, coordinates));
            ASSERT_TRUE(s.advance(1, 2e-3).ok);
            const int order = find_integrator(integrator).order;
            const double exactly = formulation == "penalty" ? 2e-6 : 1e-9;  // a penalty leaves an error of its own
            EXPECT_NEAR(sense(s, "angle"), exact[0], order >= 4 ? exactly : order == 1 ? 2e-2 : 1e-4);
        }
}

// The crank points along the slider: there the massless coupler has nothing to hold on to.
TEST(MasslessRodInLoop, StartsAtADeadPoint) {
    const Model model = read(R"(
limber: 1
plane: xy
gravity: none
bodies:
  crank: {rod: {from: [0, 0], to: [1, 0], mass: 1}, angular-velocity: 3}
  coupler: {rod: {from: [1, 0], to: [3, 0]}}
  piston: {point: {mass: 2}, at: [3, 0]}
joints:
  main: {revolute: [ground, crank.from]}
  pin: {revolute: [crank.to, coupler.from]}
  wrist: {revolute: [coupler.to, piston]}
  guide: {point-on-line: [ground, piston]}
initial: {rates: {main.angle: 3}}
sensors: {rate: {rate: main.angle}, angle: {coordinate: main.angle}}
)");
    for (const std::string& formulation : formulation_names()) {
        Simulation s(model, options(formulation, "rk4"));
        ASSERT_TRUE(s.advance(0.7, 1e-3).ok) << formulation;
        // Kinetic energy is kept: x = cos q + sqrt(4 - sin^2 q).
        const double q = sense(s, "angle");
        const double slope = -std::sin(q) - std::sin(q) * std::cos(q) / std::sqrt(4 - std::sin(q) * std::sin(q));
        EXPECT_NEAR(sense(s, "rate") * std::sqrt(1.0 / 3 + 2 * slope * slope), 3 * std::sqrt(1.0 / 3), 1e-6)
            << formulation;
    }
}

// ---------------------------------------------------------------- held by forces

const char* const node_on_springs = R"(
limber: 1
gravity: [0, -9.80665, 0]
parameters: {off: 0}
bodies:
  ground: {markers: {a: [0.3, 0, 0], b: [0, 0, 0.3]}}
  body1: {mass: 0.8, com: [0, -0.2, 0], inertia: [0.1, 0.1, 0.1], at: [0.5, -0.3, 0]}
  node: {at: [0.308+off, -0.152, 0.093-off]}
forces:
  s1: {spring: [ground.a, node], stiffness: 20, free-length: 0.1}
  s2: {spring: [node, body1], stiffness: 40, free-length: 0.1}
  s3: {spring: [ground.b, node], stiffness: 20, free-length: 0.1}
sensors:
  body: {position: body1.com}
  node: {position: node}
  speed: {velocity: node}
)";

Vec3 spring(const Vec3& from, const Vec3& to, double stiffness) {
    const Vec3 d = to - from;
    return stiffness * (d.norm() - 0.1) / d.norm() * d;  // on `from`
}

/// Where the forces of the three springs on the node balance, the body's end being at p.
Vec3 balanced_node(const Vec3& p, Vec3 x) {
    const auto force = [&](const Vec3& n) {
        return Vec3(spring(n, {0.3, 0, 0}, 20) + spring(n, p, 40) + spring(n, {0, 0, 0.3}, 20));
    };
    for (int i = 0; i < 30; ++i) {
        Mat3 slope;
        for (int k = 0; k < 3; ++k)
            slope.col(k) = (force(x + 1e-6 * Vec3::Unit(k)) - force(x - 1e-6 * Vec3::Unit(k))) / 2e-6;
        x -= slope.inverse() * force(x);
    }
    return x;
}

struct NodeMotion {
    Vec3 centre, node;
};

/// The body with equal moments of inertia: position and velocity of its centre, turn as a rotation vector's rate on R,
/// angular velocity.
NodeMotion node_motion(double end, int steps) {
    Vec3 node(0.308, -0.152, 0.093);
    const auto rate = [&](const std::array<double, 18>& y) {
        const Vec3 c(y[0], y[1], y[2]);
        const Vec3 w(y[6], y[7], y[8]);
        Mat3 r;
        for (int k = 0; k < 9; ++k) r(k % 3, k / 3) = y[9 + k];
        const Vec3 arm = r * Vec3(0, 0.2, 0);
        node = balanced_node(c + arm, node);
        const Vec3 force = spring(c + arm, node, 40);
        const Vec3 a = force / 0.8 + Vec3(0, -9.80665, 0);
        const Vec3 alpha = arm.cross(force) / 0.1;
        std::array<double, 18> f{};
        for (int k = 0; k < 3; ++k) {
            f[k] = y[3 + k];
            f[3 + k] = a[k];
            f[6 + k] = alpha[k];
            const Vec3 column = w.cross(Vec3(r.col(k)));
            for (int i = 0; i < 3; ++i) f[9 + 3 * k + i] = column[i];
        }
        return f;
    };
    std::array<double, 18> y{};
    y[0] = 0.5;
    y[1] = -0.5;
    y[9] = y[13] = y[17] = 1;
    y = integrate<18>(y, end, steps, rate);
    Mat3 r;
    for (int k = 0; k < 9; ++k) r(k % 3, k / 3) = y[9 + k];
    const Vec3 c(y[0], y[1], y[2]);
    return {c, balanced_node(c + r * Vec3(0, 0.2, 0), node)};
}

Vec3 sense_vector(Simulation& s, const std::string& name) {
    return {sense(s, name + ".x"), sense(s, name + ".y"), sense(s, name + ".z")};
}

// The node was frozen under most formulations, and 11 % off where it did not start balanced.
TEST(MasslessNode, IsWhereTheForcesOnItBalance) {
    const double end = 0.8;
    const NodeMotion exact = node_motion(end, 4000);
    for (const auto& [formulation, coordinates] : formulations_in_coordinates())
        for (const std::string& integrator : integrator_names()) {
            if (!balances(formulation, integrator)) continue;
            SCOPED_TRACE(formulation + " " + coordinates + " " + integrator);
            double error[2];
            for (const int i : {0, 1}) {
                Simulation s(read(node_on_springs, {{"off", i == 0 ? "0" : "0.05"}}),
                             options(formulation, integrator, coordinates));
                ASSERT_TRUE(s.advance(end, i == 0 ? 4e-3 : 2e-3).ok);
                error[i] = (sense_vector(s, "body") - exact.centre).norm();
                EXPECT_LT((sense_vector(s, "node") - exact.node).norm(), integrator == "newmark" ? 3e-2 : 2e-4);
            }
            EXPECT_LT(error[1], integrator == "newmark" ? 1e-2 : 1e-4);
            EXPECT_LT(error[1], error[0] / (integrator == "newmark" ? 1.7 : 3.4));
        }
}

TEST(MasslessNode, IsRefusedWhereAccelerationsAreSolvedForWithWhatCan) {
    for (const std::string& formulation : formulation_names())
        for (const std::string& integrator : integrator_names()) {
            const std::string message =
                refusal([&] { Simulation s(read(node_on_springs), options(formulation, integrator)); });
            if (balances(formulation, integrator)) {
                EXPECT_EQ(message, "") << formulation << " " << integrator;
                continue;
            }
            for (const std::string word : {"body 'node'", "global, hybrid or semi-recursive", "trapezoidal"})
                EXPECT_NE(message.find(word), std::string::npos) << formulation << " " << integrator << ": " << message;
        }
}

// Everything lies in the plane between the two points of the ground; the weight hangs below the node.
TEST(MasslessNode, IsBalancedInStaticEquilibrium) {
    SimulationOptions o = options("global", "trapezoidal");
    o.from_equilibrium = true;
    for (const std::string coordinates : {"natural", "relative"}) {
        o.coordinates = coordinates;
        Simulation s(example("forces/massless-node.yaml"), o);
        const Vec3 node = sense_vector(s, "node");
        const Vec3 weight = sense_vector(s, "weight");
        EXPECT_LT((weight - node - Vec3(0, -0.1 - 0.8 * 9.81 / 40, 0)).norm(), 1e-8) << coordinates;
        const Vec3 force = spring(node, {0.3, 0, 0}, 20) + spring(node, {0, 0, 0.3}, 20) + Vec3(0, -0.8 * 9.81, 0);
        EXPECT_LT(force.norm(), 1e-7) << coordinates;
    }
}

const char* const springs_in_series = R"(
limber: 1
plane: xy
gravity: none
bodies:
  node: {at: [0.7, 0]}
  mass: {mass: 2, inertia: 1, at: [2.5, 0], velocity: [1, 0]}
joints:
  guide: {prismatic: [ground, node], at: [0, 0]}
  rail: {prismatic: [ground, mass], at: [0, 0]}
forces:
  near: {spring: [ground, node], stiffness: 300, free-length: 1}
  far: {spring: [node, mass], stiffness: 100, free-length: 1}
sensors: {node: {position: node}, mass: {position: mass}, speed: {velocity: node}}
)";

TEST(MasslessNode, BetweenTwoSpringsActsLikeOneSpring) {
    // 75 N/m on 2 kg, 0.5 m from rest with 1 m/s; a quarter of the stretch is the near spring's.
    const double w = std::sqrt(75.0 / 2);
    const double t = 1.3;
    const double stretch = 0.5 * std::cos(w * t) + std::sin(w * t) / w;
    const double rate = -0.5 * w * std::sin(w * t) + std::cos(w * t);
    for (const std::string formulation : {"global", "hybrid", "semi-recursive"})
        for (const std::string integrator : {"trapezoidal", "hht", "generalized-alpha"}) {
            SCOPED_TRACE(formulation + " " + integrator);
            Simulation s(read(springs_in_series), options(formulation, integrator));
            // From the very start, with the velocity that the balance has.
            EXPECT_NEAR(sense(s, "node.x"), 1 + 0.5 / 4, 1e-10);
            EXPECT_NEAR(sense(s, "speed.x"), 0.25, 1e-7);
            ASSERT_TRUE(s.advance(t, 1e-3).ok);
            EXPECT_NEAR(sense(s, "mass.x"), 2 + stretch, 1e-3);
            EXPECT_NEAR(sense(s, "node.x"), 1 + stretch / 4, 3e-4);
            EXPECT_NEAR(sense(s, "speed.x"), rate / 4, 3e-3);
        }
}

// Where a damper acts, the place is a state of its own.
TEST(MasslessNode, CreepsBetweenASpringAndADamper) {
    const Model model = read(R"(
limber: 1
plane: xy
gravity: none
bodies: {node: {at: [1.5, 0]}}
joints: {guide: {prismatic: [ground, node], at: [0, 0]}}
forces:
  spring: {spring: [ground, node], stiffness: 300, free-length: 1}
  damper: {spring: [ground, node], stiffness: 0, damping: 100}
sensors: {node: {position: node}, speed: {velocity: node}}
)");
    for (const std::string formulation : {"global", "hybrid", "semi-recursive"})
        for (const std::string integrator : {"trapezoidal", "hht", "generalized-alpha"}) {
            SCOPED_TRACE(formulation + " " + integrator);
            Simulation s(model, options(formulation, integrator));
            EXPECT_NEAR(sense(s, "node.x"), 1.5, 1e-12);
            EXPECT_NEAR(sense(s, "speed.x"), -1.5, 1e-6);
            ASSERT_TRUE(s.advance(0.5, 1e-3).ok);
            EXPECT_NEAR(sense(s, "node.x"), 1 + 0.5 * std::exp(-1.5), 1e-5);
        }
}

// ---------------------------------------------------------------- held by nothing

TEST(UndeterminedMotion, IsRefusedWithTheNameOfTheBody) {
    const std::vector<std::pair<std::string, std::string>> models{
        {"link", R"(
limber: 1
plane: xy
bodies:
  arm: {rod: {from: [0, 0], to: [1, 0], mass: 1}}
  link: {rod: {from: [1, 0], to: [2, 0]}}
joints: {pivot: {revolute: [ground, arm.from]}, end: {revolute: [arm.to, link.from]}}
)"},
        {"link", R"(
limber: 1
bodies: {link: {rod: {from: [0, 0, 0], to: [1, 0, 0]}}}
joints: {pivot: {revolute: [ground, link.from], axis: [0, 1, 0]}}
)"},
        {"rotor", R"(
limber: 1
bodies: {rotor: {point: {mass: 1}}}
joints: {shaft: {revolute: [ground, rotor], axis: [0, 0, 1]}}
forces: {motor: {motor: shaft.angle, law: 2*sin(t)}}
)"},
        {"node", R"(
limber: 1
bodies: {node: {at: [1, 0, 0]}, weight: {sphere: {radius: 0.1, mass: 1}, at: [2, 0, 0]}}
forces: {one: {spring: [ground, node], stiffness: 10, free-length: 0.5}}
)"},
        {"loose", "{limber: 1, plane: xy, bodies: {loose: {}, weight: {disc: {radius: 0.1, mass: 1}}}}"}};
    for (const auto& [name, yaml] : models)
        for (const std::string& formulation : formulation_names())
            for (const std::string& integrator : integrator_names()) {
                const std::string message =
                    refusal([&, text = yaml] { Simulation s(read(text), options(formulation, integrator)); });
                EXPECT_NE(message.find("body '" + name + "' can move without inertia"), std::string::npos)
                    << yaml << formulation << " " << integrator << ": " << message;
            }
}

TEST(UndeterminedMotion, IsNoTurnThatNothingSees) {
    // A rod between balls turns about itself, a point mass on a wire too; a pin carries a spring.
    const Model model = read(R"(
limber: 1
bodies:
  arm: {box: {size: [1, 0.1, 0.1], mass: 1}, at: [0.5, 0, 0]}
  rod: {rod: {from: [1, 0, 0], to: [1, 0, -1]}}
  bob: {point: {mass: 1}, at: [1, 0, -1]}
  pin: {at: [0, 0, 0]}
joints:
  pivot: {revolute: [ground, arm], at: [0, 0, 0], axis: [0, 1, 0]}
  top: {spherical: [arm, rod.from], at: [1, 0, 0]}
  bottom: {spherical: [rod.to, bob], at: [1, 0, -1]}
  on: {spherical: [arm, pin], at: [0, 0, 0]}
forces: {tie: {spring: [pin, bob], stiffness: 5}}
sensors: {bob: {position: bob}}
)");
    Simulation reference(model, options("augmented-lagrangian", "rk4"));
    ASSERT_TRUE(reference.advance(0.5, 1e-3).ok);
    for (const auto& [formulation, coordinates] : formulations_in_coordinates()) {
        Simulation s(model, options(formulation, "rk4", coordinates));
        ASSERT_TRUE(s.advance(0.5, 1e-3).ok) << formulation << " " << coordinates;
        EXPECT_LT((sense_vector(s, "bob") - sense_vector(reference, "bob")).norm(), 1e-7)
            << formulation << " " << coordinates;
    }
}

// The same message for edits of a running session, which goes on as it was.
TEST(UndeterminedMotion, IsRefusedInALiveEditAndNothingIsLost) {
    SessionOptions steps;
    steps.step = 1e-3;
    Session edited(read(springs_in_series), options("global", "trapezoidal"), steps);
    Session left_alone(read(springs_in_series), options("global", "trapezoidal"), steps);
    const auto go_on = [&] {
        for (int i = 0; i < 200; ++i) {
            ASSERT_TRUE(edited.step().ok);
            ASSERT_TRUE(left_alone.step().ok);
        }
    };
    go_on();
    // The other spring still holds the node.
    ASSERT_TRUE(edited.apply(RemoveElement{"forces", "near"}).ok);
    ASSERT_TRUE(left_alone.apply(RemoveElement{"forces", "near"}).ok);
    const EditReport refused = edited.apply(RemoveElement{"forces", "far"});
    EXPECT_FALSE(refused.ok);
    EXPECT_NE(refused.reason.find("body 'node' can move without inertia"), std::string::npos) << refused.reason;
    const EditReport loose = edited.apply(AddElement{"bodies", "loose", "{at: [3, 0]}"});
    EXPECT_FALSE(loose.ok);
    EXPECT_NE(loose.reason.find("body 'loose' can move without inertia"), std::string::npos) << loose.reason;
    const EditReport explicit_scheme = edited.apply(UseOption{"integrator", "rk4"});
    EXPECT_FALSE(explicit_scheme.ok);
    EXPECT_NE(explicit_scheme.reason.find("use global, hybrid"), std::string::npos) << explicit_scheme.reason;
    go_on();
    EXPECT_EQ(edited.simulation().state().q, left_alone.simulation().state().q);
}

}  // namespace
}  // namespace limber::testing
