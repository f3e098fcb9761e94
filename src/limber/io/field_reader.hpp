#pragma once
// Reads described elements (model/description.hpp). Internal to the room.

#include <fmt/format.h>

#include <optional>

#include "limber/io/field_formats.hpp"
#include "limber/io/field_words.hpp"
#include "limber/io/model_reader.hpp"

namespace limber {

class FieldReader {
public:
    /// `key`: that of the type, which holds the main field; empty: there is none.
    FieldReader(const ModelReader& reader, const YamlNode& node, std::string key)
        : reader_(reader), node_(node), key_(std::move(key)) {}

    template <class T>
    void main(T& value) {
        read(value, *node_.child(key_), {});
    }
    template <class T>
    void field(T& value, const FieldNote& note) {
        if (const auto child = node_.child(note.name)) read(value, *child, note);
    }
    void law(ScalarLaw& law) { law = reader_.read_law(node_); }
    void time_law(TimeLaw& law, const FieldNote& note, const char* /*table_meaning*/) {
        law = reader_.read_time_law(node_, note.name);
    }

private:
    static std::vector<std::string> names(const FieldNote& note) {
        return note.variables == Variables::time ? std::vector<std::string>{"t"} : std::vector<std::string>{};
    }

    void read(Number& value, const YamlNode& node, const FieldNote& note) const {
        value = node.number(names(note), note.variables == Variables::scalars);
    }
    void read(Number3& value, const YamlNode& node, const FieldNote& note) const {
        value = node.vector(reader_.model_.planar, names(note));
    }
    void read(AngularVector& value, const YamlNode& node, const FieldNote& note) const {
        value.components = reader_.read_angular(node, names(note));
    }
    void read(std::vector<Number>& value, const YamlNode& node, const FieldNote&) const { value = node.numbers(); }
    void read(bool& value, const YamlNode& node, const FieldNote&) const { value = node.truth(); }
    void read(MarkerHandle& value, const YamlNode& node, const FieldNote&) const { value = reader_.marker(node); }
    void read(MarkerPair& value, const YamlNode& node, const FieldNote&) const {
        std::tie(value.first, value.second) = reader_.two_markers(node);
    }
    void read(Coordinate& value, const YamlNode& node, const FieldNote&) const {
        value.name = node.text("a joint coordinate");
    }
    void read(Handle<RoadDefinition>& value, const YamlNode& node, const FieldNote&) const {
        const auto& roads = reader_.model_.roads;
        const std::string name = node.text("the name of a road");
        value = roads.find(name);
        if (value.is_null()) node.fail(fmt::format("there is no road '{}'{}", name, did_you_mean(name, roads.names())));
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
            read_object(value, node);
        }
    }
    template <class T>
    void read_object(T& value, const YamlNode& node) const {
        const auto fields = describe_fields<T>();
        node.check_keys(field_names(fields));
        for (const FieldFormat& field : fields)
            if (field.is_required && !node.child(field.name))
                node.fail(fmt::format("'{}' is missing: {}", field.name, field.meaning));
        FieldReader inside(reader_, node, "");
        T::visit(value, inside);
    }

    const ModelReader& reader_;
    const YamlNode& node_;
    std::string key_;
};

}  // namespace limber
