// Joints and drivers.

#include "limber/io/field_writer.hpp"

namespace limber {
namespace {

class JointWriter : public FieldWriter {
public:
    JointWriter(const ElementWriter& writer, const Joint& joint, bool places_itself)
        : FieldWriter(writer, joint.note().name), joint_(joint), places_itself_(places_itself) {}

    void placed(const MarkerPair&) { writer_.add_placed(map_, key_, joint_, places_itself_); }
    MappingWriter take_map() { return std::move(map_); }

private:
    const Joint& joint_;
    bool places_itself_;
};

}  // namespace

void ElementWriter::add_place(MappingWriter& map, const Marker& marker) const {
    const auto& turn = marker.placement.orientation.values;
    if (marker.place == Marker::Kind::world)
        map.add("at", marker.base.is_null() ? vector(marker.placement.position) : YAML::Node(marker_name(marker.base)));
    if (turn.empty()) return;
    if (model_.planar) {
        map.add("axis", vector({turn[3], turn[4], turn[5]}));
        return;
    }
    map.add("axis", vector({turn[0], turn[1], turn[2]}));
    if (turn.size() == 6) map.add("x", vector({turn[3], turn[4], turn[5]}));
}

void ElementWriter::add_placed(MappingWriter& map, const char* key, const Joint& joint, bool places_itself) const {
    // Where a joint makes its markers, the ones it names say on which body, and at which point if 'at' does not.
    const auto named = [&](MarkerHandle handle) {
        if (!places_itself) return handle;
        const Marker& marker = model_.markers.get(handle);
        if (marker.place == Marker::Kind::turned) return marker.base;
        return model_.marker(model_.bodies.get(marker.body).name);
    };
    map.add(key, two_markers(named(joint.between()->first), named(joint.between()->second)));
    if (places_itself) add_place(map, model_.markers.get(joint.between()->first));
    if (joint.is_cut) map.add("cut", YAML::Node(*joint.is_cut ? "true" : "false"));
}

YAML::Node ElementWriter::write(const Joint& joint, bool places_itself) const {
    JointWriter writer(*this, joint, places_itself);
    std::visit([&](const auto& type) { type.visit(type, writer); }, joint.type);
    MappingWriter map = writer.take_map();
    if (joint.is_disabled) map.add("disabled", YAML::Node("true"));
    if (!joint.closing.empty()) map.add("closing", number_list(joint.closing));
    return map.take();
}

void ElementWriter::add_time_law(MappingWriter& map, const TimeLaw& law, const char* key) const {
    if (law.table) {
        add_rows(map, "table", *law.table);
    } else {
        map.add(key, law.expression);
    }
}

YAML::Node ElementWriter::write(const Driver& driver) const {
    return described(driver);
}

}  // namespace limber
