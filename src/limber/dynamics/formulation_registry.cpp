// Every formulation in one row: its solvers and what they can do.

#include <fmt/format.h>

#include "limber/dynamics/articulated_body.hpp"
#include "limber/dynamics/augmented_lagrangian.hpp"
#include "limber/dynamics/baumgarte.hpp"
#include "limber/dynamics/canonical_momenta.hpp"
#include "limber/dynamics/global.hpp"
#include "limber/dynamics/null_space.hpp"
#include "limber/dynamics/penalty.hpp"
#include "limber/dynamics/semi_recursive.hpp"
#include "limber/dynamics/spring_penalty.hpp"
#include "limber/model/error.hpp"

namespace limber {
namespace {

using SystemPointer = std::shared_ptr<const System>;

template <class Solver>
std::unique_ptr<AccelerationSolver> accelerations(SystemPointer system, const FormulationOptions& options) {
    return std::make_unique<Solver>(std::move(system), options);
}

// Nothing makes up for what a penalty leaves open: it must be larger.
std::unique_ptr<AccelerationSolver> penalized_accelerations(SystemPointer system, const FormulationOptions& options) {
    if (options.penalty_form == PenaltyForm::springs)
        return std::make_unique<SpringPenaltySolver>(std::move(system), options);
    FormulationOptions stiffer = options;
    stiffer.penalty = options.penalty_or(1e8);
    return std::make_unique<PenaltySolver>(std::move(system), stiffer);
}

template <class Solver>
std::unique_ptr<StepSolver> steps(SystemPointer system, const FormulationOptions& options) {
    return std::make_unique<Solver>(std::move(system), options);
}

std::vector<FormulationInfo> list_formulations() {
    std::vector<FormulationInfo> list;
    list.push_back(
        {.name = "global",
         .description = "index-3 augmented Lagrangian, Newton on positions, projected velocities and accelerations",
         .make_accelerations = accelerations<AugmentedLagrangianSolver>,
         .make_steps = steps<GlobalSolver>,
         .has_step_penalty = true});
    list.push_back({.name = "augmented-lagrangian",
                    .description = "acceleration-based augmented Lagrangian (Bayo)",
                    .make_accelerations = accelerations<AugmentedLagrangianSolver>});
    list.push_back({.name = "baumgarte",
                    .description = "Lagrange multipliers from the regularised saddle-point system, Baumgarte gains",
                    .make_accelerations = accelerations<BaumgarteSolver>});
    list.push_back({.name = "penalty",
                    .description = "acceleration-based penalty, without multiplier iteration",
                    .make_accelerations = penalized_accelerations,
                    .has_spring_form = true});
    list.push_back({.name = "null-space",
                    .description = "orthogonal decomposition of the constraint Jacobian, with projection",
                    .make_accelerations = accelerations<NullSpaceSolver>,
                    .always_projects = true});
    // In relative coordinates steps of `global` are those of Cuadrado and Dopico. Explicit schemes use articulated
    // bodies there, linear in the number of bodies, which a factorised mass matrix is not.
    list.push_back(
        {.name = "hybrid",
         .description = "relative coordinates, index-3 augmented Lagrangian on the loop closures (Cuadrado and Dopico)",
         .make_accelerations = make_articulated_body_solver,
         .make_steps = steps<GlobalSolver>,
         .coordinates = "relative",
         .has_penalty = false,
         .has_step_penalty = true});
    list.push_back(
        {.name = "semi-recursive",
         .description = "relative coordinates reduced to independent ones by velocity transformation, no multipliers",
         .make_accelerations = make_articulated_body_solver,
         .make_steps = steps<SemiRecursiveSolver>,
         .coordinates = "relative",
         .has_penalty = false,
         .has_step_multipliers = true});
    list.push_back({.name = "composite-body",
                    .description = "relative coordinates, composite inertias, augmented Lagrangian on the closures",
                    .make_accelerations = accelerations<AugmentedLagrangianSolver>,
                    .coordinates = "relative"});
    list.push_back({.name = "articulated-body",
                    .description = "relative coordinates, articulated inertias: linear in the number of bodies",
                    .make_accelerations = make_articulated_body_solver,
                    .coordinates = "relative",
                    .is_matrix_free = true,
                    .has_penalty = false});
    list.push_back({.name = "canonical-momenta",
                    .description = "articulated inertias on (q, p) with rk4; other integrators see its accelerations",
                    .make_accelerations = make_canonical_momenta_solver,
                    .coordinates = "relative",
                    .is_matrix_free = true,
                    .has_penalty = false});
    return list;
}

}  // namespace

const std::vector<FormulationInfo>& formulations() {
    static const std::vector<FormulationInfo> list = list_formulations();
    return list;
}

const FormulationInfo& find_formulation(const std::string& name) {
    std::vector<std::string> names;
    for (const auto& info : formulations()) {
        if (info.name == name) return info;
        names.push_back(info.name);
    }
    throw ModelError(
        fmt::format("unknown formulation '{}'{}; known: {}", name, did_you_mean(name, names), fmt::join(names, ", ")));
}

std::unique_ptr<AccelerationSolver> make_acceleration_solver(const std::string& formulation,
                                                             std::shared_ptr<const System> system,
                                                             const FormulationOptions& options) {
    return find_formulation(formulation).make_accelerations(std::move(system), options);
}

std::unique_ptr<StepSolver> make_step_solver(const std::string& formulation, std::shared_ptr<const System> system,
                                             const FormulationOptions& options) {
    const FormulationInfo& info = find_formulation(formulation);
    if (!info.is_step_solver()) throw ModelError(fmt::format("'{}' is not a step solver", formulation));
    return info.make_steps(std::move(system), options);
}

}  // namespace limber
