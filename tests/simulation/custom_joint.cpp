// Joints written by users in C++: against an integration that shares no code with them, and against built-in joints in
// every formulation.

#include <gtest/gtest.h>

#include <cmath>

#include "limber/limber.hpp"
#include "support/models.hpp"
#include "support/refusal.hpp"

namespace limber::testing {
namespace {

// ---------------------------------------------------------------- a bead on an ellipsoid

const Vec3 half_axes(1.0, 1.5, 0.8);

struct Ellipsoid {
    static constexpr bool uses_axes = false;
    template <class T>
    std::array<T, 1> residuals(const MarkerPose<T>& a, const MarkerPose<T>& b) const {
        const Vector3<T> way = b.position - a.position;
        T sum(-1);
        for (int k = 0; k < 3; ++k) sum += way[k] * way[k] * T(1 / (half_axes[k] * half_axes[k]));
        return {T(0.5) * sum};
    }
};
// The same, as a class that may look at axes.
struct EllipsoidOfFrames : Ellipsoid {
    static constexpr bool uses_axes = true;
};

struct Bead {
    Vec3 position, velocity;
};

// m a = m g - lambda grad phi, with lambda from the second derivative of phi.
Vec3 bead_acceleration(const Bead& bead) {
    const Vec3 gravity(0, 0, -9.81);
    const Vec3 weights = half_axes.cwiseProduct(half_axes).cwiseInverse();
    const Vec3 gradient = weights.cwiseProduct(bead.position);
    const double curved = bead.velocity.dot(weights.cwiseProduct(bead.velocity));
    return gravity - gradient * (gradient.dot(gravity) + curved) / gradient.squaredNorm();
}

Bead integrate_bead(Bead bead, double until, int steps) {
    const double h = until / steps;
    const auto moved = [&](const Bead& by, double step) {
        return Bead{bead.position + step * by.velocity, bead.velocity + step * bead_acceleration(by)};
    };
    for (int i = 0; i < steps; ++i) {
        const Bead k2 = moved(bead, h / 2);
        const Bead k3 = moved(k2, h / 2);
        const Bead k4 = moved(k3, h);
        const Vec3 acceleration =
            bead_acceleration(bead) + 2 * bead_acceleration(k2) + 2 * bead_acceleration(k3) + bead_acceleration(k4);
        bead = {bead.position + h / 6 * (bead.velocity + 2 * k2.velocity + 2 * k3.velocity + k4.velocity),
                bead.velocity + h / 6 * acceleration};
    }
    return bead;
}

const Bead bead_start{{0.0, 1.5 * 0.8, -0.8 * 0.6}, {1.3, 0.0, 0.0}};

Model bead_model(bool is_point) {
    Model model;
    const Number3 at{bead_start.position.x(), bead_start.position.y(), bead_start.position.z()};
    const Number3 velocity{bead_start.velocity.x(), 0.0, 0.0};
    if (is_point) {
        model.add(PointMass{.name = "bead", .mass = 2.0, .at = at, .velocity = velocity});
    } else {
        model.add(Sphere{.name = "bead", .radius = 0.1, .mass = 2.0, .at = at, .velocity = velocity});
    }
    const MarkerPair ends{model.marker("ground"), model.marker("bead")};
    const JointHandle bowl = is_point ? model.add(CustomJoint("bowl", ends, Ellipsoid{}))
                                      : model.add(CustomJoint("bowl", ends, EllipsoidOfFrames{}));
    model.add(Reaction{.name = "push", .of = bowl});
    return model;
}

TEST(CustomJoints, HoldABeadOnAnEllipsoid) {
    constexpr double until = 0.8;
    const Bead expected = integrate_bead(bead_start, until, 20000);
    const Vec3 push = 2.0 * (bead_acceleration(expected) + Vec3(0, 0, 9.81));
    for (const bool is_point : {true, false}) {
        const Model model = bead_model(is_point);
        for (const auto& [formulation, coordinates] : formulations_in_coordinates()) {
            SCOPED_TRACE(formulation + " " + coordinates + (is_point ? ", point mass" : ""));
            const SimulationOptions o = options(formulation, "trapezoidal", coordinates);
            const auto find_error = [&](double step) {
                Simulation simulation(model, o);
                const StepReport report = simulation.advance(until, step);
                EXPECT_TRUE(report.ok) << report.reason;
                const Vec3 found(simulation.value("push.fx"), simulation.value("push.fy"), simulation.value("push.fz"));
                EXPECT_LT((found - push).norm(), 400 * step * step * push.norm());
                return (simulation.body_frame("bead").position - expected.position).norm();
            };
            const double coarse = find_error(4e-3);
            const double fine = find_error(2e-3);
            EXPECT_LT(fine, 2e-4);
            EXPECT_NEAR(std::log2(coarse / fine), 2, 0.2);
        }
    }
}

// ---------------------------------------------------------------- as built-in joints

struct Ball {
    template <class T>
    std::array<T, 3> residuals(const MarkerPose<T>& a, const MarkerPose<T>& b) const {
        const Vector3<T> way = b.position - a.position;
        return {way.x(), way.y(), way.z()};
    }
};
struct Pin {
    template <class T>
    std::array<T, 2> residuals(const MarkerPose<T>& a, const MarkerPose<T>& b) const {
        return {b.position.x() - a.position.x(), b.position.y() - a.position.y()};
    }
};
struct Cross {
    template <class T>
    std::array<T, 4> residuals(const MarkerPose<T>& a, const MarkerPose<T>& b) const {
        const Vector3<T> way = b.position - a.position;
        return {way.x(), way.y(), way.z(), a.axes.col(0).dot(b.axes.col(1))};
    }
};
// Of the second point from a line along x of the first marker, which moves.
struct Slot {
    template <class T>
    std::array<T, 1> residuals(const MarkerPose<T>& a, const MarkerPose<T>& b) const {
        return {Vector3<T>(b.position - a.position).dot(Vector3<T>(a.axes.col(1)))};
    }
};

Model links(bool planar) {
    const std::string third = planar ? "" : ", 0.2";
    const std::string zero = planar ? "" : ", 0";
    return read(std::string("{limber: 1, ") + (planar ? "plane: xy, " : "") + R"(
  bodies: {
    a: {box: {size: [1, 0.1)" +
                third + R"(], mass: 2}, at: [0.5, 0)" + zero + R"(]},
    b: {box: {size: [1, 0.1)" +
                third + R"(], mass: 1}, at: [1.5, 0)" + zero + R"(]}},
  joints: {j: {revolute: [ground, a], at: [0, 0)" +
                zero + "]" + (planar ? "" : ", axis: [0, 1, 0.3]") + R"(}},
  sensors: {tip: {position: b}}})");
}

struct Pair {
    std::string name;
    bool planar = false;
    Joint own, built_in;
};

std::vector<Pair> pairs() {
    return {{"spherical", false, CustomJoint("k", {}, Ball{}), Spherical{.name = "k"}},
            {"universal", false, CustomJoint("k", {}, Cross{}), Universal{.name = "k"}},
            {"revolute", true, CustomJoint("k", {}, Pin{}), Revolute{.name = "k"}},
            {"point-on-line", true, CustomJoint("k", {}, Slot{}), PointOnLine{.name = "k"}}};
}

Model with_joint(Joint joint, bool planar) {
    Model model = links(planar);
    *joint.between() = {model.marker("a"), model.marker("b")};
    const JointHandle handle = model.add(joint, {.at = Number3{1.0, 0.0, 0.0}});
    model.joints.get(handle).is_cut = true;
    model.add(Reaction{.name = "pull", .of = handle});
    return model;
}

TEST(CustomJoints, MoveAsBuiltInOnesInEveryFormulation) {
    for (const Pair& pair : pairs()) {
        const Model own = with_joint(pair.own, pair.planar);
        const Model built_in = with_joint(pair.built_in, pair.planar);
        const MobilityReport mobility = Simulation(own).compute_mobility();
        EXPECT_EQ(mobility.freedoms, Simulation(built_in).compute_mobility().freedoms) << pair.name;
        EXPECT_EQ(mobility.redundant, 0) << pair.name;
        for (const auto& [formulation, coordinates] : formulations_in_coordinates()) {
            SCOPED_TRACE(pair.name + " " + formulation + " " + coordinates);
            Simulation one(own, options(formulation, "rk4", coordinates));
            Simulation other(built_in, options(formulation, "rk4", coordinates));
            ASSERT_TRUE(one.advance(0.4, 1e-3).ok);
            ASSERT_TRUE(other.advance(0.4, 1e-3).ok);
            const std::vector<double> found = sense_all(one);
            const std::vector<double> expected = sense_all(other);
            ASSERT_EQ(found.size(), expected.size());
            for (std::size_t i = 0; i < found.size(); ++i)
                EXPECT_NEAR(found[i], expected[i], 1e-5 * (1 + std::abs(expected[i]))) << i;
        }
    }
}

// Held twice: the second joint adds nothing, and both share the load.
TEST(CustomJoints, AreFoundRedundantAsBuiltInOnesAre) {
    Model model = with_joint(CustomJoint("k", {}, Ball{}), false);
    const JointHandle again = model.add(Spherical{.name = "again", .between = {model.marker("a"), model.marker("b")}},
                                        {.at = Number3{1.0, 0.0, 0.0}});
    model.add(Reaction{.name = "half", .of = again});
    Simulation simulation(model);
    EXPECT_EQ(simulation.compute_mobility().redundant, 3);
    Simulation single(with_joint(Spherical{.name = "k"}, false));
    ASSERT_TRUE(simulation.advance(0.2, 1e-3).ok);
    ASSERT_TRUE(single.advance(0.2, 1e-3).ok);
    for (const char* component : {"fx", "fy", "fz"}) {
        const double whole = single.value(std::string("pull.") + component);
        EXPECT_NEAR(simulation.value(std::string("half.") + component), whole / 2, 1e-5) << component;
        EXPECT_NEAR(simulation.value(std::string("pull.") + component), whole / 2, 1e-5) << component;
    }
    EXPECT_GT(std::abs(single.value("pull.fx")), 1);
}

TEST(CustomJoints, CostNewtonsMethodNoIterations) {
    const auto iterations = [](const Model& model) {
        Simulation simulation(model, options("global", "trapezoidal", "reference-point"));
        return static_cast<double>(run_until(simulation, 0.4).summary.iterations);
    };
    for (const Pair& pair : pairs()) {
        const double expected = iterations(with_joint(pair.built_in, pair.planar));
        EXPECT_NEAR(iterations(with_joint(pair.own, pair.planar)), expected, 0.01 * expected) << pair.name;
    }
}

TEST(CustomJoints, HoldDividedMechanismsTogether) {
    for (const Pair& pair : pairs()) {
        const Model model = with_joint(pair.own, pair.planar);
        SimulationOptions o = options("global", "trapezoidal");
        o.formulation_options.tolerance = 1e-10;
        Simulation whole(model, o);
        o.modular.division = "body";
        Simulation divided(model, o);
        ASSERT_TRUE(whole.advance(0.2, 1e-3).ok) << pair.name;
        const StepReport report = divided.advance(0.2, 1e-3);
        ASSERT_TRUE(report.ok) << pair.name << ": " << report.reason;
        const std::vector<double> expected = sense_all(whole);
        const std::vector<double> found = sense_all(divided);
        for (std::size_t i = 0; i < expected.size(); ++i)
            EXPECT_NEAR(found[i], expected[i], 1e-6 * (1 + std::abs(expected[i]))) << pair.name << " " << i;
    }
}

// ---------------------------------------------------------------- edits and refusals

TEST(CustomJoints, LiveThroughEditsAndUndo) {
    Session session(bead_model(false));
    const auto distance = [&] {
        const Vec3 at = session.simulation().body_frame("bead").position.cwiseQuotient(half_axes);
        return std::abs(at.squaredNorm() - 1);
    };
    const auto run = [&] {
        for (int i = 0; i < 100; ++i) ASSERT_TRUE(session.step().ok);
    };
    run();
    ASSERT_TRUE(session.apply("set bodies.bead.sphere.mass 3").ok);
    run();
    EXPECT_LT(distance(), 1e-6);
    ASSERT_TRUE(session.apply("remove joints.bowl with dependents").ok);
    EXPECT_EQ(session.simulation().compute_mobility().freedoms, 6);
    ASSERT_TRUE(session.apply("undo").ok);
    EXPECT_EQ(session.simulation().compute_mobility().freedoms, 5);
    run();
    EXPECT_LT(distance(), 1e-6);
}

TEST(CustomJoints, AreRefusedByFilesAndJournals) {
    const std::string by_file = refusal([] { read(write_model_text(bead_model(true))); });
    EXPECT_NE(by_file.find("bowl"), std::string::npos) << by_file;
    EXPECT_NE(by_file.find("a joint of type 'custom' is a class of C++"), std::string::npos) << by_file;
    Session session(links(false));
    const MarkerPair ends{session.model().marker("a"), session.model().marker("b")};
    const EditReport report = session.apply(AddJoint{CustomJoint("k", ends, Ball{})});
    EXPECT_FALSE(report.ok);
    EXPECT_NE(report.reason.find("joint 'k' is a class of C++"), std::string::npos) << report.reason;
}

// Not a number below z = -1.
struct Broken {
    template <class T>
    std::array<T, 2> residuals(const MarkerPose<T>& a, const MarkerPose<T>& b) const {
        using std::sqrt;
        const Vector3<T> way = b.position - a.position;
        return {way.x(), way.y() * sqrt(way.z() + T(1))};
    }
};
// Says that it uses no axes, and does.
struct Liar {
    static constexpr bool uses_axes = false;
    template <class T>
    std::array<T, 1> residuals(const MarkerPose<T>& a, const MarkerPose<T>& b) const {
        return {Vector3<T>(b.position - a.position).dot(Vector3<T>(a.axes.col(1)))};
    }
};

TEST(CustomJoints, ThatGiveNoNumbersAreNamed) {
    const auto falling = [](double height, const auto& law) {
        Model model;
        model.add(Sphere{.name = "ball", .radius = 0.1, .mass = 1.0, .at = {0.0, 0.0, height}});
        model.add(CustomJoint("guide", {model.marker("ground"), model.marker("ball")}, law));
        return model;
    };
    EXPECT_EQ(
        refusal([&] { const Simulation simulation(falling(-2, Broken{})); }),
        "joint 'guide': residual 2 of its class, or a derivative of it, is not a number where the bodies are drawn");
    EXPECT_EQ(
        refusal([&] { const Simulation simulation(falling(0, Liar{})); }),
        "joint 'guide': residual 1 of its class, or a derivative of it, is not a number where the bodies are drawn");
    for (const auto& [formulation, coordinates] : formulations_in_coordinates())
        for (const char* integrator : {"trapezoidal", "rk4"}) {
            Simulation simulation(falling(0, Broken{}), options(formulation, integrator, coordinates));
            const StepReport report = simulation.advance(1.0, 1e-2);
            EXPECT_FALSE(report.ok) << formulation << " " << coordinates << " " << integrator;
            EXPECT_NE(report.reason.find("joint 'guide': a residual of its class"), std::string::npos) << report.reason;
            EXPECT_TRUE(simulation.state().q.allFinite());
            EXPECT_LT(simulation.time(), 0.46);
        }
}

TEST(CustomJoints, SayWhatTheyNeed) {
    Model model;
    model.add(PointMass{.name = "bead", .mass = 1.0, .at = {1.0, 0.0, 0.0}});
    CustomJoint empty;
    empty.name = "none";
    empty.between = {model.marker("ground"), model.marker("bead")};
    Model without = model;
    without.add(empty);
    EXPECT_EQ(refusal([&] { const Simulation simulation(without); }),
              "joint 'none': a custom joint needs a class that tells its residuals");
    model.add(CustomJoint("slot", empty.between, Slot{}));
    const std::string light = refusal([&] { const Simulation simulation(model); });
    EXPECT_NE(light.find("joint 'slot': body 'bead' has no inertia about some axis"), std::string::npos) << light;
}

}  // namespace
}  // namespace limber::testing
