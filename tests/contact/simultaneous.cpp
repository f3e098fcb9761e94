// Impacts at several contacts at once, redundant and coupled ones: closed forms of Newton's and Poisson's laws.
//
// With the Delassus matrix W of the contacts and their rates u- before:
//   newton   u+ = u- + W P,  u+ + e u- >= 0 complementary to P >= 0
//   poisson  u_c = u- + W Pc >= 0 complementary to Pc >= 0;  u+ = u- + W P >= 0 complementary to P - (1 + e) Pc >= 0

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "support/models.hpp"

namespace limber::testing {
namespace {

// Responses to impulses are iterated to 1e-12 of themselves; velocities are projected to 1e-10 of those that come in.
constexpr double exact = 1e-9;

SimulationOptions with_law(const std::string& law, SimulationOptions chosen = options("global", "trapezoidal")) {
    set_option(chosen, "impacts", law);
    return chosen;
}

void step_over_impact(Simulation& simulation, double until, double h) {
    while (simulation.time() < until - 0.5 * h) {
        const StepReport report = simulation.step(h);
        ASSERT_TRUE(report.ok) << report.reason;
    }
}

class FlatFall : public ::testing::TestWithParam<std::tuple<std::string, std::string>> {};

// A bar of 2 kg falls flat, 0.2 m at 10 m/s^2, on walls under both ends, and one under its middle that the others make
// needless: impulses m v (1 + e) in all without a moment, in equal parts where there are two. It leaves flat with e v.
TEST_P(FlatFall, BarLandsOnTwoAndOnThreeWalls) {
    for (const char* law : {"newton", "poisson"})
        for (const double e : {0.0, 0.5, 1.0})
            for (const bool has_middle : {false, true}) {
                const std::string where = fmt::format("{}, e = {}, middle {}", law, e, has_middle);
                Simulation simulation(
                    read(fmt::format(
                        R"(
limber: 1
plane: xy
gravity: [0, -10]
bodies:
  bar: {{rod: {{from: [-0.5, 0.2], to: [0.5, 0.2], mass: 2}}, markers: {{middle: [0.5, 0]}}}}
stops:
  left: {{wall: [ground, bar.from], restitution: {0}}}
  right: {{wall: [ground, bar.to], restitution: {0}}}
{1}
sensors:
  left: {{impulse: left}}
  right: {{impulse: right}}
{2}
  from: {{velocity: bar.from}}
  to: {{velocity: bar.to}}
  energy: {{energy: total}}
)",
                        e,
                        has_middle ? fmt::format("  middle: {{wall: [ground, bar.middle], restitution: {}}}", e) : "",
                        has_middle ? "  middle: {impulse: middle}" : "")),
                    with_law(law, options(std::get<0>(GetParam()), "trapezoidal", std::get<1>(GetParam()))));
                step_over_impact(simulation, 0.21, 0.01);
                const double left = sense(simulation, "left");
                const double right = sense(simulation, "right");
                const double middle = has_middle ? sense(simulation, "middle") : 0;
                const double impulse = 2 * 2 * (1 + e);
                EXPECT_NEAR(left + middle + right, impulse, exact) << where;
                EXPECT_NEAR(left, right, exact) << where;
                EXPECT_GE(std::min(left, middle), 0) << where;
                if (!has_middle) {
                    EXPECT_NEAR(left, impulse / 2, exact) << where;
                }
                // 0.01 s of flight later, or at rest.
                const double speed = e > 0 ? e * 2 - 10 * 0.01 : 0;
                // A penalty alone gives way to the weight by some times one over itself, 1e-8 of g for 0.01 s.
                const double tolerance = std::get<0>(GetParam()) == "penalty" ? 5e-9 : exact;
                EXPECT_NEAR(sense(simulation, "from.y"), speed, tolerance) << where;
                EXPECT_NEAR(sense(simulation, "to.y"), speed, tolerance) << where;
                EXPECT_NEAR(sense(simulation, "energy"), e * e * 2 * 10 * 0.2, 10 * exact) << where;
            }
}

INSTANTIATE_TEST_SUITE_P(All, FlatFall, ::testing::ValuesIn(formulations_in_coordinates()), [](const auto& info) {
    return test_name(std::get<0>(info.param) + "_" + std::get<1>(info.param));
});

// n equal balls that touch, the first at the speed u: W = (2 on, -1 beside the diagonal)/m and W P = ((1 + e) u, 0,
// ...) by both laws, so that P_k = (1 + e) m u (n - k)/n. All but the first leave with (1 + e) u/n, the first with u
// less the other share: not as Newton's cradle does (that is in-turn).
TEST(Simultaneous, CradleByNewtonsAndPoissonsLaws) {
    for (const char* law : {"newton", "poisson"})
        for (const double e : {1.0, 0.6}) {
            Model model = example("contact/newtons-cradle.yaml", {{"start", "0"}});
            for (const auto handle : model.stops.handles()) model.stops.get(handle).impact().restitution = Number(e);
            for (int k = 0; k < 3; ++k)
                model.bodies.get(model.bodies.find("b1")).velocity[k] = Number(k == 0 ? 1.5 : 0.0);
            Simulation simulation(model, with_law(law));
            EXPECT_NEAR(sense(simulation, "v1.x"), 1.5 * (1 - (1 + e) * 4 / 5), exact) << law;
            for (const char* other : {"v2.x", "v3.x", "v4.x", "v5.x"})
                EXPECT_NEAR(sense(simulation, other), 1.5 * (1 + e) / 5, exact) << law << " " << other;
        }
}

Model three_balls(double first, double second) {
    return read(fmt::format(R"(
limber: 1
plane: xy
gravity: none
bodies:
  a: {{at: [0, 0], point: {{mass: 2}}, velocity: [3, 0]}}
  b: {{at: [0.1, 0], point: {{mass: 2}}}}
  c: {{at: [0.2, 0], point: {{mass: 2}}}}
stops:
  ab: {{stop: [a, b], length: 0.1, restitution: {}}}
  bc: {{stop: [b, c], length: 0.1, restitution: {}}}
sensors:
  va: {{velocity: a}}
  vb: {{velocity: b}}
  vc: {{velocity: c}}
  energy: {{energy: kinetic}}
)",
                            first, second));
}

