// Edits as values of the model's own types are the same edits as those in words.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "limber/limber.hpp"
#include "support/models.hpp"

namespace limber::testing {
namespace {

const char* const two_rods = R"(
limber: 1
plane: xy
parameters: {k: 40}
bodies:
  upper: {rod: {from: [0, 0], to: [1, 0], mass: 1}}
  lower: {rod: {from: [1, 0], to: [2, 0], mass: 1}}
joints:
  shoulder: {revolute: [ground, upper.from]}
  elbow: {revolute: [upper.to, lower.from]}
forces:
  spring: {spring: [ground, lower.to], stiffness: k}
sensors:
  tip: {position: lower.to}
)";

struct Nothing {
    template <class T>
    void act(const MarkerMotion<T>&, const MarkerMotion<T>&, double, MarkerLoad<T>&, MarkerLoad<T>&) const {}
};

TEST(TypedEdits, AreTheSameEditsAsWords) {
    Session typed(read(two_rods));
    Session in_words(read(two_rods));
    const Model& model = typed.model();
    const auto step_both = [&] {
        for (int i = 0; i < 20; ++i) {
            ASSERT_TRUE(typed.step().ok);
            ASSERT_TRUE(in_words.step().ok);
        }
    };
    const auto apply_both = [&](const TypedEdit& edit, const std::string& words) {
        const EditReport one = typed.apply(edit);
        const EditReport other = in_words.apply(words);
        ASSERT_TRUE(one.ok) << words << ": " << one.reason;
        ASSERT_TRUE(other.ok) << words << ": " << other.reason;
        EXPECT_EQ(write_model_text(typed.model()), write_model_text(in_words.model())) << words;
        EXPECT_EQ(typed.simulation().state().q, in_words.simulation().state().q) << words;
        EXPECT_EQ(typed.simulation().state().v, in_words.simulation().state().v) << words;
        step_both();
    };
    step_both();
    apply_both(SetMass{model.bodies.find("lower"), 2.5}, "set bodies.lower.rod.mass 2.5");
    apply_both(SetParameter{"k", 55.0}, "set parameters.k 55");
    apply_both(AddForce{Drag{.name = "air", .marker = model.marker("lower.to"), .linear = 0.3}},
               "add forces.air {drag: lower.to, linear: 0.3}");
    const LinearContact touch{
        .name = "touch",
        .between = {{.bodies = {model.bodies.find("upper")}}, {.bodies = {model.bodies.find("lower")}}},
        .stiffness = 1e3};
    apply_both(AddContact{touch}, "add contacts.touch {linear: [upper, lower], stiffness: 1000}");
    apply_both(Remove<ContactRule>{model.contacts.find("touch")}, "remove contacts.touch");
    apply_both(
        AddStop{Cable{
            .name = "rope", .between = {model.marker("ground"), model.marker("lower.to")}, .length = Number(2.5)}},
        "add stops.rope {cable: [ground, lower.to], length: 2.5}");
    apply_both(Remove<Joint>{model.joints.find("elbow")}, "remove joints.elbow");
    apply_both(Remove<Stop>{model.stops.find("rope")}, "remove stops.rope");
    const Vec3 at = typed.simulation().body_frame("upper").position;
    apply_both(
        AddJoint{DistanceJoint{.name = "bar", .between = {model.marker("upper.to"), model.marker("lower.from")}}},
        "add joints.bar {distance: [upper.to, lower.from]}");
    apply_both(AddJoint{Revolute{.name = "pin", .between = {model.marker("ground"), model.marker("upper")}},
                        {.at = Number3{at.x(), at.y(), 0.0}}},
               fmt::format("add joints.pin {{revolute: [ground, upper], at: [{}, {}]}}", at.x(), at.y()));
    // Each can be taken back.
    for (int i = 0; i < 10; ++i) {
        ASSERT_TRUE(typed.apply("undo").ok);
        ASSERT_TRUE(in_words.apply("undo").ok);
    }
    EXPECT_EQ(write_model_text(typed.model()), write_model_text(in_words.model()));
    EXPECT_EQ(write_model_text(typed.model()), write_model_text(read(two_rods)));
}

TEST(TypedEdits, SayWhatTheyCannotDo) {
    Session session(read(R"(
limber: 1
plane: xy
bodies:
  two: {solids: [{disc: {radius: 1, mass: 1}}, {disc: {radius: 2, mass: 1}}]}
  light: {rod: {from: [0, 0], to: [1, 0], density: 3}}
)"));
    const Model before = session.model();
    const EditReport several = session.apply(SetMass{before.bodies.find("two"), 2.0});
    EXPECT_FALSE(several.ok);
    EXPECT_NE(several.reason.find("body 'two' has several masses"), std::string::npos) << several.reason;
    const EditReport none = session.apply(SetMass{before.bodies.find("light"), 2.0});
    EXPECT_FALSE(none.ok);
    EXPECT_NE(none.reason.find("body 'light' has no mass to set"), std::string::npos) << none.reason;
    const EditReport code =
        session.apply(AddForce{CustomForce("own", {before.marker("two"), before.marker("light")}, Nothing{})});
    EXPECT_FALSE(code.ok);
    EXPECT_NE(code.reason.find("a class of C++"), std::string::npos) << code.reason;
    EXPECT_EQ(write_model_text(session.model()), write_model_text(before));
}

}  // namespace
}  // namespace limber::testing
