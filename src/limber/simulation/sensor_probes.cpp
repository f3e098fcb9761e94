#include "limber/simulation/sensor_probes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "limber/math/rotation_angles.hpp"
#include "limber/model/error.hpp"
#include "limber/simulation/load_probes.hpp"

namespace limber {
namespace {

using Components = std::vector<const char*>;

template <int D>
Components vector_components() {
    return D == 2 ? Components{"x", "y"} : Components{"x", "y", "z"};
}

// A marker as another one sees it, and the axes of the components.
template <int D>
struct MarkerView {
    MarkerFeatures<D> marker, reference, axes;
    int body = -1, reference_body = -1;
    bool is_relative = false;
    bool has_axes = false;

    // Position (order 0), velocity or acceleration of the point, relative to and in the axes of a reference marker if
    // there is one.
    template <int Order>
    Vec<D> point_derivative(const ObservedMotion<D>& motion) const {
        const FeatureState<D>& f = motion.features();
        const int on = marker.point;
        if (!is_relative) {
            const Vec<D> y = Order == 0 ? f.value[on] : Order == 1 ? f.rate[on] : motion.acceleration_of(on);
            return has_axes ? along(f, axes, y) : y;
        }
        // y_k = e_k . d: value, and first and second derivative by the product rule.
        const int from = reference.point;
        const Vec<D> d = f.value[on] - f.value[from];
        const Vec<D> d_rate = f.rate[on] - f.rate[from];
        Vec<D> y;
        for (int k = 0; k < D; ++k) {
            const int e = reference.axis[k];
            if constexpr (Order == 0) {
                y[k] = f.value[e].dot(d);
            } else if constexpr (Order == 1) {
                y[k] = f.rate[e].dot(d) + f.value[e].dot(d_rate);
            } else {
                y[k] = motion.acceleration_of(e).dot(d) + 2 * f.rate[e].dot(d_rate) +
                       f.value[e].dot(motion.acceleration_of(on) - motion.acceleration_of(from));
            }
        }
        if (!has_axes) return y;
        Vec<D> world = Vec<D>::Zero();
        for (int k = 0; k < D; ++k) world += y[k] * f.value[reference.axis[k]];
        return along(f, axes, world);
    }

    // Components of an angular quantity: its one component in the plane.
    AngularVec<D> angular_components(const ObservedMotion<D>& motion, const AngularVec<D>& w) const {
        if constexpr (D == 3) {
            if (has_axes) return along(motion.features(), axes, w);
            if (is_relative) return along(motion.features(), reference, w);
        }
        return w;
    }
};

// In the order of the enumerators from xyz on.
std::array<int, 3> turn_axes(OrientationForm form) {
    constexpr std::array<std::array<int, 3>, 12> all{{{0, 1, 2},
                                                      {0, 2, 1},
                                                      {1, 0, 2},
                                                      {1, 2, 0},
                                                      {2, 0, 1},
                                                      {2, 1, 0},
                                                      {0, 1, 0},
                                                      {0, 2, 0},
                                                      {1, 0, 1},
                                                      {1, 2, 1},
                                                      {2, 0, 2},
                                                      {2, 1, 2}}};
    return all[static_cast<std::size_t>(form) - static_cast<std::size_t>(OrientationForm::xyz)];
}

// For sensors of users; without accelerations they are no numbers.
template <int D>
SensedMarker sense(const ObservedMotion<D>& motion, const MarkerFeatures<D>& marker, bool has_accelerations) {
    const FeatureState<D>& f = motion.features();
    const int body = motion.mechanism().features[marker.point].body;
    SensedMarker sensed;
    sensed.position.template head<D>() = f.value[marker.point];
    sensed.velocity.template head<D>() = f.rate[marker.point];
    for (int k = 0; k < D; ++k) sensed.axes.col(k).template head<D>() = f.value[marker.axis[k]];
    sensed.angular_velocity.template tail<angular_size<D>>() = motion.angular_velocity(body);
    if (has_accelerations) {
        sensed.acceleration.template head<D>() = motion.acceleration_of(marker.point);
        sensed.angular_acceleration.template tail<angular_size<D>>() = motion.angular_acceleration(body);
    } else {
        sensed.acceleration.setConstant(NAN);
        sensed.angular_acceleration.setConstant(NAN);
    }
    return sensed;
}

template <int D>
class ProbeMaker {
public:
    ProbeMaker(const Model& model, const std::string& name, ObservedMotion<D>& motion, const ContactView<D>& contacts,
               const double& step)
        : model_(model), name_(name), motion_(motion), m_(motion.mechanism()), contacts_(contacts), step_(step) {}

