#pragma once
// What can be seen of a running mechanism: sensors, energies, constraint errors, poses. Everything is computed from
// body states and their accelerations, so it means the same in every formulation and every set of coordinates.

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "limber/dynamics/formulation.hpp"
#include "limber/model/model.hpp"

namespace limber {

struct ConstraintErrors {
    double position = 0, velocity = 0, acceleration = 0;  ///< largest over the rows
    /// A length: by how far an open stop overlaps, a closed one is open, or rigid bodies have missed the conditions of
    /// contact in a step.
    double complementarity = 0;
};

struct Energies {
    double kinetic = 0, potential = 0;
    double elastic = 0;      ///< the part of the potential energy that forces have, without gravity
    double impact_loss = 0;  ///< energy taken by impacts at stops and by rigid contacts so far
    /// What changes only by work.
    double total() const { return kinetic + potential + impact_loss; }
};

struct BodyPose {
    Vec3 position;  ///< of the body frame's origin
    Quat orientation;
};

/// The body that turns fastest.
struct FastestTurn {
    std::string body;  ///< empty: nothing turns
    double rate = 0;   ///< rad/s
};

/// What a joint does to its second body, world axes; zero while it does not hold.
struct JointLoad {
    Vec3 point = Vec3::Zero();  ///< of the second marker
    Vec3 force = Vec3::Zero(), torque = Vec3::Zero();
};

/// Where something is touched, and what pushes it there, world axes.
struct ContactLoad {
    Vec3 point = Vec3::Zero();
    Vec3 normal = Vec3::Zero();  ///< zero: of a limit of an angle
    Vec3 force = Vec3::Zero();   ///< on the second body, friction included
    int stop = -1;               ///< its place among the model's stops; -1: two bodies
};

/// Everything a picture needs, in one go.
struct MotionView {
    std::vector<BodyPose> poses;            ///< without the ground
    std::vector<Vec3> centres, velocities;  ///< of the centres of mass, beside poses
    std::vector<JointLoad> joints;          ///< in slot order; empty unless asked for
    std::vector<double> forces;             ///< scalar value of each force, in slot order
    std::vector<ContactLoad> contacts;      ///< of bodies, and stops that are closed
};

/// What is known of the scheme that has led from one state to another.
struct WorkSource {
    int order = 2;
    /// The multipliers of the states are those of the equations of motion there, so that the forces of drivers need not
    /// be found anew.
    bool has_multipliers = false;
};

/// Scratch memory inside: one per thread.
class Observer {
public:
    virtual ~Observer() = default;

    /// One per sensor component: "tip.x", "tip.y", "beta".
    const std::vector<std::string>& columns() const { return columns_; }
    /// Of each column: "m", "rad/s", "N m"; empty: it has none, or it is not known.
    const std::vector<std::string>& units() const { return units_; }

    /// Values of all columns. `work` is the energy put in so far, see compute_work.
    virtual void observe(const State& state, double work, std::vector<double>& values) = 0;
    virtual Energies compute_energies(const State& state) = 0;
    /// Put in by everything that has no potential: motors, dampers, drivers.
    virtual double compute_power(const State& state) = 0;
    /// Whether anything can do work at all.
    virtual bool has_work() = 0;
    /// Work of everything that has no potential over a smooth motion from one state to the other: see work_meter.hpp.
    virtual double compute_work(const State& from, const State& to, const WorkSource& source) = 0;
    /// Energy by which gravity lifts the whole mass over the typical length.
    virtual double compute_weight_energy(double t) const = 0;
    virtual FastestTurn find_fastest_turn(const State& state) = 0;
    virtual ConstraintErrors compute_errors(const State& state) = 0;
    /// Sigma of Joli 2008 eq. (15) with the gains of eq. (12) for the step: see
    /// kinematics/body_space/relative_error.hpp. 0 before the first step.
    virtual double compute_relative_error(const State& state) = 0;
    virtual std::vector<BodyPose> compute_poses(const State& state) = 0;
    /// What touches, as numbers.
    virtual const std::vector<CollisionShape>& shapes() const = 0;
    /// Poses, velocities, contacts, forces and, if asked for, the reactions of all joints.
    virtual void compute_view(const State& state, bool with_reactions, MotionView& view) = 0;
    /// Values of the conditions of the model's events, in slot order.
    virtual void evaluate_conditions(const State& state, std::vector<double>& values) = 0;
    /// Total linear momentum and angular momentum about the world's origin.
    virtual void compute_momentum(const State& state, Vec3& linear, Vec3& angular) = 0;
    /// Relative errors refer to the longest step so far: a short one, as before an event, says nothing about the
    /// others.
    void follow_step(double step) { step_ = std::max(step_, step); }
    double longest_step() const { return step_; }
    /// Another solver, of the same kind and system, that knows of no other state than this one.
    virtual void use_solver(std::unique_ptr<AccelerationSolver> solver, const State& state) = 0;

protected:
    std::vector<std::string> columns_;
    double step_ = 0;
    std::vector<std::string> units_;
};

template <int D>
std::unique_ptr<Observer> make_observer(const Model& model, std::shared_ptr<const MechanismSystem<D>> system,
                                        std::unique_ptr<AccelerationSolver> solver);

}  // namespace limber
