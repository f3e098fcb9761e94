// Who touches whom: rules with groups of bodies, lists, all and none, told by how the bodies move.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "limber/io/model_writer.hpp"
#include "limber/simulation/session.hpp"
#include "support/models.hpp"
#include "support/stepping.hpp"

namespace limber::testing {
namespace {

// Three balls of equal mass in a row without gravity; a flies towards b, and c waits behind b.
std::string row_of_balls(const std::string& rules) {
    return fmt::format(R"(
limber: 1
gravity: none
bodies:
  a: {{sphere: {{radius: 0.1, mass: 1}}, at: [0, 0, 0], velocity: [1, 0, 0], group: red}}
  b: {{sphere: {{radius: 0.1, mass: 1}}, at: [0.5, 0, 0], group: [blue, still]}}
  c: {{sphere: {{radius: 0.1, mass: 1}}, at: [1, 0, 0], group: [red, still]}}
contacts:
{}
sensors: {{a: {{velocity: a}}, b: {{velocity: b}}, c: {{velocity: c}}}}
)",
                       rules);
}

struct Speeds {
    double a, b, c;
};

// Elastic balls of equal mass hand their speed on to whatever they touch, and keep it where they touch nothing.
void expect_speeds(const std::string& rules, const Speeds& expected) {
    Simulation s = stepping(row_of_balls(rules));
    run(s, 2, 1e-3);
    // Impacts are solved to 1e-10 of the velocities that come in.
    EXPECT_NEAR(sense(s, "a.x"), expected.a, 1e-9) << rules;
    EXPECT_NEAR(sense(s, "b.x"), expected.b, 1e-9) << rules;
    EXPECT_NEAR(sense(s, "c.x"), expected.c, 1e-9) << rules;
}

constexpr Speeds all_touch{0, 0, 1}, a_meets_b{0, 1, 0}, a_meets_c{0, 0, 1}, none_touch{1, 0, 0};

TEST(ContactGroups, RulesTakeGroups) {
    expect_speeds("  r: {rigid: [all, all], restitution: 1}", all_touch);
    expect_speeds("  r: {rigid: [red, blue], restitution: 1}", all_touch);
    expect_speeds("  r: {rigid: [blue, red], restitution: 1}", all_touch);
    expect_speeds("  r: {rigid: [red, red], restitution: 1}", a_meets_c);
    expect_speeds("  r: {rigid: [blue, blue], restitution: 1}", none_touch);
    expect_speeds("  r: {rigid: [a, blue], restitution: 1}", a_meets_b);
    expect_speeds("  r: {rigid: [a, [blue, c]], restitution: 1}", a_meets_b);
    expect_speeds("  r: {rigid: [still, still], restitution: 1}", none_touch);
    expect_speeds("  r: {rigid: [still, all], restitution: 1}", all_touch);
}

TEST(ContactGroups, ExclusionsTakePairsOut) {
    expect_speeds("  r: {rigid: [all, all], restitution: 1}\n  out: {none: [a, b]}", a_meets_c);
    expect_speeds("  r: {rigid: [all, all], restitution: 1}\n  out: {none: [red, blue]}", a_meets_c);
    expect_speeds("  r: {rigid: [all, all], restitution: 1}\n  out: {none: [still, still]}", a_meets_b);
    expect_speeds("  r: {rigid: [all, all], restitution: 1}\n  out: {none: [red, all]}", none_touch);
    // The last one counts.
    expect_speeds("  out: {none: [red, all]}\n  r: {rigid: [all, all], restitution: 1}", all_touch);
}

// The same of a compliant law, which is elastic without damping.
TEST(ContactGroups, CompliantRulesTakeGroups) {
    for (const auto& [rules, expected] :
         {std::pair("  r: {hertz: [red, blue], stiffness: 1e6}", all_touch),
          std::pair("  r: {hertz: [all, all], stiffness: 1e6}\n  out: {none: [still, still]}", a_meets_b),
          std::pair("  r: {hertz: [red, red], stiffness: 1e6}", a_meets_c),
          std::pair("  r: {hertz: [blue, blue], stiffness: 1e6}", none_touch)}) {
        Simulation s(read(row_of_balls(rules)), options("global", "trapezoidal"));
        run(s, 2, 2e-4);
        // An impact takes 15 ms, 75 steps: of second order in a 75th, 4e-5 of the energy at most.
        EXPECT_NEAR(sense(s, "a.x"), expected.a, 1e-3) << rules;
        EXPECT_NEAR(sense(s, "b.x"), expected.b, 1e-3) << rules;
        EXPECT_NEAR(sense(s, "c.x"), expected.c, 1e-3) << rules;
    }
}

std::string error_of(const std::string& yaml) {
    try {
        read(yaml);
    } catch (const ModelError& error) {
        return error.what();
    }
    return "";
}

TEST(ContactGroups, UnknownNamesAreErrors) {
    const std::string unknown = error_of(row_of_balls("  r: {rigid: [rad, all]}"));
    EXPECT_EQ(unknown.find("test.yaml:9: "), 0U) << unknown;
    EXPECT_NE(unknown.find("there is no body or group 'rad'"), std::string::npos) << unknown;
    EXPECT_NE(unknown.find("'red'"), std::string::npos) << unknown;
    EXPECT_NE(error_of(row_of_balls("  r: {rigid: [[], all]}")).find("at least one body or group"), std::string::npos);
    const auto with_group = [](const std::string& group) {
        return fmt::format("limber: 1\nbodies:\n  a: {{mass: 1, group: {}}}\ncontacts: {{r: {{rigid: [a, all]}}}}\n",
                           group);
    };
    EXPECT_NE(error_of(with_group("all")).find("test.yaml:3: "), std::string::npos) << error_of(with_group("all"));
    EXPECT_NE(error_of(with_group("[x, ground]")).find("'ground' cannot be the name of a group"), std::string::npos);
    EXPECT_NE(error_of(with_group("a")).find("'a' is both a body and a group"), std::string::npos);
    EXPECT_NE(error_of(with_group("{x: 1}")).find("test.yaml:3: "), std::string::npos);
    EXPECT_EQ(error_of(with_group("x")), "");
}

// Written files keep the groups.
TEST(ContactGroups, AreWritten) {
    const std::string text = write_model_text(read(row_of_balls("  r: {rigid: [[red, b], blue]}")));
    EXPECT_NE(text.find("group: red"), std::string::npos) << text;
    EXPECT_NE(text.find("[[red, b], blue]"), std::string::npos) << text;
    EXPECT_EQ(write_model_text(read(text)), text);
}

// A body that comes into a group obeys its rules; the last one of a group that a rule names has to stay.
TEST(ContactGroups, ChangeWithTheBodiesOfARunningSession) {
    SimulationOptions chosen;
    chosen.integrator = "moreau-jean";
    SessionOptions o;
    o.step = 1e-3;
    Session s(read(row_of_balls("  r: {rigid: [red, blue], restitution: 1}")), chosen, o);
    const auto apply = [&](const std::string& edit) {
        const EditReport report = s.apply(edit);
        EXPECT_TRUE(report.ok) << edit << ": " << report.reason;
    };
    apply("add bodies.d {sphere: {radius: 0.1, mass: 1}, at: [-0.5, 0, 0], group: blue}");
    apply("add bodies.e {sphere: {radius: 0.1, mass: 1}, at: [-1, 0, 0], velocity: [1, 0, 0], group: red}");
    ASSERT_TRUE(s.advance(0.6).ok);
    // e has met d after 0.3 s and stopped.
    EXPECT_NEAR(s.simulation().body_frame("e").position.x(), -0.7, 2e-3);
    EXPECT_NEAR(s.simulation().body_frame("d").position.x(), -0.5 + 0.3, 2e-3);
    apply("remove sensors.b");
    apply("remove bodies.b");
    const EditReport last = s.apply("remove bodies.d");
    EXPECT_FALSE(last.ok);
    EXPECT_NE(last.reason.find("needed by contact 'r'"), std::string::npos) << last.reason;
    apply("remove contacts.r");
    apply("remove bodies.d");
}

// Bodies of one joint touch only where a rule says so: a pendulum that hangs too low swings through the floor, or lands
// on it.
TEST(ContactGroups, JoinedBodiesTouchWhereTheRuleSaysSo) {
    for (const bool is_joined : {false, true}) {
        Simulation s = stepping(fmt::format(R"(
limber: 1
plane: xy
bodies:
  ground: {{shapes: [{{plane: {{}}}}], markers: {{hook: [0, 0.5]}}}}
  pendulum: {{rod: {{from: [0, 0.5], to: [0.8, 0.5], mass: 1, radius: 0.05}}, group: moving}}
joints: {{hinge: {{revolute: [ground.hook, pendulum.from]}}}}
contacts: {{floor: {{rigid: [moving, ground], joined: {}}}}}
sensors: {{tip: {{position: pendulum.to}}}}
)",
                                            is_joined));
        double lowest = 1;
        for (int k = 0; k < 600; ++k) {
            ASSERT_TRUE(s.step(2e-3).ok);
            lowest = std::min(lowest, sense(s, "tip.y"));
        }
        // A round end that turns about the hinge is foreseen by the tangent of its path: off by the square of a step's
        // way over the length.
        const double way = std::sqrt(3 * 9.81 * 0.8) * 2e-3;
        EXPECT_NEAR(lowest, is_joined ? 0.05 : -0.3, way * way / 0.8);
    }
}

}  // namespace
}  // namespace limber::testing
