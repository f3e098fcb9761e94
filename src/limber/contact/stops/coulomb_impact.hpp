#pragma once
// Impacts with friction, at contacts and in joints.
//
//   contacts   normal and tangential impulses in Coulomb's cones (cone_complementarity.hpp), with Newton's restitution
//              of velocities; or, by Poisson's law, compression with e = 0, and then expansion with normal impulses of
//              at least e times those and friction of its own
//   joints     (by Newton's law) an impulse q along the coordinate that rubs:  |q| <= mu L,  against the rate after the
//              impact where it is less than that; L is the impulse of the joint's reaction, with 2 M / arm of its
//              moment, as the load is in dry_friction.hpp
//
// L depends on all impulses and they on q: a fixed point, q by projection, one joint after the other. Where friction
// and restitution together would raise the energy, the impact is plastic.

#include <memory>
#include <vector>

#include "limber/contact/cones/cone_complementarity.hpp"
#include "limber/contact/contact_options.hpp"
#include "limber/contact/stops/stop_response.hpp"
#include "limber/kinematics/body_space/reactions.hpp"

namespace limber {

template <int D>
class CoulombImpact {
public:
    CoulombImpact(const Mechanism<D>& mechanism, ImpactLaw law);

    /// Whether friction takes part in an impact at the contacts listed (entries of StopResponse).
    bool applies(const std::vector<int>& list) const;
    /// Velocities after the impact; normal impulses and rates after it, beside the list. `response` has looked at the
    /// states.
    void solve(StopResponse<D>& response, const std::vector<double>& memory, double t, const std::vector<int>& list,
               const VecX& restitution, BodyStates<D>& states, VecX& impulses, VecX& after);

private:
    void list_entries(const StopResponse<D>& response, const std::vector<double>& memory, const std::vector<int>& list,
                      const VecX& restitution);
    /// Contacts alone.
    void solve_contacts(double allowance);
    /// What compression has stored is given back; blocks without rows to rub have no friction.
    void expand(const VecX& stored);
    /// The friction of one contact, T rows from `row` on, while it expands.
    template <int T>
    void rub(Eigen::Index row, double most, VecX& expansion);
    void solve_with_joints(const StopResponse<D>& response, const BodyStates<D>& states, double t);
    /// Impulse that a joint's friction may exert, for the impulses as they are.
    double bound(int friction) const;
    double energy_gain() const;

    const Mechanism<D>& m_;
    ImpactLaw law_;
    std::vector<int> friction_of_;                  // of each contact; -1: none
    std::vector<int> joints_;                       // friction elements of joints
    std::unique_ptr<ReactionSolver<D>> reactions_;  // if there are such
    ConeSolver solver_;
    // Entries: of each contact its normal and its slip rows, then the joints.
    std::vector<int> entries_, sizes_, place_;
    std::vector<ConeBlock> blocks_;
    std::vector<double> memory_;
    DelassusMatrix contact_delassus_;
    const MatX* delassus_ = nullptr;
    VecX before_, impulses_, after_, contact_impulses_, contact_after_, wrenches_;
    std::vector<TwistVec<D>> changes_;
};

}  // namespace limber
