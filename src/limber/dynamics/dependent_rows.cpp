#include "limber/dynamics/dependent_rows.hpp"

#include "limber/dynamics/penalized_mass.hpp"

namespace limber {
namespace {

constexpr double penalty = 1e7;

template <int D>
void update_positions(const MechanismSystem<D>& system, Evaluation& e) {
    BodyStates<D> states;
    for (const auto& body : system.mechanism().bodies) states.push_back(body.reference);
    VecX q;
    VecX v;
    system.import_states(states, q, v);
    const std::vector<double> memory = system.mechanism().memory_with_all_rows();
    system.update_positions(e, 0, q, memory);
}

}  // namespace

void update_reference_positions(const System& system, Evaluation& e) {
    if (const auto* planar = dynamic_cast<const MechanismSystem<2>*>(&system)) {
        update_positions(*planar, e);
    } else {
        update_positions(dynamic_cast<const MechanismSystem<3>&>(system), e);
    }
}

bool has_dependent_velocity_rows(const System& system) {
    if (system.rows() == system.holonomic_rows()) return false;
    const auto evaluation = system.make_evaluation();
    update_reference_positions(system, *evaluation);
    PenalizedMass mass(system, penalty);
    return mass.factorize(*evaluation) && mass.has_dependent_rows(*evaluation) && mass.are_velocities_dependent();
}

}  // namespace limber
