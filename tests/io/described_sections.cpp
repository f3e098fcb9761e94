// Roads and the sections simulation, components and modular are described once, as elements are
// (described_elements.cpp).

#include "limber/io/field_reader.hpp"
#include "limber/io/field_writer.hpp"
#include "limber/io/model_writer.hpp"
#include "limber/model/model_change.hpp"
#include "support/described_fields.hpp"

namespace limber::testing {
namespace {

TEST(DescribedRoads, KeepEveryFieldAndDependOnIt) {
    for_each_type<RoadPiece>(
        [](auto piece) {
            const Model start = some_model();
            Filler filler{start};
            piece.visit(piece, filler);
            const RoadDefinition road{"f", {piece}};
            Model model = start;
            model.roads.add(road);
            const std::string text = write_element(model, "roads", "f");
            Model again = start;
            add_element(again, "roads", "f", text);
            const RoadDefinition& found = std::as_const(again).roads.get(again.roads.find("f"));
            EXPECT_EQ(print(found.pieces.at(0)), print(road.pieces[0])) << text;
            EXPECT_NE(print(found.pieces.at(0)), print(RoadPiece(decltype(piece){}))) << text;
            for (const FieldFormat& field : road_formats()[road.pieces[0].index()].options)
                EXPECT_NE(text.find(field.name + std::string(": ")), std::string::npos) << field.name << " in " << text;
            expect_needs_of_numbers("roads", road, filler.count);
        },
        std::make_index_sequence<std::variant_size_v<RoadPiece>>());
}

// Fills one field, and counts them.
struct OneField {
    Filler& filler;
    int chosen;
    int count = 0;

    template <class T>
    void field(T& value, const FieldNote& note) {
        if (count++ == chosen) filler.field(value, note);
    }
};

// `of` finds the section in the defaults of a model. Each field alone makes another model, is written and read again,
// and keeps the parameter that it names.
template <class Of>
void expect_each_field(const std::vector<FieldFormat>& formats, const Model& plain, const Of& of) {
    for (int k = 0; k < static_cast<int>(formats.size()); ++k) {
        const std::string key = formats[k].name;
        Model model = plain;
        Filler filler{plain};
        OneField one{filler, k};
        auto& section = of(model.simulation);
        section.visit(section, one);
        EXPECT_EQ(one.count, static_cast<int>(formats.size()));
        EXPECT_FALSE(model.simulation == plain.simulation) << key;
        EXPECT_FALSE(ModelChange(plain, model).is_empty()) << key;
        const std::string text = write_model_text(model);
        EXPECT_NE(text.find(key + ": "), std::string::npos) << text;
        EXPECT_TRUE(read(text).simulation == model.simulation) << text;
        if (text.find("p + ") == std::string::npos) continue;
        EXPECT_THROW(remove_element(model, "parameters", "p", true), ModelError) << key;
    }
}

TEST(DescribedSections, KeepEveryField) {
    Model plain = some_model();
    EXPECT_TRUE(ModelChange(plain, plain).is_empty());
    expect_each_field(
        simulation_fields(), plain, [](SimulationDefaults & s) -> auto& { return s; });
    expect_each_field(
        modular_fields(), plain, [](SimulationDefaults & s) -> auto& { return s.modular; });
    plain.simulation.components = {{.name = "low", .bodies = {"rocker"}}};
    expect_each_field(
        component_fields(), plain, [](SimulationDefaults & s) -> auto& { return s.components[0]; });
}

// One line in a description is enough.
struct LongerDefaults : SimulationDefaults {
    Number pause{};
    bool operator==(const LongerDefaults&) const = default;
    static void visit(auto& self, auto& visitor) {
        SimulationDefaults::visit(self, visitor);
        visitor.field(self.pause, {"pause", "before the start", true});
    }
};

TEST(DescribedSections, KnowAFieldThatIsAdded) {
    const Model model = some_model();
    const ModelReader reader(model);
    const auto context = std::make_shared<YamlContext>();
    context->parameters = {{"p", 0.5}};
    const auto read_section = [&](const std::string& text) {
        LongerDefaults section;
        const YamlNode node(YAML::Load(text), std::make_shared<const std::string>("m.yaml"), context);
        FieldReader(reader, node, "").read_object(section);
        return section;
    };
    const LongerDefaults section = read_section("{start: equilibrium, pause: 2*p}");
    EXPECT_EQ(section.pause.text(), "2*p");
    EXPECT_EQ(section.start, StartPose::equilibrium);
    EXPECT_EQ(flow_text(ElementWriter(model).described(section)), "{start: equilibrium, pause: 2*p}");
    EXPECT_STREQ(describe_fields<LongerDefaults>().back().meaning, "before the start");
    EXPECT_FALSE(section == read_section("{start: equilibrium, pause: 2}"));
    try {
        read_section("{start: equilibrium}");
        ADD_FAILURE() << "nothing is missing";
    } catch (const ModelError& error) {
        EXPECT_NE(std::string(error.what()).find("'pause' is missing: before the start"), std::string::npos);
    }
}

// A law of contact with a field more is found by format, reader, writer and the search for dependents.
struct StickyContact {
    static constexpr TypeNote type{"sticky", "holds on"};
    std::string name{};
    ContactSides between{};
    Number grip{};
    ContactResistance resistance{};

    static void visit(auto& self, auto& visitor) {
        visitor.main(self.between);
        visitor.field(self.grip, {"grip", "pull at which it lets go", true});
        ContactResistance::visit(self.resistance, visitor);
    }
};

TEST(DescribedElements, ContactsAreReadAndWrittenByTheirDescription) {
    using Types = std::variant<NoContact, StickyContact>;
    const std::vector<TypeFormat> formats = describe_alternatives<Types>();
    ASSERT_EQ(formats.size(), 2U);
    EXPECT_EQ(formats[1].kind, FieldKind::two_bodies);
    EXPECT_EQ(field_names(formats[1].options),
              (std::vector<std::string>{"grip", "friction", "rolling", "spinning", "joined"}));
}

}  // namespace
}  // namespace limber::testing
