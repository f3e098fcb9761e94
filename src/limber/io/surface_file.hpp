#pragma once
// Surfaces from STL (text or binary) and OBJ files.

#include <string>

#include "limber/model/model.hpp"

namespace limber {

/// Throws ModelError; `name` ends in .stl or .obj and stands for the file in messages.
SurfaceMesh read_surface(const std::string& content, const std::string& name);

}  // namespace limber
