// Impacts with closed-form or published instants, impulses and energies, in every formulation.

#include <gtest/gtest.h>

#include <cmath>

#include "support/models.hpp"

namespace limber::testing {
namespace {

struct Impact {
    std::string stop;
    double t = 0, impulse = 0;
    double energy_after = 0;  // that bodies have at the end of the step
    double lost = 0;          // up to then, by what impacts say
};

// Steps until `end`; the impacts met.
std::vector<Impact> collect_impacts(Simulation& simulation, double end, double h) {
    std::vector<Impact> impacts;
    double lost = 0;
    while (simulation.time() < end - 0.5 * h) {
        const StepReport report = simulation.step(h);
        EXPECT_TRUE(report.ok) << report.reason;
        if (!report.ok) break;
        for (const ContactEvent& event : report.events) {
            lost += event.energy_lost;
            if (event.kind != ContactEvent::Kind::impact) continue;
            impacts.push_back({event.stop, event.t, event.impulse, sense(simulation, "energy"), lost});
        }
    }
    return impacts;
}

class ImpactCase : public ::testing::TestWithParam<std::tuple<std::string, std::string>> {
protected:
    std::string formulation() const { return std::get<0>(GetParam()); }
    std::string coordinates() const { return std::get<1>(GetParam()); }

    void expect_impacts(const ParameterOverrides& parameters, const std::vector<Impact>& expected) {
        Simulation simulation(example("contact/double-pendulum-wall.yaml", parameters),
                              options(formulation(), "rk4", coordinates()));
        const double start = sense(simulation, "energy");
        const auto found = collect_impacts(simulation, expected.back().t + 0.002, 1e-3);
        ASSERT_GE(found.size(), expected.size());
        for (std::size_t i = 0; i < expected.size(); ++i) {
            EXPECT_EQ(found[i].stop, expected[i].stop) << "impact " << i;
            EXPECT_NEAR(found[i].t, expected[i].t, 1e-6) << "impact " << i;
            EXPECT_NEAR(found[i].impulse, expected[i].impulse, 1e-6) << "impact " << i;
            if (expected[i].energy_after != 0) {
                EXPECT_NEAR(found[i].energy_after, expected[i].energy_after, 1e-6) << "impact " << i;
            }
            // What impacts say they have lost is what the bodies have less.
            EXPECT_NEAR(found[i].energy_after, start - found[i].lost, 1e-6) << "impact " << i;
        }
    }
};

// Case C1 (after Glowinski and Nasser), instants, impulses and energies of an independent computation.
TEST_P(ImpactCase, DoublePendulumAgainstAWallElastically) {
    expect_impacts({{"e", "1"}}, {{"tip_wall", 0.655423130, 4.13172356, -7.3575},
                                  {"elbow_wall", 0.707131474, 7.11263046, -7.3575},
                                  {"elbow_wall", 1.794213055, 5.48894754, -7.3575},
                                  {"tip_wall", 2.121091255, 3.60776710, -7.3575}});
}

TEST_P(ImpactCase, DoublePendulumAgainstAWallInelastically) {
    expect_impacts({{"e", "0.5"}}, {{"tip_wall", 0.655423130, 3.09879267, -12.11360862},
                                    {"elbow_wall", 0.712592320, 4.67996500, -17.12105087},
                                    {"tip_wall", 1.970515565, 1.80425218, 0}});
}

// Case C2: the other start.
TEST_P(ImpactCase, DoublePendulumWhoseElbowHitsFirst) {
    expect_impacts({{"theta2", "0"}, {"e", "1"}}, {{"elbow_wall", 0.512418174, 5.91886068, -12.2625}});
    expect_impacts({{"theta2", "0"}, {"e", "0.5"}}, {{"elbow_wall", 0.512418174, 4.43914551, -14.94561616}});
}

INSTANTIATE_TEST_SUITE_P(All, ImpactCase, ::testing::ValuesIn(formulations_in_coordinates()), [](const auto& info) {
    return test_name(std::get<0>(info.param) + "_" + std::get<1>(info.param));
});

// Speed of the ball below with which the infinite sequence of its bounces ends: the first after which a flight of 2 e
// v/g would last less than a thousandth of the step.
double last_speed(double e, double h) {
    double speed = 5;
    while (2 * e * speed / 10 >= h / 1000) speed *= e;
    return speed;
}

// Falls from 1.25 m at 10 m/s^2: contact at 0.5 s with 5 m/s, then flights of e, e^2, ... seconds. Parabolas are exact,
// gaps are closed to 1e-14 of the mechanism, and impulses are iterated to 1e-12 of themselves; the tenth impact comes
// with 1/512 of the first speed, so that its instant is as much less sharp.
TEST_P(ImpactCase, BallBouncesAtTheInstantsOfFreeFlight) {
    for (const double e : {1.0, 0.5}) {
        Simulation simulation(example("contact/bouncing-ball.yaml", {{"e", std::to_string(e)}}),
                              options(formulation(), "trapezoidal", coordinates()));
        const auto found = collect_impacts(simulation, 2.0, 0.01);
        double t = 0.5;
        double speed = 5;
        const std::size_t compared = e == 1 ? 2 : 10;
        ASSERT_GE(found.size(), compared);
        for (std::size_t i = 0; i < compared; ++i) {
            EXPECT_NEAR(found[i].t, t, 1e-11);
            EXPECT_NEAR(found[i].impulse, 2 * (1 + e) * speed, 1e-10);
            speed *= e;
            t += 2 * speed / 10;
        }
        if (e == 1) {
            EXPECT_NEAR(sense(simulation, "lost"), 0, 1e-10);
            EXPECT_NEAR(sense(simulation, "energy"), 2 * 10 * 1.35, 1e-10);
            continue;
        }
        // The sequence would end at 0.5 + 2 e/(1 - e) * 5/10 = 1.5 s; the ball lies on the floor. Its last impact is
        // plastic: its impulse is m v in place of the rest of the sum, m v (1 + e)/(1 - e). A penalty gives way to the
        // weight by one over itself, 1e-8.
        EXPECT_NEAR(sense(simulation, "gap"), 0, 1e-9);
        EXPECT_NEAR(sense(simulation, "force"), 20, formulation() == "penalty" ? 1e-6 : 1e-9);
        EXPECT_NEAR(sense(simulation, "lost"), 25, 1e-9);
        const double missing = 2 * last_speed(e, 0.01) * ((1 + e) / (1 - e) - 1);
        EXPECT_NEAR(sense(simulation, "impulse"), 2 * 5 * (1 + e) / (1 - e) - missing, 1e-9);
    }
}

// With its last, plastic impact, the flights after which would have lasted 2 v/g e/(1 - e) in all. Gaps closed to 1e-14
// at 1e-5 m/s are 1e-9 s.
TEST(Impacts, RestingBeginsWhenTheSequenceOfBouncesEnds) {
    Simulation simulation(example("contact/bouncing-ball.yaml"), options("global", "trapezoidal"));
    double rests_at = 0;
    while (simulation.time() < 2) {
        const StepReport report = simulation.step(1e-3);
        ASSERT_TRUE(report.ok) << report.reason;
        for (const ContactEvent& event : report.events)
            if (event.kind == ContactEvent::Kind::closed) rests_at = event.t;
    }
    EXPECT_NEAR(rests_at, 1.5 - 2 * last_speed(0.5, 1e-3) / 10, 2e-9);
}

// Impacts of equal masses in turn exchange speeds. The first ball comes with the speed u of its fall; tau after the
// impact the last one has u (1 - (g/l + u^2/l^2) tau^2/2), but for tau^4 = 1e-12. rk4: (h sqrt(g/l))^4/120 = 1e-12 of
// the motion in each second.
TEST(Impacts, CradlePassesTheBlowOn) {
    SimulationOptions chosen = options("global", "rk4");
    const Model model = example("contact/newtons-cradle.yaml");
    apply_contact_defaults(model, chosen);  // the file says in-turn
    Simulation simulation(model, chosen);
    double hit_at = 0;
    while (hit_at == 0 && simulation.time() < 1) {
        const StepReport report = simulation.step(1e-3);
        ASSERT_TRUE(report.ok) << report.reason;
        if (!report.events.empty()) hit_at = report.events.front().t;
    }
    ASSERT_GT(hit_at, 0);
    const double speed = std::sqrt(2 * 9.81 * (1 - std::cos(pi / 6)));
    const double passed = simulation.time() - hit_at;
    for (const char* still : {"v1.x", "v2.x", "v3.x", "v4.x"}) EXPECT_NEAR(sense(simulation, still), 0, 1e-9) << still;
    EXPECT_NEAR(sense(simulation, "v5.x"), speed * (1 - (9.81 + speed * speed) * passed * passed / 2), 1e-9);
    ASSERT_TRUE(simulation.advance(4, 1e-3).ok);
    EXPECT_NEAR(sense(simulation, "energy"), -9.81 * (4 + std::cos(pi / 6)), 1e-9);
}

// Sayapin's folding rod, numbers of the notes: the latch is reached at 0.735863 s with 3.561252 rad/s.
TEST(Impacts, LatchCatchesTheRod) {
    Simulation simulation(example("contact/latch.yaml"), options("global", "rk4"));
    double latched_at = 0;
    while (simulation.time() < 1.5) {
        const StepReport report = simulation.step(1e-3);
        ASSERT_TRUE(report.ok) << report.reason;
        for (const ContactEvent& event : report.events)
            if (event.kind == ContactEvent::Kind::latched) latched_at = event.t;
    }
    EXPECT_NEAR(latched_at, 0.735863, 1e-6);
    EXPECT_NEAR(sense(simulation, "impulse"), 0.801282, 1e-6);
    EXPECT_NEAR(sense(simulation, "lost"), 1.426783, 1e-6);
    EXPECT_NEAR(sense(simulation, "angle"), pi / 2, 1e-10);
    EXPECT_NEAR(sense(simulation, "rate"), 0, 1e-10);
}

// The same with a constant friction torque, and with the drive 20 % weaker or stronger.
TEST(Impacts, LatchIsReachedInSayapinsTimes) {
    const auto latched_at = [](const ParameterOverrides& parameters) {
        Simulation simulation(example("contact/latch.yaml", parameters), options("global", "rk4"));
        while (simulation.time() < 1.5) {
            const StepReport report = simulation.step(1e-3);
            EXPECT_TRUE(report.ok) << report.reason;
            for (const ContactEvent& event : report.events)
                if (event.kind == ContactEvent::Kind::latched) return event.t;
        }
        return 0.0;
    };
    EXPECT_NEAR(latched_at({{"loss", "0.1"}}), 0.766419, 1e-6);
    EXPECT_NEAR(latched_at({{"k", "0.64"}}), 0.822720, 1e-6);
    EXPECT_NEAR(latched_at({{"k", "0.96"}}), 0.671748, 1e-6);
}

// Falls 0.8 m to where the cable of 1 m is tight: 4 m/s downwards, of which 3.2 m/s along the cable are lost.
TEST_P(ImpactCase, CableSnapsTight) {
    Simulation simulation(example("contact/cable.yaml"), options(formulation(), "rk4", coordinates()));
    ASSERT_TRUE(simulation.advance(0.4 + 1e-3, 1e-3).ok);
    EXPECT_NEAR(sense(simulation, "jerk"), 1.5 * 3.2, 1e-6);
    EXPECT_NEAR(sense(simulation, "lost"), 0.5 * 1.5 * 3.2 * 3.2, 1e-6);
    ASSERT_TRUE(simulation.advance(0.5, 1e-3).ok);
    EXPECT_NEAR(std::hypot(sense(simulation, "place.x"), sense(simulation, "place.y")), 1, 1e-6);
    EXPECT_GT(sense(simulation, "tension"), 0);
}

}  // namespace
}  // namespace limber::testing