    Probe<D> operator()(const Position& sensor) const { return make_point<0>(sensor.marker, sensor); }
    Probe<D> operator()(const Velocity& sensor) const { return make_point<1>(sensor.marker, sensor); }
    Probe<D> operator()(const Acceleration& sensor) const {
        if (const auto* marker = std::get_if<MarkerHandle>(&sensor.of)) return make_point<2>(*marker, sensor);
        const auto measure = [&motion = motion_, &m = m_.measure(m_.find_scalar(std::get<Coordinate>(sensor.of).name))](
                                 const Instant<D>& now, double* out) {
            MeasureGradient<D> gradient;
            compute_gradient(m, now.context, gradient.data());
            // compute_bias takes the features' own biases into account; add what the twist rates contribute.
            double sum = compute_bias(m, now.context);
            for (int i = 0; i < m.count; ++i)
                sum += gradient[i].dot(motion.acceleration_of(m.feature[i]) - motion.features().bias[m.feature[i]]);
            *out = sum;
        };
        return {.measure = measure,
                .needs_accelerations = true,
                .units = {unit_of(m_.measure(m_.find_scalar(std::get<Coordinate>(sensor.of).name)), 2)}};
    }

    Probe<D> operator()(const AngularVelocity& sensor) const {
        return make_angular(sensor, [&motion = motion_](const MarkerView<D>& view) {
            AngularVec<D> w = motion.angular_velocity(view.body);
            if (view.is_relative) w -= motion.angular_velocity(view.reference_body);
            return w;
        });
    }
    Probe<D> operator()(const AngularAcceleration& sensor) const {
        Probe<D> probe = make_angular(sensor, [&motion = motion_](const MarkerView<D>& view) {
            AngularVec<D> alpha = motion.angular_acceleration(view.body);
            if (!view.is_relative) return alpha;
            // As seen from the reference, which turns itself.
            const AngularVec<D> w = motion.angular_velocity(view.reference_body);
            alpha -= motion.angular_acceleration(view.reference_body) +
                     bracket<D>(w, AngularVec<D>(motion.angular_velocity(view.body) - w));
            return alpha;
        });
        probe.needs_accelerations = true;
        probe.units = {"rad/s^2"};
        return probe;
    }

    Probe<D> operator()(const OrientationSensor& sensor) const {
        const MarkerFeatures<D> marker = features_of(sensor.marker);
        std::optional<MarkerFeatures<D>> reference;
        if (!sensor.relative_to.is_null()) reference = features_of(sensor.relative_to);
        const auto rotation = [&motion = motion_, marker, reference] {
            const FeatureState<D>& f = motion.features();
            Mat<D> axes;
            for (int k = 0; k < D; ++k) {
                const Vec<D>& e = f.value[marker.axis[k]];
                axes.col(k) = reference ? along(f, *reference, e) : e;
            }
            return axes;
        };
        if constexpr (D == 2) {
            if (sensor.form && *sensor.form != OrientationForm::matrix)
                throw ModelError(fmt::format(
                    "sensor '{}': in the plane an orientation is one angle; 'as' may ask for a matrix only", name_));
            if (sensor.form) return make_matrix(rotation);
            return {.measure = [rotation](const Instant<D>&,
                                          double* out) { *out = std::atan2(rotation()(1, 0), rotation()(0, 0)); },
                    .units = {"rad"}};
        } else {
            return make_orientation(sensor.form.value_or(OrientationForm::quaternion), rotation);
        }
    }

