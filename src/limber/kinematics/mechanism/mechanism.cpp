#include "limber/kinematics/mechanism/mechanism.hpp"

#include <algorithm>
#include <cmath>

#include "limber/kinematics/mechanism/builder.hpp"
#include "limber/math/interruption.hpp"
#include "limber/model/beam_numbers.hpp"

namespace limber {
namespace {

// The markers that a described element names.
struct MarkerSearch {
    std::vector<MarkerHandle> found{};

    void main(MarkerHandle handle, Variables = Variables::none) {
        if (!handle.is_null()) found.push_back(handle);
    }
    void main(const MarkerPair& pair) {
        main(pair.first);
        main(pair.second);
    }
    template <class... T>
    void main(const std::variant<T...>& value) {
        std::visit([&](const auto& one) { main(one); }, value);
    }
    template <class T>
    void main(const T&, Variables = Variables::none) {}
    template <class T>
    void field(const T& value, const FieldNote&) {
        main(value);
    }
};

}  // namespace

template <int D>
int Mechanism<D>::find_scalar(const std::string& name) const {
    for (const auto& scalar : scalars)
        if (scalar.name == name) return scalar.measure;
    return -1;
}

template <int D>
std::vector<double> Mechanism<D>::memory_with_all_rows() const {
    std::vector<double> memory = initial_memory;
    for (const Row& row : constraints.rows)
        if (row.flag.exists()) row.flag.in(memory) = true;
    return memory;
}

template <int D>
Mechanism<D> make_mechanism(const Model& model) {
    return MechanismBuilder<D>(model).build();
}

template <int D>
MechanismBuilder<D>::MechanismBuilder(const Model& model)
    : model_(model), evaluation_(model), body_of_slot_(model.bodies.slot_count(), -1) {}

template <int D>
MechanismBuilder<D>::MechanismBuilder(const Model& model, Mechanism<D> made) : MechanismBuilder(model) {
    m_ = std::move(made);
    for (std::size_t b = 0; b < m_.bodies.size(); ++b) body_of_slot_[m_.bodies[b].handle.index] = static_cast<int>(b);
}

template <int D>
Mechanism<D> MechanismBuilder<D>::build() {
    add_bodies();
    const auto add_each = [&](const auto& table, const auto& add) {
        for (const auto handle : table.handles()) {
            check_interruption();
            add(table.get(handle));
        }
    };
    add_each(model_.joints, [&](const Joint& joint) { add_joint(joint); });
    add_meshes();
    add_each(model_.drivers, [&](const Driver& driver) { add_driver(driver); });
    add_each(model_.stops, [&](const Stop& stop) { add_stop(stop); });
    add_each(model_.forces, [&](const Force& force) { add_force(force); });
    add_contacts();
    add_gravity();
    for (const auto handle : model_.sensors.handles()) {
        check_interruption();
        const Sensor& sensor = model_.sensors.get(handle);
        if (const Coordinate* coordinate = sensor.coordinate())
            scalar(coordinate->name, fmt::format("sensor '{}'", sensor.name));
    }
    const auto initial = [&](const std::vector<InitialValue>& values, std::vector<InitialMeasure>& out) {
        for (const InitialValue& value : values) {
            const std::string what = fmt::format("initial value of '{}'", value.scalar);
            out.push_back({scalar(value.scalar, what), evaluation_.number(value.value, what)});
        }
    };
    // Conditions of events may use any joint coordinate; what is no coordinate is found among the sensors when they are
    // watched.
    for (const auto handle : model_.events.handles())
        for (const std::string& name : model_.events.get(handle).condition().names())
            find_or_make_scalar(without_rate(name));
    initial(model_.initial_positions, m_.initial_positions);
    initial(model_.initial_rates, m_.initial_rates);
    find_used_features();
    add_output_features();
    set_scales();
    note_origins();
    for (const auto& [name, measure] : scalar_by_name_) m_.scalars.push_back({name, measure});
    return std::move(m_);
}

template <int D>
Mechanism<D> MechanismBuilder<D>::build_with(const Joint& joint) {
    for (const MarkerHandle handle : {joint.ends().first, joint.ends().second})
        if (model_.markers.get(handle).body != model_.ground() && body_index(handle) < 0)
            throw ModelError(fmt::format("joint '{}': its bodies are elsewhere", joint.name));
    add_joint(joint);
    find_used_features();
    return std::move(m_);
}

template <int D>
Mechanism<D> with_joint(Mechanism<D> mechanism, const Model& model, const Joint& joint) {
    return MechanismBuilder<D>(model, std::move(mechanism)).build_with(joint);
}

// ---------------------------------------------------------------- bodies, features, markers

template <int D>
void MechanismBuilder<D>::add_bodies() {
    find_beam_markers();
    for (const auto handle : model_.bodies.handles()) {
        if (handle == model_.ground()) continue;
        check_interruption();
        const Body& body = model_.bodies.get(handle);
        if (body.beam) {
            add_beam(handle);
            continue;
        }
        const Subject what("body", body.name);
        const Frame& frame = evaluation_.body_frame(handle);
        const MassProperties mass = evaluation_.mass_properties(handle);
        if (D == 2 && (std::abs(frame.position.z()) > 1e-12 || std::abs(frame.axes(2, 2) - 1) > 1e-9))
            throw ModelError(what.text() + ": in a planar model a body lies in the plane z = 0 and turns about z only");
        MechanismBody<D> b;
        b.name = body.name;
        b.handle = handle;
        b.mass = mass.mass;
        b.centre = mass.centre.head<D>();
        const Vec3 centre = frame.position + frame.axes * mass.centre;
        const Vec3 omega = evaluation_.vector(body.angular_velocity.components, what.with("angular velocity"));
        const Vec3 velocity =
            evaluation_.vector(body.velocity, what.with("velocity")) + omega.cross(centre - frame.position);
        b.reference.position = centre.head<D>();
        b.reference.axes = frame.axes.topLeftCorner<D, D>();
        b.reference.velocity = velocity.head<D>();
        if constexpr (D == 2) {
            b.inertia(0, 0) = mass.inertia(2, 2);
            b.reference.angular_velocity[0] = omega.z();
        } else {
            b.inertia = mass.inertia;
            b.reference.angular_velocity = omega;
        }
        body_of_slot_[handle.index] = static_cast<int>(m_.bodies.size());
        m_.bodies.push_back(std::move(b));
    }
    place_beam_markers();
}

template <int D>
int MechanismBuilder<D>::feature(int body, bool is_point, const Vec<D>& local) {
    std::array<double, D> key{};
    for (int i = 0; i < D; ++i) key[i] = local[i];
    const auto [it, is_new] = feature_index_.try_emplace({body, is_point, key}, static_cast<int>(m_.features.size()));
    if (!is_new) return it->second;
    Feature<D> f;
    f.body = body;
    f.is_point = is_point;
    f.local = local;
    m_.features.push_back(f);
    Vec<D> value = local;
    if (body >= 0) {
        const BodyState<D>& pose = m_.bodies[body].reference;
        value = pose.axes * local;
        if (is_point) value += pose.position;
    }
    m_.reference.value.push_back(value);
    m_.reference.rate.push_back(Vec<D>::Zero());
    m_.reference.bias.push_back(Vec<D>::Zero());
    return it->second;
}

template <int D>
int MechanismBuilder<D>::body_index(MarkerHandle handle) const {
    const BodyHandle body = model_.markers.get(handle).body;
    if (beams_.contains(body.index)) return m_.piece_markers.at(model_.markers.get(handle).name).body;
    return body_of_slot_[body.index];
}

template <int D>
const MarkerFeatures<D>& MechanismBuilder<D>::marker(MarkerHandle handle) {
    model_.markers.get(handle);  // it must be there
    const auto known = markers_.find(handle.index);
    if (known != markers_.end()) return known->second;
    if (beams_.contains(model_.markers.get(handle).body.index))
        return markers_.emplace(handle.index, beam_marker(handle)).first->second;
    const int body = body_index(handle);
    Frame frame = evaluation_.marker_frame(handle);
    Vec<D> point = frame.position.head<D>();
    if (body >= 0) {
        point -= m_.bodies[body].centre;
    } else {
        const Frame ground = evaluation_.body_frame(model_.ground());
        frame.axes = ground.axes * frame.axes;
        point = (ground.position + ground.axes * frame.position).head<D>();
    }
    MarkerFeatures<D> features;
    features.point = feature(body, true, point);
    for (int k = 0; k < D; ++k) features.axis[k] = feature(body, false, frame.axes.col(k).head<D>());
    return markers_.emplace(handle.index, features).first->second;
}

template <int D>
void MechanismBuilder<D>::add_output_features() {
    for (std::size_t i = 0; i < m_.bodies.size(); ++i) {
        MechanismBody<D>& body = m_.bodies[i];
        body.frame.point = feature(static_cast<int>(i), true, Vec<D>::Zero());
        for (int k = 0; k < D; ++k) body.frame.axis[k] = feature(static_cast<int>(i), false, Vec<D>::Unit(k));
    }
    MarkerSearch search;
    for (const auto handle : model_.sensors.handles())
        std::visit([&](const auto& type) { type.visit(type, search); }, model_.sensors.get(handle).type);
    for (const MarkerHandle m : search.found) m_.sensor_markers[model_.markers.get(m).name] = marker(m);
}

template <int D>
void MechanismBuilder<D>::find_used_features() {
    std::vector<int>& used = m_.used_features;
    used = m_.constraints.slot_feature;
    used.insert(used.end(), m_.forces.slot_feature.begin(), m_.forces.slot_feature.end());
    for (const Measure<D>& m : m_.constraints.measures)
        used.insert(used.end(), m.feature.begin(), m.feature.begin() + m.count);
    for (const SharedFeature& pair : m_.shared) used.insert(used.end(), {pair.a, pair.b});
    std::sort(used.begin(), used.end());
    used.erase(std::unique(used.begin(), used.end()), used.end());
}

template <int D>
void MechanismBuilder<D>::set_scales() {
    // Typical length: the median over the bodies of the distance from the centre of mass to the farthest point used.
    std::vector<double> extent(m_.bodies.size(), 0.0);
    for (const Feature<D>& f : m_.features)
        if (f.body >= 0 && f.is_point) extent[f.body] = std::max(extent[f.body], f.local.norm());
    std::erase(extent, 0.0);
    for (const auto handle : model_.bodies.handles())
        if (model_.bodies.get(handle).beam) extent.push_back(evaluation_.beam_line(handle).length());
    if (!extent.empty()) {
        const auto middle = extent.begin() + static_cast<std::ptrdiff_t>(extent.size() / 2);
        std::nth_element(extent.begin(), middle, extent.end());
        m_.length_scale = *middle;
    }
    double mass = 0;
    int massive = 0;
    for (const auto& body : m_.bodies)
        if (body.mass > 0) {
            mass += body.mass;
            ++massive;
        }
    m_.mass_scale = massive > 0 ? mass / massive : 1;
}

// ---------------------------------------------------------------- measures

template <int D>
MeasureContext<D> MechanismBuilder<D>::reference_context() const {
    return {m_.reference, m_.initial_memory, m_.curves};
}

template <int D>
int MechanismBuilder<D>::measure(MeasureKind kind, std::initializer_list<int> features, double length) {
    Measure<D> m;
    m.kind = kind;
    m.length = length;
    for (const int f : features) m.feature[m.count++] = f;
    return m_.constraints.add_measure(m);
}

template <int D>
int MechanismBuilder<D>::angle(const std::string& name, int a1, int a2, int b) {
    const int index = measure(MeasureKind::angle, {a1, a2, b});
    const double wrapped = compute_value(m_.measure(index), reference_context());
    set_memory<TurnMemory>(index, name, wrapped);
    return index;
}

template <int D>
double MechanismBuilder<D>::reference_value(int measure) const {
    return compute_value(m_.measure(measure), reference_context());
}

template <int D>
double MechanismBuilder<D>::reference_value(const std::vector<RowTerm>& terms) const {
    double sum = 0;
    for (const RowTerm& term : terms) sum += term.coefficient * reference_value(term.measure);
    return sum;
}

template <int D>
std::vector<int> MechanismBuilder<D>::measure_features(int measure) const {
    const Measure<D>& m = m_.measure(measure);
    return {m.feature.begin(), m.feature.begin() + m.count};
}

template <int D>
TimeFunction MechanismBuilder<D>::time_function(const TimeLaw& law, const std::string& what) const {
    if (law.table) return TimeFunction(evaluation_.table(*law.table, what));
    return TimeFunction(evaluation_.bind(law.expression, {"t"}, what));
}

template <int D>
void refresh_memory(const Mechanism<D>& m, const FeatureState<D>& features, std::vector<double>& memory) {
    for (const MemoryBlock& block : m.memory_layout.blocks) {
        if (block.measure < 0) continue;
        const Measure<D>& measure = m.measure(block.measure);
        measure.memory.in(memory) = compute_memory(measure, MeasureContext<D>{features, memory, m.curves});
    }
}

template <int D>
double compute_gap(const Mechanism<D>& m, const StopRow& gap, const MeasureContext<D>& context) {
    const Row& row = m.constraints.rows[gap.row];
    const RowTerm& term = m.constraints.terms[row.first_term];
    if (gap.exact_gap < 0) {
        double sum = -row.rhs;
        for (int k = row.first_term; k < row.first_term + row.term_count; ++k)
            sum +=
                m.constraints.terms[k].coefficient * compute_value(m.measure(m.constraints.terms[k].measure), context);
        return sum;
    }
    return term.coefficient * (compute_value(m.measure(gap.exact_gap), context) - m.measure(term.measure).length);
}

template double compute_gap(const Mechanism<2>&, const StopRow&, const MeasureContext<2>&);
template double compute_gap(const Mechanism<3>&, const StopRow&, const MeasureContext<3>&);

template <int D>
std::vector<double> with_open_contacts(const Mechanism<D>& m, std::vector<double> memory) {
    for (const Row& row : m.constraints.rows)
        if (row.flag.exists()) row.flag.in(memory) = false;
    return memory;
}

template std::vector<double> with_open_contacts(const Mechanism<2>&, std::vector<double>);
template std::vector<double> with_open_contacts(const Mechanism<3>&, std::vector<double>);
template void refresh_memory(const Mechanism<2>&, const FeatureState<2>&, std::vector<double>&);
template void refresh_memory(const Mechanism<3>&, const FeatureState<3>&, std::vector<double>&);
template struct Mechanism<2>;
template struct Mechanism<3>;
template class MechanismBuilder<2>;
template class MechanismBuilder<3>;
template Mechanism<2> make_mechanism(const Model&);
template Mechanism<3> make_mechanism(const Model&);
template Mechanism<2> with_joint(Mechanism<2>, const Model&, const Joint&);
template Mechanism<3> with_joint(Mechanism<3>, const Model&, const Joint&);

}  // namespace limber
