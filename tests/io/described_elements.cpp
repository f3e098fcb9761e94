// Forces, joints and stops are described once (model/description.hpp); what is made from the description knows every
// field.

#include <gtest/gtest.h>

#include "limber/io/element_edits.hpp"
#include "limber/io/format.hpp"
#include "limber/model/error.hpp"
#include "support/models.hpp"

namespace limber::testing {
namespace {

Model some_model() {
    return read(R"(
limber: 1
parameters: {p: 0.5}
roads: {flat: {height: 0}}
curves: {arc: {points: [[0, 0, 0], [1, 0, 0], [1, 1, 0]]}}
bodies:
  crank: {rod: {from: [0, 0, 0], to: [1, 0, 0], mass: 1, radius: 0.1}}
joints:
  hinge: {revolute: [ground, crank.from]}
)");
}

// Gives every field a value that is not its default; numbers name the parameter p.
struct Filler {
    const Model& model;
    int count = 0;

    Number number() { return Number("p + " + std::to_string(++count)); }

    void main(MarkerPair& pair) { pair = {model.marker("ground"), model.marker("crank.to")}; }
    void main(MarkerHandle& marker) { marker = model.marker("crank.to"); }
    void placed(MarkerPair& pair) { main(pair); }
    void main(Coordinate& coordinate) { coordinate.name = "hinge.angle"; }
    void main(CoordinatePair& pair) { pair = {"hinge.angle", "hinge.angle"}; }
    void main(std::vector<ScalarTerm>& terms, Variables = Variables::none) { terms = {{"hinge.angle", number()}}; }
    void field(Coordinate& coordinate, const FieldNote&) { coordinate.name = "hinge.angle"; }
    void field(bool& value, const FieldNote&) { value = true; }
    void field(Number& value, const FieldNote&) { value = number(); }
    void field(Number3& value, const FieldNote&) { value = {number(), number(), number()}; }
    void field(AngularVector& value, const FieldNote&) { value.components = {number(), number(), number()}; }
    void field(std::vector<Number>& value, const FieldNote&) {
        for (int i = 0; i < 6; ++i) value.push_back(number());
    }
    void field(Handle<RoadDefinition>& value, const FieldNote&) { value = model.roads.find("flat"); }
    void field(Handle<CurveDefinition>& value, const FieldNote&) { value = model.curves.find("arc"); }
    template <class T>
    void field(std::optional<T>& value, const FieldNote& note) {
        field(value.emplace(), note);
    }
    template <class T>
    void field(T& value, const FieldNote&) {
        if constexpr (std::is_enum_v<T>) {
            value = static_cast<T>(1);
        } else {
            T::visit(value, *this);
        }
    }
    void law(ScalarLaw& law) {
        law.stiffness = number();
        law.damping = number();
        law.preload = number();
    }
    void time_law(TimeLaw& law, const FieldNote&, const char*) { law.expression = number(); }
};

// All values as text, with their keys.
struct Printer {
    std::vector<std::string> lines{};

