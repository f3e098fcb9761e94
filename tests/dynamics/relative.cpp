// Relative coordinates: forests, inverse dynamics, articulated bodies.

#include <gtest/gtest.h>

#include <cmath>

#include "limber/dynamics/system/relative_system.hpp"
#include "limber/kinematics/relative/articulated_inertia.hpp"
#include "support/joint_cases.hpp"
#include "support/models.hpp"
#include "support/systems.hpp"

namespace limber::testing {
namespace {

template <int D>
const RelativeTree<D>& tree_of(const StartedSystem<D>& s) {
    return static_cast<const RelativeSystem<D>&>(*s.system).coordinates().tree();
}

TEST(Forest, KeepsJointsWithManyEquationsAndShortChains) {
    // The Iltis: per corner leaf rod, carrier, arm and hub; the arm's pin on the chassis closes the loop.
    const StartedSystem<3> s(example("iltis/ramp-and-stairs.yaml"), CoordinateKind::relative);
    const RelativeTree<3>& tree = tree_of(s);
    EXPECT_EQ(tree.nodes.size(), 18U);
    EXPECT_EQ(tree.columns, 7 + 1 + 4 * 4);
    EXPECT_EQ(s.system->rows(), 1 + 4 * 3 + 1);  // length of p; arm pins and tie rods; the driver
    for (const auto& node : tree.nodes)
        if (node.parent >= 0) {
            EXPECT_LT(node.parent, &node - tree.nodes.data());
        }
}

TEST(Forest, ObeysTheFile) {
    const std::string yaml = R"(
limber: 1
plane: xy
bodies:
  a: {rod: {from: [0, 0], to: [0, 1], mass: 1}}
  b: {rod: {from: [0, 1], to: [1, 1], mass: 1}}
  c: {rod: {from: [1, 1], to: [1, 0], mass: 1}}
joints:
  j1: {revolute: [ground, a.from]}
  j2: {revolute: [a.to, b.from]CUT2}
  j3: {revolute: [b.to, c.from]}
  j4: {revolute: [c.to, ground]CUT4, at: [1, 0]}
)";
    const auto cut_joint = [&](const std::string& cut2, const std::string& cut4) {
        std::string text = yaml;
        text.replace(text.find("CUT2"), 4, cut2);
        text.replace(text.find("CUT4"), 4, cut4);
        const StartedSystem<2> s(read(text), CoordinateKind::relative);
        const auto& used = tree_of(s).is_tree_element;
        std::string open;
        for (std::size_t i = 0; i < used.size(); ++i)
            if (!used[i]) open += s.mechanism->elements[i].name;
        EXPECT_EQ(s.system->size(), 3);
        EXPECT_EQ(s.system->rows(), 2);
        return open;
    };
    EXPECT_EQ(cut_joint(", cut: true", ""), "j2");
    EXPECT_EQ(cut_joint("", ", cut: true"), "j4");
    EXPECT_EQ(cut_joint(", cut: false", ", cut: false"), "j3");
}

// M a - Q by sweeps equals the same by matrices, for every joint.
TEST(InverseDynamics, AgreesWithTheMassMatrix) {
    for (const auto& c : joint_cases()) {
        const StartedSystem<3> s(read(c.yaml), CoordinateKind::relative);
        const auto& system = static_cast<const RelativeSystem<3>&>(*s.system);
        const auto e = system.make_evaluation();
        const VecX a = VecX::LinSpaced(system.size(), -1, 2);
        system.update(*e, 0, s.state.q, s.state.v, s.state.memory);
        VecX expected(system.size());
        multiply(system.pattern(), e->mass, a, expected);
        expected -= e->force;
        VecX found(system.size());
        system.compute_inverse_dynamics(*e, a, found);
        EXPECT_LT((found - expected).norm(), 1e-10 * (1 + expected.norm())) << c.name;
    }
}

// A double pendulum at rest, horizontal: torques that hold it are the moments of the weights.
TEST(InverseDynamics, HoldsAnArmAgainstGravity) {
    const StartedSystem<2> s(read(R"(
limber: 1
plane: xy
bodies:
  upper: {rod: {from: [0, 0], to: [1, 0], mass: 2}}
  fore: {rod: {from: [1, 0], to: [1.6, 0], mass: 1}}
joints:
  shoulder: {revolute: [ground, upper.from]}
  elbow: {revolute: [upper.to, fore.from]}
)"),
                             CoordinateKind::relative);
    const auto& system = static_cast<const RelativeSystem<2>&>(*s.system);
    const auto e = system.make_evaluation();
    system.update(*e, 0, s.state.q, s.state.v, s.state.memory);
    VecX torque(2);
    system.compute_inverse_dynamics(*e, VecX::Zero(2), torque);
    EXPECT_NEAR(torque[0], 9.81 * (2 * 0.5 + 1.3), 1e-12);
    EXPECT_NEAR(torque[1], 9.81 * 0.3, 1e-12);
}

TEST(ArticulatedInertia, SolvesWithTheMassMatrix) {
    for (const char* name :
         {"joints/spherical.yaml", "joints/universal.yaml", "joints/planar.yaml", "loops/bricard.yaml"}) {
        const StartedSystem<3> s(example(name), CoordinateKind::relative);
        const auto& system = static_cast<const RelativeSystem<3>&>(*s.system);
        const auto e = system.make_evaluation();
        system.update(*e, 0, s.state.q, s.state.v, s.state.memory);
        const RelativeTree<3>& tree = system.coordinates().tree();
        ArticulatedInertia<3> inertia(*s.mechanism, tree, VecX::Zero(system.size()),
                                      std::vector<double>(tree.ball_columns.size(), 1.0));
        const auto& motion = RelativeSystem<3>::motion(*e);
        ASSERT_TRUE(inertia.factorize(motion, s.state.q)) << name;
        const VecX b = VecX::LinSpaced(system.size(), 1, -2);
        VecX x = b;
        inertia.solve(motion, x);
        // M x + p (p.x) = b
        VecX product(system.size());
        multiply(system.pattern(), e->mass, x, product);
        for (const int c : tree.ball_columns)
            product.segment<4>(c) += s.state.q.segment<4>(c) * s.state.q.segment<4>(c).dot(x.segment<4>(c));
        EXPECT_LT((product - b).norm(), 1e-9 * b.norm()) << name;
    }
}

TEST(ArticulatedBody, NeedsNoMatrixForLongChains) {
    // 2000 rods: the mass matrix would have two million entries.
    Simulation s(example("chain.yaml", {{"N", "2000"}}), options("articulated-body", "rk4"));
    EXPECT_EQ(s.system().pattern().nonzeros(), 0);
    EXPECT_EQ(s.system().size(), 2000);
    ASSERT_TRUE(s.advance(2e-3, 1e-3).ok);
    // Released from the horizontal, the free end falls ahead of the ones before it: the rods' weights hang on the first pin.
    EXPECT_LT(sense(s, "tip.y"), -0.5 * 9.81 * 4e-6 * 0.9);
}

}  // namespace
}  // namespace limber::testing
