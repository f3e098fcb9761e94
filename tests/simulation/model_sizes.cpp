// Sizes of mechanisms in three ways of writing them, against the counts of Talaba (2002) and counts by hand.

#include "limber/simulation/model_sizes.hpp"

#include <gtest/gtest.h>

#include "support/models.hpp"

namespace limber::testing {
namespace {

void expect_sizes(const ModelSizes& s, std::array<int, 7> expected) {
    EXPECT_EQ((std::array<int, 7>{s.chain_coordinates, s.chain_unknowns, s.body_coordinates, s.body_unknowns,
                                  s.particles, s.particle_coordinates, s.particle_unknowns}),
              expected);
}

TEST(ModelSizes, AreThoseOfTalabasSixBar) {
    expect_sizes(count_model_sizes(example("loops/six-bar.yaml")), {7, 21, 15, 29, 12, 24, 47});
}

TEST(ModelSizes, CountAxesAndLooseBodiesInSpace) {
    // A hinge (two points on each body) and a ball: 1 + 3 freedoms; the middle body has 2 + 1 points, so 4 are taken.
    expect_sizes(count_model_sizes(read(R"(
limber: 1
bodies:
  arm: {mass: 1, inertia: [1, 1, 1]}
  end: {mass: 1, inertia: [1, 1, 1], at: [1, 0, 0]}
joints:
  hinge: {revolute: [ground, arm], at: [0, 0, 0], axis: [0, 0, 1]}
  ball: {spherical: [arm, end], at: [1, 0, 0]}
)")),
                 {4, 12, 12, 20, 8, 24, 24 + 12 + 8});
    // A body that nothing holds has its six freedoms.
    expect_sizes(count_model_sizes(read("limber: 1\nbodies: {b: {mass: 1, inertia: [1, 1, 1]}}\n")),
                 {6, 6, 6, 6, 4, 12, 18});
}

}  // namespace
}  // namespace limber::testing
