#pragma once
// Contacts that stick together: a brick on two corners can hold itself in many ways, and lets go when none of them
// obeys Coulomb's law.
//
// With all sticking contacts free to slip, forces and accelerations  u' = u'_free + W F  in the cones of the static
// coefficients are found (cone_complementarity.hpp, with forces for impulses). If nothing slips then, there are forces
// that hold. What slips already has the load that its friction was computed from: it is not free to take another share.

#include <vector>

#include "limber/contact/cones/cone_complementarity.hpp"
#include "limber/contact/stops/stop_response.hpp"
#include "limber/dynamics/system/state.hpp"

namespace limber {

template <int D>
class SharedStick {
public:
    explicit SharedStick(const Mechanism<D>& mechanism);

    /// Whether the contacts that stick can go on doing so; `response` has looked at the states. `known` as in
    /// StopResponse.
    bool exists(StopResponse<D>& response, const BodyStates<D>& states, const State& state, const VecX& known);

private:
    bool slips(const State& state, int friction) const;
    /// known_: the forces known, and the loads of contacts that slip.
    void hold_what_slips(StopResponse<D>& response, const BodyStates<D>& states, const State& state, const VecX& known);

    const Mechanism<D>& m_;
    std::vector<int> friction_of_;  // of each contact; -1: none
    ConeSolver solver_;
    std::vector<int> entries_, sizes_;
    std::vector<ConeBlock> blocks_;
    std::vector<double> memory_;
    DelassusMatrix delassus_;
    VecX free_, forces_, after_, known_;
};

}  // namespace limber
