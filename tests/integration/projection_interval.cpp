// Projections onto the constraints every so many steps, on the pendulum of Aghili and Piedboeuf's equations in x and y.

#include <gtest/gtest.h>

#include <cmath>

#include "support/models.hpp"

namespace limber::testing {
namespace {

const char* const point_pendulum = R"(
limber: 1
plane: xy
bodies: {bob: {mass: 1, at: [1, 0]}}
joints: {rod: {distance: [ground, bob], length: 1}}
sensors: {p: {position: bob}}
)";

struct PendulumErrors {
    double projected = 0, between = 0;  // largest | |p| - 1 | after steps that end with a projection, and the others
};

PendulumErrors follow_pendulum(const char* formulation, const char* integrator, int interval,
                               const char* stabilisation = "projection") {
    SimulationOptions o = options(formulation, integrator);
    set_option(o, "stabilisation", stabilisation);
    o.integrator_options.projection_interval = interval;
    Simulation s(read(point_pendulum), o);
    PendulumErrors errors;
    for (int i = 1; i <= 1000; ++i) {
        EXPECT_TRUE(s.step(0.01).ok);
        double& error = i % interval == 0 ? errors.projected : errors.between;
        error = std::max(error, std::abs(std::hypot(sense(s, "p.x"), sense(s, "p.y")) - 1));
    }
    return errors;
}

TEST(ProjectionInterval, ClosesAtItsStepsAndDriftsBetween) {
    // Without any projection rk4 drifts by 2.87e-5 in 10 s (published for this case).
    const PendulumErrors never = follow_pendulum("null-space", "rk4", 1, "none");
    EXPECT_NEAR(never.projected, 2.87e-5, 0.02e-5);
    for (const char* formulation : {"null-space", "augmented-lagrangian", "baumgarte"})
        for (const char* integrator : {"rk4", "trapezoidal"}) {
            SCOPED_TRACE(std::string(formulation) + " " + integrator);
            const PendulumErrors always = follow_pendulum(formulation, integrator, 1);
            EXPECT_LT(always.projected, 1e-9);
            const PendulumErrors seldom = follow_pendulum(formulation, integrator, 10);
            EXPECT_LT(seldom.projected, 1e-9);
            EXPECT_GT(seldom.between, 1e-9);
            if (std::string(integrator) == "rk4") {
                EXPECT_LT(seldom.between, 1e-6) << "a small part of what ten seconds would leave";
            }
        }
}

// From the same state after a projection the steps are those of a solver that never projects, until the next one.
TEST(ProjectionInterval, LeavesTheStepsBetweenAlone) {
    SimulationOptions o = options("null-space", "rk4");
    o.integrator_options.projection_interval = 4;
    SimulationOptions none = o;
    none.integrator_options.projection_interval = 1;
    set_option(none, "stabilisation", "none");
    Simulation a(read(point_pendulum), o);
    Simulation b(read(point_pendulum), none);
    for (int i = 0; i < 3; ++i) {
        ASSERT_TRUE(a.step(0.01).ok);
        ASSERT_TRUE(b.step(0.01).ok);
        EXPECT_TRUE((a.state().q.array() == b.state().q.array()).all());
    }
    ASSERT_TRUE(a.step(0.01).ok);
    ASSERT_TRUE(b.step(0.01).ok);
    EXPECT_FALSE((a.state().q.array() == b.state().q.array()).all());
}

}  // namespace
}  // namespace limber::testing
