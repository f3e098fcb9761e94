// Forces written by users in C++: against closed forms, and against built-in forces in every formulation.

#include <gtest/gtest.h>

#include <cmath>

#include "limber/limber.hpp"
#include "support/models.hpp"
#include "support/refusal.hpp"

namespace limber::testing {
namespace {

// Newton's: strength / r^2 towards each other.
struct Attraction {
    double strength = 1;
    template <class T>
    void act(const MarkerMotion<T>& a, const MarkerMotion<T>& b, double /*t*/, MarkerLoad<T>& on_a,
             MarkerLoad<T>& on_b) const {
        const Vector3<T> way = b.position - a.position;
        const Vector3<T> force = way * (T(strength) / (way.squaredNorm() * way.norm()));
        on_a.force += force;
        on_b.force -= force;
    }
};

// Kepler: with speed 1.2 across at distance 1 and mu = 1 the orbit is an ellipse with the half axis a = 1 / (2
// - 1.2^2), passed through in 2 pi a^(3/2); half way the planet is at 2 a - 1 on the other side.
TEST(CustomForces, MakePlanetsGoRoundAsKeplerSays) {
    const double half_axis = 1 / (2 - 1.2 * 1.2);
    const double period = 2 * pi * std::pow(half_axis, 1.5);
    for (const bool planar : {true, false}) {
        Model model = planar ? Model::in_plane() : Model();
        model.gravity = {0.0, 0.0, 0.0};
        model.add(Sphere{.name = "planet",
                         .radius = 0.1,
                         .mass = 1.0,
                         .at = planar ? Number3{1.0, 0.0, 0.0} : Number3{0.6, 0.0, 0.8},
                         .velocity = {0.0, 1.2, 0.0}});
        model.add(CustomForce("sun", {model.marker("ground"), model.marker("planet")}, Attraction{}));
        const Vec3 start = planar ? Vec3(1, 0, 0) : Vec3(0.6, 0, 0.8);
        for (const std::string& formulation : formulation_names()) {
            Simulation simulation(model, options(formulation, "rk4"));
            const double step = period / 2000;
            ASSERT_TRUE(simulation.advance(period / 2, step).ok);
            EXPECT_LT((simulation.body_frame("planet").position + (2 * half_axis - 1) * start).norm(), 1e-8)
                << formulation;
            ASSERT_TRUE(simulation.advance(period, step).ok);
            EXPECT_LT((simulation.body_frame("planet").position - start).norm(), 1e-8) << formulation;
        }
    }
}

// The same law as a built-in spring with a damper, and a torque.
struct Strut {
    template <class T>
    void act(const MarkerMotion<T>& a, const MarkerMotion<T>& b, double /*t*/, MarkerLoad<T>& on_a,
             MarkerLoad<T>& on_b) const {
        const Vector3<T> way = b.position - a.position;
        const T length = way.norm();
        const T rate = way.dot(Vector3<T>(b.velocity - a.velocity)) / length;
        const Vector3<T> force = way * ((T(30) * (length - T(0.4)) + T(2) * rate) / length);
        on_a.force += force;
        on_b.force -= force;
        on_b.torque += Vector3<T>(T(0), T(0), T(0.7));
    }
};

std::string two_links(bool planar) {
    return std::string("{limber: 1, ") + (planar ? "plane: xy, gravity: [0, -9.81]" : "gravity: [0, 0, -9.81]") + R"(,
  bodies: {
    a: {box: {size: )" +
           (planar ? "[1, 0.1]" : "[1, 0.1, 0.2]") + R"(, mass: 2}, at: )" + (planar ? "[0.5, 0]" : "[0.5, 0, 0]") +
           R"(, markers: {s: )" + (planar ? "[0.3, 0.1]" : "[0.3, 0.1, 0.05]") +
           R"(}},
    b: {box: {size: )" +
           (planar ? "[1, 0.1]" : "[1, 0.1, 0.2]") + R"(, mass: 1}, at: )" + (planar ? "[1.5, 0]" : "[1.5, 0, 0]") +
           R"(, markers: {s: )" + (planar ? "[-0.2, 0.2]" : "[-0.2, 0.2, -0.1]") + R"(}}},
  joints: {
    j: {revolute: [ground, a], at: )" +
           (planar ? "[0, 0]" : "[0, 0, 0], axis: [0, 1, 0.3]") + R"(},
    k: {)" +
           (planar ? "revolute" : "spherical") + R"(: [a, b], at: )" + (planar ? "[1, 0]" : "[1, 0, 0]") + R"(}},
  sensors: {tip: {position: b}, pull: {reaction: k}}})";
}

Model with_strut(bool planar, bool is_own) {
    Model model = read(two_links(planar));
    const MarkerPair ends{model.marker("a.s"), model.marker("b.s")};
    if (is_own) {
        model.add(CustomForce("strut", ends, Strut{}));
        return model;
    }
    model.add(Spring{
        .name = "strut", .between = ends, .free_length = Number(0.4), .law = {.stiffness = 30.0, .damping = 2.0}});
    model.add(Torque{.name = "torque", .marker = ends.second, .vector = {{0.0, 0.0, 0.7}}});
    return model;
}

TEST(CustomForces, MoveAsBuiltInOnesInEveryFormulation) {
    for (const bool planar : {true, false}) {
        const Model own = with_strut(planar, true);
        const Model built_in = with_strut(planar, false);
        for (const std::string& formulation : formulation_names())
            for (const char* integrator : {"trapezoidal", "rk4"}) {
                Simulation one(own, options(formulation, integrator));
                Simulation other(built_in, options(formulation, integrator));
                ASSERT_TRUE(one.advance(0.5, 1e-3).ok) << formulation << " " << integrator;
                ASSERT_TRUE(other.advance(0.5, 1e-3).ok) << formulation << " " << integrator;
                const std::vector<double> found = sense_all(one);
                const std::vector<double> expected = sense_all(other);
                ASSERT_EQ(found.size(), expected.size());
                for (std::size_t i = 0; i < found.size(); ++i)
                    EXPECT_NEAR(found[i], expected[i], 1e-7 * (1 + std::abs(expected[i])))
                        << formulation << " " << integrator << " " << i;
            }
    }
}

// The tangent of dual numbers is the exact one: Newton's method takes as many iterations as with the built-in force.
TEST(CustomForces, CostNewtonsMethodNoIterations) {
    const Model own = with_strut(false, true);
    const Model built_in = with_strut(false, false);
    const auto iterations = [](const Model& model) {
        Simulation simulation(model, options("global", "trapezoidal"));
        return run_until(simulation, 0.5).summary.iterations;
    };
    const long expected = iterations(built_in);
    EXPECT_NEAR(static_cast<double>(iterations(own)), static_cast<double>(expected), 0.01 * expected);
}

TEST(CustomForces, SurviveEditsAndAreRefusedByFiles) {
    Model model = read(two_links(true));
    model.add(CustomForce("strut", {model.marker("a.s"), model.marker("b.s")}, Strut{}));
    Session session(model);
    session.apply("set bodies.b.box.mass 3");
    EXPECT_NE(session.model().forces.get(session.model().forces.find("strut")).as<CustomForce>(), nullptr);
    const std::string by_file = refusal([&] { read(write_model_text(model)); });
    EXPECT_NE(by_file.find("strut"), std::string::npos) << by_file;
    EXPECT_NE(by_file.find("add it to the model in code"), std::string::npos) << by_file;
    Model without = read(two_links(true));
    CustomForce empty;
    empty.name = "none";
    empty.between = {without.marker("a.s"), without.marker("b.s")};
    without.add(empty);
    EXPECT_EQ(refusal([&] { const Simulation simulation(without); }), "force 'none': a custom force needs a law");
}

}  // namespace
}  // namespace limber::testing
