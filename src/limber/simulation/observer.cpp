#include "limber/simulation/observer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "limber/model/error.hpp"
#include "limber/model/evaluation.hpp"
#include "limber/simulation/sensor_probes.hpp"
#include "limber/simulation/work_meter.hpp"

namespace limber {
namespace {

// m/s^2. Where nothing pulls and nothing moves, rounding is no drift of the energy.
constexpr double least_gravity = 1e-12;

template <int D>
class ObserverOf final : public Observer {
public:
    ObserverOf(const Model& model, std::shared_ptr<const MechanismSystem<D>> system,
               std::unique_ptr<AccelerationSolver> solver)
        : motion_(std::move(system), std::move(solver)),
          m_(motion_.mechanism()),
          contact_view_(model, m_),
          work_meter_(motion_.system(), motion_.solver()) {
        const ModelEvaluation numbers(model);
        for (const auto handle : model.sensors.handles()) add_probe(model, model.sensors.get(handle));
        bind_expressions(numbers);
        for (const auto handle : model.events.handles()) add_condition(model, numbers, model.events.get(handle));
        const auto place = [](const std::unordered_map<std::string, int>& index, const std::string& name) {
            const auto it = index.find(name);
            return it == index.end() ? -1 : it->second;
        };
        for (const auto handle : model.joints.handles())
            joint_elements_.push_back(place(m_.element_index, model.joints.get(handle).name));
        for (const auto handle : model.forces.handles())
            force_elements_.push_back(place(m_.force_index, model.forces.get(handle).name));
    }

    void evaluate_conditions(const State& state, std::vector<double>& values) override {
        values.clear();
        if (conditions_.empty()) return;
        if (conditions_use_sensors_) {
            observe(state, 0, sensor_values_);
        } else {
            sensor_values_.assign(columns_.size(), 0.0);
            motion_.update(state, false);
        }
        const MeasureContext<D> context = motion_.context(state);
        for (const Condition& condition : conditions_) {
            variables_.assign(sensor_values_.begin(), sensor_values_.end());
            variables_.push_back(state.t);
            for (const auto& [measure, is_rate] : condition.inputs)
                variables_.push_back(is_rate ? compute_rate(m_.measure(measure), context)
                                             : compute_value(m_.measure(measure), context));
            values.push_back(condition.expression.template evaluate<double>(
                std::span<const double>(variables_.data(), variables_.size())));
        }
    }

    void observe(const State& state, double work, std::vector<double>& values) override {
        values.assign(columns_.size(), 0.0);
        motion_.update(state, needs_accelerations_);
        if (needs_reactions_) motion_.update_reactions(state);
        const Instant<D> now{state, work, motion_.context(state)};
        for (const Probe<D>& probe : probes_) probe.measure(now, &values[probe.first_column]);
        // Expressions in the order in which they depend on each other.
        for (const ExpressionProbe& probe : expressions_) {
            variables_.assign(values.begin(), values.end());
            variables_.push_back(state.t);
            values[probe.column] = probe.expression.template evaluate<double>(
                std::span<const double>(variables_.data(), variables_.size()));
        }
        for (double& value : values) value += 0.0;  // no minus zero
    }

    Energies compute_energies(const State& state) override {
        motion_.update(state, false);
        Energies e = motion_.energy(state);
        if (m_.impact_loss.exists()) e.impact_loss = m_.impact_loss.in(state.memory);
        return e;
    }

    double compute_power(const State& state) override { return motion_.compute_power(state); }
    bool has_work() override { return work_meter_.has_work(); }

    double compute_work(const State& from, const State& to, const WorkSource& source) override {
        return work_meter_.compute(from, to, source);
    }

    double compute_weight_energy(double t) const override {
        double mass = 0;
        for (const auto& body : m_.bodies) mass += body.mass;
        return mass * std::max(m_.gravity_at(t).norm(), least_gravity) * m_.length_scale;
    }

    FastestTurn find_fastest_turn(const State& state) override {
        const BodyStates<D>& states = motion_.find_bodies(state);
        FastestTurn fastest;
        std::size_t which = 0;
        for (std::size_t b = 0; b < states.size(); ++b) {
            const double rate = states[b].angular_velocity.norm();
            if (!(rate > fastest.rate)) continue;
            fastest.rate = rate;
            which = b;
        }
        if (fastest.rate > 0) fastest.body = m_.bodies[which].name;
        return fastest;
    }

