// Slopes, edges, bumps and cams: bodies on height fields, meshes and profiles that are not flat.

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "support/models.hpp"
#include "support/stepping.hpp"

namespace limber {
namespace {

using namespace testing;

constexpr double g = 9.81;

// ---------------------------------------------------------------- a slope, z = -x/2, in three ways

constexpr const char* slope_obj = R"(v -4 -1 2
v 4 -1 -2
v 4 1 -2
v -4 1 2
v 0 0 0
f 1 2 5
f 2 3 5
f 3 4 5
f 4 1 5
)";

std::string slope_stl() {
    const auto facet = [](const char* a, const char* b, const char* c) {
        return fmt::format(
            "facet normal 0 0 0\n outer loop\n  vertex {}\n  vertex {}\n  vertex {}\n endloop\nendfacet\n", a, b, c);
    };
    return "solid slope\n" + facet("-4 -1 2", "4 -1 -2", "4 1 -2") + facet("-4 -1 2", "4 1 -2", "-4 1 2") +
           "endsolid slope\n";
}

struct Slope {
    const char *name, *shape;
};

constexpr Slope slopes[] = {
    {"height field",
     "height-field: {size: [8, 2], heights: [[2, 1, 0, -1, -2], [2, 1, 0, -1, -2], [2, 1, 0, -1, -2]]}"},
    {"OBJ", "mesh: {file: slope.obj}"},
    {"STL", "mesh: {file: slope.stl}"},
};

// A ball of 0.1 m that begins to slide without friction, so deep in the surface: at x = -2, which is a side between two
// facets of the height field.
Model sliding_ball(const Slope& slope, const std::string& rule, double depth) {
    const double steepness = std::atan(0.5);
    const double away = 0.1 - depth;
    const IncludeLoader loader = [](const std::string& file) {
        return std::optional<std::string>(file.ends_with(".obj") ? slope_obj : slope_stl());
    };
    return read_model_text(
               fmt::format(R"(
limber: 1
bodies:
  ground: {{shapes: [{{{}}}]}}
  ball: {{sphere: {{radius: 0.1, mass: 1}}, at: [{:.17g}, 0.07, {:.17g}]}}
contacts: {{soil: {{{}}}}}
sensors: {{place: {{position: ball}}, speed: {{velocity: ball}}, load: {{contact: soil}}}}
)",
                           slope.shape, -2 + away * std::sin(steepness), 1 + away * std::cos(steepness), rule),
               "slope.yaml", {}, loader)
        .model;
}

// Along the slope, and away from it.
double downhill(Simulation& s, const std::string& sensor) {
    return (2 * sense(s, sensor + ".x") - sense(s, sensor + ".z")) / std::sqrt(5.0);
}
double uphill_normal(Simulation& s, const std::string& sensor) {
    return (sense(s, sensor + ".x") + 2 * sense(s, sensor + ".z")) / std::sqrt(5.0);
}

// It crosses several facets at g sin a without noticing their sides.
TEST(UnevenSurfaces, RigidBallSlidesDownASlope) {
    for (const Slope& slope : slopes) {
        SCOPED_TRACE(slope.name);
        Simulation s(sliding_ball(slope, "rigid: [ball, ground]", 0), options("global", "moreau-jean"));
        const double start = downhill(s, "place");
        const double h = 1e-3;
        const double pull = g / std::sqrt(5.0);
        while (s.time() < 1.2 - h / 2) {
            run(s, s.time() + 0.1, h);
            // Contacts are solved to 1e-10 of the velocities; bodies that overlap by less than 1e-7 are not parted.
            EXPECT_NEAR(downhill(s, "speed"), pull * s.time(), 1e-8) << s.time();
            EXPECT_NEAR(uphill_normal(s, "place"), 0.1, 1e-7) << s.time();
            // First order: what the speed gains in a step, times the time.
            EXPECT_NEAR(downhill(s, "place") - start, pull * s.time() * s.time() / 2, pull * h * s.time()) << s.time();
            EXPECT_NEAR(sense(s, "load.normal"), 2 * g / std::sqrt(5.0), 1e-6) << s.time();
            EXPECT_EQ(sense(s, "load.count"), 1) << s.time();
        }
    }
}

// Sides between facets are no springs of their own, exactly above them neither.
TEST(UnevenSurfaces, CompliantBallSlidesDownASlope) {
    const double weight = 2 * g / std::sqrt(5.0);
    for (const Slope& slope : slopes)
        for (const char* coordinates : {"natural", "reference-point", "relative"}) {
            SCOPED_TRACE(fmt::format("{} {}", slope.name, coordinates));
            Simulation s(sliding_ball(slope, "linear: [ball, ground], stiffness: 1e5, damping: 100", weight / 1e5),
                         options("global", "trapezoidal", coordinates));
            const double start = downhill(s, "place");
            const double pull = g / std::sqrt(5.0);
            while (s.time() < 1.2 - 1e-3) {
                run(s, s.time() + 0.1, 2e-3);
                // The trapezoidal rule is exact for a constant force; Newton's method leaves 1e-7 of the accelerations
                // in a step, of either sign.
                EXPECT_NEAR(downhill(s, "place") - start, pull * s.time() * s.time() / 2, 1e-7) << s.time();
                EXPECT_NEAR(uphill_normal(s, "place"), 0.1 - weight / 1e5, 1e-7) << s.time();
                EXPECT_NEAR(sense(s, "load.normal"), weight, 1e-2) << s.time();
            }
        }
}