// Newton's law looks at speeds before the impact, and the second contact has none; Poisson's gives it back its share of
// the compression, Pc = m u (2/3, 1/3).
//   e = (0, 1)   newton: together, u/3.   poisson: P2 = 2 Pc2 = 2/3; P1 = 2/3 would leave u1+ = -1/3 u, so u1+ = 0 with
//                P1 = 5/6: u (1/6, 1/6, 2/3).
//   e = (1, 0)   newton: P = (4/3, 2/3), u (-1/3, 2/3, 2/3).   poisson: P1 = 4/3; P2 = 1/3 would leave u2+ = -2/3 u, so
//                P2 = 2/3: the same.
TEST(Simultaneous, BallsInARowWithDifferentRestitutions) {
    struct Case {
        const char* law;
        double first, second;
        std::array<double, 3> speeds;
    };
    for (const Case& expected :
         {Case{"newton", 0, 1, {1.0 / 3, 1.0 / 3, 1.0 / 3}}, Case{"poisson", 0, 1, {1.0 / 6, 1.0 / 6, 2.0 / 3}},
          Case{"newton", 1, 0, {-1.0 / 3, 2.0 / 3, 2.0 / 3}}, Case{"poisson", 1, 0, {-1.0 / 3, 2.0 / 3, 2.0 / 3}}}) {
        Simulation simulation(three_balls(expected.first, expected.second), with_law(expected.law));
        double energy = 0;
        for (int k = 0; k < 3; ++k) {
            const double speed = 3 * expected.speeds[k];
            EXPECT_NEAR(sense(simulation, fmt::format("v{}.x", "abc"[k])), speed, exact) << expected.law << " " << k;
            energy += 0.5 * 2 * speed * speed;
        }
        EXPECT_NEAR(sense(simulation, "energy"), energy, 10 * exact);
    }
}

// A bar on a support under its left end comes down on one under its right end with v: W = (4, -2; -2, 4)/m. Compression
// Pc = m v (1/6, 1/3).
//   the same e    u+ = (0, e v), P = (1 + e) Pc by both laws: the left end does not notice
//   e = (1, 0)    newton: P = Pc, at rest.   poisson: P1 = 2 Pc1 = 1/3 kicks the left end up; P2 = 1/3 would leave u2+
//                 = -1/3 v, so P2 = 5/12 and u+ = (1/2 v, 0)
TEST(Simultaneous, BarThatRestsOnOneEndLandsOnTheOther) {
    struct Case {
        const char* law;
        double left, right;
        std::array<double, 2> impulses, speeds;
    };
    for (const Case& expected :
         {Case{"newton", 0.5, 0.5, {0.25, 0.5}, {0, 0.5}}, Case{"poisson", 0.5, 0.5, {0.25, 0.5}, {0, 0.5}},
          Case{"newton", 1, 0, {1.0 / 6, 1.0 / 3}, {0, 0}}, Case{"poisson", 1, 0, {1.0 / 3, 5.0 / 12}, {0.5, 0}}}) {
        Simulation simulation(read(fmt::format(R"(
limber: 1
plane: xy
gravity: none
bodies:
  bar: {{rod: {{from: [0, 0], to: [1, 0], mass: 3}}, angular-velocity: -2}}
stops:
  left: {{wall: [ground, bar.from], restitution: {}}}
  right: {{wall: [ground, bar.to], restitution: {}}}
sensors:
  left: {{impulse: left}}
  right: {{impulse: right}}
  from: {{velocity: bar.from}}
  to: {{velocity: bar.to}}
)",
                                               expected.left, expected.right)),
                              with_law(expected.law));
        EXPECT_NEAR(sense(simulation, "left"), 3 * 2 * expected.impulses[0], exact) << expected.law;
        EXPECT_NEAR(sense(simulation, "right"), 3 * 2 * expected.impulses[1], exact) << expected.law;
        EXPECT_NEAR(sense(simulation, "from.y"), 2 * expected.speeds[0], exact) << expected.law;
        EXPECT_NEAR(sense(simulation, "to.y"), 2 * expected.speeds[1], exact) << expected.law;
    }
}

}  // namespace
}  // namespace limber::testing
