// Lemke's method: random problems that have a solution, ones that have none, and ties.

#include <gtest/gtest.h>

#include "limber/contact/stops/lemke.hpp"

#include <rapidcheck/gtest.h>

#include <random>

namespace limber {
namespace {

void expect_complementary(const MatX& m, const VecX& b, const VecX& z, double tolerance) {
    const VecX w = m * z + b;
    RC_ASSERT(z.minCoeff() >= -tolerance);
    RC_ASSERT(w.minCoeff() >= -tolerance);
    RC_ASSERT(z.cwiseProduct(w).cwiseAbs().maxCoeff() <= tolerance);
}

// Semidefinite and not symmetric: the product of fewer columns than rows, and a part that turns.
RC_GTEST_PROP(Lemke, FindsWhatIsThere, ()) {
    const int n = *rc::gen::inRange(1, 25);
    const int columns = *rc::gen::inRange(1, n + 1);
    std::mt19937 random(*rc::gen::arbitrary<unsigned>());
    std::normal_distribution<double> normal;
    const MatX a = MatX::NullaryExpr(n, columns, [&] { return normal(random); });
    const MatX turn = MatX::NullaryExpr(n, n, [&] { return normal(random); });
    const MatX m = a * a.transpose() + turn - turn.transpose();
    // Some carry, some are open, some are neither.
    VecX b = VecX::Zero(n);
    VecX carried = VecX::Zero(n);
    for (int i = 0; i < n; ++i) {
        if (random() % 3 == 0) carried[i] = std::abs(normal(random));
        if (carried[i] == 0 && random() % 2 == 0) b[i] = std::abs(normal(random));
    }
    b -= m * carried;
    VecX z;
    RC_ASSERT(LemkeSolver().solve(m, b, z));
    expect_complementary(m, b, z, 1e-8 * (1 + b.cwiseAbs().maxCoeff()));
}

TEST(Lemke, SaysThatThereIsNone) {
    VecX z;
    EXPECT_FALSE(LemkeSolver().solve(MatX::Zero(1, 1), VecX::Constant(1, -1), z));
    // Each of two contacts wants to be left alone by the other.
    MatX m(2, 2);
    m << 1, -1, -1, 1;
    EXPECT_FALSE(LemkeSolver().solve(m, Vec2(-1, -1), z));
}

// Equal rows everywhere: without an order among ties pivots could go round in circles.
TEST(Lemke, TiesEnd) {
    const int n = 12;
    const MatX m = MatX::Ones(n, n);
    VecX z;
    ASSERT_TRUE(LemkeSolver().solve(m, VecX::Constant(n, -1), z));
    EXPECT_NEAR(z.sum(), 1, 1e-12);
    EXPECT_GE(z.minCoeff(), 0);
}

}  // namespace
}  // namespace limber
