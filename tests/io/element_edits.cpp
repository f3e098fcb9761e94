// Edits of single elements: added, changed, removed, refused.

#include "limber/io/element_edits.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>

#include "support/model_text.hpp"

namespace limber::testing {
namespace {

Model machine() {
    return read(R"(limber: 1
parameters: {l: 1, m: 2*l, spare: 3}
tables:
  lift: {rows: [[0, 0], [1, 2]]}
curves:
  path: {points: [[0, 0, 0], [1, 0, 0], [2, 1, 0]]}
roads:
  flat: {height: 0}
bodies:
  crank: {rod: {from: [0, 0, 0], to: [l, 0, 0], mass: m}, markers: {mid: [l/2, 0, 0]}}
  link: {box: {size: [1, 0.1, 0.1], mass: 1}, at: [1.5, 0, 0], markers: {tip: [0.5, 0, 0]}}
  free: {sphere: {radius: 0.1, mass: 1}, at: [0, 5, 0]}
joints:
  pivot: {revolute: [ground, crank], axis: [0, 1, 0]}
  pin: {revolute: [crank, link], at: [1, 0, 0], axis: [0, 1, 0]}
drivers:
  turn: {coordinate: pivot.angle, follows: lift(t)}
forces:
  k: {spring: [crank.mid, link.tip], stiffness: 100}
  drive: {motor: pin.angle, law: -pivot.angle - 0.1*v}
sensors:
  tip: {position: link.tip}
  swing: {coordinate: pin.angle}
  load: {reaction: pin}
  turning: {reaction: turn}
  stretch: {force: k}
  height: {expression: 2*tip.z + l}
initial:
  positions: {pin.angle: 0.1}
  rates: {pin.angle: l}
simulation: {until: 1, step: 0.001}
)");
}

std::string error_of(Model& model, const std::function<void(Model&)>& edit) {
    const std::string before = write_model_text(model);
    std::string message;
    try {
        edit(model);
    } catch (const ModelError& error) {
        message = error.what();
        EXPECT_EQ(write_model_text(model), before) << "a refused edit changes nothing";
    }
    return message;
}

std::string error_of_add(Model& model, const std::string& section, const std::string& name, const std::string& yaml) {
    return error_of(model, [&](Model& m) { add_element(m, section, name, yaml); });
}
std::string error_of_set(Model& model, const std::string& path, const std::string& yaml) {
    return error_of(model, [&](Model& m) { set_property(m, path, yaml); });
}
std::string error_of_remove(Model& model, const std::string& section, const std::string& name) {
    return error_of(model, [&](Model& m) { remove_element(m, section, name, false); });
}

#define EXPECT_SAYS(message, words) EXPECT_NE((message).find(words), std::string::npos) << "said: " << (message)

void expect_readable(const Model& model) {
    const std::string text = write_model_text(model);
    try {
        EXPECT_EQ(write_model_text(read(text)), text);
    } catch (const ModelError& error) {
        ADD_FAILURE() << error.what() << "\nin\n" << text;
    }
}

TEST(AddElement, GivesWhatTheFileWouldGive) {
    // A model built element by element is the one read from the file.
    const Model whole = machine();
    Model model = read("limber: 1\ninitial: {}\nsimulation: {until: 1, step: 0.001}\n");
    const auto copy = [&](const char* section, const std::vector<std::string>& names) {
        for (const auto& name : names) {
            if (name == "ground") continue;
            add_element(model, section, name, write_element(whole, section, name));
        }
    };
    copy("parameters", whole.parameters.names());
    copy("tables", whole.tables.names());
    copy("curves", whole.curves.names());
    copy("roads", whole.roads.names());
    copy("bodies", whole.bodies.names());
    copy("joints", whole.joints.names());
    copy("drivers", whole.drivers.names());
    copy("forces", whole.forces.names());
    copy("sensors", whole.sensors.names());
    set_property(model, "initial.positions.pin.angle", "0.1");
    set_property(model, "initial.rates.pin.angle", "l");
    EXPECT_EQ(write_model_text(model), write_model_text(whole));
    expect_same_motion(whole, model, 20);
}

TEST(AddElement, AddsMarkersByBodyAndName) {
    Model model = machine();
    add_element(model, "markers", "link.eye", "{at: [0.1, 0, 0], z: [1, 0, 0]}");
    add_element(model, "sensors", "eye", "{position: link.eye}");
    EXPECT_EQ(write_element(model, "markers", "link.eye"), "{at: [0.1, 0, 0], z: [1, 0, 0]}");
    EXPECT_SAYS(write_element(model, "bodies", "link"), "eye: {at: [0.1, 0, 0], z: [1, 0, 0]}");
    expect_readable(model);
    EXPECT_SAYS(error_of_add(model, "markers", "lnik.eye", "[0, 0, 0]"), "did you mean 'link'");
    EXPECT_SAYS(error_of_add(model, "markers", "link", "[0, 0, 0]"), "expected body.marker");
    EXPECT_SAYS(error_of_add(model, "markers", "link.eye", "[0, 0, 0]"), "marker 'link.eye' exists already");
}

TEST(AddElement, ErrorsNameElementAndField) {
    Model model = machine();
    EXPECT_SAYS(error_of_add(model, "joints", "j", "{revolut: [ground, link]}"),
                "joints.j.revolut: unknown joint type 'revolut'");
    EXPECT_SAYS(error_of_add(model, "joints", "j", "{revolute: [ground, lnik]}"), "did you mean 'link'");
    EXPECT_SAYS(error_of_add(model, "joints", "pin", "{revolute: [ground, link]}"), "joint 'pin' exists already");
    EXPECT_SAYS(error_of_add(model, "forces", "f", "{spring: [ground, link], stiffness: kk}"), "forces.f.stiffness");
    EXPECT_SAYS(error_of_add(model, "forces", "f", "{spring: [ground"), "edit:1");
    EXPECT_SAYS(error_of_add(model, "bodies", "a b", "{}"), "cannot be a name");
    EXPECT_SAYS(error_of_add(model, "bodies", "for i in 1..3", "{b<i>: {}}"), "cannot be a name");
    EXPECT_SAYS(error_of_add(model, "bodys", "b", "{}"), "did you mean 'bodies'");
    EXPECT_SAYS(error_of_add(model, "parameters", "l", "2"), "parameter 'l' exists already");
    EXPECT_SAYS(error_of_add(model, "parameters", "n", "n + 1"), "in terms of itself");
    EXPECT_SAYS(error_of_add(model, "parameters", "t", "1"), "meaning of its own");
    // The joint comes after its first marker has been made: neither stays.
    EXPECT_SAYS(error_of_add(model, "joints", "j", "{helical: [ground, link], at: [0, 0, 0], pitch: x}"),
                "joints.j.pitch");
}

TEST(RemoveElement, NamesWhatDependsOnIt) {
    Model model = machine();
    const std::string body = error_of_remove(model, "bodies", "link");
    for (const char* user :
         {"joint 'pin'", "force 'k'", "force 'drive'", "sensor 'tip'", "sensor 'height'", "sensor 'load'",
          "sensor 'stretch'", "initial value of 'pin.angle'", "initial rate of 'pin.angle'"})
        EXPECT_SAYS(body, user);
    EXPECT_EQ(body.find("driver"), std::string::npos) << body;
    EXPECT_EQ(body.find("pivot"), std::string::npos) << body;
    EXPECT_EQ(body.find("marker"), std::string::npos) << body;
    EXPECT_SAYS(error_of_remove(model, "joints", "pivot"), "driver 'turn', force 'drive' and sensor 'turning'");
    EXPECT_SAYS(error_of_remove(model, "tables", "lift"), "driver 'turn'");
    EXPECT_SAYS(error_of_remove(model, "parameters", "m"), "needed by body 'crank'");
    EXPECT_SAYS(error_of_remove(model, "parameters", "l"), "parameter 'm'");
    EXPECT_SAYS(error_of_remove(model, "markers", "link.tip"), "force 'k'");
    EXPECT_SAYS(error_of_remove(model, "forces", "k"), "sensor 'stretch'");
    EXPECT_SAYS(error_of_remove(model, "sensors", "tip"), "sensor 'height'");
    EXPECT_SAYS(error_of_remove(model, "drivers", "turn"), "sensor 'turning'");
    EXPECT_SAYS(error_of_remove(model, "bodies", "lnk"), "there is no body 'lnk' (did you mean 'link'?)");
    EXPECT_SAYS(error_of_remove(model, "bodies", "ground"), "the ground cannot be removed");
    EXPECT_SAYS(error_of_remove(model, "markers", "link.com"), "belongs to body 'link'");
    EXPECT_SAYS(error_of_remove(model, "markers", "link.pin"), "belongs to joint 'pin'");
}

TEST(RemoveElement, RemovesWhatIsFree) {
    Model model = machine();
    EXPECT_EQ(remove_element(model, "bodies", "free", false), std::vector<std::string>{"body 'free'"});
    EXPECT_TRUE(model.markers.find("free.origin").is_null());
    EXPECT_EQ(remove_element(model, "parameters", "spare", false), std::vector<std::string>{"parameter 'spare'"});
    remove_element(model, "curves", "path", false);
    remove_element(model, "roads", "flat", false);
    remove_element(model, "sensors", "height", false);
    EXPECT_EQ(model.parameters.names(), (std::vector<std::string>{"l", "m"}));
    expect_readable(model);
}

TEST(RemoveElement, TakesDependentsAlong) {
    Model model = machine();
    const Model before = model;
    const auto removed = remove_element(model, "joints", "pin", true);
    EXPECT_EQ(removed.front(), "joint 'pin'");
    EXPECT_EQ(removed.size(), 6U) << fmt::format("{}", fmt::join(removed, ", "));
    EXPECT_TRUE(model.markers.find("crank.pin").is_null()) << "made for the joint";
    EXPECT_TRUE(model.markers.find("link.pin").is_null());
    EXPECT_EQ(model.forces.names(), std::vector<std::string>{"k"});
    EXPECT_TRUE(model.initial_positions.empty());
    expect_readable(model);
    expect_readable(before);
    EXPECT_EQ(write_model_text(before), write_model_text(machine()));

    Model bare = machine();
    remove_element(bare, "bodies", "crank", true);
    remove_element(bare, "bodies", "link", true);
    EXPECT_EQ(bare.joints.size() + bare.forces.size() + bare.drivers.size() + bare.sensors.size(), 0U);
    expect_readable(bare);
}

TEST(RemoveElement, KeepsWhatGravityAndSimulationNeed) {
    Model model = read("limber: 1\nparameters: {g: 9.81, h: 0.001}\ngravity: [0, 0, -g]\nsimulation: {step: h}\n");
    EXPECT_SAYS(error_of(model, [](Model& m) { remove_element(m, "parameters", "g", true); }), "needed by gravity");
    EXPECT_SAYS(error_of(model, [](Model& m) { remove_element(m, "parameters", "h", true); }), "needed by simulation");
}

// A sensor may have the name of a joint: each keeps its own dependents.
TEST(RemoveElement, TellsJointsFromSensorsOfTheSameName) {
    Model model = machine();
    add_element(model, "sensors", "pivot", "{position: free}");
    EXPECT_EQ(remove_element(model, "sensors", "pivot", false).size(), 1U) << "pivot.angle in the law is the joint's";
    add_element(model, "sensors", "pivot", "{position: free}");
    add_element(model, "forces", "f", "{motor: pin.angle, law: pivot.x}");
    EXPECT_SAYS(error_of_remove(model, "sensors", "pivot"), "force 'f'");
    EXPECT_EQ(error_of_remove(model, "joints", "pivot").find("force 'f'"), std::string::npos);
}

// Nor do sensors named like a parameter or like the elongation of a law keep others from being removed.
TEST(RemoveElement, TellsSensorsFromOtherNames) {
    Model model = machine();
    for (const char* name : {"l", "v", "x"}) add_element(model, "sensors", name, "{coordinate: pin.angle}");
    set_property(model, "forces.drive.law", "-x - 0.1*v*l");
    for (const char* name : {"v", "x"}) EXPECT_EQ(remove_element(model, "sensors", name, false).size(), 1U);
    EXPECT_SAYS(error_of_remove(model, "sensors", "l"), "needed by sensor 'height'");
    EXPECT_EQ(error_of_remove(model, "sensors", "l").find("force"), std::string::npos) << "the law means the parameter";
    add_element(model, "sensors", "x", "{coordinate: pin.angle}");
    add_element(model, "joints", "brake", "{velocity: {pivot.angle: 1 + x}}");
    EXPECT_SAYS(error_of_remove(model, "sensors", "x"), "needed by joint 'brake'");
}

TEST(SetProperty, ChangesOneValueAndKeepsHandles) {
    Model model = machine();
    const Model before = model;
    const std::vector<std::pair<std::string, std::string>> edits{
        {"parameters.m", "3*l"},
        {"gravity", "[0, 0, -1.62]"},
        {"gravity.2", "-1.6"},
        {"title", "Moon"},
        {"tables.lift.interpolation", "linear"},
        {"curves.path.points.1", "[1, 0.5, 0]"},
        {"roads.flat.height", "0.1*x"},
        {"bodies.crank.rod.mass", "m/2"},
        {"bodies.crank.rod.to.0", "l + 0.1"},
        {"bodies.link.box.color", "'#00ff00'"},
        {"bodies.link.at", "[1.6, 0, 0]"},
        {"bodies.crank.markers.mid", "[0.3, 0, 0]"},
        {"bodies.crank.markers.mid.z", "[0, 1, 0]"},
        {"markers.link.tip.at", "[0.4, 0, 0]"},
        {"joints.pin.at.0", "1.1"},
        {"joints.pivot.cut", "true"},
        {"drivers.turn.follows", "2*lift(t)"},
        {"forces.k.stiffness", "50"},
        {"forces.k.damping", "5"},
        {"sensors.load.axes", "marker"},
        {"initial.positions.pin.angle", "0.2"},
        {"initial.rates.pivot.angle", "1"},
        {"simulation.every", "0.01"},
    };
    for (const auto& [path, yaml] : edits) {
        const std::string text = write_model_text(model);
        ASSERT_NO_THROW(set_property(model, path, yaml)) << path;
        EXPECT_NE(write_model_text(model), text) << path;
        expect_readable(model);
    }
    EXPECT_EQ(model.title, "Moon");
    EXPECT_EQ(write_element(model, "forces", "k"), "{spring: [crank.mid, link.tip], stiffness: 50, damping: 5}");
    EXPECT_EQ(write_element(model, "joints", "pin"), "{revolute: [crank, link], at: [1.1, 0, 0], axis: [0, 1, 0]}");
    EXPECT_EQ(write_element(model, "markers", "crank.mid"), "{at: [0.3, 0, 0], z: [0, 1, 0]}");
    for (const auto& name : before.markers.names()) EXPECT_EQ(before.markers.find(name), model.markers.find(name));
    for (const auto& name : before.bodies.names()) EXPECT_EQ(before.bodies.find(name), model.bodies.find(name));
    for (const auto& name : before.joints.names()) EXPECT_EQ(before.joints.find(name), model.joints.find(name));
    EXPECT_EQ(write_model_text(before), write_model_text(machine()));
}

TEST(SetProperty, ChangesWholeElements) {
    Model model = machine();
    set_property(model, "joints.pin", "{spherical: [crank.to, link]}");
    EXPECT_TRUE(model.markers.find("link.pin").is_null()) << "nothing needs it any more";
    set_property(model, "joints.pin", "{universal: [crank.to, link], axis: [0, 0, 1]}");
    EXPECT_FALSE(model.markers.find("link.pin").is_null());
    set_property(model, "forces.k", "{drag: link.tip, linear: 1}");
    EXPECT_EQ(write_element(model, "forces", "k"), "{drag: link.tip, linear: 1}");
    set_property(model, "forces.drive", "{force: link, vector: [0, 0, t]}");
    set_property(model, "parameters.l", "1.5");
    EXPECT_EQ(write_element(model, "parameters", "l"), "1.5");
}

TEST(SetProperty, TakesValuesAway) {
    Model model = machine();
    set_property(model, "simulation.until", "");
    EXPECT_FALSE(model.simulation.until.has_value());
    set_property(model, "initial.rates.pin.angle", "");
    EXPECT_TRUE(model.initial_rates.empty());
    EXPECT_SAYS(error_of_set(model, "bodies.link.box.size", ""), "'size' is missing");
    EXPECT_SAYS(error_of_set(model, "bodies.link.box.densty", ""), "no 'densty' to take away");
}

TEST(SetProperty, ErrorsNameTheField) {
    Model model = machine();
    EXPECT_SAYS(error_of_set(model, "forces.k.stifness", "1"), "unknown key 'stifness' (did you mean 'stiffness'?)");
    EXPECT_SAYS(error_of_set(model, "bodies.crank.rod.mas", "1"), "did you mean 'mass'");
    EXPECT_SAYS(error_of_set(model, "forces.k.stiffness", "nn"), "forces.k.stiffness: unknown name 'nn'");
    EXPECT_SAYS(error_of_set(model, "forces.kk.stiffness", "1"), "there is no force 'kk'");
    EXPECT_SAYS(error_of_set(model, "force.k.stiffness", "1"), "did you mean 'forces'");
    EXPECT_SAYS(error_of_set(model, "parameters.q", "1"), "there is no parameter 'q'");
    EXPECT_SAYS(error_of_set(model, "parameters.l", "m"), "in terms of itself");
    EXPECT_SAYS(error_of_set(model, "parameters.l", "1/0"), "not a finite number");
    EXPECT_SAYS(error_of_set(model, "joints.pin.at.3", "1"), "0 .. 2, found '3'");
    EXPECT_SAYS(error_of_set(model, "joints.pin.at.x", "1"), "found 'x'");
    EXPECT_SAYS(error_of_set(model, "gravity", "down"), "gravity");
    EXPECT_SAYS(error_of_set(model, "simulation.stepp", "1"), "did you mean 'step'");
    EXPECT_SAYS(error_of_set(model, "bodies.ground.at", "[0, 0, 1]"), "unknown key 'at'");
    EXPECT_SAYS(error_of_set(model, "markers.link.com", "[0, 0, 1]"), "belongs to body 'link'");
    EXPECT_SAYS(error_of_set(model, "markers.link.pin.at", "[0, 0, 1]"), "belongs to joint 'pin'");
    EXPECT_SAYS(error_of_set(model, "bodies.link", "{markers: {}}"), "one by one");
    EXPECT_SAYS(error_of_set(model, "plane", "xy"), "there is no section 'plane'");
}

TEST(SetProperty, BodiesBecomeRodsAndCease) {
    Model model = machine();
    set_property(model, "bodies.link", "{rod: {from: [1, 0, 0], to: [2, 0, 0], mass: 1}}");
    EXPECT_FALSE(model.markers.find("link.to").is_null());
    EXPECT_FALSE(model.markers.find("link.tip").is_null()) << "its markers stay";
    add_element(model, "sensors", "far", "{position: link.to}");
    EXPECT_SAYS(error_of_set(model, "bodies.link", "{mass: 1}"), "marker 'link.to' would be lost");
    EXPECT_SAYS(error_of_set(model, "bodies.link", "{mass: 1}"), "sensor 'far'");
    remove_element(model, "sensors", "far", false);
    set_property(model, "bodies.link", "{mass: 1}");
    EXPECT_TRUE(model.markers.find("link.to").is_null());
    expect_readable(model);
}

TEST(SetProperty, AJointKeepsMarkersThatOthersUse) {
    Model model = machine();
    add_element(model, "sensors", "eye", "{position: link.pin}");
    set_property(model, "joints.pin.at", "[1.2, 0, 0]");
    EXPECT_EQ(write_element(model, "sensors", "eye"), "{position: link.pin}");
    EXPECT_SAYS(error_of_set(model, "joints.pin", "{revolute: [crank.to, link]}"), "needed by sensor 'eye'");
    EXPECT_SAYS(error_of_set(model, "joints.pivot.revolute", "[ground, crank.pivot]"), "based on itself");
    expect_readable(model);
}

// Edits can bring about what reading a file in order cannot: a joint that uses a marker made by one after it. Its
// markers are then written with their bodies.
TEST(ModelWriter, WritesMarkersOfJointsThatComeLater) {
    Model model = machine();
    remove_element(model, "drivers", "turn", true);
    remove_element(model, "forces", "drive", true);
    set_property(model, "joints.pivot", "{point-on-plane: [free, link.pin]}");
    ASSERT_EQ(model.joints.names().front(), "pivot");
    const std::string text = write_model_text(model);
    EXPECT_SAYS(text, "pin: {frame: world, at: [1, 0, 0], z: [0, 1, 0]}");
    const Model again = read(text);
    EXPECT_EQ(write_model_text(again), text);
    expect_same_motion(model, again, 20);
    // Names: the marker keeps the one it was given when another marker had the joint's name.
    Model named = machine();
    add_element(named, "markers", "link.late", "[0, 0, 0]");
    add_element(named, "joints", "late", "{distance: [free, link]}");
    set_property(named, "joints.late", "{spherical: [free, link], at: [0, 1, 0]}");
    EXPECT_FALSE(named.markers.find("link.late_joint").is_null());
    expect_readable(named);
    remove_element(named, "markers", "link.late", false);
    expect_readable(named);
    EXPECT_FALSE(rewritten(named).markers.find("link.late_joint").is_null());
}

TEST(Properties, ListValuesThatCanBeSet) {
    Model model = machine();
    const auto list = properties(model, "bodies", "crank");
    ASSERT_EQ(list.size(), 4U);
    EXPECT_EQ(list[0].field, "rod.from");
    EXPECT_EQ(list[0].value, "[0, 0, 0]");
    EXPECT_EQ(list[2].field, "rod.mass");
    EXPECT_EQ(list[2].value, "m");
    EXPECT_EQ(list[3].field, "markers.mid");
    EXPECT_EQ(properties(model, "parameters", "m").at(0).value, "2*l");
    EXPECT_THROW(properties(model, "bodies", "crnk"), ModelError);
}

// Setting every property of every element to the value it has changes nothing.
TEST(Properties, AreWhatSetPropertyTakes) {
    for (const char* file : {"slider-crank.yaml", "andrews.yaml", "iltis/random-road.yaml", "joints/velocity.yaml",
                             "forces/spring-laws.yaml", "forces/bushing.yaml", "drivers/table.yaml"}) {
        Model model = example(file);
        const std::string text = write_model_text(model);
        const auto reset = [&](const char* section, const std::vector<std::string>& names) {
            for (const auto& name : names)
                for (const Property& property : properties(model, section, name)) {
                    const std::string path =
                        fmt::format("{}.{}{}{}", section, name, property.field.empty() ? "" : ".", property.field);
                    EXPECT_NO_THROW(set_property(model, path, property.value)) << path << ": " << property.value;
                }
        };
        reset("parameters", model.parameters.names());
        reset("tables", model.tables.names());
        reset("curves", model.curves.names());
        reset("roads", model.roads.names());
        reset("bodies", model.bodies.names());
        reset("joints", model.joints.names());
        reset("drivers", model.drivers.names());
        reset("forces", model.forces.names());
        reset("sensors", model.sensors.names());
        EXPECT_EQ(write_model_text(model), text) << file;
    }
}

// Random edits, with whatever they depend on; refused ones change nothing; what remains can always be written and read.
TEST(ElementEdits, RandomSequencesLeaveTheModelReadable) {
    const bool holds = rc::check("random edits", [] {
        Model model = machine();
        const auto pick = [](const std::vector<std::string>& names) { return *rc::gen::elementOf(names); };
        const auto number = [] { return fmt::format("{}", *rc::gen::inRange(1, 40) / 8.0); };
        int done = 0;
        const int edits = *rc::gen::inRange(5, 40);
        for (int i = 0; i < edits; ++i) {
            const std::string name = fmt::format("e{}", *rc::gen::inRange(0, 8));
            const std::string a = pick(model.markers.names());
            const std::string b = pick(model.markers.names());
            const bool same_body = a.substr(0, a.find('.')) == b.substr(0, b.find('.'));
            const std::string pair = fmt::format("[{}, {}]", a, b);
            const std::string before = write_model_text(model);
            try {
                switch (*rc::gen::inRange(0, 12)) {
                    case 0:
                        add_element(model, "bodies", name,
                                    fmt::format("{{mass: {}, markers: {{p: [{}, 0, 0]}}}}", number(), number()));
                        break;
                    case 1:
                        add_element(model, "markers", a.substr(0, a.find('.')) + "." + name,
                                    fmt::format("[0, {}, 0]", number()));
                        break;
                    case 2:
                        if (!same_body) add_element(model, "joints", name, fmt::format("{{spherical: {}}}", pair));
                        break;
                    case 3:
                        if (!same_body)
                            add_element(model, "joints", name,
                                        fmt::format("{{revolute: {}, axis: [0, 1, {}]}}", pair, number()));
                        break;
                    case 4:
                        if (!same_body)
                            add_element(
                                model, "joints", name,
                                fmt::format("{{cylindrical: {}, at: [{}, 0, 0], axis: [0, 0, 1]}}", pair, number()));
                        break;
                    case 5:
                        add_element(model, "forces", name, fmt::format("{{drag: {}, linear: {}*l}}", a, number()));
                        break;
                    case 6:
                        add_element(model, "sensors", name, fmt::format("{{position: {}, relative-to: {}}}", a, b));
                        break;
                    case 7: add_element(model, "parameters", name, number() + "*l"); break;
                    case 8: set_property(model, "parameters.l", number()); break;
                    case 9:
                        set_property(model,
                                     fmt::format("joints.{}.axis",
                                                 pick(model.joints.size() > 0 ? model.joints.names()
                                                                              : std::vector<std::string>{"none"})),
                                     "[1, 0, 1]");
                        break;
                    case 10:
                        remove_element(model, pick({"bodies", "joints", "markers", "sensors", "parameters"}), name,
                                       *rc::gen::arbitrary<bool>());
                        break;
                    default: {
                        const std::string section = pick({"bodies", "joints", "markers", "forces", "sensors"});
                        const auto names = section == "bodies"    ? model.bodies.names()
                                           : section == "joints"  ? model.joints.names()
                                           : section == "markers" ? model.markers.names()
                                           : section == "forces"  ? model.forces.names()
                                                                  : model.sensors.names();
                        if (!names.empty()) remove_element(model, section, pick(names), true);
                    }
                }
                ++done;
            } catch (const ModelError&) {
                RC_ASSERT(write_model_text(model) == before);
            }
        }
        RC_TAG(done > 3);
        const std::string text = write_model_text(model);
        RC_LOG(text);
        try {
            RC_ASSERT(write_model_text(read(text)) == text);
        } catch (const ModelError& error) {
            RC_FAIL(error.what());
        }
    });
    EXPECT_TRUE(holds);
}

}  // namespace
}  // namespace limber::testing
