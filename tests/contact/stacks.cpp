// Many bodies that stand on each other, and heaps that come to rest.

#include <gtest/gtest.h>

#include <cmath>

#include "support/energy.hpp"
#include "support/model_text.hpp"
#include "support/models.hpp"
#include "support/stepping.hpp"

namespace limber {
namespace {

using namespace testing;

SimulationOptions time_stepping() {
    SimulationOptions chosen;
    chosen.integrator = "moreau-jean";
    return chosen;
}

// What is left to move is what the tolerance of a step leaves: 1e-10 of g h, 5e-12 m/s. Energies are sums of 600 J,
// whose rounding is 1e-10 J.
TEST(Stacks, WallOfAHundredBricksStands) {
    Simulation s(example("contact/brick-wall.yaml"), time_stepping());
    const VecX start = s.state().q;
    const double tolerance = 1e-10 * 9.81 * 5e-3;
    double last = mechanical_energy(s);
    const double end = 60;
    for (int k = 0; k < 12000; ++k) {
        ASSERT_TRUE(s.step(5e-3).ok);
        const double now = mechanical_energy(s);
        ASSERT_LE(now, last + 1e-10) << s.time();
        last = now;
        // Turning counts by the mean speed of a corner, a velocity of one row by those of a few contacts.
        ASSERT_LT(s.state().v.lpNorm<Eigen::Infinity>(), 100 * tolerance) << s.time();
    }
    EXPECT_LT((s.state().q - start).lpNorm<Eigen::Infinity>(), 10 * tolerance * end);
}

// With resistance against rolling and spinning nothing is left that could go on for ever.
TEST(Stacks, HeapOfBallsComesToRest) {
    constexpr double h = 4e-3;
    constexpr double at_rest = 1.5;
    const auto settle = [&](Simulation& s, int steps) {
        Energies e = s.observer().compute_energies(s.state());
        double last = e.kinetic + e.potential;
        for (int k = 0; k < steps; ++k) {
            ASSERT_TRUE(s.step(h).ok);
            e = s.observer().compute_energies(s.state());
            const double now = e.kinetic + e.potential;
            // Two joules are summed up: what is left is rounding.
            ASSERT_LE(now, last + 1e-13) << s.time() << " " << now - last;
            last = now;
            // Bodies are parted where they overlap by 1e-7 of the mechanism's size, which is one metre at least.
            for (const ContactPoint& c : s.state().contacts) ASSERT_GE(c.gap, -1e-7) << s.time();
            // 64 balls of 34 g, none faster than a hundred times the tolerance of a step, 1e-10 g h.
            if (s.time() > at_rest) {
                ASSERT_LT(e.kinetic, 0.5 * 64 * 0.034 * std::pow(100 * 1e-10 * 9.81 * h, 2)) << s.time();
            }
        }
    };
    const Model heap =
        example("contact/heap-of-spheres.yaml", {{"count", "4"}, {"rolling", "0.001"}, {"spinning", "0.0005"}});
    Simulation first(heap, time_stepping());
    Simulation second(heap, time_stepping());
    // Again, to the same bits, through the liveliest part.
    settle(first, 100);
    settle(second, 100);
    EXPECT_TRUE(same_bits(first.state().q, second.state().q));
    EXPECT_TRUE(same_bits(first.state().v, second.state().v));
    settle(first, 300);
}

}  // namespace
}  // namespace limber
