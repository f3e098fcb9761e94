// Sensors written by users in C++, against closed forms.

#include <gtest/gtest.h>

#include <cmath>

#include "limber/limber.hpp"
#include "support/models.hpp"
#include "support/refusal.hpp"

namespace limber::testing {
namespace {

// A rod of 2 m that a driver turns at 3 rad/s about z.
Model turning_rod(bool planar) {
    Model model = planar ? Model::in_plane() : Model();
    model.add(Rod{.name = "rod", .from = {0, 0, 0}, .to = {2, 0, 0}, .mass = 1, .radius = 0.1});
    model.add(Revolute{.name = "pin", .between = {model.marker("ground"), model.marker("rod.from")}});
    model.add(Driver{.name = "motor", .coordinate = {"pin.angle"}, .law = {.expression = Number("3*t")}});
    return model;
}

struct Circle {
    static constexpr bool needs_accelerations = true;
    std::array<double, 7> measure(const SensedMarker& a, const SensedMarker& b, double t) const {
        const Vec3 way = b.position - a.position;
        return {std::atan2(way.y(), way.x()),
                std::atan2(b.axes(1, 0), b.axes(0, 0)),
                (b.velocity - a.velocity).norm(),
                b.angular_velocity.z() - a.angular_velocity.z(),
                b.acceleration.dot(way) / way.norm(),
                b.angular_acceleration.norm(),
                t};
    }
};

TEST(CustomSensors, ShowTheMotionOfMarkers) {
    for (const bool planar : {true, false}) {
        Model model = turning_rod(planar);
        model.add(CustomSensor("tip", {model.marker("ground"), model.marker("rod.to")},
                               {"angle", "turn", "speed", "spin", "inward", "spin_up", "time"}, Circle{}));
        model.add(ExpressionSensor{.name = "twice", .expression = Number("2*tip.speed")});
        for (const auto& [formulation, coordinates] : formulations_in_coordinates()) {
            SCOPED_TRACE(formulation + " " + coordinates + (planar ? " plane" : " space"));
            Simulation simulation(model, options(formulation, "trapezoidal", coordinates));
            ASSERT_TRUE(simulation.advance(0.5, 2.5e-4).ok);
            EXPECT_NEAR(simulation.value("tip.angle"), 1.5, 1e-7);
            EXPECT_NEAR(simulation.value("tip.turn"), 1.5, 1e-7);
            EXPECT_NEAR(simulation.value("tip.speed"), 6, 1e-6);
            EXPECT_NEAR(simulation.value("tip.spin"), 3, 1e-6);
            EXPECT_NEAR(simulation.value("tip.inward"), -18, 1e-5);
            EXPECT_NEAR(simulation.value("tip.spin_up"), 0, 1e-5);
            EXPECT_NEAR(simulation.value("tip.time"), 0.5, 1e-12);
            EXPECT_NEAR(simulation.value("twice"), 12, 2e-6);
        }
    }
}

struct Height {
    std::array<double, 1> measure(const SensedMarker& /*a*/, const SensedMarker& b, double /*t*/) const {
        return {b.position.y() + (std::isnan(b.acceleration.y()) ? 0 : 1)};
    }
};

TEST(CustomSensors, HaveTheNameOfTheirSensorIfNoOther) {
    Model model = turning_rod(true);
    model.add(CustomSensor("height", {model.marker("ground"), model.marker("rod.to")}, {""}, Height{}));
    Session session(model);
    const auto expect_height = [&] {
        std::vector<double> values;
        session.observer().observe(session.simulation().state(), 0, values);
        ASSERT_EQ(values.size(), 1U);
        EXPECT_NEAR(values[0], 2 * std::sin(3 * session.simulation().time()), 1e-6);
    };
    EXPECT_EQ(session.observer().columns(), std::vector<std::string>{"height"});
    for (int i = 0; i < 20; ++i) ASSERT_TRUE(session.step().ok);
    expect_height();
    ASSERT_TRUE(session.apply("remove sensors.height").ok);
    EXPECT_TRUE(session.observer().columns().empty());
    ASSERT_TRUE(session.apply("undo").ok);
    expect_height();
}

TEST(CustomSensors, SayWhatTheyCannotDo) {
    Model model = turning_rod(true);
    const MarkerPair ends{model.marker("ground"), model.marker("rod.to")};
    Model two = model;
    two.add(CustomSensor("height", ends, {"x", "y"}, Height{}));
    EXPECT_EQ(refusal([&] { const Simulation simulation(two); }),
              "sensor 'height': its class measures 1 numbers, and 2 columns are named");
    CustomSensor empty;
    empty.name = "none";
    empty.between = ends;
    Model none = model;
    none.add(empty);
    EXPECT_EQ(refusal([&] { const Simulation simulation(none); }),
              "sensor 'none': its class measures 0 numbers, and 0 columns are named");
    model.add(CustomSensor("height", ends, {""}, Height{}));
    const std::string by_file = refusal([&] { read(write_model_text(model)); });
    EXPECT_NE(by_file.find("a sensor of type 'custom' is a class of C++"), std::string::npos) << by_file;
}

}  // namespace
}  // namespace limber::testing
