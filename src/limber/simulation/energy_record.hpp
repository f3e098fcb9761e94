#pragma once
// How well the energy of a run balances: largest drift, and the energies it is to be compared with.

#include <optional>
#include <string>

#include "limber/simulation/observer.hpp"
#include "limber/simulation/warning.hpp"

namespace limber {

struct EnergyRecord {
    double start = 0;      ///< kinetic + potential + contact loss
    double available = 0;  ///< at the start: kinetic, of springs, and of gravity over the typical length
    double weight = 0;     ///< of gravity over the typical length
    double least_kinetic = 0, max_kinetic = 0;
    double least_work = 0, max_work = 0;  ///< of what has no potential, since the start
    double contact_loss = 0;
    double drift = 0;  ///< largest |kinetic + potential + contact loss - work - start|

    void begin(const Energies& energies, double weight_energy);
    /// After a step; `off` is what does not balance there.
    void follow(const Energies& energies, double work, double off);
    double exchanged() const { return max_kinetic - least_kinetic; }
    double work_done() const { return max_work - least_work; }
};

/// Why a run has lost the motion: its energy is off by more than `energy_bound` times what was there to begin with and
/// has been put in or taken out since (0: any), or joints have come apart by the size of the mechanism. Empty: it has
/// not.
std::string find_runaway(const EnergyRecord& record, const ConstraintErrors& errors, double length_scale,
                         double energy_bound, double step);

/// A drift beyond a hundredth of what it is compared with.
std::optional<Warning> find_drift_warning(const EnergyRecord& record, double step);

/// The largest turn of a body in one step.
struct LargestTurn {
    std::string body;
    double angle = 0, step = 0;

    /// `parts`: pieces that the step was divided into.
    void follow(const FastestTurn& turn, double h, int parts);
};

/// Beyond what a scheme of this order follows.
std::optional<Warning> find_turn_warning(const LargestTurn& turn, int order);

}  // namespace limber