    ConstraintErrors compute_errors(const State& state) override { return motion_.compute_errors(state); }
    double compute_relative_error(const State& state) override {
        motion_.update(state, true);
        return motion_.relative_error(state, step_);
    }

    std::vector<BodyPose> compute_poses(const State& state) override {
        const BodyStates<D>& states = motion_.find_bodies(state);
        std::vector<BodyPose> poses;
        for (std::size_t b = 0; b < states.size(); ++b) {
            const Vec<D> origin = states[b].position - states[b].axes * m_.bodies[b].centre;
            Mat3 axes = Mat3::Identity();
            axes.topLeftCorner<D, D>() = states[b].axes;
            Vec3 position = Vec3::Zero();
            position.head<D>() = origin;
            poses.push_back({position, Quat(axes)});
        }
        return poses;
    }

    void compute_view(const State& state, bool with_reactions, MotionView& view) override {
        view.poses = compute_poses(state);
        const bool with_stops = contact_view_.needs_reactions(state);
        motion_.update(state, with_reactions || with_stops);
        const BodyStates<D>& states = motion_.states();
        view.centres.assign(states.size(), Vec3::Zero());
        view.velocities.assign(states.size(), Vec3::Zero());
        for (std::size_t b = 0; b < states.size(); ++b) {
            view.centres[b].head<D>() = states[b].position;
            view.velocities[b].head<D>() = states[b].velocity;
        }
        const MeasureContext<D> context = motion_.context(state);
        view.forces.assign(force_elements_.size(), 0.0);
        for (std::size_t i = 0; i < force_elements_.size(); ++i)
            if (force_elements_[i] >= 0)
                view.forces[i] = m_.forces.size(force_elements_[i], m_.constraints.measures, context, state.t);
        if (with_reactions || with_stops) motion_.update_reactions(state);
        contact_view_.find(state, context, motion_.reactions(), view.contacts);
        view.joints.clear();
        if (!with_reactions) return;
        view.joints.resize(joint_elements_.size());
        for (std::size_t i = 0; i < joint_elements_.size(); ++i) {
            if (joint_elements_[i] < 0 || !ReactionSolver<D>::has_wrench(m_.elements[joint_elements_[i]])) continue;
            const TwistVec<D> wrench = motion_.reactions().reaction(joint_elements_[i]);
            view.joints[i].point.head<D>() = motion_.reactions().reaction_point(joint_elements_[i]);
            view.joints[i].force.head<D>() = wrench.template head<D>();
            view.joints[i].torque.tail<angular_size<D>>() = wrench.template tail<angular_size<D>>();
        }
    }

    const std::vector<CollisionShape>& shapes() const override { return m_.shapes; }

    void use_solver(std::unique_ptr<AccelerationSolver> solver, const State& state) override {
        motion_.use_solver(std::move(solver), state);
        work_meter_.use_solver(motion_.solver());
    }

    void compute_momentum(const State& state, Vec3& linear, Vec3& angular) override {
        const BodyStates<D>& states = motion_.find_bodies(state);
        linear.setZero();
        angular.setZero();
        for (std::size_t b = 0; b < states.size(); ++b) {
            Vec3 r = Vec3::Zero();
            Vec3 p = Vec3::Zero();
            r.head<D>() = states[b].position;
            p.head<D>() = m_.bodies[b].mass * states[b].velocity;
            linear += p;
            angular += r.cross(p);
            const AngularVec<D> spin = world_inertia(m_.bodies[b], states[b]) * states[b].angular_velocity;
            angular.tail<angular_size<D>>() += spin;
        }
    }

private:
    struct ExpressionProbe {
        int column;
        Number source;
        std::string what;
        BoundExpression expression;
    };

    struct Condition {
        std::vector<std::pair<int, bool>> inputs;  // measure, whether its rate
        BoundExpression expression;
    };

