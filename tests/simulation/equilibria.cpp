// Static equilibria against closed forms: found by Newton's method, judged by their stiffness, followed over a load.

#include <gtest/gtest.h>

#include <cmath>

#include "limber/simulation/equilibrium_path.hpp"
#include "support/refusal.hpp"

namespace limber::testing {
namespace {

constexpr double g = 9.81;

Simulation at_rest(const Model& model, const std::string& coordinates, bool is_nearest = false) {
    SimulationOptions chosen = options("augmented-lagrangian", "rk4", coordinates);
    chosen.from_equilibrium = true;
    EquilibriumRequest request;
    request.is_nearest = is_nearest;
    return {model, chosen, request};
}

// ---------------------------------------------------------------- the elastica

struct Elastica {
    double alpha, deflection, shortening, slope;
};
// By elliptic integrals (4: by shooting with a fourth-order rule); alpha = P L^2 / EI.
constexpr Elastica elasticas[] = {{1, 0.3017207738, 0.0564332363, 0.4613519497},
                                  {4, 0.6699641813, 0.3289412422, 1.1212393475},
                                  {10, 0.8106090249, 0.5549955978, 1.4302855388}};

struct Bent {
    Elastica tip;
    int iterations = 0;
    EquilibriumMethod method = EquilibriumMethod::relaxation;
};

Bent bend(double alpha, int rods, const std::string& coordinates) {
    Simulation s = at_rest(
        example("statics/elastica.yaml", {{"N", std::to_string(rods)}, {"alpha", std::to_string(alpha)}}), coordinates);
    EXPECT_EQ(s.equilibrium().unstable, 0);
    EXPECT_EQ(s.equilibrium().neutral, 0);
    const double slope = std::atan2(sense(s, "tip.y") - sense(s, "before.y"), sense(s, "tip.x") - sense(s, "before.x"));
    return {
        {alpha, sense(s, "tip.y"), 1 - sense(s, "tip.x"), slope}, s.equilibrium().iterations, s.equilibrium().method};
}

// Rods are off by a part of 1/N^2, which two numbers of rods tell: extrapolated, the elastica is there to seven digits.
TEST(Elastica, OfRodsIsFoundInAFewIterations) {
    for (const Elastica& exact : elasticas) {
        const Bent coarse = bend(exact.alpha, 40, "relative");
        const Bent fine = bend(exact.alpha, 160, "relative");
        for (const Bent* bent : {&coarse, &fine}) {
            EXPECT_LT(bent->iterations, 20) << exact.alpha;
            EXPECT_EQ(bent->method, EquilibriumMethod::newton);
        }
        const auto compare = [&](double Elastica::*what) {
            EXPECT_NEAR(coarse.tip.*what, exact.*what, 5e-4 * exact.*what) << exact.alpha;
            EXPECT_NEAR(fine.tip.*what, exact.*what, 4e-5 * exact.*what) << exact.alpha;
            EXPECT_NEAR((16 * fine.tip.*what - coarse.tip.*what) / 15, exact.*what, 3e-7) << exact.alpha;
        };
        compare(&Elastica::deflection);
        compare(&Elastica::shortening);
        compare(&Elastica::slope);
    }
}

// Far longer ways in coordinates in which a bent chain is not nearly straight; the place is the same.
TEST(Elastica, IsTheSameInOtherCoordinates) {
    const Bent relative = bend(10, 16, "relative");
    for (const char* coordinates : {"natural", "reference-point"}) {
        const Bent bent = bend(10, 16, coordinates);
        EXPECT_NEAR(bent.tip.deflection, relative.tip.deflection, 1e-8) << coordinates;
        EXPECT_NEAR(bent.tip.shortening, relative.tip.shortening, 1e-8) << coordinates;
        EXPECT_LT(bent.iterations, 100) << coordinates;
    }
}

// ---------------------------------------------------------------- stable or not

// The weak spring lets the rod lean where c angle = m g l/2 sin(angle); upright it grows by exp(w t),
// w^2 = (m g l/2 - c) / (m l^2/3).
TEST(Equilibria, ThatAreUnstableAreFoundAndSaidToBe) {
    for (const std::string& coordinates : all_coordinates()) {
        const Model model = example("statics/inverted-pendulum.yaml");
        Simulation leaning = at_rest(model, coordinates);
        const double angle = pi / 2 - sense(leaning, "angle");
        EXPECT_GT(angle, 1) << coordinates;
        EXPECT_NEAR(5 * angle, g * std::sin(angle), 1e-8) << coordinates;
        EXPECT_EQ(leaning.equilibrium().unstable, 0) << coordinates;
        Simulation upright = at_rest(model, coordinates, true);
        EXPECT_NEAR(sense(upright, "angle"), pi / 2, 1e-9) << coordinates;
        EXPECT_EQ(upright.equilibrium().unstable, 1) << coordinates;
        EXPECT_NEAR(upright.equilibrium().growth, std::sqrt((g - 5) * 3 / 4), 1e-5) << coordinates;
        EXPECT_EQ(upright.equilibrium().unstable_body, "rod") << coordinates;
    }
}

// Three rods between pins two apart (Pogorelov): hanging, side rods 60 degrees below the horizontal, reactions g cot 60
// and 1.5 g; standing, the same mirrored, which grows as fast as the other one swings: sqrt(5 g cot 60 / 1.5).
TEST(Equilibria, OfThreeRodsHangAndStand) {
    const auto model = [](double side) {
        return read(R"(
limber: 1
plane: xy
parameters:
  up: )" + std::to_string(side) +
                    R"(
  ey: sqrt(1 - 0.45^2)
  rise: sqrt(1/(1.55^2 + ey^2) - 1/4)
  mx: 1.225 + rise*ey
  my: ey/2 + rise*1.55
bodies:
  ground: {markers: {left: [0, 0], right: [2, 0]}}
  a: {rod: {from: [0, 0], to: [0.45, up*ey], mass: 1}}
  b: {rod: {from: [0.45, up*ey], to: [mx, up*my], mass: 1}}
  c: {rod: {from: [mx, up*my], to: [2, 0], mass: 1}}
joints:
  left: {revolute: [ground.left, a.from]}
  ab: {revolute: [a.to, b.from]}
  bc: {revolute: [b.to, c.from]}
  right: {revolute: [ground.right, c.to]}
sensors:
  knee: {position: a.to}
  pull: {reaction: left}
)");
    };
    for (const std::string& coordinates : all_coordinates()) {
        Simulation hanging = at_rest(model(-1), coordinates);
        EXPECT_LE(hanging.equilibrium().iterations, 20) << coordinates;
        EXPECT_EQ(hanging.equilibrium().unstable, 0) << coordinates;
        EXPECT_NEAR(std::abs(sense(hanging, "pull.fx")), g / std::sqrt(3.0), 1e-6) << coordinates;
        EXPECT_NEAR(std::abs(sense(hanging, "pull.fy")), 1.5 * g, 1e-6) << coordinates;
        Simulation standing = at_rest(model(1), coordinates, true);
        EXPECT_GT(sense(standing, "knee.y"), 0.8) << coordinates;
        EXPECT_EQ(standing.equilibrium().unstable, 1) << coordinates;
        EXPECT_NEAR(standing.equilibrium().growth, 4.345038, 2e-6) << coordinates;
    }
}

// Two rods of length l in line with a spring c at their joint buckle at 2 c / l.
TEST(Equilibria, OfAColumnLoseStabilityAtItsBucklingLoad) {
    const char* const column = R"(
limber: 1
plane: xy
gravity: none
parameters: {P: 1}
bodies:
  ground: {markers: {foot: {at: [0, 0], x: [0, 1]}}}
  lower: {rod: {from: [0, 0], to: [0, 0.5], mass: 1}}
  upper: {rod: {from: [0, 0.5], to: [0, 1], mass: 1}}
joints:
  foot: {revolute: [ground, lower.from]}
  knee: {revolute: [lower.to, upper.from]}
  guide: {point-on-line: [ground, upper.to], axis: [0, 1]}
forces:
  spring: {torsion-spring: knee.angle, stiffness: 3, free-value: 0}
  load: {force: upper.to, vector: [0, -P]}
)";
    for (const std::string& coordinates : all_coordinates())
        for (const double load : {11.9, 12.1}) {
            Simulation s = at_rest(read(column, {{"P", std::to_string(load)}}), coordinates);
            EXPECT_EQ(s.equilibrium().unstable, load > 12 ? 1 : 0) << coordinates << " " << load;
        }
}

