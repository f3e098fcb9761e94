#pragma once
// Edits of a model, element by element, in the words of the model file. Each either succeeds or throws ModelError and
// leaves the model as it was. They check what can be seen from the element itself; what needs the whole mechanism is
// found when the model is compiled.
//
// Sections are those of the file that hold named elements, and 'markers', whose elements are called body.marker.

#include <string>
#include <vector>

#include "limber/model/model.hpp"

namespace limber {

/// Names of all sections.
const std::vector<std::string>& element_sections();

/// Adds an element; `yaml` is what would stand after "name:" in a file.
void add_element(Model& model, const std::string& section, const std::string& name, const std::string& yaml);

/// Removes an element, with the markers it has made. If others depend on it they are removed too (`with_dependents`),
/// or it is an error that names them. Returns what was removed: "joint 'pin'", ...
std::vector<std::string> remove_element(Model& model, const std::string& section, const std::string& name,
                                        bool with_dependents);

/// The YAML of one element: what add_element takes.
std::string write_element(const Model& model, const std::string& section, const std::string& name);

/// Changes one value: "parameters.m", "gravity", "bodies.crank.rod.mass", "joints.pin.at.0", "simulation.step", or a
/// whole element, "forces.k". Empty `yaml` takes an optional value away. Handles stay valid.
void set_property(Model& model, const std::string& path, const std::string& yaml);

/// One value of an element: set_property(model, section.name.field, value) leaves it as it is. The field is empty where
/// the element is itself a value, as a parameter is.
struct Property {
    std::string field;
    std::string value;
};
/// All values that an element has.
std::vector<Property> properties(const Model& model, const std::string& section, const std::string& name);

}  // namespace limber
