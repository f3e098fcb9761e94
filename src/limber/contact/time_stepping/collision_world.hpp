#pragma once
// Where the bodies of a mechanism touch, or will within a step.

#include <algorithm>
#include <vector>

#include "limber/geometry/broad_phase.hpp"
#include "limber/geometry/manifold.hpp"
#include "limber/kinematics/body_space/twist.hpp"

namespace limber {

/// Two bodies at one point. The normal points from a to b.
struct Contact {
    int body_a = -1, body_b = -1;    ///< -1: ground
    int shape_a = -1, shape_b = -1;  ///< of Mechanism::shapes
    int rule = -1;                   ///< of Mechanism::contact_rules
    int stop = -1;  ///< of the stops that are stepped over, see stepped_stops.hpp; these have neither bodies nor a rule
    Vec3 point = Vec3::Zero();
    Vec3 normal = Vec3::UnitZ();
    double gap = 0;
};

/// Scratch memory inside: one per thread. The same states give the same contacts in the same order.
template <int D>
class CollisionWorld {
public:
    explicit CollisionWorld(const Mechanism<D>& mechanism);

    /// All contact points that bodies with these velocities may close within a time. False: there are more than
    /// `max_contacts`, and the list is cut short there.
    bool find_contacts(const BodyStates<D>& states, double horizon, std::vector<Contact>& contacts);
    /// Overlaps deeper than 1/100 of the smaller shape's size, of bodies that come as far as that within a time.
    void find_deep_contacts(const BodyStates<D>& states, double horizon, std::vector<Contact>& contacts);

    /// Far more than piles of any bodies have; bodies that were placed inside each other by the hundred have more, and
    /// would take all memory there is.
    std::size_t max_contacts() const { return std::max<std::size_t>(100'000, 40 * m_.bodies.size()); }

    /// Half the diagonal of a shape's bounds; of a plane, more than any other's.
    double size_of(int shape) const { return extent_[shape]; }

private:
    void place_shapes(const BodyStates<D>& states, double horizon);
    /// Of bounds that meet, in order.
    void find_pairs();
    void add_manifold(int i, int j, int rule, double margin, std::vector<Contact>& contacts);

    const Mechanism<D>& m_;
    BroadPhase broad_phase_;
    std::vector<Frame> frames_;
    std::vector<Bounds> bounds_;
    std::vector<double> reach_;   // how far a shape can get within the horizon
    std::vector<double> extent_;  // half the size of a shape, and its distance from the body's centre of mass
    std::vector<int> planes_, others_;
    std::vector<Bounds> other_bounds_;
    std::vector<std::pair<int, int>> pairs_;
    Manifold manifold_;
};

}  // namespace limber
