#include "limber/simulation/load_probes.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "limber/kinematics/forces/bushing_force.hpp"
#include "limber/kinematics/forces/scalar_force.hpp"
#include "limber/kinematics/forces/servo_force.hpp"
#include "limber/kinematics/forces/slip_force.hpp"
#include "limber/kinematics/forces/tyre_force.hpp"
#include "limber/kinematics/forces/user_force.hpp"
#include "limber/kinematics/forces/vector_force.hpp"
#include "limber/model/error.hpp"
#include "limber/model/evaluation.hpp"

namespace limber {
namespace {

template <int D>
std::vector<const char*> wrench_components() {
    if (D == 2) return {"fx", "fy", "tz"};
    return {"fx", "fy", "fz", "tx", "ty", "tz"};
}
template <int D>
std::vector<const char*> wrench_units() {
    if (D == 2) return {"N", "N", "N m"};
    return {"N", "N", "N", "N m", "N m", "N m"};
}

// What the one number of a force element is.
template <int D>
const char* unit_of_size(const Mechanism<D>& m, const ForceElement<D>& e) {
    if (const auto* force = e.template as<ScalarForce>()) return force_unit_of(m.measure(force->measure));
    if (const auto* force = e.template as<ServoForce>()) return force_unit_of(m.measure(force->measure));
    if (const auto* force = e.template as<SlipForce>())
        return force->measure < 0 ? "N" : force_unit_of(m.measure(force->measure));
    if (e.template as<Couple>() != nullptr) return "N m";
    return "N";
}

}  // namespace

template <int D>
const char* unit_of(const Measure<D>& measure, int rates) {
    constexpr std::array<const char*, 3> angles{"rad", "rad/s", "rad/s^2"};
    constexpr std::array<const char*, 3> lengths{"m", "m/s", "m/s^2"};
    if (measure.kind == MeasureKind::angle) return angles[rates];
    const bool is_length = measure.kind != MeasureKind::dot && measure.kind != MeasureKind::custom;
    return is_length ? lengths[rates] : "";
}

template <int D>
const char* force_unit_of(const Measure<D>& measure) {
    const std::string_view unit = unit_of(measure);
    return unit == "rad" ? "N m" : unit == "m" ? "N" : "";
}

template <int D>
void LoadProbes<D>::refuse(const std::string& why) const {
    throw ModelError(fmt::format("sensor '{}': {}", name_, why));
}

template <int D>
MarkerFeatures<D> LoadProbes<D>::features_of(MarkerHandle handle) const {
    return m_.sensor_markers.at(model_.markers.get(handle).name);
}

template <int D>
int LoadProbes<D>::index_of(BodyHandle body) const {
    const auto found =
        std::find_if(m_.bodies.begin(), m_.bodies.end(), [&](const auto& b) { return b.handle == body; });
    return found == m_.bodies.end() ? -1 : static_cast<int>(found - m_.bodies.begin());
}

// Of a flexible body the one piece that something acts on.
template <int D>
int LoadProbes<D>::index_of(BodyHandle body, const std::vector<int>& among, const std::string& what) const {
    int found = -1;
    for (const int b : among) {
        if (b < 0 || m_.bodies[b].handle != body) continue;
        if (found >= 0)
            refuse(fmt::format("{} acts on body '{}' at several places", what, model_.bodies.get(body).name));
        found = b;
    }
    return found >= 0 ? found : index_of(body);
}

template <int D>
std::string LoadProbes<D>::body_names(const std::vector<int>& bodies) const {
    std::vector<std::string> names;
    for (const int b : bodies) names.push_back(b < 0 ? model_.bodies.get(model_.ground()).name : m_.bodies[b].name);
    return fmt::format("{}", fmt::join(names, ", "));
}

template <int D>
void LoadProbes<D>::require(BodyHandle body, const std::vector<int>& bodies, const std::string& what) const {
    const auto is_of_body = [&](int b) { return (b < 0 ? model_.ground() : m_.bodies[b].handle) == body; };
    if (bodies.empty() || std::any_of(bodies.begin(), bodies.end(), is_of_body)) return;
    refuse(fmt::format("{} does not act on body '{}'; it acts on {}", what, model_.bodies.get(body).name,
                       body_names(bodies)));
}

template <int D>
void ToldWrench<D>::write(const FeatureState<D>& features, TwistVec<D> wrench, double* out) const {
    if (axes) {
        wrench.template head<D>() = along(features, *axes, Vec<D>(wrench.template head<D>()));
        if constexpr (D == 3) wrench.template tail<3>() = along(features, *axes, Vec<3>(wrench.template tail<3>()));
    }
    std::copy(wrench.data(), wrench.data() + twist_size<D>, out);
}

// The multiplier of a driver, a coupling, or a gear that acts by torques alone.
template <int D>
Probe<D> LoadProbes<D>::make_number(const ConstraintElement<D>& element, int index) const {
    Probe<D> probe{.needs_accelerations = true, .needs_reactions = true};
    probe.measure = [&reactions = motion_.reactions(), index](const Instant<D>&, double* out) {
        *out = reactions.multiplier(index, 0);
    };
    // Of an equation of coordinates that are all alike, one of the first counting once.
    if (element.row_count > 0) {
        const Row& row = m_.constraints.rows[element.first_row];
        if (element.role == ElementRole::driver && row.term_count == 1)
            probe.units = {force_unit_of(m_.measure(m_.constraints.terms[row.first_term].measure))};
    }
    return probe;
}

template <int D>
Probe<D> LoadProbes<D>::make(const Reaction& sensor) const {
    const auto* joint = std::get_if<JointHandle>(&sensor.of);
    const int index =
        m_.element_index.at(joint != nullptr ? model_.joints.get(*joint).name
                                             : "driver " + model_.drivers.get(std::get<DriverHandle>(sensor.of)).name);
    const ConstraintElement<D>& element = m_.elements[index];
    const std::string what = fmt::format("the reaction of {} '{}'", element_role_name(element.role), element.name);
    const auto* frame = std::get_if<ReactionFrame>(&sensor.axes);
    const auto* point = std::get_if<ReactionPoint>(&sensor.at);
    const bool has_wrench = ReactionSolver<D>::has_wrench(element);
    if (!has_wrench && sensor.body.is_null()) {
        for (const auto& [key, is_given] :
             {std::pair{"axes", sensor.axes != Reaction{}.axes}, std::pair{"at", sensor.at != Reaction{}.at}})
            if (is_given)
                refuse(
                    fmt::format("{} is one number: '{}' would have no effect; with 'body: NAME' it is the force and "
                                "the torque on that body",
                                what, key));
        return make_number(element, index);
    }
    if (!element.has_markers) {
        if (frame != nullptr && *frame != ReactionFrame::world)
            refuse(what + " belongs to no marker: give the name of a marker or body as 'axes'");
        if (point != nullptr && *point != ReactionPoint::second)
            refuse(what + " belongs to no marker: give the name of a marker or body as 'at'");
    }
    ToldWrench<D> told;
    if (const auto* marker = std::get_if<MarkerHandle>(&sensor.axes)) told.axes = features_of(*marker);
    if (frame != nullptr && *frame == ReactionFrame::joint) told.axes = element.a;
    if (frame != nullptr && *frame == ReactionFrame::second) told.axes = element.b;
    if (const auto* marker = std::get_if<MarkerHandle>(&sensor.at)) told.point = features_of(*marker).point;
    if (point != nullptr && *point == ReactionPoint::first) told.point = element.a.point;
    Probe<D> probe{.components = wrench_components<D>(), .needs_accelerations = true, .needs_reactions = true};
    probe.units = wrench_units<D>();
    // As it always was, to the last bit: on the second body, at its own point.
    if (sensor.body.is_null() && told.point < 0) {
        probe.measure = [&motion = motion_, told, index](const Instant<D>&, double* out) {
            told.write(motion.features(), motion.reactions().reaction(index), out);
        };
        return probe;
    }
    const std::vector<int> bodies = motion_.reactions().find_bodies(index);
    if (!sensor.body.is_null()) require(sensor.body, bodies, what);
    told.body = sensor.body.is_null() ? bodies.back() : index_of(sensor.body, bodies, what);
    // Of what has neither markers nor teeth: the origin of the body.
    Vec<D> origin = Vec<D>::Zero();
    if (!has_wrench && told.point < 0 && told.body >= 0) {
        told.point = m_.bodies[told.body].frame.point;
        origin = -m_.bodies[told.body].centre;
    }
    probe.measure = [&motion = motion_, told, index, bodies, origin, has_wrench](const Instant<D>&, double* out) {
        const FeatureState<D>& f = motion.features();
        Vec<D> at = Vec<D>::Zero();
        if (told.point >= 0) {
            at = f.value[told.point];
        } else if (has_wrench) {
            at = motion.reactions().reaction_point(index);
        }
        if (told.body >= 0) at += motion.states()[told.body].axes * origin;
        told.write(f, motion.reactions().reaction_on(index, told.body, bodies, at), out);
    };
    return probe;
}

template <int D>
Probe<D> LoadProbes<D>::make(const ForceSensor& sensor) const {
    const Force& force = model_.forces.get(sensor.force);
    const int index = m_.force_index.at(force.name);
    const ForceElement<D>& element = m_.forces.elements[index];
    if (force.as<LineLoad>() != nullptr)
        refuse(fmt::format("force '{}' is spread along a beam and is no single force; see sensors of type section",
                           force.name));
    if (sensor.body.is_null()) {
        for (const auto& [key, marker] : {std::pair{"axes", sensor.axes}, std::pair{"at", sensor.at}})
            if (!marker.is_null())
                refuse(
                    fmt::format("'{}' would have no effect on one number: it goes with 'body', the body whose force "
                                "and torque are told",
                                key));
        Probe<D> probe{.measure = [&m = m_, index](const Instant<D>& now, double* out) {
            *out = m.forces.size(index, m.constraints.measures, now.context, now.state.t);
        }};
        probe.units = {unit_of_size(m_, element)};
        return probe;
    }
    std::vector<int> bodies;
    for (int s = element.first_slot; s < element.first_slot + element.slot_count; ++s)
        bodies.push_back(m_.features[m_.forces.slot_feature[s]].body);
    std::sort(bodies.begin(), bodies.end());
    bodies.erase(std::unique(bodies.begin(), bodies.end()), bodies.end());
    const std::string what = fmt::format("force '{}'", force.name);
    require(sensor.body, bodies, what);
    ToldWrench<D> told;
    told.body = index_of(sensor.body, bodies, what);
    if (!sensor.axes.is_null()) told.axes = features_of(sensor.axes);
    // About the given marker, the element's own one on that body, or the body's origin.
    MarkerHandle about = sensor.at;
    const ElementEnds ends = ends_of(force);
    for (const MarkerHandle own : {ends.b, ends.a})
        if (about.is_null() && !own.is_null() && model_.markers.get(own).body == sensor.body) about = own;
    if (about.is_null()) about = model_.marker(model_.bodies.get(sensor.body).name);
    const Frame place = ModelEvaluation(model_).marker_frame(about);
    const BodyHandle holder = model_.markers.get(about).body;
    int held = index_of(holder);
    Vec<D> local = place.position.head<D>();
    if (const auto piece = m_.piece_markers.find(model_.markers.get(about).name); piece != m_.piece_markers.end()) {
        held = piece->second.body;
        local = piece->second.point;
    } else if (held >= 0) {
        local -= m_.bodies[held].centre;
    } else {
        const Frame ground = ModelEvaluation(model_).body_frame(model_.ground());
        local = (ground.position + ground.axes * place.position).template head<D>();
    }
    Probe<D> probe{.components = wrench_components<D>()};
    probe.units = wrench_units<D>();
    probe.measure = [&motion = motion_, told, index, held, local,
                     slot_force = std::vector<Vec<D>>(element.slot_count, Vec<D>::Zero())](const Instant<D>& now,
                                                                                           double* out) mutable {
        const Mechanism<D>& m = motion.mechanism();
        const ForceElement<D>& e = m.forces.elements[index];
        const FeatureState<D>& f = motion.features();
        Vec<D> at = local;
        if (held >= 0) at = motion.states()[held].position + motion.states()[held].axes * local;
        e.force->evaluate(m.forces.view(e, m.constraints.measures, now.context, now.state.t), slot_force.data());
        TwistVec<D> wrench = TwistVec<D>::Zero();
        for (int s = 0; s < e.slot_count; ++s) {
            const int feature = m.forces.slot_feature[e.first_slot + s];
            if (m.features[feature].body == told.body)
                add_wrench(m.features[feature], f.value[feature], at, slot_force[s], wrench);
        }
        told.write(f, wrench, out);
    };
    return probe;
}

template <int D>
Probe<D> LoadProbes<D>::make(const FrictionSensor& sensor) const {
    const auto* force = std::get_if<ForceHandle>(&sensor.of);
    const std::string& name =
        force != nullptr ? model_.forces.get(*force).name : model_.stops.get(std::get<StopHandle>(sensor.of)).name;
    const std::string what = fmt::format("{} '{}'", force != nullptr ? Force::kind : Stop::kind, name);
    // A stop with several gaps rubs at each of them.
    std::vector<int> rubbing;
    for (std::size_t i = 0; i < m_.friction.size(); ++i)
        if (m_.friction[i].name == name && (m_.friction[i].contact >= 0) == (force == nullptr))
            rubbing.push_back(static_cast<int>(i));
    if (rubbing.empty()) refuse(what + (force != nullptr ? " is not of type friction" : " has no friction"));
    const auto slip_force = [&](const FrictionElement& friction) {
        const auto& all = m_.forces.elements;
        return static_cast<int>(std::find_if(all.begin(), all.end(),
                                             [&](const ForceElement<D>& e) {
                                                 const auto* slip = e.template as<SlipForce>();
                                                 return slip != nullptr && slip->slip == friction.slip;
                                             }) -
                                all.begin());
    };
    std::vector<int> forces;
    for (const int i : rubbing) forces.push_back(slip_force(m_.friction[i]));
    const int measure = m_.forces.elements[forces.front()].template as<SlipForce>()->measure;
    const bool is_scalar = measure >= 0;
    Probe<D> probe{.components = {"sticks", "slips", "force"}, .needs_accelerations = true, .needs_reactions = true};
    probe.units = {"", "", is_scalar ? force_unit_of(m_.measure(measure)) : "N"};
    if (!is_scalar) {
        for (const char* component : {"x", "y", "z"})
            if (static_cast<int>(probe.components.size()) < 3 + D) probe.components.push_back(component);
        probe.units.resize(probe.components.size(), "");
    }
    probe.measure = [&motion = motion_, rubbing, forces, is_scalar, measure](const Instant<D>& now, double* out) {
        const Mechanism<D>& m = motion.mechanism();
        std::fill(out, out + (is_scalar ? 3 : 3 + D), 0.0);
        for (std::size_t i = 0; i < rubbing.size(); ++i) {
            const FrictionElement& friction = m.friction[rubbing[i]];
            const auto slip = friction.slip.in(now.state.memory);
            const bool is_compliant = friction.compliant >= 0;
            if (friction.stick.in(now.state.memory)) {
                out[0] = 1;
                Vec<2> held = Vec<2>::Zero();
                for (int k = 0; k < friction.row_count; ++k)
                    held[k] = motion.reactions().row_multiplier(friction.first_row + k);
                out[2] += is_scalar ? held[0] : held.norm();
            }
            if (!slip.is_on) continue;
            out[2] += m.forces.size(forces[i], m.constraints.measures, now.context, now.state.t);
            if (is_scalar) {
                const double rate = compute_rate(m.measure(measure), now.context);
                const double way = is_compliant ? rate : slip.direction[0];
                out[1] = way > 0 ? 1 : way < 0 ? -1 : 0;
                continue;
            }
            out[1] = 1;
            std::array<Vec<D>, 2 * (D + 1)> gradient;
            for (int k = 0; k < friction.row_count; ++k) {
                const Row& row = m.constraints.rows[friction.first_row + k];
                compute_sliding_gradient(motion.features(), m.constraints.slot_feature.data() + row.first_slot, row,
                                         gradient.data());
                Eigen::Map<Vec<D>>(out + 3) += slip.direction[k] * gradient[D + 1];
            }
        }
    };
    return probe;
}

template <int D>
Probe<D> LoadProbes<D>::make(const TyreSensor& sensor) const {
    const std::string& force = model_.forces.get(sensor.force).name;
    const int index = m_.force_index.at(force);
    const auto* tyre = m_.forces.elements[index].template as<TyreForce>();
    if (tyre == nullptr)
        refuse(fmt::format("force '{}' is of type {}, not tyre", force, model_.forces.get(sensor.force).note().name));
    struct Column {
        const char *name, *unit;
        double TyreContact::*value;
    };
    using C = TyreContact;
    std::vector<Column> columns{{"normal", "N", &C::normal}};
    const bool is_driven = tyre->law.longitudinal.has_value();
    if (D == 3 || is_driven) columns.push_back({"longitudinal", "N", &C::longitudinal});
    if (D == 3)
        columns.insert(columns.end(), {{"lateral", "N", &C::lateral},
                                       {"aligning", "N m", &C::aligning},
                                       {"slip", "rad", &C::slip},
                                       {"camber", "rad", &C::camber}});
    columns.push_back({"depth", "m", &C::depth});
    if (is_driven) columns.push_back({"slip-ratio", "", &C::slip_ratio});
    Probe<D> probe{.components = {}};
    probe.units.clear();
    for (const Column& column : columns) {
        probe.components.emplace_back(column.name);
        probe.units.emplace_back(column.unit);
    }
    probe.measure = [&m = m_, index, tyre, columns](const Instant<D>& now, double* out) {
        const TyreContact c =
            tyre->measure(m.forces.view(m.forces.elements[index], m.constraints.measures, now.context, now.state.t));
        for (const Column& column : columns) *out++ = c.*column.value;
    };
    return probe;
}

#define LIMBER_INSTANTIATE(D)                              \
    template const char* unit_of(const Measure<D>&, int);  \
    template const char* force_unit_of(const Measure<D>&); \
    template struct ToldWrench<D>;                         \
    template class LoadProbes<D>;
LIMBER_INSTANTIATE(2)
LIMBER_INSTANTIATE(3)
#undef LIMBER_INSTANTIATE

}  // namespace limber
