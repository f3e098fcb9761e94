#include "limber/simulation/written_velocities.hpp"

#include <fmt/format.h>

#include "limber/model/error.hpp"
#include "limber/simulation/option_needs.hpp"

namespace limber {
namespace {

bool lets_errors_last(const Method& method) {
    if (method.is_divided()) return method.couples_accelerations() || method.has_spring_joints();
    return method.has_gains() ||
           (method.is_stabilised() && method.options.formulation_options.stabilisation == Stabilisation::none);
}

}  // namespace

void keep_written_velocities(const Model& model, SimulationOptions& options) {
    if (!model.initial_rates.empty())
        throw ModelError(
            "initial: rates are what the joints make of the velocities; they exclude 'velocities: as-written'");
    const Method method{find_formulation(options.formulation), find_integrator(options.integrator), options, model};
    if (lets_errors_last(method)) {
        // Gains alone, without the projection that helps them out where much is open.
        Stabilisation& stabilisation = options.formulation_options.stabilisation;
        if (!options.modular.is_on() && stabilisation == Stabilisation::automatic) stabilisation = Stabilisation::gains;
        return;
    }
    if (options.modular.is_on())
        throw ModelError(
            "initial velocities as written: joints that act at the end of the step close there whatever the "
            "velocities; take --coupling acceleration or --gluing penalty");
    throw ModelError(fmt::format(
        "initial velocities as written: {} with {} moves velocities onto the joints; take an acceleration solver "
        "(augmented-lagrangian, baumgarte, penalty, ...) with option stabilisation=gains, under which the error fades "
        "out, or stabilisation=none, under which it stays",
        options.formulation, options.integrator));
}

}  // namespace limber