    Probe<D> operator()(const CoordinateSensor& sensor) const {
        return {.measure = [&m = m_.measure(m_.find_scalar(sensor.coordinate.name))](
                               const Instant<D>& now, double* out) { *out = compute_value(m, now.context); },
                .units = {unit_of(m_.measure(m_.find_scalar(sensor.coordinate.name)))}};
    }
    Probe<D> operator()(const RateSensor& sensor) const {
        return {.measure = [&m = m_.measure(m_.find_scalar(sensor.coordinate.name))](
                               const Instant<D>& now, double* out) { *out = compute_rate(m, now.context); },
                .units = {unit_of(m_.measure(m_.find_scalar(sensor.coordinate.name)), 1)}};
    }

    Probe<D> operator()(const Reaction& sensor) const { return loads().make(sensor); }
    Probe<D> operator()(const ForceSensor& sensor) const { return loads().make(sensor); }
    Probe<D> operator()(const FrictionSensor& sensor) const { return loads().make(sensor); }
    Probe<D> operator()(const TyreSensor& sensor) const { return loads().make(sensor); }

    Probe<D> operator()(const SectionSensor& sensor) const { return loads().make(sensor); }

    Probe<D> operator()(const Gap& sensor) const {
        return make_stop(sensor.stop, INFINITY, {"m", "rad"},
                         [&m = m_](const Instant<D>& now, const StopRow& row, double smallest) {
                             return std::min(smallest, compute_gap(m, row, now.context));
                         });
    }
    Probe<D> operator()(const ContactForce& sensor) const {
        Probe<D> probe = make_stop(sensor.stop, 0, {"N", "N m"},
                                   [&motion = motion_](const Instant<D>&, const StopRow& row, double sum) {
                                       const int first = motion.mechanism().elements[row.element].first_row;
                                       return sum + motion.reactions().multiplier(row.element, row.row - first);
                                   });
        probe.needs_accelerations = probe.needs_reactions = true;
        return probe;
    }
    Probe<D> operator()(const Impulse& sensor) const {
        return make_stop(sensor.stop, 0, {"N s", "N m s"}, [](const Instant<D>& now, const StopRow& row, double sum) {
            return sum + row.impulse.in(now.state.memory);
        });
    }

    Probe<D> operator()(const ContactSensor& sensor) const {
        const auto& rules = m_.contact_rules;
        const std::string& name = model_.contacts.get(sensor.contact).name;
        const auto found = std::find_if(rules.begin(), rules.end(), [&](const auto& r) { return r.name == name; });
        const int rule = static_cast<int>(found - rules.begin());
        Probe<D> probe{.components = {"normal", "count", "depth", "friction"}, .units = {"N", "", "m", "N"}};
        if (found->impulse.exists()) {
            probe.components.push_back("impulse");
            probe.units.push_back("N s");
        }
        probe.measure = [&contacts = contacts_, rule, impulse = found->impulse](const Instant<D>& now, double* out) {
            const ContactRuleLoad load = contacts.measure_rule(rule, now.state, now.context);
            out[0] = load.normal;
            out[1] = load.count;
            out[2] = load.depth;
            out[3] = load.friction;
            if (impulse.exists()) out[4] = impulse.in(now.state.memory);
        };
        return probe;
    }

