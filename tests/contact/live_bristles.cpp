// Bristles that are bent: in a session that is edited, and in a divided mechanism.

#include <gtest/gtest.h>

#include <cmath>

#include "limber/simulation/session.hpp"
#include "support/models.hpp"

namespace limber::testing {
namespace {

struct Bent {
    const char* example;
    ParameterOverrides overrides;
    const char* body;
    const char* base;  // against which it is held by bristles
};

const std::vector<Bent>& all_bent() {
    static const std::vector<Bent> all = {
        {"contact/bristle-friction.yaml", {{"push", "2"}, {"after", "0"}, {"bend", "1e-3"}}, "block", "ground"},
        {"contact/bristle-contact.yaml", {{"ramp", "0.5"}}, "crate", "cart"}};
    return all;
}

constexpr double far = 1e-4;  // bristles bend by more

Session start(const Bent& bent) {
    SessionOptions o;
    o.step = 1e-3;
    Session session(example(bent.example, bent.overrides), options("global", "trapezoidal"), o);
    EXPECT_TRUE(session.advance(1).ok);
    return session;
}

double place(const Bent& bent, const Simulation& simulation) {
    return simulation.body_frame(bent.body).position.x() - simulation.body_frame(bent.base).position.x();
}

// Bristles that were straightened would bend once more.
TEST(LiveBristles, StayBentThroughOtherEditsAndUndo) {
    for (const Bent& bent : all_bent()) {
        Session edited = start(bent);
        Session left_alone = start(bent);
        ASSERT_GT(std::abs(place(bent, edited.simulation())), far) << bent.example;
        ASSERT_TRUE(edited.apply("add bodies.bystander {at: [5, 0], disc: {radius: 0.1, mass: 1}}").ok);
        ASSERT_TRUE(edited.advance(1.2).ok);
        ASSERT_TRUE(left_alone.advance(1.2).ok);
        EXPECT_NEAR(place(bent, edited.simulation()), place(bent, left_alone.simulation()), 1e-3 * far) << bent.example;
        ASSERT_TRUE(edited.apply("undo").ok);
        ASSERT_TRUE(edited.advance(1.5).ok);
        ASSERT_TRUE(left_alone.advance(1.5).ok);
        EXPECT_NEAR(place(bent, edited.simulation()), place(bent, left_alone.simulation()), 1e-3 * far) << bent.example;
    }
}

TEST(DividedBristles, BendAsThoseOfTheWhole) {
    const Bent& bent = all_bent()[1];
    SimulationOptions o = options("global", "trapezoidal");
    o.formulation_options.tolerance = 1e-10;
    Simulation whole(example(bent.example, bent.overrides), o);
    o.modular.division = "body";
    o.modular.tolerance = 1e-10;
    Simulation divided(example(bent.example, bent.overrides), o);
    ASSERT_GT(divided.components().size(), 1U);
    ASSERT_TRUE(whole.advance(1, 1e-3).ok);
    const StepReport report = divided.advance(1, 1e-3);
    ASSERT_TRUE(report.ok) << report.reason;
    ASSERT_GT(std::abs(place(bent, whole)), far);
    EXPECT_NEAR(place(bent, divided), place(bent, whole), 1e-8);
}

}  // namespace
}  // namespace limber::testing