// A door on two hinges (five redundant rows) about an axis that leans: it hangs where its centre is lowest.
TEST(Equilibria, BearRedundantJointsInSpace) {
    for (const std::string& coordinates : all_coordinates()) {
        Simulation s = at_rest(read(R"(
limber: 1
bodies:
  door: {box: {size: [0.05, 1, 2], mass: 20}, at: [0.1, 0.5, 1]}
joints:
  low: {revolute: [ground, door], at: [0, 0, 0], axis: [0.1, 0, 1]}
  high: {revolute: [ground, door], at: [0.2, 0, 2], axis: [0.1, 0, 1]}
sensors: {centre: {position: door.com}}
)"),
                               coordinates);
        EXPECT_NEAR(sense(s, "centre.y"), 0, 1e-7) << coordinates;
        EXPECT_GT(sense(s, "centre.x"), 0.5) << coordinates;
        EXPECT_EQ(s.equilibrium().unstable, 0) << coordinates;
    }
}

// The symmetric tangent of a contact that moves along with a ball says that it rolls away; the forces beside it do not.
TEST(Equilibria, AreNotCalledUnstableWhereForcesSayOtherwise) {
    Simulation ball = at_rest(example("contact/rolling-resistance.yaml"), "relative");
    EXPECT_EQ(ball.equilibrium().unstable, -1);
}

