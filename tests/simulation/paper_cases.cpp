// The two cases of Joli, Seguy and Feng (2008): reference positions from the adaptive integration of the reduced
// equations.

#include <cmath>

#include "support/models.hpp"

namespace limber::testing {
namespace {

struct Instant {
    double t, x, y;
};

// Position of the second mass of the double pendulum.
constexpr Instant pendulum_tip[] = {{0.5, 0.84474417, -1.74219412},
                                    {1, -1.22687035, -1.52541079},
                                    {2, -0.19892841, -1.02529037},
                                    {3, 0.23929314, -0.20826618}};
// Position of the slider.
constexpr Instant slider[] = {{0.5, 1.82304005, 0}, {1, 0.83146856, 0}, {2, -1.58995741, 0},
                              {3, -1.99484169, 0},  {5, 1.61389450, 0}, {10, 1.97588109, 0}};

class PaperCase : public ::testing::TestWithParam<std::tuple<std::string, std::string>> {
protected:
    std::string formulation() const { return std::get<0>(GetParam()); }
    std::string coordinates() const { return std::get<1>(GetParam()); }
};

TEST_P(PaperCase, DoublePendulumFollowsTheReference) {
    Simulation simulation(example("double-pendulum.yaml"), options(formulation(), "trapezoidal", coordinates()));
    for (const Instant& at : pendulum_tip) {
        ASSERT_TRUE(simulation.advance(at.t, 1e-3).ok);
        EXPECT_NEAR(sense(simulation, "tip.x"), at.x, 1e-4) << "t = " << at.t;
        EXPECT_NEAR(sense(simulation, "tip.y"), at.y, 1e-4) << "t = " << at.t;
    }
}

TEST_P(PaperCase, DoublePendulumConvergesWithSecondOrder) {
    const auto error = [&](double h) {
        Simulation simulation(example("double-pendulum.yaml"), options(formulation(), "trapezoidal", coordinates()));
        EXPECT_TRUE(simulation.advance(1, h).ok);
        return std::hypot(sense(simulation, "tip.x") - pendulum_tip[1].x,
                          sense(simulation, "tip.y") - pendulum_tip[1].y);
    };
    const double order = std::log2(error(2e-3) / error(1e-3));
    EXPECT_NEAR(order, 2, 0.2);
    RecordProperty("order", std::to_string(order));
}

TEST_P(PaperCase, SliderCrankFollowsTheReferenceThroughItsDeadPoints) {
    Simulation simulation(example("slider-crank.yaml"), options(formulation(), "trapezoidal", coordinates()));
    for (const Instant& at : slider) {
        ASSERT_TRUE(simulation.advance(at.t, 1e-3).ok);
        EXPECT_NEAR(sense(simulation, "slider.x"), at.x, 1e-4) << "t = " << at.t;
    }
}

// The paper's largest rail errors: 5.1e-4 at dt = 1e-2 and 2.3e-7 at dt = 1e-3. On the right branch the slider is at
// twice the crank tip's abscissa.
TEST_P(PaperCase, SliderStaysOnItsRailAndBranch) {
    for (const auto& [step, rail_limit] : {std::pair{1e-2, 5.1e-4}, {1e-3, 2.3e-7}}) {
        Model model = example("slider-crank.yaml");
        Sensor pin;
        pin.name = "pin_place";
        pin.marker = model.marker("crank.to");
        model.sensors.add(pin);
        Simulation simulation(model, options(formulation(), "trapezoidal", coordinates()));
        double worst_rail = 0;
        double worst_branch = 0;
        const int steps = static_cast<int>(std::lround(10 / step));
        for (int i = 0; i < steps; ++i) {
            ASSERT_TRUE(simulation.step(step).ok);
            worst_rail = std::max(worst_rail, std::abs(sense(simulation, "slider.y")));
            worst_branch =
                std::max(worst_branch, std::abs(sense(simulation, "slider.x") - 2 * sense(simulation, "pin_place.x")));
        }
        EXPECT_LE(worst_rail, rail_limit) << "step " << step;
        EXPECT_LT(worst_branch, 0.02) << "step " << step;
    }
}

INSTANTIATE_TEST_SUITE_P(All, PaperCase, ::testing::ValuesIn(formulations_in_coordinates()), [](const auto& info) {
    return test_name(std::get<0>(info.param) + "_" + std::get<1>(info.param));
});

}  // namespace
}  // namespace limber::testing
