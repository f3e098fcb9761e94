#include "limber/modular/live_joints.hpp"

#include <algorithm>

#include "limber/model/model_change.hpp"

namespace limber {
namespace {

// Rows that nothing but the motion of the ports decides; others have numbers in the state of the whole.
template <int D>
bool has_plain_rows(const Mechanism<D>& m, const ConstraintElement<D>& element) {
    const auto first = m.constraints.rows.begin() + element.first_row;
    return std::all_of(first, first + element.row_count, [&](const Row& row) {
        const auto term = m.constraints.terms.begin() + row.first_term;
        return row.kind != RowKind::user_velocity && !row.flag.exists() &&
               std::all_of(term, term + row.term_count,
                           [&](const RowTerm& t) { return !m.measure(t.measure).memory.exists(); });
    });
}

// Whether a joint of these bodies lies between components, and they have ports for it.
template <int D>
bool has_ports(const ModularSystem<D>& system, const Mechanism<D>& ports, const Model& model, const Joint& joint) {
    std::vector<int> homes;
    for (const MarkerHandle marker : {joint.ends().first, joint.ends().second}) {
        const BodyHandle body = model.markers.get(marker).body;
        if (body == model.ground()) continue;
        // Which of its pieces a marker moves with only a new mechanism knows.
        if (model.bodies.get(body).beam) return false;
        const auto it = std::find_if(ports.bodies.begin(), ports.bodies.end(),
                                     [&](const MechanismBody<D>& port) { return port.handle == body; });
        if (it == ports.bodies.end()) return false;
        const int whole = system.parts.interface.bodies[it - ports.bodies.begin()];
        homes.push_back(system.division.component_of_body[whole]);
    }
    return system.division.cuts_all || (homes.size() == 2 && homes[0] != homes[1]);
}

}  // namespace

std::optional<JointChanges> find_joint_changes(const Model& before, const Model& after) {
    // Bodies that a joint holds do not touch.
    if (after.contacts.size() > 0) return {};
    const auto joints = ModelChange(before, after).find_joints_alone();
    if (!joints) return {};
    JointChanges changes;
    for (const auto& change : *joints) {
        if (change.before.element) changes.leaving.push_back(change.before.element->name);
        if (change.after.element) changes.coming.push_back({change.index, change.after.generation});
    }
    return changes;
}

template <int D>
std::unique_ptr<InterfaceJoints<D>> make_changed_joints(const ModularSystem<D>& system, const InterfaceJoints<D>& now,
                                                        const Model& model, const JointChanges& changes) {
    // Without inertia of its own a component may only be held as it was when it was compiled.
    if (system.massless_freedoms > 0) return nullptr;
    const Mechanism<D>& old = now.mechanism();
    std::vector<bool> stays(old.elements.size(), true);
    for (const std::string& name : changes.leaving) {
        const auto it = old.element_index.find(name);
        if (it == old.element_index.end() || !has_plain_rows(old, old.elements[it->second])) return nullptr;
        stays[it->second] = false;
    }
    PartChoice choice;
    for (std::size_t b = 0; b < old.bodies.size(); ++b) choice.bodies.push_back(static_cast<int>(b));
    for (std::size_t e = 0; e < old.elements.size(); ++e)
        if (stays[e]) choice.elements.push_back(static_cast<int>(e));
    for (std::size_t f = 0; f < old.forces.elements.size(); ++f) choice.forces.push_back(static_cast<int>(f));
    Part<D> part = make_part(old, choice);
    for (int& element : part.elements) element = now.elements()[element];
    for (int& slot : part.memory) slot = now.memory_slots()[slot];

    const std::size_t memory = part.mechanism.initial_memory.size();
    for (const JointHandle handle : changes.coming) {
        const Joint& joint = model.joints.get(handle);
        // Whether the components can be held by joints at all was asked when they were compiled.
        const bool can_come = !system.parts.interface.elements.empty();
        if (!can_come || joint.between() == nullptr || !joint.closing.empty()) return nullptr;
        if (!has_ports(system, old, model, joint)) return nullptr;
        part.mechanism = with_joint(std::move(part.mechanism), model, joint);
        part.elements.push_back(-1);
        if (!has_plain_rows(part.mechanism, part.mechanism.elements.back())) return nullptr;
        if (part.mechanism.initial_memory.size() != memory) return nullptr;
    }
    return std::make_unique<InterfaceJoints<D>>(std::move(part));
}

template std::unique_ptr<InterfaceJoints<2>> make_changed_joints(const ModularSystem<2>&, const InterfaceJoints<2>&,
                                                                 const Model&, const JointChanges&);
template std::unique_ptr<InterfaceJoints<3>> make_changed_joints(const ModularSystem<3>&, const InterfaceJoints<3>&,
                                                                 const Model&, const JointChanges&);

}  // namespace limber
