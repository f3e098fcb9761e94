// Writing model files: reading what was written gives the same model, to the bit.

#include "limber/io/model_writer.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "support/force_cases.hpp"
#include "support/model_text.hpp"

namespace limber::testing {
namespace {

struct WriterCase {
    std::string name;
    std::string yaml;  ///< empty: the example of that name
};

std::vector<WriterCase> writer_cases() {
    std::vector<WriterCase> cases;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(LIMBER_EXAMPLES))
        if (entry.path().extension() == ".yaml" && entry.path().parent_path().filename() != "parts")
            cases.push_back({std::filesystem::relative(entry.path(), LIMBER_EXAMPLES).string(), ""});
    for (const auto& joint : joint_cases()) cases.push_back({"joint_" + joint.name, joint.yaml});
    for (const auto& joint : planar_joint_cases()) cases.push_back({"planar_joint_" + joint.name, joint.yaml});
    for (const auto& force : force_cases()) {
        cases.push_back({"force_" + force.name, force_model(force, false)});
        cases.push_back({"planar_force_" + force.name, force_model(force, true)});
    }
    std::sort(cases.begin(), cases.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
    return cases;
}

class WrittenModel : public ::testing::TestWithParam<WriterCase> {};

TEST_P(WrittenModel, ReadsBackToTheSameTextAndMotion) {
    const Model original = GetParam().yaml.empty() ? example(GetParam().name) : read(GetParam().yaml);
    const std::string text = write_model_text(original);
    const Model again = read(text);
    EXPECT_EQ(write_model_text(again), text);
    EXPECT_EQ(again.bodies.names(), original.bodies.names());
    EXPECT_EQ(again.joints.names(), original.joints.names());
    EXPECT_EQ(again.markers.size(), original.markers.size());
    for (const auto& name : original.markers.names()) EXPECT_FALSE(again.markers.find(name).is_null()) << name;
    expect_same_motion(original, again, 50);
}

INSTANTIATE_TEST_SUITE_P(All, WrittenModel, ::testing::ValuesIn(writer_cases()),
                         [](const auto& info) { return test_name(info.param.name); });

TEST(ModelWriter, WritesAShortModelAsAPersonWould) {
    std::ifstream file(std::string(LIMBER_EXAMPLES) + "/slider-crank.yaml");
    std::ostringstream text;
    text << file.rdbuf();
    EXPECT_EQ(write_model_text(example("slider-crank.yaml")), text.str());
}

TEST(ModelWriter, KeepsLinesShort) {
    std::string points = "[0, 0]";
    for (int i = 1; i < 200; ++i) points += ", [" + std::to_string(i) + ", 0.125]";
    const std::string curve = "limber: 1\nplane: xy\ncurves: {long: {points: [" + points + "]}}\n";
    for (const Model& model : {read(curve), example("andrews.yaml"), example("joints/point-on-curve.yaml")}) {
        std::istringstream lines(write_model_text(model));
        for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 120U) << line;
    }
}

// What the models above lack: rare fields and texts that need quotes. It is written as it stands here.
TEST(ModelWriter, WritesWhatIsRare) {
    const std::string text = R"yaml(limber: 1
title: "a: b # c"
gravity: [0, 0.5*g, -g*cos(t)]
parameters: {g: 9.81, "null": 1, big: "if(g > 1, 2, 3)"}
tables:
  lift: {rows: [[0, 0], [1, g], [2, 3]], interpolation: linear}
curves:
  ring: {points: [[1, 0, 0], [0, 1, 0], [-1, 0, 0], [0, -1, 0]], closed: true}
roads:
  flat: {height: 0}
  rough: {random: {class: C, seed: 4, from: 1, length: 20}}
  steps:
    [{stairs: {from: 1, count: 3, run: 1, rise: 0.1, riser: 0.2}}, {table: [[0, 0], [5, 1]], interpolation: linear},
     {height: 0.1*sin(x)}]
bodies:
  ground: {markers: {rail: {at: [1, 0, 0], turn: [0, 1, 0, 0.3]}}}
  a:
    rod: {from: [0, 0, 0], to: [1, 0, 0], radius: 0.01, density: 7800, color: "#ff0000"}
    angular-velocity: [0, 0, 1]
    markers: {w: {frame: world, at: [1, 2, 3], xyz: [0.1, 0.2, 0.3]}, u: {on: a.w, z: [0, 1, 0]}, q: [0, 0, 1]}
  b: {mass: 2, com: [0, 0.1, 0], inertia: [2, 2, 3, 0, 0, 0.1], at: [1, 0, 0], quaternion: [1, 0, 0, 0.2]}
  c: {cylinder: {radius: 0.1, length: 1}, mass: 1, inertia: [1, 1, 1], at: [3, 0, 0]}
  d: {sphere: {radius: 0.1, density: 100, at: [0, 0, 0.1]}, at: [5, 0, 0]}
  e: {point: {mass: 1}, at: [7, 0, 0], velocity: [1, 0, 0]}
  f: {}
joints:
  j: {revolute: [ground, a], at: [0, 0, 0], axis: [0, 0, 1], x: [1, 0, 0], cut: true}
  k: {spherical: [a.to, b], axis: [0, 1, 0]}
  l: {helical: [ground, c], at: [3, 0, 0], axis: [1, 0, 0], pitch: 0.2, offset: 0.1}
  m: {fixed: [ground.rail, f]}
drivers:
  lead: {marker: d, component: y, relative-to: ground.rail, follows: lift(t)}
forces:
  wind: {drag: e, quadratic: 0.1}
  hold: {spring: [a.q, b], stiffness: 0}
  twist: {torsion-spring: l.angle, damping: 2, preload: 1}
sensors:
  r: {reaction: j, axes: marker}
  s: {reaction: lead}
  o: {acceleration: l.angle}
  p: {position: a.j, relative-to: b.com}
  w: {energy: work}
  v: {error: velocity}
  x: {expression: "max(p.x, 0) + big"}
  h: {force: hold}
initial: {positions: {l.angle: 0.1}}
simulation:
  until: 2
  step: 0.001
  every: 0.01
  formulation: augmented-lagrangian
  integrator: hht
  start: equilibrium
  coordinates: natural
modular: {division: body, gluing: uzawa, rho: 2*g, joint-rho: {j: 1.5, l: g}}
)yaml";
    EXPECT_EQ(write_model_text(read(text)), text);
}

