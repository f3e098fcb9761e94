// Sets of coordinates: sharing, mass, body states in and out.

#include <gtest/gtest.h>

#include "limber/kinematics/natural/natural_coordinates.hpp"
#include "support/joint_cases.hpp"
#include "support/systems.hpp"

namespace limber::testing {
namespace {

int natural_size(const Model& model) {
    return model.planar ? StartedSystem<2>(model, CoordinateKind::natural).system->size()
                        : StartedSystem<3>(model, CoordinateKind::natural).system->size();
}
int natural_rows(const Model& model) {
    return model.planar ? StartedSystem<2>(model, CoordinateKind::natural).system->rows()
                        : StartedSystem<3>(model, CoordinateKind::natural).system->rows();
}

// Counts as Garcia de Jalon and Bayo would make them by hand.
TEST(NaturalCoordinates, ShareWhatTheJointsShare) {
    // Double pendulum: two moving points, two lengths; the joints need no equations.
    EXPECT_EQ(natural_size(example("double-pendulum.yaml")), 4);
    EXPECT_EQ(natural_rows(example("double-pendulum.yaml")), 2);
    // Slider-crank: the same and one equation for the rail.
    EXPECT_EQ(natural_rows(example("slider-crank.yaml")), 3);
    // N four-bar: N + 1 moving points, 2 N + 1 lengths.
    EXPECT_EQ(natural_size(example("n-four-bar.yaml", {{"N", "7"}})), 16);
    EXPECT_EQ(natural_rows(example("n-four-bar.yaml", {{"N", "7"}})), 15);
    // Andrews: points F, E, G, H.
    EXPECT_EQ(natural_size(example("andrews.yaml")), 8);
    EXPECT_EQ(natural_rows(example("andrews.yaml")), 7);
}

TEST(NaturalCoordinates, SpatialHingesShareAPointAndAVector) {
    // Two bodies of 12 coordinates joined by a hinge: a point and the axis counted once; of the 12 rigidity conditions
    // the length of the shared axis is one.
    const Model model = read(two_bodies("{revolute: [a.m, b.m]}"));
    EXPECT_EQ(natural_size(model), 24 - 6);
    EXPECT_EQ(natural_rows(model), 11);
    // A fixed joint leaves one set of 12.
    EXPECT_EQ(natural_size(read(two_bodies("{fixed: [a.m, b.m]}"))), 12);
    EXPECT_EQ(natural_rows(read(two_bodies("{fixed: [a.m, b.m]}"))), 6);
    // A ball joint shares a point and nothing else.
    EXPECT_EQ(natural_size(read(two_bodies("{spherical: [a.m, b.m]}"))), 21);
    EXPECT_EQ(natural_rows(read(two_bodies("{spherical: [a.m, b.m]}"))), 12);
}

TEST(NaturalCoordinates, SlenderRodsOnBallJointsAreTwoPoints) {
    const Model chain = read(R"(
limber: 1
bodies:
  r1: {rod: {from: [0, 0, 0], to: [1, 0, 0], mass: 1}}
  r2: {rod: {from: [1, 0, 0], to: [2, 0, 0], mass: 1}}
  r3: {rod: {from: [2, 0, 0], to: [3, 0, 0], mass: 1}}
joints:
  j1: {spherical: [ground, r1.from]}
  j2: {spherical: [r1.to, r2.from]}
  j3: {spherical: [r2.to, r3.from]}
)");
    EXPECT_EQ(natural_size(chain), 9);
    EXPECT_EQ(natural_rows(chain), 3);
}

TEST(NaturalCoordinates, PointMassesAreOnePoint) {
    const Model model = read("{limber: 1, bodies: {p: {point: {mass: 1}}}}");
    EXPECT_EQ(natural_size(model), 3);
    EXPECT_EQ(natural_rows(model), 0);
}

// Velocities in, energy out: M must give the kinetic energy of the bodies.
template <int D>
void check_bodies(const Model& model, CoordinateKind kind, const std::string& what) {
    const StartedSystem<D> s(model, kind);
    double energy = 0;
    for (std::size_t b = 0; b < s.bodies.size(); ++b) energy += kinetic_energy(s.mechanism->bodies[b], s.bodies[b]);
    const auto e = s.system->make_evaluation();
    s.system->update(*e, 0, s.state.q, s.state.v, s.state.memory);
    VecX momentum(s.state.q.size());
    multiply(s.system->pattern(), e->mass, s.state.v, momentum);
    EXPECT_NEAR(0.5 * s.state.v.dot(momentum), energy, 1e-12 * (1 + energy)) << what;
    // Import and export are inverse to each other.
    BodyStates<D> out;
    s.system->export_states(s.state.q, s.state.v, out);
    for (std::size_t b = 0; b < out.size(); ++b) {
        EXPECT_LT((out[b].position - s.bodies[b].position).norm(), 1e-13) << what;
        EXPECT_LT((out[b].axes - s.bodies[b].axes).norm(), 1e-12) << what;
        EXPECT_LT((out[b].velocity - s.bodies[b].velocity).norm(), 1e-11) << what;
        EXPECT_LT((out[b].angular_velocity - s.bodies[b].angular_velocity).norm(), 1e-11) << what;
    }
    // Constraints hold at all levels for the imported state.
    EXPECT_LT(e->phi.head(s.system->holonomic_rows()).template lpNorm<Eigen::Infinity>(), 1e-12) << what;
    EXPECT_LT(e->rate.template lpNorm<Eigen::Infinity>(), 1e-9) << what;
}

// The joint with its bodies exchanged: seen from the tree, its motions run backwards.
std::string reversed(std::string yaml) {
    const std::string bodies = "[a.m, b.m]";
    const auto at = yaml.find(bodies);
    if (at != std::string::npos) yaml.replace(at, bodies.size(), "[b.m, a.m]");
    return yaml;
}

TEST(Coordinates, CarryTheBodiesFaithfully) {
    for (const CoordinateKind kind :
         {CoordinateKind::natural, CoordinateKind::reference_point, CoordinateKind::relative}) {
        for (const auto& c : joint_cases())
            for (const std::string& yaml : {c.yaml, reversed(c.yaml)}) check_bodies<3>(read(yaml), kind, c.name);
        for (const auto& c : planar_joint_cases())
            for (const std::string& yaml : {c.yaml, reversed(c.yaml)}) check_bodies<2>(read(yaml), kind, c.name);
    }
}

}  // namespace
}  // namespace limber::testing
