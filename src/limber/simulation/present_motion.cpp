// What a compiled model tells of a state without an observer: frames, overlaps, mobility, and the motion within steps.

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "limber/contact/time_stepping/collision_world.hpp"
#include "limber/kinematics/forces/slip_force.hpp"
#include "limber/math/interruption.hpp"
#include "limber/model/error.hpp"
#include "limber/simulation/compiled_model.hpp"

namespace limber {
namespace {

// Overlaps over the smaller shape's size: rigid bodies have none, compliant ones dip in where they carry something.
constexpr double deep_when_rigid = 1e-3;
constexpr double deep_when_compliant = 0.1;

}  // namespace

template <int D>
Frame CompiledModelOf<D>::body_frame(const State& state, const std::string& name) {
    const BodyHandle handle = model_.bodies.find(name);
    if (handle.is_null())
        throw ModelError(fmt::format("there is no body '{}'{}", name, did_you_mean(name, model_.bodies.names())));
    Frame frame;
    BodyStates<D> states;
    system().export_states(state.q, state.v, states);
    const auto& bodies = system().mechanism().bodies;
    for (std::size_t b = 0; b < bodies.size(); ++b) {
        // Of a flexible body the frame at its start.
        if (bodies[b].handle != handle || bodies[b].node > 0) continue;
        frame.axes.template topLeftCorner<D, D>() = states[b].axes;
        frame.position.template head<D>() = states[b].position - states[b].axes * bodies[b].centre;
    }
    return frame;
}

template <int D>
std::optional<LockReport> CompiledModelOf<D>::find_lock(const State& state, double step, double end) {
    const MechanismSystem<D>& now = system();
    BodyStates<D> states;
    now.export_states(state.q, state.v, states);
    return limber::find_lock(now.mechanism(), std::move(states), state.memory, state.t, step, end);
}

template <int D>
MobilityReport CompiledModelOf<D>::compute_mobility(const State& state) {
    BodyStates<D> states;
    system().export_states(state.q, state.v, states);
    // What sticks is held by friction, not by a joint: it can move.
    std::vector<double> memory = state.memory;
    for (const FrictionElement& friction : system().mechanism().friction)
        if (friction.stick.exists()) friction.stick.in(memory) = false;
    return limber::compute_mobility(system().mechanism(), states, memory, state.t);
}

template <int D>
std::vector<ShapeOverlap> CompiledModelOf<D>::find_overlaps(const State& state) {
    const Mechanism<D>& m = system().mechanism();
    std::vector<ShapeOverlap> list;
    if (m.shapes.empty()) return list;
    BodyStates<D> states;
    system().export_states(state.q, state.v, states);
    CollisionWorld<D> world(m);
    std::vector<Contact> contacts;
    world.find_contacts(states, 0, contacts);
    const auto name = [&](int body) { return body < 0 ? std::string("ground") : m.bodies[body].name; };
    std::map<std::pair<int, int>, std::size_t> known;  // place of two bodies in the list
    for (const Contact& contact : contacts) {
        check_interruption();
        const bool is_rigid = m.contact_rules[contact.rule].law.value().kind == ContactLaw::Kind::rigid;
        const double size = std::min(world.size_of(contact.shape_a), world.size_of(contact.shape_b));
        const double allowed = (is_rigid ? deep_when_rigid : deep_when_compliant) * size;
        if (!(-contact.gap > allowed)) continue;
        const auto [it, is_new] = known.try_emplace({contact.body_a, contact.body_b}, list.size());
        if (is_new) list.push_back({name(contact.body_a), name(contact.body_b), 0, is_rigid});
        list[it->second].depth = std::max(list[it->second].depth, -contact.gap);
    }
    return list;
}

template <int D>
StepPath::Shape CompiledModelOf<D>::shape_of_step(const State& before, const State& after) {
    const IntegratorInfo& integrator = find_integrator(options_.integrator);
    const bool steps_over = integrator.kind == IntegratorKind::time_stepping;
    if (steps_over) {
        // Forces of contacts and impulses of stops stand for impacts anywhere in the step.
        const auto pushes = [](const ContactPoint& contact) { return !contact.force.isZero(0); };
        const auto was_hit = [&](const StopRow& stop) {
            return stop.impulse.in(after.memory) != stop.impulse.in(before.memory);
        };
        const auto& stops = system().mechanism().stops;
        if (std::any_of(after.contacts.begin(), after.contacts.end(), pushes) ||
            std::any_of(stops.begin(), stops.end(), was_hit))
            return StepPath::Shape::jump;
    }
    // Accelerations of time-stepping, and of the whole where it is divided, are differences of what came before.
    if (steps_over || options_.modular.is_on()) return StepPath::Shape::plain;
    return integrator.order > 2 ? StepPath::Shape::quintic : StepPath::Shape::cubic;
}

template <int D>
void CompiledModelOf<D>::interpolate_memory(const State& from, const State& to, State& state) {
    const Mechanism<D>& m = system().mechanism();
    // Friction that slips was found over the piece, and its end knows how; bristles start from where they were.
    for (const FrictionElement& friction : m.friction) {
        friction.slip.copy(state.memory, friction.slip, to.memory);
        auto slip = friction.slip.in(state.memory);
        slip.time = from.t;
        slip.time_after = to.t;
    }
    if (!m.driver_work.exists() || !(to.t > from.t)) return;
    const double share = (state.t - from.t) / (to.t - from.t);
    double& work = m.driver_work.in(state.memory);
    work += share * (m.driver_work.in(to.memory) - work);
}

#define LIMBER_INSTANTIATE(D)                                                                       \
    template Frame CompiledModelOf<D>::body_frame(const State&, const std::string&);                \
    template MobilityReport CompiledModelOf<D>::compute_mobility(const State&);                     \
    template std::optional<LockReport> CompiledModelOf<D>::find_lock(const State&, double, double); \
    template std::vector<ShapeOverlap> CompiledModelOf<D>::find_overlaps(const State&);             \
    template StepPath::Shape CompiledModelOf<D>::shape_of_step(const State&, const State&);         \
    template void CompiledModelOf<D>::interpolate_memory(const State&, const State&, State&);
LIMBER_INSTANTIATE(2)
LIMBER_INSTANTIATE(3)
#undef LIMBER_INSTANTIATE

}  // namespace limber
