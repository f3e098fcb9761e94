// Relative coordinates: forests, inverse dynamics, articulated bodies.

#include <gtest/gtest.h>

#include <cmath>

#include "limber/dynamics/system/relative_system.hpp"
#include "limber/kinematics/relative/articulated_inertia.hpp"
#include "support/joint_cases.hpp"
#include "support/measures.hpp"
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

// The articulated inertias of an example where it starts, with one for the length of every set of Euler parameters.
struct ExampleInertia {
    StartedSystem<3> start;
    const RelativeSystem<3>& system;
    std::unique_ptr<Evaluation> evaluation;
    ArticulatedInertia<3> inertia;

    explicit ExampleInertia(const char* name)
        : start(example(name), CoordinateKind::relative),
          system(static_cast<const RelativeSystem<3>&>(*start.system)),
          evaluation(system.make_evaluation()),
          inertia(*start.mechanism, tree_of(start), VecX::Zero(system.size()),
                  std::vector<double>(tree_of(start).ball_columns.size(), 1.0)) {
        system.update(*evaluation, 0, start.state.q, start.state.v, start.state.memory);
        EXPECT_TRUE(inertia.factorize(RelativeSystem<3>::motion(*evaluation), start.state.q)) << name;
    }
};

TEST(ArticulatedInertia, SolvesWithTheMassMatrix) {
    for (const char* name :
         {"joints/spherical.yaml", "joints/universal.yaml", "joints/planar.yaml", "loops/bricard.yaml"}) {
        ExampleInertia c(name);
        const VecX b = VecX::LinSpaced(c.system.size(), 1, -2);
        VecX x = b;
        c.inertia.solve(x);
        // M x + p (p.x) = b
        VecX product(c.system.size());
        multiply(c.system.pattern(), c.evaluation->mass, x, product);
        for (const int first : tree_of(c.start).ball_columns)
            product.segment<4>(first) +=
                c.start.state.q.segment<4>(first) * c.start.state.q.segment<4>(first).dot(x.segment<4>(first));
        EXPECT_LT((product - b).norm(), 1e-9 * b.norm()) << name;
    }
}

// Two unit vectors: the dot product of their ways up is an entry of M^-1, which a full solve gives too.
TEST(ArticulatedInertia, WaysUpMultiplyToTheInverse) {
    for (const char* name : {"joints/spherical.yaml", "joints/planar.yaml", "loops/bricard.yaml"}) {
        ExampleInertia c(name);
        const double one = 1;
        MatX ways = MatX::Zero(c.system.size(), c.system.size());
        for (int k = 0; k < c.system.size(); ++k) {
            const TreeBranch branch = c.inertia.find_branch({&k, 1});
            std::vector<double> u(branch.columns.size());
            c.inertia.climb(branch, {&k, 1}, &one, u.data());
            for (std::size_t i = 0; i < u.size(); ++i) ways(branch.columns[i], k) = u[i];
        }
        for (int k = 0; k < c.system.size(); ++k) {
            VecX x = VecX::Unit(c.system.size(), k);
            c.inertia.solve(x);
            EXPECT_LT((ways.transpose() * ways.col(k) - x).norm(), 1e-10 * x.norm()) << name << " " << k;
        }
    }
}

// Rounding of the forces moves the far end of a chain of several hundred rods by more than Newton's method looks for.
TEST(SemiRecursive, StepsALongChain) {
    const Model model = example("chain.yaml", {{"N", "700"}});
    const auto tip_after_a_step = [&](const char* formulation) {
        Simulation simulation(model, options(formulation, "trapezoidal"));
        examples::advance_or_throw(simulation, 1e-3, 1e-3);
        return sense(simulation, "tip.y");
    };
    EXPECT_NEAR(tip_after_a_step("semi-recursive") / tip_after_a_step("global"), 1, 1e-6);
}

// p' by the sweep is the time derivative of p = M v along the motion without closures, for every joint: central
// differences with Richardson's extrapolation.
TEST(CanonicalMomenta, ChangeAsTheirRatesSay) {
    for (const auto& c : joint_cases()) {
        const StartedSystem<3> s(read(c.yaml), CoordinateKind::relative);
        const auto& system = static_cast<const RelativeSystem<3>&>(*s.system);
        const auto e = system.make_evaluation();
        system.update(*e, 0, s.state.q, s.state.v, s.state.memory);
        // Accelerations that balance the forces, closures left out.
        MatX mass = MatX::Zero(system.size(), system.size());
        for (int j = 0; j < system.size(); ++j)
            for (int k = system.pattern().start[j]; k < system.pattern().start[j + 1]; ++k)
                mass(system.pattern().row[k], j) = mass(j, system.pattern().row[k]) = e->mass[k];
        const VecX force = e->force;
        const VecX a = mass.completeOrthogonalDecomposition().solve(force);
        if ((mass * a - force).norm() > 1e-9 * (1 + force.norm())) continue;  // a massless part that only closures hold
        VecX rates;
        system.compute_momentum_rates(*e, rates);
        const auto momenta_after = [&](double dt) {
            const VecX q = s.state.q + dt * s.state.v + dt * dt / 2 * a;
            const VecX v = s.state.v + dt * a;
            VecX p;
            system.update(*e, dt, q, v, s.state.memory);
            system.compute_momenta(*e, p);
            return p;
        };
        const auto slope = [&](double h) { return VecX((momenta_after(h) - momenta_after(-h)) / (2 * h)); };
        const VecX expected = (4 * slope(5e-5) - slope(1e-4)) / 3;
        // Along Euler parameters only the part across them counts: their length is kept by an equation of its own.
        VecX error = rates - expected;
        for (const int first : system.coordinates().tree().ball_columns)
            error.segment<4>(first) -=
                s.state.q.segment<4>(first) * s.state.q.segment<4>(first).dot(error.segment<4>(first));
        EXPECT_LT(error.norm(), 1e-8 * (1 + expected.norm())) << c.name;
    }
}

