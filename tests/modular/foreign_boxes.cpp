// Black boxes that know nothing of systems and formulations: they show the motion of a port and take a wrench.

#include <gtest/gtest.h>

#include <cmath>

#include "support/models.hpp"

namespace limber::testing {
namespace {

// A rigid body on a plane that answers by closed formulas. Derived boxes say how it moves over a step.
class BodyBox : public Component<2> {
public:
    BodyBox(double mass, double inertia) : mass_(mass), inertia_(inertia) {}

    int port_count() const override { return 1; }
    void import_motion(double t, const BodyStates<2>& bodies, std::span<const double>) override {
        t_ = t;
        state_ = end_.state = bodies[0];
    }
    void export_motion(std::span<BodyState<2>> bodies, std::span<TwistVec<2>> rates) const override {
        bodies[0] = state_;
        rates[0] = end_.rate;
    }
    void begin(double h, Coupling, ForceCourse, Wrenches start, Wrenches) override {
        h_ = h;
        start_ = start[0];
        end_.state = state_;
    }
    void correct() override {}
    void push_velocities(Wrenches w, Motion motion) override {
        const TwistVec<2> change = yield(w[0]);
        end_.state.velocity += change.head<2>();
        end_.state.angular_velocity += change.tail<1>();
        motion[0] = end_;
    }
    void push_accelerations(Wrenches w, Motion motion) override {
        end_.rate += yield(w[0]);
        motion[0] = end_;
    }
    void respond(Wrenches w, std::span<TwistVec<2>> rates) override { rates[0] = yield(w[0]); }
    Reach reach() const override { return h_ > 0 ? Reach{1.0 / 6, 0.5} : Reach{1, 1}; }
    void accept() override {
        state_ = end_.state;
        t_ += h_;
    }
    std::vector<double> save() const override { return {}; }
    void restore(std::span<const double>) override {}

protected:
    /// Acceleration by a wrench.
    virtual TwistVec<2> yield(const TwistVec<2>& w) const { return {w[0] / mass_, w[1] / mass_, w[2] / inertia_}; }

    double mass_, inertia_;
    double t_ = 0, h_ = 0;
    BodyState<2> state_;
    PortMotion<2> end_;
    TwistVec<2> start_ = TwistVec<2>::Zero();
};

// A mass with a controller that samples its velocity every T and holds the force -g v until the next instant.
class SampledMass final : public BodyBox {
public:
    SampledMass(double gain, double period) : BodyBox(1, 1), gain_(gain), period_(period) {}

