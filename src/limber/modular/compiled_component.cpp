#include "limber/modular/compiled_component.hpp"

#include <algorithm>

#include "limber/dynamics/system/system_like.hpp"
#include "limber/kinematics/body_space/twist_constraints.hpp"

namespace limber {

template <int D>
std::shared_ptr<CompiledComponent<D>> compile_component(const Mechanism<D>& whole, const PartChoice& choice,
                                                        const std::vector<int>& ports,
                                                        const ComponentSettings& settings,
                                                        const FormulationOptions& formulation_options,
                                                        const IntegratorOptions& integrator_options) {
    auto compiled = std::make_shared<CompiledComponent<D>>();
    compiled->bodies = choice.bodies;
    compiled->ports = ports;
    compiled->settings = settings;
    compiled->formulation_options = formulation_options;
    compiled->integrator_options = integrator_options;
    Part<D> part = make_part(whole, choice);
    for (const int port : ports) {
        const auto it = std::find(choice.bodies.begin(), choice.bodies.end(), port);
        compiled->port_body.push_back(static_cast<int>(it - choice.bodies.begin()));
        part.add_port(compiled->port_body.back());
    }
    compiled->memory = part.memory;
    compiled->port_memory = part.port_memory;
    const FormulationInfo& formulation = find_formulation(settings.formulation);
    const std::string coordinates = !formulation.coordinates.empty() ? formulation.coordinates
                                    : settings.coordinates.empty()   ? "natural"
                                                                     : settings.coordinates;
    compiled->settings.coordinates = coordinates;
    compiled->massless_freedoms = count_massless_freedoms(part.mechanism);
    compiled->system = make_system<D>(std::make_shared<const Mechanism<D>>(std::move(part.mechanism)),
                                      parse_coordinate_kind(coordinates), !formulation.is_matrix_free);
    return compiled;
}

template <int D>
int count_massless_freedoms(const Mechanism<D>& m) {
    TwistConstraints<D> c(m, m.constraints);
    BodyStates<D> states;
    for (const auto& body : m.bodies) states.push_back(body.reference);
    c.update(states, m.initial_memory, 0);
    c.clear_matrix();
    c.add_mass(states, 0);
    c.add_normal_matrix(m.mass_scale);
    c.factorize();
    return c.frozen_freedoms();
}

template <int D>
void borrow_inertia(CompiledComponent<D>& compiled) {
    Part<D> part;
    part.mechanism = compiled.system->mechanism();
    Mechanism<D>& weighted = part.mechanism;
    const double mass = borrowed_inertia * weighted.mass_scale;
    const double inertia = mass * weighted.length_scale * weighted.length_scale;
    for (std::size_t b = 0; b < weighted.bodies.size(); ++b) {
        auto& body = weighted.bodies[b];
        body.mass = std::max(body.mass, mass);
        for (int i = 0; i < angular_size<D>; ++i) body.inertia(i, i) = std::max(body.inertia(i, i), inertia);
        part.add_port(static_cast<int>(b));
    }
    compiled.weighted_memory = std::move(part.port_memory);
    compiled.weighted_system = make_system<D>(std::make_shared<const Mechanism<D>>(std::move(weighted)),
                                              parse_coordinate_kind(compiled.settings.coordinates));
    // States go to and fro between the two. With more inertia and ports on all bodies, what was a point or a bar is a
    // frame.
    compiled.system =
        make_system_like(*compiled.weighted_system, std::make_shared<const Mechanism<D>>(compiled.system->mechanism()));
}

#define LIMBER_INSTANTIATE(D)                                                                      \
    template int count_massless_freedoms(const Mechanism<D>&);                                     \
    template void borrow_inertia(CompiledComponent<D>&);                                           \
    template std::shared_ptr<CompiledComponent<D>> compile_component(                              \
        const Mechanism<D>&, const PartChoice&, const std::vector<int>&, const ComponentSettings&, \
        const FormulationOptions&, const IntegratorOptions&);
LIMBER_INSTANTIATE(2)
LIMBER_INSTANTIATE(3)
#undef LIMBER_INSTANTIATE

}  // namespace limber
