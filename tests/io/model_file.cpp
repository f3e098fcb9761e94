// Model files: what they may say, and what they are told when they are wrong.

#include "limber/io/model_file.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>

#include "limber/io/format.hpp"
#include "support/models.hpp"

namespace limber::testing {
namespace {

std::string error_of(const std::string& yaml, const ParameterOverrides& overrides = {}) {
    try {
        read_model_text(yaml, "m.yaml", overrides);
    } catch (const ModelError& error) {
        return error.what();
    }
    return "";
}

TEST(ModelFile, ReadsADoublePendulumOfTwentyLines) {
    const Model model = example("double-pendulum.yaml");
    EXPECT_TRUE(model.planar);
    EXPECT_EQ(model.bodies.size(), 3U);  // with the ground
    EXPECT_EQ(model.joints.size(), 2U);
    std::ifstream file(std::string(LIMBER_EXAMPLES) + "/double-pendulum.yaml");
    int lines = 0;
    for (std::string line; std::getline(file, line);) ++lines;
    EXPECT_LE(lines, 20);
}

// Files that others include are no models by themselves.
bool is_part(const std::filesystem::path& path) {
    return path.parent_path().filename() == "parts";
}

TEST(ModelFile, ReadsEveryExample) {
    int count = 0;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(LIMBER_EXAMPLES)) {
        if (entry.path().extension() != ".yaml" || is_part(entry.path())) continue;
        EXPECT_NO_THROW(read_model_file(entry.path().string())) << entry.path();
        ++count;
    }
    EXPECT_GT(count, 35);
}

// At least one example per joint type, per force and for drivers of both kinds.
TEST(ModelFile, ExamplesShowEveryElement) {
    std::set<std::size_t> joints;
    std::set<std::size_t> forces;
    bool drives_coordinate = false;
    bool drives_marker = false;
    bool drives_by_table = false;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(LIMBER_EXAMPLES)) {
        if (entry.path().extension() != ".yaml" || is_part(entry.path())) continue;
        const Model model = read_model_file(entry.path().string()).model;
        for (const auto h : model.joints.handles()) joints.insert(model.joints.get(h).type.index());
        for (const auto h : model.forces.handles()) forces.insert(model.forces.get(h).type.index());
        for (const auto h : model.drivers.handles()) {
            const Driver& driver = model.drivers.get(h);
            (driver.marker.is_null() ? drives_coordinate : drives_marker) = true;
            drives_by_table = drives_by_table || driver.law.table.has_value();
        }
    }
    EXPECT_EQ(joints.size(), joint_formats().size());
    EXPECT_EQ(forces.size(), force_formats().size());
    EXPECT_TRUE(drives_coordinate);
    EXPECT_TRUE(drives_marker);
    EXPECT_TRUE(drives_by_table);
}

TEST(ModelFile, UnrollsLoops) {
    const Model model = example("n-four-bar.yaml", {{"N", "3"}});
    EXPECT_EQ(model.bodies.size(), 1U + 4U + 3U);
    EXPECT_FALSE(model.bodies.find("crank3").is_null());
    EXPECT_TRUE(model.bodies.find("crank4").is_null());
    EXPECT_FALSE(model.joints.find("right2").is_null());
    EXPECT_EQ(example("n-four-bar.yaml", {{"N", "1"}}).bodies.size(), 4U);
}

TEST(ModelFile, UnrollsNestedLoopsAndIndicesInExpressions) {
    const Model model = read(R"(
limber: 1
parameters: {n: 2, size: 0.5}
bodies:
  for i in 0..n:
    for j in 1..2:
      b<i><j>: {point: {mass: 1 + i}, at: [i*size, j, -i]}
sensors:
  for i in 0..n:
    for j in 1..2:
      s<i><j>: {position: b<i><j>}
  sum: {expression: s<n><n-1>.x + s<0><2>.y}
)");
    EXPECT_EQ(model.bodies.size(), 1U + 6U);
    Simulation s(model);
    EXPECT_DOUBLE_EQ(sense(s, "s21.x"), 1);
    EXPECT_DOUBLE_EQ(sense(s, "s21.z"), -2);
    EXPECT_DOUBLE_EQ(sense(s, "sum"), 3);
}

