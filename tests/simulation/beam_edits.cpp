// Beams that are edited while they move: what they are divided into, where joints are made, impulses, and back.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "limber/io/edit_text.hpp"
#include "limber/simulation/session.hpp"
#include "support/models.hpp"

namespace limber::testing {
namespace {

constexpr const char* swinging_beam = R"(
limber: 1
plane: xy
bodies:
  beam:
    beam: {to: [1, 0], elements: 4, section: {given: {axial: 1e4, shear: 4e3, bending: 2, mass: 1, inertia: 1e-3}}}
    markers: {quarter: [0.25, 0], half: [0.5, 0]}
  ball: {point: {mass: 0.2}, at: [0.4, 1]}
joints:
  clamp: {fixed: [ground, beam.from]}
sensors:
  tip: {position: beam.to}
  quarter: {position: beam.quarter}
  half: {position: beam.half}
)";

class EditedBeam {
public:
    EditedBeam()
        : session(read(swinging_beam), options("global", "trapezoidal", "reference-point"), [] {
              SessionOptions o;
              o.step = 1e-3;
              return o;
          }()) {
        EXPECT_TRUE(session.advance(0.2).ok);
    }
    EditReport apply(const char* edit) {
        EditReport report = session.apply(edit);
        EXPECT_TRUE(report.ok) << edit << ": " << report.reason;
        return report;
    }
    double sensed(const std::string& name) {
        std::vector<double> values;
        session.observer().observe(session.simulation().state(), session.work(), values);
        const auto& columns = session.observer().columns();
        const auto it = std::find(columns.begin(), columns.end(), name);
        EXPECT_NE(it, columns.end()) << name;
        return it == columns.end() ? NAN : values[static_cast<std::size_t>(it - columns.begin())];
    }
    Vec3 momentum(Vec3* angular = nullptr) {
        Vec3 linear;
        Vec3 turning;
        session.observer().compute_momentum(session.simulation().state(), linear, turning);
        if (angular != nullptr) *angular = turning;
        return linear;
    }

    Session session;
};

// A marker elsewhere needs a node there: the line stays, and the energy but for what interpolation misses.
TEST(EditedBeams, GoOnWhereTheyAreWhenDividedOtherwise) {
    for (const char* edit : {"add markers.beam.there {at: [0.61, 0]}", "set bodies.beam.beam.elements 7"}) {
        EditedBeam beam;
        const double tip = beam.sensed("tip.y");
        const double quarter = beam.sensed("quarter.y");
        ASSERT_LT(tip, -0.1);
        const EditReport report = beam.apply(edit);
        EXPECT_NEAR(beam.sensed("tip.y"), tip, 1e-12) << edit;
        EXPECT_NEAR(beam.sensed("quarter.y"), quarter, 1e-4) << edit;
        const double scale = std::abs(report.transfer.energy_before) + 1;
        EXPECT_NEAR(report.transfer.energy_after, report.transfer.energy_before, 0.02 * scale) << edit;
        ASSERT_TRUE(beam.session.advance(0.5).ok) << edit;
        EXPECT_LT(std::abs(beam.session.energy_drift()), 0.01 * scale) << edit;
        beam.apply("undo");
        ASSERT_TRUE(beam.session.advance(0.6).ok) << edit;
    }
}

TEST(EditedBeams, FlyOnWhenTheirClampIsRemoved) {
    EditedBeam beam;
    const double tip = beam.sensed("tip.y");
    const Vec3 before = beam.momentum();
    const EditReport report = beam.apply("remove joints.clamp");
    EXPECT_LT((beam.momentum() - before).norm(), 1e-9);
    EXPECT_NEAR(report.transfer.energy_after, report.transfer.energy_before, 1e-9);
    EXPECT_NEAR(beam.sensed("tip.y"), tip, 1e-12);
    ASSERT_TRUE(beam.session.advance(0.4).ok);
    // Weight and nothing else acts on beam and ball.
    EXPECT_NEAR(beam.momentum().y() - before.y(), -1.2 * 9.81 * 0.2, 1e-3);
}

// A joint made at a point of the world is made where the bent beam is now.
TEST(EditedBeams, AreJoinedWhereTheyAre) {
    EditedBeam beam;
    const double x = beam.sensed("half.x");
    const double y = beam.sensed("half.y");
    const std::string edit = fmt::format("add joints.hook {{revolute: [ground, beam], at: [{:.17g}, {:.17g}]}}", x, y);
    const EditReport report = beam.apply(edit.c_str());
    EXPECT_LT(report.transfer.largest_move, 1e-4);
    ASSERT_TRUE(beam.session.advance(0.4).ok);
    EXPECT_NEAR(beam.sensed("half.x"), x, 2e-4);
    EXPECT_NEAR(beam.sensed("half.y"), y, 2e-4);
    EXPECT_GT(std::abs(beam.sensed("quarter.y") - beam.sensed("half.y")), 0.01);
}

TEST(EditedBeams, TakeImpulsesAtTheirMarkers) {
    EditedBeam beam;
    beam.apply("remove joints.clamp");
    const Vec3 before = beam.momentum();
    Vec3 angular;
    Vec3 angular_after;
    beam.momentum(&angular);
    beam.apply("impulse beam.to [0.1, 0.4]");
    EXPECT_LT((beam.momentum(&angular_after) - before - Vec3(0.1, 0.4, 0)).norm(), 1e-9);
    EXPECT_NEAR(angular_after.z() - angular.z(), 0.4 * beam.sensed("tip.x") - 0.1 * beam.sensed("tip.y"), 1e-9);
    ASSERT_TRUE(beam.session.advance(0.3).ok);
}

// The stiffness is another, the motion the same.
TEST(EditedBeams, KeepTheirMotionWhenTheirSectionChanges) {
    EditedBeam beam;
    const double tip = beam.sensed("tip.y");
    const double quarter = beam.sensed("quarter.y");
    beam.apply("set bodies.beam.beam.section.given.bending 4");
    EXPECT_NEAR(beam.sensed("tip.y"), tip, 1e-12);
    EXPECT_NEAR(beam.sensed("quarter.y"), quarter, 1e-12);
    ASSERT_TRUE(beam.session.advance(0.5).ok);
}

// A straight beam that falls stays straight and of the length that it has then.
TEST(EditedBeams, AreNotStrainedByANewLength) {
    Session free(read(R"(
limber: 1
plane: xy
bodies:
  beam:
    beam: {to: [1, 0], elements: 4, section: {given: {axial: 1e4, shear: 4e3, bending: 2, mass: 1, inertia: 1e-3}}}
    angular-velocity: 0.5
sensors: {root: {section: beam.from}, tip: {position: beam.to, relative-to: beam.from}}
)"),
                 options("global", "trapezoidal", "reference-point"), SessionOptions{});
    ASSERT_TRUE(free.advance(0.2).ok);
    EXPECT_TRUE(free.apply("set bodies.beam.beam.to [1.5, 0]").ok);
    std::vector<double> values;
    free.observer().observe(free.simulation().state(), 0, values);
    const auto& columns = free.observer().columns();
    for (std::size_t i = 0; i < columns.size(); ++i) {
        if (columns[i] == "root.bending_z") EXPECT_NEAR(values[i], 0, 0.02);
        if (columns[i] == "root.axial") EXPECT_NEAR(values[i], 0, 2);
        if (columns[i] == "tip.x") EXPECT_NEAR(values[i], 1.5, 1e-3);
    }
}

}  // namespace
}  // namespace limber::testing
