// Divided mechanisms while they run: threads, joints that come and go, and the doors of a simulation.

#include <gtest/gtest.h>

#include <cmath>

#include "limber/simulation/session.hpp"
#include "support/model_text.hpp"
#include "support/models.hpp"

namespace limber::testing {
namespace {

// Formulations that cannot tell how the end of a step yields would let the joints come apart step by step.
TEST(Divided, RefusesWhatJointsAtTheEndCannotHold) {
    for (const auto& [formulation, integrator] : {std::pair{"articulated-body", "rk4"}, std::pair{"global", "rk4"},
                                                  std::pair{"augmented-lagrangian", "trapezoidal"}}) {
        SimulationOptions o = options(formulation, integrator);
        o.modular.division = "body";
        try {
            const Simulation simulation(example("double-pendulum.yaml"), o);
            ADD_FAILURE() << formulation << " " << integrator;
        } catch (const ModelError& error) {
            EXPECT_NE(std::string(error.what()).find("--coupling acceleration"), std::string::npos) << error.what();
        }
    }
}

SimulationOptions divided(const std::string& division, int threads = 1) {
    SimulationOptions o = options("global", "trapezoidal");
    o.modular.division = division;
    o.modular.threads = threads;
    return o;
}

TEST(Threads, DoNotChangeABit) {
    const Model model = example("n-four-bar.yaml", {{"N", "8"}});
    Simulation one(model, divided("auto:5"));
    Simulation three(model, divided("auto:5", 3));
    ASSERT_TRUE(one.advance(0.1, 2e-3).ok);
    ASSERT_TRUE(three.advance(0.1, 2e-3).ok);
    EXPECT_TRUE(same_bits(one.state().q, three.state().q));
    EXPECT_TRUE(same_bits(one.state().v, three.state().v));
}

// A state taken from elsewhere is taken up by the components: the same as a simulation that starts there.
TEST(DividedSimulation, TakesUpARestoredState) {
    Simulation simulation(example("double-pendulum.yaml"), divided("body"));
    ASSERT_TRUE(simulation.advance(0.3, 1e-3).ok);
    const State there = simulation.state();
    ASSERT_TRUE(simulation.advance(0.5, 1e-3).ok);
    const VecX once = simulation.state().q;
    simulation.restore(there);
    ASSERT_TRUE(simulation.advance(0.5, 1e-3).ok);
    EXPECT_LT((simulation.state().q - once).lpNorm<Eigen::Infinity>(), 1e-8);
}

TEST(DividedSimulation, TellsTheComponentOfEachBody) {
    Model model = example("double-pendulum.yaml");
    model.simulation.components = {{"low", {"low*"}, "", "newmark", "", Number(1e-4)}};
    const Simulation simulation(model, divided("groups"));
    EXPECT_EQ(simulation.components_of_bodies(), (std::vector<int>{1, 0}));
    ASSERT_EQ(simulation.components().size(), 2U);
    EXPECT_EQ(simulation.components()[0].name, "low");
    EXPECT_EQ(simulation.components()[0].integrator, "newmark");
    EXPECT_EQ(simulation.components()[1].name, "rest");
}

TEST(DividedSimulation, RefusesGroupsThatDoNotFit) {
    Model model = example("double-pendulum.yaml");
    const auto expect_refused = [&](std::vector<ComponentGroup> groups, const std::string& word) {
        model.simulation.components = std::move(groups);
        try {
            const Simulation simulation(model, divided("groups"));
            ADD_FAILURE() << "accepted";
        } catch (const ModelError& error) {
            EXPECT_NE(std::string(error.what()).find(word), std::string::npos) << error.what();
        }
    };
    expect_refused({}, "components");
    expect_refused({{"a", {"uper"}, "", "", "", std::nullopt}}, "there is no body 'uper'");
    expect_refused({{"a", {"upper"}, "", "", "", std::nullopt}, {"b", {"*"}, "", "", "", std::nullopt}}, "already");
    expect_refused({{"a", {"upper"}, "globl", "", "", std::nullopt}}, "global");
}

// Seguy et al. 2003, in modular form: the pivot is a joint between the link and the ground that is exchanged at every
// swing.
TEST(DividedSimulation, LetsThePendulumWalk) {
    SessionOptions session_options;
    session_options.step = 2e-3;
    Session s(example("live/walking-pendulum.yaml"), divided("body"), session_options);
    const auto sensed = [&](const std::string& name) {
        std::vector<double> values;
        s.observer().observe(s.simulation().state(), s.work(), values);
        const auto& columns = s.observer().columns();
        return values[static_cast<std::size_t>(std::find(columns.begin(), columns.end(), name) - columns.begin())];
    };
    const double start = s.observer().compute_energies(s.simulation().state()).potential;
    int swaps = 0;
    while (swaps < 20) {
        const StepReport report = s.step();
        ASSERT_TRUE(report.ok) << report.reason;
        for (std::size_t i = s.take_notes().size(); i > 0; --i) {
            ++swaps;
            EXPECT_NEAR(std::max(sensed("from.x"), sensed("to.x")), swaps, 1e-3);
            EXPECT_NEAR(std::min(sensed("from.x"), sensed("to.x")), swaps - 1, 1e-3);
            EXPECT_LT(std::max(std::abs(sensed("from.y")), std::abs(sensed("to.y"))), 1e-3);
        }
        const Energies e = s.observer().compute_energies(s.simulation().state());
        ASSERT_LT(e.kinetic + e.potential, start + 1e-5);
        ASSERT_LT(s.time(), 25);
    }
}

// ---------------------------------------------------------------- joints that come and go between the same boxes

constexpr const char* two_links = R"(
limber: 1
plane: xy
bodies:
  upper: {rod: {from: [0, 0], to: [1, 0], mass: 1}}
  lower: {rod: {from: [1, 0], to: [2, 0], mass: 2}}
joints:
  shoulder: {revolute: [ground, upper.from]}
  elbow: {revolute: [upper.to, lower.from]}
)";

class ExchangedJoints : public ::testing::Test {
protected:
    ExchangedJoints() : mechanism_(std::make_shared<const Mechanism<2>>(make_mechanism<2>(read(two_links)))) {
        ModularOptions o;
        o.division = "body";
        system_ = compile_modular<2>(mechanism_, find_division(*mechanism_, read(two_links), o),
                                     {"", "global", "trapezoidal", "", 0}, {}, {}, o.tolerance);
        assembly_ = make_assembly(*system_, o);
        for (int k = 0; k < 2; ++k) assembly_->component(k).import_motion(0, {mechanism_->bodies[k].reference}, {});
        EXPECT_TRUE(assembly_->start(0).ok);
    }