    Probe<D> operator()(const EnergySensor& sensor) const {
        return {.measure =
                    [&motion = motion_, kind = sensor.kind](const Instant<D>& now, double* out) {
                        const auto impact_loss = motion.mechanism().impact_loss;
                        switch (kind) {
                            case EnergyKind::kinetic: *out = motion.energy(now.state).kinetic; break;
                            case EnergyKind::potential: *out = motion.energy(now.state).potential; break;
                            case EnergyKind::work: *out = now.work; break;
                            case EnergyKind::total: {
                                const Energies e = motion.energy(now.state);
                                *out = e.kinetic + e.potential;
                                break;
                            }
                            case EnergyKind::impacts:
                                *out = impact_loss.exists() ? impact_loss.in(now.state.memory) : 0;
                                break;
                        }
                    },
                .units = {"J"}};
    }
    Probe<D> operator()(const ErrorSensor& sensor) const {
        const auto measure = [&motion = motion_, &step = step_, kind = sensor.kind](const Instant<D>& now,
                                                                                    double* out) {
            switch (kind) {
                case ErrorKind::position: *out = motion.compute_errors(now.state).position; break;
                case ErrorKind::velocity: *out = motion.compute_errors(now.state).velocity; break;
                case ErrorKind::acceleration: *out = motion.compute_errors(now.state).acceleration; break;
                case ErrorKind::relative: *out = motion.relative_error(now.state, step); break;
                case ErrorKind::complementarity: *out = motion.compute_complementarity(now.state); break;
            }
        };
        return {.measure = measure, .needs_accelerations = sensor.kind == ErrorKind::relative};
    }
    Probe<D> operator()(const ExpressionSensor&) const { return {}; }
    Probe<D> operator()(const ExpressionsSensor& sensor) const {
        Probe<D> probe{.components = {}};
        for (const NamedExpression& one : sensor.expressions) probe.components.push_back(one.name.c_str());
        return probe;
    }

    Probe<D> operator()(const CustomSensor& sensor) const {
        const std::size_t measured = sensor.law == nullptr ? 0 : static_cast<std::size_t>(sensor.law->count());
        if (measured == 0 || measured != sensor.columns.size())
            throw ModelError(fmt::format("sensor '{}': its class measures {} numbers, and {} columns are named", name_,
                                         measured, sensor.columns.size()));
        Probe<D> probe{.components = {}, .needs_accelerations = sensor.law->needs_accelerations()};
        for (const std::string& column : sensor.columns) probe.components.push_back(column.c_str());
        probe.measure = [&motion = motion_, law = sensor.law, a = features_of(sensor.between.first),
                         b = features_of(sensor.between.second)](const Instant<D>& now, double* out) {
            const bool has_accelerations = law->needs_accelerations();
            law->measure(sense(motion, a, has_accelerations), sense(motion, b, has_accelerations), now.state.t, out);
        };
        return probe;
    }

private:
    MarkerFeatures<D> features_of(MarkerHandle handle) const {
        return m_.sensor_markers.at(model_.markers.get(handle).name);
    }
    MarkerView<D> view_of(MarkerHandle marker, const auto& sensor) const {
        MarkerView<D> view;
        view.marker = features_of(marker);
        view.body = m_.features[view.marker.point].body;
        view.is_relative = !sensor.relative_to.is_null();
        if (view.is_relative) {
            view.reference = features_of(sensor.relative_to);
            view.reference_body = m_.features[view.reference.point].body;
        }
        view.has_axes = !sensor.axes.is_null();
        if (view.has_axes) view.axes = features_of(sensor.axes);
        return view;
    }

