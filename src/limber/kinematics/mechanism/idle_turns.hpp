#pragma once
// Turns of a body that have no inertia and that nothing sees: of a point mass, of a thin rod between two balls. No
// joint restricts them, no force acts along them or depends on them, so they may stay as they are. Coordinates that
// count them need some inertia there, or rounding drives them; as nothing is coupled to them, any value gives the same
// motion of everything else.
//
// They are found from the body's own points and directions alone, so that they do not depend on the configuration.

#include <memory>
#include <vector>

#include "limber/kinematics/mechanism/mechanism.hpp"

namespace limber {

/// What holds on to a body: points and directions in its axes, from its centre of mass.
template <int D>
struct BodyTies {
    std::vector<Vec<D>> points, directions;
    bool by_all = false;    ///< any turn is noticed
    int element_count = 0;  ///< joints, drivers, stops and forces
};

/// Whether some turn of a body has no inertia about its centre of mass.
template <int D>
bool has_free_spin(const MechanismBody<D>& body);

/// By forces alone; one per body.
template <int D>
std::vector<BodyTies<D>> find_force_ties(const Mechanism<D>& mechanism);

template <int D>
struct IdleTurns {
    int body = -1;
    Vec<D> point = Vec<D>::Zero();                    ///< all turns are about it; from the centre of mass, body axes
    AngularMat<D> projector = AngularMat<D>::Zero();  ///< on their axes, body axes
};

template <int D>
std::vector<IdleTurns<D>> find_idle_turns(const Mechanism<D>& mechanism);

/// The same mechanism with some inertia for its idle turns; itself if there are none.
template <int D>
std::shared_ptr<const Mechanism<D>> with_idle_inertia(std::shared_ptr<const Mechanism<D>> mechanism);

/// Takes idle turns out of the velocities.
template <int D>
void rest_idle_turns(const Mechanism<D>& mechanism, std::vector<BodyState<D>>& states);

}  // namespace limber
