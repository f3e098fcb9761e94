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

/// What the multipliers of stops are, where they are found at the ends of steps.
enum class StopAction {
    force,   ///< forces at the end of the step, which the scheme carries on in its accelerations
    impulse  ///< of the step: velocities follow from them at once, and accelerations from what holds thereafter
};

struct ContactOptions {
    ContactTreatment treatment = ContactTreatment::events;
    /// Penalty r of a violated stop, force over depth (treatments augmented_lagrangian and penalty); 0: what suits mass
    /// and step.
    double stiffness = 0;
    /// rho, by which multipliers of stops change over depth (treatments augmented_lagrangian and multipliers); 0: the
    /// penalty, or without one what is exact for a single contact.
    double rho = 0;
    StopAction action = StopAction::force;
    ImpactLaw impact_law = ImpactLaw::newton;
    /// A bounce whose flight would be shorter than this part of the step is the last one of its sequence.
    double shortest_flight = 1e-3;

    bool operator==(const ContactOptions&) const = default;
};

}  // namespace limber
