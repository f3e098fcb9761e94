#include "limber/simulation/simulation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "limber/model/error.hpp"

namespace limber {

Simulation::Simulation(Model model, SimulationOptions options)
    : model_(std::move(model)), options_(std::move(options)) {
    if (model_.planar) {
        start<2>();
    } else {
        start<3>();
    }
}

Simulation::~Simulation() = default;
Simulation::Simulation(Simulation&&) noexcept = default;
Simulation& Simulation::operator=(Simulation&&) noexcept = default;

template <int D>
void Simulation::start() {
    const FormulationInfo& formulation = find_formulation(options_.formulation);
    if (options_.coordinates.empty())
        options_.coordinates = formulation.coordinates.empty() ? "natural" : formulation.coordinates;
    const CoordinateKind kind = parse_coordinate_kind(options_.coordinates);
    if (!formulation.coordinates.empty() && formulation.coordinates != options_.coordinates)
        throw ModelError(fmt::format("{} works in {} coordinates, not in {} ones", formulation.name,
                                     formulation.coordinates, options_.coordinates));
    auto mechanism = std::make_shared<const Mechanism<D>>(make_mechanism<D>(model_));
    BodyStates<D> states;
    for (const auto& body : mechanism->bodies) states.push_back(body.reference);
    state_.memory = mechanism->initial_memory;

    assembly_ = assemble(*mechanism, states, state_.memory, 0.0, true);
    if (!assembly_.converged)
        throw ModelError(fmt::format("the mechanism cannot be assembled: '{}' stays open by {:.3g}",
                                     assembly_.worst_element, assembly_.largest_error));
    if (options_.from_equilibrium) {
        // With matrices, whatever the formulation needs.
        const auto settled = make_system<D>(mechanism, kind);
        settled->import_states(states, state_.q, state_.v);
        const auto solver = make_acceleration_solver("augmented-lagrangian", settled);
        equilibrium_ = find_equilibrium(settled, *solver, state_);
        if (!equilibrium_.converged) throw std::runtime_error("static equilibrium: " + equilibrium_.reason);
        settled->export_states(state_.q, state_.v, states);
        for (std::size_t b = 0; b < states.size(); ++b) {
            states[b].velocity = mechanism->bodies[b].reference.velocity;
            states[b].angular_velocity = mechanism->bodies[b].reference.angular_velocity;
        }
    }
    velocity_start_ = project_velocities(*mechanism, states, state_.memory, 0.0, true);
    if (!(velocity_start_.largest_error < 1e-6 * (1 + mechanism->length_scale)))
        throw ModelError(fmt::format("the velocities at the start contradict each other: '{}' is off by {:.3g}",
                                     velocity_start_.worst_element, velocity_start_.largest_error));

    const auto system = make_system<D>(mechanism, kind, !formulation.is_matrix_free);
    system->import_states(states, state_.q, state_.v);
    system_ = system;
    stepper_ = make_stepper(options_.formulation, options_.integrator, system_, options_.formulation_options,
                            options_.integrator_options);
    observer_ = make_observer<D>(model_, system,
                                 make_acceleration_solver(options_.formulation, system_, options_.formulation_options));
    const StepReport report = stepper_->start(state_);
    if (!report.ok) throw ModelError("the accelerations at the start cannot be found: " + report.reason);
}

StepReport Simulation::step(double h) {
    return stepper_->step(state_, h);
}

StepReport Simulation::advance(double end, double h) {
    StepReport total;
    total.substeps = 0;
    // Whole steps are counted, not accumulated, so that the end is met without a sliver of a step.
    const double start = state_.t;
    const auto whole = static_cast<long>(std::floor((end - start) / h + 1e-9));
    const auto run = [&](double length) {
        const StepReport report = step(length);
        total.iterations += report.iterations;
        total.substeps += report.substeps;
        total.ok = report.ok;
        total.reason = report.reason;
        return report.ok;
    };
    for (long i = 0; i < whole; ++i) {
        if (!run(h)) return total;
        state_.t = start + static_cast<double>(i + 1) * h;
    }
    const double rest = end - state_.t;
    if (rest > 1e-9 * h && !run(rest)) return total;
    state_.t = end;
    return total;
}

MobilityReport Simulation::compute_mobility() const {
    const auto report = [&]<int D>(const MechanismSystem<D>& system) {
        BodyStates<D> states;
        system.export_states(state_.q, state_.v, states);
        return limber::compute_mobility(system.mechanism(), states, state_.memory, state_.t);
    };
    if (model_.planar) return report(static_cast<const MechanismSystem<2>&>(*system_));
    return report(static_cast<const MechanismSystem<3>&>(*system_));
}

}  // namespace limber