// ---------------------------------------------------------------- a disc in a groove

// Its sides lean by half the angle of the groove from the vertical, so the centre rests at r/sin(half) above the
// bottom.
TEST(UnevenSurfaces, DiscRestsInAGroove) {
    for (const double half : {30 * pi / 180, 50 * pi / 180}) {
        const auto model = [&](const std::string& rule) {
            return read(fmt::format(R"(
limber: 1
plane: xy
bodies:
  ground: {{shapes: [{{profile: {{points: [[{0:.17g}, {1:.17g}], [0, 0], [{2:.17g}, {1:.17g}]]}}}}]}}
  disc: {{disc: {{radius: 0.1, mass: 1}}, at: [0.03, 0.3]}}
contacts: {{groove: {{{3}}}}}
sensors: {{place: {{position: disc}}, load: {{contact: groove}}}}
)",
                                    -std::sin(half), std::cos(half), std::sin(half), rule));
        };
        const double each = g / (2 * std::sin(half));
        Simulation rigid(model("rigid: [disc, ground], friction: 0.3"), options("global", "moreau-jean"));
        run(rigid, 3, 1e-3);
        // Overlaps below 1e-7 are not parted; they lower the disc by as much over the sine.
        EXPECT_NEAR(sense(rigid, "place.y"), 0.1 / std::sin(half), 1e-7 / std::sin(half));
        EXPECT_NEAR(sense(rigid, "place.x"), 0, 1e-7 / std::cos(half));
        EXPECT_EQ(sense(rigid, "load.count"), 2);

        Simulation soft(model("linear: [disc, ground], stiffness: 1e4, damping: 60"), options("global", "trapezoidal"));
        run(soft, 6, 1e-3);
        // The disc swings in its groove, damped by 60 N s/m on 1 kg: after six seconds nothing is left but the
        // tolerance of Newton's method.
        EXPECT_NEAR(sense(soft, "place.y"), (0.1 - each / 1e4) / std::sin(half), 1e-8);
        EXPECT_NEAR(sense(soft, "place.x"), 0, 1e-8);
        EXPECT_NEAR(sense(soft, "load.normal"), 2 * each, 1e-4);
    }
}

// ---------------------------------------------------------------- edges and bumps

struct Rolling {
    double speed = 0, height = 0, place = 0;
};

// A disc that rolls without sliding over a line of points, until x; `watch` after each step.
Rolling roll(const std::string& points, double speed, double until_x, double h,
             const std::function<void(const Rolling&)>& watch = {}) {
    Simulation s = stepping(fmt::format(R"(
limber: 1
plane: xy
bodies:
  ground: {{shapes: [{{profile: {{points: {}}}}}]}}
  disc: {{disc: {{radius: 0.1, mass: 1}}, at: [-0.3, 0.1], velocity: [{}, 0], angular-velocity: {}}}
contacts: {{road: {{rigid: [disc, ground], friction: 2}}}}
sensors: {{place: {{position: disc}}, turning: {{angular-velocity: disc}}}}
)",
                                        points, speed, -10 * speed));
    Rolling now;
    while (now.place < until_x && s.time() < 10) {
        EXPECT_TRUE(s.step(h).ok);
        now = {-0.1 * sense(s, "turning"), sense(s, "place.y"), sense(s, "place.x")};
        if (watch) watch(now);
    }
    return now;
}

// Over an edge onto a slope of 20 degrees: the disc turns about the corner, slowly enough to stay on it (v^2 < g r cos
// a), and 3/4 v^2 + g y stays what it was. Gaps are those at the start of a step, so a step over the corner is off by
// the square of how far it goes.
TEST(UnevenSurfaces, DiscRollsOverAnEdge) {
    const double slope = 20 * pi / 180;
    const std::string points = fmt::format("[[-1, 0], [0, 0], [{:.17g}, {:.17g}]]", std::cos(slope), -std::sin(slope));
    const double start = 0.75 * 0.3 * 0.3 + g * 0.1;
    double before = 0;
    for (const double h : {2e-3, 1e-3}) {
        double worst = 0;
        roll(points, 0.3, 0.6, h, [&](const Rolling& now) {
            const double distance = now.place < 0 ? now.height
                                    : now.place < 0.1 * std::sin(slope)
                                        ? std::hypot(now.place, now.height)
                                        : now.place * std::sin(slope) + now.height * std::cos(slope);
            EXPECT_NEAR(distance, 0.1, std::pow(0.6 * h, 2) / 0.1 + 1e-7) << now.place;
            worst = std::max(worst, std::abs(0.75 * now.speed * now.speed + g * now.height - start));
        });
        // A step of first order: speed and height belong to instants half a step apart.
        EXPECT_LT(worst, g * 1.6 * h);
        if (before > 0) {
            EXPECT_NEAR(before / worst, 2, 0.3);
        }
        before = worst;
    }
}