TEST(ModelFile, OverridesParameters) {
    Simulation s(example("double-pendulum.yaml", {{"l", "2*1.5"}}));
    EXPECT_DOUBLE_EQ(sense(s, "tip.x"), 3);
    EXPECT_NE(error_of("{limber: 1, parameters: {length: 1}}", {{"lenght", "2"}}).find("did you mean 'length'"),
              std::string::npos);
    EXPECT_NE(error_of("{limber: 1, parameters: {a: 1}}", {{"a", "2*"}}).find("ends too early"), std::string::npos);
}

TEST(ModelFile, IncludesOtherFiles) {
    const auto folder = std::filesystem::temp_directory_path() / "limber_include_test";
    std::filesystem::create_directories(folder / "parts");
    std::ofstream(folder / "main.yaml") << "limber: 1\ninclude: [parts/base.yaml]\nbodies: {b: {point: {mass: m}}}\n"
                                           "sensors: {p: {position: a}}\n";
    std::ofstream(folder / "parts/base.yaml") << "parameters: {m: 2}\nbodies: {a: {point: {mass: m}, at: [1, 2, 3]}}\n";
    Simulation s(read_model_file((folder / "main.yaml").string()).model);
    EXPECT_DOUBLE_EQ(sense(s, "p.y"), 2);
    // Its title stays unless the file has one; bodies of it may be given markers, and the ground shapes.
    std::ofstream(folder / "parts/base.yaml")
        << "title: Base\nbodies:\n  a: {point: {mass: 1}, at: [1, 2, 3]}\n  ground: {shapes: [{plane: {}}]}\n";
    std::ofstream(folder / "main.yaml")
        << "limber: 1\ninclude: parts/base.yaml\nbodies:\n  a: {markers: {tip: [1, 0, 0]}}\n"
           "  ground: {shapes: [{sphere: {radius: 1}}]}\nsensors: {p: {position: a.tip}}\n";
    const Model merged = read_model_file((folder / "main.yaml").string()).model;
    EXPECT_EQ(merged.title, "Base");
    EXPECT_EQ(merged.bodies.get(merged.ground()).shapes->size(), 2U);
    Simulation with_tip(merged);
    EXPECT_DOUBLE_EQ(sense(with_tip, "p.x"), 2);
    const auto refusal = [&](const std::string& more) -> std::string {
        std::ofstream(folder / "main.yaml") << "limber: 1\ninclude: parts/base.yaml\n" << more;
        try {
            read_model_file((folder / "main.yaml").string());
        } catch (const ModelError& error) {
            return error.what();
        }
        return "";
    };
    EXPECT_EQ(refusal("title: Main"), "");
    EXPECT_EQ(read_model_file((folder / "main.yaml").string()).model.title, "Main");
    EXPECT_NE(refusal("bodies:\n  a: {mass: 2}").find("main.yaml:4: bodies.a: body 'a' exists already"),
              std::string::npos);
    EXPECT_NE(refusal("bodies:\n  a: {markers: {tip: [1, 0, 0]}, mass: 2}").find("only 'markers' can be added"),
              std::string::npos);
    EXPECT_NE(refusal("bodies:\n  a: {markers: {com: [1, 0, 0]}}").find("marker 'a.com' exists already"),
              std::string::npos);
    std::ofstream(folder / "main.yaml") << "limber: 1\ninclude: [parts/base.yaml]\nbodies: {b: {point: {mass: m}}}\n"
                                           "sensors: {p: {position: a}}\n";
    // Files that include each other are read once.
    std::ofstream(folder / "parts/base.yaml")
        << "include: ../main.yaml\nbodies: {a: {point: {mass: 1}}}\nparameters: {m: 1}\n";
    EXPECT_NO_THROW(read_model_file((folder / "main.yaml").string()));
    std::ofstream(folder / "main.yaml") << "limber: 1\ninclude: nothing.yaml\n";
    try {
        read_model_file((folder / "main.yaml").string());
        FAIL();
    } catch (const ModelError& error) {
        EXPECT_NE(std::string(error.what()).find("main.yaml:2: include: cannot read"), std::string::npos)
            << error.what();
    }
    std::filesystem::remove_all(folder);
    EXPECT_NE(error_of("limber: 1\ninclude: other.yaml").find("may not include"), std::string::npos);
}

struct BadInput {
    const char* name;
    const char* yaml;
    const char* place;     // file and line the message must give
    const char* fragment;  // and what it must say
};

class BadModel : public ::testing::TestWithParam<BadInput> {};

