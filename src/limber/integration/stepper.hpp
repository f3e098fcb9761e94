#pragma once
// Steppers: a formulation joined to an integration scheme.

#include <memory>
#include <string>
#include <vector>

#include "limber/dynamics/step_solver.hpp"

namespace limber {

struct IntegratorOptions {
    double newmark_xi = -0.1;   ///< newmark: dissipation, -1 .. 0
    double hht_delta = 0.1;     ///< hht: delta_f, 0 .. 1/3
    double rho_infinity = 0.8;  ///< generalized-alpha: spectral radius at infinity, 0 .. 1
    double reference_tolerance = 1e-10;
    int corrector_passes = 2;     ///< of structural schemes on acceleration solvers
    int max_halvings = 10;        ///< of a step that fails
    int projection_interval = 1;  ///< steps from one projection onto the constraints to the next
    bool locate_kinks = true;     ///< structural schemes: steps end at kinks of force laws, see kink_stepper.hpp
    /// Step control of Seguy 2003 eq. (24): tolerance eps_1 of the constraint-acceleration perturbation; 0: fixed
    /// steps.
    double step_control = 0;

    bool operator==(const IntegratorOptions&) const = default;
};

/// Follows the motion within a step: from where to where it is smooth.
class StepListener {
public:
    virtual ~StepListener() = default;
    /// A step begins, or is tried anew: what was said before does not count.
    virtual void begin_step() = 0;
    virtual void add_stretch(const State& from, const State& to) = 0;
};

/// Constraint-acceleration perturbation (Seguy 2003 eqs. 22, 23), squared, of the evaluations of a step.
struct Perturbation {
    double largest = 0;
    double last = 0;

    void add(double of_evaluation) {
        largest = of_evaluation > largest ? of_evaluation : largest;
        last = of_evaluation;
    }
};

class Stepper {
public:
    virtual ~Stepper() = default;
    /// Accelerations and multipliers of a state whose q, v, t and memory are set.
    virtual StepReport start(State& state) = 0;
    /// Advances by h; on failure the state is that of the start of the step.
    virtual StepReport step(State& state, double h) = 0;
    virtual const System& system() const = 0;
    /// Steps to come are parts of one of this length: gains that keep constraints closed are tied to it. Those of a
    /// short part would be far stiffer, and what the whole has left open would turn into forces.
    virtual void expect_parts_of(double /*step*/) {}
    /// From now on steps fail in which an evaluation has a larger constraint-acceleration perturbation, squared.
    /// Infinity: nobody asks for it.
    virtual void limit_perturbation(double /*limit*/) {}
    /// Of the last step, if it was asked for.
    virtual Perturbation perturbation() const { return {}; }
    /// Positions moved onto the constraints, velocities by impulses of these, and accelerations anew. On failure the
    /// state is undefined.
    virtual StepReport restart(State& /*state*/) { return {.ok = false, .reason = "this stepper has no restart"}; }
    /// Tells the listener of every stretch of its steps from now on; null: nobody. False: its steps are smooth as a
    /// whole, and it tells nothing.
    virtual bool tell(StepListener* /*listener*/) { return false; }
};

/// Accelerations and multipliers at the start of a run, from the index-1 equations; nothing of the past of the state
/// stays.
StepReport start_state(AccelerationSolver& solver, State& state);
/// See Stepper::restart(). The gains stay what they are.
StepReport restart_state(AccelerationSolver& solver, State& state);

/// Why a step fails that disturbs the constraints more than it may.
inline constexpr const char* too_rough = "the step disturbs the constraints more than step control allows";

}  // namespace limber
