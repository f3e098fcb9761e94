#pragma once
// The part of a component that never changes: a system cut out of the whole mechanism, with ports.

#include <memory>
#include <vector>

#include "limber/dynamics/formulation.hpp"
#include "limber/dynamics/system/system.hpp"
#include "limber/integration/stepper.hpp"
#include "limber/kinematics/mechanism/part.hpp"
#include "limber/modular/options.hpp"

namespace limber {

// Inertia that a freedom without any borrows where only its neighbours hold it: enough to be told from the rounding of
// the penalty. In a step it slows Newton's method by as much; at the start, where accelerations are found with it, the
// forces it takes at those found before are given back. So it leaves no trace in the motion.
inline constexpr double borrowed_inertia = 1e-4;

/// Any number of threads and simulations may share it.
template <int D>
struct CompiledComponent {
    std::vector<int> bodies;     ///< of the whole mechanism
    std::vector<int> ports;      ///< bodies of the whole mechanism that are ports
    std::vector<int> memory;     ///< place in the memory of the whole of each own number; -1: none
    std::vector<int> port_body;  ///< own body of each port
    std::vector<MemorySlot<WrenchMemory<D>>> port_memory;
    std::shared_ptr<const MechanismSystem<D>> system;
    /// For accelerations by themselves: the same, but nothing moves without inertia, and wrenches on all bodies, at the
    /// end of the memory, give back what the borrowed inertia takes. Null: `system` itself serves.
    std::shared_ptr<const MechanismSystem<D>> weighted_system;
    std::vector<MemorySlot<WrenchMemory<D>>> weighted_memory;  ///< of these wrenches
    int massless_freedoms = 0;                                 ///< by itself, see count_massless_freedoms()
    ComponentSettings settings;
    FormulationOptions formulation_options;
    IntegratorOptions integrator_options;
};

template <int D>
std::shared_ptr<CompiledComponent<D>> compile_component(const Mechanism<D>& whole, const PartChoice& choice,
                                                        const std::vector<int>& ports,
                                                        const ComponentSettings& settings,
                                                        const FormulationOptions& formulation_options,
                                                        const IntegratorOptions& integrator_options);

/// Freedoms that neither inertia nor a joint of the mechanism itself holds: the spin of a thin rod between two ball
/// joints.
template <int D>
int count_massless_freedoms(const Mechanism<D>& mechanism);

/// Lets a component have freedoms without inertia that its neighbours hold.
template <int D>
void borrow_inertia(CompiledComponent<D>& compiled);

}  // namespace limber
