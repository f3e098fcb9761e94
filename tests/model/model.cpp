// Handles, parameters, mass properties.

#include "limber/model/model.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "limber/model/evaluation.hpp"

namespace limber {
namespace {

TEST(Table, RecognisesStaleHandles) {
    Model model;
    Body body;
    body.name = "a";
    const BodyHandle a = model.add_body(body);
    EXPECT_EQ(model.bodies.get(a).name, "a");
    model.bodies.remove(a);
    EXPECT_FALSE(model.bodies.contains(a));
    body.name = "b";
    const BodyHandle b = model.bodies.add(body);
    EXPECT_EQ(b.index, a.index) << "the slot is used again";
    EXPECT_FALSE(model.bodies.contains(a)) << "but the old handle stays stale";
    EXPECT_THROW(model.bodies.get(a), ModelError);
    EXPECT_THROW(model.bodies.remove(a), ModelError);
    EXPECT_EQ(model.bodies.get(b).name, "b");
    EXPECT_TRUE(model.bodies.find("a").is_null());
}

TEST(Table, RefusesTheSameNameTwice) {
    Model model;
    Body body;
    body.name = "a";
    model.add_body(body);
    EXPECT_THROW(model.add_body(body), ModelError);
    body.name = "ground";
    EXPECT_THROW(model.add_body(body), ModelError);
}

TEST(Model, SuggestsNamesOfMarkers) {
    Model model;
    Body body;
    body.name = "crank";
    body.solids.push_back(RodSolid{.to = {1.0, 0.0, 0.0}});
    model.add_body(body);
    EXPECT_FALSE(model.marker("crank.to").is_null());
    EXPECT_EQ(model.marker("crank"), model.marker("crank.origin"));
    try {
        model.marker("crnak.to");
        FAIL();
    } catch (const ModelError& error) {
        EXPECT_NE(std::string(error.what()).find("did you mean 'crank.to'"), std::string::npos);
    }
}

TEST(Parameters, MayDependOnEachOtherInAnyOrder) {
    Parameters p;
    p.set("a", Number("2*b"));
    p.set("b", Number("c + 1"));
    p.set("c", Number(3.0));
    const auto values = p.evaluate();
    ASSERT_EQ(values.size(), 3U);
    EXPECT_DOUBLE_EQ(values[0].second, 8);
    p.set("c", Number(9.0));
    EXPECT_DOUBLE_EQ(p.evaluate()[0].second, 20);
}

TEST(Parameters, RefuseCirclesAndUnknownNames) {
    Parameters p;
    p.set("a", Number("b"));
    p.set("b", Number("a"));
    EXPECT_THROW(p.evaluate(), ModelError);
    p.set("b", Number("lenght"));
    p.set("length", Number(1.0));
    try {
        p.evaluate();
        FAIL();
    } catch (const ModelError& error) {
        EXPECT_NE(std::string(error.what()).find("did you mean 'length'"), std::string::npos);
    }
}

MassProperties properties(const Solid& solid, bool planar = false, double rod_length = 0) {
    Model model;
    model.planar = planar;
    const ModelEvaluation evaluation(model);
    return solid_mass_properties(evaluation, solid, rod_length, planar, "solid");
}

TEST(Solids, HaveTheInertiaOfTheTextbook) {
    const BoxSolid box{.size = {0.4, 0.2, 0.1}, .common = {.mass = {.mass = 6.0}}};
    // The box of Talaba's acceptance case: (0.025, 0.085, 0.100) kg m^2.
    EXPECT_LT((properties(box).inertia.diagonal() - Vec3(0.025, 0.085, 0.100)).norm(), 1e-15);

    const SphereSolid sphere{.radius = 0.5, .common = {.mass = {.density = 3.0}}};
    const double mass = 3 * 4.0 / 3.0 * pi * 0.125;
    EXPECT_DOUBLE_EQ(properties(sphere).mass, mass);
    EXPECT_DOUBLE_EQ(properties(sphere).inertia(1, 1), 0.4 * mass * 0.25);

    const CylinderSolid cylinder{.radius = 0.3, .length = 2.0, .common = {.mass = {.mass = 5.0}}};
    EXPECT_DOUBLE_EQ(properties(cylinder).inertia(2, 2), 5 * 0.09 / 2);
    EXPECT_DOUBLE_EQ(properties(cylinder).inertia(0, 0), 5 * (3 * 0.09 + 4) / 12);

    const DiscSolid disc{.radius = 0.3, .common = {.mass = {.mass = 5.0}}};
    EXPECT_DOUBLE_EQ(properties(disc).inertia(0, 0), 5 * 0.09 / 4);

    const RodSolid rod{.mass = {.density = 2.0}};
    EXPECT_DOUBLE_EQ(properties(rod, false, 3).mass, 6);
    EXPECT_DOUBLE_EQ(properties(rod, false, 3).inertia(1, 1), 6 * 9.0 / 12);
    EXPECT_DOUBLE_EQ(properties(rod, false, 3).inertia(0, 0), 0);
    EXPECT_DOUBLE_EQ(properties(rod, false, 3).centre.x(), 1.5);
}

TEST(Solids, LumpedRodIsTwoPoints) {
    const RodSolid rod{.end_masses = EndMasses{1.0, 3.0}};
    const MassProperties p = properties(rod, true, 2);
    EXPECT_DOUBLE_EQ(p.mass, 4);
    EXPECT_DOUBLE_EQ(p.centre.x(), 1.5);
    EXPECT_DOUBLE_EQ(p.inertia(2, 2), 1 * 1.5 * 1.5 + 3 * 0.5 * 0.5);
}

TEST(Solids, CombineBySteiner) {
    // Two half boxes make the whole box.
    const auto half = [](double x) {
        return BoxSolid{.size = {0.2, 0.2, 0.1},
                        .common = {.mass = {.mass = 3.0}, .placement = {.position = {x, 0.0, 0.0}}}};
    };
    const MassProperties whole = combine({properties(half(-0.1)), properties(half(0.1))});
    EXPECT_DOUBLE_EQ(whole.mass, 6);
    EXPECT_LT(whole.centre.norm(), 1e-16);
    EXPECT_LT((whole.inertia.diagonal() - Vec3(0.025, 0.085, 0.100)).norm(), 1e-15);
}

TEST(Solids, TurnWithTheirPlacement) {
    BoxSolid box{.size = {0.4, 0.2, 0.1}, .common = {.mass = {.mass = 6.0}}};
    box.common.placement.orientation = {Orientation::Kind::axis_angle, {0.0, 0.0, 1.0, Number("90 deg")}};
    EXPECT_LT((properties(box).inertia.diagonal() - Vec3(0.085, 0.025, 0.100)).norm(), 1e-15);
}

TEST(Solids, RefuseNegativeSizesAndMasses) {
    const auto sphere = [](double radius, SolidMass mass) {
        return SphereSolid{.radius = radius, .common = {.mass = std::move(mass)}};
    };
    EXPECT_NO_THROW(properties(sphere(0.5, {.mass = 1.0})));
    EXPECT_THROW(properties(sphere(-0.5, {.mass = 1.0})), ModelError);
    EXPECT_THROW(properties(sphere(0.5, {.mass = -1.0})), ModelError);
    EXPECT_THROW(properties(sphere(0.0, {.density = 1.0})), ModelError);
}

TEST(Errors, SuggestOnlyWhatIsNear) {
    EXPECT_EQ(did_you_mean("revolut", {"revolute", "prismatic"}), " (did you mean 'revolute'?)");
    EXPECT_EQ(did_you_mean("revoltue", {"revolute", "prismatic"}), " (did you mean 'revolute'?)");
    EXPECT_EQ(did_you_mean("xyz", {"revolute", "prismatic"}), "");
    EXPECT_EQ(did_you_mean(std::string(1000, 'a'), {"revolute"}), "");
}

}  // namespace
}  // namespace limber
