#pragma once
// Step solvers: the integrator's difference formulas are put into the equations of motion, and Newton's method finds
// the positions at the end of the step.

#include <memory>
#include <string>
#include <vector>

#include "limber/dynamics/formulation.hpp"

namespace limber {

/// q' = q_hat + beta h^2 A',  v' = v_hat + gamma h A',  with the acceleration a' of the equations of motion from
///   (1 - delta_m) A' + delta_m A = (1 - delta_f) a' + delta_f a
/// (primes: end of the step; for a constant mass matrix Cuadrado and Dopico eqs. 38-42).
struct DifferenceFormulas {
    double step = 0, beta = 0.25, gamma = 0.5, delta_m = 0, delta_f = 0;
    VecX q_hat, v_hat;
};

/// What a stop did within a step.
struct ContactEvent {
    enum class Kind {
        impact,  ///< velocities have changed suddenly
        closed,  ///< contact lasts from now on
        opened,
        latched,
        stuck,   ///< slip has ended
        slipped  ///< slip has begun
    };
    Kind kind = Kind::impact;
    double t = 0;
    std::string stop;
    double impulse = 0;      ///< normal to the contact
    double energy_lost = 0;  ///< in all impacts at this instant, told with the first of them
};
inline const char* contact_event_name(ContactEvent::Kind kind) {
    constexpr const char* names[] = {"impact", "closed", "opened", "latched", "stuck", "slipped"};
    return names[static_cast<int>(kind)];
}

struct StepReport {
    bool ok = true;
    int iterations = 0;
    int substeps = 1;      ///< more than one if the step had to be divided
    double work = 0;       ///< of everything without a potential; only if it is watched, see Simulation::watch_work
    std::string reason{};  ///< why it failed
    std::vector<ContactEvent> events{};
};

class CoupledStepSolver;

class StepSolver {
public:
    virtual ~StepSolver() = default;
    /// Advances the state by one step; on failure the state is unchanged.
    virtual StepReport step(State& state, const DifferenceFormulas& formulas) = 0;
    virtual const System& system() const = 0;
    /// Itself, if it can be coupled to something outside; else null.
    virtual CoupledStepSolver* as_coupled() { return nullptr; }
};

/// How far an iteration of Newton's method has gone, and what change of the positions would be small enough to be the
/// last.
struct NewtonProgress {
    double change = 0, acceptable = 0;
};

/// A step solver that something outside takes part in (see modular/). Newton's method goes by single iterations:
/// open(), then approach() and advance() in turn until all agree, then close().
class CoupledStepSolver : public StepSolver {
public:
    CoupledStepSolver* as_coupled() override { return this; }

    /// The next step uses nothing that earlier ones have left, so that it depends on its state alone.
    virtual void renew() = 0;
    /// Begins a step at the predicted motion.
    virtual void open(const State& start, const DifferenceFormulas& formulas) = 0;
    /// Evaluates the iterate, with the memory of the state, and finds the next change of its positions. With `refresh`
    /// the tangent is that of here. False if there is none.
    virtual bool approach(const State& start, const DifferenceFormulas& formulas, bool refresh) = 0;
    /// Whether equilibrium and constraints hold well enough at the iterate of the last approach().
    virtual bool is_balanced(const DifferenceFormulas& formulas) const = 0;
    /// Takes the change found, and what a further acceleration A' adds to it.
    virtual NewtonProgress advance(const DifferenceFormulas& formulas, const VecX& response) = 0;
    /// Completes the step from the last iterate. On failure the state is unchanged.
    virtual StepReport close(State& state, const DifferenceFormulas& formulas) = 0;
    virtual const VecX& positions() const = 0;
    virtual const VecX& velocities() const = 0;
    /// Of the positions, as the last approach() has found it.
    virtual const VecX& change() const = 0;

    /// Adds this part of each coordinate's inertia to the tangent. Newton's method leaves as much of the error in every
    /// iteration, but freedoms without inertia that only something outside holds have a response then.
    virtual void borrow_inertia(double inertia_share) = 0;

    // All of these refer to the last step or approach.
    virtual Evaluation& evaluation() = 0;
    /// Change of the acceleration A' by a further force at the end of the step, to first order. In place.
    virtual void respond(VecX& force) = 0;
    /// Changes the velocities at the end of the step; accelerations follow the constraints.
    virtual void change_velocities(State& end, const VecX& change) = 0;
    virtual void change_accelerations(State& end, const VecX& change) = 0;
};

std::unique_ptr<StepSolver> make_step_solver(const std::string& formulation, std::shared_ptr<const System> system,
                                             const FormulationOptions& options = {});

}  // namespace limber
