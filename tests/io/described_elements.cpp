// Forces, joints, stops, sensors and drivers are described once (model/description.hpp); what is made from the
// description knows every field.

#include "support/described_fields.hpp"

namespace limber::testing {
namespace {

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
