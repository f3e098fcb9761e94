// Contacts as pictures show them: points, normals and forces that balance the weight.

#include <gtest/gtest.h>

#include <cmath>

#include "support/models.hpp"

namespace limber::testing {
namespace {

std::vector<ContactLoad> contacts_of(Simulation& simulation) {
    MotionView view;
    simulation.observer().compute_view(simulation.state(), false, view);
    return view.contacts;
}

Vec3 sum_of(const std::vector<ContactLoad>& contacts) {
    Vec3 sum = Vec3::Zero();
    for (const ContactLoad& contact : contacts) sum += contact.force;
    return sum;
}

// Friction included: together the contacts of a brick that sticks carry its weight, and of one that slips mu times what
// presses.
TEST(ContactView, WallsShowTheirFriction) {
    Simulation sticks(example("contact/brick-on-incline.yaml", {{"steepness", "0.99"}}),
                      options("global", "trapezoidal"));
    const auto stuck = contacts_of(sticks);
    ASSERT_EQ(stuck.size(), 2U);
    EXPECT_NEAR(sum_of(stuck).norm(), 3 * 9.81, 1e-6);
    Simulation slips(example("contact/brick-on-incline.yaml", {{"steepness", "1.5"}}),
                     options("global", "trapezoidal"));
    ASSERT_TRUE(slips.advance(0.1, 0.01).ok);
    const auto slipping = contacts_of(slips);
    ASSERT_EQ(slipping.size(), 2U);
    for (const ContactLoad& contact : slipping) {
        const double normal = contact.force.dot(contact.normal);
        EXPECT_GT(normal, 1);
        EXPECT_NEAR((contact.force - normal * contact.normal).norm(), 0.5 * normal, 1e-6);
        EXPECT_GE(contact.stop, 0);
        EXPECT_NEAR((contact.point - slipping[0].point).dot(contact.normal), 0, 1e-9);
    }
}

// Balls on a plane of the ground, in space: rigid and compliant.
TEST(ContactView, BodiesShowWhereTheyTouch) {
    for (const char* law : {"rigid: [ball, ground]", "linear: [ball, ground], stiffness: 1e6, damping: 1e4"}) {
        const bool is_rigid = law[0] == 'r';
        Simulation simulation(read(R"(
limber: 1
bodies:
  ground: {shapes: [{plane: {}}]}
  ball: {sphere: {radius: 0.2, mass: 2}, at: [1, 2, 0.2]}
contacts: {floor: {)" + std::string(law) +
                                   "}}\n"),
                              options("global", is_rigid ? "moreau-jean" : "trapezoidal"));
        ASSERT_TRUE(simulation.advance(0.5, 0.001).ok);
        const auto contacts = contacts_of(simulation);
        ASSERT_EQ(contacts.size(), 1U) << law;
        // In the middle of the overlap: m g/k of the compliant law, which has settled at 100 per second. Rigid bodies
        // that rest from the start overlap by what a tolerance of 1e-10 of the velocities leaves.
        const double depth = is_rigid ? 0 : 2 * 9.81 / 1e6;
        EXPECT_NEAR((contacts[0].point - Vec3(1, 2, -depth / 2)).norm(), 0, 1e-9) << law;
        EXPECT_NEAR(std::abs(contacts[0].normal.z()), 1, 1e-12) << law;
        EXPECT_NEAR(contacts[0].force.dot(contacts[0].normal), 2 * 9.81, 1e-6) << law;
        EXPECT_EQ(contacts[0].stop, -1);
    }
}

// A rod that leans on a limit of its angle: a moment, so no force to draw, but the stop is named.
TEST(ContactView, LimitsOfAnglesAreNamed) {
    Simulation simulation(read(R"(
limber: 1
plane: xy
bodies: {rod: {rod: {from: [0, 0], to: [1, 0], mass: 1}}}
joints: {pin: {revolute: [ground, rod.from]}}
stops:
  upper: {limit: pin.angle, max: 1}
  lower: {limit: pin.angle, min: 0}
)"),
                          options("global", "trapezoidal"));
    const auto contacts = contacts_of(simulation);
    ASSERT_EQ(contacts.size(), 1U);
    EXPECT_EQ(contacts[0].stop, 1);
    EXPECT_TRUE(contacts[0].force.isZero(1e-9));
}

}  // namespace
}  // namespace limber::testing
