// Factorisations against Eigen's dense solver, on matrices of the kinds that mechanisms produce.

#include "limber/math/linear_solver.hpp"

#include <gtest/gtest.h>

#include <Eigen/LU>
#include <random>

namespace limber {
namespace {

// A random symmetric pattern: a chain plus some far couplings.
SymmetricPattern make_pattern(int n, std::mt19937& random) {
    SymmetricPatternBuilder builder(n);
    for (int i = 1; i < n; ++i) builder.add(i, i - 1);
    std::uniform_int_distribution<int> pick(0, n - 1);
    for (int k = 0; k < n / 3; ++k) builder.add(pick(random), pick(random));
    return builder.build();
}

MatX to_dense(const SymmetricPattern& pattern, const std::vector<double>& values) {
    MatX a = MatX::Zero(pattern.size, pattern.size);
    for (int j = 0; j < pattern.size; ++j)
        for (int k = pattern.start[j]; k < pattern.start[j + 1]; ++k)
            a(pattern.row[k], j) = a(j, pattern.row[k]) = values[k];
    return a;
}

class LinearSolverTest : public ::testing::TestWithParam<std::tuple<SolverKind, int>> {
protected:
    SolverKind kind() const { return std::get<0>(GetParam()); }
    int size() const { return std::get<1>(GetParam()); }
    std::mt19937 random_{7};
    std::uniform_real_distribution<double> number_{-1, 1};
};

TEST_P(LinearSolverTest, SolvesPositiveDefiniteSystems) {
    const SymmetricPattern pattern = make_pattern(size(), random_);
    const auto solver = make_linear_solver(pattern, kind());
    // Factorised several times: scratch memory must not remember.
    for (int repeat = 0; repeat < 3; ++repeat) {
        std::vector<double> values(pattern.nonzeros());
        for (double& v : values) v = number_(random_);
        for (int j = 0; j < size(); ++j) values[pattern.start[j]] = 8 + number_(random_);
        const MatX a = to_dense(pattern, values);
        const VecX b = VecX::Random(size());
        VecX x = b;
        ASSERT_TRUE(solver->factorize(values));
        solver->solve(x);
        EXPECT_LT((a * x - b).norm(), 1e-12 * b.norm());
        EXPECT_LT((x - a.fullPivLu().solve(b)).norm(), 1e-12);
        EXPECT_EQ(solver->frozen_pivots(), 0);
    }
}

TEST_P(LinearSolverTest, SolvesQuasiDefiniteSystems) {
    // Upper part positive, lower part negative: the saddle-point matrices of constrained systems.
    const SymmetricPattern pattern = make_pattern(size(), random_);
    std::vector<double> values(pattern.nonzeros());
    for (int j = 0; j < size(); ++j)
        for (int k = pattern.start[j]; k < pattern.start[j + 1]; ++k) {
            const bool same_block = (j < size() / 2) == (pattern.row[k] < size() / 2);
            values[k] = same_block ? 0.1 * number_(random_) : 3 * number_(random_);
            if (pattern.row[k] == j) values[k] = j < size() / 2 ? 2 : -2;
        }
    const MatX a = to_dense(pattern, values);
    const VecX b = VecX::Random(size());
    VecX x = b;
    const auto solver = make_linear_solver(pattern, kind());
    ASSERT_TRUE(solver->factorize(values));
    solver->solve(x);
    EXPECT_LT((a * x - b).norm(), 1e-10 * b.norm());
}

TEST_P(LinearSolverTest, FreezesAFreedomWithoutStiffness) {
    // Rank n - 1: the missing direction must not blow up the others.
    SymmetricPatternBuilder builder(size());
    for (int i = 1; i < size(); ++i) builder.add(i, i - 1);
    const SymmetricPattern pattern = builder.build();
    std::vector<double> values(pattern.nonzeros(), 0.0);
    // Springs between neighbours, no support: rigid motion is free.
    for (int i = 1; i < size(); ++i) {
        values[pattern.find(i, i)] += 1;
        values[pattern.find(i - 1, i - 1)] += 1;
        values[pattern.find(i, i - 1)] -= 1;
    }
    const auto solver = make_linear_solver(pattern, kind());
    ASSERT_TRUE(solver->factorize(values));
    EXPECT_EQ(solver->frozen_pivots(), 1);
    VecX b = VecX::Zero(size());
    b[0] -= 1;
    b[size() - 1] += 1;  // pulls the chain apart: every spring stretched by one
    VecX x = b;
    solver->solve(x);
    for (int i = 1; i < size(); ++i) EXPECT_NEAR(x[i] - x[i - 1], 1, 1e-12);
}

TEST_P(LinearSolverTest, FreezesPivotsThatAreNotAboveTheirFloor) {
    // Each unknown stands alone; every other one is too soft to count.
    SymmetricPatternBuilder builder(size());
    const SymmetricPattern pattern = builder.build();
    std::vector<double> values(pattern.nonzeros());
    for (int j = 0; j < size(); ++j) values[j] = j % 2 == 0 ? 2 : 1e-6;
    const std::vector<double> floor(size(), 1e-5);
    const auto solver = make_linear_solver(pattern, kind());
    ASSERT_TRUE(solver->factorize(values, floor));
    EXPECT_EQ(solver->frozen_pivots(), size() / 2);
    VecX x = VecX::Ones(size());
    solver->solve(x);
    for (int j = 0; j < size(); ++j) {
        EXPECT_EQ(solver->is_frozen(j), j % 2 == 1);
        EXPECT_EQ(x[j], j % 2 == 0 ? 0.5 : 0);
    }
    ASSERT_TRUE(solver->factorize(values));
    EXPECT_EQ(solver->frozen_pivots(), 0);
}

TEST_P(LinearSolverTest, ReportsNumbersThatAreNotFinite) {
    const SymmetricPattern pattern = make_pattern(size(), random_);
    std::vector<double> values(pattern.nonzeros(), 0.0);
    for (int j = 0; j < size(); ++j) values[pattern.start[j]] = 1;
    values[pattern.start[size() - 1]] = NAN;
    const auto solver = make_linear_solver(pattern, kind());
    EXPECT_FALSE(solver->factorize(values));
    // And recovers.
    values[pattern.start[size() - 1]] = 1;
    EXPECT_TRUE(solver->factorize(values));
}

INSTANTIATE_TEST_SUITE_P(All, LinearSolverTest,
                         ::testing::Combine(::testing::Values(SolverKind::dense, SolverKind::sparse,
                                                              SolverKind::automatic),
                                            ::testing::Values(1, 2, 7, 40, 200)));

TEST(SparsePattern, FindsEveryEntryAndItsMirror) {
    std::mt19937 random(3);
    const SymmetricPattern pattern = make_pattern(30, random);
    for (int j = 0; j < 30; ++j)
        for (int k = pattern.start[j]; k < pattern.start[j + 1]; ++k) {
            EXPECT_EQ(pattern.find(pattern.row[k], j), k);
            EXPECT_EQ(pattern.find(j, pattern.row[k]), k);
        }
}

TEST(SparsePattern, ProductsAgreeWithDenseOnes) {
    RowPattern rows;
    rows.columns = 4;
    const std::vector<int> first{0, 2};
    const std::vector<int> second{1, 2, 3};
    rows.append(first);
    rows.append(second);
    const std::vector<double> values{1, -2, 3, 4, 5};
    const VecX x = VecX::LinSpaced(4, 1, 4);
    VecX y(2);
    multiply(rows, values, x, y);
    EXPECT_DOUBLE_EQ(y[0], 1 * 1 - 2 * 3);
    EXPECT_DOUBLE_EQ(y[1], 3 * 2 + 4 * 3 + 5 * 4);
    VecX z = VecX::Ones(4);
    add_transposed(rows, values, y, 2, z);
    EXPECT_DOUBLE_EQ(z[0], 1 + 2 * 1 * y[0]);
    EXPECT_DOUBLE_EQ(z[1], 1 + 2 * 3 * y[1]);
    EXPECT_DOUBLE_EQ(z[2], 1 + 2 * (-2 * y[0] + 4 * y[1]));
    EXPECT_DOUBLE_EQ(z[3], 1 + 2 * 5 * y[1]);
}

}  // namespace
}  // namespace limber
