#include "limber/simulation/transfer.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>

#include "limber/kinematics/body_space/reactions.hpp"
#include "limber/kinematics/forces/compliant_contact.hpp"
#include "limber/kinematics/forces/point_forces.hpp"
#include "limber/kinematics/forces/slip_force.hpp"
#include "limber/simulation/flexible_transfer.hpp"

namespace limber {
namespace {

// What a measure measures, in terms that mean the same in both mechanisms.
template <int D>
class MeasureKey {
public:
    explicit MeasureKey(const Mechanism<D>& m) : m_(m) {}

    std::string operator()(int index) const {
        const Measure<D>& measure = m_.measure(index);
        std::string key(1, static_cast<char>('a' + static_cast<int>(measure.kind)));
        for (int i = 0; i < measure.count; ++i) {
            const Feature<D>& f = m_.features[measure.feature[i]];
            key += f.body < 0 ? std::string("|") : "|" + m_.bodies[f.body].name;
            key += f.is_point ? '.' : '>';
            key.append(reinterpret_cast<const char*>(f.local.data()), sizeof(double) * D);
        }
        return key;
    }

private:
    const Mechanism<D>& m_;
};

// Contacts that are closed stay closed, row by row of the stop of the same name, if it has as many as before.
template <int D>
void carry_stops(const Mechanism<D>& from, const std::vector<double>& memory, const Mechanism<D>& to,
                 std::vector<double>& new_memory) {
    to.impact_loss.copy(new_memory, from.impact_loss, memory);
    for (const ContactRuleNumbers& rule : to.contact_rules) {
        const auto old = std::find_if(from.contact_rules.begin(), from.contact_rules.end(),
                                      [&](const ContactRuleNumbers& candidate) { return candidate.name == rule.name; });
        if (old != from.contact_rules.end()) rule.impulse.copy(new_memory, old->impulse, memory);
    }
    const auto old_row = [&](const StopRow& row) -> const StopRow* {
        const ConstraintElement<D>& element = to.elements[row.element];
        const auto it = from.element_index.find("stop " + element.name);
        if (it == from.element_index.end()) return nullptr;
        const ConstraintElement<D>& old = from.elements[it->second];
        if (old.row_count != element.row_count) return nullptr;
        const int same_row = old.first_row + row.row - element.first_row;
        const auto found = std::find_if(from.stops.begin(), from.stops.end(),
                                        [&](const StopRow& candidate) { return candidate.row == same_row; });
        return found == from.stops.end() ? nullptr : &*found;
    };
    for (const StopRow& row : to.stops) {
        const StopRow* old = old_row(row);
        if (old == nullptr) continue;
        row.flag.copy(new_memory, old->flag, memory);
        row.impulse.copy(new_memory, old->impulse, memory);
    }
    // A stop may have several: they are in order.
    std::map<std::string, int> seen;
    for (const FrictionElement& friction : to.friction) {
        int before = seen[friction.name]++;
        const auto old = std::find_if(
            from.friction.begin(), from.friction.end(),
            [&](const FrictionElement& candidate) { return candidate.name == friction.name && before-- == 0; });
        if (old == from.friction.end() || (old->compliant < 0) != (friction.compliant < 0)) continue;
        friction.stick.copy(new_memory, old->stick, memory);
        friction.slip.copy(new_memory, old->slip, memory);
        friction.bristles.copy(new_memory, old->bristles, memory);
    }
}

// Bristles of contacts between the same two bodies by a rule of the same name, in order.
template <int D>
void carry_bristles(const Mechanism<D>& from, const std::vector<double>& memory, const Mechanism<D>& to,
                    std::vector<double>& new_memory) {
    const auto key = [](const Mechanism<D>& m, const ForceElement<D>& e) {
        std::string text = e.name;
        for (const int slot : {e.first_slot, e.first_slot + D + 1}) {
            const int body = m.features[m.forces.slot_feature[slot]].body;
            text += '|' + (body < 0 ? std::string() : m.bodies[body].name);
        }
        return text;
    };
    std::multimap<std::string, MemorySlot<SurfaceBristleMemory>> known;
    const auto bristles = [](const ForceElement<D>& e) {
        const auto* contact = e.template as<CompliantContact>();
        return contact == nullptr ? MemorySlot<SurfaceBristleMemory>() : contact->bristles;
    };
    for (const ForceElement<D>& e : from.forces.elements)
        if (bristles(e).exists()) known.emplace(key(from, e), bristles(e));
    for (const ForceElement<D>& e : to.forces.elements) {
        if (!bristles(e).exists()) continue;
        const auto it = known.lower_bound(key(to, e));
        if (it == known.end() || it->first != key(to, e)) continue;
        bristles(e).copy(new_memory, it->second, memory);
        known.erase(it);
    }
}

}  // namespace

template <int D>
void carry_over(const Mechanism<D>& from, const BodyStates<D>& states, const std::vector<double>& memory,
                const Mechanism<D>& to, BodyStates<D>& new_states, std::vector<double>& new_memory) {
    std::unordered_map<std::string_view, std::size_t> by_name;
    by_name.reserve(from.bodies.size());
    for (std::size_t i = 0; i < from.bodies.size(); ++i) by_name.emplace(from.bodies[i].name, i);
    new_states.clear();
    new_states.reserve(to.bodies.size());
    const FlexibleTransfer<D> flexible(from, states);
    for (const MechanismBody<D>& body : to.bodies) {
        const auto it = by_name.find(body.name);
        if (it == by_name.end() || flexible.has_changed(from.bodies[it->second], body)) {
            new_states.push_back(flexible.find(body).value_or(body.reference));
            continue;
        }
        BodyState<D> state = states[it->second];
        const Vec<D> shift = state.axes * (body.centre - from.bodies[it->second].centre);
        state.position += shift;
        state.velocity += cross<D>(state.angular_velocity, shift);
        new_states.push_back(state);
    }
    new_memory = to.initial_memory;
    if (new_memory.empty() || memory.empty()) return;
    std::unordered_map<std::string, double> known;
    const MeasureKey<D> old_key(from);
    for (const MemoryBlock& block : from.memory_layout.blocks)
        if (block.measure >= 0) known.emplace(old_key(block.measure), from.measure(block.measure).memory.in(memory));
    const MeasureKey<D> key(to);
    for (const MemoryBlock& block : to.memory_layout.blocks) {
        if (block.measure < 0) continue;
        const auto it = known.find(key(block.measure));
        if (it != known.end()) to.measure(block.measure).memory.in(new_memory) = it->second;
    }
    carry_stops(from, memory, to, new_memory);
    carry_bristles(from, memory, to, new_memory);
    for (const ForceElement<D>& force : to.forces.elements) {
        const auto it = from.force_index.find(force.name);
        const auto* pull = force.template as<PullForce>();
        if (pull == nullptr || it == from.force_index.end()) continue;
        const auto* old = from.forces.elements[it->second].template as<PullForce>();
        if (old != nullptr) pull->target.copy(new_memory, old->target, memory);
    }
}

template <int D>
std::vector<JointImpulse> list_impulses(const std::vector<ConstraintElement<D>>& elements,
                                        const std::function<TwistVec<D>(int element)>& wrench) {
    std::vector<JointImpulse> list;
    double largest = 0;
    for (const ConstraintElement<D>& element : elements) {
        const TwistVec<D> w = wrench(static_cast<int>(list.size()));
        JointImpulse& impulse = list.emplace_back();
        impulse.joint = element.name;
        impulse.impulse.template head<D>() = w.template head<D>();
        impulse.moment.template tail<angular_size<D>>() = w.template tail<angular_size<D>>();
        largest = std::max(largest, w.norm());
    }
    std::erase_if(list, [&](const JointImpulse& i) { return !(i.impulse.norm() + i.moment.norm() > 1e-6 * largest); });
    return list;
}

template <int D>
std::vector<JointImpulse> find_impulses(const Mechanism<D>& m, const BodyStates<D>& before, const BodyStates<D>& after,
                                        const std::vector<double>& memory, double t) {
    std::vector<TwistVec<D>> changes(after.size());
    double speed = 0;
    double largest = 0;
    for (std::size_t b = 0; b < after.size(); ++b) {
        changes[b] << after[b].velocity - before[b].velocity, after[b].angular_velocity - before[b].angular_velocity;
        TwistVec<D> all;
        all << before[b].velocity, before[b].angular_velocity;
        speed = std::max(speed, all.norm());
        largest = std::max(largest, changes[b].norm());
    }
    if (!(largest > 1e-9 * (speed + 1e-3))) return {};
    ReactionSolver<D> solver(m);
    solver.solve_impulses(after, memory, t, changes);
    return list_impulses<D>(m.elements, [&](int e) { return solver.reaction(e); });
}

#define LIMBER_INSTANTIATE(D)                                                                                         \
    template void carry_over(const Mechanism<D>&, const BodyStates<D>&, const std::vector<double>&,                   \
                             const Mechanism<D>&, BodyStates<D>&, std::vector<double>&);                              \
    template std::vector<JointImpulse> list_impulses(const std::vector<ConstraintElement<D>>&,                        \
                                                     const std::function<TwistVec<D>(int)>&);                         \
    template std::vector<JointImpulse> find_impulses(const Mechanism<D>&, const BodyStates<D>&, const BodyStates<D>&, \
                                                     const std::vector<double>&, double);
LIMBER_INSTANTIATE(2)
LIMBER_INSTANTIATE(3)
#undef LIMBER_INSTANTIATE

}  // namespace limber
