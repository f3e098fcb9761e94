// Compiling: coordinates, system, components, stepper and observer of a model.

#include "limber/simulation/compiled_model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "limber/contact/stops/projected_multipliers.hpp"
#include "limber/contact/stops/stepped_stops.hpp"
#include "limber/contact/stops/stop_stepper.hpp"
#include "limber/integration/step_control.hpp"
#include "limber/integration/structural.hpp"
#include "limber/math/interruption.hpp"
#include "limber/model/error.hpp"

namespace limber {

std::unique_ptr<CompiledModel> CompiledModel::make(Model model, SimulationOptions options) {
    return in_dimension(model.planar, [&]<int D>() -> std::unique_ptr<CompiledModel> {
        return std::make_unique<CompiledModelOf<D>>(std::move(model), std::move(options));
    });
}

CoordinateKind CompiledModel::choose_coordinates() {
    const FormulationInfo& formulation = find_formulation(options_.formulation);
    if (options_.modular.is_on()) return coordinate_kind();
    // Time-stepping works on bodies, which these coordinates are nearest to.
    if (options_.coordinates.empty() && formulation.coordinates.empty() &&
        find_integrator(options_.integrator).takes_rigid_contacts())
        options_.coordinates = "reference-point";
    if (options_.coordinates.empty())
        options_.coordinates = formulation.coordinates.empty() ? "natural" : formulation.coordinates;
    if (!formulation.coordinates.empty() && formulation.coordinates != options_.coordinates)
        throw ModelError(fmt::format("{} works in {} coordinates, not in {} ones", formulation.name,
                                     formulation.coordinates, options_.coordinates));
    return coordinate_kind();
}

CoordinateKind CompiledModel::coordinate_kind() const {
    // Of a divided mechanism the components have coordinates of their own. The whole has those of bodies, which stay
    // the same whatever joints come and go.
    return options_.modular.is_on() ? CoordinateKind::reference_point : parse_coordinate_kind(options_.coordinates);
}

// System, stepper and observer for the mechanism of this model.
template <int D>
void CompiledModelOf<D>::compile(const SharedMechanism& mechanism) {
    if (mechanism->has_rigid_contacts() && !find_integrator(options_.integrator).takes_rigid_contacts())
        throw ModelError(
            fmt::format("rigid contacts need the integrator '{}'; with others, bodies touch by a compliant law",
                        list_integrators([](const IntegratorInfo& info) { return info.takes_rigid_contacts(); })));
    choose_coordinates();
    if (options_.modular.is_on()) divide_mechanism(mechanism);
    compile_watched(mechanism);
    make_steppers();
}

template <int D>
void CompiledModelOf<D>::divide_mechanism(const SharedMechanism& mechanism) {
    if (mechanism->has_rigid_contacts())
        throw ModelError(
            "rigid contacts act on all bodies at once, which a mechanism divided into components has not: leave it "
            "undivided, or give the contacts a compliant law");
    const ComponentSettings usual{"", options_.formulation, options_.integrator, options_.coordinates, 0};
    const auto modular =
        compile_modular<D>(mechanism, find_division(*mechanism, model_, options_.modular), usual,
                           options_.formulation_options, options_.integrator_options, options_.modular.tolerance);
    components_.clear();
    for (const auto& component : modular->components) components_.push_back(component->settings);
    modular_ = modular;
    has_exchanged_joints_ = false;
    ++component_compilations_;
}

template <int D>
void CompiledModelOf<D>::compile_watched(const SharedMechanism& mechanism) {
    const bool is_divided = options_.modular.is_on();
    const bool has_matrices = is_divided || !find_formulation(options_.formulation).is_matrix_free;
    system_ = make_system<D>(mechanism, coordinate_kind(), has_matrices);
    observer_ = make_observer<D>(model_, system_, make_observing_solver());
    is_watched_old_ = false;
}

template <int D>
std::unique_ptr<AccelerationSolver> CompiledModelOf<D>::make_observing_solver() const {
    // What is told of reactions and accelerations is that of the joints, also where springs are in their place.
    const bool has_springs = find_formulation(options_.formulation).has_spring_form &&
                             options_.formulation_options.penalty_form == PenaltyForm::springs;
    return make_acceleration_solver(
        options_.modular.is_on() || has_springs ? "augmented-lagrangian" : options_.formulation, system_,
        options_.formulation_options);
}

template <int D>
std::shared_ptr<const System> CompiledModelOf<D>::shared_system() {
    if (is_watched_old_) {
        const Uninterrupted hold;  // system and observer belong together
        compile_watched(make_mechanism());
    }
    return system_;
}

template <int D>
void CompiledModelOf<D>::renew(const State& state) {
    const MechanismSystem<D>& now = system();
    // Ports of joints that have gone belong to the past, too.
    if (has_exchanged_joints_) divide_mechanism(std::make_shared<const Mechanism<D>>(now.mechanism()));
    make_steppers();
    observer_->use_solver(make_observing_solver(), state);
}

template <int D>
void CompiledModelOf<D>::make_steppers() {
    const bool has_any_stops = has_stops(system().mechanism());
    const bool acts_at_events = options_.contact_options.treatment == ContactTreatment::events;
    if (modular_) {
        if (has_any_stops && !acts_at_events)
            throw ModelError(
                "components: stops and dry friction of a divided mechanism act at their instants only; leave out the "
                "option stops");
        auto stepper = std::make_unique<ModularStepper<D>>(system_, modular_, options_.modular);
        stepper_ = with_halvings(std::move(stepper), options_.integrator_options);
    } else if (has_any_stops && !acts_at_events) {
        stepper_ = std::make_unique<ProjectedMultiplierStepper<D>>(
            system_, make_acceleration_solver("augmented-lagrangian", system_),
            make_structural_scheme(options_.integrator, options_.integrator_options), options_.contact_options);
        return;
    } else {
        stepper_ = make_stepper(options_.formulation, options_.integrator, system_, options_.formulation_options,
                                options_.integrator_options);
    }
    const bool steps_over =
        find_integrator(options_.integrator).takes_rigid_contacts() && has_stepped_stops(system_->mechanism());
    if (has_any_stops && !steps_over)
        stepper_ = std::make_unique<StopStepper<D>>(std::move(stepper_), system_, options_.contact_options);
}

template <int D>
void CompiledModelOf<D>::go_on(const State& state) {
    compile(make_mechanism());
    check_state(state);
    observer_->use_solver(make_observing_solver(), state);
}

template <int D>
void CompiledModelOf<D>::check_state(const State& state) const {
    const Mechanism<D>& m = system_->mechanism();
    const auto require = [](bool is_right, const std::string& what) {
        if (!is_right) throw ModelError("the state does not belong to this model: " + what);
    };
    const auto check_length = [&](const char* name, std::ptrdiff_t length, std::ptrdiff_t expected) {
        require(length == expected, fmt::format("{} has {} numbers, expected {}", name, length, expected));
    };
    const auto check_numbers = [&](const char* name, const VecX& numbers, int expected) {
        check_length(name, numbers.size(), expected);
        require(numbers.allFinite(), fmt::format("{} is not finite", name));
    };
    const int size = system_->size();
    require(std::isfinite(state.t), "its time is not finite");
    check_numbers("q", state.q, size);
    check_numbers("v", state.v, size);
    check_numbers("a", state.a, size);
    check_numbers("lambda", state.lambda, options_.modular.is_on() ? 0 : system_->rows());
    // None yet, or one for each coordinate.
    if (state.scheme_a.size() > 0) check_numbers("scheme_a", state.scheme_a, size);
    if (state.previous_a.size() > 0) check_numbers("previous_a", state.previous_a, size);
    require(std::isfinite(state.previous_step) && state.previous_step >= 0, "previous_step is not a length of time");
    check_length("memory", static_cast<std::ptrdiff_t>(state.memory.size()),
                 static_cast<std::ptrdiff_t>(m.initial_memory.size()));
    for (const MemoryBlock& block : m.memory_layout.blocks)
        for (int k = block.first; k < block.first + block.size; ++k)
            if (!std::isfinite(state.memory[k])) require(false, "memory is not finite: " + block.describe());
    for (const ContactPoint& contact : state.contacts) {
        const auto is_index = [](int index, std::size_t count) {
            return index >= -1 && index < static_cast<int>(count);
        };
        require(is_index(contact.body_a, m.bodies.size()) && is_index(contact.body_b, m.bodies.size()) &&
                    is_index(contact.shape_a, m.shapes.size()) && is_index(contact.shape_b, m.shapes.size()) &&
                    is_index(contact.rule, m.contact_rules.size()),
                "a contact is between bodies, of shapes or by a rule that it has not");
        require(contact.point.allFinite() && contact.normal.allFinite() && std::isfinite(contact.gap) &&
                    contact.force.allFinite() && contact.torque.allFinite(),
                "a contact is not finite");
    }
}

template <int D>
ModularStepper<D>* CompiledModelOf<D>::modular_stepper() const {
    auto* stops = dynamic_cast<StopStepper<D>*>(stepper_.get());
    auto* dividing = dynamic_cast<DividingStepper*>(stops == nullptr ? stepper_.get() : &stops->inner());
    return dividing == nullptr ? nullptr : dynamic_cast<ModularStepper<D>*>(&dividing->inner());
}

template class CompiledModelOf<2>;
template class CompiledModelOf<3>;

}  // namespace limber
