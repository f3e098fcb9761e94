#include "limber/integration/stepper.hpp"

#include <fmt/format.h>

#include <limits>
#include <utility>

#include "limber/dynamics/dependent_rows.hpp"
#include "limber/integration/momentum_runge_kutta.hpp"
#include "limber/integration/moreau_jean.hpp"
#include "limber/integration/reference.hpp"
#include "limber/integration/runge_kutta.hpp"
#include "limber/integration/semi_implicit_euler.hpp"
#include "limber/integration/step_control.hpp"
#include "limber/integration/structural.hpp"
#include "limber/model/error.hpp"

namespace limber {
namespace {

// Of the size of the mechanism: what gains may leave open before a projection helps them out.
constexpr double most_drift_under_gains = 1e-5;

}  // namespace

const std::vector<IntegratorInfo>& integrators() {
    static const std::vector<IntegratorInfo> list{
        {"trapezoidal", "trapezoidal rule: second order, no dissipation", 2},
        {"newmark", "Newmark with dissipation (xi): first order for xi < 0", 1, "xi"},
        {"hht", "Hilber-Hughes-Taylor (delta): second order, dissipative", 2, "delta"},
        {"generalized-alpha", "generalized-alpha (rho): second order, dissipation set at infinite frequency", 2, "rho"},
        {"linear-acceleration", "linear acceleration within the step: second order, conditionally stable", 2},
        {"higher-order", "parabolic acceleration over two steps (Glowinski-Nasser): third order", 3},
        {"rk4", "classical Runge-Kutta: fourth order, explicit", 4, {}, true},
        {"semi-implicit-euler",
         "velocities by the forces at the start, positions by the velocities at the end: first order, one evaluation "
         "per step",
         1,
         {},
         true},
        {"moreau-jean", "time-stepping of rigid bodies that touch, in body space: any number of impacts in a step", 1},
        {"reference",
         "SUNDIALS, adaptive, tolerance 1e-10: order 8, variable order on stiff problems; for checking the others",
         8,
         {},
         true},
    };
    return list;
}

const IntegratorInfo& find_integrator(const std::string& name) {
    std::vector<std::string> names;
    for (const auto& info : integrators()) {
        if (info.name == name) return info;
        names.push_back(info.name);
    }
    throw ModelError(
        fmt::format("unknown integrator '{}'{}; known: {}", name, did_you_mean(name, names), fmt::join(names, ", ")));
}

StepReport start_state(AccelerationSolver& solver, State& state) {
    StepReport report;
    solver.use_no_gains();
    state.a.resize(state.q.size());
    state.lambda.setZero(solver.system().rows());
    report.ok = solver.solve(state.t, state.q, state.v, state.memory, state.a, state.lambda);
    if (!report.ok) report.reason = solver.failure();
    state.scheme_a = state.a;
    state.previous_a.resize(0);
    state.previous_step = 0;
    return report;
}

std::unique_ptr<Stepper> make_stepper(const std::string& formulation, const std::string& integrator,
                                      const std::shared_ptr<const System>& system, const FormulationOptions& options,
                                      const IntegratorOptions& scheme_options) {
    const FormulationInfo& info = find_formulation(formulation);
    const std::string& scheme = find_integrator(integrator).name;
    if (scheme == "moreau-jean") {
        if (const auto planar = std::dynamic_pointer_cast<const MechanismSystem<2>>(system))
            return std::make_unique<MoreauJean<2>>(planar);
        if (const auto spatial = std::dynamic_pointer_cast<const MechanismSystem<3>>(system))
            return std::make_unique<MoreauJean<3>>(spatial);
    }
    const bool is_structural = !find_integrator(integrator).needs_accelerations;
    auto solver = make_acceleration_solver(formulation, system, options);
    // Gains tied to the step suit fixed structural steps; otherwise projection is exact and keeps the order. The
    // null-space formulation is defined with projection. Gains of rows for velocities that depend on each other, always and not only while contacts stick, pull
    // against each other.
    Stabilisation stabilisation = options.stabilisation;
    double tolerated_drift = std::numeric_limits<double>::infinity();
    if (stabilisation == Stabilisation::automatic) {
        const bool are_gains_fit = is_structural && info.name != "null-space" &&
                                   !(solver->has_dependent_velocities() && has_dependent_velocity_rows(*system, false));
        stabilisation = are_gains_fit ? Stabilisation::gains : Stabilisation::projection;
        // Step control judges the drift itself.
        if (scheme_options.step_control == 0) tolerated_drift = most_drift_under_gains * system->length_scale();
    }
    if (stabilisation == Stabilisation::projection) tolerated_drift = 0;
    const bool gains = stabilisation == Stabilisation::gains;
    const bool projection = stabilisation == Stabilisation::projection;

    if (scheme == "reference")
        return std::make_unique<ReferenceStepper>(std::move(solver), scheme_options.reference_tolerance);
    std::unique_ptr<Stepper> stepper;
    if (scheme == "rk4" && dynamic_cast<MomentumSolver*>(solver.get()) != nullptr) {
        stepper = std::make_unique<MomentumRungeKutta4>(std::move(solver), gains, projection);
    } else if (scheme == "rk4") {
        stepper = std::make_unique<RungeKutta4>(std::move(solver), gains, projection);
    } else if (scheme == "semi-implicit-euler") {
        stepper = std::make_unique<SemiImplicitEuler>(std::move(solver), gains, projection);
    } else if (info.is_step_solver) {
        stepper = std::make_unique<StructuralStepper>(make_step_solver(formulation, system, options), std::move(solver),
                                                      make_structural_scheme(scheme, scheme_options));
    } else {
        stepper =
            std::make_unique<PredictorCorrector>(std::move(solver), make_structural_scheme(scheme, scheme_options),
                                                 gains, tolerated_drift, scheme_options.corrector_passes);
    }
    if (scheme_options.step_control > 0)
        return std::make_unique<PerturbationControl>(std::move(stepper), scheme_options.step_control,
                                                     scheme_options.max_halvings);
    return std::make_unique<RecoveringStepper>(std::move(stepper), scheme_options.max_halvings);
}

}  // namespace limber
