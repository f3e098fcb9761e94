// Divided mechanisms without bodies, and with bodies that have no inertia of their own to turn with: points, bars,
// massless ones.

#include <gtest/gtest.h>
#include <pthread.h>

#include <atomic>

#include "limber/modular/modular_stepper.hpp"
#include "limber/modular/workers.hpp"
#include "limber/simulation/run.hpp"
#include "limber/simulation/session.hpp"
#include "support/models.hpp"

namespace limber::testing {
namespace {

// ---------------------------------------------------------------- no bodies

class EmptyDivision : public ::testing::TestWithParam<std::tuple<const char*, const char*>> {};

// In the studio one begins with nothing, and may choose a division before there is anything to divide.
TEST_P(EmptyDivision, CanBeginAndBeFilled) {
    const auto& [plane, division] = GetParam();
    Session session(read(std::string("limber: 1\n") + plane));
    ASSERT_TRUE(session.apply(std::string("use division ") + division).ok);
    EXPECT_EQ(session.simulation().components().size(), 1U);
    ASSERT_TRUE(session.step().ok);
    // Two points that fall: half g t^2.
    const bool is_planar = session.model().planar;
    ASSERT_TRUE(session.apply(is_planar ? "set gravity [0, -9.81]" : "set gravity [0, 0, -9.81]").ok);
    for (const char* name : {"add bodies.one {point: {mass: 1}}", "add bodies.two {point: {mass: 2}}"}) {
        const EditReport added = session.apply(name);
        ASSERT_TRUE(added.ok) << added.reason;
    }
    const double start = session.time();
    ASSERT_TRUE(session.advance(start + 0.1).ok);
    const double fallen = -session.simulation().body_frame("two").position[is_planar ? 1 : 2];
    EXPECT_NEAR(fallen, 0.5 * 9.81 * std::pow(session.time() - start, 2), 1e-9);
    // And back to nothing.
    for (const char* name : {"remove bodies.one", "remove bodies.two"}) ASSERT_TRUE(session.apply(name).ok) << name;
    ASSERT_TRUE(session.step().ok);
    ASSERT_TRUE(session.apply("use division none").ok);
}

INSTANTIATE_TEST_SUITE_P(All, EmptyDivision,
                         ::testing::Combine(::testing::Values("plane: xy\n", ""),
                                            ::testing::Values("body", "tree", "auto", "auto:3")));

// ---------------------------------------------------------------- points and bars in a component that is lent inertia

// The arm has no mass: only its neighbours on the other side of a cut hold it. With it in one component are a point and
// a bar, which natural coordinates describe by less than a frame.
constexpr const char* massless_arm = R"(
limber: 1
gravity: [0, 0, -9.81]
bodies:
  chassis: {box: {size: [1, 1, 0.2], mass: 10}}
  arm: {rod: {from: [0.5, 0, 0], to: [1, 0, 0]}}
  wheel: {box: {size: [0.2, 0.2, 0.2], mass: 2}, at: [1, 0, 0]}
  bob: {point: {mass: 0.5}, at: [0.75, 0, -0.1]}
  bar: {rod: {from: [0.75, 0, 0.1], to: [0.75, 0.3, 0.1], mass: 0.3}}
  loose: {point: {mass: 1}, at: [0, 0, 3]}
joints:
  hang: {spherical: [ground, chassis], at: [0, 0, 0.5]}
  hinge: {revolute: [chassis, arm], at: [0.5, 0, 0], axis: [0, 1, 0]}
  hub: {fixed: [arm, wheel], at: [1, 0, 0]}
  hook: {spherical: [arm, bob], at: [0.75, 0, -0.1]}
  pin: {spherical: [arm, bar], at: [0.75, 0, 0.1]}
forces:
  spring: {spring: [chassis, wheel], stiffness: 200, damping: 5}
components:
  one: {bodies: [chassis, wheel]}
  two: {bodies: [arm, bob, bar]}
sensors:
  wheel: {position: wheel}
  bob: {position: bob}
  bar: {position: bar.to}
  loose: {position: loose}
)";

template <int D>
void expect_same_coordinates(const Model& model, const std::string& formulation) {
    ModularOptions options;
    options.division = "groups";
    const auto whole = std::make_shared<const Mechanism<D>>(make_mechanism<D>(model));
    const auto system = compile_modular<D>(whole, find_division(*whole, model, options),
                                           {"", formulation, "trapezoidal", "", 0}, {}, {}, options.tolerance);
    int lent = 0;
    for (const auto& component : system->components) {
        if (!component->weighted_system) continue;
        ++lent;
        // A state of the one is a state of the other: the same bodies at the same places.
        ASSERT_EQ(component->system->size(), component->weighted_system->size());
        BodyStates<D> states;
        for (const auto& body : component->system->mechanism().bodies) states.push_back(body.reference);
        VecX q;
        VecX v;
        VecX weighted_q;
        component->system->import_states(states, q, v);
        component->weighted_system->import_states(states, weighted_q, v);
        EXPECT_EQ(q, weighted_q);
    }
    EXPECT_EQ(lent, 1);
}

TEST(LentInertia, LeavesTheCoordinatesAsTheyAre) {
    const Model model = read(massless_arm);
    for (const char* formulation : {"global", "hybrid"}) expect_same_coordinates<3>(model, formulation);
}

// Beside the undivided mechanism, which lends nothing to anybody.
TEST(LentInertia, MovesPointsAndBarsAsUndivided) {
    SimulationOptions divided = options("global", "trapezoidal");
    divided.modular.division = "groups";
    Simulation one(read(massless_arm), divided);
    Simulation other(read(massless_arm), options("global", "trapezoidal"));
    for (int i = 0; i < 5; ++i) {
        ASSERT_TRUE(one.advance(one.time() + 0.05, 1e-3).ok);
        ASSERT_TRUE(other.advance(other.time() + 0.05, 1e-3).ok);
        const std::vector<double> a = sense_all(one);
        const std::vector<double> b = sense_all(other);
        for (std::size_t k = 0; k < a.size(); ++k)
            EXPECT_NEAR(a[k], b[k], 1e-6) << one.observer().columns()[k] << " at " << one.time();
    }
}

// The case that read beyond the end of its vectors: nothing holds the point, neither divided nor not.
TEST(LentInertia, IsNotNeededByAPointThatNothingTouches) {
    const Model model = example("iltis/divided.yaml");
    SimulationOptions o = options("global", "trapezoidal");
    apply_modular_defaults(model, o);
    SessionOptions steps;
    steps.step = 2e-3;
    Session session(model, o, steps);
    ASSERT_TRUE(session.step().ok);
    const EditReport added = session.apply("add bodies.n3 {point: {mass: 1}, at: [0, 0, 5]}");
    ASSERT_TRUE(added.ok) << added.reason;
    const double start = session.time();
    ASSERT_TRUE(session.advance(start + 0.02).ok);
    const double t = session.time() - start;
    EXPECT_NEAR(session.simulation().body_frame("n3").position.z(), 5 - 0.5 * 9.81 * t * t, 1e-9);
}

// Beside a vehicle whose leaf springs have no mass, in steps of its own components: the point falls by half g t^2,
// which was read beyond the ends of vectors.
TEST(LentInertia, LetsAPointFallBesideADividedVehicle) {
    Session session(example("iltis/divided.yaml"));
    ASSERT_TRUE(session.advance(0.01).ok);
    const EditReport added = session.apply("add bodies.n3 {point: {mass: 1}}");
    ASSERT_TRUE(added.ok) << added.reason;
    const double start = session.time();
    const double height = session.simulation().body_frame("n3").position.z();
    ASSERT_TRUE(session.advance(start + 0.02).ok);
    const double g = 9.81;
    EXPECT_NEAR(session.simulation().body_frame("n3").position.z(),
                height - 0.5 * g * std::pow(session.time() - start, 2), 1e-9);
}

// A point held off its centre by a ball: it may spin about the line to the ball without anybody seeing it. The ball
// swings under its weight, so that the line turns; energy is kept, and the common centre of mass falls by half g t^2
// beside its start.
TEST(LentInertia, GovernsTurnsThatNothingSees) {
    SimulationOptions divided = options("global", "trapezoidal");
    divided.modular.division = "body";
    RunOptions run_options;
    run_options.until = 1;
    run_options.step = 2e-3;
    Simulation simulation(read(R"(
limber: 1
gravity: [0, 0, -9.81]
bodies:
  a: {sphere: {radius: 0.1, mass: 2}}
  b: {point: {mass: 1}, at: [1, 0, 0], velocity: [0, 1, 0]}
joints:
  j: {spherical: [a, b], at: [0.5, 0, 0.5]}
)"),
                          divided);
    const RunSummary summary = run(simulation, run_options).summary;
    ASSERT_TRUE(summary.ok) << summary.failure;
    EXPECT_LT(summary.energy_drift, 1e-3);
    const Vec3 centre =
        (2 * simulation.body_frame("a").position + simulation.body_frame("b").position) / 3 - Vec3(1.0 / 3, 0, 0);
    EXPECT_NEAR(centre.x(), 0, 1e-6);
    EXPECT_NEAR(centre.y(), 1.0 / 3, 1e-6);
    EXPECT_NEAR(centre.z(), -0.5 * 9.81, 1e-6);
}

// ---------------------------------------------------------------- threads

// Who cannot have more threads works with those there are; nothing else changes.
TEST(Workers, DoWithoutThreadsThatCannotBeStarted) {
    pthread_attr_t usual;
    pthread_attr_t endless;
    ASSERT_EQ(pthread_getattr_default_np(&usual), 0);
    ASSERT_EQ(pthread_attr_init(&endless), 0);
    // A stack as large as all addresses there are: no thread can be started.
    ASSERT_EQ(pthread_attr_setstacksize(&endless, std::size_t(1) << 47), 0);
    ASSERT_EQ(pthread_setattr_default_np(&endless), 0);
    std::unique_ptr<Workers> workers;
    EXPECT_NO_THROW(workers = std::make_unique<Workers>(4));
    ASSERT_EQ(pthread_setattr_default_np(&usual), 0);
    pthread_attr_destroy(&usual);
    pthread_attr_destroy(&endless);
    ASSERT_TRUE(workers);
    EXPECT_EQ(workers->count(), 1);
    std::atomic<int> sum = 0;
    workers->run(10, [&](int i) { sum += i; });
    EXPECT_EQ(sum, 45);
}

// Of the whole or of one component, and however the joints between them are held: it would have been left out without a
// word.
TEST(OddComponents, RefuseAnIntegratorThatStepsAllBodiesAtOnce) {
    const std::string model = R"(
limber: 1
plane: xy
bodies:
  upper: {rod: {from: [0, 0], to: [1, 0], mass: 1}}
  lower: {rod: {from: [1, 0], to: [1, -1], mass: 1}}
joints:
  pivot: {revolute: [ground, upper.from]}
  elbow: {revolute: [upper.to, lower.from]}
components:
  a: {bodies: [upper], integrator: INTEGRATOR}
  b: {bodies: [lower]}
)";
    const auto refusal = [&](const std::string& of_one, const std::string& of_all, Coupling coupling) -> std::string {
        std::string text = model;
        text.replace(text.find("INTEGRATOR"), 10, of_one);
        SimulationOptions o = options("global", of_all);
        o.modular.division = "groups";
        o.modular.coupling = coupling;
        try {
            Simulation(read(text), o);
        } catch (const ModelError& error) {
            return error.what();
        }
        return "";
    };
    for (const Coupling coupling : {Coupling::end_of_step, Coupling::acceleration}) {
        EXPECT_EQ(refusal("trapezoidal", "trapezoidal", coupling), "");
        EXPECT_NE(refusal("moreau-jean", "trapezoidal", coupling).find("component 'a': moreau-jean"),
                  std::string::npos);
        EXPECT_NE(refusal("trapezoidal", "moreau-jean", coupling).find("component 'b': moreau-jean"),
                  std::string::npos);
    }
}

}  // namespace
}  // namespace limber::testing
