#include "limber/simulation/option_needs.hpp"

#include <algorithm>

namespace limber {

bool Method::steps_over_stops() const {
    const auto handles = model.contacts.handles();
    return is_time_stepping() && std::any_of(handles.begin(), handles.end(), [&](const auto handle) {
               return model.contacts.get(handle).template as<RigidContact>() != nullptr;
           });
}

bool Method::has_gains() const {
    const Stabilisation chosen = options.formulation_options.stabilisation;
    return is_stabilised() &&
           (chosen == Stabilisation::gains || has_springs() ||
            (chosen == Stabilisation::automatic && integrator.is_structural() && !formulation.always_projects));
}

bool Method::has_projection() const {
    const Stabilisation chosen = options.formulation_options.stabilisation;
    return is_stabilised() &&
           (chosen == Stabilisation::projection || (chosen == Stabilisation::automatic && !has_gains()));
}

bool Method::has_penalty() const {
    if (is_time_stepping() || !acts_at_events() || has_springs()) return false;
    const bool has_steps = formulation.is_step_solver() && integrator.is_structural();
    return has_steps ? formulation.has_step_penalty : formulation.has_penalty;
}

bool Method::has_relative_error() const {
    const auto handles = model.sensors.handles();
    return std::any_of(handles.begin(), handles.end(), [&](const auto handle) {
        const Sensor& sensor = model.sensors.get(handle);
        const auto* error = sensor.as<ErrorSensor>();
        return error != nullptr && error->kind == ErrorKind::relative;
    });
}

bool Method::may_have_kinks() const {
    const auto can_kink = [](const ScalarLaw& law) {
        return law.kind == ScalarLaw::Kind::expression ||
               (law.table && law.table->interpolation == Interpolation::Kind::linear);
    };
    const auto handles = model.forces.handles();
    return std::any_of(handles.begin(), handles.end(), [&](const auto handle) {
        const Force& force = model.forces.get(handle);
        if (const auto* spring = force.as<Spring>()) return can_kink(spring->law);
        if (const auto* spring = force.as<TorsionSpring>()) return can_kink(spring->law);
        return force.as<Motor>() != nullptr || force.as<Tyre>() != nullptr;
    });
}

namespace needs {

const Need any_run{"", [](const Method&) { return true; }};
const Need division{"a mechanism divided into components (--modular)", [](const Method& m) { return m.is_divided(); }};
const Need newton{"global, hybrid or semi-recursive with a structural integrator",
                  [](const Method& m) { return m.has_newton(); }};
const Need stabilisation{
    "accelerations that are integrated: a structural integrator with an acceleration solver, rk4, "
    "semi-implicit-euler or explicit-euler",
    [](const Method& m) { return m.is_stabilised(); }};
const Need gains_or_error{
    "stabilising gains (option stabilisation=gains, or a structural integrator with an acceleration solver other than "
    "null-space), coupling=acceleration, or a sensor {error: relative}",
    [](const Method& m) {
        return m.has_gains() || m.couples_accelerations() || m.has_spring_joints() || m.has_springs() ||
               m.has_relative_error();
    }};
const Need projection{
    "steps that end with a projection (option stabilisation=projection, null-space, rk4, semi-implicit-euler or "
    "explicit-euler)",
    [](const Method& m) { return m.has_projection(); }};
const Need velocity_gain{
    "a joint that restricts velocities alone (skate, rolling-disc, velocity), and gains: option stabilisation=gains, a "
    "structural integrator with an acceleration solver other than null-space, coupling=acceleration or gluing=penalty",
    [](const Method& m) {
        const auto handles = m.model.joints.handles();
        const bool has_rows = std::any_of(handles.begin(), handles.end(), [&](const auto handle) {
            const Joint& joint = m.model.joints.get(handle);
            return joint.as<Skate>() != nullptr || joint.as<RollingDisc>() != nullptr ||
                   joint.as<VelocityJoint>() != nullptr;
        });
        return has_rows && (m.has_gains() || m.couples_accelerations() || m.has_spring_joints());
    }};
// What gains ask of the constraints' accelerations is judged: without gains there is nothing to judge. The steps of a
// divided mechanism are controlled as one.
const Need step_control{
    "stabilising gains (option stabilisation=gains, or a structural integrator with an acceleration solver other than "
    "null-space), or of a divided mechanism coupling=acceleration or gluing=penalty",
    [](const Method& m) {
        return m.is_divided() ? m.couples_accelerations() || m.has_spring_joints() : m.has_gains();
    }};
const Need spring_penalty{"gluing=penalty, or the formulation penalty with penalty-form=springs",
                          [](const Method& m) { return m.is_divided() ? m.has_spring_joints() : m.has_springs(); }};
const Need penalty_formulation{"the formulation penalty", [](const Method& m) {
                                   return m.formulation.has_spring_form && !m.is_time_stepping() && m.acts_at_events();
                               }};
const Need stops{"a model with stops", [](const Method& m) { return m.has_stops(); }};
const Need impacts{"a model with stops that are treated by events",
                   [](const Method& m) { return m.has_stops() && m.acts_at_events() && !m.steps_over_stops(); }};
const Need penalty{
    "a formulation with penalties (global, hybrid, augmented-lagrangian, composite-body, penalty, or baumgarte and "
    "null-space for their projection) and an integrator that uses its steps or accelerations, which moreau-jean does "
    "not",
    [](const Method& m) { return m.has_penalty(); }};
const Need structural{"a structural integrator",
                      [](const Method& m) { return m.integrator.is_structural() && m.acts_at_events(); }};
const Need kinks{
    "a structural integrator without step control, of a mechanism that is not divided and has tyres, or springs or "
    "motors with a law by expression or straight-line table",
    [](const Method& m) {
        return m.integrator.is_structural() && m.acts_at_events() && !m.is_divided() &&
               m.options.integrator_options.step_control == 0 && m.may_have_kinks();
    }};
const Need newmark{"the integrator newmark", [](const Method& m) { return m.integrator.parameter == "xi"; }};
const Need hht{"the integrator hht", [](const Method& m) { return m.integrator.parameter == "delta"; }};
const Need generalized_alpha{"the integrator generalized-alpha",
                             [](const Method& m) { return m.integrator.parameter == "rho"; }};
const Need corrector{
    "a structural integrator with an acceleration solver, or coupling=acceleration",
    [](const Method& m) { return (m.integrator.is_structural() && m.is_stabilised()) || m.couples_accelerations(); }};
const Need halvings{"an integrator other than moreau-jean and reference", [](const Method& m) {
                        const bool halves = !m.is_time_stepping() && m.integrator.kind != IntegratorKind::adaptive;
                        return m.is_divided() || (halves && m.acts_at_events());
                    }};
const Need stop_penalty{"stops=augmented-lagrangian or stops=penalty, and a model with stops", [](const Method& m) {
                            const ContactTreatment chosen = m.options.contact_options.treatment;
                            return m.has_stops() && (chosen == ContactTreatment::augmented_lagrangian ||
                                                     chosen == ContactTreatment::penalty);
                        }};
const Need stop_multipliers{
    "stops=augmented-lagrangian or stops=multipliers, and a model with stops", [](const Method& m) {
        const ContactTreatment chosen = m.options.contact_options.treatment;
        return m.has_stops() &&
               (chosen == ContactTreatment::augmented_lagrangian || chosen == ContactTreatment::multipliers);
    }};
const Need uzawa{"a divided mechanism with gluing=uzawa",
                 [](const Method& m) { return m.is_divided() && m.options.modular.gluing == Gluing::uzawa; }};
const Need adaptive{"the integrator reference",
                    [](const Method& m) { return m.integrator.kind == IntegratorKind::adaptive; }};

}  // namespace needs

}  // namespace limber
