#pragma once
// Exchange between the processes of an MPI run. In a library of its own: programs for one machine do without MPI.

#include <memory>

#include "limber/modular/exchange.hpp"

namespace limber {

/// MPI must have been started, and must be ended after the last exchange.
std::shared_ptr<Exchange> make_mpi_exchange();

}  // namespace limber
