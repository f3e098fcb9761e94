// The two cases of Joli, Seguy and Feng (2008).

#include <gtest/gtest.h>

#include <cmath>

#include "support/measures.hpp"
#include "support/models.hpp"

namespace limber::testing {
namespace {

using examples::pendulum_tip;
using examples::slider_place;

class PaperCase : public ::testing::TestWithParam<std::tuple<std::string, std::string>> {
protected:
    std::string formulation() const { return std::get<0>(GetParam()); }
    std::string coordinates() const { return std::get<1>(GetParam()); }
};

TEST_P(PaperCase, DoublePendulumFollowsTheReference) {
    Simulation simulation(example("double-pendulum.yaml"), options(formulation(), "trapezoidal", coordinates()));
    for (const auto& at : pendulum_tip) {
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
    for (const auto& at : slider_place) {
        ASSERT_TRUE(simulation.advance(at.t, 1e-3).ok);
        EXPECT_NEAR(sense(simulation, "slider.x"), at.x, 1e-4) << "t = " << at.t;
    }
}

// The paper's largest rail errors: 5.1e-4 at dt = 1e-2 and 2.3e-7 at dt = 1e-3.
TEST_P(PaperCase, SliderStaysOnItsRailAndBranch) {
    for (const auto& [step, rail_limit] : {std::pair{1e-2, 5.1e-4}, {1e-3, 2.3e-7}}) {
        const auto worst = examples::measure_slider(options(formulation(), "trapezoidal", coordinates()), step);
        EXPECT_LE(worst.rail, rail_limit) << "step " << step;
        EXPECT_LT(worst.branch, 0.02) << "step " << step;
    }
}

INSTANTIATE_TEST_SUITE_P(All, PaperCase, ::testing::ValuesIn(formulations_in_coordinates()), [](const auto& info) {
    return test_name(std::get<0>(info.param) + "_" + std::get<1>(info.param));
});

}  // namespace
}  // namespace limber::testing