// Momenta that nothing changes are linear in (q, p): Runge-Kutta steps keep them to rounding, at any step.
TEST(CanonicalMomenta, KeepMomentumToRounding) {
    const Model model = read(R"(
limber: 1
plane: xy
gravity: none
bodies:
  a: {rod: {from: [0, 0], to: [1, 0], mass: 2}, velocity: [0.3, -0.2], angular-velocity: 3}
  b: {rod: {from: [1, 0], to: [1.6, 0.4], mass: 1}, velocity: [0.3, 2.8], angular-velocity: -5}
  c: {rod: {from: [1.6, 0.4], to: [2, 0.4], mass: 0.5}, velocity: [2.3, -0.2], angular-velocity: 7}
joints:
  ab: {revolute: [a.to, b.from]}
  bc: {revolute: [b.to, c.from]}
forces:
  k: {spring: [a.from, c.to], stiffness: 20}
)");
    const auto largest_change = [&](const std::string& formulation) {
        Simulation s(model, options(formulation, "rk4"));
        Vec3 linear;
        Vec3 angular;
        s.observer().compute_momentum(s.state(), linear, angular);
        double change = 0;
        for (int i = 0; i < 100; ++i) {
            EXPECT_TRUE(s.step(0.02).ok);
            Vec3 now;
            Vec3 turning;
            s.observer().compute_momentum(s.state(), now, turning);
            change = std::max({change, (now - linear).norm(), (turning - angular).norm()});
        }
        return change;
    };
    EXPECT_LT(largest_change("canonical-momenta"), 2e-13);
    EXPECT_GT(largest_change("articulated-body"), 1e-6);  // the same steps in (q, v)
}

// Newton's method finds the same steps with the tangent of the hybrid paper, which leaves out how Jacobians and
// inertias change. In global and hybrid the tangent is the metric of the projections as well, so there the two differ
// by a part of the error of the step.
TEST(ApproximateTangent, GivesTheSameMotion) {
    for (const char* name :
         {"slider-crank.yaml", "loops/bricard.yaml", "iltis/bump-in-phase.yaml", "joints/spherical.yaml"})
        for (const std::string formulation : {"global", "hybrid", "semi-recursive"}) {
            const Model model = example(name);
            const auto motion = [&](bool is_approximate, double step) {
                SimulationOptions o = options(formulation, "trapezoidal");
                o.formulation_options.use_approximate_tangent = is_approximate;
                o.formulation_options.tolerance = 1e-10;
                Simulation s(model, o);
                const StepReport report = s.advance(0.1, step);
                EXPECT_TRUE(report.ok) << name << " " << formulation << ": " << report.reason;
                return s.state();
            };
            const auto difference = [&](double step) { return (motion(true, step).q - motion(false, step).q).norm(); };
            const double coarse = difference(1e-3);
            // It is another iteration, and if only rounding tells.
            EXPECT_GT(coarse + (motion(true, 1e-3).a - motion(false, 1e-3).a).norm(), 0) << name << " " << formulation;
            if (coarse < 1e-8) continue;
            EXPECT_NE(formulation, "semi-recursive") << name;
            EXPECT_LT(coarse, 1e-5) << name << " " << formulation;
            EXPECT_LT(difference(5e-4), coarse / 3) << name << " " << formulation;
        }
}

TEST(ArticulatedBody, NeedsNoMatrixForLongChains) {
    // 2000 rods: the mass matrix would have two million entries.
    Simulation s(example("chain.yaml", {{"N", "2000"}}), options("articulated-body", "rk4"));
    EXPECT_EQ(s.system().pattern().nonzeros(), 0);
    EXPECT_EQ(s.system().size(), 2000);
    ASSERT_TRUE(s.advance(2e-3, 1e-3).ok);
    // Released from the horizontal, the free end falls ahead of the ones before it: the rods' weights hang on the first
    // pin.
    EXPECT_LT(sense(s, "tip.y"), -0.5 * 9.81 * 4e-6 * 0.9);
}

}  // namespace
}  // namespace limber::testing
