#pragma once
// The settings of a session as they stand in a journal, by the names of option_table.hpp, which also says what each may
// be: a journal may come from anybody, and a number that is used unchecked can end the program.

#include <nlohmann/json_fwd.hpp>

#include "limber/simulation/session.hpp"

namespace limber {

/// Everything beside the model that decides a motion.
struct RecordedOptions {
    SimulationOptions simulation;
    SessionOptions session;
};

nlohmann::ordered_json write_options(const RecordedOptions& options);
/// Throws ModelError that names the setting, what was expected and what was found.
RecordedOptions read_options(const nlohmann::ordered_json& json);

/// Whole numbers of a journal. Throws ModelError.
long read_whole_number(const nlohmann::ordered_json& json, const char* key, long least, long most);
/// A finite number. Throws ModelError.
double read_number(const nlohmann::ordered_json& json, const char* key, double least, double most);

}  // namespace limber
