#pragma once
// Putting a mechanism together: positions onto the constraints, velocities onto the constraints, and what is free to
// move.

#include <string>
#include <vector>

#include "limber/kinematics/body_space/twist.hpp"
#include "limber/kinematics/body_space/worst_row.hpp"

namespace limber {

struct AssemblyReport {
    bool converged = false;
    int iterations = 0;
    double largest_error = 0;  ///< of the rows, after assembly
    WorstRow worst;            ///< the row that has it
    double largest_move = 0;   ///< of a body's centre of mass
    double given_error = 0;    ///< of the rows of joints and drivers where the bodies were put
};

struct VelocityReport {
    double energy_lost = 0;  ///< kinetic energy before minus after
    double largest_error = 0;
    WorstRow worst;
};

struct MobilityReport {
    int bodies = 0, rows = 0, rank = 0;
    int freedoms = 0;                             ///< independent velocities
    int redundant = 0;                            ///< rows beyond the rank
    int counted_freedoms = 0;                     ///< Gruebler: unknowns minus rows
    bool singular_start = false;                  ///< the rank is larger near by: the start is a dead point
    std::vector<std::string> redundant_elements;  ///< their reactions are not unique
};

/// Moves the bodies onto the constraints (and, if asked, onto the model's initial coordinates), heavy bodies least.
/// `memory` is brought up to date.
template <int D>
AssemblyReport assemble(const Mechanism<D>& mechanism, BodyStates<D>& states, std::vector<double>& memory, double t,
                        bool with_initial_values);

/// Changes the velocities as an impulse of the joints would: least change in the metric of the masses.
template <int D>
VelocityReport project_velocities(const Mechanism<D>& mechanism, BodyStates<D>& states,
                                  const std::vector<double>& memory, double t, bool with_initial_values);

template <int D>
MobilityReport compute_mobility(const Mechanism<D>& mechanism, const BodyStates<D>& states,
                                const std::vector<double>& memory, double t);

}  // namespace limber
