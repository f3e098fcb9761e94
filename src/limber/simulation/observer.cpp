#include "limber/simulation/observer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <climits>
#include <cmath>
#include <numeric>

#include "limber/contact/time_stepping/contact_wrenches.hpp"
#include "limber/kinematics/body_space/reactions.hpp"
#include "limber/kinematics/body_space/relative_error.hpp"
#include "limber/model/evaluation.hpp"
#include "limber/simulation/contact_view.hpp"
#include "limber/simulation/work_meter.hpp"

namespace limber {
namespace {

using Quantity = Sensor::Quantity;

// m/s^2. Where nothing pulls and nothing moves, rounding is no drift of the energy.
constexpr double least_gravity = 1e-12;

template <int D>
class ObserverOf final : public Observer {
public:
    ObserverOf(const Model& model, std::shared_ptr<const MechanismSystem<D>> system,
               std::unique_ptr<AccelerationSolver> solver)
        : system_(std::move(system)),
          m_(system_->mechanism()),
          solver_(std::move(solver)),
          reactions_(m_),
          contact_view_(model, m_),
          work_meter_(*system_, *solver_),
          evaluation_(system_->make_evaluation()) {
        solver_->use_no_gains();
        features_.resize(m_.features.size());
        all_features_.resize(m_.features.size());
        std::iota(all_features_.begin(), all_features_.end(), 0);
        rates_.resize(m_.bodies.size());
        a_ = VecX::Zero(system_->size());
        rows_ = lambda_ = VecX::Zero(system_->rows());
        for (const auto& law : m_.constraints.laws) has_drivers_ = has_drivers_ || !law.is_constant();
        const ModelEvaluation numbers(model);
        for (const auto handle : model.sensors.handles()) add_sensor(model, numbers, model.sensors.get(handle));
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
            update_motion(state, false);
        }
        const MeasureContext<D> context{features_, state.memory, m_.curves};
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
        update_motion(state, needs_accelerations_);
        if (needs_reactions_) update_reactions(state);
        for (const Probe& probe : probes_) measure(probe, state, work, values);
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
        update_motion(state, false);
        Energies e = energy(state);
        if (m_.impact_loss >= 0) e.impact_loss = state.memory[m_.impact_loss];
        return e;
    }

    double compute_power(const State& state) override {
        update_motion(state, has_drivers_);
        double power =
            m_.forces.power(m_.constraints.measures, MeasureContext<D>{features_, state.memory, m_.curves}, state.t);
        for (int k = 0; k < D; ++k) {
            if (m_.gravity[k].is_constant()) continue;
            for (std::size_t b = 0; b < m_.bodies.size(); ++b)
                power += m_.bodies[b].mass * m_.gravity[k].value(state.t) * states_[b].velocity[k];
        }
        // Constraint forces -J^T lambda work only where rows move with time: power lambda . d Phi/dt.
        return has_drivers_ ? power + driver_power(state) : power;
    }

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
        system_->export_states(state.q, state.v, states_);
        FastestTurn fastest;
        std::size_t which = 0;
        for (std::size_t b = 0; b < states_.size(); ++b) {
            const double rate = states_[b].angular_velocity.norm();
            if (!(rate > fastest.rate)) continue;
            fastest.rate = rate;
            which = b;
        }
        if (fastest.rate > 0) fastest.body = m_.bodies[which].name;
        return fastest;
    }

    ConstraintErrors compute_errors(const State& state) override {
        ConstraintErrors errors;
        errors.complementarity = compute_complementarity(state);
        if (system_->rows() == 0) return errors;
        Evaluation& e = *evaluation_;
        system_->update_positions(e, state.t, state.q, state.memory);
        system_->update_velocities(e, state.v);
        if (system_->holonomic_rows() > 0)
            errors.position = e.phi.head(system_->holonomic_rows()).template lpNorm<Eigen::Infinity>();
        errors.velocity = e.rate.lpNorm<Eigen::Infinity>();
        multiply(system_->jacobian_pattern(), e.jacobian, state.a, rows_);
        errors.acceleration = (rows_ + e.bias).lpNorm<Eigen::Infinity>();
        return errors;
    }

