#pragma once
// Where a setting acts: what it needs of a formulation, an integrator and a model, as a question and in words.

#include "limber/simulation/options.hpp"

namespace limber {

/// One formulation with one integrator: of the whole, or of a component.
struct Method {
    const FormulationInfo& formulation;
    const IntegratorInfo& integrator;
    const SimulationOptions& options;
    const Model& model;

    bool is_time_stepping() const { return integrator.kind == IntegratorKind::time_stepping; }
    bool is_divided() const { return options.modular.is_on(); }
    bool has_stops() const { return model.stops.size() > 0; }
    bool acts_at_events() const {
        return !has_stops() || options.contact_options.treatment == ContactTreatment::events;
    }
    /// Time-stepping of rigid bodies that touch takes stops for contacts, with a law of their own.
    bool steps_over_stops() const;
    bool has_newton() const { return formulation.is_step_solver() && integrator.is_structural() && acts_at_events(); }
    /// Accelerations are integrated, and constraints stabilised.
    bool is_stabilised() const {
        return !has_newton() && !is_time_stepping() && integrator.kind != IntegratorKind::adaptive && acts_at_events();
    }
    bool has_gains() const;
    /// Each step ends on the constraints, where nothing else is said.
    bool has_projection() const;
    bool has_penalty() const;
    bool couples_accelerations() const { return is_divided() && options.modular.coupling == Coupling::acceleration; }
    bool has_relative_error() const;
    /// Of its force laws some are of a kind that can have kinks.
    bool may_have_kinks() const;
    /// Springs between components in place of joints.
    bool has_spring_joints() const { return is_divided() && options.modular.gluing == Gluing::penalty; }
    /// Springs in place of all constraints.
    bool has_springs() const {
        return formulation.has_spring_form && !is_time_stepping() &&
               options.formulation_options.penalty_form == PenaltyForm::springs;
    }
};

/// "It needs" `words`.
struct Need {
    const char* words;
    bool (*is_met)(const Method&);
};

namespace needs {

extern const Need any_run, division, newton, stabilisation, gains_or_error, projection, stops, impacts, penalty,
    structural, kinks, newmark, hht, generalized_alpha, corrector, halvings, stop_penalty, stop_multipliers, uzawa,
    adaptive, step_control, spring_penalty, velocity_gain, penalty_formulation;

}  // namespace needs

}  // namespace limber
