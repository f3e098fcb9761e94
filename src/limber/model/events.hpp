#pragma once
// Edits that the running mechanism makes to itself when a condition passes through zero, one structure per direction.

#include <string>
#include <variant>
#include <vector>

#include "limber/model/element.hpp"

namespace limber {

/// In the words of io/edit_text.hpp.
struct EditLines {
    std::vector<std::string> lines{};
};

struct EventAction {
    EditLines edits{};
    bool once = false;

    static void visit(auto& self, auto& visitor) {
        visitor.field(self.edits, {"do", "edits of the running mechanism, see 'limber list edits'", true});
        visitor.field(self.once, {"once", "only the first time (default: every time)"});
    }
};

struct Rises {
    static constexpr TypeNote type{
        "rises", "when an expression of sensors, joint coordinates, rates and t passes through zero upwards"};
    std::string name{};
    Number condition{};
    EventAction action{};

    static void visit(auto& self, auto& visitor) {
        visitor.main(self.condition, Variables::scalars);
        EventAction::visit(self.action, visitor);
    }
};

struct Falls {
    static constexpr TypeNote type{"falls", "when it passes through zero downwards"};
    std::string name{};
    Number condition{};
    EventAction action{};

    static void visit(auto& self, auto& visitor) {
        visitor.main(self.condition, Variables::scalars);
        EventAction::visit(self.action, visitor);
    }
};

struct Crosses {
    static constexpr TypeNote type{"crosses", "when it passes through zero either way"};
    std::string name{};
    Number condition{};
    EventAction action{};

    static void visit(auto& self, auto& visitor) {
        visitor.main(self.condition, Variables::scalars);
        EventAction::visit(self.action, visitor);
    }
};

using EventType = std::variant<Rises, Falls, Crosses>;

struct EventRule : TypedElement<EventType> {
    static constexpr const char* kind = "event";
    using TypedElement::TypedElement;

    const Number& condition() const {
        return std::visit([](const auto& event) -> const Number& { return event.condition; }, type);
    }
    const EventAction& action() const {
        return std::visit([](const auto& event) -> const EventAction& { return event.action; }, type);
    }
};

}  // namespace limber
