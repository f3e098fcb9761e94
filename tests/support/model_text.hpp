#pragma once
// Comparing models by the file that is written for them, and by their motion.

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <string>

#include "limber/io/model_writer.hpp"
#include "limber/model/evaluation.hpp"
#include "support/models.hpp"

namespace limber::testing {

inline Model rewritten(const Model& model) {
    return read(write_model_text(model));
}

/// Bit by bit.
inline bool same_bits(const VecX& a, const VecX& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](double x, double y) {
        return std::bit_cast<std::uint64_t>(x) == std::bit_cast<std::uint64_t>(y);
    });
}

/// The motion of two models over some steps is the same to the bit, and so is what their sensors see at the end.
inline void expect_same_motion(const Model& first, const Model& second, int steps) {
    SimulationOptions chosen;
    const SimulationDefaults& defaults = first.simulation;
    if (!defaults.formulation.empty()) chosen.formulation = defaults.formulation;
    if (!defaults.integrator.empty()) chosen.integrator = defaults.integrator;
    chosen.coordinates = defaults.coordinates;
    chosen.from_equilibrium = defaults.start == StartPose::equilibrium;
    const double h = defaults.step ? ModelEvaluation(first).number(*defaults.step, "step") : 1e-3;
    Simulation a(first, chosen);
    Simulation b(second, chosen);
    for (int i = 0; i < steps; ++i) {
        const bool ok = a.step(h).ok;
        ASSERT_EQ(ok, b.step(h).ok);
        if (!ok) break;
    }
    EXPECT_GT(a.time(), 0) << "nothing was compared";
    EXPECT_EQ(a.time(), b.time());
    EXPECT_TRUE(same_bits(a.state().q, b.state().q));
    EXPECT_TRUE(same_bits(a.state().v, b.state().v));
    EXPECT_TRUE(same_bits(a.state().a, b.state().a));
    EXPECT_EQ(a.observer().columns(), b.observer().columns());
    EXPECT_EQ(sense_all(a), sense_all(b));
}

}  // namespace limber::testing
