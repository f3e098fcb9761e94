#include "limber/io/model_writer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "limber/io/field_words.hpp"
#include "limber/io/field_writer.hpp"

namespace limber {

// ---------------------------------------------------------------- small things

YAML::Node table_rows(const TableDefinition& table) {
    YAML::Node rows(YAML::NodeType::Sequence);
    for (std::size_t i = 0; i < table.x.size(); ++i) rows.push_back(number_list({table.x[i], table.y[i]}));
    return rows;
}

void add_rows(MappingWriter& map, const char* key, const TableDefinition& table) {
    map.add(key, table_rows(table));
    if (table.interpolation == Interpolation::Kind::linear) map.add("interpolation", YAML::Node("linear"));
}

YAML::Node ElementWriter::write(const TableDefinition& table) const {
    MappingWriter map;
    add_rows(map, "rows", table);
    return map.take();
}

YAML::Node height_rows(const HeightGrid& grid) {
    YAML::Node rows(YAML::NodeType::Sequence);
    for (auto row = grid.heights.begin(); row != grid.heights.end(); row += grid.columns)
        rows.push_back(number_list({row, row + grid.columns}));
    return rows;
}

YAML::Node ElementWriter::write(const CurveDefinition& curve) const {
    return described(curve);
}

YAML::Node ElementWriter::gravity() const {
    if (model_.orbit) {
        MappingWriter map;
        map.add("orbit", *model_.orbit);
        return map.take();
    }
    return is_zero(model_.gravity) ? YAML::Node("none") : vector(model_.gravity);
}

YAML::Node ElementWriter::initial() const {
    const auto values = [](const std::vector<InitialValue>& list) {
        MappingWriter map;
        for (const InitialValue& value : list) map.add(value.scalar, value.value);
        return map.take();
    };
    MappingWriter map;
    map.add("positions", values(model_.initial_positions));
    map.add("rates", values(model_.initial_rates));
    if (model_.initial_velocities != StartVelocities::on_joints)
        map.add("velocities", YAML::Node(words_of(model_.initial_velocities)[1]));
    return map.take();
}

// ---------------------------------------------------------------- the whole file

namespace {

// Which joints can be written with 'at', 'axis' and 'x' so that reading makes the same markers again. Markers of all
// others are written with their bodies. A joint cannot if an element that is read before it needs its markers, or if
// its markers would get other names; both come about by edits only.
class JointPlaces {
public:
    explicit JointPlaces(const Model& model) : model_(model), joints_(model.joints.handles()) {
        for (std::size_t i = 0; i < joints_.size(); ++i) {
            const Joint& joint = model_.joints.get(joints_[i]);
            if (!has_own_markers(model_, joint)) continue;
            maker_[joint.ends().first.index] = i;
            maker_[joint.ends().second.index] = i;
        }
        while (withdraw_first_contradiction()) {
        }
    }

    /// Whether the marker is made by its joint when the file is read.
    bool is_made(MarkerHandle marker) const { return maker_.count(marker.index) != 0; }

private:
    // A joint that contradicts the order of reading leaves its markers to the bodies; false if there is none.
    bool withdraw_first_contradiction() {
        std::set<std::string> taken;
        for (const auto handle : model_.markers.handles()) {
            if (is_made(handle)) continue;
            const Marker& marker = model_.markers.get(handle);
            taken.insert(marker.name);
            if (withdraw(marker.base, 0)) return true;
        }
        for (std::size_t i = 0; i < joints_.size(); ++i) {
            const Joint& joint = model_.joints.get(joints_[i]);
            for (const MarkerHandle handle : {joint.ends().first, joint.ends().second}) {
                const bool is_own = is_made(handle) && maker_.at(handle.index) == i;
                if (withdraw(is_own ? model_.markers.get(handle).base : handle, i)) return true;
                if (is_own && !gets_its_name(handle, joint.name, taken)) return withdraw(handle, i);
            }
        }
        return false;
    }

    // A marker that is needed when joint number `reading` is read (or before all joints) must be there by then.
    bool withdraw(MarkerHandle needed, std::size_t reading) {
        const auto it = maker_.find(needed.index);
        if (it == maker_.end() || it->second < reading) return false;
        const Joint& joint = model_.joints.get(joints_[it->second]);
        maker_.erase(joint.ends().first.index);
        maker_.erase(joint.ends().second.index);
        return true;
    }

    bool gets_its_name(MarkerHandle handle, const std::string& joint, std::set<std::string>& taken) const {
        const Marker& marker = model_.markers.get(handle);
        std::string name = model_.bodies.get(marker.body).name + "." + joint;
        if (taken.count(name) != 0) name += "_joint";
        return taken.insert(name).second && name == marker.name;
    }

