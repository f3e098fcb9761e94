#pragma once
// Two systems of the same bodies and joints with different inertia, whose coordinates mean the same.

#include "limber/dynamics/system/system.hpp"

namespace limber {

/// A system in the very coordinates of another one. Which coordinates suit a body (a point, a bar, a frame) and where
/// its tree begins depend on its inertia; so two systems made one by one may differ in size, or worse, only in meaning.
/// The mechanism must have the bodies, elements and features of `like`.
template <int D>
std::shared_ptr<const MechanismSystem<D>> make_system_like(const MechanismSystem<D>& like,
                                                           std::shared_ptr<const Mechanism<D>> mechanism);

}  // namespace limber
