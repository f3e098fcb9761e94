#pragma once
// A component: a black box with its own coordinates, solver, scheme and step. The outside sees it through ports, bodies
// whose motion it shows and on which it takes wrenches (about the centre of mass, world axes), and in no other way.
//
// A step:  begin(h), then answer(wrenches) as often as the joints need, then accept(). Until accept() nothing has
// happened. All exchange is by plain arrays over the ports.
//
// A component that finds the end of a step by Newton's method may be coupled to the others instead of answering in
// full: open(), then approach() and advance() in turn, then close(). The joints then take part in every iteration, as
// in an undivided mechanism, and wrenches that are still wrong do no harm.

#include <optional>
#include <span>
#include <vector>

#include "limber/dynamics/step_solver.hpp"
#include "limber/kinematics/body_space/twist.hpp"
#include "limber/modular/options.hpp"

namespace limber {

template <int D>
struct PortMotion {
    BodyState<D> state;
    TwistVec<D> rate = TwistVec<D>::Zero();  ///< of the twist
};

/// How far a unit of acceleration, as told by respond(), brings a port by the end of a step h: over h^2 and over h.
struct Reach {
    double position = 1, velocity = 1;
};

struct ApproachReport {
    bool ok = true;
    bool is_balanced = true;  ///< under the wrenches given no further change is needed
};

template <int D>
class Component {
public:
    using Wrenches = std::span<const TwistVec<D>>;
    using Motion = std::span<PortMotion<D>>;

    virtual ~Component() = default;
    virtual int port_count() const = 0;

    /// Takes up a motion of its bodies; `memory` as exported, or empty.
    virtual void import_motion(double t, const BodyStates<D>& bodies, std::span<const double> memory) = 0;
    /// The accepted motion of all its bodies, for those who watch.
    virtual void export_motion(std::span<BodyState<D>> bodies, std::span<TwistVec<D>> rates) const = 0;

    /// Opens a step from the accepted state. Length 0: only the accelerations of this instant are asked for. The
    /// wrenches at the start of the step, and their second differences over the steps of this length before (empty: not
    /// known), are for the course.
    virtual void begin(double h, Coupling coupling, ForceCourse course, Wrenches start, Wrenches bend) = 0;
    /// end_of_step: motion at the end for these wrenches at the end. acceleration: predicted motion and its
    /// accelerations.
    virtual StepReport answer(Wrenches wrenches, Motion motion) = 0;
    /// Whether it can be coupled to the others in the step that has begun.
    virtual bool is_coupled() const { return false; }
    /// Whether the accelerations of an instant are exact only if the accepted ones were: to find them again makes them
    /// better.
    virtual bool improves_when_repeated() const { return false; }
    /// Shows where the iteration starts.
    virtual void open(Motion /*motion*/) {}
    /// Finds the next change of its motion, to first order, from where it is, under these wrenches, and tells it at the
    /// ports as respond() does. With `refresh` its tangent is made anew.
    virtual ApproachReport approach(Wrenches /*wrenches*/, bool /*refresh*/, std::span<TwistVec<D>> /*rates*/) {
        return {};
    }
    /// Takes that change, with what respond() says to these further wrenches.
    virtual NewtonProgress advance(Wrenches /*further*/, Motion /*motion*/) { return {}; }
    /// Completes the step where it is.
    virtual StepReport close(Motion /*motion*/) { return {}; }
    /// Change of the ports' accelerations with the wrenches, at the last answer or approach.
    virtual void respond(Wrenches wrenches, std::span<TwistVec<D>> rates) = 0;
    virtual Reach reach() const = 0;
    /// acceleration: the next pass of a corrector, from the accelerations of the last answer.
    virtual void correct() = 0;
    /// Changes velocities by what respond() says, and accelerations as own constraints then demand. Not for the
    /// acceleration coupling, but for steps of length 0.
    virtual void push_velocities(Wrenches wrenches, Motion motion) = 0;
    virtual void push_accelerations(Wrenches wrenches, Motion motion) = 0;
    virtual void accept() = 0;
    /// acceleration: the constraint-acceleration perturbation of its own constraints in the last answer (Seguy 2003 eq.
    /// 23), squared.
    virtual double perturbation() { return 0; }
    /// Steps to come are parts of one of this length (see Stepper).
    virtual void expect_parts_of(double /*step*/) {}
    /// Q^T M Q with the generalised forces Q of these wrenches, at the last answer (Seguy 2003 eq. 15). Nothing: it
    /// does not tell its masses.
    virtual std::optional<double> weigh(Wrenches /*wrenches*/) { return {}; }

    /// Everything that determines what follows, as numbers.
    virtual std::vector<double> save() const = 0;
    virtual void restore(std::span<const double> saved) = 0;
};

}  // namespace limber
