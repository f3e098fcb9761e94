#include "limber/methods/integrators.hpp"

#include <fmt/format.h>

#include <limits>
#include <utility>

#include "limber/contact/time_stepping/moreau_jean.hpp"
#include "limber/dynamics/dependent_rows.hpp"
#include "limber/integration/explicit_euler.hpp"
#include "limber/integration/kink_stepper.hpp"
#include "limber/integration/momentum_runge_kutta.hpp"
#include "limber/integration/reference.hpp"
#include "limber/integration/runge_kutta.hpp"
#include "limber/integration/semi_implicit_euler.hpp"
#include "limber/integration/step_control.hpp"
#include "limber/integration/structural.hpp"
#include "limber/model/error.hpp"

namespace limber {

/// What a formulation brings along to be joined to a scheme.
struct StepperParts {
    const FormulationInfo& formulation;
    const IntegratorInfo& integrator;
    const std::shared_ptr<const System>& system;
    const FormulationOptions& formulation_options;
    const IntegratorOptions& options;
    // Not for time-stepping.
    std::unique_ptr<AccelerationSolver> solver{};
    bool has_gains = false, projects = false;
    double tolerated_drift = 0;
};

namespace {

// Of the size of the mechanism: what gains may leave open before a projection helps them out.
constexpr double max_drift_under_gains = 1e-5;

// Gains tied to the step suit fixed structural steps; otherwise projection is exact and keeps the order. Gains of rows
// for velocities that depend on each other, always and not only while contacts stick, pull against each other.
void choose_stabilisation(StepperParts& parts) {
    Stabilisation stabilisation = parts.formulation_options.stabilisation;
    parts.tolerated_drift = std::numeric_limits<double>::infinity();
    // Springs are nothing but gains, and a projection would take away what they hold by.
    if (parts.formulation.has_spring_form && parts.formulation_options.penalty_form == PenaltyForm::springs) {
        if (stabilisation != Stabilisation::automatic && stabilisation != Stabilisation::gains)
            throw ModelError(
                "penalty-form=springs: springs in the place of constraints are their stabilisation; leave out the "
                "option stabilisation");
        parts.has_gains = true;
        return;
    }
    if (stabilisation == Stabilisation::automatic) {
        const bool are_gains_fit =
            parts.integrator.is_structural() && !parts.formulation.always_projects &&
            !(parts.solver->has_dependent_velocities() && has_dependent_velocity_rows(*parts.system, false));
        stabilisation = are_gains_fit ? Stabilisation::gains : Stabilisation::projection;
        // Step control judges the drift itself.
        if (parts.options.step_control == 0)
            parts.tolerated_drift = max_drift_under_gains * parts.system->length_scale();
    }
    if (stabilisation == Stabilisation::projection) parts.tolerated_drift = 0;
    parts.has_gains = stabilisation == Stabilisation::gains;
    parts.projects = stabilisation == Stabilisation::projection;
}

template <int D>
bool divide_at_kinks_of(std::unique_ptr<Stepper>& stepper, const std::shared_ptr<const System>& system) {
    auto bodies = std::dynamic_pointer_cast<const MechanismSystem<D>>(system);
    if (bodies && has_kinks(bodies->mechanism()))
        stepper = std::make_unique<KinkStepper<D>>(std::move(stepper), std::move(bodies));
    return bodies != nullptr;
}

// Step control has divisions of its own.
std::unique_ptr<Stepper> with_kinks(std::unique_ptr<Stepper> stepper, const StepperParts& p) {
    if (p.options.locate_kinks && p.options.step_control == 0 && !divide_at_kinks_of<2>(stepper, p.system))
        divide_at_kinks_of<3>(stepper, p.system);
    return stepper;
}

std::unique_ptr<Stepper> make_structural(StepperParts& p) {
    const StructuralScheme scheme = make_structural_scheme(p.integrator.name, p.options);
    if (p.formulation.is_step_solver())
        return with_kinks(
            with_halvings(std::make_unique<StructuralStepper>(p.formulation.make_steps(p.system, p.formulation_options),
                                                              std::move(p.solver), scheme),
                          p.options),
            p);
    return with_kinks(
        with_halvings(std::make_unique<PredictorCorrector>(std::move(p.solver), scheme, p.has_gains, p.tolerated_drift,
                                                           p.options.corrector_passes, p.options.projection_interval),
                      p.options),
        p);
}

template <class Scheme>
std::unique_ptr<Stepper> make_explicit(StepperParts& p) {
    return with_halvings(
        std::make_unique<Scheme>(std::move(p.solver), p.has_gains, p.projects ? p.options.projection_interval : 0),
        p.options);
}

std::unique_ptr<Stepper> make_runge_kutta(StepperParts& p) {
    const bool has_momenta = dynamic_cast<MomentumSolver*>(p.solver.get()) != nullptr;
    return has_momenta ? make_explicit<MomentumRungeKutta4>(p) : make_explicit<RungeKutta4>(p);
}

std::unique_ptr<Stepper> make_time_stepping(StepperParts& p) {
    if (const auto planar = std::dynamic_pointer_cast<const MechanismSystem<2>>(p.system))
        return std::make_unique<MoreauJean<2>>(planar);
    return std::make_unique<MoreauJean<3>>(std::dynamic_pointer_cast<const MechanismSystem<3>>(p.system));
}

std::unique_ptr<Stepper> make_reference(StepperParts& p) {
    return std::make_unique<ReferenceStepper>(std::move(p.solver), p.options.reference_tolerance);
}

std::vector<IntegratorInfo> list_all() {
    using Kind = IntegratorKind;
    std::vector<IntegratorInfo> list;
    list.push_back({.name = "trapezoidal",
                    .description = "trapezoidal rule: second order, no dissipation",
                    .make = make_structural,
                    .is_always_stable = true});
    list.push_back({.name = "newmark",
                    .description = "Newmark with dissipation (xi): first order for xi < 0",
                    .make = make_structural,
                    .order = 1,
                    .parameter = "xi",
                    .is_always_stable = true});
    list.push_back({.name = "hht",
                    .description = "Hilber-Hughes-Taylor (delta): second order, dissipative",
                    .make = make_structural,
                    .parameter = "delta",
                    .is_always_stable = true});
    list.push_back({.name = "generalized-alpha",
                    .description = "generalized-alpha (rho): second order, dissipation set at infinite frequency",
                    .make = make_structural,
                    .parameter = "rho",
                    .is_always_stable = true});
    list.push_back({.name = "linear-acceleration",
                    .description = "linear acceleration within the step: second order, conditionally stable",
                    .make = make_structural});
    list.push_back({.name = "higher-order",
                    .description = "parabolic acceleration over two steps (Glowinski-Nasser): third order",
                    .make = make_structural,
                    .order = 3});
    list.push_back({.name = "rk4",
                    .description = "classical Runge-Kutta: fourth order, explicit",
                    .kind = Kind::explicit_step,
                    .make = make_runge_kutta,
                    .order = 4});
    list.push_back({.name = "semi-implicit-euler",
                    .description =
                        "velocities by the forces at the start, positions by the velocities at the end: first order, "
                        "one evaluation per step",
                    .kind = Kind::explicit_step,
                    .make = make_explicit<SemiImplicitEuler>,
                    .order = 1});
    list.push_back({.name = "explicit-euler",
                    .description = "positions and velocities by the rates at the start: first order, gains energy; for "
                                   "comparison",
                    .kind = Kind::explicit_step,
                    .make = make_explicit<ExplicitEuler>,
                    .order = 1});
    list.push_back(
        {.name = "moreau-jean",
         .description = "time-stepping of rigid bodies that touch, in body space: any number of impacts in a step",
         .kind = Kind::time_stepping,
         .make = make_time_stepping,
         .order = 1});
    list.push_back({.name = "reference",
                    .description = "SUNDIALS, adaptive, tolerance 1e-10: order 8, variable order on stiff problems; "
                                   "for checking the others",
                    .kind = Kind::adaptive,
                    .make = make_reference,
                    .order = 8});
    return list;
}

}  // namespace

const std::vector<IntegratorInfo>& integrators() {
    static const std::vector<IntegratorInfo> list = list_all();
    return list;
}

std::string list_integrators(bool (*is_meant)(const IntegratorInfo&)) {
    std::vector<std::string> names;
    for (const IntegratorInfo& info : integrators())
        if (is_meant(info)) names.push_back(info.name);
    if (names.size() == 1) return names[0];
    return fmt::format("{} or {}", fmt::join(names.begin(), names.end() - 1, ", "), names.back());
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

std::unique_ptr<Stepper> make_stepper(const std::string& formulation, const std::string& integrator,
                                      const std::shared_ptr<const System>& system, const FormulationOptions& options,
                                      const IntegratorOptions& scheme_options) {
    const FormulationOptions chosen = with_gains_under_control(options, scheme_options);
    StepperParts parts{find_formulation(formulation), find_integrator(integrator), system, chosen, scheme_options};
    if (parts.integrator.kind != IntegratorKind::time_stepping) {
        parts.solver = parts.formulation.make_accelerations(system, chosen);
        choose_stabilisation(parts);
    }
    return parts.integrator.make(parts);
}

}  // namespace limber