TEST(Equilibria, ThatAreNotThereNameWhatIsOutOfBalance) {
    try {
        at_rest(read(R"(
limber: 1
plane: xy
bodies:
  held: {rod: {from: [0, 0], to: [1, 0], mass: 1}}
  ball: {at: [3, 0], point: {mass: 2}}
joints: {pin: {revolute: [ground, held.from]}}
)"),
                "relative");
        ADD_FAILURE() << "a falling ball has no equilibrium";
    } catch (const std::runtime_error& error) {
        EXPECT_NE(std::string(error.what()).find("body 'ball', by 19.6 N"), std::string::npos) << error.what();
    }
}

// ---------------------------------------------------------------- load paths

// P(y) = 2 k y (l0 / sqrt(a^2 + y^2) - 1) for the apex at y, with extrema at y = +- a sqrt((l0/a)^(2/3) - 1).
TEST(LoadPath, GoesThroughTheLimitPointsOfATruss) {
    const double l0 = std::sqrt(1.25);
    const auto load_at = [&](double y) { return 2000 * y * (l0 / std::sqrt(1 + y * y) - 1); };
    const double limit = std::sqrt(std::pow(l0, 2.0 / 3.0) - 1);
    const auto model_at = [](double value) { return example("statics/truss.yaml", {{"P", std::to_string(value)}}); };
    for (const std::string& coordinates : all_coordinates()) {
        SimulationOptions chosen;
        chosen.coordinates = coordinates;
        const EquilibriumPath path = follow_equilibria(model_at, 0, 60, chosen);
        ASSERT_TRUE(path.has_arrived) << coordinates << path.reason;
        ASSERT_EQ(path.columns[1], "apex.y");
        std::vector<const EquilibriumPathPoint*> limits;
        for (const EquilibriumPathPoint& point : path.points) {
            EXPECT_NEAR(point.value, load_at(point.sensors[1]), 1e-4) << coordinates;
            if (point.is_limit) {
                limits.push_back(&point);
            } else {
                const bool is_between = std::abs(point.sensors[1]) < limit;
                EXPECT_EQ(point.unstable, is_between ? 1 : 0) << point.sensors[1];
            }
        }
        ASSERT_EQ(limits.size(), 2U) << coordinates;
        EXPECT_NEAR(limits[0]->value, load_at(limit), 1e-5 * load_at(limit)) << coordinates;
        EXPECT_NEAR(limits[1]->value, load_at(-limit), 1e-5 * load_at(limit)) << coordinates;
        EXPECT_NEAR(limits[0]->sensors[1], limit, 1e-4) << coordinates;
        EXPECT_LT(path.points.back().sensors[1], -0.5) << coordinates;
        EXPECT_EQ(path.points.back().value, 60) << coordinates;
    }
}

TEST(LoadPath, RefusesWhatIsNoLoad) {
    const auto refused = [](const std::string& name, double from, double to) {
        return refusal([&] {
            follow_equilibria(
                [&](double value) {
                    return example("statics/truss.yaml", {{name, std::to_string(value)}});
                },
                from, to, {});
        });
    };
    EXPECT_NE(refused("a", 1, 1.2).find("the value must change forces only"), std::string::npos) << "geometry";
    EXPECT_EQ(refused("P", 0, 10), "");
}

}  // namespace
}  // namespace limber::testing
