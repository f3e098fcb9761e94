// Convex hulls, meshes, height fields and profiles.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "limber/io/surface_file.hpp"
#include "support/models.hpp"
#include "support/stepping.hpp"

namespace limber {
namespace {

using namespace testing;

// Bodies that rest may overlap by 1e-7 of the mechanism's size, one metre, before they are parted. Impulses are found
// to 1e-10 of the velocities that come in, g h, and forces are those over the step.
constexpr double at_rest = 1e-7;
constexpr double load_tolerance = 10 * 1e-10 * 9.81 * 2;

constexpr const char* stl_text = R"(solid tile
facet normal 0 0 1
 outer loop
  vertex 0 0 0.5
  vertex 1 0 0.5
  vertex 0 1 0.5
 endloop
endfacet
endsolid tile
)";

TEST(Surfaces, FilesOfBothKindsAreRead) {
    const SurfaceMesh stl = read_surface(stl_text, "tile.stl");
    ASSERT_EQ(stl.triangles.size(), 1u);
    EXPECT_EQ(stl.vertices[stl.triangles[0][1]], Vec3(1, 0, 0.5));
    const SurfaceMesh obj = read_surface("v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nf 1/1/1 2 3 -1\n", "square.OBJ");
    ASSERT_EQ(obj.triangles.size(), 2u);
    EXPECT_EQ(obj.vertices[obj.triangles[1][2]], Vec3(0, 1, 0));
    // One binary triangle: header, count, normal, corners, attribute.
    std::string binary(80, ' ');
    const std::uint32_t count = 1;
    binary.append(reinterpret_cast<const char*>(&count), 4);
    const float numbers[12] = {0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 3, 0};
    binary.append(reinterpret_cast<const char*>(numbers), sizeof(numbers));
    binary.append(2, '\0');
    const SurfaceMesh from_binary = read_surface(binary, "a.stl");
    ASSERT_EQ(from_binary.triangles.size(), 1u);
    EXPECT_EQ(from_binary.vertices[2], Vec3(0, 3, 0));
    EXPECT_THROW(read_surface("v 0 0 0\nf 1 2 3\n", "bad.obj"), ModelError);
    EXPECT_THROW(read_surface("solid nothing", "bad.stl"), ModelError);
    EXPECT_THROW(read_surface(stl_text, "tile.step"), ModelError);
}

TEST(Surfaces, ConvexHullRestsOnItsFace) {
    Simulation s = stepping(R"(
limber: 1
bodies:
  ground: {shapes: [{plane: {}}]}
  wedge:
    mass: 2
    inertia: [0.02, 0.02, 0.02]
    at: [0, 0, 0.1001]
    shapes:
      - convex: {points: [[-0.2, -0.1, -0.1], [0.2, -0.1, -0.1], [0.2, 0.1, -0.1], [-0.2, 0.1, -0.1], [0, 0, 0.2]]}
contacts: {floor: {rigid: [wedge, ground], friction: 0.5}}
sensors: {place: {position: wedge}, load: {contact: floor}}
)");
    run(s, 0.5, 2e-3);
    EXPECT_NEAR(sense(s, "place.z"), 0.1, at_rest);
    EXPECT_NEAR(sense(s, "load.normal"), 2 * 9.81, load_tolerance);
    EXPECT_EQ(sense(s, "load.count"), 4);
}

TEST(Surfaces, BallAndBrickRestOnAHeightField) {
    Simulation s = stepping(R"(
limber: 1
bodies:
  ground: {shapes: [{height-field: {size: [2, 2], heights: [[0, 0, 0], [0, 0, 0], [0, 0, 0]]}}]}
  ball: {sphere: {radius: 0.1, mass: 1}, at: [0.3, 0.2, 0.15]}
  brick: {box: {size: [0.2, 0.1, 0.06], mass: 1}, at: [-0.4, 0.3, 0.05]}
contacts: {soil: {rigid: [all, ground], friction: 0.5}}
sensors: {ball: {position: ball}, brick: {position: brick}}
)");
    run(s, 0.5, 2e-3);
    EXPECT_NEAR(sense(s, "ball.z"), 0.1, at_rest);
    EXPECT_NEAR(sense(s, "brick.z"), 0.03, at_rest);
    EXPECT_NEAR(sense(s, "brick.x"), -0.4, at_rest);
}

TEST(Surfaces, DiscRollsOnAProfile) {
    Simulation s = stepping(R"(
limber: 1
plane: xy
bodies:
  ground: {shapes: [{profile: {points: [[-1, 0], [1, 0], [3, 0]]}}]}
  disc: {disc: {radius: 0.1, mass: 1}, at: [-0.5, 0.1], velocity: [1, 0], angular-velocity: -10}
contacts: {road: {rigid: [disc, ground], friction: 0.5}}
sensors: {place: {position: disc}}
)");
    run(s, 2, 2e-3);
    EXPECT_NEAR(sense(s, "place.y"), 0.1, at_rest);
    // Nothing slows it down: 1e-10 of its speed in each of 1000 steps of 2 ms, if all errors add up.
    EXPECT_NEAR(sense(s, "place.x"), 1.5, 1e-10 * 1000 * 2);
}

TEST(Surfaces, PolygonRestsOnAPlanarFloor) {
    Simulation s = stepping(R"(
limber: 1
plane: xy
bodies:
  ground: {shapes: [{plane: {}}]}
  roof: {mass: 1, inertia: 0.01, at: [0, 0.101], shapes: [{convex: {points: [[-0.2, -0.1], [0.2, -0.1], [0, 0.2]]}}]}
contacts: {floor: {rigid: [roof, ground], friction: 0.5}}
sensors: {place: {position: roof}, load: {contact: floor}}
)");
    run(s, 0.5, 2e-3);
    EXPECT_NEAR(sense(s, "place.y"), 0.1, at_rest);
    EXPECT_EQ(sense(s, "load.count"), 2);
}

// A pyramid as an STL file would give it, three corners of its own for every triangle: it stands on the four corners of
// its base.
TEST(Surfaces, MeshRestsOnAPlane) {
    const char* pyramid = R"(v -0.2 -0.1 -0.1
v 0.2 -0.1 -0.1
v 0.2 0.1 -0.1
v -0.2 0.1 -0.1
v 0 0 0.2
f 4 3 2 1
f 1 2 5
f 2 3 5
f 3 4 5
f 4 1 5
)";
    const IncludeLoader loader = [&](const std::string&) { return std::optional<std::string>(pyramid); };
    const Model model = read_model_text(R"(
limber: 1
bodies:
  ground: {shapes: [{plane: {}}]}
  pyramid: {mass: 2, inertia: [0.02, 0.02, 0.02], at: [0, 0, 0.12], xyz: [3 deg, 2 deg, 0], shapes: [{mesh: {file: pyramid.obj}}]}
contacts: {floor: {rigid: [pyramid, ground], friction: 0.5}}
sensors: {place: {position: pyramid}, load: {contact: floor}}
)",
                                        "test.yaml", {}, loader)
                            .model;
    Simulation s(model, options("global", "moreau-jean"));
    run(s, 0.8, 2e-3);
    EXPECT_NEAR(sense(s, "place.z"), 0.1, at_rest);
    EXPECT_NEAR(sense(s, "load.normal"), 2 * 9.81, load_tolerance);
    EXPECT_EQ(sense(s, "load.count"), 4);
}

// What cannot touch is refused rather than let through; a rule takes the pair out.
TEST(Surfaces, SurfacesThatMeetAreRefused) {
    const auto text = [](const char* rule) {
        return fmt::format(R"(
limber: 1
bodies:
  ground: {{shapes: [{{height-field: {{size: [2, 2], heights: [[0, 0], [0, 0]]}}}}]}}
  lid:
    mass: 1
    inertia: [0.1, 0.1, 0.1]
    at: [0, 0, 1]
    shapes: [{{height-field: {{size: [1, 1], heights: [[0, 0], [0, 0]]}}}}]
contacts:
  soil: {{rigid: [all, ground]}}
{}
)",
                           rule);
    };
    try {
        read_model_text(text(""), "lid.yaml");
        FAIL() << "not refused";
    } catch (const ModelError& error) {
        const std::string message = error.what();
        EXPECT_EQ(message.find("lid.yaml:11: contact 'soil': the surfaces"), 0u) << message;
        EXPECT_NE(message.find("'ground' and 'lid'"), std::string::npos) << message;
    }
    EXPECT_NO_THROW(stepping(text("  apart: {none: [lid, ground]}")));
}

}  // namespace
}  // namespace limber
