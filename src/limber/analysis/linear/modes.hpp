#pragma once
// Linear analysis of a simulation at its present state: equilibrium or steady motion.
//
//   x' = A x,  x = (z, w): independent changes of position and of velocity, mass-normalised (linear_flow.hpp)
//
// Eigenvalues that are zero belong to free motions: places and turns that nothing restores (a mechanism on wheels may
// stand anywhere), and speeds that may have any value. They are found by ranks, so that they are exactly zero, and
// named; the verdict is about all others.
//
//   stable    all of them decay
//   unstable  one grows
//   critical  none grows, some neither grow nor decay: the linear terms do not decide
//   unsteady  the motion is neither at rest nor steady; A holds for an instant only

#include <string>
#include <vector>

#include "limber/math/eigenvalues.hpp"
#include "limber/simulation/simulation.hpp"

namespace limber {

struct LinearOptions {
    /// At rest, whatever the velocities of the state are.
    bool at_rest = false;
};

/// What takes part in a motion: named turns and slides.
struct ModeShape {
    /// Beside LinearModel::motions; of positions, z^T z = 1 (velocities if no position takes part), largest real.
    Eigen::VectorXcd shape;
    /// Share of each in the inertia of the motion; the shares add up to one.
    VecX participation;
};

/// x' = A x at a state.
struct LinearModel {
    MatX a;
    int positions = 0;                 ///< the first states; velocities are the rest
    std::vector<std::string> motions;  ///< that have a name, of all bodies and joints
    MatX shapes;                       ///< motions * states: rates of change of named motions by z, then by w
    VecX inertia;                      ///< of each motion by itself
    bool is_steady = true;
    std::string unsteady;  ///< why it is not
};

struct LinearModes {
    LinearModel model;
    EigenModes eigen;
    std::vector<ModeShape> shapes;  ///< beside eigen.values
    VecX frequencies_hz;            ///< imaginary part / 2 pi
    VecX damping_ratios;            ///< not a number at zero
    std::vector<std::string> zero;  ///< names of free motions
    std::string verdict, reason;    ///< one word, and what decides it
};

/// Throws ModelError where something is not smooth: stops that touch, dry friction, kinks of forces; and for more than
/// `max_states`.
LinearModel linearise(const Simulation& simulation, const LinearOptions& options = {});
LinearModes find_modes(LinearModel model);

inline constexpr int max_states = 200;

}  // namespace limber
