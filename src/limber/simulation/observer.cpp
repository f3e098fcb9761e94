#include "limber/simulation/observer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <climits>
#include <cmath>
#include <functional>
#include <numeric>

#include "limber/contact/time_stepping/contact_wrenches.hpp"
#include "limber/kinematics/body_space/reactions.hpp"
#include "limber/kinematics/body_space/relative_error.hpp"
#include "limber/model/evaluation.hpp"
#include "limber/simulation/contact_view.hpp"
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
        for (const auto handle : model.sensors.handles()) add_sensor(model, model.sensors.get(handle));
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
        const Instant now{state, work, {features_, state.memory, m_.curves}};
        for (const Probe& probe : probes_) probe.measure(now, &values[probe.first_column]);
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
                view.forces[i] = m_.forces.size(force_elements_[i], m_.constraints.measures, context, state.t);
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
    // The motion at an instant is loaded before anything is measured.
    struct Instant {
        const State& state;
        double work;
        MeasureContext<D> context;
    };
    using Measuring = std::function<void(const Instant&, double*)>;
    struct Probe {
        int first_column;
        Measuring measure;
    };
    // A marker as another one sees it, and the axes of the components.
    struct View {
        MarkerFeatures<D> marker, reference, axes;
        int body = -1, reference_body = -1;
        bool is_relative = false;
        bool has_axes = false;
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

    // ------------------------------------------------------------ one function per type of sensor

    using Columns = std::vector<const char*>;
    static Columns vector_columns() { return D == 2 ? Columns{"x", "y"} : Columns{"x", "y", "z"}; }

    void add_columns(const std::string& name, const Columns& components) {
        for (const char* component : components) columns_.push_back(*component == '\0' ? name : name + "." + component);
    }
    void add_probe(const std::string& name, const Columns& components, Measuring measure) {
        probes_.push_back({static_cast<int>(columns_.size()), std::move(measure)});
        add_columns(name, components);
    }
    void add_sensor(const Model& model, const Sensor& sensor) {
        std::visit([&](const auto& type) { add(model, sensor.name, type); }, sensor.type);
    }

    MarkerFeatures<D> features_of(const Model& model, MarkerHandle handle) const {
        return m_.sensor_markers.at(model.markers.get(handle).name);
    }
    View view_of(const Model& model, MarkerHandle marker, const auto& sensor) const {
        View view;
        view.marker = features_of(model, marker);
        view.body = m_.features[view.marker.point].body;
        view.is_relative = !sensor.relative_to.is_null();
        if (view.is_relative) {
            view.reference = features_of(model, sensor.relative_to);
            view.reference_body = m_.features[view.reference.point].body;
        }
        view.has_axes = !sensor.axes.is_null();
        if (view.has_axes) view.axes = features_of(model, sensor.axes);
        return view;
    }

    template <int Order>
    void add_point(const Model& model, const std::string& name, MarkerHandle marker, const auto& sensor) {
        needs_accelerations_ = needs_accelerations_ || Order == 2;
        add_probe(name, vector_columns(), [this, view = view_of(model, marker, sensor)](const Instant&, double* out) {
            const Vec<D> y = point_derivative<Order>(view);
            std::copy(y.data(), y.data() + D, out);
        });
    }
    void add(const Model& model, const std::string& name, const Position& p) { add_point<0>(model, name, p.marker, p); }
    void add(const Model& model, const std::string& name, const Velocity& v) { add_point<1>(model, name, v.marker, v); }
    void add(const Model& model, const std::string& name, const Acceleration& sensor) {
        if (const auto* marker = std::get_if<MarkerHandle>(&sensor.of))
            return add_point<2>(model, name, *marker, sensor);
        needs_accelerations_ = true;
        const int measure = m_.find_scalar(std::get<Coordinate>(sensor.of).name);
        add_probe(name, {""}, [this, measure](const Instant& now, double* out) {
            const Measure<D>& m = m_.measure(measure);
            MeasureGradient<D> gradient;
            compute_gradient(m, now.context, gradient.data());
            // compute_bias takes the features' own biases into account; add what the twist rates contribute.
            double sum = compute_bias(m, now.context);
            for (int i = 0; i < m.count; ++i)
                sum += gradient[i].dot(acceleration_of(m.feature[i]) - features_.bias[m.feature[i]]);
            *out = sum;
        });
    }

    template <class Value>
    void add_angular(const Model& model, const std::string& name, const auto& sensor, const Value& value) {
        const View view = view_of(model, sensor.marker, sensor);
        add_probe(name, D == 2 ? Columns{""} : vector_columns(), [this, view, value](const Instant&, double* out) {
            const AngularVec<D> w = angular_components(view, value(view));
            std::copy(w.data(), w.data() + angular_size<D>, out);
        });
    }
    void add(const Model& model, const std::string& name, const AngularVelocity& sensor) {
        add_angular(model, name, sensor, [this](const View& view) {
            AngularVec<D> w = angular_velocity(view.body);
            if (view.is_relative) w -= angular_velocity(view.reference_body);
            return w;
        });
    }
    void add(const Model& model, const std::string& name, const AngularAcceleration& sensor) {
        needs_accelerations_ = true;
        add_angular(model, name, sensor, [this](const View& view) {
            AngularVec<D> alpha = angular_acceleration(view.body);
            if (!view.is_relative) return alpha;
            // As seen from the reference, which turns itself.
            const AngularVec<D> w = angular_velocity(view.reference_body);
            alpha -= angular_acceleration(view.reference_body) +
                     bracket<D>(w, AngularVec<D>(angular_velocity(view.body) - w));
            return alpha;
        });
    }

    void add(const Model&, const std::string& name, const CoordinateSensor& sensor) {
        add_probe(name, {""},
                  [&m = m_.measure(m_.find_scalar(sensor.coordinate.name))](const Instant& now, double* out) {
                      *out = compute_value(m, now.context);
                  });
    }
    void add(const Model&, const std::string& name, const RateSensor& sensor) {
        add_probe(name, {""},
                  [&m = m_.measure(m_.find_scalar(sensor.coordinate.name))](const Instant& now, double* out) {
                      *out = compute_rate(m, now.context);
                  });
    }

    bool has_wrench(int element) const { return ReactionSolver<D>::has_wrench(m_.elements[element]); }

    void add(const Model& model, const std::string& name, const Reaction& sensor) {
        needs_accelerations_ = needs_reactions_ = true;
        const auto* joint = std::get_if<JointHandle>(&sensor.of);
        const int element = m_.element_index.at(
            joint != nullptr ? model.joints.get(*joint).name
                             : "driver " + model.drivers.get(std::get<DriverHandle>(sensor.of)).name);
        if (sensor.axes != Reaction{}.axes) refuse_axes(name, sensor, m_.elements[element]);
        if (!has_wrench(element))
            return add_probe(
                name, {""}, [this, element](const Instant&, double* out) { *out = reactions_.multiplier(element, 0); });
        std::optional<MarkerFeatures<D>> axes;
        if (const auto* marker = std::get_if<MarkerHandle>(&sensor.axes)) axes = features_of(model, *marker);
        if (sensor.axes == decltype(sensor.axes){ReactionFrame::joint}) axes = m_.elements[element].a;
        const Columns columns = D == 2 ? Columns{"fx", "fy", "tz"} : Columns{"fx", "fy", "fz", "tx", "ty", "tz"};
        add_probe(name, columns, [this, element, axes](const Instant&, double* out) {
            TwistVec<D> wrench = reactions_.reaction(element);
            if (axes) {
                wrench.template head<D>() = along(*axes, Vec<D>(wrench.template head<D>()));
                if constexpr (D == 3) wrench.template tail<3>() = along(*axes, Vec<3>(wrench.template tail<3>()));
            }
            std::copy(wrench.data(), wrench.data() + twist_size<D>, out);
        });
    }
    // What would have no effect, or no meaning.
    static void refuse_axes(const std::string& name, const Reaction& sensor, const ConstraintElement<D>& element) {
        const std::string what =
            fmt::format("sensor '{}': the reaction of {} '{}'", name, element_role_name(element.role), element.name);
        if (!ReactionSolver<D>::has_wrench(element))
            throw ModelError(what + " is one number: 'axes' would have no effect");
        if (std::holds_alternative<ReactionFrame>(sensor.axes) && !element.has_markers)
            throw ModelError(what + " belongs to no marker: give the name of a marker or body as 'axes'");
    }

    void add(const Model& model, const std::string& name, const ForceSensor& sensor) {
        const int force = m_.force_index.at(model.forces.get(sensor.force).name);
        add_probe(name, {""}, [this, force](const Instant& now, double* out) {
            *out = m_.forces.size(force, m_.constraints.measures, now.context, now.state.t);
        });
    }

    // Of all rows of a stop: the smallest gap, the sum of forces or impulses.
    template <class Use>
    void add_stop(const Model& model, const std::string& name, StopHandle stop, double start, const Use& use) {
        const int element = m_.element_index.at("stop " + model.stops.get(stop).name);
        add_probe(name, {""}, [this, element, start, use](const Instant& now, double* out) {
            *out = start;
            for (const UnilateralRow& row : m_.unilateral)
                if (row.element == element) *out = use(now, row, *out);
        });
    }
    void add(const Model& model, const std::string& name, const Gap& sensor) {
        add_stop(model, name, sensor.stop, INFINITY,
                 [this](const Instant& now, const UnilateralRow& row, double smallest) {
                     return std::min(smallest, compute_gap(m_, row, now.context));
                 });
    }
    void add(const Model& model, const std::string& name, const ContactForce& sensor) {
        needs_accelerations_ = needs_reactions_ = true;
        add_stop(model, name, sensor.stop, 0, [this](const Instant&, const UnilateralRow& row, double sum) {
            return sum + reactions_.multiplier(row.element, row.row - m_.elements[row.element].first_row);
        });
    }
    void add(const Model& model, const std::string& name, const Impulse& sensor) {
        add_stop(model, name, sensor.stop, 0, [](const Instant& now, const UnilateralRow& row, double sum) {
            return sum + now.state.memory[row.impulse];
        });
    }

    void add(const Model& model, const std::string& name, const ContactSensor& sensor) {
        const int rule = find_rule(model.contacts.get(sensor.contact).name);
        const int impulse = m_.contact_rules[rule].impulse;
        Columns columns{"normal", "count", "depth", "friction"};
        if (impulse >= 0) columns.push_back("impulse");
        add_probe(name, columns, [this, rule, impulse](const Instant& now, double* out) {
            const ContactRuleLoad load = contact_view_.measure_rule(rule, now.state, now.context);
            out[0] = load.normal;
            out[1] = load.count;
            out[2] = load.depth;
            out[3] = load.friction;
            if (impulse >= 0) out[4] = now.state.memory[impulse];
        });
    }

    void add(const Model&, const std::string& name, const EnergySensor& sensor) {
        add_probe(name, {""}, [this, kind = sensor.kind](const Instant& now, double* out) {
            switch (kind) {
                case EnergyKind::kinetic: *out = energy(now.state).kinetic; break;
                case EnergyKind::potential: *out = energy(now.state).potential; break;
                case EnergyKind::work: *out = now.work; break;
                case EnergyKind::total: {
                    const Energies e = energy(now.state);
                    *out = e.kinetic + e.potential;
                    break;
                }
                case EnergyKind::impacts: *out = m_.impact_loss < 0 ? 0 : now.state.memory[m_.impact_loss]; break;
            }
        });
    }
    void add(const Model&, const std::string& name, const ErrorSensor& sensor) {
        needs_accelerations_ = needs_accelerations_ || sensor.kind == ErrorKind::relative;
        add_probe(name, {""}, [this, kind = sensor.kind](const Instant& now, double* out) {
            switch (kind) {
                case ErrorKind::position: *out = compute_errors(now.state).position; break;
                case ErrorKind::velocity: *out = compute_errors(now.state).velocity; break;
                case ErrorKind::acceleration: *out = compute_errors(now.state).acceleration; break;
                case ErrorKind::relative: *out = relative_error(now.state); break;
                case ErrorKind::complementarity: *out = compute_complementarity(now.state); break;
            }
        });
    }
    void add(const Model&, const std::string& name, const ExpressionSensor& sensor) {
        const int column = static_cast<int>(columns_.size());
        expressions_.push_back({column, sensor.expression, fmt::format("sensor '{}'", name), {}});
        add_columns(name, {""});
    }

    void add(const Model& model, const std::string& name, const CustomSensor& sensor) {
        const std::size_t measured = sensor.law == nullptr ? 0 : static_cast<std::size_t>(sensor.law->count());
        if (measured == 0 || measured != sensor.columns.size())
            throw ModelError(fmt::format("sensor '{}': its class measures {} numbers, and {} columns are named", name,
                                         measured, sensor.columns.size()));
        needs_accelerations_ = needs_accelerations_ || sensor.law->needs_accelerations();
        Columns columns;
        for (const std::string& column : sensor.columns) columns.push_back(column.c_str());
        add_probe(name, columns,
                  [this, law = sensor.law, a = features_of(model, sensor.between.first),
                   b = features_of(model, sensor.between.second)](const Instant& now, double* out) {
                      const bool has_accelerations = law->needs_accelerations();
                      law->measure(motion_of(a, has_accelerations), motion_of(b, has_accelerations), now.state.t, out);
                  });
    }
    SensedMarker motion_of(const MarkerFeatures<D>& marker, bool has_accelerations) const {
        const int body = m_.features[marker.point].body;
        SensedMarker motion;
        motion.position.template head<D>() = features_.value[marker.point];
        motion.velocity.template head<D>() = features_.rate[marker.point];
        for (int k = 0; k < D; ++k) motion.axes.col(k).template head<D>() = features_.value[marker.axis[k]];
        motion.angular_velocity.template tail<angular_size<D>>() = angular_velocity(body);
        if (has_accelerations) {
            motion.acceleration.template head<D>() = acceleration_of(marker.point);
            motion.angular_acceleration.template tail<angular_size<D>>() = angular_acceleration(body);
        } else {
            motion.acceleration.setConstant(NAN);
            motion.angular_acceleration.setConstant(NAN);
        }
        return motion;
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

    // Position (order 0), velocity or acceleration of a point, relative to and in the axes of a reference marker if
    // there is one.
    template <int Order>
    Vec<D> point_derivative(const View& view) const {
        const int on = view.marker.point;
        if (!view.is_relative) {
            const Vec<D> y = Order == 0 ? features_.value[on] : Order == 1 ? features_.rate[on] : acceleration_of(on);
            return view.has_axes ? along(view.axes, y) : y;
        }
        // y_k = e_k . d: value, and first and second derivative by the product rule.
        const int from = view.reference.point;
        const Vec<D> d = features_.value[on] - features_.value[from];
        const Vec<D> d_rate = features_.rate[on] - features_.rate[from];
        Vec<D> y;
        for (int k = 0; k < D; ++k) {
            const int e = view.reference.axis[k];
            if constexpr (Order == 0) {
                y[k] = features_.value[e].dot(d);
            } else if constexpr (Order == 1) {
                y[k] = features_.rate[e].dot(d) + features_.value[e].dot(d_rate);
            } else {
                y[k] = acceleration_of(e).dot(d) + 2 * features_.rate[e].dot(d_rate) +
                       features_.value[e].dot(acceleration_of(on) - acceleration_of(from));
            }
        }
        if (!view.has_axes) return y;
        Vec<D> world = Vec<D>::Zero();
        for (int k = 0; k < D; ++k) world += y[k] * features_.value[view.reference.axis[k]];
        return along(view.axes, world);
    }

    Vec<D> along(const MarkerFeatures<D>& axes, const Vec<D>& v) const {
        Vec<D> y;
        for (int k = 0; k < D; ++k) y[k] = features_.value[axes.axis[k]].dot(v);
        return y;
    }

    // Components of an angular quantity: its one component in the plane.
    AngularVec<D> angular_components(const View& view, const AngularVec<D>& w) const {
        if constexpr (D == 3) {
            if (view.has_axes) return along(view.axes, w);
            if (view.is_relative) return along(view.reference, w);
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
