#pragma once
// Text to a YAML tree, with messages that say what a person has to mend. Internal to the room.

#include <yaml-cpp/yaml.h>

#include <string>

namespace limber {

/// Larger texts are refused.
constexpr std::size_t longest_yaml = 8'000'000;

/// YAML text as a tree; `name` stands for the file in messages. Refuses what is too large or nested too deeply. Throws
/// ModelError.
YAML::Node parse_yaml(const std::string& text, const std::string& name);

}  // namespace limber
