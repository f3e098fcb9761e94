#pragma once
// The end of a step in which multipliers of stops are impulses (projected_multipliers.hpp): Moreau's implicit impact
// for stops that the iteration has found closed, in body space.
//
//   u- = u - W s       rates of gaps and slips without what stops have done in this step; s: what the scheme has made
//                      of their multipliers, gamma h (lambda, tau)
//   u+ = u- + W P,     0 <= Pn,  un+ >= c,  Pn (un+ - c) = 0,   |Pt| <= friction Pn, against the slip
//   c  = e min(-u0, -u-)+       restitution e; u0: rate at the start of the step
//
// by projected multipliers row by row, P <- projection of P - (u+ - c) / W_ii. Then those contacts that have come to
// rest hold or open by the same projection of their accelerations, and accelerations follow from the equations of
// motion with what holds.
//
// Under constant forces and with constant masses one contact changes the energy by -((1 - e^2) u0^2 / 2 - f g) / W,
// with the gap g at the start of the step and f the acceleration of the gap. Where f pulls away (f > 0) a gap closes
// within the step only if u0^2 > 2 f g, and c is no larger than what is left of u0: the energy never grows, whatever
// the step. Where masses depend on positions, or several contacts bounce at once, c is reduced until the energy is no
// larger than without the impact. What may be left is of the second order in the step, where a contact is grazed.

#include <vector>

#include "limber/contact/stops/stop_response.hpp"
#include "limber/dynamics/formulation.hpp"
#include "limber/integration/stepper.hpp"

namespace limber {

/// A contact among the rows of W: its normal, and its rows of friction, if any.
struct ProjectedContact {
    Eigen::Index normal = 0, first_slip = 0;
    int slip_count = 0;
    double coefficient = 0;
    bool slides = false;  ///< against a slip that is known: friction has its full
                          ///< value along -direction
    Vec2 direction = Vec2::Zero();
};

/// Multipliers z of  u = W z + b  with 0 <= z_n, u_n >= 0, z_n u_n = 0 and Coulomb's law, by projection in turn. False:
/// it does not converge.
bool solve_by_projection(const MatX& w, const VecX& b, const std::vector<ProjectedContact>& contacts, VecX& z);

template <int D>
class ProjectedImpulses {
public:
    explicit ProjectedImpulses(std::shared_ptr<const MechanismSystem<D>> system);

    /// Remembers the rates at the start of a step.
    void begin(const State& state);
    /// Of a friction element, at the start of the step.
    double slip_speed(int friction) const;
    /// Whether a stop is violated; its name, or nothing.
    std::string find_violated(const State& state);
    /// Velocities, contacts and accelerations at the end of a step whose t, q and v are in the state. `share`: impulses
    /// that v has got from the scheme, of stops, then of the rows of friction. No restitution raises the kinetic energy
    /// beyond the limit.
    StepReport settle(State& state, const VecX& share, double kinetic_limit, AccelerationSolver& solver,
                      StepReport& report);

private:
    void look(const State& state);
    /// Contacts that are closed, and their friction, into list_ and contacts_.
    void list_contacts(const VecX& share);
    bool collide(State& state, const VecX& share, double kinetic_limit, StepReport& report);
    bool solve_impulses(const VecX& free, double restitution_share);
    /// Which contacts hold from now on, stick or slide. False: no forces were found.
    bool hold(State& state, AccelerationSolver& solver);

    std::shared_ptr<const MechanismSystem<D>> system_;
    const Mechanism<D>& m_;
    StopResponse<D> response_;
    BodyStates<D> states_;
    std::vector<TwistVec<D>> twist_rates_;
    std::vector<double> open_memory_;
    std::vector<int> list_,
        stops_;                   // entries of the response; the stop of each of contacts_
    std::vector<int> frictions_;  // the friction element of each of contacts_; -1: none
    std::vector<int> friction_of_stop_;
    std::vector<ProjectedContact> contacts_, resting_;
    std::vector<std::size_t> resting_places_;
    VecX start_rates_, before_, free_, after_, impulses_, target_, forces_, listed_share_;
    double gap_tolerance_, speed_tolerance_;
};

}  // namespace limber
