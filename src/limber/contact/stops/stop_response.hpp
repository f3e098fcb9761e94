#pragma once
// Contacts of a mechanism in the space of body twists, the same for every formulation and every set of coordinates.
//
// With the joints' rows G (bilateral) and the contacts' rows N, velocities and accelerations after impulses or forces P
// >= 0 at the contacts are
//
//   u+ = u- + W P,   W = N R,   R = P_G M^-1 N^T
//
// where P_G M^-1 is what bodies do under a wrench while joints hold (joint_projector.hpp).

#include "limber/contact/time_stepping/joint_projector.hpp"

namespace limber {

template <int D>
class StopResponse {
public:
    explicit StopResponse(const Mechanism<D>& mechanism);

    int count() const { return static_cast<int>(m_.stops.size()); }

    /// Gaps and their rates of all contacts.
    void look(const BodyStates<D>& states, const std::vector<double>& memory, double t);
    const VecX& gaps() const { return contacts_.values.phi; }
    const VecX& rates() const { return rates_; }
    /// Of a friction element, along its k-th direction.
    double slip_rate(int friction, int k) const { return rates_[slip_entry(friction, k)]; }
    /// The second derivative of a gap, or that of a slip, in a motion whose twists change at these rates.
    double acceleration(int entry, const std::vector<TwistVec<D>>& twist_rates);
    /// As an entry of a list of contacts.
    int slip_entry(int friction, int k) const { return first_slip_[friction] + k; }

    /// A contact that holds both ways is listed twice, as itself and as opposite(itself).
    static int opposite(int contact) { return -1 - contact; }
    static int contact_of(int entry) { return entry < 0 ? -1 - entry : entry; }
    static double sign_of(int entry) { return entry < 0 ? -1 : 1; }

    /// Slip that sticks, according to the memory, holds like a joint.
    /// For the contacts listed, where look() was last: W and the response of all bodies. False: not finite.
    bool prepare(const BodyStates<D>& states, const std::vector<double>& memory, double t,
                 const std::vector<int>& list);
    const MatX& delassus() const { return delassus_; }
    /// Twists of all bodies after a unit impulse at each of the contacts listed, column by column; needs prepare().
    const MatX& response() const { return response_; }
    /// Rates of the gaps listed.
    void list_rates(VecX& rates) const;
    /// Second derivatives of the gaps of the listed contacts without contact forces; needs prepare(). `known` are
    /// wrenches on the bodies from elsewhere; empty: there are none.
    void find_free_accelerations(const BodyStates<D>& states, const std::vector<double>& memory, double t,
                                 const VecX& known, VecX& accelerations);
    /// Impulses at the listed contacts as wrenches on all bodies.
    void add_wrenches(const VecX& impulses, VecX& wrenches) const;
    /// Changes velocities as impulses at the listed contacts do; needs prepare().
    void apply(const VecX& impulses, BodyStates<D>& states);

private:
    static constexpr int T = twist_size<D>;

    const Mechanism<D>& m_;
    JointProjector<D> joints_;
    TwistConstraints<D> contacts_;
    std::vector<int> first_slip_;  // of each friction element, among the rows of contacts_
    std::vector<int> list_;
    VecX rates_, twists_;
    MatX response_, delassus_;
    std::vector<Vec<D>> slot_force_;
};

}  // namespace limber
