#pragma once
// From one compiled model to the next while it moves: bodies keep their motion, joints their counted turns, and what
// does not fit the new constraints is projected onto them.

#include <functional>
#include <string>
#include <vector>

#include "limber/kinematics/body_space/assembly.hpp"

namespace limber {

/// What a joint did in no time: an impulse on its second body, at its second marker, world axes.
struct JointImpulse {
    std::string joint;
    Vec3 impulse = Vec3::Zero(), moment = Vec3::Zero();
};

/// What cannot be transferred without violence.
struct TransferLimits {
    double move = 0;  ///< largest move of a body by the projection of positions; 0: any
    /// The projection of velocities may add a hundred times the kinetic energy of before and of the typical mass that
    /// passes the typical length so many times a second; 0: any.
    double rate = 0;
    double gap = 0;  ///< by which joints that contradict each other may stay open, if they were not before; 0: any
};

struct TransferReport {
    double largest_move = 0;   ///< of a body's centre of mass, by the projection of positions
    double energy_before = 0;  ///< kinetic and potential
    double energy_after = 0;
    double loss_forgotten =
        0;  ///< impact loss remembered before, minus that after: stops that go take their account along
    double kinetic_lost = 0;             ///< by the projection of velocities
    std::vector<JointImpulse> impulses;  ///< of joints and drivers that had to act, none if velocities did not change
};

/// Motion of the bodies of `to` as it is in `from`: bodies of the same name keep frame and velocities (the centre of
/// mass may be elsewhere now), new ones start as written. `memory` likewise: turns of the same angles, targets of the
/// same pulls.
template <int D>
void carry_over(const Mechanism<D>& from, const BodyStates<D>& states, const std::vector<double>& memory,
                const Mechanism<D>& to, BodyStates<D>& new_states, std::vector<double>& new_memory);

/// Impulses of some elements by their wrenches, without those that are nothing but rounding beside the largest.
template <int D>
std::vector<JointImpulse> list_impulses(const std::vector<ConstraintElement<D>>& elements,
                                        const std::function<TwistVec<D>(int element)>& wrench);

/// Impulses behind a change of velocities; empty if there is none.
template <int D>
std::vector<JointImpulse> find_impulses(const Mechanism<D>& mechanism, const BodyStates<D>& before,
                                        const BodyStates<D>& after, const std::vector<double>& memory, double t);

}  // namespace limber
