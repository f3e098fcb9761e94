#pragma once
// How a simulation computes: formulation, integrator, coordinates and their settings.

#include <string>

#include "limber/contact/contact_options.hpp"
#include "limber/methods/integrators.hpp"
#include "limber/model/model.hpp"
#include "limber/modular/options.hpp"

namespace limber {

struct SimulationOptions {
    std::string formulation = "global";
    std::string integrator = "trapezoidal";
    std::string coordinates;        ///< empty: those of the formulation, natural if it takes any
    bool from_equilibrium = false;  ///< start from static equilibrium, with the velocities of the model
    FormulationOptions formulation_options;
    IntegratorOptions integrator_options;
    ContactOptions contact_options;
    /// A run stops where its energy balance is off by so many times the energies that the start, gravity and work
    /// account for; 0: never.
    double energy_bound = 100;
    ModularOptions modular;  ///< formulation, integrator and coordinates then are those of components that have no own

    bool operator==(const SimulationOptions&) const = default;
};

/// Settings by name: "penalty", "rho", ... Throws ModelError for an unknown name or a value out of range.
void set_option(SimulationOptions& options, const std::string& name, const std::string& value);

/// Everything that the model's sections 'simulation' and 'modular' say.
SimulationOptions simulation_options_of(const Model& model);
/// Why a setting does nothing under these options, in words; empty: it does something. A setting by name, as for
/// set_option.
std::string explain_no_effect(const std::string& name, const SimulationOptions& options, const Model& model);

/// What the model's section 'simulation' says about contacts.
void apply_contact_defaults(const Model& model, SimulationOptions& options);
/// What the model's section 'simulation' says about gains.
void apply_gain_defaults(const Model& model, SimulationOptions& options);
/// What the model's section 'modular' says.
void apply_modular_defaults(const Model& model, SimulationOptions& options);

/// All settings, one line each, with the default in parentheses.
std::string describe_options();

}  // namespace limber
