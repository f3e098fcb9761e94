// Forces, joints, stops, sensors and drivers are described once (model/description.hpp); what is made from the
// description knows every field.

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
  rocker: {rod: {from: [0, 5, 0], to: [1, 5, 0], mass: 1, radius: 0.1}}
joints:
  hinge: {revolute: [ground, crank.from]}
  weld: {fixed: [ground, rocker.from], at: [0, 5, 0]}
drivers:
  drive: {coordinate: hinge.angle, follows: 0}
forces:
  spring: {spring: [ground, crank.to], stiffness: 1}
stops:
  rope: {cable: [ground, rocker.to], length: 9}
contacts:
  touch: {linear: [crank, rocker], stiffness: 1}
sensors:
  other: {coordinate: hinge.angle}
)");
}

// Gives every field a value that is not its default; numbers name the parameter p.
struct Filler {
    const Model& model;
    int count = 0;
    std::vector<std::pair<std::string, std::string>> named{};  ///< section and name of what the fields refer to

    Number number(const std::string& more = "") { return Number("p + " + std::to_string(++count) + more); }
    MarkerHandle marker(const std::string& body) {
        named.emplace_back("bodies", body);
        return model.marker(body + ".to");
    }
    std::string coordinate() {
        named.emplace_back("joints", "hinge");
        return "hinge.angle";
    }