TEST(ModelWriter, WritesNumbersGivenInCodeWithoutLoss) {
    Model model;
    Body body;
    body.name = "a";
    body.solids.emplace_back(PointSolid{.common = {.mass = {.mass = 1.0 / 3}}});
    body.placement.position = {Number(0.1 + 0.2), Number(-1e-17), Number(12345678.9)};
    model.add_body(body);
    const Model again = rewritten(model);
    const ModelEvaluation before(model);
    const ModelEvaluation after(again);
    const BodyHandle a = again.bodies.find("a");
    EXPECT_EQ(after.mass_properties(a).mass, 1.0 / 3);
    EXPECT_EQ(after.body_frame(a).position, before.body_frame(model.bodies.find("a")).position);
}

// Markers in world axes, and markers on others: the same frames as those a joint makes.
TEST(ModelWriter, MarkersCanBeGivenInWorldAxes) {
    const Model model = read(R"(
limber: 1
bodies:
  a:
    box: {size: [1, 1, 1], mass: 1}
    at: [1, 2, 3]
    xyz: [0.3, -0.2, 0.5]
    markers: {p: [0.1, 0, 0], w: {frame: world, at: [1, 1, 1], z: [0, 1, 0]}, u: {on: a.p, z: [1, 1, 0], x: [0, 0, 1]}}
joints:
  j: {revolute: [ground, a], at: [1, 1, 1], axis: [0, 1, 0]}
  k: {spherical: [ground, a.p], axis: [1, 1, 0], x: [0, 0, 1]}
)");
    const ModelEvaluation e(model);
    const auto expect_same = [&](const char* first, const char* second) {
        const Frame a = e.marker_frame(model.marker(first));
        const Frame b = e.marker_frame(model.marker(second));
        EXPECT_EQ(a.position, b.position);
        EXPECT_EQ(a.axes, b.axes);
    };
    expect_same("a.w", "a.j");
    expect_same("a.u", "a.k");
    const auto error_of = [](const std::string& marker) {
        try {
            read("limber: 1\nbodies:\n  b: {}\n  a: {markers: {p: [0, 0, 0], m: " + marker + "}}");
        } catch (const ModelError& error) {
            return std::string(error.what());
        }
        return std::string();
    };
    EXPECT_NE(error_of("{on: b}").find("another marker of the same body"), std::string::npos);
    EXPECT_NE(error_of("{on: a.p, at: [0, 0, 0]}").find("cannot be given too"), std::string::npos);
    EXPECT_NE(error_of("{frame: earth}").find("one of body, world"), std::string::npos);
    EXPECT_NE(error_of("{on: a.m}").find("no marker 'a.m'"), std::string::npos);
}

}  // namespace
}  // namespace limber::testing