    static Probe<D> make_matrix(const auto& rotation) {
        Probe<D> probe{.components = Components{"xx", "xy", "yx", "yy"}};
        if (D == 3) probe.components = {"xx", "xy", "xz", "yx", "yy", "yz", "zx", "zy", "zz"};
        probe.measure = [rotation](const Instant<D>&, double* out) {
            Eigen::Map<Eigen::Matrix<double, D, D, Eigen::RowMajor>> all(out);
            all = rotation();
        };
        return probe;
    }
    static Probe<D> make_orientation(OrientationForm form, const auto& rotation) {
        const auto with = [&](const Components& components, const std::vector<const char*>& units, auto find) {
            Probe<D> probe{.components = components, .units = units};
            probe.measure = [rotation, find](const Instant<D>&, double* out) {
                const auto numbers = find(rotation());
                std::copy(numbers.data(), numbers.data() + numbers.size(), out);
            };
            return probe;
        };
        switch (form) {
            case OrientationForm::quaternion: return with({"w", "x", "y", "z"}, {""}, find_quaternion);
            case OrientationForm::axis_angle:
                return with({"angle", "x", "y", "z"}, {"rad", "", "", ""}, find_axis_angle);
            case OrientationForm::matrix: return make_matrix(rotation);
            case OrientationForm::roll_pitch_yaw:
                return with({"roll", "pitch", "yaw"}, {"rad"}, [](const Mat3& r) {
                    return Vec3(find_turns(r, {2, 1, 0}).reverse());
                });
            default: break;
        }
        return with({"first", "second", "third"}, {"rad"},
                    [axes = turn_axes(form)](const Mat3& r) { return find_turns(r, axes); });
    }

    template <int Order>
    Probe<D> make_point(MarkerHandle marker, const auto& sensor) const {
        const auto measure = [&motion = motion_, view = view_of(marker, sensor)](const Instant<D>&, double* out) {
            const Vec<D> y = view.template point_derivative<Order>(motion);
            std::copy(y.data(), y.data() + D, out);
        };
        constexpr std::array<const char*, 3> units{"m", "m/s", "m/s^2"};
        return {.components = vector_components<D>(),
                .measure = measure,
                .needs_accelerations = Order == 2,
                .units = {units[Order]}};
    }
    Probe<D> make_angular(const auto& sensor, const auto& value) const {
        const auto measure = [&motion = motion_, view = view_of(sensor.marker, sensor), value](const Instant<D>&,
                                                                                               double* out) {
            const AngularVec<D> w = view.angular_components(motion, value(view));
            std::copy(w.data(), w.data() + angular_size<D>, out);
        };
        return {.components = D == 2 ? Components{""} : vector_components<D>(), .measure = measure, .units = {"rad/s"}};
    }
    // Of all rows of a stop: the smallest gap, the sum of forces or impulses. Units: of a length, of an angle.
    Probe<D> make_stop(StopHandle stop, double start, std::array<const char*, 2> units, const auto& use) const {
        const int element = m_.element_index.at("stop " + model_.stops.get(stop).name);
        Probe<D> probe{.measure = [&m = m_, element, start, use](const Instant<D>& now, double* out) {
            *out = start;
            for (const StopRow& row : m.stops)
                if (row.element == element) *out = use(now, row, *out);
        }};
        if (m_.elements[element].row_count == 0) return probe;
        const Row& row = m_.constraints.rows[m_.elements[element].first_row];
        const bool is_angle = m_.measure(m_.constraints.terms[row.first_term].measure).kind == MeasureKind::angle;
        probe.units = {units[is_angle ? 1 : 0]};
        return probe;
    }

    LoadProbes<D> loads() const { return {model_, name_, motion_}; }

    const Model& model_;
    const std::string& name_;
    ObservedMotion<D>& motion_;
    const Mechanism<D>& m_;
    const ContactView<D>& contacts_;
    const double& step_;
};

}  // namespace

template <int D>
Probe<D> make_probe(const Model& model, const Sensor& sensor, ObservedMotion<D>& motion, const ContactView<D>& contacts,
                    const double& step) {
    return std::visit(ProbeMaker<D>(model, sensor.name, motion, contacts, step), sensor.type);
}

template Probe<2> make_probe(const Model&, const Sensor&, ObservedMotion<2>&, const ContactView<2>&, const double&);
template Probe<3> make_probe(const Model&, const Sensor&, ObservedMotion<3>&, const ContactView<3>&, const double&);

}  // namespace limber
