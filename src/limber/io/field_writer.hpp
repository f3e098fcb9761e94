#pragma once
// Writes described elements (model/description.hpp). Internal to the room.

#include <algorithm>
#include <optional>

#include "limber/io/element_writer.hpp"
#include "limber/io/field_words.hpp"

namespace limber {

class FieldWriter {
public:
    /// `key`: that of the type, which holds the main field; empty: there is none.
    FieldWriter(const ElementWriter& writer, const char* key) : writer_(writer), key_(key) {}

    template <class T>
    void main(const T& value, Variables = Variables::none) {
        has_main_ = true;
        map_.add(key_, node_of(value));
    }
    template <class T>
    void field(const T& value, const FieldNote& note) {
        if (note.is_required || !is_absent(value)) map_.add(note.name, node_of(value));
    }
    void placement(const Placement& placement) { writer_.add_placement(map_, placement); }
    void solids(const std::vector<Solid>& solids) { writer_.add_solids(map_, solids); }
    void law(const ScalarLaw& law) { writer_.add_law(map_, law); }
    void time_law(const TimeLaw& law, const FieldNote& note, const char* /*table_meaning*/) {
        writer_.add_time_law(map_, law, note.name);
    }
    YAML::Node take() {
        if (has_main_ || *key_ == '\0') return map_.take();
        MappingWriter whole;
        whole.add(key_, map_.take());
        return whole.take();
    }

protected:
    // What a reader would make of an absent field.
    static bool is_absent(const Number& value) { return is_zero(value); }
    static bool is_absent(const Number3& value) { return is_zero(value); }
    static bool is_absent(const AngularVector& value) { return is_zero(value.components); }
    static bool is_absent(const std::vector<Number>& value) { return value.empty(); }
    static bool is_absent(const InertiaEntries& value) {
        return std::all_of(value.entries.begin(), value.entries.end(), [](const Number& n) { return is_zero(n); });
    }
    static bool is_absent(const GroupNames& value) { return value.names.empty(); }
    static bool is_absent(const std::vector<Number3>& value) { return value.empty(); }
    static bool is_absent(const SurfaceFile& value) { return value.name.empty(); }
    static bool is_absent(const EditLines& value) { return value.lines.empty(); }
    static bool is_absent(const HeightGrid& value) { return value.heights.empty(); }
    static bool is_absent(const PlanePoints& value) { return value.points.empty(); }
    static bool is_absent(const Coordinate& value) { return value.name.empty(); }
    // Of joints that have been removed nothing is written.
    bool is_absent(const std::vector<JointNumber>& value) const {
        return std::none_of(value.begin(), value.end(), [&](const JointNumber& one) { return has_joint(one); });
    }
    bool has_joint(const JointNumber& number) const { return !writer_.model_.joints.find(number.joint).is_null(); }
    template <class T>
    static bool is_absent(const std::optional<T>& value) {
        return !value;
    }
    template <class T>
    static bool is_absent(const T& value) {
        return value == T{};
    }

    static YAML::Node node_of(const Number& value) { return YAML::Node(value.text()); }
    YAML::Node node_of(const Number3& value) const { return writer_.vector(value); }
    YAML::Node node_of(const AngularVector& value) const { return writer_.angular(value.components); }
    static YAML::Node node_of(const std::vector<Number>& value) { return number_list(value); }
    static YAML::Node node_of(const std::string& value) { return YAML::Node(value); }
    static YAML::Node node_of(const std::vector<std::string>& value) { return YAML::Node(value); }
    YAML::Node node_of(const std::vector<JointNumber>& value) const {
        MappingWriter map;
        for (const JointNumber& number : value)
            if (has_joint(number)) map.add(number.joint, number.value);
        return map.take();
    }
    static YAML::Node node_of(const std::array<Number, 2>& value) { return number_list({value[0], value[1]}); }
    YAML::Node node_of(const InertiaEntries& value) const { return writer_.inertia(value); }
    static YAML::Node node_of(const GroupNames& value) { return one_or_list(value.names); }
    static YAML::Node node_of(const EditLines& value) { return YAML::Node(value.lines); }
    static YAML::Node node_of(const SurfaceFile& value) { return YAML::Node(value.name); }
    static YAML::Node node_of(const HeightGrid& value) { return height_rows(value); }
    static YAML::Node node_of(const PlanePoints& value) { return points_node(value.points, true); }
    YAML::Node node_of(const std::vector<Number3>& value) const { return points_node(value, writer_.model_.planar); }
    YAML::Node node_of(const ContactSides& value) const { return writer_.sides(value); }
    YAML::Node node_of(const std::vector<ContactShape>& value) const { return writer_.shapes(value); }
    static YAML::Node node_of(const TableDefinition& value) { return table_rows(value); }
    static YAML::Node node_of(bool value) { return YAML::Node(value ? "true" : "false"); }
    YAML::Node node_of(MarkerHandle value) const { return YAML::Node(writer_.marker_name(value)); }
    YAML::Node node_of(const MarkerPair& value) const { return writer_.two_markers(value.first, value.second); }
    static YAML::Node node_of(const Coordinate& value) { return YAML::Node(value.name); }
    static YAML::Node node_of(const CoordinatePair& value) {
        YAML::Node list(YAML::NodeType::Sequence);
        list.push_back(value.first);
        list.push_back(value.second);
        return list;
    }
    static YAML::Node node_of(const std::vector<ScalarTerm>& value) {
        MappingWriter terms;
        for (const ScalarTerm& term : value) terms.add(term.scalar, term.coefficient);
        return terms.take();
    }
    static YAML::Node node_of(const std::vector<NamedExpression>& value) {
        MappingWriter list;
        for (const NamedExpression& one : value) list.add(one.name, one.value);
        return list.take();
    }
    template <class T>
    YAML::Node node_of(Handle<T> value) const {
        return YAML::Node(writer_.model_.table<T>().get(value).name);
    }
    template <class... T>
    YAML::Node node_of(const std::variant<T...>& value) const {
        return std::visit([&](const auto& one) { return node_of(one); }, value);
    }
    YAML::Node node_of(const SectionType& value) const { return writer_.write_type(value); }
    template <class T>
    YAML::Node node_of(const std::optional<T>& value) const {
        return node_of(value.value());
    }
    template <class T>
    YAML::Node node_of(const T& value) const {
        if constexpr (std::is_enum_v<T>) {
            return YAML::Node(words_of(value)[static_cast<std::size_t>(value)]);
        } else {
            return writer_.described(value);
        }
    }

    const ElementWriter& writer_;
    const char* key_;
    MappingWriter map_;
    bool has_main_ = false;
};

template <class Types>
YAML::Node ElementWriter::write_type(const Types& types) const {
    return std::visit(
        [&](const auto& type) {
            FieldWriter writer(*this, type.type.name);
            type.visit(type, writer);
            return writer.take();
        },
        types);
}

template <class Types>
void ElementWriter::add_type(MappingWriter& map, const Types& types) const {
    std::visit([&](const auto& type) { map.add(type.type.name, described(type)); }, types);
}

template <class Described>
YAML::Node ElementWriter::described(const Described& element) const {
    FieldWriter writer(*this, "");
    Described::visit(element, writer);
    return writer.take();
}

}  // namespace limber
