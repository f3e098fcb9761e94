#include "limber/math/dense_factors.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

namespace limber {
namespace {

TEST(DenseFactors, OfASymmetricMatrixTheEigenvaluesAreThoseOfItsPolynomial) {
    // A string of three equal masses on springs: 2 - sqrt 2, 2, 2 + sqrt 2, and the modes (1, +-sqrt 2, 1), (1, 0, -1).
    const Mat3 chain{{2, -1, 0}, {-1, 2, -1}, {0, -1, 2}};
    const Vec3 expected(2 - std::numbers::sqrt2, 2, 2 + std::numbers::sqrt2);
    const SymmetricEigen3 eigen = compute_symmetric_eigen(chain);
    const SymmetricEigen any_size = compute_symmetric_eigen(MatX(chain));
    EXPECT_LT((eigen.values - expected).norm(), 1e-14);
    EXPECT_LT((compute_eigenvalues(chain) - expected).norm(), 1e-14);
    EXPECT_LT((any_size.values - expected).norm(), 1e-14);
    EXPECT_NEAR(compute_least_eigenvalue(chain), expected[0], 1e-14);
    const Vec3 slowest = Vec3(1, std::numbers::sqrt2, 1) / 2;
    EXPECT_NEAR(std::abs(eigen.vectors.col(0).dot(slowest)), 1, 1e-14);
    EXPECT_NEAR(std::abs(any_size.vectors.col(0).dot(slowest)), 1, 1e-14);
}

TEST(DenseFactors, SingularValuesFallAndTheirVectorsSpanEverything) {
    const MatX matrix = (MatX(2, 3) << 3, 0, 0, 0, 0, 4).finished();
    const SingularVectors svd = compute_singular_vectors(matrix);
    EXPECT_LT((svd.values - Vec2(4, 3)).norm(), 1e-14);
    ASSERT_EQ(svd.right.cols(), 3);
    EXPECT_NEAR(std::abs(svd.right(1, 2)), 1, 1e-14);  // what the matrix does not see
}

TEST(DenseFactors, LeastNormIsTheSmallestOfAllSolutions) {
    // x + y = 2 twice, z free: (1, 1, 0).
    const MatX rows = (MatX(2, 3) << 1, 1, 0, 1, 1, 0).finished();
    const VecX two = Vec2(2, 2);
    EXPECT_LT((solve_least_norm(rows, two) - Vec3(1, 1, 0)).norm(), 1e-14);
    EXPECT_LT((solve_least_norm(rows, MatX(two)) - Vec3(1, 1, 0)).norm(), 1e-14);
    // Where the rows contradict each other, the mean.
    EXPECT_LT((solve_least_norm(rows, VecX(Vec2(1, 3))) - Vec3(1, 1, 0)).norm(), 1e-14);
    // What is below the threshold counts as zero.
    const MatX weak = Vec2(1, 1e-4).asDiagonal();
    EXPECT_LT((solve_least_norm(weak, VecX(Vec2(1, 1)), 1e-3) - Vec2(1, 0)).norm(), 1e-14);
    EXPECT_LT((solve_least_norm(weak, VecX(Vec2(1, 1)), 1e-6) - Vec2(1, 1e4)).norm(), 1e-8);
}

TEST(DenseFactors, LeastSquaresIsTheLineThroughPoints) {
    // Points (0, 1), (1, 2), (2, 2): the line 7/6 + x/2.
    const MatX points = (MatX(3, 2) << 1, 0, 1, 1, 1, 2).finished();
    EXPECT_LT((solve_least_squares(points, VecX(Vec3(1, 2, 2))) - Vec2(7.0 / 6, 0.5)).norm(), 1e-14);
}

}  // namespace
}  // namespace limber