    double compute_relative_error(const State& state) override {
        update_motion(state, true);
        return relative_error(state);
    }

    std::vector<BodyPose> compute_poses(const State& state) override {
        system_->export_states(state.q, state.v, states_);
        std::vector<BodyPose> poses;
        for (std::size_t b = 0; b < states_.size(); ++b) {
            const Vec<D> origin = states_[b].position - states_[b].axes * m_.bodies[b].centre;
            Mat3 axes = Mat3::Identity();
            axes.topLeftCorner<D, D>() = states_[b].axes;
            Vec3 position = Vec3::Zero();
            position.head<D>() = origin;
            poses.push_back({position, Quat(axes)});
        }
        return poses;
    }

    void compute_view(const State& state, bool with_reactions, MotionView& view) override {
        view.poses = compute_poses(state);
        const bool with_stops = contact_view_.needs_reactions(state);
        update_motion(state, with_reactions || with_stops);
        view.centres.assign(states_.size(), Vec3::Zero());
        view.velocities.assign(states_.size(), Vec3::Zero());
        for (std::size_t b = 0; b < states_.size(); ++b) {
            view.centres[b].head<D>() = states_[b].position;
            view.velocities[b].head<D>() = states_[b].velocity;
        }
        const MeasureContext<D> context{features_, state.memory, m_.curves};
        view.forces.assign(force_elements_.size(), 0.0);
        for (std::size_t i = 0; i < force_elements_.size(); ++i)
            if (force_elements_[i] >= 0)
                view.forces[i] = m_.forces.scalar_force(force_elements_[i], m_.constraints.measures, context, state.t);
        if (with_reactions || with_stops) update_reactions(state);
        contact_view_.find(state, context, reactions_, view.contacts);
        view.joints.clear();
        if (!with_reactions) return;
        view.joints.resize(joint_elements_.size());
        for (std::size_t i = 0; i < joint_elements_.size(); ++i) {
            if (joint_elements_[i] < 0 || !has_wrench(joint_elements_[i])) continue;
            const TwistVec<D> wrench = reactions_.reaction(joint_elements_[i]);
            view.joints[i].point.head<D>() = reactions_.reaction_point(joint_elements_[i]);
            view.joints[i].force.head<D>() = wrench.template head<D>();
            view.joints[i].torque.tail<angular_size<D>>() = wrench.template tail<angular_size<D>>();
        }
    }

    const std::vector<CollisionShape>& shapes() const override { return m_.shapes; }

    void use_solver(std::unique_ptr<AccelerationSolver> solver, const State& state) override {
        solver_ = std::move(solver);
        solver_->use_no_gains();
        solver_->solve(state.t, state.q, state.v, state.memory, a_, lambda_);
        work_meter_.use_solver(*solver_);
    }

    void compute_momentum(const State& state, Vec3& linear, Vec3& angular) override {
        system_->export_states(state.q, state.v, states_);
        linear.setZero();
        angular.setZero();
        for (std::size_t b = 0; b < states_.size(); ++b) {
            Vec3 r = Vec3::Zero();
            Vec3 p = Vec3::Zero();
            r.head<D>() = states_[b].position;
            p.head<D>() = m_.bodies[b].mass * states_[b].velocity;
            linear += p;
            angular += r.cross(p);
            const AngularVec<D> spin = world_inertia(m_.bodies[b], states_[b]) * states_[b].angular_velocity;
            angular.tail<angular_size<D>>() += spin;
        }
    }

private:
    struct Probe {
        Quantity quantity;
        int first_column = 0;
        MarkerFeatures<D> marker, reference, axes;
        int body = -1, reference_body = -1;
        bool is_relative = false;
        bool has_axes = false;
        int measure = -1;  // coordinate, rate, second_rate
        int element = -1;  // joint or driver
        int force = -1;
        int rule = -1;
    };
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

    int find_rule(const std::string& name) const {
        for (std::size_t i = 0; i < m_.contact_rules.size(); ++i)
            if (m_.contact_rules[i].name == name) return static_cast<int>(i);
        return -1;
    }

