#include "limber/math/broyden_updates.hpp"

#include <gtest/gtest.h>

namespace limber {
namespace {

// (D + G) x = b with the diagonal D factorised only and G skew: two planes in which errors turn.
struct SkewProblem {
    MatX matrix;
    VecX diagonal = VecX::Constant(4, 2.0);
    VecX b = VecX::LinSpaced(4, 1, 3);

    SkewProblem() {
        matrix = diagonal.asDiagonal();
        matrix(0, 1) = 1.2;
        matrix(1, 0) = -1.2;
        matrix(2, 3) = 0.7;
        matrix(3, 2) = -0.7;
    }
    // Error after so many changes.
    double solve(int changes, bool with_updates) const {
        BroydenUpdates updates(VecX::Ones(4), 1, 12);
        VecX x = VecX::Zero(4);
        double along = 0;
        for (int i = 0; i < changes; ++i) {
            VecX change = (b - matrix * x).cwiseQuotient(diagonal);
            VecX companion = VecX::Constant(1, change.sum());
            if (with_updates) updates.improve(change, companion);
            x += change;
            along += companion[0];
        }
        EXPECT_NEAR(along, x.sum(), 1e-12);  // the companion takes the same course
        return (matrix * x - b).norm();
    }
};

TEST(BroydenUpdates, TakeOutWhatTheMatrixLacks) {
    const SkewProblem problem;
    EXPECT_GT(problem.solve(8, false), 1e-2);
    EXPECT_LT(problem.solve(8, true), 1e-12);
}

TEST(BroydenUpdates, LeaveTheFirstChangeAsItIs) {
    BroydenUpdates updates(VecX::Ones(2), 0, 2);
    VecX none;
    VecX change = VecX::Constant(2, 3.0);
    updates.improve(change, none);
    EXPECT_EQ(change, VecX::Constant(2, 3.0));
    updates.restart();
    change = VecX::Constant(2, 1.0);
    updates.improve(change, none);
    EXPECT_EQ(change, VecX::Constant(2, 1.0));
}

}  // namespace
}  // namespace limber
