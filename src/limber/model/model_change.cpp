#include "limber/model/model_change.hpp"

#include <algorithm>

namespace limber {
namespace {

bool same(const Parameters& a, const Parameters& b) {
    const auto names = a.names();
    return names == b.names() && std::all_of(names.begin(), names.end(), [&](const std::string& name) {
               return a.definition(name) == b.definition(name);
           });
}

}  // namespace

ModelChange::Rest ModelChange::rest_of(const Model& model) {
    return {model.title,
            model.gravity,
            model.orbit,
            model.parameters,
            model.initial_positions,
            model.initial_rates,
            model.initial_velocities,
            model.simulation};
}

ModelChange::ModelChange(const Model& before, const Model& after)
    : elements_(compare(Model::tables_of(before), Model::tables_of(after))),
      before_(rest_of(before)),
      after_(rest_of(after)) {
    changes_gravity_ = before_.gravity != after_.gravity || before_.orbit != after_.orbit;
    changes_parameters_ = !same(before_.parameters, after_.parameters);
    changes_rest_ = before_.title != after_.title || before_.initial_positions != after_.initial_positions ||
                    before_.initial_rates != after_.initial_rates ||
                    before_.initial_velocities != after_.initial_velocities || before_.simulation != after_.simulation;
}

bool ModelChange::is_empty() const {
    bool is_empty = !changes_gravity_ && !changes_parameters_ && !changes_rest_;
    std::apply([&](const auto&... changes) { is_empty = is_empty && (changes.empty() && ...); }, elements_);
    return is_empty;
}

std::optional<std::vector<Table<Joint>::Change>> ModelChange::find_joints_alone() const {
    const auto& markers = std::get<Changes<Marker>>(elements_);
    const auto& joints = std::get<Changes<Joint>>(elements_);
    std::size_t changes = 0;
    std::apply([&](const auto&... list) { changes = (list.size() + ...); }, elements_);
    if (changes_gravity_ || changes_parameters_ || changes_rest_ || changes != markers.size() + joints.size())
        return {};
    for (const auto& marker : markers) {
        const bool goes_with_a_joint =
            std::any_of(joints.begin(), joints.end(), [&](const Table<Joint>::Change& joint) {
                const MarkerPair* between = joint.before.element ? joint.before.element->between() : nullptr;
                return between != nullptr &&
                       (between->first.index == marker.index || between->second.index == marker.index);
            });
        if (marker.before.element && (marker.after.element || !goes_with_a_joint)) return {};
    }
    return joints;
}

void ModelChange::apply(Model& model, bool backwards) const {
    Model changed = model;
    std::apply([&]<class... T>(Table<T>&... table) { (table.apply(std::get<Changes<T>>(elements_), backwards), ...); },
               Model::tables_of(changed));
    const Rest& from = backwards ? after_ : before_;
    const Rest& to = backwards ? before_ : after_;
    if (changes_gravity_) {
        if (changed.gravity != from.gravity || changed.orbit != from.orbit)
            throw ModelError("gravity has been changed since");
        changed.gravity = to.gravity;
        changed.orbit = to.orbit;
    }
    if (changes_parameters_) {
        if (!same(changed.parameters, from.parameters)) throw ModelError("parameters have been changed since");
        changed.parameters = to.parameters;
    }
    if (changes_rest_) {
        changed.title = to.title;
        changed.initial_positions = to.initial_positions;
        changed.initial_rates = to.initial_rates;
        changed.initial_velocities = to.initial_velocities;
        changed.simulation = to.simulation;
    }
    model = std::move(changed);
}

void ModelChange::follow(const Model& from, const Model& to) {
    const ModelChange step(from, to);
    const auto follow_table = [](auto& changes, const auto& steps) {
        for (auto& change : changes)
            for (const auto& next : steps)
                for (auto* side : {&change.before, &change.after})
                    if (next.index == change.index && next.before.element && side->element == next.before.element)
                        *side = next.after;
    };
    [&]<std::size_t... I>(std::index_sequence<I...>) {
        (follow_table(std::get<I>(elements_), std::get<I>(step.elements_)), ...);
    }
    (std::make_index_sequence<std::tuple_size_v<decltype(elements_)>>{});
}

}  // namespace limber
