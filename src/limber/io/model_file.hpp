#pragma once
// Model files: YAML, version 1. See docs/model-file.md.

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "limber/model/model.hpp"

namespace limber {

/// Parameter values that take the place of those in the file.
using ParameterOverrides = std::vector<std::pair<std::string, std::string>>;

struct ModelFile {
    Model model;
    std::map<std::string, std::string> places;  ///< "joint 'crank'" -> "file:line"

    /// Puts file and line before a message about an element of this model.
    std::string locate(const std::string& message) const;
};

/// How much a model may be. What is more is refused as soon as it is met, before it has taken memory.
struct ReadLimits {
    std::size_t bodies = SIZE_MAX;
};

/// Reads a file, and everything it includes: regular files only, texts of up to 8 MB and surfaces of up to 64 MB.
/// Throws ModelError that names file, line and field. The model is complete: every reference has been resolved and
/// every number evaluated once.
ModelFile read_model_file(const std::string& path, const ParameterOverrides& overrides = {});

/// Gives the text of an included file, or nothing if it cannot be read; or throws ModelError that says why.
using IncludeLoader = std::function<std::optional<std::string>(const std::string& path)>;

/// The same from text; `name` stands for the file in messages. Without a loader, includes are refused.
ModelFile read_model_text(const std::string& text, const std::string& name, const ParameterOverrides& overrides = {},
                          const IncludeLoader& loader = nullptr, const ReadLimits& limits = {});

}  // namespace limber