TEST_P(BadModel, IsRefusedWithPlaceFieldAndExpectation) {
    const std::string message = error_of(GetParam().yaml);
    EXPECT_EQ(message.rfind(GetParam().place, 0), 0U) << message;
    EXPECT_NE(message.find(GetParam().fragment), std::string::npos) << message;
}

const BadInput bad_inputs[] = {
    {"empty", "", "m.yaml:", "expected a model"},
    {"list", "- 1\n- 2", "m.yaml:1", "expected a model"},
    {"no_version", "title: x", "m.yaml:1", "'limber: 1'"},
    {"other_version", "limber: 2", "m.yaml:1: limber", "expected version 1, found '2'"},
    {"broken_yaml", "limber: 1\nbodies: {a: [1, 2}", "m.yaml:2: column", ""},
    {"unknown_section", "limber: 1\nbodys: {}", "m.yaml:2", "did you mean 'bodies'"},
    {"unknown_key", "limber: 1\nbodies:\n  a: {mas: 1}", "m.yaml:3: bodies.a", "did you mean 'mass'"},
    {"double_key", "limber: 1\nbodies:\n  a: {mass: 1, mass: 2}", "m.yaml:3: bodies.a", "comes twice"},
    {"double_body", "limber: 1\nbodies:\n  a: {}\n  a: {}", "m.yaml:4: bodies.a", "comes twice"},
    {"bad_name", "limber: 1\nbodies:\n  a-b: {}", "m.yaml:3: bodies.a-b", "cannot be a name"},
    {"bad_plane", "limber: 1\nplane: xz", "m.yaml:2: plane", "expected one of xy, found 'xz'"},
    {"short_vector", "limber: 1\nbodies:\n  a: {at: [1, 2]}", "m.yaml:3: bodies.a.at",
     "expected 3 numbers [x, y, z], found a list of 2"},
    {"long_vector", "limber: 1\nplane: xy\nbodies:\n  a: {at: [1, 2, 3]}", "m.yaml:4: bodies.a.at",
     "expected 2 numbers [x, y]"},
    {"not_a_number", "limber: 1\nbodies:\n  a: {mass: [1]}", "m.yaml:3: bodies.a.mass", "expected a number"},
    {"bad_expression", "limber: 1\nbodies:\n  a: {mass: 2*}", "m.yaml:3: bodies.a.mass", "ends too early"},
    {"unknown_parameter", "limber: 1\nparameters: {width: 1}\nbodies:\n  a: {mass: widht}", "m.yaml:4: bodies.a.mass",
     "did you mean 'width'"},
    {"mass_in_time", "limber: 1\nbodies:\n  a: {mass: 1 + t}", "m.yaml:3: bodies.a.mass", "must not depend on time"},
    {"negative_mass", "limber: 1\nbodies:\n  a: {mass: -1}", "m.yaml:3: body 'a'", "must not be negative"},
    {"reserved_parameter", "limber: 1\nparameters: {t: 1}", "m.yaml:2: parameters.t", "meaning of its own"},
    {"circular_parameter", "limber: 1\nparameters:\n  a: b\n  b: a", "m.yaml:", "in terms of itself"},
    {"infinite_parameter", "limber: 1\nparameters:\n  a: 1/0", "m.yaml:3: parameters.a", "not a finite number"},
    {"mass_and_density", "limber: 1\nbodies:\n  a: {sphere: {radius: 1, mass: 1, density: 2}}",
     "m.yaml:3: bodies.a.sphere.density", "not both"},
    {"missing_radius", "limber: 1\nbodies:\n  a: {sphere: {mass: 1}}", "m.yaml:3: bodies.a.sphere",
     "'radius' is missing"},
    {"rod_placed_twice", "limber: 1\nbodies:\n  a: {rod: {from: [0, 0, 0], to: [1, 0, 0]}, at: [1, 0, 0]}",
     "m.yaml:3: bodies.a", "a rod fixes the pose"},
    {"zero_rod", "limber: 1\nbodies:\n  a: {rod: {from: [0, 0, 0], to: [0, 0, 0], mass: 1}}", "m.yaml:3: body 'a'",
     "same point"},
    {"two_orientations", "limber: 1\nbodies:\n  a: {angle: 1, xyz: [0, 0, 0]}", "m.yaml:3: bodies.a.xyz",
     "given by 'angle' already"},
    {"zero_direction", "limber: 1\nbodies:\n  a: {z: [0, 0, 0]}", "m.yaml:3: body 'a'", "must not be zero"},
    {"unknown_joint_type", "limber: 1\nbodies: {a: {}}\njoints:\n  j: {revolut: [ground, a]}", "m.yaml:4: joints.j",
     "did you mean 'revolute'"},
    {"two_joint_types", "limber: 1\nbodies: {a: {}}\njoints:\n  j: {revolute: [ground, a], fixed: [ground, a]}",
     "m.yaml:4: joints.j", "both 'fixed' and 'revolute'"},
    {"joint_without_type", "limber: 1\njoints:\n  j: {}", "m.yaml:3: joints.j", "the type of the joint is missing"},
    {"joint_one_marker", "limber: 1\nbodies: {a: {}}\njoints:\n  j: {revolute: [a]}", "m.yaml:4: joints.j.revolute",
     "expected two markers"},
    {"joint_unknown_body", "limber: 1\nbodies: {crank: {}}\njoints:\n  j: {revolute: [ground, cranck]}",
     "m.yaml:4: joints.j.revolute.[1]", "did you mean 'crank'"},
    {"rho_of_unknown_joint",
     "limber: 1\nbodies: {a: {}}\njoints: {pivot: {revolute: [ground, a]}}\nmodular:\n  joint-rho: {pivto: 1}",
     "m.yaml:5: modular.joint-rho.pivto", "did you mean 'pivot'"},
    {"rho_not_positive",
     "limber: 1\nbodies: {a: {}}\njoints: {pivot: {revolute: [ground, a]}}\nmodular:\n  joint-rho: {pivot: -1}",
     "m.yaml:5: modular.joint-rho.pivot", "expected a positive number, found -1"},
    {"joint_unknown_marker",
     "limber: 1\nbodies:\n  crank: {markers: {tip: [1, 0, 0]}}\njoints:\n  j: {revolute: [ground, crank.tp]}",
     "m.yaml:5: joints.j.revolute.[1]", "did you mean 'crank.tip'"},
    {"joint_same_body", "limber: 1\nbodies: {a: {}}\njoints:\n  j: {revolute: [a, a]}", "m.yaml:4: joint 'j'",
     "same body"},
    {"joint_wrong_option", "limber: 1\nbodies: {a: {}}\njoints:\n  j: {revolute: [ground, a], pitch: 1}",
     "m.yaml:4: joints.j", "unknown key 'pitch'"},
    {"joint_missing_option", "limber: 1\nbodies: {a: {}}\njoints:\n  j: {helical: [ground, a]}", "m.yaml:4: joints.j",
     "'pitch' is missing"},
    {"spatial_joint_in_plane", "limber: 1\nplane: xy\nbodies: {a: {}}\njoints:\n  j: {spherical: [ground, a]}",
     "m.yaml:5: joints.j", "needs a spatial model"},
    {"zero_distance", "limber: 1\nbodies: {a: {}}\njoints:\n  j: {distance: [ground, a]}", "m.yaml:4: joint 'j'",
     "must be positive"},
    {"unknown_coordinate",
     "limber: 1\nbodies: {a: {}}\njoints:\n  j: {revolute: [ground, a]}\ndrivers:\n  d: {coordinate: j.angel, follows: "
     "t}",
     "m.yaml:6: driver 'd'", "has the coordinate(s) angle"},
    {"coordinate_of_a_ball",
     "limber: 1\nbodies: {a: {}}\njoints:\n  j: {spherical: [ground, a]}\ndrivers:\n  d: {coordinate: j.angle, "
     "follows: t}",
     "m.yaml:6: driver 'd'", "has no coordinate"},
    {"driver_without_law",
     "limber: 1\nbodies: {a: {}}\njoints:\n  j: {revolute: [ground, a]}\ndrivers:\n  d: {coordinate: j.angle}",
     "m.yaml:6: drivers.d", "'follows' (an expression of t) or 'table'"},
    {"unknown_curve", "limber: 1\nbodies: {a: {}}\njoints:\n  j: {point-on-curve: [ground, a], curve: wire}",
     "m.yaml:4: joints.j.curve", "no curve 'wire'"},
    {"short_table", "limber: 1\ntables:\n  f: {rows: [[0, 1]]}", "m.yaml:3: tables.f.rows", "at least two rows"},
    {"table_not_growing", "limber: 1\ntables:\n  f: {rows: [[0, 1], [0, 2]]}", "m.yaml:3: table 'f'", "must grow"},
    {"table_row", "limber: 1\ntables:\n  f: {rows: [[0, 1], [1]]}", "m.yaml:3: tables.f.rows.[1]",
     "expected a row [x, y]"},
    {"spring_without_law", "limber: 1\nbodies: {a: {at: [1, 0, 0]}}\nforces:\n  k: {spring: [ground, a]}",
     "m.yaml:4: forces.k", "expected 'stiffness'"},
    {"spring_two_laws",
     "limber: 1\nbodies: {a: {at: [1, 0, 0]}}\nforces:\n  k: {spring: [ground, a], stiffness: 1, law: x}",
     "m.yaml:4: forces.k", "give one of"},
    {"spring_unknown_name", "limber: 1\nbodies: {a: {at: [1, 0, 0]}}\nforces:\n  k: {spring: [ground, a], law: 3*y}",
     "m.yaml:4: force 'k'", "unknown name 'y'"},
    {"bushing_size", "limber: 1\nbodies: {a: {}}\nforces:\n  k: {bushing: [ground, a], stiffness: [1, 2, 3]}",
     "m.yaml:4: force 'k'", "takes 6 numbers"},
    {"unknown_function", "limber: 1\nbodies:\n  a: {mass: sqr(2)}", "m.yaml:3: body 'a'", "did you mean 'sqrt'"},
    {"unknown_sensor_joint", "limber: 1\nsensors:\n  s: {reaction: pivot}", "m.yaml:3: sensors.s.reaction",
     "no joint or driver 'pivot'"},
    {"unknown_energy", "limber: 1\nsensors:\n  s: {energy: kinetik}", "m.yaml:3: sensors.s.energy",
     "did you mean 'kinetic'"},
    {"bad_loop", "limber: 1\nbodies:\n  for i in 0..x:\n    a<i>: {}", "m.yaml:3: bodies", "unknown name 'x'"},
    {"half_loop", "limber: 1\nbodies:\n  for i in 0..2.5:\n    a<i>: {}", "m.yaml:3: bodies", "whole number"},
    {"long_loop", "limber: 1\nbodies:\n  for i in 0..1e8:\n    a<i>: {}", "m.yaml:3: bodies", "too long"},
    {"open_index", "limber: 1\nbodies:\n  a<1: {}", "m.yaml:3: bodies", "'<' without '>'"},
    {"deep", "limber: 1\nbodies: [[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[1]]]]", "m.yaml:2",
     "nested too deeply"},
    {"initial_unknown", "limber: 1\ninitial:\n  positions:\n    j.angle: 1", "m.yaml:4: initial value of 'j.angle'",
     "no joint coordinate"},
};

