// Assembly, velocities at the start, degrees of freedom and redundancy.

#include <gtest/gtest.h>

#include <algorithm>

#include "support/joint_cases.hpp"
#include "support/models.hpp"

namespace limber::testing {
namespace {

MobilityReport mobility(const Model& model) {
    return Simulation(model).compute_mobility();
}

TEST(Mobility, CountsWhatEachJointRemoves) {
    // Two free bodies have 12 freedoms; the joint table of the theory page.
    const std::vector<std::pair<std::string, int>> removed{{"fixed", 6},
                                                           {"revolute", 5},
                                                           {"prismatic", 5},
                                                           {"cylindrical", 4},
                                                           {"spherical", 3},
                                                           {"universal", 4},
                                                           {"planar", 3},
                                                           {"helical", 5},
                                                           {"point_on_line", 2},
                                                           {"point_on_plane", 1},
                                                           {"distance", 1},
                                                           {"parallel_axes", 2},
                                                           {"perpendicular_axes", 1},
                                                           {"constant_velocity", 4},
                                                           {"point_on_curve", 2},
                                                           {"rolling_disc", 3},
                                                           {"skate", 1}};
    const auto cases = joint_cases();
    for (const auto& entry : removed) {
        const std::string& name = entry.first;
        const int count = entry.second;
        const auto c = std::find_if(cases.begin(), cases.end(), [&](const JointCase& j) { return j.name == name; });
        ASSERT_NE(c, cases.end()) << name;
        const MobilityReport report = mobility(read(c->yaml));
        EXPECT_EQ(report.freedoms, 12 - count) << name;
        EXPECT_EQ(report.redundant, 0) << name;
        EXPECT_EQ(report.counted_freedoms, 12 - count) << name;
    }
}

TEST(Mobility, FindsOverconstrainedLoops) {
    const MobilityReport four_bar = mobility(example("loops/spatial-four-bar.yaml"));
    EXPECT_EQ(four_bar.freedoms, 1);
    EXPECT_EQ(four_bar.redundant, 3);
    EXPECT_EQ(four_bar.counted_freedoms, -2);
    EXPECT_FALSE(four_bar.singular_start);
    EXPECT_EQ(four_bar.redundant_elements, (std::vector<std::string>{"a", "b", "c", "d"}));

    const MobilityReport bennett = mobility(example("loops/bennett.yaml"));
    EXPECT_EQ(bennett.freedoms, 1);
    EXPECT_EQ(bennett.redundant, 3);

    const MobilityReport bricard = mobility(example("loops/bricard.yaml"));
    EXPECT_EQ(bricard.freedoms, 1);
    EXPECT_EQ(bricard.redundant, 1);
    EXPECT_EQ(bricard.counted_freedoms, 0);

    // The same four-bar in the plane has nothing to spare.
    const MobilityReport planar = mobility(example("n-four-bar.yaml", {{"N", "1"}}));
    EXPECT_EQ(planar.freedoms, 1);
    EXPECT_EQ(planar.redundant, 0);
}

TEST(Mobility, NamesOnlyTheJointsConcerned) {
    // A door on two hinges, and a knob on one: the hinges share the load in an undetermined way, the knob does not.
    const MobilityReport report = mobility(read(R"(
limber: 1
bodies:
  door: {box: {size: [0.8, 0.04, 2], mass: 20}, at: [0.4, 0, 1]}
  knob: {sphere: {radius: 0.03, mass: 0.2}, at: [0.75, 0.05, 1]}
joints:
  low: {revolute: [ground, door], at: [0, 0, 0.3]}
  high: {revolute: [ground, door], at: [0, 0, 1.7]}
  spindle: {revolute: [door, knob], at: [0.75, 0.05, 1], axis: [0, 1, 0]}
)"));
    EXPECT_EQ(report.freedoms, 2);
    EXPECT_EQ(report.redundant, 5);
    EXPECT_EQ(report.redundant_elements, (std::vector<std::string>{"low", "high"}));
}

TEST(Mobility, TellsADeadPointFromRedundancy) {
    // The parallelogram laid flat: two freedoms there, one elsewhere.
    const MobilityReport flat = mobility(read(R"(
limber: 1
plane: xy
bodies:
  a: {rod: {from: [0, 0], to: [1, 0], mass: 1}}
  b: {rod: {from: [1, 0], to: [3, 0], mass: 1}}
  c: {rod: {from: [2, 0], to: [3, 0], mass: 1}}
joints:
  j1: {revolute: [ground, a.from]}
  j2: {revolute: [a.to, b.from]}
  j3: {revolute: [b.to, c.to]}
  j4: {revolute: [ground, c.from], at: [2, 0]}
)"));
    EXPECT_EQ(flat.freedoms, 2);
    EXPECT_TRUE(flat.singular_start);
}

TEST(Mobility, CountsTheSixBarOfTalaba) {
    // A planar six-bar with five moving bodies and seven single-freedom joints: 3 * 5 - 2 * 7 = 1.
    const MobilityReport report = mobility(example("loops/six-bar.yaml"));
    EXPECT_EQ(report.bodies, 5);
    EXPECT_EQ(report.rows - 1, 14) << "one row belongs to the driver";
    EXPECT_EQ(report.freedoms, 0) << "driven";
}

TEST(Assembly, ClosesALoopGivenRoughly) {
    // Ends that miss each other by centimetres; the heavy body moves least.
    Simulation simulation(read(R"(
limber: 1
plane: xy
bodies:
  heavy: {rod: {from: [0, 0], to: [0.1, 1.05], mass: 1000}}
  light: {rod: {from: [0.05, 0.95], to: [1.1, 1.0], mass: 1}}
  other: {rod: {from: [1, 0], to: [1.02, 0.98], mass: 1}}
joints:
  a: {revolute: [ground, heavy.from]}
  b: {revolute: [heavy.to, light.from]}
  c: {revolute: [light.to, other.to]}
  d: {revolute: [ground, other.from], at: [1, 0]}
sensors: {h: {position: heavy.to}, l: {position: light.from}}
)"));
    EXPECT_TRUE(simulation.assembly().converged);
    EXPECT_LT(simulation.assembly().largest_error, 1e-12);
    EXPECT_NEAR(sense(simulation, "h.x"), sense(simulation, "l.x"), 1e-12);
    EXPECT_NEAR(sense(simulation, "h.x"), 0.1, 1e-3);
}

TEST(Assembly, TakesInitialCoordinatesAndRates) {
    Simulation simulation(read(R"(
limber: 1
plane: xy
bodies:
  crank: {rod: {from: [0, 0], to: [1, 0], mass: 1}}
  link: {rod: {from: [1, 0], to: [3, 0], mass: 1}}
joints:
  pivot: {revolute: [ground, crank.from], x: [1, 0]}
  pin: {revolute: [crank.to, link.from]}
  rail: {point-on-line: [ground, link.to]}
initial: {positions: {pivot.angle: 50 deg}, rates: {pivot.angle: 3}}
sensors: {angle: {coordinate: pivot.angle}, rate: {rate: pivot.angle}, slider: {position: link.to}, speed: {velocity: link.to}}
)"));
    const double angle = 50 * pi / 180;
    const double slider = std::cos(angle) + std::sqrt(4 - std::sin(angle) * std::sin(angle));
    EXPECT_NEAR(sense(simulation, "angle"), angle, 1e-12);
    EXPECT_NEAR(sense(simulation, "slider.x"), slider, 1e-12);
    EXPECT_NEAR(sense(simulation, "rate"), 3, 1e-9);
    const double speed = -3 * (std::sin(angle) + std::sin(angle) * std::cos(angle) / (slider - std::cos(angle)));
    EXPECT_NEAR(sense(simulation, "speed.x"), speed, 1e-8);
}

TEST(Assembly, SaysWhichJointCannotBeClosed) {
    try {
        Simulation simulation(read(R"(
limber: 1
plane: xy
bodies:
  ground: {markers: {far: [5, 0]}}
  a: {rod: {from: [0, 0], to: [1, 0], mass: 1}}
  b: {rod: {from: [1, 0], to: [2, 0], mass: 1}}
joints:
  left: {revolute: [ground, a.from]}
  middle: {revolute: [a.to, b.from]}
  right: {revolute: [ground.far, b.to]}
)"));
        FAIL() << "two rods of 1 m cannot reach 5 m";
    } catch (const ModelError& error) {
        EXPECT_NE(std::string(error.what()).find("cannot be assembled"), std::string::npos) << error.what();
    }
}

TEST(Velocities, AreProjectedAsAnImpulseWould) {
    // Two equal masses on a rigid massless link: only the mean of their velocities along the link survives.
    Simulation simulation(read(R"(
limber: 1
plane: xy
gravity: none
bodies:
  a: {point: {mass: 1}, velocity: [3, 1]}
  b: {point: {mass: 1}, at: [1, 0], velocity: [-1, 2]}
joints: {link: {distance: [a, b]}}
sensors: {a: {velocity: a}, b: {velocity: b}}
)"));
    EXPECT_NEAR(sense(simulation, "a.x"), 1, 1e-8);
    EXPECT_NEAR(sense(simulation, "b.x"), 1, 1e-8);
    EXPECT_NEAR(sense(simulation, "a.y"), 1, 1e-8);
    EXPECT_NEAR(sense(simulation, "b.y"), 2, 1e-8);
    EXPECT_NEAR(simulation.velocity_start().energy_lost, 4, 1e-7);  // 1/2 (9 + 1) - 1/2 (1 + 1)
}

}  // namespace
}  // namespace limber::testing