    void add(const std::string& key, const std::string& value) { lines.push_back(key + " = " + value); }
    void main(const MarkerPair& pair) {
        add("main", std::to_string(pair.first.index) + "-" + std::to_string(pair.second.index));
    }
    void main(MarkerHandle marker) { add("main", std::to_string(marker.index)); }
    void placed(const MarkerPair& pair) { main(pair); }
    void main(const Coordinate& coordinate) { add("main", coordinate.name); }
    void main(const CoordinatePair& pair) { add("main", pair.first + "-" + pair.second); }
    void main(const std::vector<ScalarTerm>& terms, Variables = Variables::none) {
        for (const ScalarTerm& term : terms) add(term.scalar, term.coefficient.text());
    }
    void field(const Coordinate& coordinate, const FieldNote& note) { add(note.name, coordinate.name); }
    void field(bool value, const FieldNote& note) { add(note.name, value ? "true" : "false"); }
    void field(const Number& value, const FieldNote& note) { add(note.name, value.text()); }
    void field(const Number3& value, const FieldNote& note) {
        for (const Number& number : value) add(note.name, number.text());
    }
    void field(const AngularVector& value, const FieldNote& note) { field(value.components, note); }
    void field(const std::vector<Number>& value, const FieldNote& note) {
        for (const Number& number : value) add(note.name, number.text());
    }
    template <class T>
    void field(Handle<T> value, const FieldNote& note) {
        add(note.name, std::to_string(value.index));
    }
    template <class T>
    void field(const std::optional<T>& value, const FieldNote& note) {
        if (value) field(*value, note);
    }
    template <class T>
    void field(const T& value, const FieldNote& note) {
        if constexpr (std::is_enum_v<T>) {
            add(note.name, std::to_string(static_cast<int>(value)));
        } else {
            T::visit(value, *this);
        }
    }
    void law(const ScalarLaw& law) { add("law", law.stiffness.text() + law.damping.text() + law.preload.text()); }
    void time_law(const TimeLaw& law, const FieldNote& note, const char*) { add(note.name, law.expression.text()); }
};

template <class Types>
std::vector<std::string> print(const TypedElement<Types>& element) {
    Printer printer;
    std::visit([&](const auto& type) { type.visit(type, printer); }, element.type);
    return printer.lines;
}

struct Forces {
    using Element = Force;
    static constexpr const char* section = "forces";
    static const std::vector<TypeFormat>& formats() { return force_formats(); }
    static const Table<Force>& table(const Model& model) { return model.forces; }
};
struct Joints {
    using Element = Joint;
    static constexpr const char* section = "joints";
    static const std::vector<TypeFormat>& formats() { return joint_formats(); }
    static const Table<Joint>& table(const Model& model) { return model.joints; }
};
struct Stops {
    using Element = Stop;
    static constexpr const char* section = "stops";
    static const std::vector<TypeFormat>& formats() { return stop_formats(); }
    static const Table<Stop>& table(const Model& model) { return model.stops; }
};

template <class Section>
class Described : public ::testing::Test {};
using Sections = ::testing::Types<Forces, Joints, Stops>;
TYPED_TEST_SUITE(Described, Sections);

template <class Types, class Use, std::size_t... I>
void for_each_type(const Use& use, std::index_sequence<I...>) {
    (use(std::variant_alternative_t<I, Types>{}), ...);
}
/// Every type of a section, all its fields filled, under the name "f"; how many numbers it has.
template <class Section, class Use>
void for_each_filled(const Use& use) {
    using Types = decltype(Section::Element::type);
    for_each_type<Types>(
        [&](auto type) {
            const Model model = some_model();
            Filler filler{model};
            type.visit(type, filler);
            type.name = "f";
            use(type, filler.count);
        },
        std::make_index_sequence<std::variant_size_v<Types>>());
}

TYPED_TEST(Described, KeepEveryFieldThroughWritingAndReading) {
    for_each_filled<TypeParam>([](auto type, int) {
        using Element = typename TypeParam::Element;
        const Element element(type);
        EXPECT_EQ(element.name, "f");
        Model model = some_model();
        model.add(element);
        const std::string text = write_element(model, TypeParam::section, "f");
        Model again = some_model();
        add_element(again, TypeParam::section, "f", text);
        const auto& table = TypeParam::table(again);
        const Element& found = table.get(table.find("f"));
        EXPECT_EQ(print(found), print(element)) << text;
        // None is the default: a field that is forgotten shows.
        EXPECT_NE(print(found), print(Element("f", decltype(type){}))) << text;
        // Each key of the format is in the text but those of tables, polynomials and laws, which stand in place of
        // others, and those of the place and state of joints.
        for (const FieldFormat& option : TypeParam::formats()[element.type.index()].options) {
            const std::string key = option.name;
            const bool is_placed = ends_of(element).can_be_placed && (key == "at" || key == "axis" || key == "x");
            const bool is_alternative = key == "table" || key == "interpolation" || key == "polynomial" ||
                                        (key == "law" && std::string(element.note().name).ends_with("spring")) ||
                                        is_placed || key == "cut" || key == "disabled" || key == "closing";
            EXPECT_EQ(text.find(key + ": ") != std::string::npos, !is_alternative) << key << " in " << text;
        }
    });
}

// One number after the other names a parameter: the parameter cannot go without the element.
TYPED_TEST(Described, DependOnWhatAnyOfTheirNumbersNames) {
    for_each_filled<TypeParam>([](auto type, int count) {
        Model model = some_model();
        model.add(typename TypeParam::Element(type));
        for (int i = 1; i <= count; ++i) {
            const std::string mine = "p + " + std::to_string(i);
            // All but this one become plain numbers.
            std::string text = write_element(model, TypeParam::section, "f");
            for (int k = count; k >= 1; --k) {
                if (k == i) continue;
                const std::string other = "p + " + std::to_string(k);
                for (std::size_t at = text.find(other); at != std::string::npos; at = text.find(other, at)) {
                    // Not the beginning of a longer number.
                    if (std::isdigit(static_cast<unsigned char>(text[at + other.size()])) != 0) {
                        ++at;
                        continue;
                    }
                    text.replace(at, other.size(), "1");
                }
            }
            ASSERT_NE(text.find(mine), std::string::npos) << text;
            Model changed = some_model();
            add_element(changed, TypeParam::section, "f", text);
            try {
                remove_element(changed, "parameters", "p", false);
                ADD_FAILURE() << text;
            } catch (const ModelError& error) {
                const std::string name = std::string(TypeParam::Element::kind) + " 'f'";
                EXPECT_NE(std::string(error.what()).find(name), std::string::npos) << error.what();
            }
        }
    });
}

// What an element is attached to cannot go without it either.
TYPED_TEST(Described, DependOnWhatTheyActOn) {
    for_each_filled<TypeParam>([](auto type, int) {
        Model model = some_model();
        const typename TypeParam::Element element(type);
        model.add(element);
        const ElementEnds ends = ends_of(element);
        const bool has_markers = !ends.b.is_null();
        try {
            remove_element(model, has_markers ? "bodies" : "joints", has_markers ? "crank" : "hinge", false);
            ADD_FAILURE() << element.note().name;
        } catch (const ModelError& error) {
            const std::string name = std::string(TypeParam::Element::kind) + " 'f'";
            EXPECT_NE(std::string(error.what()).find(name), std::string::npos) << error.what();
        }
    });
}

TEST(DescribedElements, AreMadeInCode) {
    Model model = some_model();
    const ForceHandle spring = model.add(Spring{.name = "s",
                                                .between = {model.marker("ground"), model.marker("crank.to")},
                                                .free_length = 0.5,
                                                .law = {.stiffness = 100.0, .damping = 2.0}});
    EXPECT_EQ(std::as_const(model).forces.get(spring).name, "s");
    EXPECT_EQ(write_element(model, "forces", "s"),
              "{spring: [ground, crank.to], free-length: 0.5, stiffness: 100, damping: 2}");
    Simulation simulation(model, {});
    EXPECT_TRUE(simulation.advance(0.1, 0.01).ok);
}

}  // namespace
}  // namespace limber::testing
