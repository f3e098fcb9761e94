#pragma once
// Settings of contacts.

#include "limber/model/simulation_defaults.hpp"

namespace limber {

enum class ContactTreatment {
    events,                ///< exact: instants of contact are found within the step (stop_stepper.hpp)
    augmented_lagrangian,  ///< the others: at the ends of steps only (projected_multipliers.hpp)
    multipliers,
    penalty
};

struct ContactOptions {
    ContactTreatment treatment = ContactTreatment::events;
    /// Penalty of a violated stop, force over depth (treatments augmented_lagrangian and penalty); 0: what suits mass
    /// and step.
    double stiffness = 0;
    ImpactLaw impact_law = ImpactLaw::newton;
    /// A bounce whose flight would be shorter than this part of the step is the last one of its sequence.
    double shortest_flight = 1e-3;

    bool operator==(const ContactOptions&) const = default;
};

}  // namespace limber
