// All formulations must find the same accelerations and reactions for the same motion, in both sets of coordinates.

#include <gtest/gtest.h>

#include "limber/dynamics/formulation.hpp"
#include "limber/kinematics/body_space/reactions.hpp"
#include "support/force_cases.hpp"
#include "support/systems.hpp"

namespace limber::testing {
namespace {

template <int D>
struct Dynamics {
    std::vector<TwistVec<D>> rates;
    std::vector<TwistVec<D>> reactions;  // of all joints
    double unbalanced = 0;
};

template <int D>
Dynamics<D> solve(const Model& model, const std::string& formulation, CoordinateKind kind) {
    const StartedSystem<D> s(model, kind);
    const System& system = *s.system;
    const auto solver = make_acceleration_solver(formulation, s.system);
    VecX a(system.size());
    VecX lambda(system.rows());
    EXPECT_TRUE(solver->solve(0, s.state.q, s.state.v, s.state.memory, a, lambda)) << solver->failure();
    const Evaluation& e = solver->evaluation();

    // Operators against each other: M a + J^T lambda = Q and J a + bias = 0 (penalty: to about 1 / penalty).
    const double tolerance = formulation == "penalty" ? 1e-4 : 1e-8;
    VecX residual(system.size());
    multiply(system.pattern(), e.mass, a, residual);
    residual -= e.force;
    add_transposed(system.jacobian_pattern(), e.jacobian, lambda, 1.0, residual);
    EXPECT_LT(residual.lpNorm<Eigen::Infinity>(), tolerance * (1 + e.force.lpNorm<Eigen::Infinity>()));
    VecX rows(system.rows());
    multiply(system.jacobian_pattern(), e.jacobian, a, rows);
    EXPECT_LT((rows + e.bias).template lpNorm<Eigen::Infinity>(),
              tolerance * (1 + e.bias.lpNorm<Eigen::Infinity>() + a.lpNorm<Eigen::Infinity>()));

    Dynamics<D> result;
    s.system->export_twist_rates(s.state.q, s.state.v, a, result.rates);
    ReactionSolver<D> reactions(*s.mechanism);
    result.unbalanced = reactions.solve(s.bodies, s.state.memory, 0, result.rates);
    for (std::size_t i = 0; i < s.mechanism->elements.size(); ++i)
        result.reactions.push_back(reactions.reaction(static_cast<int>(i)));
    return result;
}

// Accelerations of coordinates made of those of bodies: they give these again, and the equations of the coordinates
// (rigidity, joints, lengths of Euler parameters) hold, which are written elsewhere.
template <int D>
void check_import(const Model& model, CoordinateKind kind, const std::vector<TwistVec<D>>& rates, double size,
                  const std::string& what) {
    const StartedSystem<D> s(model, kind);
    VecX a;
    s.system->import_twist_rates(s.bodies, rates, s.state.q, s.state.v, a);
    const auto e = s.system->make_evaluation();
    s.system->update(*e, 0, s.state.q, s.state.v, s.state.memory);
    VecX rows(s.system->rows());
    multiply(s.system->jacobian_pattern(), e->jacobian, a, rows);
    EXPECT_LT((rows + e->bias).template lpNorm<Eigen::Infinity>(), 1e-8 * size) << what;
    std::vector<TwistVec<D>> again;
    s.system->export_twist_rates(s.state.q, s.state.v, a, again);
    for (std::size_t b = 0; b < rates.size(); ++b) EXPECT_LT((again[b] - rates[b]).norm(), 1e-8 * size) << what;
}

template <int D>
void check(const Model& model, const std::string& name) {
    const Dynamics<D> expected = solve<D>(model, "baumgarte", CoordinateKind::reference_point);
    double size = 1;
    for (const auto& rate : expected.rates) size = std::max(size, rate.norm());
    EXPECT_LT(expected.unbalanced, 1e-9) << name;
    for (const std::string& coordinates : all_coordinates())
        check_import<D>(model, parse_coordinate_kind(coordinates), expected.rates, size, name + " " + coordinates);
    for (const std::string& coordinates : all_coordinates())
        for (const std::string& formulation : formulation_names()) {
            if (!fits(formulation, coordinates)) continue;
            const CoordinateKind kind = parse_coordinate_kind(coordinates);
            const Dynamics<D> found = solve<D>(model, formulation, kind);
            const double tolerance = (formulation == "penalty" ? 1e-4 : 1e-8) * size;
            for (std::size_t b = 0; b < found.rates.size(); ++b)
                EXPECT_LT((found.rates[b] - expected.rates[b]).norm(), tolerance) << name << " " << formulation;
            double force = 1;
            for (const auto& r : expected.reactions) force = std::max(force, r.norm());
            for (std::size_t i = 0; i < found.reactions.size(); ++i)
                EXPECT_LT((found.reactions[i] - expected.reactions[i]).norm(), tolerance * force)
                    << name << " " << formulation;
        }
}

TEST(Accelerations, AgreeForEveryJoint) {
    for (const auto& c : joint_cases()) check<3>(read(c.yaml), c.name);
    for (const auto& c : planar_joint_cases()) check<2>(read(c.yaml), "planar " + c.name);
}

TEST(Accelerations, AgreeForEveryForce) {
    for (const auto& c : force_cases()) {
        check<3>(read(force_model(c, false)), c.name);
        check<2>(read(force_model(c, true)), "planar " + c.name);
    }
}

TEST(Accelerations, AgreeForRedundantLoops) {
    for (const char* name : {"loops/bricard.yaml", "loops/bennett.yaml", "loops/spatial-four-bar.yaml"})
        check<3>(example(name), name);
}

// IVP test set: accelerations and multipliers of Andrews' mechanism at the start.
TEST(Accelerations, OfAndrewsMechanismAreThePublishedOnes) {
    for (const std::string& formulation : formulation_names()) {
        Model model = example("andrews.yaml");
        model.add(Acceleration{.name = "beta_acceleration", .of = Coordinate{"O.angle"}});
        model.add(Acceleration{.name = "theta_acceleration", .of = Coordinate{"F.angle"}});
        Simulation simulation(model, options(formulation, "rk4"));
        const double relative = formulation == "penalty" ? 1e-5 : 1e-9;
        EXPECT_NEAR(sense(simulation, "beta_acceleration"), 14222.4439199541, relative * 14222) << formulation;
        EXPECT_NEAR(sense(simulation, "theta_acceleration"), -10666.8329399656, relative * 10667) << formulation;
    }
}

}  // namespace
}  // namespace limber::testing
