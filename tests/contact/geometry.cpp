// Contact points of shapes, and the pairs of boxes that may touch.

#include <gtest/gtest.h>
#include <malloc.h>

#include <cmath>
#include <random>

#include "limber/geometry/broad_phase.hpp"
#include "limber/geometry/manifold.hpp"
#include "limber/geometry/mesh.hpp"

namespace limber {
namespace {

Frame at(double x, double y, double z) {
    Frame frame;
    frame.position = {x, y, z};
    return frame;
}

Frame turned(const Vec3& position, const Vec3& axis, double angle) {
    return {position, Eigen::AngleAxisd(angle, axis.normalized()).toRotationMatrix()};
}

TEST(BroadPhase, FindsWhatAllPairsFind) {
    std::mt19937 random(3);
    std::uniform_real_distribution<double> unit(0, 1);
    std::vector<Bounds> boxes(200);
    BroadPhase sweep;
    std::vector<std::pair<int, int>> found;
    for (int round = 0; round < 20; ++round) {
        for (Bounds& box : boxes) {
            // Widest along each axis in turn.
            Vec3 low(3 * unit(random), 3 * unit(random), 3 * unit(random));
            low[round % 3] *= 1.5;
            box = {low, low + Vec3::Constant(0.02 + 0.4 * unit(random))};
        }
        std::vector<std::pair<int, int>> expected;
        for (int i = 0; i < 200; ++i)
            for (int j = i + 1; j < 200; ++j)
                if (boxes[i].overlaps(boxes[j])) expected.emplace_back(i, j);
        sweep.find_pairs(boxes, found);
        EXPECT_EQ(found, expected);
        EXPECT_FALSE(found.empty());
    }
}

// Lattices of Muth and Eberhard's cases, ten balls along an edge: how many boxes overlap, and how many balls touch.
std::pair<int, int> count_pairs(int layers) {
    const Shape ball = Shape::sphere(0.51);
    std::vector<Bounds> boxes;
    std::vector<Frame> frames;
    for (int i = 0; i < 100 * layers; ++i) {
        frames.push_back(at(i % 10, i / 10 % 10, i / 100));
        boxes.push_back(compute_bounds(ball, frames.back()));
    }
    std::vector<std::pair<int, int>> pairs;
    BroadPhase().find_pairs(boxes, pairs);
    int touching = 0;
    Manifold manifold;
    for (const auto& [i, j] : pairs) {
        find_manifold(ball, frames[i], ball, frames[j], 0, manifold);
        touching += manifold.count;
    }
    return {static_cast<int>(pairs.size()), touching};
}

TEST(BroadPhase, LatticeOfBalls) {
    EXPECT_EQ(count_pairs(10), std::pair(10476, 2700));
}

// In the plane: 180 neighbours, and 162 across the corners.
TEST(BroadPhase, SquareLatticeOfDiscs) {
    EXPECT_EQ(count_pairs(1), std::pair(342, 180));
}

// Four discs of theirs: none touch; the third, moved aside, touches the fourth, 0.0280825 deep; moved back it does not.
TEST(BroadPhase, DiscThatMovesAsideMeetsItsNeighbour) {
    const std::vector<Shape> discs{Shape::sphere(0.5), Shape::sphere(2), Shape::sphere(0.75), Shape::sphere(1)};
    std::vector<Frame> frames{at(0.5, 8.5, 0), at(4, 5, 0), at(3.75, 1.75, 0), at(6, 1, 0)};
    BroadPhase sweep;
    std::vector<std::pair<int, int>> pairs;
    for (const double x : {3.75, 4.45, 3.75}) {
        frames[2] = at(x, 1.75, 0);
        std::vector<Bounds> boxes;
        for (std::size_t i = 0; i < discs.size(); ++i) boxes.push_back(compute_bounds(discs[i], frames[i]));
        sweep.find_pairs(boxes, pairs);
        if (x == 3.75) {
            EXPECT_TRUE(pairs.empty());
            continue;
        }
        ASSERT_EQ(pairs, (std::vector<std::pair<int, int>>{{2, 3}}));
        Manifold manifold;
        find_manifold(discs[2], frames[2], discs[3], frames[3], 0, manifold);
        ASSERT_EQ(manifold.count, 1);
        EXPECT_NEAR(manifold.points[0].gap, -0.0280825, 5e-8);
    }
}

// Balls of sizes 20 to 1 that move a little a thousand times: the list that is sorted anew each time finds what
// comparing all finds.
TEST(BroadPhase, BallsOfManySizesThatMove) {
    std::mt19937 random(5);
    std::uniform_real_distribution<double> unit(0, 1);
    std::vector<double> radii(150);
    std::vector<Vec3> centres(150);
    for (double& r : radii) r = 0.05 * std::pow(20, unit(random));
    for (Vec3& c : centres) c = 6 * Vec3(unit(random), unit(random), unit(random));
    std::vector<Bounds> boxes(150);
    BroadPhase sweep;
    std::vector<std::pair<int, int>> found;
    std::vector<std::pair<int, int>> before;
    int changes = 0;
    for (int move = 0; move < 1000; ++move) {
        for (std::size_t i = 0; i < 150; ++i) {
            centres[i] += 0.02 * Vec3(unit(random) - 0.5, unit(random) - 0.5, unit(random) - 0.5);
            boxes[i] = compute_bounds(Shape::sphere(radii[i]), at(centres[i].x(), centres[i].y(), centres[i].z()));
        }
        std::vector<std::pair<int, int>> expected;
        for (int i = 0; i < 150; ++i)
            for (int j = i + 1; j < 150; ++j)
                if (boxes[i].overlaps(boxes[j])) expected.emplace_back(i, j);
        sweep.find_pairs(boxes, found);
        ASSERT_EQ(found, expected) << move;
        changes += found != before ? 1 : 0;
        before = found;
    }
    EXPECT_GT(changes, 100);  // pairs come and go
}

TEST(Manifold, BrickOnBrickTouchesAtFourPoints) {
    const Shape brick = Shape::box({0.2, 0.1, 0.06});
    for (const double gap : {1e-3, 0.0, -1e-4}) {
        Manifold m;
        find_manifold(brick, at(0, 0, 0), brick, at(0.05, 0.02, 0.06 + gap), 2e-3, m);
        ASSERT_EQ(m.count, 4);
        EXPECT_NEAR((m.normal - Vec3::UnitZ()).norm(), 0, 1e-14);
        Bounds corners;
        for (int k = 0; k < 4; ++k) {
            EXPECT_NEAR(m.points[k].gap, gap, 1e-15);
            corners.add(m.points[k].point);
        }
        EXPECT_NEAR((corners.low - Vec3(-0.05, -0.03, 0.03 + gap / 2)).norm(), 0, 1e-14);
        EXPECT_NEAR((corners.high - Vec3(0.1, 0.05, 0.03 + gap / 2)).norm(), 0, 1e-14);
    }
}

TEST(Manifold, CrossedEdgesTouchAtOnePoint) {
    const Shape box = Shape::box({1, 0.1, 0.1});
    const double reach = 0.1 * std::sqrt(0.5);
    const Frame a = turned({0, 0, 0}, Vec3::UnitX(), pi / 4);
    Frame b = turned({0, 0, 2 * reach - 0.001}, Vec3::UnitZ(), pi / 2);
    b.axes = b.axes * turned({0, 0, 0}, Vec3::UnitX(), pi / 4).axes;
    Manifold m;
    find_manifold(box, a, box, b, 0, m);
    ASSERT_EQ(m.count, 1);
    EXPECT_NEAR(m.points[0].gap, -0.001, 1e-12);
    EXPECT_NEAR(m.normal.z(), 1, 1e-12);
    EXPECT_NEAR(m.points[0].point.head<2>().norm(), 0, 1e-12);
}

TEST(Manifold, EveryShapeRestsOnAPlane) {
    const Shape plane = Shape::plane();
    using K = Shape::Kind;
    const std::tuple<Shape, double, int> cases[] = {{Shape::sphere(0.3), 0.3, 1},
                                                    {Shape::box({1, 2, 0.6}), 0.3, 4},
                                                    {Shape::about_z(K::cylinder, 0.5, 0.6), 0.3, 8},
                                                    {Shape::about_z(K::cone, 0.5, 0.6), 0.3, 8},
                                                    {Shape::about_z(K::capsule, 0.1, 0.4), 0.3, 1}};
    for (const auto& [shape, height, points] : cases) {
        Manifold m;
        find_manifold(shape, at(1, 2, height - 0.01), plane, Frame{}, 0, m);
        EXPECT_EQ(m.count, points);
        for (int k = 0; k < m.count; ++k) EXPECT_NEAR(m.points[k].gap, -0.01, 1e-12);
        EXPECT_NEAR(m.normal.z(), -1, 1e-14);
    }
    // A wheel on its side: a line.
    Manifold m;
    find_manifold(plane, Frame{}, Shape::about_z(K::cylinder, 0.5, 0.2), turned({0, 0, 0.5}, Vec3::UnitX(), pi / 2),
                  1e-3, m);
    EXPECT_EQ(m.count, 2);
    EXPECT_NEAR(m.points[0].gap, 0, 1e-12);
}

// Shapes that only the library knows how to bring together.
TEST(Manifold, CylinderStandsOnABox) {
    Manifold m;
    find_manifold(Shape::box({1, 1, 0.1}), Frame{}, Shape::about_z(Shape::Kind::cylinder, 0.1, 0.2),
                  at(0.05, 0.02, 0.15 - 1e-4), 1e-3, m);
    ASSERT_EQ(m.count, 8);
    EXPECT_NEAR(m.normal.z(), 1, 1e-12);
    for (int k = 0; k < 8; ++k) {
        EXPECT_NEAR(m.points[k].gap, -1e-4, 1e-12);
        EXPECT_NEAR((m.points[k].point - Vec3(0.05, 0.02, 0.05)).head<2>().norm(), 0.1, 1e-12);
    }
}

TEST(Manifold, BallsTouchRoundBodiesWhereTheyShould) {
    using K = Shape::Kind;
    Manifold m;
    find_manifold(Shape::about_z(K::capsule, 0.1, 0.6), Frame{}, Shape::sphere(0.2), at(0.301, 0, 0.1), 0.01, m);
    ASSERT_EQ(m.count, 1);
    EXPECT_NEAR(m.points[0].gap, 0.001, 1e-9);
    EXPECT_NEAR((m.normal - Vec3::UnitX()).norm(), 0, 1e-8);
    find_manifold(Shape::sphere(0.2), at(0.301, 0, 0.1), Shape::about_z(K::cylinder, 0.1, 0.6), Frame{}, 0.01, m);
    ASSERT_EQ(m.count, 1);
    EXPECT_NEAR(m.points[0].gap, 0.001, 1e-9);
    EXPECT_NEAR((m.normal + Vec3::UnitX()).norm(), 0, 1e-8);
}

// Balls near sides, rims, edges and corners, whose nearest points are known: in a cylinder and in a box that is given
// by its corners the nearest point is found by cutting off coordinates, and of a cone a ball above it touches the tip.
TEST(Manifold, BallsArePushedAwayFromTheNearestPoint) {
    std::mt19937 random(5);
    std::uniform_real_distribution<double> unit(-1, 1);
    const double radius = 0.15;
    const auto expect_nearest = [&](const Shape& shape, const Vec3& centre, const Vec3& nearest) {
        const Frame frame = turned({0.3, -0.2, 0.1}, {1, 2, -1}, 0.7);
        Frame ball = at(0, 0, 0);
        ball.position = frame.point(centre);
        Manifold m;
        find_manifold(shape, frame, Shape::sphere(radius), ball, 0.1, m);
        ASSERT_EQ(m.count, 1) << centre.transpose();
        EXPECT_NEAR(m.points[0].gap, (centre - nearest).norm() - radius, 1e-6) << centre.transpose();
        const Vec3 normal = frame.direction((centre - nearest).normalized());
        EXPECT_LT((m.normal - normal).norm(), 1e-4) << centre.transpose();  // what is taken for the normal of a face
    };
    const Shape cylinder = Shape::about_z(Shape::Kind::cylinder, 0.2, 0.3);
    const Vec3 half(0.1, 0.2, 0.3);
    std::vector<Vec3> corners;
    for (int k = 0; k < 8; ++k)
        corners.push_back(half.cwiseProduct(Vec3(k % 2 * 2 - 1, k / 2 % 2 * 2 - 1, k / 4 * 2 - 1)));
    const Shape brick = Shape::convex(corners);
    const Shape cone = Shape::about_z(Shape::Kind::cone, 0.2, 0.4);
    for (int k = 0; k < 300; ++k) {
        const Vec3 away = Vec3(unit(random), unit(random), unit(random)).normalized();
        const double gap = radius + 0.04 * unit(random);  // apart as well as overlapping
        Vec3 on_rim = 0.2 * Vec3(away.x(), away.y(), 0).normalized() + Vec3(0, 0, std::copysign(0.15, away.z()));
        const double turn = 0.8 + 0.75 * unit(random);
        const Vec3 outwards = std::cos(turn) * Vec3(away.x(), away.y(), 0).normalized() +
                              std::sin(turn) * Vec3(0, 0, std::copysign(1.0, away.z()));
        expect_nearest(cylinder, on_rim + gap * outwards, on_rim);
        const Vec3 corner = half.cwiseProduct(away.array().sign().matrix());
        expect_nearest(brick, corner + gap * away, corner);
        const Vec3 on_edge(corner.x(), corner.y(), 0.25 * unit(random));
        expect_nearest(brick, on_edge + gap * Vec3(away.x(), away.y(), 0).normalized(), on_edge);
        const Vec3 tip(0, 0, 0.2);
        const Vec3 above = Vec3(0.2 * away.x(), 0.2 * away.y(), 1).normalized();
        expect_nearest(cone, tip + gap * above, tip);
    }
}

// A point of the surface of a cylinder about z, `round` times the whole angle around it.
Vec3 on_cylinder(double radius, double half_length, double round, double along) {
    const double angle = 2 * std::acos(-1.0) * round;
    return {radius * std::cos(angle), radius * std::sin(angle), half_length * along};
}

// A rim near another solid: the least distance by searching the rim, point by point, and the surface of the other.
TEST(Manifold, RimsAreKeptApartAlongTheShortestWay) {
    std::mt19937 random(8);
    std::uniform_real_distribution<double> unit(-1, 1);
    const double radius = 0.2;
    const double half_length = 0.15;
    const Shape cylinder = Shape::about_z(Shape::Kind::cylinder, radius, 2 * half_length);
    const Vec3 half(0.3, 0.25, 0.2);
    const Shape box = Shape::box(2 * half);
    const auto distance_to_box = [&](const Vec3& p) { return (p - p.cwiseMax(-half).cwiseMin(half)).norm(); };
    const auto distance_to_cylinder = [&](const Vec3& p) {
        const double out = std::max(0.0, std::hypot(p.x(), p.y()) - radius);
        return std::hypot(out, std::max(0.0, std::abs(p.z()) - half_length));
    };
    int rims = 0;
    for (int k = 0; k < 400; ++k) {
        const bool is_box = k % 2 == 0;
        const Frame fa = turned({0, 0, 0}, {unit(random), unit(random), unit(random)}, 3 * unit(random));
        const Vec3 away = Vec3(unit(random), unit(random), unit(random)).normalized();
        const Frame fb =
            turned((is_box ? 0.55 : 0.45) * away, {unit(random), unit(random), unit(random)}, 3 * unit(random));
        // Both rims of the first, in the frame of the second.
        double least = INFINITY;
        const int points = 20000;
        for (int i = 0; i < points; ++i) {
            for (const double end : {-1.0, 1.0}) {
                const Vec3 p =
                    fb.local_point(fa.point(on_cylinder(radius, half_length, static_cast<double>(i) / points, end)));
                least = std::min(least, is_box ? distance_to_box(p) : distance_to_cylinder(p));
            }
        }
        // What is nearer between the rims, on the side, is nothing for this test.
        double beside = INFINITY;
        for (int i = 0; i < 400; ++i) {
            for (double along = -0.95; along < 1; along += 0.05) {
                const Vec3 p = fb.local_point(fa.point(on_cylinder(radius, half_length, i / 400.0, along)));
                beside = std::min(beside, is_box ? distance_to_box(p) : distance_to_cylinder(p));
            }
        }
        if (beside < least) continue;
        Manifold m;
        find_manifold(cylinder, fa, is_box ? box : cylinder, fb, 0.5, m);
        ASSERT_GT(m.count, 0);
        const Vec3 normal = fa.local_direction(m.normal);
        const bool at_rim = m.count == 1 && std::hypot(normal.x(), normal.y()) > 0.06 && std::abs(normal.z()) > 0.06;
        if (!at_rim || !(least > 1e-3)) continue;
        ++rims;
        // Points on the rim are 6e-5 apart: by the square of half of that, over the distance, the least of them is
        // farther than the rim.
        const double coarse = std::pow(std::acos(-1.0) * radius / points, 2) / (2 * least);
        EXPECT_NEAR(m.points[0].gap, least, 1e-9 + coarse) << k;
    }
    EXPECT_GT(rims, 50);
}

// The gap along the normal of any two convex shapes is that of their farthest points, whichever way they are turned.
TEST(Manifold, GapsAreConsistentWithSupports) {
    std::mt19937 random(11);
    std::normal_distribution<double> normal;
    using K = Shape::Kind;
    const std::vector<Shape> shapes{Shape::box({0.3, 0.4, 0.5}), Shape::sphere(0.2),
                                    Shape::about_z(K::capsule, 0.1, 0.4), Shape::about_z(K::cylinder, 0.2, 0.3),
                                    Shape::about_z(K::cone, 0.2, 0.4)};
    int seen = 0;
    for (int round = 0; round < 300; ++round) {
        const Shape& a = shapes[random() % shapes.size()];
        const Shape& b = shapes[random() % shapes.size()];
        const Frame fa = turned({0, 0, 0}, {normal(random), normal(random), normal(random)}, normal(random));
        Vec3 away(normal(random), normal(random), normal(random));
        const Frame fb = turned(away.normalized() * (0.3 + 0.2 * std::abs(normal(random))),
                                {normal(random), normal(random), normal(random)}, normal(random));
        Manifold m;
        find_manifold(a, fa, b, fb, 0.3, m);
        double least = 1e300;
        for (int k = 0; k < m.count; ++k) least = std::min(least, m.points[k].gap);
        if (m.count == 0) continue;
        ++seen;
        const double between = m.normal.dot(fb.point(find_support(b, fb.local_direction(-m.normal))) -
                                            fa.point(find_support(a, fa.local_direction(m.normal))));
        // Points are cut to where both faces are, so their gaps are not below that of the supports.
        EXPECT_GT(least, between - 1e-9);
        EXPECT_LT(least, between + 0.05);
    }
    EXPECT_GT(seen, 100);
}

// A height field of 600 by 600 has 700 000 of them.
TEST(Mesh, TakesAHundredBytesPerTriangle) {
    constexpr int side = 150;
    std::vector<Vec3> vertices;
    std::vector<std::array<int, 3>> triangles;
    for (int j = 0; j < side; ++j)
        for (int i = 0; i < side; ++i) {
            vertices.emplace_back(i, j, std::sin(0.3 * i) * std::cos(0.2 * j));
            if (i == 0 || j == 0) continue;
            const int here = j * side + i;
            triangles.push_back({here - side - 1, here - side, here});
            triangles.push_back({here - side - 1, here, here - 1});
        }
    const auto used = [] { return mallinfo2().uordblks + mallinfo2().hblkhd; };
    const std::size_t count = triangles.size();
    const std::size_t before = used();
    const Shape mesh = Shape::mesh(std::move(vertices), std::move(triangles));
    EXPECT_LT(static_cast<double>(used() - before), 100.0 * static_cast<double>(count));
    EXPECT_EQ(facets_of(mesh).size(), count);
}

// Of a roof its ridge is open to directions between the two slopes, a valley to none but theirs; triangles of their own
// (STL) are neighbours all the same.
TEST(Mesh, KnowsItsNeighboursByPlace) {
    for (const double height : {0.5, -0.5}) {
        const Vec3 a(0, 0, height);
        const Vec3 b(0, 1, height);
        const Shape roof = Shape::mesh({a, {1, 0, 0}, b, b, {-1, 0, 0}, a}, {{0, 1, 2}, {3, 4, 5}});
        const auto facets = facets_of(roof);
        ASSERT_EQ(facets.size(), 2U);
        // The other slope's normal leans outwards by sin(2 * slope) over a ridge and not at all over a valley.
        const double expected = height > 0 ? std::sin(2 * std::atan(height)) : 0;
        EXPECT_NEAR(facets[0].lean[2], expected, 1e-12);
        EXPECT_NEAR(facets[1].lean[2], expected, 1e-12);
        for (const int side : {0, 1}) EXPECT_TRUE(std::isinf(facets[0].lean[side]) && std::isinf(facets[1].lean[side]));
    }
}

}  // namespace
}  // namespace limber
