// Many bodies that stand on each other, and heaps that come to rest.

#include <gtest/gtest.h>

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

// What is left to move is what the tolerance of a step leaves: 1e-10 of g h, 5e-12 m/s. Energies are sums of 600 J, whose rounding is 1e-10 J.
TEST(Stacks, WallOfAHundredBricksStands) {
    Simulation s(example("contact/brick-wall.yaml"), time_stepping());
    const VecX start = s.state().q;
    const auto energy = [&] {
        const Energies e = s.observer().compute_energies(s.state());
        return e.kinetic + e.potential;
    };
    const double tolerance = 1e-10 * 9.81 * 5e-3;
    double last = energy();
    const double end = 5;
    for (int k = 0; k < 1000; ++k) {
        ASSERT_TRUE(s.step(5e-3).ok);
        const double now = energy();
        ASSERT_LE(now, last + 1e-10) << s.time();
        last = now;
        // Turning counts by the mean speed of a corner, a velocity of one row by those of a few contacts.
        ASSERT_LT(s.state().v.lpNorm<Eigen::Infinity>(), 100 * tolerance) << s.time();
    }
    EXPECT_LT((s.state().q - start).lpNorm<Eigen::Infinity>(), 10 * tolerance * end);
}

}  // namespace
}  // namespace limber