    // Names are those of sensor columns first, then joint coordinates and their rates.
    void add_condition(const Model& model, const ModelEvaluation& numbers, const EventRule& event) {
        std::vector<std::string> slots = columns_;
        slots.emplace_back("t");
        Condition condition;
        for (const std::string& name : event.condition().names()) {
            if (name == "t" || model.parameters.contains(name)) continue;
            if (std::find(columns_.begin(), columns_.end(), name) != columns_.end()) {
                conditions_use_sensors_ = true;
                continue;
            }
            const std::string base = without_rate(name);
            const int measure = m_.find_scalar(base);
            if (measure < 0) continue;  // binding will report the unknown name
            condition.inputs.emplace_back(measure, base != name);
            slots.push_back(name);
        }
        condition.expression = numbers.bind(event.condition(), slots, fmt::format("event '{}'", event.name));
        conditions_.push_back(std::move(condition));
    }

    void add_probe(const Model& model, const Sensor& sensor) {
        const std::string& name = sensor.name;
        Probe<D> probe = make_probe(model, sensor, motion_, contact_view_, step_);
        probe.first_column = static_cast<int>(columns_.size());
        needs_accelerations_ = needs_accelerations_ || probe.needs_accelerations;
        needs_reactions_ = needs_reactions_ || probe.needs_reactions;
        for (const char* part : probe.components) columns_.push_back(*part == '\0' ? name : name + "." + part);
        // One unit for all components, or one for each.
        for (std::size_t k = 0; k < probe.components.size(); ++k)
            units_.emplace_back(probe.units.size() == 1 ? probe.units[0] : probe.units[k]);
        if (const auto* type = sensor.as<ExpressionSensor>()) {
            expressions_.push_back({probe.first_column, type->expression, fmt::format("sensor '{}'", name), {}});
        } else if (const auto* several = sensor.as<ExpressionsSensor>()) {
            int column = probe.first_column;
            for (const NamedExpression& one : several->expressions)
                expressions_.push_back({column++, one.value, fmt::format("sensor '{}': {}", name, one.name), {}});
        } else {
            probes_.push_back(std::move(probe));
        }
    }

    // Orders expressions so that each comes after those it uses, and binds their names to columns.
    void bind_expressions(const ModelEvaluation& numbers) {
        std::vector<std::string> slots = columns_;
        slots.emplace_back("t");
        std::vector<ExpressionProbe> ordered;
        std::vector<bool> done(expressions_.size(), false);
        const auto is_pending = [&](const std::string& name) {
            for (std::size_t i = 0; i < expressions_.size(); ++i)
                if (!done[i] && columns_[expressions_[i].column] == name) return true;
            return false;
        };
        while (ordered.size() < expressions_.size()) {
            bool progress = false;
            for (std::size_t i = 0; i < expressions_.size(); ++i) {
                if (done[i]) continue;
                const auto& names = expressions_[i].source.names();
                if (std::any_of(names.begin(), names.end(), is_pending)) continue;
                ordered.push_back(expressions_[i]);
                ordered.back().expression = numbers.bind(expressions_[i].source, slots, expressions_[i].what);
                done[i] = progress = true;
            }
            if (!progress)
                throw ModelError(expressions_[std::find(done.begin(), done.end(), false) - done.begin()].what +
                                 ": defined in terms of itself");
        }
        expressions_ = std::move(ordered);
    }

    ObservedMotion<D> motion_;
    const Mechanism<D>& m_;
    ContactView<D> contact_view_;
    WorkMeter<D> work_meter_;
    std::vector<int> joint_elements_, force_elements_;  // in slot order; -1: none
    std::vector<Probe<D>> probes_;
    std::vector<Condition> conditions_;
    bool conditions_use_sensors_ = false;
    std::vector<double> sensor_values_;
    std::vector<ExpressionProbe> expressions_;
    std::vector<double> variables_;
    bool needs_accelerations_ = false, needs_reactions_ = false;
};

}  // namespace

template <int D>
std::unique_ptr<Observer> make_observer(const Model& model, std::shared_ptr<const MechanismSystem<D>> system,
                                        std::unique_ptr<AccelerationSolver> solver) {
    return std::make_unique<ObserverOf<D>>(model, std::move(system), std::move(solver));
}

template std::unique_ptr<Observer> make_observer(const Model&, std::shared_ptr<const MechanismSystem<2>>,
                                                 std::unique_ptr<AccelerationSolver>);
template std::unique_ptr<Observer> make_observer(const Model&, std::shared_ptr<const MechanismSystem<3>>,
                                                 std::unique_ptr<AccelerationSolver>);

}  // namespace limber
