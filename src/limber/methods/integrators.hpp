#pragma once
// All integrators, and any of them joined to any formulation.

#include <memory>
#include <string>
#include <vector>

#include "limber/integration/stepper.hpp"

namespace limber {

struct StepperParts;

enum class IntegratorKind {
    structural,     ///< difference formulas, put into the equations of motion or corrected by accelerations
    explicit_step,  ///< from accelerations alone
    time_stepping,  ///< of bodies, over impacts: asks no formulation
    adaptive        ///< from accelerations, with steps of its own inside those asked for
};

/// An integrator: how it is made, and what it can do. The rest of the program asks these abilities, never its name.
struct IntegratorInfo {
    using MakeStepper = std::unique_ptr<Stepper> (*)(StepperParts&);

    std::string name, description;
    IntegratorKind kind = IntegratorKind::structural;
    MakeStepper make = nullptr;
    int order = 2;
    std::string parameter{};        ///< name of the option that tunes it; empty: none
    bool is_always_stable = false;  ///< whatever the frequency: finds motions without inertia in balance

    bool is_structural() const { return kind == IntegratorKind::structural; }
    /// Step solvers are replaced by their index-1 counterpart.
    bool needs_accelerations() const {
        return kind == IntegratorKind::explicit_step || kind == IntegratorKind::adaptive;
    }
    bool takes_rigid_contacts() const { return kind == IntegratorKind::time_stepping; }
    bool can_be_coupled() const { return kind != IntegratorKind::time_stepping; }
};

const std::vector<IntegratorInfo>& integrators();
/// Names of those that a condition holds for, in words: "a, b or c".
std::string list_integrators(bool (*is_meant)(const IntegratorInfo&));
const IntegratorInfo& find_integrator(const std::string& name);

/// Any formulation with any integrator. Explicit schemes and `reference` use a step solver's index-1 counterpart.
std::unique_ptr<Stepper> make_stepper(const std::string& formulation, const std::string& integrator,
                                      const std::shared_ptr<const System>& system,
                                      const FormulationOptions& formulation_options = {},
                                      const IntegratorOptions& integrator_options = {});

}  // namespace limber
