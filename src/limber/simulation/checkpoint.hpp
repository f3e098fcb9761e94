#pragma once
// Checkpoints of a run as files.

#include <string>
#include <utility>
#include <vector>

#include "limber/simulation/run.hpp"

namespace limber {

/// What is being run: a checkpoint of anything else would give no run at all.
struct RunIdentity {
    std::string model;  ///< its fingerprint
    std::vector<std::pair<std::string, std::string>>
        settings;  ///< everything that changes a bit of the results, by name
};

RunIdentity identify_run(const Model& model, const SimulationOptions& options, const RunOptions& run);

/// Takes the place of an older one in one go: whenever the program is stopped, there is a whole one. Throws ModelError
/// if it cannot be written; the older one is still there then.
void write_checkpoint(const std::string& path, const RunIdentity& identity, const RunCheckpoint& checkpoint);

/// Throws ModelError if the file cannot be read, is damaged, of another version, or belongs to another run: with the
/// place in the file, or the setting that differs. Whether the state fits the model is checked by the simulation that
/// it is given to.
RunCheckpoint read_checkpoint(const std::string& path, const RunIdentity& identity);

/// How often the run of a checkpoint made checkpoints [s]. Throws ModelError like read_checkpoint.
double read_checkpoint_interval(const std::string& path);

}  // namespace limber
