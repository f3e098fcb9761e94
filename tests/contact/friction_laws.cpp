// Friction by other laws and at other places than walls: closed forms.

#include <gtest/gtest.h>

#include "limber/kinematics/forces/friction_law.hpp"

#include <cmath>

#include "limber/kinematics/forces/contact_force.hpp"
#include "limber/model/error.hpp"
#include "support/stick_slip.hpp"

namespace limber::testing {
namespace {

// The trapezoidal rule makes the swing while it slips longer by (w h)^2/12; instants are found to 1e-9 s, that of half
// the speed by a straight line to 1e-7.
TEST(FrictionLaws, StickSlipOnABeltHasItsPeriod) {
    const double period = stick_slip_period(0.1, 100, 1, 0.2 * 10);
    for (const char* formulation : {"global", "augmented-lagrangian", "null-space"}) {
        Simulation simulation(example("contact/stick-slip-belt.yaml"), options(formulation, "trapezoidal"));
        const double slips = period - 2 * (0.2 * 10 / 100) / 0.1;
        EXPECT_NEAR(measured_stick_slip_period(simulation, 4, 0.001), period + slips * 1e-4 / 12, 1e-7) << formulation;
    }
}

// Bristles that are short against the motion, and a Stribeck speed v_s far below the belt's v: nearly Coulomb's law.
// Earlier: the spring loads them with k v, so they bend at z' = k v b/(mu_k N) = 3.3e-6 m/s and, bent up to a share s
// of what they can, slide at z'/s. That loses mu_s s + (mu_s - mu_k) (z'/(s v_s))^2 of the friction of rest, 0.0155
// where it is least (s = 0.021). Later: what begins to slip keeps some of it until it has the Stribeck speed, to which
// the spring takes it in sqrt(2 m v_s/(k v)) at most.
TEST(FrictionLaws, StickSlipWithBristlesIsNearlyCoulombs) {
    Model model = example("contact/stick-slip-belt.yaml");
    auto& friction = std::get<JointFriction>(model.forces.get(model.forces.find("friction")).type);
    friction.law = FrictionKind::bristle;
    friction.bend = 1e-6;
    friction.stribeck = friction.bristle_damping = 1e-3;
    Simulation simulation(model, options("global", "trapezoidal"));
    const double period = stick_slip_period(0.1, 100, 1, 0.2 * 10);
    const double measured = measured_stick_slip_period(simulation, 4, 0.0005);
    EXPECT_GT(measured, stick_slip_period(0.1, 100, 1, (0.2 - 0.0155) * 10));
    EXPECT_LT(measured, period + std::sqrt(2 * 1e-3 / (100 * 0.1)));
}

Model pushed_block(const std::string& friction, const std::string& push) {
    return read(R"(
limber: 1
plane: xy
gravity: none
bodies: {block: {box: {size: [0.2, 0.1], mass: 1}}}
joints: {guide: {prismatic: [ground, block], axis: [1, 0]}}
forces:
  brake: {friction: guide.displacement, coefficient: 0.3, preload: 10, )" +
                friction + R"(}
  hand: {motor: guide.displacement, law: ")" +
                push + R"("}
sensors:
  place: {coordinate: guide.displacement}
  speed: {rate: guide.displacement}
  brake: {force: brake}
)");
}

// z' = v (1 - z/b) from rest: z = b (1 - exp(-x/b)), so a force F under mu N is reached at x = -b ln(1 - F/(mu N)); at
// first it is a spring of stiffness mu N / b, which falls to k = (mu N - F)/b. The force grows as 1 - cos: where it
// stops growing the block is still braked by F''/k, and so is bent too far by m F''/k^2 at most.
TEST(FrictionLaws, BristlesBendBeforeTheySlide) {
    for (const double share : {0.01, 0.5, 0.9}) {
        const Model model = pushed_block("law: bristle, bend: 1e-4, bristle-damping: 0.01",
                                         std::to_string(1.5 * share) + "*(1 - cos(pi*min(1, t/6)))");
        for (const char* formulation : {"global", "augmented-lagrangian"}) {
            Simulation simulation(model, options(formulation, "trapezoidal"));
            const StepReport report = simulation.advance(6.5, 0.001);
            ASSERT_TRUE(report.ok) << report.reason;
            const double stiffness = 3 * (1 - share) / 1e-4;
            const double inertia = 1.5 * share * std::pow(pi / 6, 2);
            EXPECT_NEAR(sense(simulation, "place"), -1e-4 * std::log(1 - share), inertia / (stiffness * stiffness))
                << formulation;
            EXPECT_NEAR(sense(simulation, "brake"), -3 * share, 1e-9) << formulation;
        }
    }
}

// What has rested for t breaks away at N (mu_k + (mu_s - mu_k) (1 - exp(-t/T))): a little less holds it, a little more
// does not.
TEST(FrictionLaws, RestMakesBristlesGripBetter) {
    for (const double rested : {0.3, 0.5, 2.0}) {
        const double breakaway = 10 * (0.3 + 0.3 * (1 - std::exp(-rested / 0.5)));
        for (const double share : {0.95, 1.1}) {
            Simulation simulation(example("contact/bristle-friction.yaml", {{"push", std::to_string(share * breakaway)},
                                                                            {"after", std::to_string(rested - 0.05)}}),
                                  options("global", "trapezoidal"));
            const StepReport report = simulation.advance(rested + 0.5, 0.0005);
            ASSERT_TRUE(report.ok) << report.reason;
            const double place = sense(simulation, "place");
            if (share < 1) {
                // Bent by -z_m ln(1 - 0.95), z_m = bend mu/mu_k, and a little more as some static friction is lost on
                // the way.
                EXPECT_LT(place, 1.5 * 1e-6 * breakaway / 3 * std::log(20)) << rested;
            } else {
                // For half a second at most by what is left over kinetic friction; it takes some hundredths until it
                // slips.
                const double way = 0.5 * (share * breakaway - 3) * 0.25;
                EXPECT_LT(place, way) << rested;
                EXPECT_GT(place, 0.9 * way) << rested;
            }
        }
    }
}

// A constant push F makes it creep at v_0 atanh(F/(mu N)).
TEST(FrictionLaws, RegularisedFrictionCreeps) {
    const Model model = pushed_block("law: regularised, slip: 0.01", "1.5");
    for (const char* formulation : {"global", "semi-recursive", "null-space"}) {
        Simulation simulation(model, options(formulation, "trapezoidal"));
        const StepReport report = simulation.advance(1, 0.001);
        ASSERT_TRUE(report.ok) << report.reason;
        EXPECT_NEAR(sense(simulation, "speed"), 0.01 * std::atanh(0.5), 1e-8) << formulation;
    }
}

// The load of a compliant law is the reaction, as it is of Coulomb's: the block of the example stops where it does by
// that, up to a h^2/8 within the last step with the one law, and up to how far bristles bend, 1e-5 m, with the other.
TEST(FrictionLaws, CompliantLawsAreLoadedByTheReaction) {
    for (const FrictionKind kind : {FrictionKind::regularised, FrictionKind::bristle}) {
        Model model = example("contact/friction-in-joints.yaml");
        for (const char* name : {"guide_friction", "pin_friction"}) {
            auto& friction = std::get<JointFriction>(model.forces.get(model.forces.find(name)).type);
            friction.law = kind;
            friction.slip = 1e-4;
            friction.bristle_damping = 1e-3;
        }
        Simulation simulation(model, options("global", "trapezoidal"));
        const StepReport report = simulation.advance(1, 0.001);
        ASSERT_TRUE(report.ok) << report.reason;
        const double deceleration = 0.2 * 9.81 / (1 - 2 * 0.2 * 0.05 / 0.2);
        EXPECT_NEAR(sense(simulation, "place"), 1 / (2 * deceleration),
                    kind == FrictionKind::bristle ? 1e-5 : deceleration * 1e-6 / 8);
    }
}

// Force and tangent agree, on the way and while the bristles turn round.
TEST(FrictionLaws, DerivativesAreThoseOfTheForce) {
    FrictionLaw law;
    law.kinetic = 0.3;
    law.at_rest = 0.5;
    law.bend = 1e-3;
    law.damping = 0.02;
    law.dwell = 0.4;
    law.lever = 0.7;
    for (const FrictionLaw::Kind kind : {FrictionLaw::Kind::regularised, FrictionLaw::Kind::bristle})
        for (const double bend : {-8e-4, 0.0, 6e-4})
            for (const double x : {-3e-4, 2e-4, 5e-3})
                for (const double v : {-0.02, 0.003, 0.05}) {
                    law.kind = kind;
                    const Bristles start{bend, 1e-5, 0.3};
                    const auto force = [&](double at, double rate) {
                        return evaluate_friction(law, 20, at, rate, start, 0.01).force;
                    };
                    const FrictionForce f = evaluate_friction(law, 20, x, v, start, 0.01);
                    EXPECT_NEAR(f.by_x, (force(x + 1e-8, v) - force(x - 1e-8, v)) / 2e-8,
                                1e-4 * (1 + std::abs(f.by_x)));
                    EXPECT_NEAR(f.by_v, (force(x, v + 1e-7) - force(x, v - 1e-7)) / 2e-7,
                                1e-4 * (1 + std::abs(f.by_v)));
                }
}

// A ball pressed onto a floor and dragged over it.
TEST(FrictionLaws, CompliantContactsLoseTheirStaticFrictionWithSpeed) {
    ContactPair pair;
    pair.shape_a = std::make_shared<const Shape>(Shape::plane());
    pair.shape_b = std::make_shared<const Shape>(Shape::sphere(0.1));
    pair.reach_a = pair.reach_b = 1e9;
    pair.law.kind = ContactLaw::Kind::linear;
    pair.law.stiffness = 1e4;
    pair.law.friction = 0.3;
    pair.law.static_friction = 0.6;
    pair.law.stribeck = 0.02;
    pair.law.slip = 1e-3;
    const auto at = [&](const Vec3& velocity) {
        MovingFrame ball;
        ball.frame.position = Vec3(0, 0, 0.099);
        ball.velocity = velocity;
        CompliantPoints points;
        evaluate_contact(pair, MovingFrame{}, ball, false, {}, 0, points);
        EXPECT_EQ(points.count, 1);
        return points.points[0];
    };
    for (const double v : {1e-4, 0.01, 0.03, 1.0}) {
        const CompliantPoint p = at({v, 0, 0});
        const double mu = (0.3 + 0.3 * std::exp(-std::pow(v / 0.02, 2))) * 2 / pi * std::atan(v / 1e-3);
        EXPECT_NEAR(p.force.z(), 10, 1e-9);
        EXPECT_NEAR(p.force.x(), -10 * mu, 1e-9);
        const double d = 1e-7;
        EXPECT_NEAR(p.by_velocity(0, 0), (at({v + d, 0, 0}).force.x() - at({v - d, 0, 0}).force.x()) / (2 * d),
                    1e-5 * std::abs(p.by_velocity(0, 0)) + 1e-6);
    }
}

// z' = v (1 - z/b) from rest, as in a joint: the bristles of a crate on a cart have bent by a/(mu g) of b where it lags
// -b ln(1 - a/(mu g)) behind.
TEST(FrictionLaws, BristlesBetweenBodiesBendBeforeTheySlide) {
    for (const double share : {0.1, 0.5, 0.8}) {
        // So slowly that the crate does not swing.
        const Model model =
            example("contact/bristle-contact.yaml", {{"pull", std::to_string(15 * share)}, {"ramp", "8"}});
        for (const auto& [formulation, coordinates] :
             {std::pair("global", "natural"), std::pair("augmented-lagrangian", "relative")}) {
            Simulation simulation(model, options(formulation, "trapezoidal", coordinates));
            const StepReport report = simulation.advance(9, 0.001);
            ASSERT_TRUE(report.ok) << report.reason;
            // As in a joint: m F''/k^2 at most.
            const double stiffness = 3 * (1 - share) / 1e-3;
            const double inertia = 1.5 * share * std::pow(pi / 8, 2);
            EXPECT_NEAR(sense(simulation, "crate.x"), 1e-3 * std::log(1 - share), inertia / (stiffness * stiffness))
                << formulation;
            EXPECT_NEAR(sense(simulation, "bed.friction"), 3 * share, 1e-8) << formulation;
        }
    }
}

// What has rested for t is taken along by a little less than the breakaway force, and left behind by a little more.
TEST(FrictionLaws, RestMakesBristlesBetweenBodiesGripBetter) {
    for (const double rested : {0.3, 1.5}) {
        const double breakaway = 5 * 10 * (0.3 + 0.3 * (1 - std::exp(-rested / 0.5)));
        for (const double share : {0.95, 1.1}) {
            Simulation simulation(example("contact/bristle-contact.yaml", {{"static", "0.6"},
                                                                           {"bend", "1e-6"},
                                                                           {"dwell", "0.5"},
                                                                           {"ramp", "0.05"},
                                                                           {"pull", std::to_string(share * breakaway)},
                                                                           {"after", std::to_string(rested - 0.05)}}),
                                  options("global", "trapezoidal"));
            const StepReport report = simulation.advance(rested + 0.3, 0.0005);
            ASSERT_TRUE(report.ok) << report.reason;
            const double lag = -sense(simulation, "crate.x");
            if (share < 1) {
                EXPECT_LT(lag, 1.5 * 1e-6 * breakaway / 15 * std::log(20)) << rested;
            } else {
                // The cart of 4 kg runs away from the crate, both under kinetic friction, for 0.3 s less what it takes
                // to tear it off: 0.09 s would halve the way.
                const double way = 0.5 * ((share * breakaway - 3) / 4 - 3) * 0.09;
                EXPECT_LT(lag, way) << rested;
                EXPECT_GT(lag, 0.5 * way) << rested;
            }
        }
    }
}

// Along any direction the bristles of surfaces are those of a joint, and their tangent is that of their force.
TEST(FrictionLaws, BristlesOfSurfacesAgreeWithThoseOfJoints) {
    FrictionLaw law;
    law.kind = FrictionLaw::Kind::bristle;
    law.kinetic = 0.3;
    law.at_rest = 0.5;
    law.bend = 1e-3;
    law.damping = 0.02;
    law.dwell = 0.4;
    const double passed = 0.01;
    const Vec3 along = Vec3(1, -2, 0.5).normalized();
    for (const double bend : {-8e-4, 0.0, 6e-4})
        for (const double v : {-0.02, 0.003, 0.05}) {
            const SurfaceFriction f = evaluate_surface_friction(law, v * along, {bend * along, 0.3}, passed);
            const FrictionForce g = evaluate_friction(law, 1, v * passed, v, {bend, 0, 0.3}, passed);
            EXPECT_NEAR((f.force - g.force * along).norm(), 0, 1e-12);
            EXPECT_NEAR((f.end.bend - advance_bristles(law, v * passed, v, {bend, 0, 0.3}, passed).bend * along).norm(),
                        0, 1e-15);
            // With bristles that are bent across the slip, too.
            const SurfaceBristles start{bend * along + Vec3(2e-4, 1e-4, 0), 0.3};
            const auto force = [&](const Vec3& velocity) {
                return evaluate_surface_friction(law, velocity, start, passed).force;
            };
            const Mat3 tangent = evaluate_surface_friction(law, v * along, start, passed).by_velocity;
            for (int k = 0; k < 3; ++k) {
                const Vec3 d = 1e-7 * Vec3::Unit(k);
                EXPECT_NEAR((tangent.col(k) - (force(v * along + d) - force(v * along - d)) / 2e-7).norm(), 0,
                            1e-4 * (1 + tangent.norm()));
            }
        }
}

// Torque mu N r on a shaft of m r_s^2/2, and a block in a slot that its weight presses to one side.
TEST(FrictionLaws, LimitsAndSlotsRub) {
    for (const char* formulation : {"global", "augmented-lagrangian"}) {
        // In coordinates in which uniform deceleration is exact.
        Simulation simulation(example("contact/thrust-collar.yaml"), options(formulation, "trapezoidal", "relative"));
        double stops_at = 0;
        while (simulation.time() < 1.5) {
            const StepReport report = simulation.step(0.002);
            ASSERT_TRUE(report.ok) << report.reason;
            for (const ContactEvent& event : report.events)
                if (event.kind == ContactEvent::Kind::stuck && event.stop == "collar") stops_at = event.t;
        }
        EXPECT_NEAR(stops_at, 20 * (4 * 0.01 / 2) / (0.2 * 4 * 9.81 * 0.05), 1e-7) << formulation;
        EXPECT_NEAR(sense(simulation, "carried"), 4 * 9.81, 1e-6) << formulation;
        EXPECT_NEAR(sense(simulation, "place.x"), 1 + 4 / (2 * 0.2 * 9.81), 1e-7) << formulation;
        EXPECT_NEAR(sense(simulation, "speed.x"), 0, 1e-9) << formulation;
    }
}

TEST(FrictionLaws, WrongNumbersAreRefused) {
    EXPECT_THROW(Simulation(pushed_block("law: bristle, bend: 0", "0"), options("global", "trapezoidal")), ModelError);
    EXPECT_THROW(pushed_block("law: sticky", "0"), ModelError);
    const auto message = [](std::optional<Number> bend, double friction) {
        Model model = example("contact/bristle-contact.yaml");
        ContactRule& rule = model.contacts.get(model.contacts.find("bed"));
        std::visit(
            [&](auto& contact) {
                if constexpr (requires { contact.slip; }) {
                    contact.slip.bend = bend;
                    contact.resistance.friction = friction;
                }
            },
            rule.type);
        try {
            Simulation simulation(model, options("global", "trapezoidal"));
        } catch (const ModelError& error) {
            return std::string(error.what());
        }
        return std::string();
    };
    EXPECT_NE(message(std::nullopt, 0.3).find("bristle-damping belongs to bristles"), std::string::npos);
    EXPECT_NE(message(1e-4, 0).find("bristles need friction"), std::string::npos);
}

}  // namespace
}  // namespace limber::testing
