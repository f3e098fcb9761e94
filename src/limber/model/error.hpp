#pragma once
// Errors that a designer can act on: thrown where input enters (files, API), never inside a step.

#include <stdexcept>
#include <string>
#include <vector>

namespace limber {

/// The description of a mechanism is wrong. The message names the element and says what was expected.
class ModelError : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// The candidate closest to a misspelt word, as " (did you mean 'x'?)", or nothing if none is close.
std::string did_you_mean(const std::string& word, const std::vector<std::string>& candidates);

}  // namespace limber
