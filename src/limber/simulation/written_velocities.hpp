#pragma once
// Which methods let a mechanism start with velocities that its joints do not allow (`initial: {velocities:
// as-written}`). Most move velocities onto the joints, at the start of a step or at its end, and what is written would
// be gone without a word.

#include "limber/simulation/options.hpp"

namespace limber {

/// Options under which the error lasts: automatic stabilisation becomes that by gains alone. Throws ModelError if the
/// method has none.
void keep_written_velocities(const Model& model, SimulationOptions& options);

}  // namespace limber
