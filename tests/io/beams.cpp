// Beams in model files: every field is written as it was read, known to schema and dependents, and refused where wrong.

#include <gtest/gtest.h>

#include "limber/io/element_edits.hpp"
#include "limber/io/format.hpp"
#include "limber/model/error.hpp"
#include "support/model_text.hpp"

namespace limber::testing {
namespace {

std::string beam_with(const std::string& section, const std::string& more) {
    return R"(
limber: 1
parameters: {p: 0.5}
curves: {line: {points: [[0, 0, 0], [1, 0, 0], [2, 1, 0]]}}
bodies:
  b:
    beam: {elements: 3 + p*2, section: {)" +
           section + "}, " + more + "}\n    markers: {m: [0.3, 0, 0.1]}\n";
}

const char* const material =
    "material: {young: 1e9*p, poisson: 0.3*p, density: p, damping: p/100, expansion: p/1000}, shear-factor: [p, 0.8], "
    "temperature: 3*p, twist: p, prestress: 7*p, up: [0, p, 1], mass-damping: p, order: 1";

TEST(BeamFiles, KeepEveryFieldThroughWritingAndReading) {
    const std::string beams[] = {
        beam_with("circle: {radius: p}", std::string(material) + ", from: [p, 0, 0], to: [1, p, 0]"),
        beam_with("tube: {radius: p, thickness: p/9}",
                  std::string(material) + ", from: [p, 0, 0], arc: {centre: [p, 2, 0], angle: p, axis: [0, 0, p]}"),
        beam_with("box: {height: p, width: p/3}", std::string(material) + ", curve: line"),
        beam_with("I: {height: p, width: p/3, flange: p/30, web: p/40}",
                  "material: {young: 1, shear: p}, to: [p, 0, 0]"),
        beam_with(
            "given: {axial: p, shear: [p, 1], torsion: p, bending: [p, 2], mass: p, inertia: [p, 1, 1], damping: p}",
            "to: [p, 0, 0], theory: segments"),
        beam_with("given: {matrix: [p,0,0,0,0,0, 0,p,0,0,0,0, 0,0,p,0,0,0, 0,0,0,p,0,0, 0,0,0,0,p,0, 0,0,0,0,0,p]}",
                  "to: [p, 0, 0]")};
    std::string all;
    for (const std::string& yaml : beams) {
        const Model model = read(yaml);
        const std::string text = write_model_text(model);
        const Model again = read(text);
        EXPECT_EQ(write_model_text(again), text);
        const BodyHandle before = model.bodies.find("b");
        const BodyHandle after = again.bodies.find("b");
        ASSERT_TRUE(model.bodies.get(before).beam && again.bodies.get(after).beam);
        EXPECT_EQ(model.bodies.get(before).beam->section, again.bodies.get(after).beam->section) << text;
        all += text;
        Model without = model;
        EXPECT_THROW(remove_element(without, "parameters", "p", false), ModelError) << yaml;
    }
    for (const std::vector<FieldFormat>& fields : {beam_fields(), beam_material_fields(), beam_arc_fields()})
        for (const FieldFormat& field : fields)
            EXPECT_NE(all.find(std::string(field.name) + ":"), std::string::npos) << field.name;
    for (const TypeFormat& section : section_formats())
        for (const FieldFormat& field : section.options)
            EXPECT_NE(all.find(std::string(field.name) + ":"), std::string::npos) << section.name << ' ' << field.name;
    // The curve that it runs along cannot go either.
    Model along = read(beams[2]);
    EXPECT_THROW(remove_element(along, "curves", "line", false), ModelError);
}

std::string reading_fails(const std::string& yaml) {
    try {
        read(yaml);
    } catch (const ModelError& error) {
        return error.what();
    }
    return "";
}

TEST(BeamFiles, SayWhatIsWrongAndWhere) {
    EXPECT_NE(reading_fails(beam_with("circle: {radius: 1}", "to: [1, 0, 0], elemnts: 3")).find("test.yaml:"),
              std::string::npos);
    EXPECT_NE(reading_fails(beam_with("square: {side: 1}", "to: [1, 0, 0]")).find("square"), std::string::npos);
    EXPECT_NE(reading_fails("limber: 1\nbodies: {b: {beam: {to: [1, 0, 0], elements: 1, section: {circle: {radius: "
                            "1}}}, mass: 3}}")
                  .find("mass"),
              std::string::npos);
    EXPECT_NE(reading_fails("limber: 1\nbodies: {b: {beam: {to: [1, 0, 0], elements: 1, section: {circle: {radius: "
                            "1}}}, at: [0, 0, 1]}}")
                  .find("'at'"),
              std::string::npos);
}

TEST(BeamFiles, NameSeveralExpressionsInOneSensor) {
    Simulation s(read(R"(
limber: 1
plane: xy
bodies: {rod: {rod: {from: [0, 0], to: [1, 2], mass: 1}}}
sensors:
  to: {position: rod.to}
  sum: {expressions: {plus: to.x + to.y, minus: to.x - to.y}}
)"));
    EXPECT_DOUBLE_EQ(sense(s, "sum.plus"), 3);
    EXPECT_DOUBLE_EQ(sense(s, "sum.minus"), -1);
    EXPECT_EQ(write_model_text(rewritten(s.model())), write_model_text(s.model()));
}

}  // namespace
}  // namespace limber::testing
