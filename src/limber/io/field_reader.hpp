#pragma once
// Reads described elements (model/description.hpp). Internal to the room.

#include <fmt/format.h>

#include <optional>

#include "limber/io/field_formats.hpp"
#include "limber/io/field_words.hpp"
#include "limber/io/model_reader.hpp"
#include "limber/model/evaluation.hpp"

namespace limber {

class FieldReader {
public:
    /// `key`: that of the type, which holds the main field; empty: there is none.
    FieldReader(const ModelReader& reader, const YamlNode& node, std::string key)
        : reader_(reader), node_(node), key_(std::move(key)) {}

    template <class T>
    void main(T& value, Variables variables = Variables::none) {
        read(value, node_.required(key_), {"", "", true, variables});
    }
    /// 'at', 'axis' and 'x' are read when the joint is placed.
    void placed(MarkerPair& between) { main(between); }
    template <class T>
    void field(T& value, const FieldNote& note) {
        if (const auto child = node_.child(note.name)) read(value, *child, note);
    }
    /// A mapping of its fields.
    template <class T>
    void read_object(T& value) {
        reader_.check_fields(node_, describe_fields<T>());
        T::visit(value, *this);
    }
    void placement(Placement& placement) { placement = reader_.read_placement(node_); }
    void solids(std::vector<Solid>& solids) { solids = reader_.read_solids(node_); }
    void law(ScalarLaw& law) { law = reader_.read_law(node_); }
    void time_law(TimeLaw& law, const FieldNote& note, const char* /*table_meaning*/) {
        law = reader_.read_time_law(node_, note.name);
    }

protected:
    static std::vector<std::string> names(const FieldNote& note) {
        if (note.variables == Variables::time) return {"t"};
        return note.variables == Variables::x ? std::vector<std::string>{"x"} : std::vector<std::string>{};
    }
    // Names that are checked when the model is compiled.
    static bool is_free(const FieldNote& note) { return note.variables > Variables::x; }
    void read(Number& value, const YamlNode& node, const FieldNote& note) const {
        value = note.is_positive ? reader_.positive_number(node, ModelEvaluation(reader_.model_))
                                 : node.number(names(note), is_free(note));
    }
    void read(Number3& value, const YamlNode& node, const FieldNote& note) const {
        value = node.vector(reader_.model_.planar, names(note), is_free(note));
    }
    void read(AngularVector& value, const YamlNode& node, const FieldNote& note) const {
        value.components = reader_.read_angular(node, names(note), is_free(note));
    }
    void read(std::vector<Number>& value, const YamlNode& node, const FieldNote&) const {
        value = node.is_scalar() ? std::vector<Number>{node.number()} : node.numbers();
    }
    void read(bool& value, const YamlNode& node, const FieldNote&) const { value = node.truth(); }
    void read(std::string& value, const YamlNode& node, const FieldNote& note) const {
        value = node.text(note.expected);
    }
    /// Of bodies, some of which a star stands for.
    void read(std::vector<std::string>& value, const YamlNode& node, const FieldNote&) const {
        for (const YamlNode& item : node.items("a list of names of bodies"))
            value.push_back(item.text("the name of a body"));
    }
    void read(TableDefinition& value, const YamlNode& node, const FieldNote&) const {
        value = reader_.read_rows(node, std::nullopt);
    }
    void read(std::vector<JointNumber>& value, const YamlNode& node, const FieldNote&) const {
        const ModelEvaluation evaluation(reader_.model_);
        for (const auto& [joint, number] : node.entries("{joint: number}")) {
            find<Joint>(joint, number);
            value.push_back({joint, reader_.positive_number(number, evaluation)});
        }
    }
    void read(MarkerHandle& value, const YamlNode& node, const FieldNote&) const { value = reader_.marker(node); }
    void read(MarkerPair& value, const YamlNode& node, const FieldNote&) const {
        std::tie(value.first, value.second) = reader_.two_markers(node);
    }
    void read(Coordinate& value, const YamlNode& node, const FieldNote&) const {
        value.name = node.text("a joint coordinate");
    }
    void read(CoordinatePair& value, const YamlNode& node, const FieldNote&) const {
        const auto list = node.items("two joint coordinates [first, second]");
        if (list.size() != 2) node.fail(fmt::format("expected two joint coordinates, found {}", list.size()));
        value = {list[0].text("a joint coordinate"), list[1].text("a joint coordinate")};
    }
    void read(std::vector<ScalarTerm>& value, const YamlNode& node, const FieldNote& note) const {
        for (const auto& [scalar, number] : node.entries("{coordinate: coefficient}"))
            value.push_back({scalar, number.number({}, is_free(note))});
        if (value.empty()) node.fail("expected at least one {coordinate: coefficient}");
    }
    void read(std::vector<NamedExpression>& value, const YamlNode& node, const FieldNote& note) const {
        for (const auto& [name, number] : node.entries("{name: expression}")) {
            number.check_name(name);
            value.push_back({name, number.number({}, is_free(note))});
        }
        if (value.empty()) node.fail("expected at least one {name: expression}");
    }
    void read(VectorComponent& value, const YamlNode& node, const FieldNote&) const {
        Words words = words_of(value);
        if (reader_.model_.planar) words.pop_back();
        value = static_cast<VectorComponent>(node.choice(words));
    }
    template <class T>
    void read(Handle<T>& value, const YamlNode& node, const FieldNote& note) const {
        value = find<T>(node.text(fmt::format("{}a {}", *note.name == '\0' ? "" : "the name of ", T::kind)), node);
    }
    template <class T>
    Handle<T> find(const std::string& name, const YamlNode& node) const {
        const auto& table = reader_.model_.table<T>();
        if (const Handle<T> found = table.find(name); !found.is_null()) return found;
        node.fail(fmt::format("there is no {} '{}'{}", T::kind, name, did_you_mean(name, table.names())));
    }
    void read(std::variant<MarkerHandle, Coordinate>& value, const YamlNode& node, const FieldNote&) const {
        const Model& model = reader_.model_;
        const std::string name = node.text("a marker");
        const bool is_marker = !model.markers.find(name).is_null() || !model.bodies.find(name).is_null() ||
                               model.joints.find(name.substr(0, name.rfind('.'))).is_null();
        value = Coordinate{name};
        if (is_marker) value = reader_.marker(node);
    }
    /// The first kind wins where both have the name.
    template <class A, class B>
    void read(std::variant<Handle<A>, Handle<B>>& value, const YamlNode& node, const FieldNote&) const {
        const auto& first = reader_.model_.table<A>();
        const auto& second = reader_.model_.table<B>();
        const std::string name = node.text(fmt::format("a {} or a {}", A::kind, B::kind));
        const Handle<A> one = first.find(name);
        const Handle<B> other = second.find(name);
        if (one.is_null() && other.is_null()) {
            std::vector<std::string> names = first.names();
            for (const auto& more : second.names()) names.push_back(more);
            node.fail(fmt::format("there is no {} or {} '{}'{}", A::kind, B::kind, name, did_you_mean(name, names)));
        }
        value = one;
        if (one.is_null()) value = other;
    }
    template <class Word>
    using WordOrMarker = std::variant<Word, MarkerHandle>;
    template <class Word>
    void read(WordOrMarker<Word>& value, const YamlNode& node, const FieldNote&) const {
        const Words words = words_of(Word{});
        const std::string name = node.text(fmt::format("{}, or the name of a marker or body", fmt::join(words, ", ")));
        const auto word = std::find(words.begin(), words.end(), name);
        const auto index = static_cast<int>(word - words.begin());
        value = word == words.end() ? reader_.marker(node) : WordOrMarker<Word>(static_cast<Word>(index));
    }
    void read(ContactSides& value, const YamlNode& node, const FieldNote&) const {
        const auto sides = node.items("two bodies, groups or lists of them [first, second]");
        if (sides.size() != 2) node.fail(fmt::format("expected [first, second], found {}", sides.size()));
        value = {reader_.read_contact_side(sides[0]), reader_.read_contact_side(sides[1])};
    }
    void read(GroupNames& value, const YamlNode& node, const FieldNote&) const { value = reader_.read_groups(node); }
    void read(EditLines& value, const YamlNode& node, const FieldNote&) const { value = reader_.read_edits(node); }
    void read(std::array<Number, 2>& value, const YamlNode& node, const FieldNote&) const {
        const auto numbers = node.numbers();
        if (numbers.size() != 2) node.fail(fmt::format("expected two numbers, found {}", numbers.size()));
        value = {numbers[0], numbers[1]};
    }
    void read(InertiaEntries& value, const YamlNode& node, const FieldNote&) const {
        value = reader_.read_inertia(node);
    }
    void read(std::vector<Number3>& value, const YamlNode& node, const FieldNote&) const {
        value = ModelReader::read_points(node, reader_.model_.planar);
    }
    void read(PlanePoints& value, const YamlNode& node, const FieldNote&) const {
        value.points = ModelReader::read_points(node, true);
    }
    void read(HeightGrid& value, const YamlNode& node, const FieldNote&) const {
        value = ModelReader::read_heights(node);
    }
    void read(SurfaceFile& value, const YamlNode& node, const FieldNote&) const { value = reader_.load_surface(node); }
    void read(std::vector<ContactShape>& value, const YamlNode& node, const FieldNote&) const {
        value = reader_.read_shapes(node);
    }
    void read(SectionType& value, const YamlNode& node, const FieldNote&) const {
        value = reader_.read_type<SectionType>(node, section_formats(), "section");
    }
    template <class T>
    void read(std::optional<T>& value, const YamlNode& node, const FieldNote& note) const {
        read(value.emplace(), node, note);
    }
    template <class T>
    void read(T& value, const YamlNode& node, const FieldNote&) const {
        if constexpr (std::is_enum_v<T>) {
            value = static_cast<T>(node.choice(words_of(value)));
        } else {
            FieldReader(reader_, node, "").read_object(value);
        }
    }

