#pragma once
// The difference between two models that share their elements: what an edit has changed, so that it can be taken back
// and made again, whatever else has changed in the meantime.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "limber/model/model.hpp"

namespace limber {

class ModelChange {
public:
    ModelChange() = default;
    ModelChange(const Model& before, const Model& after);

    bool is_empty() const;
    /// The changes of joints, if nothing else has changed but markers that come or go with them.
    std::optional<std::vector<Table<Joint>::Change>> find_joints_alone() const;
    /// Puts back what was there before the change, or makes it again. Throws ModelError, and leaves the model as it is,
    /// if one of the elements has been changed by something else since.
    void revert(Model& model) const { apply(model, true); }
    void repeat(Model& model) const { apply(model, false); }
    /// After something else has legitimately replaced elements of a model: the change now means those.
    void follow(const Model& from, const Model& to);

private:
    template <class T>
    using Changes = std::vector<typename Table<T>::Change>;
    /// What is no element: kept as a whole.
    struct Rest {
        std::string title;
        Number3 gravity;
        std::optional<Number> orbit;
        Parameters parameters;
        std::vector<InitialValue> initial_positions, initial_rates;
        StartVelocities initial_velocities = StartVelocities::on_joints;
        SimulationDefaults simulation;
    };
    static Rest rest_of(const Model& model);
    void apply(Model& model, bool backwards) const;

    /// Of every table of a model.
    template <class... T>
    static std::tuple<Changes<T>...> compare(const std::tuple<const Table<T>&...>& before,
                                             const std::tuple<const Table<T>&...>& after) {
        return {std::get<const Table<T>&>(before).changes_to(std::get<const Table<T>&>(after))...};
    }

    decltype(compare(Model::tables_of(std::declval<const Model&>()),
                     Model::tables_of(std::declval<const Model&>()))) elements_;
    bool changes_gravity_ = false, changes_parameters_ = false, changes_rest_ = false;
    Rest before_, after_;
};

}  // namespace limber
