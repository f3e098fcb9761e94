// Orthogonal decomposition, interpolation, curves, rotations.

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>

#include "limber/math/interpolation.hpp"
#include "limber/math/pivoted_qr.hpp"
#include "limber/math/rotation.hpp"

namespace limber {
namespace {

TEST(PivotedQr, FindsTheRankAndSolvesBothTriangles) {
    // 6 x 5 of rank 3.
    const MatX a = MatX::Random(6, 3) * MatX::Random(3, 5);
    PivotedQr qr(6, 5);
    qr.matrix() = a;
    qr.compute(1e-10, 5);
    ASSERT_EQ(qr.rank(), 3);
    // Least-norm solution of A^T x = b for consistent b.
    const VecX b = a.transpose() * VecX::Random(6);
    VecX x = VecX::Zero(6);
    qr.solve_transposed(b, x);
    qr.apply(x);
    EXPECT_LT((a.transpose() * x - b).norm(), 1e-12);
    const VecX least = a.transpose().completeOrthogonalDecomposition().solve(b);
    EXPECT_LT((x - least).norm(), 1e-10);
    // A z = c for c in the range of A.
    const VecX c = a * VecX::Random(5);
    VecX y = c;
    qr.apply_transposed(y);
    EXPECT_LT(y.tail(3).norm(), 1e-12);
    VecX z = VecX::Zero(5);
    qr.solve(y, z);
    EXPECT_LT((a * z - c).norm(), 1e-12);
}

TEST(PivotedQr, AppliesAnOrthogonalMatrix) {
    PivotedQr qr(5, 5);
    qr.matrix().setRandom();
    qr.compute(1e-12, 5);
    VecX x = VecX::Random(5);
    const VecX start = x;
    qr.apply(x);
    EXPECT_NEAR(x.norm(), start.norm(), 1e-13);
    qr.apply_transposed(x);
    EXPECT_LT((x - start).norm(), 1e-13);
}

TEST(Interpolation, LinesGoThroughThePointsAndEndLevel) {
    const Interpolation table({0, 1, 3}, {1, 2, -2}, Interpolation::Kind::linear);
    EXPECT_DOUBLE_EQ(table.evaluate(0.5).f, 1.5);
    EXPECT_DOUBLE_EQ(table.evaluate(2).f, 0);
    EXPECT_DOUBLE_EQ(table.evaluate(2).fx, -2);
    EXPECT_DOUBLE_EQ(table.evaluate(-5).f, 1);
    EXPECT_DOUBLE_EQ(table.evaluate(9).f, -2);
}

TEST(Interpolation, SplineIsTwiceContinuouslyDifferentiableAndConvergesWithFourthOrder) {
    const auto error = [](int n) {
        std::vector<double> x;
        std::vector<double> y;
        for (int i = 0; i <= n; ++i) {
            x.push_back(2 * pi * i / n);
            y.push_back(std::sin(x.back()));  // second derivative zero at the ends: natural
        }
        const Interpolation spline(x, y, Interpolation::Kind::cubic);
        double worst = 0;
        for (int i = 0; i <= 1000; ++i) {
            const double at = 2 * pi * i / 1000;
            worst = std::max(worst, std::abs(spline.evaluate(at).f - std::sin(at)));
        }
        // Continuity across a knot.
        const double knot = x[n / 3];
        EXPECT_NEAR(spline.evaluate(knot - 1e-9).fx, spline.evaluate(knot + 1e-9).fx, 1e-7);
        EXPECT_NEAR(spline.evaluate(knot - 1e-9).fxx, spline.evaluate(knot + 1e-9).fxx, 1e-7);
        return worst;
    };
    EXPECT_NEAR(std::log2(error(20) / error(40)), 4, 0.3);
}

TEST(Interpolation, SplineGoesOnAlongItsEndTangent) {
    const Interpolation spline({0, 1, 2}, {0, 1, 0}, Interpolation::Kind::cubic);
    const auto end = spline.evaluate(2);
    EXPECT_NEAR(spline.evaluate(3).f, end.f + end.fx, 1e-14);
    EXPECT_DOUBLE_EQ(spline.evaluate(3).fxx, 0);
}

template <int D>
void check_curve_derivatives(const Curve<D>& curve) {
    constexpr double h = 1e-6;
    for (int i = 1; i < 20; ++i) {
        const double s = curve.length() * i / 20.3;
        const auto at = curve.evaluate(s);
        const auto before = curve.evaluate(s - h);
        const auto after = curve.evaluate(s + h);
        EXPECT_LT(((after.position - before.position) / (2 * h) - at.first).norm(), 1e-8);
        EXPECT_LT(((after.first - before.first) / (2 * h) - at.second).norm(), 1e-7);
    }
}

TEST(Curve, DerivativesAgreeWithDifferences) {
    check_curve_derivatives(Curve<2>({{0, 0}, {1, 0.5}, {2, 0}, {2.5, -1}}, false));
    check_curve_derivatives(Curve<3>({{0, 0, 0}, {1, 0.5, 0.3}, {2, 0, 0.1}, {2.5, -1, 0}}, true));
}

TEST(Curve, ClosedCurveComesBackSmoothly) {
    const Curve<2> ring({{1, 0}, {0, 1}, {-1, 0}, {0, -1}}, true);
    const auto start = ring.evaluate(0);
    const auto end = ring.evaluate(ring.length());
    EXPECT_LT((start.position - end.position).norm(), 1e-14);
    EXPECT_LT((start.first - end.first).norm(), 1e-12);
    EXPECT_LT((start.second - end.second).norm(), 1e-12);
    // The periodic spline through four points of the unit circle, half-way between two of them: 11/16 of their sum.
    EXPECT_NEAR(ring.evaluate(ring.length() / 8).position.norm(), 11.0 / 16.0 * std::sqrt(2.0), 1e-14);
}

TEST(Curve, ProjectionIsPerpendicular) {
    const Curve<3> curve({{0, 0, 0}, {1, 0.5, 0.3}, {2, 0, 0.1}, {2.5, -1, 0}}, false);
    const Vec3 p(1.3, 0.8, -0.2);
    const double s = curve.project_globally(p);
    const auto at = curve.evaluate(s);
    EXPECT_NEAR((p - at.position).dot(at.first), 0, 1e-13);
}

TEST(Rotation, NearestRotationUndoesAStretch) {
    const Mat3 r = exp_rotation(Vec3(0.3, -0.8, 0.5)).toRotationMatrix();
    Mat3 stretch = Mat3::Identity();
    stretch(0, 1) = stretch(1, 0) = 0.05;
    stretch(2, 2) = 1.1;
    const Mat3 found = nearest_rotation(r * stretch);
    EXPECT_LT((found - r).norm(), 1e-14);
}

TEST(Rotation, FramesAreRightHandedWhateverTheAxis) {
    for (const Vec3& z : {Vec3(0, 0, 1), Vec3(1, 0, 0), Vec3(0, -1, 0), Vec3(0.1, 0.2, -3)}) {
        const Mat3 frame = frame_from_z(z);
        EXPECT_LT((frame.transpose() * frame - Mat3::Identity()).norm(), 1e-14);
        EXPECT_NEAR(frame.determinant(), 1, 1e-14);
        EXPECT_LT((frame.col(2) - z.normalized()).norm(), 1e-14);
    }
}

}  // namespace
}  // namespace limber
