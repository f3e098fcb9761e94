#pragma once
// What a model says of how it is simulated: the sections simulation, solve, components and modular of
// its file.

#include <optional>
#include <string>
#include <vector>

#include "limber/model/description.hpp"
#include "limber/model/number.hpp"

namespace limber {

/// What impacts at several contacts at once do (see contact/stops/stop_stepper.hpp).
enum class ImpactLaw {
    newton,   ///< restitution of velocities, all contacts at once
    poisson,  ///< restitution of impulses: compression of all contacts, then expansion
    in_turn   ///< one contact after the other, the fastest first, until none approaches
};

enum class StartPose { as_written, equilibrium };

/// Velocities at the start: moved onto the joints by the least change, or left as the bodies have them, for showing how
/// a method treats errors.
enum class StartVelocities { on_joints, as_written };

/// Bodies that are to be a component of their own, with what differs from the whole.
struct ComponentGroup {
    std::string name{};
    std::vector<std::string> bodies{};  ///< names; a `*` at the end stands for any rest
    std::string formulation{}, integrator{}, coordinates{};
    std::optional<Number> step{};
    std::optional<Number> penalty{}, frequency{}, damping{}, tolerance{};

    bool operator==(const ComponentGroup&) const = default;
    static void visit(auto& self, auto& visitor) {
        visitor.field(self.bodies, {"bodies", "list of names; a * at the end of a name stands for any rest", true});
        visitor.field(self.formulation, text_note("formulation", "a formulation",
                                                  "see 'limber list formulations' (default: that of the whole)"));
        visitor.field(self.integrator, text_note("integrator", "an integrator",
                                                 "see 'limber list integrators' (default: that of the whole)"));
        visitor.field(self.coordinates,
                      text_note("coordinates", "a set of coordinates",
                                "natural, reference-point or relative (default: what suits the formulation)"));
        visitor.field(self.step,
                      {"step", "own time step; a step of the whole is divided into equal ones of at most this length"});
        visitor.field(self.penalty,
                      {.name = "penalty",
                       .meaning = "over the inertia that its constraints meet (default: that of the whole)",
                       .is_positive = true});
        visitor.field(self.frequency, {.name = "frequency",
                                       .meaning = "of the gains of its constraints, times the step (default: that of "
                                                  "the whole)",
                                       .is_positive = true});
        visitor.field(
            self.damping,
            {.name = "damping", .meaning = "ratio of these gains (default: that of the whole)", .is_positive = true});
        visitor.field(self.tolerance, {.name = "tolerance",
                                       .meaning = "of its Newton iteration (default: that of the whole)",
                                       .is_positive = true});
    }
};

/// A parameter that is found before the motion begins, so that a column of the sensors has a given value then.
struct StartCondition {
    std::string name{};  ///< of the parameter; its definition is the first guess
    std::string sensor{};
    Number equals{};
    StartPose at = StartPose::as_written;

    bool operator==(const StartCondition&) const = default;
    static void visit(auto& self, auto& visitor) {
        visitor.field(self.sensor, {.name = "sensor",
                                    .meaning = "the column that is to have the value: height, tip.y",
                                    .is_required = true,
                                    .expected = "a column of the sensors"});
        visitor.field(self.equals, {"equals", "the value", true});
        visitor.field(self.at, {"at",
                                "as-written (default): at the start of the motion; equilibrium: in static equilibrium, "
                                "wherever the motion starts"});
    }
};

/// A positive number that belongs to the joint of that name.
struct JointNumber {
    std::string joint{};
    Number value{};

    bool operator==(const JointNumber&) const = default;
};

/// How components are held together; words as on the command line.
struct ModularDefaults {
    std::string division{}, gluing{}, coupling{}, course{};
    std::optional<Number> tolerance{}, rho{};
    std::vector<JointNumber> joint_rho{};  ///< where `rho` of single joints differs
    std::optional<bool> use_iteration{};
    std::string row_inertia{};

    bool operator==(const ModularDefaults&) const = default;
    static void visit(auto& self, auto& visitor) {
        visitor.field(self.division, text_note("division", "a division",
                                               "groups (those of 'components'), body, tree, auto or auto:K"));
        visitor.field(self.gluing, text_note("gluing", "a method of gluing",
                                             "direct (default), conjugate-gradient, anderson, uzawa or penalty"));
        visitor.field(self.coupling, text_note("coupling", "a coupling", "end-of-step (default) or acceleration"));
        visitor.field(
            self.course,
            text_note("course", "a course",
                      "of forces between components over a divided step: hold, linear (default) or quadratic"));
        visitor.field(self.tolerance, {"tolerance", "of the forces between components (default 1e-8)"});
        visitor.field(self.rho, {.name = "rho",
                                 .meaning = "step of uzawa (default: by the inertia that joints meet)",
                                 .is_positive = true});
        visitor.field(self.joint_rho, {"joint-rho", "the same for single joints between components"});
        visitor.field(self.use_iteration,
                      {"iterate", "no: forces between components are extrapolated over the step (default yes)"});
        visitor.field(self.row_inertia,
                      text_note("row-inertia", "an inertia",
                                "that the springs of gluing penalty are made for: response (default), or product, eq. "
                                "(15) of Seguy 2003"));
    }
};

/// What `limber run` uses unless told otherwise.
struct SimulationDefaults {
    std::optional<Number> until{}, step{}, every{};
    std::string formulation{}, integrator{}, coordinates{};
    std::optional<ImpactLaw> impacts{};
    std::optional<Number> frequency{}, damping{};
    std::vector<JointNumber> joint_frequency{}, joint_damping{};  ///< where those of single joints differ
    StartPose start = StartPose::as_written;
    ModularDefaults modular{};
    std::vector<ComponentGroup> components{};
    std::vector<StartCondition> conditions{};

    bool operator==(const SimulationDefaults&) const = default;
    /// Without `modular`, `components` and `conditions`, which are sections of their own.
    static void visit(auto& self, auto& visitor) {
        visitor.field(self.until, {"until", "end time (default 10)"});
        visitor.field(self.step, {"step", "time step (default 0.001)"});
        visitor.field(self.every, {"every", "interval of output (default: every step)"});
        visitor.field(self.formulation, text_note("formulation", "a formulation", "see 'limber list formulations'"));
        visitor.field(self.integrator, text_note("integrator", "an integrator", "see 'limber list integrators'"));
        visitor.field(self.start, {"start",
                                   "as-written (default) or equilibrium: positions of static equilibrium at t = 0, "
                                   "velocities as written"});
        visitor.field(self.coordinates,
                      text_note("coordinates", "a set of coordinates",
                                "natural, reference-point or relative (default: what suits the formulation)"));
        visitor.field(self.impacts,
                      {"impacts", "newton (default), poisson or in-turn: law of several impacts at once"});
        visitor.field(self.frequency, {.name = "frequency",
                                       .meaning = "of the gains that hold constraints, times the step (default 0.628)",
                                       .is_positive = true});
        visitor.field(self.damping,
                      {.name = "damping", .meaning = "ratio of these gains (default 0.1)", .is_positive = true});
        visitor.field(self.joint_frequency, {"joint-frequency", "the frequency for single joints"});
        visitor.field(self.joint_damping, {"joint-damping", "the damping for single joints"});
    }
};

}  // namespace limber
