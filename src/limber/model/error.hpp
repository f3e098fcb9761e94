#pragma once
// Errors that a designer can act on: thrown where input enters (files, API), never inside a step.

#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace limber {

/// The description of a mechanism is wrong. The message names the element and says what was expected.
class ModelError : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// What a message is about: "body 'crank': mass". Put into words only when there is something to say, since compiling a
/// model while it runs must be quick. Refers to its parts: for parameters, not for members.
class Subject {
public:
    Subject(const std::string& words) : name_(words) {}  // NOLINT(google-explicit-constructor)
    Subject(const char* words) : name_(words) {}         // NOLINT(google-explicit-constructor)
    Subject(std::string_view kind, const std::string& name, std::string_view detail = {})
        : kind_(kind), name_(name), detail_(detail) {}

    /// The same element, but this property of it.
    Subject with(std::string_view detail) const {
        Subject result = *this;
        result.detail_ = detail;
        return result;
    }
    std::string text() const;

private:
    std::string_view kind_, name_, detail_;
};

/// The candidate closest to a misspelt word, as " (did you mean 'x'?)", or nothing if none is close.
std::string did_you_mean(const std::string& word, const std::vector<std::string>& candidates);

/// The same for a name that stands in an expression, where a hyphen is a minus: of "arm-length" the names are 'arm' and
/// 'length', but 'arm_length' may have been meant.
std::string suggest_name(const std::string& name, const std::string& expression,
                         const std::vector<std::string>& candidates);

}  // namespace limber
