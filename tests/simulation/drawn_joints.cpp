// Joints that name the ground alone, which is the world's origin.

#include <gtest/gtest.h>

#include "limber/simulation/drawn_joints.hpp"

#include "limber/model/error.hpp"
#include "support/models.hpp"

namespace limber::testing {
namespace {

std::string belt(const std::string& place, const std::string& joint) {
    return R"(
limber: 1
plane: xy
bodies:
  ground: {markers: {rail: [0, -0.1]}}
  belt: {box: {size: [1, 0.1], mass: 5}, at: )" +
           place + R"(}
joints:
  roller: {prismatic: )" +
           joint + R"(}
sensors: {place: {position: belt}, way: {coordinate: roller.displacement}}
)";
}

TEST(DrawnJoints, OnTheGroundAloneMustFit) {
    for (const char* joint : {"[ground, belt]", "[ground, belt], axis: [1, 0]", "[belt, ground], axis: [1, 0]"}) {
        try {
            Simulation simulation(read(belt("[0.5, -0.1]", joint)));
            FAIL() << joint;
        } catch (const ModelError& error) {
            EXPECT_STREQ(
                error.what(),
                "joint 'roller': 'ground' alone is the origin of the world, and from there the joint is open by "
                "0.1 m where 'belt' is drawn; say where it is with 'at', or give the ground a marker there");
        }
    }
}

TEST(DrawnJoints, ThatSayWhereTheyAreLeaveBodiesThere) {
    for (const char* joint : {"[ground, belt], at: belt, axis: [1, 0]", "[ground, belt], at: [0, -0.1], axis: [1, 0]",
                              "[ground.rail, belt]"}) {
        Simulation simulation(read(belt("[0.5, -0.1]", joint)));
        EXPECT_NEAR(sense(simulation, "place.x"), 0.5, 1e-12) << joint;
        EXPECT_NEAR(sense(simulation, "place.y"), -0.1, 1e-12) << joint;
    }
}

// Along what the joint leaves free a body may be anywhere, and a sketch may be a little off.
TEST(DrawnJoints, MayBeSketched) {
    Simulation simulation(read(belt("[0.5, 0.001]", "[ground, belt], axis: [1, 0]")));
    EXPECT_NEAR(sense(simulation, "way"), 0.5, 1e-3);
    EXPECT_NEAR(sense(simulation, "place.y"), 0, 1e-9);
}

// Where its displacement begins is told; with 'at' it begins at zero.
TEST(DrawnJoints, TellFromWhereASlideCounts) {
    Simulation without(read(belt("[0.5, 0]", "[ground, belt], axis: [1, 0]")));
    EXPECT_NEAR(sense(without, "way"), 0.5, 1e-12);
    ASSERT_EQ(without.notes().size(), 1U);
    EXPECT_EQ(without.notes()[0],
              "joint 'roller' has 'axis' and no 'at': its displacement counts from 'ground' and is 0.5 as drawn; with "
              "'at' it would "
              "be 0 there");
    Simulation with(read(belt("[0.5, 0]", "[ground, belt], at: [0, 0], axis: [1, 0]")));
    EXPECT_NEAR(sense(with, "way"), 0, 1e-12);
    EXPECT_TRUE(with.notes().empty());
    EXPECT_TRUE(Simulation(read(belt("[0, 0]", "[ground, belt], axis: [1, 0]"))).notes().empty());
}

}  // namespace
}  // namespace limber::testing
