#pragma once
// Work of everything that has no potential (motors, dampers, drivers, friction) over a stretch of smooth motion, from the states at its ends: as accurate as
// the scheme that has made the step, and by its own measure.
//
//   up to second order    mean force times way, (F_0 + F_1)/2 . (p_1 - p_0), and mean torque times turn: what the trapezoidal rule itself makes of the forces.
//                         Velocities that alternate from step to step, as those of stiff servos and dampers at long steps do, then do no work on what stays where it is.
//   up to fourth order    power at two points of Gauss, on the cubic motion between the states (kinematics/body_space/hermite_motion.hpp)
//   higher                power at three points of Gauss, on the quintic motion, for the short steps inside `reference`
//
// Power of drivers and of compliant contacts, whose points come and go, is taken at the points of Gauss in any case.

#include "limber/dynamics/formulation.hpp"
#include "limber/kinematics/body_space/hermite_motion.hpp"

namespace limber {

/// Scratch memory inside: one per thread.
template <int D>
class WorkMeter {
public:
    /// The solver finds the forces of drivers; it is the caller's.
    WorkMeter(const MechanismSystem<D>& system, AccelerationSolver& solver);

    /// Whether there is anything that could do work.
    bool has_work() const { return has_power_ || m_.driver_work >= 0; }
    /// `order`: of the scheme that has led from one state to the other.
    double compute(const State& from, const State& to, int order);

private:
    double compute_along_ways(const State& from, const State& to);
    void find_forces(const State& state, const BodyStates<D>& states, std::vector<Vec<D>>& forces);
    void connect_precisely(const State& from, const State& to, double h);
    double compute_at_gauss_points(const State& from, const State& to, bool is_precise, bool with_forces);
    double compute_power(double t, bool with_forces);
    double compute_driver_power(double t);

    const MechanismSystem<D>& system_;
    const Mechanism<D>& m_;
    AccelerationSolver& solver_;
    bool has_power_ = false, has_drivers_ = false, has_contacts_ = false;
    std::vector<std::pair<int, int>>
        bristles_;             // first memory slot and their number: what they were at the start of a step
    std::vector<int> turned_;  // bodies on whose directions forces act
    BodyStates<D> from_, to_, states_;
    std::vector<HermiteMotion<D>> motion_;
    std::vector<TwistVec<D>> from_rates_, to_rates_;
    FeatureState<D> features_;
    std::vector<Vec<D>> slot_force_, slot_place_, slot_force_before_, slot_place_before_;
    std::vector<double> memory_;
    VecX q_, v_, a_, lambda_;
};

}  // namespace limber
