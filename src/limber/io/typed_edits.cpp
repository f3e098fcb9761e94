#include "limber/io/typed_edits.hpp"

#include <fmt/format.h>

#include "limber/io/element_edits.hpp"
#include "limber/model/error.hpp"

namespace limber {
namespace {

class EditWriter {
public:
    explicit EditWriter(const Model& model) : model_(model) {}

    Edit operator()(const AddBody& edit) const { return added("bodies", edit.body); }
    Edit operator()(const AddStop& edit) const { return added("stops", edit.stop); }
    Edit operator()(const AddDriver& edit) const { return added("drivers", edit.driver); }
    Edit operator()(const AddSensor& edit) const { return added("sensors", edit.sensor); }
    Edit operator()(const AddContact& edit) const { return added("contacts", edit.rule); }
    Edit operator()(const AddForce& edit) const { return added("forces", edit.force); }
    Edit operator()(const AddJoint& edit) const {
        const JointPlace& place = edit.place;
        const bool is_placed = place.at || !place.at_marker.is_null() || place.axis || place.x;
        AddElement words = is_placed ? added("joints", edit.joint, place) : added("joints", edit.joint);
        words.closes_gradually = edit.closes_gradually;
        return words;
    }

    Edit operator()(const Remove<Body>& edit) const { return removed("bodies", model_.bodies, edit); }
    Edit operator()(const Remove<Joint>& edit) const { return removed("joints", model_.joints, edit); }
    Edit operator()(const Remove<Force>& edit) const { return removed("forces", model_.forces, edit); }
    Edit operator()(const Remove<Stop>& edit) const { return removed("stops", model_.stops, edit); }
    Edit operator()(const Remove<Driver>& edit) const { return removed("drivers", model_.drivers, edit); }
    Edit operator()(const Remove<Sensor>& edit) const { return removed("sensors", model_.sensors, edit); }
    Edit operator()(const Remove<ContactRule>& edit) const { return removed("contacts", model_.contacts, edit); }

    Edit operator()(const SetMass& edit) const {
        const std::string& name = model_.bodies.get(edit.body).name;
        std::string path;
        for (const Property& property : properties(model_, "bodies", name)) {
            if (property.field != "mass" && !property.field.ends_with(".mass")) continue;
            if (!path.empty())
                throw ModelError(
                    fmt::format("body '{}' has several masses: set '{}' or another one by its path", name, path));
            path = fmt::format("bodies.{}.{}", name, property.field);
        }
        if (path.empty())
            throw ModelError(fmt::format("body '{}' has no mass to set: its solids say something else", name));
        return SetProperty{path, edit.mass.text()};
    }
    Edit operator()(const SetParameter& edit) const {
        return SetProperty{"parameters." + edit.name, edit.value.text()};
    }

private:
    /// As the model would write it if it had the element.
    template <class Element, class... Place>
    AddElement added(const char* section, const Element& element, const Place&... place) const {
        if constexpr (requires { element.note(); })
            if (element.note().is_code)
                throw ModelError(fmt::format(
                    "{} '{}' is a class of C++, which a journal cannot hold: add it to the model before the session",
                    Element::kind, element.name));
        Model with = model_;
        with.add(element, place...);
        return {section, element.name, write_element(with, section, element.name)};
    }
    template <class Element>
    static Edit removed(const char* section, const Table<Element>& table, const Remove<Element>& edit) {
        return RemoveElement{section, table.get(edit.element).name, edit.with_dependents};
    }

    const Model& model_;
};

}  // namespace

Edit write_edit(const Model& model, const TypedEdit& edit) {
    return std::visit(EditWriter(model), edit);
}

}  // namespace limber