INSTANTIATE_TEST_SUITE_P(All, BadModel, ::testing::ValuesIn(bad_inputs),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(ModelFile, SaysWhenAFileIsMissing) {
    try {
        read_model_file("no/such/file.yaml");
        FAIL();
    } catch (const ModelError& error) {
        EXPECT_NE(std::string(error.what()).find("cannot read the file 'no/such/file.yaml'"), std::string::npos);
    }
    EXPECT_THROW(read_model_file(LIMBER_EXAMPLES), ModelError) << "a folder is not a file";
}

TEST(ModelFile, BoundsTheWorkOfAliases) {
    // Aliases that double at each level would unfold to 2^40 nodes.
    std::string bomb = "limber: 1\nsensors:\n  a0: &a0 [1, 1]\n";
    for (int i = 1; i < 40; ++i)
        bomb += "  a" + std::to_string(i) + ": &a" + std::to_string(i) + " [*a" + std::to_string(i - 1) + ", *a" +
                std::to_string(i - 1) + "]\n";
    EXPECT_FALSE(error_of(bomb).empty());
    // The same where nested lists of numbers are read.
    std::string numbers = "limber: 1\nbodies:\n  a:\n    inertia:\n      - &b0 [1, 1]\n";
    for (int i = 1; i < 40; ++i) {
        const std::string before = "*b" + std::to_string(i - 1);
        numbers += "      - &b" + std::to_string(i) + " [" + before + ", " + before + "]\n";
    }
    EXPECT_NE(error_of(numbers).find("too large"), std::string::npos);
}

}  // namespace
}  // namespace limber::testing