    void main(MarkerHandle& value) { value = marker("crank"); }
    template <class T>
    void main(T& value, Variables variables = Variables::none) {
        field(value, {"main", "", true, variables});
    }
    void placed(MarkerPair& pair) { main(pair); }
    void field(MarkerPair& pair, const FieldNote&) { pair = {model.marker("ground"), marker("crank")}; }
    void field(MarkerHandle& value, const FieldNote&) { value = marker("rocker"); }
    void field(Coordinate& value, const FieldNote&) { value.name = coordinate(); }
    void field(CoordinatePair& pair, const FieldNote&) { pair = {coordinate(), coordinate()}; }
    void field(std::vector<ScalarTerm>& terms, const FieldNote&) { terms = {{coordinate(), number()}}; }
    void field(bool& value, const FieldNote&) { value = true; }
    void field(Number& value, const FieldNote& note) {
        const bool names_sensor = note.variables == Variables::columns;
        value = number(names_sensor ? " + other" : "");
        if (names_sensor) named.emplace_back("sensors", "other");
    }
    void field(Number3& value, const FieldNote&) { value = {number(), number(), number()}; }
    void field(AngularVector& value, const FieldNote&) { value.components = {number(), number(), number()}; }
    void field(std::vector<Number>& value, const FieldNote&) {
        for (int i = 0; i < 6; ++i) value.push_back(number());
    }
    template <class T>
    void field(Handle<T>& value, const FieldNote&) {
        value = model.table<T>().handles().front();
        named.emplace_back(std::string(T::kind) + "s", model.table<T>().get(value).name);
    }
    template <class First, class Other>
    void field(std::variant<First, Other>& value, const FieldNote& note) {
        // The first one, but words have a default.
        if constexpr (std::is_enum_v<First>) {
            field(value.template emplace<Other>(), note);
        } else {
            main(value.template emplace<First>());
        }
    }
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
    template <class T>
    void main(const T& value, Variables = Variables::none) {
        field(value, {"main", ""});
    }
    void placed(const MarkerPair& pair) { main(pair); }
    void field(const MarkerPair& pair, const FieldNote& note) {
        add(note.name, std::to_string(pair.first.index) + "-" + std::to_string(pair.second.index));
    }
    void field(const CoordinatePair& pair, const FieldNote& note) { add(note.name, pair.first + "-" + pair.second); }
    void field(const std::vector<ScalarTerm>& terms, const FieldNote&) {
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
        add(note.name, T::kind + std::to_string(value.index));
    }
    template <class... T>
    void field(const std::variant<T...>& value, const FieldNote& note) {
        std::visit([&](const auto& one) { field(one, note); }, value);
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

struct Sensors {
    using Element = Sensor;
    static constexpr const char* section = "sensors";
    static const std::vector<TypeFormat>& formats() { return sensor_formats(); }
    static const Table<Sensor>& table(const Model& model) { return model.sensors; }
};

template <class Section>
class Described : public ::testing::Test {};
using Sections = ::testing::Types<Forces, Joints, Stops, Sensors>;
TYPED_TEST_SUITE(Described, Sections);

template <class Types, class Use, std::size_t... I>
void for_each_type(const Use& use, std::index_sequence<I...>) {
    (use(std::variant_alternative_t<I, Types>{}), ...);
}
/// Every type of a section, all its fields filled, under the name "f"; and what filled them.
template <class Section, class Use>
void for_each_filled(const Use& use) {
    using Types = decltype(Section::Element::type);
    for_each_type<Types>(
        [&](auto type) {
            const Model model = some_model();
            Filler filler{model};
            type.visit(type, filler);
            type.name = "f";
            use(type, filler);
        },
        std::make_index_sequence<std::variant_size_v<Types>>());
}

TYPED_TEST(Described, KeepEveryFieldThroughWritingAndReading) {
    for_each_filled<TypeParam>([](auto type, const Filler&) {
        using Element = typename TypeParam::Element;
        const Element element(type);
        EXPECT_EQ(element.name, "f");
        if (element.note().is_code) return;  // no file holds it, see simulation/custom_*.cpp
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

template <class Element>
void expect_needs(Model& model, const std::string& section, const std::string& name, const Element& element) {
    try {
        remove_element(model, section, name, false);
        ADD_FAILURE() << name << " goes without " << Element::kind << " '" << element.name << "'";
    } catch (const ModelError& error) {
        const std::string found = std::string(Element::kind) + " '" + element.name + "'";
        EXPECT_NE(std::string(error.what()).find(found), std::string::npos) << error.what();
    }
}

// One number after the other names a parameter: the parameter cannot go without the element.
template <class Element>
void expect_needs_of_numbers(const std::string& section, const Element& element, int count) {
    Model model = some_model();
    model.add(element);
    for (int i = 1; i <= count; ++i) {
        const std::string mine = "p + " + std::to_string(i);
        // All but this one become plain numbers.
        std::string text = write_element(model, section, element.name);
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
        add_element(changed, section, element.name, text);
        expect_needs(changed, "parameters", "p", element);
    }
}

TYPED_TEST(Described, DependOnWhatAnyOfTheirNumbersNames) {
    for_each_filled<TypeParam>([](auto type, const Filler& filler) {
        expect_needs_of_numbers(TypeParam::section, typename TypeParam::Element(type), filler.count);
    });
}

// What an element refers to cannot go without it either.
TYPED_TEST(Described, DependOnWhatTheyNameInAnyField) {
    for_each_filled<TypeParam>([](auto type, const Filler& filler) {
        const typename TypeParam::Element element(type);
        for (const auto& [section, name] : filler.named) {
            Model model = some_model();
            model.add(element);
            expect_needs(model, section, name, element);
        }
    });
}

// Drivers have no types, but drive a coordinate or a marker.
TEST(DescribedDrivers, KeepEveryFieldAndDependOnIt) {
    const Model start = some_model();
    Filler filler{start};
    Driver of_coordinate{.name = "f"};
    Driver::visit(of_coordinate, filler);
    Driver of_marker = of_coordinate;
    of_coordinate.marker = of_coordinate.relative_to = {};
    of_coordinate.component.reset();
    of_marker.coordinate = {};
    of_marker.marker = start.marker("crank.to");
    for (const Driver& driver : {of_coordinate, of_marker}) {
        Model model = some_model();
        model.add(driver);
        const std::string text = write_element(model, "drivers", "f");
        Model again = some_model();
        add_element(again, "drivers", "f", text);
        Printer before;
        Printer after;
        Driver::visit(driver, before);
        Driver::visit(std::as_const(again).drivers.get(again.drivers.find("f")), after);
        EXPECT_EQ(before.lines, after.lines) << text;
        for (const FieldFormat& field : driver_fields()) {
            const std::string key = field.name;
            const bool is_missing =
                key == "table" || key == "interpolation" ||
                (driver.marker.is_null() ? key == "marker" || key == "component" || key == "relative-to"
                                         : key == "coordinate");
            EXPECT_EQ(text.find(key + ": ") == std::string::npos, is_missing) << key << " in " << text;
        }
        expect_needs_of_numbers("drivers", driver, filler.count);
        if (driver.marker.is_null()) {
            expect_needs(model, "joints", "hinge", driver);
        } else {
            expect_needs(model, "bodies", "crank", driver);
            expect_needs(model, "bodies", "rocker", driver);
        }
    }
}

TEST(DescribedDrivers, NeedOneThingToDrive) {
    const Model start = some_model();
    for (const Driver& driver : {Driver{.name = "d"}, Driver{.name = "d", .marker = start.marker("crank.to")},
                                 Driver{.name = "d", .component = VectorComponent::x},
                                 Driver{.name = "d",
                                 .coordinate = {"hinge.angle"},
                                 .marker = start.marker("crank.to"),
                                 .component = VectorComponent::x}}) {
        Model model = start;
        model.add(driver);
        EXPECT_THROW(Simulation(model, {}), ModelError);
    }
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

TEST(DescribedElements, HoldOneOfSeveralKinds) {
    Model model = some_model();
    const auto write = [&](SensorHandle handle) {
        const std::string text = write_element(model, "sensors", std::as_const(model).sensors.get(handle).name);
        Model again = some_model();
        add_element(again, "sensors", "again", text);
        EXPECT_EQ(write_element(again, "sensors", "again"), text);
        return text;
    };
    const auto hinge = model.joints.find("hinge");
    EXPECT_EQ(write(model.add(Acceleration{.name = "a", .of = Coordinate{"hinge.angle"}})),
              "{acceleration: hinge.angle}");
    EXPECT_EQ(write(model.add(Acceleration{.name = "b", .of = model.marker("crank")})), "{acceleration: crank}");
    EXPECT_EQ(write(model.add(Reaction{.name = "c", .of = hinge})), "{reaction: hinge}");
    EXPECT_EQ(write(model.add(Reaction{.name = "d", .of = hinge, .axes = ReactionFrame::joint})),
              "{reaction: hinge, axes: marker}");
    EXPECT_EQ(write(model.add(Reaction{.name = "e", .of = hinge, .axes = model.marker("crank")})),
              "{reaction: hinge, axes: crank}");
    EXPECT_EQ(write(model.add(Reaction{.name = "f", .of = model.drivers.find("drive")})), "{reaction: drive}");
    // A driver cannot go without the sensor of its reaction.
    EXPECT_THROW(remove_element(model, "drivers", "drive", false), ModelError);
}

TEST(DescribedElements, NeedWhatTheyMeasure) {
    for (const Sensor& sensor :
         {Sensor(Position{.name = "s"}), Sensor(Acceleration{.name = "s"}), Sensor(RateSensor{.name = "s"}),
          Sensor(Reaction{.name = "s"}), Sensor(Gap{.name = "s"}), Sensor(ForceSensor{.name = "s"}),
          Sensor(ContactSensor{.name = "s"})}) {
        Model model = some_model();
        model.add(sensor);
        EXPECT_THROW(Simulation(model, {}), ModelError) << sensor.note().name;
    }
}

}  // namespace
}  // namespace limber::testing