    const Model& model_;
    std::vector<JointHandle> joints_;
    std::map<std::uint32_t, std::size_t> maker_;  ///< marker -> number of the joint that makes it
};

class FileWriter {
public:
    explicit FileWriter(const Model& model) : model_(model), elements_(model) {}

    std::string write() {
        text_ = "limber: 1\n";
        if (!model_.title.empty()) entry("title", YAML::Node(model_.title));
        if (model_.planar) entry("plane", YAML::Node("xy"));
        if (!has_default_gravity()) entry("gravity", elements_.gravity());
        MappingWriter parameters;
        for (const auto& name : model_.parameters.names()) parameters.add(name, model_.parameters.definition(name));
        entry_unless_empty("parameters", parameters.take());
        section("tables", model_.tables);
        section("curves", model_.curves);
        section("roads", model_.roads);
        write_bodies_and_joints();
        section("drivers", model_.drivers);
        section("stops", model_.stops);
        section("forces", model_.forces);
        section("contacts", model_.contacts);
        section("sensors", model_.sensors);
        section("events", model_.events);
        write_initial();
        entry_unless_empty("simulation", elements_.described(model_.simulation));
        if (!model_.simulation.conditions.empty()) text_ += "solve:\n";
        for (const StartCondition& condition : model_.simulation.conditions)
            text_ += entry_text(condition.name, elements_.described(condition), 2);
        if (!model_.simulation.components.empty()) text_ += "components:\n";
        for (const ComponentGroup& group : model_.simulation.components)
            text_ += entry_text(group.name, elements_.described(group), 2);
        entry_unless_empty("modular", elements_.described(model_.simulation.modular));
        return std::move(text_);
    }

private:
    void entry(const char* key, const YAML::Node& value) { text_ += entry_text(key, value, 0); }
    void entry_unless_empty(const char* key, const YAML::Node& value) {
        if (value.size() > 0) entry(key, value);
    }
    template <class Element>
    void section(const char* key, const Table<Element>& table) {
        if (table.size() > 0) text_ += fmt::format("{}:\n", key);
        for (const auto handle : table.handles()) {
            const Element& element = table.get(handle);
            text_ += entry_text(element.name, elements_.write(element), 2);
        }
    }

    bool has_default_gravity() const {
        if (model_.orbit) return false;
        const Number3 usual = default_gravity(model_.planar);
        for (int k = 0; k < 3; ++k)
            if (model_.gravity[k].text() != usual[k].text()) return false;
        return true;
    }

    void write_bodies_and_joints() {
        const JointPlaces places(model_);
        std::map<std::uint32_t, std::vector<MarkerHandle>> markers;
        for (const auto handle : model_.markers.handles()) {
            const Marker& marker = model_.markers.get(handle);
            if (!comes_with_body(model_, marker) && !places.is_made(handle))
                markers[marker.body.index].push_back(handle);
        }
        // Those that joints have made come last, as they do when a file is read, whenever they were made.
        for (auto& [body, list] : markers)
            std::stable_partition(list.begin(), list.end(),
                                  [&](MarkerHandle handle) { return !model_.markers.get(handle).is_joints_own; });
        std::string bodies;
        for (const auto handle : model_.bodies.handles()) {
            const auto own = markers.find(handle.index);
            if (handle == model_.ground() && own == markers.end() && !model_.bodies.get(handle).shapes) continue;
            YAML::Node body = elements_.write(model_.bodies.get(handle));
            if (own != markers.end()) body["markers"] = elements_.markers(own->second);
            bodies += entry_text(model_.bodies.get(handle).name, body, 2);
        }
        if (!bodies.empty()) text_ += "bodies:\n" + bodies;
        if (model_.joints.size() > 0) text_ += "joints:\n";
        for (const auto handle : model_.joints.handles()) {
            const Joint& joint = model_.joints.get(handle);
            text_ += entry_text(
                joint.name,
                elements_.write(joint, has_own_markers(model_, joint) && places.is_made(joint.ends().first)), 2);
        }
    }

    void write_initial() {
        MappingWriter initial;
        for (const auto& part : elements_.initial())
            if (part.second.IsScalar() || part.second.size() > 0) initial.add(part.first.Scalar(), part.second);
        entry_unless_empty("initial", initial.take());
    }

    const Model& model_;
    ElementWriter elements_;
    std::string text_;
};

}  // namespace

std::string write_model_text(const Model& model) {
    return FileWriter(model).write();
}

}  // namespace limber