// Over a bump of two slopes. At each of its hollow corners the disc hits the new side with what it has of angular
// momentum about the new contact: of its speed (1 + 2 cos a)/3 is left. Between them nothing is lost, and they are
// equally high.
TEST(UnevenSurfaces, DiscRollsOverABump) {
    const double slope = 15 * pi / 180;
    const double height = 0.05;
    const double length = height / std::tan(slope);
    const std::string points =
        fmt::format("[[-1, 0], [0, 0], [{0:.17g}, {1}], [{2:.17g}, 0], [3, 0]]", length, height, 2 * length);
    const double kept = (1 + 2 * std::cos(slope)) / 3;
    const double speed = 1.0;
    const double top = std::sqrt(std::pow(speed * kept, 2) - 4.0 / 3 * g * height);
    ASSERT_GT(top, 0.1);
    ASSERT_LT(top * top, g * 0.1 * std::cos(slope));  // stays on the edge
    for (const double h : {1e-3, 5e-4}) {
        const Rolling end = roll(points, speed, 2 * length + 0.3, h);
        EXPECT_NEAR(end.height, 0.1, 1e-7);
        // First order: g sin a of the slopes times a step, in speed, at each of the five places where something
        // changes.
        EXPECT_NEAR(end.speed, speed * kept * kept, 5 * g * std::sin(slope) * h) << h;
    }
}

// ---------------------------------------------------------------- cams and roads

// A circle of radius R, e off the axis, lifts a roller of radius q that is guided above the axis to e sin x + sqrt((R +
// q)^2 - e^2 cos^2 x).
TEST(UnevenSurfaces, CamLiftsItsFollower) {
    const double radius = 0.05;
    const double offset = 0.02;
    const double roller = 0.01;
    const double rate = 4;
    Simulation s(example("contact/cam-and-follower.yaml"), options("global", "moreau-jean"));
    const double h = 1e-3;
    const double facets = 120;
    // The profile is a polygon inside the circle, nearer by R (1 - cos(pi/n)) at most. Its facets' corners make the
    // speed of lifting jump by R 2 pi/n times the rate; the path is of first order: a step of the fastest lift.
    const double tolerance = radius * (1 - std::cos(pi / facets)) + offset * rate * h;
    double lowest = 1;
    double highest = 0;
    while (s.time() < 3.2) {
        run(s, s.time() + 0.01, h);
        const double angle = rate * s.time();
        const double lift =
            offset * std::sin(angle) + std::sqrt(std::pow(radius + roller, 2) - std::pow(offset * std::cos(angle), 2));
        EXPECT_NEAR(sense(s, "lift.y"), lift, tolerance) << s.time();
        lowest = std::min(lowest, sense(s, "lift.y"));
        highest = std::max(highest, sense(s, "lift.y"));
    }
    EXPECT_NEAR(highest - lowest, 2 * offset, 2 * tolerance);
}

// The centre of a wheel of radius r on the road f is at (s - r sin a, f + r cos a), where tan a = f'(s): found from x
// by Newton's method.
double centre_height(double x, double radius, double waviness, double length) {
    const double k = 2 * pi / length;
    double s = x;
    const auto place = [&](double at) {
        const double rise = waviness * k * std::sin(k * at);
        return at - radius * rise / std::hypot(1, rise);
    };
    for (int i = 0; i < 50; ++i) s -= (place(s) - x) / ((place(s + 1e-7) - place(s - 1e-7)) / 2e-7);
    const double rise = waviness * k * std::sin(k * s);
    return waviness * (1 - std::cos(k * s)) + radius / std::hypot(1, rise);
}

// A wheel is led slowly over the waves of examples/contact/bumpy-road.yaml.
TEST(UnevenSurfaces, WheelFollowsTheRoad) {
    const double speed = 0.5;
    const double waviness = 0.01;
    const double length = 0.5;
    const double radius = 0.1;
    Simulation s(example("contact/bumpy-road.yaml"), options("global", "moreau-jean"));
    const double h = 1e-3;
    // Chords of 0.02 m sag by f'' d^2/8; a step of the fastest rise, as the path is of first order.
    const double k = 2 * pi / length;
    const double tolerance = waviness * k * k * 0.02 * 0.02 / 8 + waviness * k * speed * h;
    while (s.time() < 2.9) {
        run(s, s.time() + 0.01, h);
        const double x = sense(s, "place.x");
        EXPECT_NEAR(x, speed * s.time(), 1e-9);
        EXPECT_NEAR(sense(s, "place.y"), centre_height(x, radius, waviness, length), tolerance) << x;
    }
}

}  // namespace
}  // namespace limber
