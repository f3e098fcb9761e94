#include "limber/simulation/equilibrium_path.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "limber/model/error.hpp"
#include "limber/simulation/quasi_static_start.hpp"
#include "limber/statics/load_path.hpp"

namespace limber {
namespace {

// Accelerations of a point under the forces of its own value, over those that the whole load gives at the start: more
// is no rounding.
constexpr double not_in_proportion = 1e-5;

// The mechanism of a model as statics have it: what has no mass gets some.
template <int D>
struct LoadedSystem {
    std::shared_ptr<const MechanismSystem<D>> system;
    std::vector<double> further_memory;
};

template <int D>
LoadedSystem<D> make_loaded_system(const Model& model, const BodyStates<D>& states, const std::vector<double>& memory,
                                   const std::string& coordinates) {
    const auto mechanism = std::make_shared<const Mechanism<D>>(make_mechanism<D>(model));
    const InertialessMotions<D> inertialess(*mechanism, states, memory, 0.0);
    auto at_rest = make_static_mechanism<D>(mechanism, inertialess.bodies(), 0.0);
    return {make_system<D>(at_rest.mechanism, parse_coordinate_kind(coordinates)), std::move(at_rest.further_memory)};
}

template <int D>
class PathOfModel {
public:
    PathOfModel(const ModelAtLoad& model_at, double from, double to, SimulationOptions options,
                const StaticProgress& progress)
        : model_at_(model_at), from_(from), to_(to), options_(std::move(options)), progress_(progress) {}

    EquilibriumPath follow() {
        options_.from_equilibrium = true;
        if (options_.coordinates.empty()) options_.coordinates = "relative";
        EquilibriumRequest request;
        request.progress = progress_;
        Simulation first(model_at_(from_), options_, request);
        options_.from_equilibrium = false;
        const SharedSystem system = make_own_system(first.model());
        if (!system->mechanism().stops.empty())
            throw ModelError("load paths know no stops: they neither close nor open on the way");
        BodyStates<D> states;
        system->export_states(first.state().q, VecX::Zero(system->size()), states);
        const std::vector<double>& memory = first.state().memory;
        const auto unloaded = make_loaded_system<D>(model_at_(from_), states, memory, options_.coordinates);
        const auto loaded = make_loaded_system<D>(model_at_(to_), states, memory, options_.coordinates);
        if (loaded.system->size() != unloaded.system->size() || loaded.system->rows() != unloaded.system->rows() ||
            loaded.further_memory.size() != unloaded.further_memory.size())
            throw ModelError("the load changes what the mechanism is made of, not only its forces");
        StaticPoint start;
        VecX v;
        loaded.system->import_states(states, start.q, v);
        loaded.system->choose_signs_near(first.state().q, start.q, v);
        start.memory = memory;
        start.memory.insert(start.memory.end(), loaded.further_memory.begin(), loaded.further_memory.end());
        start.load = 0;
        const auto solver = make_acceleration_solver("augmented-lagrangian", loaded.system);
        StaticBalance balance(*loaded.system, *solver, 0);
        balance.load_from(*unloaded.system);
        if (!balance.move_to(start)) throw ModelError("the load moves the joints, not only its forces");
        load_size_ = balance.load_rate().template lpNorm<Eigen::Infinity>();
        if (load_size_ == 0)
            throw ModelError(
                fmt::format("nothing is pushed by the load: forces at {:g} and {:g} are the same", from_, to_));
        const LoadPathReport path = follow_load(balance, {}, progress_);
        EquilibriumPath result;
        result.has_arrived = path.has_arrived;
        result.reason = path.reason;
        result.iterations = first.equilibrium().iterations + path.iterations;
        result.columns = first.columns();
        for (const LoadPoint& point : path.points) result.points.push_back(observe(point, memory.size()));
        return result;
    }

private:
    using SharedSystem = std::shared_ptr<const MechanismSystem<D>>;

    SharedSystem make_own_system(const Model& model) const {
        return make_system<D>(std::make_shared<const Mechanism<D>>(make_mechanism<D>(model)),
                              parse_coordinate_kind(options_.coordinates));
    }

    EquilibriumPathPoint observe(const LoadPoint& point, std::size_t own_memory) const {
        EquilibriumPathPoint result{from_ + point.at.load * (to_ - from_), point.unstable, point.is_limit, {}};
        State state;
        state.q = point.at.q;
        state.v = state.a = VecX::Zero(state.q.size());
        state.memory = point.at.memory;
        state.memory.resize(own_memory);
        const Model model = model_at_(result.value);
        state.lambda = VecX::Zero(make_own_system(model)->rows());
        Simulation there(model, options_, state);
        check_balance(there, result.value);
        there.observer().observe(state, 0, result.sensors);
        return result;
    }

    // Under the forces of the value itself, not of the two ends.
    void check_balance(Simulation& there, double value) const {
        const auto solver = make_acceleration_solver("augmented-lagrangian", there.shared_system());
        VecX a;
        VecX lambda = there.state().lambda;
        a = VecX::Zero(there.state().q.size());
        const bool ok = solver->solve(0, there.state().q, there.state().v, there.state().memory, a, lambda);
        const double open = there.observer().compute_errors(there.state()).position;
        VecX force(a.size());
        multiply(there.system().pattern(), solver->evaluation().mass, a, force);
        if (!ok || !(force.lpNorm<Eigen::Infinity>() < not_in_proportion * load_size_) ||
            !(open < 1e-7 * std::max(1.0, there.system().length_scale())))
            throw ModelError(fmt::format(
                "at {:g} the model is out of balance where a load in proportion would be in balance: the value must "
                "change forces only, and those in proportion",
                value));
    }

    const ModelAtLoad& model_at_;
    double from_, to_;
    SimulationOptions options_;
    const StaticProgress& progress_;
    double load_size_ = 0;
};

}  // namespace

EquilibriumPath follow_equilibria(const ModelAtLoad& model_at, double from, double to, SimulationOptions options,
                                  const StaticProgress& progress) {
    return in_dimension(model_at(from).planar, [&]<int D> {
        return PathOfModel<D>(model_at, from, to, std::move(options), progress).follow();
    });
}

}  // namespace limber