    const ModelReader& reader_;
    const YamlNode& node_;
    std::string key_;
};

template <class Types>
Types ModelReader::read_fields(const YamlNode& node, const TypeFormat& format,
                               const std::vector<TypeFormat>& formats) const {
    Types types = make_alternative<Types>(static_cast<std::size_t>(&format - formats.data()));
    FieldReader reader(*this, node, format.name);
    std::visit([&](auto& type) { type.visit(type, reader); }, types);
    return types;
}

template <class Types>
Types ModelReader::read_type(const YamlNode& node, const std::vector<TypeFormat>& formats, const char* what) const {
    const TypeFormat& format = find_type(node, formats, what);
    if (format.kind != FieldKind::object) return read_fields<Types>(node, format, formats);
    const YamlNode place = node.required(format.name);
    check_fields(place, format.options);
    return read_fields<Types>(place, format, formats);
}

template <class Element>
Element ModelReader::read_typed(const std::string& name, const YamlNode& node,
                                const std::vector<TypeFormat>& formats) const {
    const TypeNote& last = last_type<decltype(Element::type)>();
    if (last.is_code && node.is_map() && node.child(last.name))
        node.fail(
            fmt::format("a {} of type '{}' is a class of C++, which a file cannot hold: add it to the model in code",
                        Element::kind, last.name));
    return Element(name, read_type<decltype(Element::type)>(node, formats, Element::kind));
}

}  // namespace limber
