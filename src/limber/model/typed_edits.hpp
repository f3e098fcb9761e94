#pragma once
// Edits for programs: values of the model's own types, in place of words (edit.hpp). A session writes them as words
// before it applies them, so that they are journaled, undone and replayed as all others are.
//
//   session.apply(AddJoint{Revolute{.name = "hook", .between = {a, b}}, {.at = Number3{1, 0, 0}}});
//   session.apply(SetMass{body, 2.5});

#include <variant>

#include "limber/model/model.hpp"

namespace limber {

struct AddBody {
    Body body;
};
/// Its place, if it has one, is in world axes of the moment.
struct AddJoint {
    Joint joint;
    JointPlace place{};
    bool closes_gradually = false;  ///< draws the ends together and then holds; else they must be near each other
};
/// Neither a force nor a joint nor a sensor of one's own class, which has no words.
struct AddForce {
    Force force;
};
struct AddStop {
    Stop stop;
};
struct AddDriver {
    Driver driver;
};
struct AddSensor {
    Sensor sensor;
};
struct AddContact {
    ContactRule rule;
};
/// Refused if others depend on it, unless they may go too.
template <class Element>
struct Remove {
    Handle<Element> element;
    bool with_dependents = false;
};
/// Of a body with one solid, or with a mass of its own.
struct SetMass {
    BodyHandle body;
    Number mass;
};
struct SetParameter {
    std::string name;
    Number value;
};

using TypedEdit = std::variant<AddBody, AddJoint, AddForce, AddStop, AddDriver, AddSensor, AddContact, Remove<Body>,
                               Remove<Joint>, Remove<Force>, Remove<Stop>, Remove<Driver>, Remove<Sensor>,
                               Remove<ContactRule>, SetMass, SetParameter>;

}  // namespace limber