    StepReport answer(Wrenches w, Motion motion) override {
        end_.state = state_;
        const int samples = std::max(1, static_cast<int>(std::lround(h_ / period_)));
        const double dt = h_ / samples;
        for (int i = 0; i < samples && h_ > 0; ++i) {
            // The outside is linear over the step, the controller constant over the sample: both integrated exactly.
            const double control = -gain_ * end_.state.velocity.x();
            TwistVec<2> first = yield(start_ + (w[0] - start_) * (static_cast<double>(i) / samples));
            TwistVec<2> last = yield(start_ + (w[0] - start_) * (static_cast<double>(i + 1) / samples));
            first[0] += control / mass_;
            last[0] += control / mass_;
            end_.state.position += dt * end_.state.velocity + dt * dt * (first.head<2>() / 3 + last.head<2>() / 6);
            end_.state.velocity += dt * 0.5 * (first + last).head<2>();
        }
        end_.rate = yield(w[0]);
        end_.rate[0] -= gain_ * end_.state.velocity.x() / mass_;
        motion[0] = end_;
        return {};
    }

private:
    double gain_, period_;
};

constexpr const char* sliding_mass = R"(
limber: 1
plane: xy
gravity: none
bodies:
  mass: {disc: {radius: 1, mass: 1}, velocity: [1, 0]}
joints:
  rail: {prismatic: [ground, mass]}
)";

std::unique_ptr<ModularAssembly<2>> assemble(const Mechanism<2>& m, const Division& division, ComponentList<2> boxes) {
    const DividedParts<2> parts = find_parts(m, division);
    for (std::size_t k = 0; k < boxes.size(); ++k) {
        BodyStates<2> bodies;
        for (const int b : parts.components[k].bodies) bodies.push_back(m.bodies[b].reference);
        boxes[k]->import_motion(0, bodies, {});
    }
    return std::make_unique<ModularAssembly<2>>(std::move(boxes),
                                                std::make_unique<InterfaceJoints<2>>(m, parts.interface),
                                                ModularOptions{}, FormulationOptions{}, 1);
}

// Brüls and Golinval: a free mass with v(0) = 1, gain 100, T = 0.5 ms has v_k = 0.95^k, whatever the steps of the
// others.
TEST(ForeignBox, SampledControllerHoldsItsForce) {
    const Mechanism<2> m = make_mechanism<2>(read(sliding_mass));
    ModularOptions by_body;
    by_body.division = "body";
    const Division division = find_division(m, read(sliding_mass), by_body);
    for (const int samples_per_step : {1, 4}) {
        ComponentList<2> boxes;
        boxes.push_back(std::make_unique<SampledMass>(100, 5e-4));
        const auto assembly = assemble(m, division, std::move(boxes));
        ASSERT_TRUE(assembly->start(0).ok);
        for (int i = 0; i < 100 / samples_per_step; ++i) ASSERT_TRUE(assembly->step(5e-4 * samples_per_step).ok);
        BodyStates<2> state(1);
        std::vector<TwistVec<2>> rate(1);
        assembly->component(0).export_motion(state, rate);
        EXPECT_NEAR(state[0].velocity.x(), 5.920529e-3, 1e-9);
        EXPECT_NEAR(state[0].position.y(), 0, 1e-12);
    }
}

// A beam on a torsion spring, theta'' = (torque - k theta) / J, solved in closed form for a torque that runs linearly.
class TorsionPendulum final : public BodyBox {
public:
    TorsionPendulum(double arm, double inertia, double stiffness)
        : BodyBox(1, 1), arm_(arm), about_pivot_(inertia), stiffness_(stiffness) {}

    void import_motion(double t, const BodyStates<2>& bodies, std::span<const double> memory) override {
        BodyBox::import_motion(t, bodies, memory);
        angle_ = std::atan2(bodies[0].axes(1, 0), bodies[0].axes(0, 0));
        speed_ = bodies[0].angular_velocity[0];
        show(angle_, speed_, 0);
        state_ = end_.state;
    }

    StepReport answer(Wrenches w, Motion motion) override {
        const double first = torque(start_, angle_);
        double end = end_angle_ = angle_;
        end_speed_ = speed_;
        // The lever of the force at the end is known with the end.
        for (int pass = 0; pass < 6 && h_ > 0; ++pass) {
            const double slope = (torque(w[0], end) - first) / h_;
            const double omega = std::sqrt(stiffness_ / about_pivot_);
            const double a = angle_ - first / stiffness_;
            const double b = (speed_ - slope / stiffness_) / omega;
            const double c = std::cos(omega * h_);
            const double s = std::sin(omega * h_);
            end = (first + slope * h_) / stiffness_ + a * c + b * s;
            end_speed_ = slope / stiffness_ + omega * (b * c - a * s);
        }
        end_angle_ = end;
        show(end, end_speed_, (torque(w[0], end) - stiffness_ * end) / about_pivot_);
        motion[0] = end_;
        return {};
    }

