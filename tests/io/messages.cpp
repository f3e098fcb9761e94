// What people are told who write a model for the first time, with the words of other programs in mind. Each message
// must give the place, what was found, and what to do.

#include <gtest/gtest.h>

#include <algorithm>

#include "limber/io/format.hpp"
#include "limber/io/model_file.hpp"
#include "limber/model/error.hpp"

namespace limber::testing {
namespace {

struct Mistake {
    const char* name;
    const char* yaml;
    const char* start;                  // file, line and field
    std::vector<const char*> contents;  // found, expected, what to do
};

std::string message_of(const std::string& yaml) {
    try {
        read_model_text(yaml, "m.yaml");
    } catch (const ModelError& error) {
        return error.what();
    }
    return "accepted";
}

class Messages : public ::testing::TestWithParam<Mistake> {};

TEST_P(Messages, SayWhatToDo) {
    const std::string message = message_of(GetParam().yaml);
    EXPECT_EQ(message.rfind(GetParam().start, 0), 0U) << message;
    for (const char* part : GetParam().contents) EXPECT_NE(message.find(part), std::string::npos) << message;
}

const Mistake mistakes[] = {
    // Types of other programs.
    {"hinge",
     "limber: 1\nbodies: {a: {mass: 1}}\njoints:\n  j: {hinge: [ground, a], at: [0, 0, 0]}",
     "m.yaml:4: joints.j.hinge: ",
     {"unknown joint type 'hinge'", "did you mean 'revolute'", "expected one of fixed, revolute,"}},
    {"hinge_after_its_options",
     "limber: 1\nbodies: {a: {mass: 1}}\njoints:\n  j: {at: [0, 0, 0], hinge: [ground, a]}",
     "m.yaml:4: joints.j.hinge: ",
     {"unknown joint type 'hinge'"}},
    {"capital_letter",
     "limber: 1\nbodies: {a: {mass: 1}}\njoints:\n  j: {Revolute: [ground, a]}",
     "m.yaml:4: joints.j.Revolute: ",
     {"unknown joint type 'Revolute'", "did you mean 'revolute'"}},
    {"unheard_of",
     "limber: 1\nbodies: {a: {mass: 1}}\njoints:\n  j: {gizmo: [ground, a]}",
     "m.yaml:4: joints.j.gizmo: ",
     {"unknown joint type 'gizmo'; expected one of fixed,"}},
    {"no_type",
     "limber: 1\njoints:\n  j: {at: [0, 0, 0], axis: [1, 0, 0]}",
     "m.yaml:3: joints.j: ",
     {"the type of the joint is missing: found at, axis only", "expected one of fixed,"}},
    {"damper",
     "limber: 1\nbodies: {a: {mass: 1, at: [1, 0, 0]}}\nforces:\n  d: {damper: [ground, a], damping: 3}",
     "m.yaml:4: forces.d.damper: ",
     {"unknown force type 'damper': a damper is a 'spring' with 'damping' and without 'stiffness'",
      "expected one of spring,"}},
    {"orientation_sensor",
     "limber: 1\nbodies: {a: {mass: 1}}\nsensors:\n  o: {euler: a}",
     "m.yaml:4: sensors.o.euler: ",
     {"unknown sensor type 'euler'", "write 'orientation' with 'as: zxz'", "expected one of position,"}},
    {"orientation_of_a_body",
     "limber: 1\nbodies:\n  a: {mass: 1, orientation: [1, 0, 0]}",
     "m.yaml:3: bodies.a: ",
     {"unknown key 'orientation'", "one of 'angle', 'turn', 'xyz', 'quaternion' or 'z'"}},
    {"cube",
     "limber: 1\nbodies:\n  a: {shapes: [{cube: {size: [1, 1, 1]}}]}",
     "m.yaml:3: bodies.a.shapes.[0]: ",
     {"unknown key 'cube' (did you mean 'box'?)"}},
    {"free_length_of_a_spring",
     "limber: 1\nbodies: {a: {mass: 1, at: [1, 0, 0]}}\nforces:\n  k: {spring: [ground, a], stiffness: 1, rest_length: "
     "1}",
     "m.yaml:4: forces.k: ",
     {"unknown key 'rest_length' (did you mean 'free-length'?)"}},
    {"underscore_for_hyphen",
     "limber: 1\nbodies: {a: {mass: 1, at: [1, 0, 0]}}\nforces:\n  k: {spring: [ground, a], stiffness: 1, free_length: "
     "1}",
     "m.yaml:4: forces.k: ",
     {"unknown key 'free_length' (did you mean 'free-length'?)"}},
    {"section", "limber: 1\nconstraints: {}", "m.yaml:2: ", {"unknown key 'constraints' (did you mean 'joints'?)"}},
    {"time_step",
     "limber: 1\nsimulation: {dt: 0.1}",
     "m.yaml:2: simulation: ",
     {"unknown key 'dt' (did you mean 'step'?)"}},
    // The text itself.
    {"tab", "limber: 1\nbodies:\n\ta: {mass: 1}\n", "m.yaml:3: column 1: ", {"indented with a tab", "use spaces"}},
    {"tab_after_spaces",
     "limber: 1\nbodies:\n  a:\n  \tmass: 1\n",
     "m.yaml:4: column 3: ",
     {"indented with a tab", "use spaces"}},
    {"missing_brace",
     "limber: 1\nbodies:\n  a: {mass: 1, at: [0, 0, 0]\n  b: {mass: 2}\njoints:\n  c: {fixed: [a, b]}\n",
     "m.yaml:3: column 6: ",
     {"this '{' is not closed: '}' is missing"}},
    {"missing_bracket",
     "limber: 1\nbodies:\n  # it's a [comment\n  a: {mass: 1, at: [0, 0, 0}\n  b: {mass: 2}\n",
     "m.yaml:4: column 28: ",
     {"found '}' where ']' was expected, for the '[' of line 4, column 20"}},
    {"missing_quote",
     "limber: 1\ntitle: it's fine\nbodies:\n  a: {mass: \"1}\n",
     "m.yaml:4: column 13: ",
     {"this quotation mark is not closed"}},
    {"two_colons",
     "limber: 1\ntitle: one: two\n",
     "m.yaml:2: column 11: ",
     {"a second ': ' in this line", "quotation marks"}},
    {"crooked_indent",
     "limber: 1\nbodies:\n  a: {mass: 1}\n   b: {mass: 1}\n",
     "m.yaml:4: column ",
     {"indented like its neighbours"}},
    {"xml", "<?xml version=\"1.0\"?>\n<robot/>\n", "m.yaml:1: ", {"this is XML", "YAML", "'limber: 1'"}},
    {"xml_later", "\n\n<mujoco/>\n", "m.yaml:3: ", {"this is XML"}},
    // Numbers.
    {"unit",
     "limber: 1\nbodies:\n  a: {mass: 1 kg}",
     "m.yaml:3: bodies.a.mass: ",
     {"unexpected 'k'", "SI units", "\"1 kg\""}},
    {"decimal_comma",
     "limber: 1\nbodies:\n  a: {mass: \"1,5\"}",
     "m.yaml:3: bodies.a.mass: ",
     {"unexpected ','", "the decimal sign is a point"}},
    // Names.
    {"hyphen_in_a_body",
     "limber: 1\nbodies:\n  left-arm: {mass: 1}",
     "m.yaml:3: bodies.left-arm: ",
     {"'left-arm' cannot be a name", "a hyphen is a minus", "write 'left_arm'"}},
    {"hyphen_in_a_parameter",
     "limber: 1\nparameters: {my-mass: 1}",
     "m.yaml:2: parameters.my-mass: ",
     {"a hyphen is a minus", "write 'my_mass'"}},
    {"hyphen_in_an_expression",
     "limber: 1\nparameters: {my_mass: 1}\nbodies:\n  a: {mass: 2*my-mass}",
     "m.yaml:4: bodies.a.mass: ",
     {"unknown name 'my' in \"2*my-mass\"", "a hyphen is a minus: did you mean 'my_mass'?"}},
    {"hyphen_in_a_law",
     "limber: 1\nparameters: {rest_force: 1}\nbodies: {a: {mass: 1, at: [1, 0, 0]}}\n"
     "forces:\n  k: {spring: [ground, a], law: rest-force + x}",
     "m.yaml:5: force 'k': ",
     {"unknown name 'rest'", "a hyphen is a minus: did you mean 'rest_force'?"}},
    {"reserved",
     "limber: 1\nparameters: {v: 1}",
     "m.yaml:2: parameters.v: ",
     {"'v' has a meaning of its own", "t, x, v, pi, not", "another name"}},
    {"other_strange_name", "limber: 1\nbodies:\n  1st: {mass: 1}", "m.yaml:3: bodies.1st: ", {"start with a letter"}},
};

INSTANTIATE_TEST_SUITE_P(All, Messages, ::testing::ValuesIn(mistakes),
                         [](const auto& info) { return std::string(info.param.name); });

// A word of another program must not be one of ours in the same place.
TEST(Messages, KnowEveryTypeByItsOwnName) {
    for (const TypeFormat& format : joint_formats()) {
        const std::string yaml = std::string("limber: 1\njoints:\n  j: {") + format.name + ": 1}";
        EXPECT_EQ(message_of(yaml).find("unknown joint type"), std::string::npos) << format.name;
    }
    for (const TypeFormat& format : force_formats()) {
        const std::string yaml = std::string("limber: 1\nforces:\n  f: {") + format.name + ": 1}";
        EXPECT_EQ(message_of(yaml).find("unknown force type"), std::string::npos) << format.name;
    }
}

}  // namespace
}  // namespace limber::testing
