#pragma once
// A part of a mechanism: some of its bodies with some of its joints, drivers and forces, as a mechanism of its own.
// What the rest does to the part can enter through ports: bodies on which a wrench kept in the memory acts.

#include "limber/kinematics/mechanism/mechanism.hpp"

namespace limber {

/// Indices into the whole. Elements and forces may touch chosen bodies and the ground only.
struct PartChoice {
    std::vector<int> bodies, elements, forces;
};

template <int D>
struct Part {
    Mechanism<D> mechanism;
    // Indices into the whole for each of the part's bodies, elements and numbers of memory; -1: one of the part's own.
    std::vector<int> bodies, elements, memory;
    std::vector<MemorySlot<WrenchMemory<D>>> port_memory;

    /// Lets a wrench act on a body of the part, at its centre of mass.
    void add_port(int body);
};

template <int D>
Part<D> make_part(const Mechanism<D>& whole, const PartChoice& choice);

/// Bodies that an element (joint or driver) or a force of a mechanism touches, without the ground, in order.
template <int D>
std::vector<int> bodies_of_element(const Mechanism<D>& mechanism, int element);
template <int D>
std::vector<int> bodies_of_force(const Mechanism<D>& mechanism, int force);

}  // namespace limber