    void push_velocities(Wrenches w, Motion motion) override {
        end_speed_ += torque(w[0], end_angle_) / about_pivot_;
        show(end_angle_, end_speed_, acceleration_);
        motion[0] = end_;
    }
    void push_accelerations(Wrenches w, Motion motion) override {
        show(end_angle_, end_speed_, acceleration_ + torque(w[0], end_angle_) / about_pivot_);
        motion[0] = end_;
    }
    void accept() override {
        BodyBox::accept();
        angle_ = end_angle_;
        speed_ = end_speed_;
    }

protected:
    TwistVec<2> yield(const TwistVec<2>& w) const override {
        const double alpha = torque(w, end_angle_) / about_pivot_;
        return {-arm_ * std::sin(end_angle_) * alpha, arm_ * std::cos(end_angle_) * alpha, alpha};
    }

private:
    double torque(const TwistVec<2>& w, double angle) const {
        return w[2] + arm_ * (std::cos(angle) * w[1] - std::sin(angle) * w[0]);
    }
    void show(double angle, double speed, double acceleration) {
        acceleration_ = acceleration;
        const Vec2 along(std::cos(angle), std::sin(angle));
        const Vec2 across(-along.y(), along.x());
        end_.state.position = arm_ * along;
        end_.state.axes << along, across;
        end_.state.velocity = arm_ * speed * across;
        end_.state.angular_velocity[0] = speed;
        end_.rate << arm_ * (acceleration * across - speed * speed * along), acceleration;
    }

    double arm_, about_pivot_, stiffness_;
    double angle_ = 0, speed_ = 0, end_angle_ = 0, end_speed_ = 0, acceleration_ = 0;
};

// The same mechanism as one, with the beam a rod of 1 kg on a pivot.
constexpr const char* beam_and_rod = R"(
limber: 1
plane: xy
gravity: none
bodies:
  beam: {rod: {from: [0, 0], to: [1, 0], mass: 1}}
  rod: {rod: {from: [1, 0], to: [1, -1], mass: 1}, velocity: [0.5, 0], angular-velocity: 1}
joints:
  pivot: {revolute: [ground, beam.from]}
  pin: {revolute: [beam.to, rod.from]}
forces:
  spring: {torsion-spring: pivot.angle, stiffness: 10, free-value: 0}
sensors:
  tip: {position: rod.to}
)";

TEST(ForeignBox, PendulumInClosedFormSwingsAsOurs) {
    Model model = read(beam_and_rod);
    Simulation whole(model, options("global", "trapezoidal"));
    ASSERT_TRUE(whole.advance(1, 1e-3).ok);

    // The pivot and the spring are inside the box; the pin is what joins it to the rod.
    const Mechanism<2> m = make_mechanism<2>(model);
    Division division;
    division.components.resize(2);
    division.component_of_body = {0, 1};
    const DividedParts<2> parts = find_parts(m, division);
    ASSERT_EQ(parts.interface.elements.size(), 1U);
    ComponentList<2> boxes;
    boxes.push_back(std::make_unique<TorsionPendulum>(0.5, 1.0 / 3, 10));
    boxes.push_back(std::make_unique<SystemComponent<2>>(
        compile_component(m, parts.components[1], parts.ports[1], {"rod", "global", "trapezoidal", "", 0}, {}, {})));
    const auto assembly = assemble(m, division, std::move(boxes));
    // Velocities as the joints allow them, as the simulation starts too.
    ASSERT_TRUE(assembly->restart_velocities(0).ok);
    for (int i = 0; i < 1000; ++i) {
        const StepReport report = assembly->step(1e-3);
        ASSERT_TRUE(report.ok) << report.reason;
    }
    BodyStates<2> state(1);
    std::vector<TwistVec<2>> rate(1);
    assembly->component(1).export_motion(state, rate);
    const Vec2 tip = state[0].position + state[0].axes.col(0) * 0.5;
    EXPECT_NEAR(tip.x(), sense(whole, "tip.x"), 2e-5);
    EXPECT_NEAR(tip.y(), sense(whole, "tip.y"), 2e-5);
}

}  // namespace
}  // namespace limber::testing
