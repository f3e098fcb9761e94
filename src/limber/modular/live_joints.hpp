#pragma once
// Joints between components that come and go while everything else stays. The rows of the others are kept, new ones are
// made from the model, and nothing that has the size of a component is touched.

#include <memory>
#include <optional>

#include "limber/modular/modular_stepper.hpp"

namespace limber {

struct JointChanges {
    std::vector<std::string> leaving;  ///< names
    std::vector<JointHandle> coming;   ///< in the model after the change; a joint that has changed leaves and comes
};

/// Nothing, if something else has changed than joints and the markers that are theirs.
std::optional<JointChanges> find_joint_changes(const Model& before, const Model& after);

/// The joints between components after a change, or null if the change concerns more than these: a joint inside a
/// component, at a body that is no port, one that has a memory or follows a law. Throws ModelError if a joint is wrong.
template <int D>
std::unique_ptr<InterfaceJoints<D>> make_changed_joints(const ModularSystem<D>& system, const InterfaceJoints<D>& now,
                                                        const Model& model, const JointChanges& changes);

}  // namespace limber