    void advance(int steps) {
        for (int i = 0; i < steps; ++i) ASSERT_TRUE(assembly_->step(1e-3).ok);
    }

    BodyStates<2> states() {
        BodyStates<2> list(2);
        std::vector<TwistVec<2>> rates(1);
        for (int k = 0; k < 2; ++k) assembly_->component(k).export_motion(std::span(list).subspan(k, 1), rates);
        return list;
    }

    double kinetic() {
        const BodyStates<2> list = states();
        return kinetic_energy(mechanism_->bodies[0], list[0]) + kinetic_energy(mechanism_->bodies[1], list[1]);
    }

    void exchange(const Mechanism<2>& mechanism, std::vector<int> elements) {
        const PartChoice choice{system_->parts.interface.bodies, std::move(elements), {}};
        assembly_->exchange_joints(std::make_unique<InterfaceJoints<2>>(mechanism, choice));
    }

    std::shared_ptr<const Mechanism<2>> mechanism_;
    std::shared_ptr<const ModularSystem<2>> system_;
    std::unique_ptr<ModularAssembly<2>> assembly_;
};

TEST_F(ExchangedJoints, LetGoWithoutAJump) {
    advance(300);
    const double before = kinetic();
    exchange(*mechanism_, {0});
    ASSERT_TRUE(assembly_->restart_velocities(0.3).ok);
    EXPECT_NEAR(kinetic(), before, 1e-12 * before);
    // The lower link now falls freely.
    const BodyStates<2> start = states();
    advance(100);
    const BodyStates<2> end = states();
    EXPECT_NEAR(end[1].velocity.y() - start[1].velocity.y(), -0.981, 1e-9);
    EXPECT_NEAR(end[1].angular_velocity[0], start[1].angular_velocity[0], 1e-9);
}

// A weld at the elbow: the same loss of energy as by the projection of the undivided mechanism.
TEST_F(ExchangedJoints, TakeHoldByAnImpulseThatLosesEnergy) {
    advance(300);
    const BodyStates<2> at = states();
    std::vector<double> none;
    Mechanism<2> with_weld = *mechanism_;
    // Equal angular velocities from now on, whatever the angle: the rate of the angle between the links.
    Measure<2> turn;
    turn.kind = MeasureKind::dot;
    turn.count = 2;
    turn.feature = {with_weld.bodies[0].frame.axis[0], with_weld.bodies[1].frame.axis[1], 0, 0, 0};
    ConstraintElement<2> element;
    element.name = "weld";
    element.first_row = static_cast<int>(with_weld.constraints.rows.size());
    element.row_count = 1;
    const int measure = with_weld.constraints.add_measure(turn);
    const double value = at[0].axes.col(0).dot(at[1].axes.col(1));
    with_weld.constraints.add_holonomic(2, {{1.0, measure}}, value);
    with_weld.elements.push_back(element);
    for (const int f : {turn.feature[0], turn.feature[1]})
        if (std::find(with_weld.used_features.begin(), with_weld.used_features.end(), f) ==
            with_weld.used_features.end())
            with_weld.used_features.push_back(f);
    BodyStates<2> projected = at;
    const VelocityReport expected = project_velocities(with_weld, projected, none, 0.3, false);
    EXPECT_GT(expected.energy_lost, 1e-3);
    const double before = kinetic();
    exchange(with_weld, {0, 1, 2});
    ASSERT_TRUE(assembly_->restart_velocities(0.3).ok);
    EXPECT_NEAR(before - kinetic(), expected.energy_lost, 1e-9);
    EXPECT_NEAR(states()[0].angular_velocity[0], states()[1].angular_velocity[0], 1e-10);
    advance(100);
    EXPECT_NEAR(states()[0].angular_velocity[0], states()[1].angular_velocity[0], 1e-8);
}

// What a component has saved is what it goes on from.
TEST_F(ExchangedJoints, ComponentsGoBackToWhatTheySaved) {
    advance(50);
    std::vector<double> saved[2];
    for (int k = 0; k < 2; ++k) saved[k] = assembly_->component(k).save();
    const BodyStates<2> then = states();
    advance(50);
    EXPECT_GT((states()[0].position - then[0].position).norm(), 1e-4);
    for (int k = 0; k < 2; ++k) assembly_->component(k).restore(saved[k]);
    for (int k = 0; k < 2; ++k) EXPECT_EQ(states()[k].position, then[k].position);
}

}  // namespace
}  // namespace limber::testing
