#pragma once
// Compiled systems at a start configuration, without a simulation around them.

#include "limber/dynamics/system/system.hpp"
#include "limber/kinematics/body_space/assembly.hpp"
#include "support/models.hpp"

namespace limber::testing {

/// A system assembled at its start, with the state of the start.
template <int D>
struct StartedSystem {
    std::shared_ptr<const Mechanism<D>> mechanism;
    std::shared_ptr<const MechanismSystem<D>> system;
    BodyStates<D> bodies;
    State state;

    StartedSystem(const Model& model, CoordinateKind kind) {
        mechanism = std::make_shared<const Mechanism<D>>(make_mechanism<D>(model));
        for (const auto& body : mechanism->bodies) bodies.push_back(body.reference);
        state.memory = mechanism->initial_memory;
        const AssemblyReport assembly = assemble(*mechanism, bodies, state.memory, 0.0, true);
        EXPECT_TRUE(assembly.converged) << assembly.worst.subject << " " << assembly.largest_error;
        project_velocities(*mechanism, bodies, state.memory, 0.0, true);
        system = make_system<D>(mechanism, kind);
        system->import_states(bodies, state.q, state.v);
    }
};

}  // namespace limber::testing
