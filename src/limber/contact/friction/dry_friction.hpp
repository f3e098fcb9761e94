#pragma once
// Coulomb's dry friction with true stick, at walls and in joints.
//
//   stick   the slip rows are on (equations like all others) as long as their multipliers T obey |T| <= static
//           coefficient * load
//   slip    a force of kinetic coefficient * load acts against the slip; the load at the end of a step is found by a
//           fixed point around the step, and the force changes linearly within it; its direction in a plane is that at
//           the end of the step, or shortly before the slip comes to rest within it. Where friction outweighs inertia
//           that direction depends strongly on itself: it is found with the mobility W of what slips
//           (slip_discs.hpp),  u' = u - h W (f' - f),  scaled to what the integrator makes of it
//
//   compliant laws (friction_law.hpp) never stick; what is found by the fixed point is their load
//
// The load is the force of a contact or the reaction of a joint, both from the motion of the bodies (ReactionSolver),
// the same for all formulations. A step in which it cannot be found is made of shorter ones. Where no force fits
// (painleve.hpp), or none is found for another reason, the step fails and says which.

#include <memory>
#include <string>

#include "limber/contact/friction/shared_stick.hpp"
#include "limber/contact/stops/stop_response.hpp"
#include "limber/dynamics/system/system.hpp"
#include "limber/integration/stepper.hpp"
#include "limber/kinematics/body_space/reactions.hpp"
#include "limber/kinematics/forces/slip_force.hpp"

namespace limber {

/// What sticks and slips from now on.
struct FrictionSettled {
    StepReport report;
    int lifts = -1;  ///< a contact that can do neither, but may let go; the state is as it was. -1: none
};

template <int D>
class DryFriction {
public:
    explicit DryFriction(std::shared_ptr<const MechanismSystem<D>> system);

    /// The inner stepper's step, with the forces of what slips; `response` then has looked at its end.
    StepReport step(Stepper& inner, StopResponse<D>& response, State& state, double h);
    /// Whether some slip comes to rest within the last step. Beyond that instant nothing moves so, and a step that goes
    /// far beyond it may fail.
    bool passes_rest() const { return passes_rest_; }
    /// Accelerations, with the forces of what slips.
    StepReport start(Stepper& inner, StopResponse<D>& response, State& state);
    /// Whether what sticks can, and what slips has not come to rest; `response` has looked at the state.
    bool holds(Stepper& inner, StopResponse<D>& response, const State& state);
    /// Accelerations too; `response` has looked at the state.
    FrictionSettled settle(Stepper& inner, StopResponse<D>& response, State& state, StepReport& report);

private:
    bool sticks(const State& state, int i) const { return m_.friction[i].stick.in(state.memory); }
    bool slips(const State& state, int i) const { return m_.friction[i].slip.in(state.memory).is_on; }
    bool is_any_slipping(const State& state) const;
    bool is_loaded(const State& state, int i) const;
    /// Reactions at a state whose accelerations are known.
    void find_reactions(const State& state);
    /// Of a contact; negative: it pulls.
    double contact_force(int i) const;
    double load(int i) const;
    double stick_force(int i) const;
    /// Over its bound, for the reactions as they are; 0: next to no force.
    double stick_ratio(int i) const;
    /// Whether all that sticks can, for the reactions as they are.
    bool does_stick_hold(StopResponse<D>& response, const State& state);
    bool is_compliant(int i) const { return m_.friction[i].compliant >= 0; }
    /// Features at states_, for the laws of compliant friction.
    MeasureContext<D> look_at_bristles(const State& state);
    void begin_bristles(State& state, int i);
    /// Those of contacts are as they are now: nothing has passed since.
    void stamp_bristles(State& state) const;
    void advance_bristles(State& state);
    /// Whether slip that begins at rest would go the other way, because its force feeds on itself (painleve.hpp); needs
    /// find_reactions().
    bool recoils(StopResponse<D>& response, const State& state, int i);
    void start_slip(State& state, int i, const VecX& direction);
    StepReport step_once(Stepper& inner, StopResponse<D>& response, State& state, double h);
    /// Forces of what slips at the end of `advance`, h later than the state as it is; times are set.
    template <class Advance>
    StepReport find_forces(StopResponse<D>& response, State& state, double h, const Advance& advance);
    /// Of what slips in planes, while the contacts that are closed stay so.
    void update_mobility(StopResponse<D>& response, const State& state, double h);
    /// What the last change of forces has done, against what was expected of it.
    void rescale_mobility(const VecX& rates);
    /// Directions of slip in a plane at the end of a trial; the largest change. Of slip that comes to rest within it,
    /// those shortly before.
    double turn_directions(const StopResponse<D>& response);
    void add_event(StepReport& report, ContactEvent::Kind kind, double t, int i) const;

    std::shared_ptr<const MechanismSystem<D>> system_;
    const Mechanism<D>& m_;
    ReactionSolver<D> reactions_;
    SharedStick<D> shared_stick_;
    BodyStates<D> states_;
    std::vector<TwistVec<D>> rates_;
    std::vector<int> bristled_;  // force elements of joints and contacts that have bristles
    std::vector<int> bristle_features_;
    FeatureState<D> features_;
    State trial_, before_, exact_;
    std::vector<int> slipping_;
    VecX forces_, defect_, previous_defect_, change_, product_, row_;  // beside slipping_
    MatX inverse_;
    VecX touching_;                     // wrenches of bodies that touch
    std::vector<Eigen::Index> planar_;  // of slipping_: in planes
    std::vector<int> entries_;
    MatX mobility_;                  // two rows for each of planar_
    VecX last_rates_, last_pushes_;  // beside mobility_
    bool is_scaled_ = false;
    bool passes_rest_ = false;
    double speed_tolerance_;
};

}  // namespace limber
