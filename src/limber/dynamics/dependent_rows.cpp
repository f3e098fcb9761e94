#include "limber/dynamics/dependent_rows.hpp"

#include <utility>

#include "limber/dynamics/penalized_mass.hpp"

namespace limber {
namespace {

constexpr double dependence_penalty = 1e7;

template <int D>
void update_positions(const MechanismSystem<D>& system, Evaluation& e, bool with_contacts) {
    BodyStates<D> states;
    for (const auto& body : system.mechanism().bodies) states.push_back(body.reference);
    VecX q;
    VecX v;
    system.import_states(states, q, v);
    std::vector<double> memory = system.mechanism().memory_with_all_rows();
    if (!with_contacts) memory = with_open_contacts(system.mechanism(), std::move(memory));
    system.update_positions(e, 0, q, memory);
}

}  // namespace

void update_reference_positions(const System& system, Evaluation& e, bool with_contacts) {
    if (const auto* planar = dynamic_cast<const MechanismSystem<2>*>(&system)) {
        update_positions(*planar, e, with_contacts);
    } else {
        update_positions(dynamic_cast<const MechanismSystem<3>&>(system), e, with_contacts);
    }
}

bool has_dependent_velocity_rows(const System& system, bool with_contacts) {
    if (system.rows() == system.holonomic_rows()) return false;
    const auto evaluation = system.make_evaluation();
    update_reference_positions(system, *evaluation, with_contacts);
    PenalizedMass mass(system, dependence_penalty);
    return mass.factorize(*evaluation) && mass.has_dependent_rows(*evaluation) && mass.are_velocities_dependent();
}

}  // namespace limber
