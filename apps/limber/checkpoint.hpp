#pragma once
// Checkpoints of a run as files.

#include <string>

#include "limber/simulation/run.hpp"

namespace limber::app {

/// Takes the place of an older one in one go: whenever the program is stopped, there is a whole one. `identity` says what is being run.
void write_checkpoint(const std::string& path, const std::string& identity, const RunCheckpoint& checkpoint);

/// Throws ModelError if the file cannot be read, is damaged, or belongs to another run.
RunCheckpoint read_checkpoint(const std::string& path, const std::string& identity);

}  // namespace limber::app