    void measure_contact(int rule, const State& state, const MeasureContext<D>& context, double* out) const {
        const ContactRuleLoad load = contact_view_.measure_rule(rule, state, context);
        out[0] = load.normal;
        out[1] = load.count;
        out[2] = load.depth;
        out[3] = load.friction;
        const int impulse = m_.contact_rules[rule].impulse;
        if (impulse >= 0) out[4] = state.memory[impulse];
    }

    // Names are those of sensor columns first, then joint coordinates and their rates.
    void add_condition(const Model& model, const ModelEvaluation& numbers, const EventRule& event) {
        std::vector<std::string> slots = columns_;
        slots.emplace_back("t");
        Condition condition;
        for (const std::string& name : event.condition.names()) {
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
        condition.expression = numbers.bind(event.condition, slots, fmt::format("event '{}'", event.name));
        conditions_.push_back(std::move(condition));
    }

    void add_columns(const std::string& name, std::initializer_list<const char*> components) {
        for (const char* component : components) columns_.push_back(*component == '\0' ? name : name + "." + component);
    }

    void add_sensor(const Model& model, const ModelEvaluation&, const Sensor& sensor) {
        Probe probe;
        probe.quantity = sensor.quantity;
        probe.first_column = static_cast<int>(columns_.size());
        const auto marker = [&](MarkerHandle handle, MarkerFeatures<D>& features) {
            const std::string& name = model.markers.get(handle).name;
            features = m_.sensor_markers.at(name);
            return m_.features[features.point].body;
        };
        if (!sensor.marker.is_null()) probe.body = marker(sensor.marker, probe.marker);
        probe.is_relative = !sensor.reference.is_null();
        if (probe.is_relative) probe.reference_body = marker(sensor.reference, probe.reference);
        probe.has_axes = !sensor.axes.is_null();
        if (probe.has_axes) marker(sensor.axes, probe.axes);
        switch (sensor.quantity) {
            case Quantity::position:
            case Quantity::velocity:
            case Quantity::acceleration:
                if constexpr (D == 2) {
                    add_columns(sensor.name, {"x", "y"});
                } else {
                    add_columns(sensor.name, {"x", "y", "z"});
                }
                needs_accelerations_ = needs_accelerations_ || sensor.quantity == Quantity::acceleration;
                break;
            case Quantity::angular_velocity:
            case Quantity::angular_acceleration:
                if constexpr (D == 2) {
                    add_columns(sensor.name, {""});
                } else {
                    add_columns(sensor.name, {"x", "y", "z"});
                }
                needs_accelerations_ = needs_accelerations_ || sensor.quantity == Quantity::angular_acceleration;
                break;
            case Quantity::coordinate:
            case Quantity::rate:
            case Quantity::second_rate:
                probe.measure = m_.find_scalar(sensor.scalar);
                add_columns(sensor.name, {""});
                needs_accelerations_ = needs_accelerations_ || sensor.quantity == Quantity::second_rate;
                break;
            case Quantity::reaction:
                needs_accelerations_ = needs_reactions_ = true;
                probe.element = m_.element_index.at(sensor.joint.is_null() ? "driver " + sensor.driver
                                                                           : model.joints.get(sensor.joint).name);
                if (sensor.in_marker_axes || probe.has_axes) refuse_axes(sensor, m_.elements[probe.element]);
                if (sensor.in_marker_axes) {
                    probe.axes = m_.elements[probe.element].a;
                    probe.has_axes = true;
                }
                if (!has_wrench(probe.element)) {
                    add_columns(sensor.name, {""});
                } else if constexpr (D == 2) {
                    add_columns(sensor.name, {"fx", "fy", "tz"});
                } else {
                    add_columns(sensor.name, {"fx", "fy", "fz", "tx", "ty", "tz"});
                }
                break;
            case Quantity::force:
                probe.force = m_.force_index.at(model.forces.get(sensor.force).name);
                add_columns(sensor.name, {""});
                break;
            case Quantity::contact_force: needs_accelerations_ = needs_reactions_ = true; [[fallthrough]];
            case Quantity::gap:
            case Quantity::impulse:
                probe.element = m_.element_index.at("stop " + model.stops.get(sensor.stop).name);
                add_columns(sensor.name, {""});
                break;
            case Quantity::contact:
                probe.rule = find_rule(model.contacts.get(sensor.contact).name);
                add_columns(sensor.name, {"normal", "count", "depth", "friction"});
                if (m_.contact_rules[probe.rule].impulse >= 0) add_columns(sensor.name, {"impulse"});
                break;
            case Quantity::kinetic_energy:
            case Quantity::potential_energy:
            case Quantity::work:
            case Quantity::total_energy:
            case Quantity::impact_loss:
            case Quantity::position_error:
            case Quantity::velocity_error:
            case Quantity::complementarity_error:
            case Quantity::acceleration_error: add_columns(sensor.name, {""}); break;
            case Quantity::relative_error:
                add_columns(sensor.name, {""});
                needs_accelerations_ = true;
                break;
            case Quantity::expression:
                add_columns(sensor.name, {""});
                expressions_.push_back(
                    {probe.first_column, sensor.expression, fmt::format("sensor '{}'", sensor.name), {}});
                return;
        }
        probes_.push_back(probe);
    }

    bool has_wrench(int element) const { return ReactionSolver<D>::has_wrench(m_.elements[element]); }

    // What would have no effect, or no meaning.
    static void refuse_axes(const Sensor& sensor, const ConstraintElement<D>& element) {
        const std::string what = fmt::format("sensor '{}': the reaction of {} '{}'", sensor.name,
                                             element_role_name(element.role), element.name);
        if (!ReactionSolver<D>::has_wrench(element))
            throw ModelError(what + " is one number: 'axes' would have no effect");
        if (sensor.in_marker_axes && !element.has_markers)
            throw ModelError(what + " belongs to no marker: give the name of a marker or body as 'axes'");
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

    void update_motion(const State& state, bool with_accelerations) {
        system_->export_states(state.q, state.v, states_);
        update_features<D>(m_, states_, all_features_, features_);
        if (!with_accelerations) return;
        // Where rigid bodies touch, forces are known as means over the last step; so must accelerations be.
        const bool are_means = !state.contacts.empty();
        if (!are_means) solver_->solve(state.t, state.q, state.v, state.memory, a_, lambda_);
        system_->export_twist_rates(state.q, state.v, are_means ? state.a : a_, rates_);
    }

    // Of the motion and the accelerations already loaded.
    void update_reactions(const State& state) {
        update_contact_wrenches<D>(state, states_, touching_);
        reactions_.solve(states_, state.memory, state.t, rates_, touching_);
    }

    double driver_power(const State& state) {
        if (state.contacts.empty()) return lambda_.dot(solver_->evaluation().time_partial);
        update_reactions(state);
        return reactions_.driver_power();
    }

    Vec<D> acceleration_of(int feature) const {
        const Feature<D>& f = m_.features[feature];
        if (f.body < 0) return Vec<D>::Zero();
        return feature_acceleration(f, features_.value[feature], features_.bias[feature], states_[f.body],
                                    rates_[f.body]);
    }

    // Position, velocity or acceleration of a point, relative to and in the axes of a reference marker if there is
    // one.
    Vec<D> point_quantity(const Probe& p) const {
        const int on = p.marker.point;
        const auto pick = [&](int feature) -> Vec<D> {
            if (p.quantity == Quantity::position) return features_.value[feature];
            if (p.quantity == Quantity::velocity) return features_.rate[feature];
            return acceleration_of(feature);
        };
        if (!p.is_relative) return p.has_axes ? along(p.axes, pick(on)) : pick(on);
        // y_k = e_k . d: value, and first and second derivative by the product rule.
        const int from = p.reference.point;
        const Vec<D> d = features_.value[on] - features_.value[from];
        const Vec<D> d_rate = features_.rate[on] - features_.rate[from];
        Vec<D> y;
        for (int k = 0; k < D; ++k) {
            const int e = p.reference.axis[k];
            if (p.quantity == Quantity::position) {
                y[k] = features_.value[e].dot(d);
            } else if (p.quantity == Quantity::velocity) {
                y[k] = features_.rate[e].dot(d) + features_.value[e].dot(d_rate);
            } else {
                y[k] = acceleration_of(e).dot(d) + 2 * features_.rate[e].dot(d_rate) +
                       features_.value[e].dot(acceleration_of(on) - acceleration_of(from));
            }
        }
        if (!p.has_axes) return y;
        Vec<D> world = Vec<D>::Zero();
        for (int k = 0; k < D; ++k) world += y[k] * features_.value[p.reference.axis[k]];
        return along(p.axes, world);
    }

    Vec<D> along(const MarkerFeatures<D>& axes, const Vec<D>& v) const {
        Vec<D> y;
        for (int k = 0; k < D; ++k) y[k] = features_.value[axes.axis[k]].dot(v);
        return y;
    }

    // Components of an angular quantity: its one component in the plane.
    AngularVec<D> angular_components(const Probe& p, const AngularVec<D>& w) const {
        if constexpr (D == 3) {
            if (p.has_axes) return along(p.axes, w);
            if (p.is_relative) return along(p.reference, w);
        }
        return w;
    }

    AngularVec<D> angular_velocity(int body) const {
        return body < 0 ? AngularVec<D>(AngularVec<D>::Zero()) : states_[body].angular_velocity;
    }
    AngularVec<D> angular_acceleration(int body) const {
        return body < 0 ? AngularVec<D>(AngularVec<D>::Zero())
                        : AngularVec<D>(rates_[body].template tail<angular_size<D>>());
    }

    void measure(const Probe& p, const State& state, double work, std::vector<double>& values) {
        double* out = &values[p.first_column];
        const MeasureContext<D> context{features_, state.memory, m_.curves};
        switch (p.quantity) {
            case Quantity::position:
            case Quantity::velocity:
            case Quantity::acceleration: {
                const Vec<D> y = point_quantity(p);
                std::copy(y.data(), y.data() + D, out);
                break;
            }
            case Quantity::angular_velocity: {
                AngularVec<D> w = angular_velocity(p.body);
                if (p.is_relative) w -= angular_velocity(p.reference_body);
                w = angular_components(p, w);
                std::copy(w.data(), w.data() + angular_size<D>, out);
                break;
            }
            case Quantity::angular_acceleration: {
                AngularVec<D> alpha = angular_acceleration(p.body);
                if (p.is_relative) {
                    // As seen from the reference, which turns itself.
                    const AngularVec<D> w = angular_velocity(p.reference_body);
                    alpha -= angular_acceleration(p.reference_body) +
                             bracket<D>(w, AngularVec<D>(angular_velocity(p.body) - w));
                }
                alpha = angular_components(p, alpha);
                std::copy(alpha.data(), alpha.data() + angular_size<D>, out);
                break;
            }
            case Quantity::coordinate: *out = compute_value(m_.measure(p.measure), context); break;
            case Quantity::rate: *out = compute_rate(m_.measure(p.measure), context); break;
            case Quantity::second_rate: {
                const Measure<D>& m = m_.measure(p.measure);
                MeasureGradient<D> gradient;
                compute_gradient(m, context, gradient.data());
                // compute_bias takes the features' own biases into account; add what the twist rates contribute.
                double sum = compute_bias(m, context);
                for (int i = 0; i < m.count; ++i)
                    sum += gradient[i].dot(acceleration_of(m.feature[i]) - features_.bias[m.feature[i]]);
                *out = sum;
                break;
            }
            case Quantity::reaction: measure_reaction(p, out); break;
            case Quantity::force:
                *out = m_.forces.scalar_force(p.force, m_.constraints.measures, context, state.t);
                break;
            case Quantity::contact: measure_contact(p.rule, state, context, out); break;
            case Quantity::kinetic_energy: *out = energy(state).kinetic; break;
            case Quantity::potential_energy: *out = energy(state).potential; break;
            case Quantity::work: *out = work; break;
            case Quantity::total_energy: {
                const Energies e = energy(state);
                *out = e.kinetic + e.potential;
                break;
            }
            case Quantity::gap:
            case Quantity::contact_force:
            case Quantity::impulse: *out = measure_stop(p, state, context); break;
            case Quantity::impact_loss: *out = m_.impact_loss < 0 ? 0 : state.memory[m_.impact_loss]; break;
            case Quantity::position_error: *out = compute_errors(state).position; break;
            case Quantity::velocity_error: *out = compute_errors(state).velocity; break;
            case Quantity::acceleration_error: *out = compute_errors(state).acceleration; break;
            case Quantity::relative_error: *out = relative_error(state); break;
            case Quantity::complementarity_error: *out = compute_complementarity(state); break;
            case Quantity::expression: break;
        }
    }

    // Of the motion and the accelerations already loaded.
    double relative_error(const State& state) {
        if (step_ == 0) return 0;
        if (!relative_error_) relative_error_ = std::make_unique<RelativeErrorMeter<D>>(m_);  // few ask for it
        return relative_error_->compute(states_, state.memory, state.t, rates_, make_gains(solver_->options(), step_));
    }

    // Kinetic and potential energy of the motion already loaded.
    Energies energy(const State& state) const {
        Energies e;
        for (std::size_t b = 0; b < m_.bodies.size(); ++b) {
            e.kinetic += kinetic_energy(m_.bodies[b], states_[b]);
            for (int k = 0; k < D; ++k)
                if (m_.gravity[k].is_constant())
                    e.potential -= m_.bodies[b].mass * m_.gravity[k].value(state.t) * states_[b].position[k];
        }
        e.elastic = m_.forces.potential(m_.constraints.measures, MeasureContext<D>{features_, state.memory, m_.curves},
                                        state.t);
        e.potential += e.elastic;
        return e;
    }

    double compute_complementarity(const State& state) {
        double worst = m_.contact_residual < 0 ? 0 : state.memory[m_.contact_residual];
        if (m_.unilateral.empty()) return worst;
        update_motion(state, false);
        const MeasureContext<D> context{features_, state.memory, m_.curves};
        for (const UnilateralRow& row : m_.unilateral) {
            const double gap = compute_gap(m_, row, context);
            const bool is_closed = state.memory[row.flag] != 0;
            worst = std::max(worst, is_closed ? std::abs(gap) : -gap);
        }
        return worst;
    }

    // Of all rows of a stop: the smallest gap, the sum of forces or impulses.
    double measure_stop(const Probe& p, const State& state, const MeasureContext<D>& context) const {
        double smallest = INFINITY;
        double sum = 0;
        for (const UnilateralRow& gap : m_.unilateral) {
            if (gap.element != p.element) continue;
            if (p.quantity == Quantity::gap) smallest = std::min(smallest, compute_gap(m_, gap, context));
            if (p.quantity == Quantity::impulse) sum += state.memory[gap.impulse];
            if (p.quantity == Quantity::contact_force)
                sum += reactions_.multiplier(p.element, gap.row - m_.elements[p.element].first_row);
        }
        return p.quantity == Quantity::gap ? smallest : sum;
    }

    void measure_reaction(const Probe& p, double* out) const {
        if (!has_wrench(p.element)) {
            *out = reactions_.multiplier(p.element, 0);
            return;
        }
        TwistVec<D> wrench = reactions_.reaction(p.element);
        if (p.has_axes) {
            wrench.template head<D>() = along(p.axes, Vec<D>(wrench.template head<D>()));
            if constexpr (D == 3) wrench.template tail<3>() = along(p.axes, Vec<3>(wrench.template tail<3>()));
        }
        std::copy(wrench.data(), wrench.data() + twist_size<D>, out);
    }

    std::shared_ptr<const MechanismSystem<D>> system_;
    const Mechanism<D>& m_;
    std::unique_ptr<AccelerationSolver> solver_;
    ReactionSolver<D> reactions_;
    ContactView<D> contact_view_;
    WorkMeter<D> work_meter_;
    std::unique_ptr<RelativeErrorMeter<D>> relative_error_;
    std::unique_ptr<Evaluation> evaluation_;
    FeatureState<D> features_;
    std::vector<int> all_features_;
    BodyStates<D> states_;
    std::vector<TwistVec<D>> rates_;
    VecX a_, lambda_, rows_, touching_;
    std::vector<int> joint_elements_, force_elements_;  // in slot order; -1: none
    std::vector<Probe> probes_;
    std::vector<Condition> conditions_;
    bool conditions_use_sensors_ = false;
    std::vector<double> sensor_values_;
    std::vector<ExpressionProbe> expressions_;
    std::vector<double> variables_;
    bool needs_accelerations_ = false, needs_reactions_ = false, has_drivers_ = false;
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
