#pragma once
// Work of everything that has no potential (motors, dampers, drivers, friction) over a stretch of smooth motion, from
// the states at its ends: as accurate as the scheme that has made the step, and by its own measure.
//
//   up to second order    mean force times way, (F_0 + F_1)/2 . (p_1 - p_0), and mean torque times turn: what the
//                         trapezoidal rule itself makes of the forces. Velocities that alternate from step to step, as
//                         those of stiff servos and dampers at long steps do, then do no work on what stays where it
//                         is.
//   up to fourth order    power at two points of Gauss, on the cubic motion between the states
//                         (kinematics/body_space/hermite_motion.hpp)
//   higher                power at three points of Gauss, on the quintic motion, for the short steps inside `reference`
//
// Drivers: up to second order mean multipliers times the way their rows go with time. `semi-recursive` leaves these
// multipliers; elsewhere, where projections share the work with them, they are found from the equations of motion, once
// per step. Power of compliant contacts, whose points come and go, and of drivers beside velocity conditions of the
// user is taken at the points of Gauss in any case.
//
// Steps follow each other: what was found at the end of one is kept for the start of the next.

#include "limber/dynamics/formulation.hpp"
#include "limber/kinematics/body_space/hermite_motion.hpp"
#include "limber/simulation/observer.hpp"

namespace limber {

/// Scratch memory inside: one per thread.
template <int D>
class WorkMeter {
public:
    /// The solver finds the forces of drivers; it is the caller's.
    WorkMeter(const MechanismSystem<D>& system, AccelerationSolver& solver);
    /// Another one takes its place; what the old one has found is forgotten.
    void use_solver(AccelerationSolver& solver);

    /// Whether there is anything that could do work.
    bool has_work() const { return has_power_ || m_.driver_work.exists(); }
    double compute(const State& from, const State& to, const WorkSource& source);

private:
    double compute_along_ways();
    /// Forces of a state, where they act, and its multipliers.
    struct End {
        double t = 0;
        VecX q, v, lambda;
        std::vector<double> memory;
        BodyStates<D> states;
        std::vector<Vec<D>> force, place;  // of each slot
        VecX multipliers;                  // as far as they have been asked for
        bool is_known = false, has_multipliers = false;

        bool belongs_to(const State& state) const;
    };
    void find_end(const State& state, End& end);
    double compute_driver_work(const State& from, const State& to, bool has_multipliers);
    void connect_precisely(const State& from, const State& to, double h);
    double compute_at_gauss_points(const State& from, const State& to, bool is_precise, bool with_forces,
                                   bool with_drivers);
    double compute_power(double t, bool with_forces, bool with_drivers);
    double compute_driver_power(double t);

    const MechanismSystem<D>& system_;
    const Mechanism<D>& m_;
    AccelerationSolver* solver_;
    bool has_power_ = false, has_drivers_ = false, has_user_rows_ = false;
    std::vector<const ForceElement<D>*> contacts_;     // compliant ones, whose work needs their points
    std::vector<MemorySlot<BristleMemory>> bristles_;  // kept as they were at the start of a step
    std::vector<MemorySlot<SurfaceBristleMemory>> surface_bristles_;
    std::vector<int> turned_;  // bodies on whose directions forces act
    End from_, to_;
    BodyStates<D> states_;
    std::vector<HermiteMotion<D>> motion_;
    std::vector<TwistVec<D>> from_rates_, to_rates_;
    FeatureState<D> features_;
    std::vector<double> memory_;
    VecX q_, v_, a_, lambda_, phi_;
    std::unique_ptr<Evaluation> evaluation_;
};

}  // namespace limber
