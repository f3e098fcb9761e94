#pragma once
// Every setting of a simulation and of a session, in one row each. The row is all there is to say of it: its name (the
// same on the command line, in journals and in checkpoints), what it may be, what it means, where it acts, and where it
// is kept. Setting by name, listing, journals, checkpoints and fingerprints are made from these rows; a test compares
// them with the fields of the structures.

#include <functional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "limber/simulation/options.hpp"
#include "limber/simulation/session.hpp"

namespace limber {

struct Need;

using JointNumbers = std::vector<std::pair<std::string, double>>;
/// Enumerators are words.
using OptionValue = std::variant<bool, long, double, std::string, JointNumbers>;
std::string print(const OptionValue& value);

template <class Options>
struct OptionRow {
    const char* name = "";
    const char* meaning = "";          ///< empty: it has a place of its own on the command line, or none
    const Need* need = nullptr;        ///< where it acts
    std::vector<std::string> words{};  ///< if it is one of these; the first is the default
    double least = 0, most = 0;        ///< if it is a number
    bool is_zero_automatic = false;    ///< 0 is allowed below `least`, and leaves the choice to the program
    bool changes_results = true;       ///< false: it changes no bit of them
    std::function<OptionValue(const Options&)> get{};
    std::function<void(Options&, const OptionValue&)> put{};  ///< of the alternative that `get` returns; unchecked

    /// Throws ModelError, with what was expected and found, if the value is of another kind or out of range.
    void set(Options& options, const OptionValue& value) const;
};

const std::vector<OptionRow<SimulationOptions>>& simulation_option_rows();
/// Without the memory for snapshots, which belongs to the program and not to the session.
const std::vector<OptionRow<SessionOptions>>& session_option_rows();

}  // namespace limber
