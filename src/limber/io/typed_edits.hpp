#pragma once
// Typed edits (model/typed_edits.hpp) in the words of the model file.

#include "limber/model/edit.hpp"
#include "limber/model/typed_edits.hpp"

namespace limber {

/// Throws ModelError where there are no words for it, or an element is not in the model.
Edit write_edit(const Model& model, const TypedEdit& edit);

}  // namespace limber
