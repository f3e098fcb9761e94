#pragma once
// The page and the examples, as they are built into the program.

#include <span>

#include "limber/server/library.hpp"

namespace limber::app {

std::span<const Asset> studio_assets();

}  // namespace limber::app
