#pragma once
// Writes model files: the inverse of read_model_text.

#include <string>

#include "limber/model/model.hpp"

namespace limber {

/// The model as a file: version 1, without loops and includes. Reading it gives the same elements in the same order
/// with the same numbers, so the same motion to the bit. Throws ModelError for what no file can say.
std::string write_model_text(const Model& model);

}  // namespace limber
