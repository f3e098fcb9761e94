#include "limber/kinematics/natural/natural_coordinates.hpp"

#include <fmt/format.h>

#include <Eigen/LU>
#include <algorithm>
#include <complex>

#include "limber/math/rotation.hpp"

namespace limber {

template <int D>
NaturalCoordinates<D>::NaturalCoordinates(const Mechanism<D>& mechanism)
    : NaturalCoordinates(mechanism, choose_natural_layout(mechanism)) {}

template <int D>
NaturalCoordinates<D>::NaturalCoordinates(const Mechanism<D>& mechanism, const NaturalCoordinates& like)
    : NaturalCoordinates(mechanism, like.layout_) {}

template <int D>
NaturalCoordinates<D>::NaturalCoordinates(const Mechanism<D>& mechanism, NaturalLayout<D> layout)
    : m_(mechanism), layout_(std::move(layout)) {
    number_nodes();
    for (const Feature<D>& f : m_.features) {
        if (f.body < 0) {
            Coefficients k;
            k.constant = f.local;
            add_feature(k, NaturalBasis<D>{});
        } else {
            add_feature(coefficients(f.body, f.is_point, f.local), layout_.basis[f.body]);
        }
    }
    add_node_features();
    add_rigidity();
    add_mass_blocks();
}

template <int D>
void NaturalCoordinates<D>::number_nodes() {
    for (const auto& node : layout_.nodes) {
        node_column_.push_back(node.is_fixed ? -1 : size_);
        if (node.is_fixed) continue;
        size_ += D;
        // A slender rod has no mass on the vectors that turn about it, but what holds them has.
        const double length = node.is_point ? 1.0 : m_.length_scale;
        double mass = 0;
        for (const int b : node.bodies) mass = std::max(mass, 0.1 * m_.bodies[b].mass);
        if (!(mass > 0)) mass = 1e-3 * m_.mass_scale;
        for (int k = 0; k < D; ++k) inertia_floor_.push_back(mass * length * length);
    }
}

// ---------------------------------------------------------------- features as combinations of nodes

template <int D>
typename NaturalCoordinates<D>::Coefficients NaturalCoordinates<D>::coefficients(int body, bool is_point,
                                                                                 const Vec<D>& local) const {
    const NaturalBasis<D>& basis = layout_.basis[body];
    const auto is_point_node = [&](int i) { return layout_.nodes[basis.node[i]].is_point; };
    Coefficients k;
    // Vector from the origin node to the feature, or the direction itself.
    const Vec<D> target = is_point ? Vec<D>(local - basis.local[0]) : local;
    if (is_point) k.c[0] = 1;
    switch (basis.kind) {
        case BasisKind::point:
            // Nothing says how a point mass is turned: it keeps its reference attitude.
            k.constant = m_.bodies[body].reference.axes * target;
            break;
        case BasisKind::bar: {
            const Vec<D> d = basis.local[1] - basis.local[0];
            const double along = target.dot(d) / d.squaredNorm();
            k.c[1] = along;
            k.c[0] -= along;
            break;
        }
        case BasisKind::frame:
            if constexpr (D == 2) {
                using Complex = std::complex<double>;
                const Vec2 d = is_point_node(1) ? Vec2(basis.local[1] - basis.local[0]) : basis.local[1];
                const Complex a = Complex(target.x(), target.y()) / Complex(d.x(), d.y());
                k.c[1] = a.real();
                k.s[1] = a.imag();
                if (is_point_node(1)) {
                    k.c[0] -= a.real();
                    k.s[0] -= a.imag();
                }
            } else {
                Mat3 b;
                for (int i = 0; i < 3; ++i)
                    b.col(i) = is_point_node(i + 1) ? Vec3(basis.local[i + 1] - basis.local[0]) : basis.local[i + 1];
                const Vec3 a = b.inverse() * target;
                for (int i = 0; i < 3; ++i) {
                    k.c[i + 1] = a[i];
                    if (is_point_node(i + 1)) k.c[0] -= a[i];
                }
            }
            break;
    }
    return k;
}

template <int D>
void NaturalCoordinates<D>::add_feature(const Coefficients& k, const NaturalBasis<D>& basis) {
    Vec<D> constant = k.constant;
    for (int i = 0; i < basis.count; ++i) {
        // Rounding in the coefficients must not couple a feature to nodes it does not depend on.
        const double c = std::abs(k.c[i]) < 1e-15 ? 0 : k.c[i];
        const double s = std::abs(k.s[i]) < 1e-15 ? 0 : k.s[i];
        if (c == 0 && s == 0) continue;
        const int node = basis.node[i];
        if (node_column_[node] < 0) {
            const Vec<D>& value = layout_.nodes[node].reference;
            constant += c * value;
            if constexpr (D == 2) constant += s * perp(value);
            continue;
        }
        terms_.push_back({node_column_[node], c, s});
        for (int j = 0; j < D; ++j) column_.push_back(node_column_[node] + j);
    }
    constant_.push_back(constant);
    feature_start_.push_back(static_cast<int>(terms_.size()));
    column_start_.push_back(static_cast<int>(column_.size()));
}

template <int D>
void NaturalCoordinates<D>::add_node_features() {
    for (std::size_t n = 0; n < layout_.nodes.size(); ++n) {
        NaturalBasis<D> single;
        single.count = 1;
        single.node[0] = static_cast<int>(n);
        Coefficients k;
        k.c[0] = 1;
        add_feature(k, single);
    }
}

template <int D>
void NaturalCoordinates<D>::update_positions(const VecX& q, std::span<const int> list,
                                             FeatureState<D>& features) const {
    for (const int f : list) features.value[f] = constant_[f] + feature_rate(f, q);
}

template <int D>
auto NaturalCoordinates<D>::feature_rate(int feature, const VecX& v) const -> Vec<D> {
    Vec<D> sum = Vec<D>::Zero();
    for (int k = feature_start_[feature]; k < feature_start_[feature + 1]; ++k) {
        const Term& term = terms_[k];
        const Vec<D> node = v.template segment<D>(term.column);
        sum += term.c * node;
        if constexpr (D == 2) sum += term.s * perp(node);
    }
    return sum;
}

template <int D>
void NaturalCoordinates<D>::update_velocities(const VecX& /*q*/, const VecX& v, std::span<const int> list,
                                              FeatureState<D>& features) const {
    for (const int f : list) features.rate[f] = feature_rate(f, v);
}

template <int D>
void NaturalCoordinates<D>::compute_jacobian(int feature, const VecX& /*q*/, FeatureJacobian& j) const {
    const int terms = feature_start_[feature + 1] - feature_start_[feature];
    j.setZero(D, terms * D);
    for (int k = 0; k < terms; ++k) {
        const Term& term = terms_[feature_start_[feature] + k];
        for (int i = 0; i < D; ++i) j(i, k * D + i) = term.c;
        if constexpr (D == 2) {
            j(0, k * D + 1) = -term.s;
            j(1, k * D) = term.s;
        }
    }
}

// ---------------------------------------------------------------- rigidity and sharing

template <int D>
void NaturalCoordinates<D>::rigidity_row(int body, int i, int j) {
    const NaturalBasis<D>& basis = layout_.basis[body];
    const int node_i = basis.node[i];
    const int node_j = basis.node[j];
    const int origin = basis.node[0];
    const bool point_i = layout_.nodes[node_i].is_point;
    const bool point_j = layout_.nodes[node_j].is_point;
    const int base = static_cast<int>(m_.features.size());  // node features come after those of the mechanism
    const auto is_fixed = [&](int node) { return layout_.nodes[node].is_fixed; };

    Measure<D> m;
    double coefficient = 1;
    std::array<int, 3> key{std::min(node_i, node_j), std::max(node_i, node_j), -1};
    if (point_i && point_j) {
        // Distance of two points; i == j stands for the distance from the origin.
        const int other = i == j ? origin : node_i;
        const int other_local = i == j ? 0 : i;
        m.kind = MeasureKind::half_square;
        m.count = 2;
        m.feature = {base + other, base + node_j};
        m.length = (basis.local[j] - basis.local[other_local]).norm();
        key = {std::min(other, node_j), std::max(other, node_j), -1};
        if (is_fixed(other) && is_fixed(node_j)) return;
    } else if (!point_i && !point_j) {
        m.kind = MeasureKind::dot;
        m.count = 2;
        m.feature = {base + node_i, base + node_j};
        if (i == j) coefficient = 0.5;
        if (is_fixed(node_i) && is_fixed(node_j)) return;
    } else {
        const int point = point_i ? node_i : node_j;
        const int vector = point_i ? node_j : node_i;
        m.kind = MeasureKind::dot_point;
        m.count = 3;
        m.feature = {base + origin, base + point, base + vector};
        key = {std::min(origin, point), std::max(origin, point), vector};
        if (is_fixed(origin) && is_fixed(point) && is_fixed(vector)) return;
    }
    if (!known_rows_.insert(key).second) return;
    double rhs = 0;
    if (m.kind == MeasureKind::dot) rhs = coefficient * basis.local[i].dot(basis.local[j]);
    if (m.kind == MeasureKind::dot_point) {
        const int p = point_i ? i : j;
        const int v = point_i ? j : i;
        rhs = (basis.local[p] - basis.local[0]).dot(basis.local[v]);
    }
    own_rows_.add_holonomic(-1, {{coefficient, own_rows_.add_measure(m)}}, rhs);
    own_row_body_.push_back(body);
}

template <int D>
void NaturalCoordinates<D>::add_rigidity() {
    for (std::size_t b = 0; b < m_.bodies.size(); ++b) {
        const int count = layout_.basis[b].count;
        // In the plane the length of one vector fixes the frame; a point has nothing to fix.
        for (int i = 1; i < count; ++i)
            for (int j = i; j < count; ++j) rigidity_row(static_cast<int>(b), i, j);
    }
}

template <int D>
bool NaturalCoordinates<D>::is_implied(const Row& row) const {
    if (!row.is_holonomic() || row.law >= 0 || row.element < 0) return false;
    // A row that sees only nodes of one rigid body is constant.
    std::vector<int> nodes;
    std::vector<int> bodies;
    for (int s = row.first_slot; s < row.first_slot + row.slot_count; ++s) {
        const int f = m_.constraints.slot_feature[s];
        const int body = m_.features[f].body;
        if (layout_.feature_node[f] >= 0) {
            nodes.push_back(layout_.feature_node[f]);
        } else if (body < 0) {
            return false;
        } else {
            const NaturalBasis<D>& basis = layout_.basis[body];
            if (basis.kind != BasisKind::frame && !m_.features[f].is_point) return false;
            nodes.insert(nodes.end(), basis.node.begin(), basis.node.begin() + basis.count);
        }
        if (body >= 0) bodies.push_back(body);
    }
    return std::any_of(bodies.begin(), bodies.end(), [&](int body) {
        const NaturalBasis<D>& basis = layout_.basis[body];
        return std::all_of(nodes.begin(), nodes.end(), [&](int node) {
            return std::find(basis.node.begin(), basis.node.begin() + basis.count, node) !=
                   basis.node.begin() + basis.count;
        });
    });
}

template <int D>
std::vector<std::string> NaturalCoordinates<D>::describe_sharing() const {
    std::vector<std::string> lines;
    for (const auto& node : layout_.nodes) {
        if (node.bodies.size() < 2 && !node.is_fixed) continue;
        std::vector<std::string> names;
        if (node.is_fixed) names.emplace_back("ground");
        for (const int b : node.bodies) names.push_back(m_.bodies[b].name);
        lines.push_back(fmt::format("shared {} of {}", node.is_point ? "point" : "vector", fmt::join(names, ", ")));
    }
    return lines;
}

// ---------------------------------------------------------------- inertia

template <int D>
void NaturalCoordinates<D>::add_mass_blocks() {
    for (std::size_t b = 0; b < m_.bodies.size(); ++b) {
        const MechanismBody<D>& body = m_.bodies[b];
        const NaturalBasis<D>& basis = layout_.basis[b];
        const int index = static_cast<int>(b);
        // Coefficients are affine in the place x of a mass element: value at the centre of mass, slope along the
        // axes.
        const Coefficients centre = coefficients(index, true, Vec<D>::Zero());
        std::array<Coefficients, D> slope;
        for (int k = 0; k < D; ++k) slope[k] = coefficients(index, false, Vec<D>::Unit(k));
        for (int i = 0; i < basis.count; ++i) {
            const int column_i = node_column_[basis.node[i]];
            if (column_i < 0) continue;
            weight_terms_.push_back({column_i, body.mass * centre.c[i], body.mass * centre.s[i]});
            for (int j = 0; j <= i; ++j) {
                const int column_j = node_column_[basis.node[j]];
                if (column_j < 0) continue;
                double c = body.mass * (centre.c[i] * centre.c[j] + centre.s[i] * centre.s[j]);
                double s = body.mass * (centre.c[i] * centre.s[j] - centre.s[i] * centre.c[j]);
                if constexpr (D == 2) {
                    // Moving along y turns the coefficient by a right angle, so x and y together give |slope|^2 J.
                    const double inertia = body.inertia(0, 0);
                    c += inertia * (slope[0].c[i] * slope[0].c[j] + slope[0].s[i] * slope[0].s[j]);
                    s += inertia * (slope[0].c[i] * slope[0].s[j] - slope[0].s[i] * slope[0].c[j]);
                } else {
                    const Mat3 second = 0.5 * body.inertia.trace() * Mat3::Identity() - body.inertia;
                    for (int k = 0; k < 3; ++k)
                        for (int l = 0; l < 3; ++l) c += slope[k].c[i] * second(k, l) * slope[l].c[j];
                }
                mass_blocks_.push_back({column_i, column_j, c, s});
            }
        }
    }
}

template <int D>
void NaturalCoordinates<D>::add_mass_pattern(SymmetricPatternBuilder& builder) const {
    for (const MassBlock& block : mass_blocks_)
        for (int i = 0; i < D; ++i) {
            builder.add(block.column_i + i, block.column_j + i);
            if (D == 2 && block.column_i != block.column_j) builder.add(block.column_i + i, block.column_j + 1 - i);
        }
}

template <int D>
std::vector<int> NaturalCoordinates<D>::make_mass_places(const SymmetricPattern& pattern) const {
    std::vector<int> places;
    for (const MassBlock& block : mass_blocks_) {
        for (int i = 0; i < D; ++i) places.push_back(pattern.find(block.column_i + i, block.column_j + i));
        if (D == 2 && block.column_i != block.column_j)
            for (int i = 0; i < 2; ++i) places.push_back(pattern.find(block.column_i + i, block.column_j + 1 - i));
    }
    return places;
}

template <int D>
void NaturalCoordinates<D>::assemble_mass(const VecX& /*q*/, const std::vector<int>& places,
                                          std::vector<double>& values) const {
    const int* place = places.data();
    for (const MassBlock& block : mass_blocks_) {
        for (int i = 0; i < D; ++i) values[*place++] += block.c;
        if (D == 2 && block.column_i != block.column_j) {  // block c I + s J between the two nodes
            values[*place++] -= block.s;
            values[*place++] += block.s;
        }
    }
}

template <int D>
void NaturalCoordinates<D>::add_weight(const Vec<D>& g, VecX& force) const {
    for (const WeightTerm& term : weight_terms_) {
        force.template segment<D>(term.column) += term.c * g;
        if constexpr (D == 2) force.template segment<D>(term.column) -= term.s * perp(g);
    }
}

// ---------------------------------------------------------------- bodies

namespace {

// Angular velocity (or, with accelerations, its bilinear counterpart) from axes and their rates.
Vec3 half_cross_sum(const Mat3& axes, const Mat3& rates) {
    Vec3 sum = Vec3::Zero();
    for (int k = 0; k < 3; ++k) sum += axes.col(k).cross(rates.col(k));
    return 0.5 * sum;
}

}  // namespace

template <int D>
void NaturalCoordinates<D>::export_states(const VecX& q, const VecX& v, BodyStates<D>& states) const {
    states.resize(m_.bodies.size());
    for (std::size_t b = 0; b < m_.bodies.size(); ++b) export_state(static_cast<int>(b), q, v, states[b]);
}

template <int D>
void NaturalCoordinates<D>::export_state(int b, const VecX& q, const VecX& v, BodyState<D>& state) const {
    const MechanismBody<D>& body = m_.bodies[b];
    state.position = feature_value(body.frame.point, q);
    state.velocity = feature_rate(body.frame.point, v);
    const NaturalBasis<D>& basis = layout_.basis[b];
    if (basis.kind == BasisKind::point) {
        state.axes = body.reference.axes;
        state.angular_velocity.setZero();
        return;
    }
    Mat<D> axes;
    Mat<D> rates;
    for (int k = 0; k < D; ++k) {
        axes.col(k) = feature_value(body.frame.axis[k], q);
        rates.col(k) = feature_rate(body.frame.axis[k], v);
    }
    if constexpr (D == 2) {
        const Vec2 x = axes.col(0).normalized();
        state.axes << x, perp(x);
        state.angular_velocity[0] = perp(x).dot(rates.col(0)) / axes.col(0).norm();
    } else if (basis.kind == BasisKind::bar) {
        // The spin about the bar is nobody's business: the shortest turn from the reference attitude.
        const Vec3 local = (basis.local[1] - basis.local[0]).normalized();
        const Vec3 now = axes * local;
        const Vec3 rate = rates * local;
        const Vec3 then = body.reference.axes * local;
        state.axes = shortest_rotation(then, now.normalized()) * body.reference.axes;
        state.angular_velocity = now.cross(rate) / now.squaredNorm();
    } else {
        state.axes = nearest_rotation(axes);
        state.angular_velocity = half_cross_sum(state.axes, rates);
    }
}

template <int D>
void NaturalCoordinates<D>::export_twist_rates(const VecX& q, const VecX& v, const VecX& a,
                                               std::vector<TwistVec<D>>& rates) const {
    rates.resize(m_.bodies.size());
    for (std::size_t b = 0; b < m_.bodies.size(); ++b) export_twist_rate(static_cast<int>(b), q, v, a, rates[b]);
}

template <int D>
void NaturalCoordinates<D>::export_twist_rate(int b, const VecX& q, const VecX& /*v*/, const VecX& a,
                                              TwistVec<D>& rate) const {
    const MechanismBody<D>& body = m_.bodies[b];
    rate.setZero();
    rate.template head<D>() = feature_rate(body.frame.point, a);
    const NaturalBasis<D>& basis = layout_.basis[b];
    if (basis.kind == BasisKind::point) return;
    Mat<D> axes;
    Mat<D> accelerations;
    for (int k = 0; k < D; ++k) {
        axes.col(k) = feature_value(body.frame.axis[k], q);
        accelerations.col(k) = feature_rate(body.frame.axis[k], a);
    }
    // e x eddot = e x (alpha x e) + (omega . e) e x omega-terms that cancel in the sum over the axes.
    if constexpr (D == 2) {
        rate[2] = perp(axes.col(0)).dot(accelerations.col(0)) / axes.col(0).squaredNorm();
    } else if (basis.kind == BasisKind::bar) {
        const Vec3 local = (basis.local[1] - basis.local[0]).normalized();
        const Vec3 now = axes * local;
        const Vec3 acceleration = accelerations * local;
        rate.template tail<3>() = now.cross(acceleration) / now.squaredNorm();
    } else {
        rate.template tail<3>() = half_cross_sum(axes, accelerations);
    }
}

// Calls use(column, body, arm, is_point) for every node that has coordinates, with its place on its first body.
template <int D>
template <class Use>
void NaturalCoordinates<D>::for_nodes(const BodyStates<D>& states, const Use& use) const {
    for (std::size_t n = 0; n < layout_.nodes.size(); ++n) {
        const int column = node_column_[n];
        if (column < 0) continue;
        const int body = layout_.nodes[n].bodies.front();
        const NaturalBasis<D>& basis = layout_.basis[body];
        const auto place = std::find(basis.node.begin(), basis.node.end(), static_cast<int>(n)) - basis.node.begin();
        use(column, body, Vec<D>(states[body].axes * basis.local[place]), layout_.nodes[n].is_point);
    }
}

template <int D>
void NaturalCoordinates<D>::import_states(const BodyStates<D>& states, VecX& q, VecX& v) const {
    q.resize(size_);
    v.resize(size_);
    for_nodes(states, [&](int column, int body, const Vec<D>& arm, bool is_point) {
        const BodyState<D>& state = states[body];
        const Vec<D> rate = cross<D>(state.angular_velocity, arm);
        q.template segment<D>(column) = is_point ? Vec<D>(state.position + arm) : arm;
        v.template segment<D>(column) = is_point ? Vec<D>(state.velocity + rate) : rate;
    });
}

template <int D>
void NaturalCoordinates<D>::import_twist_rates(const BodyStates<D>& states, const std::vector<TwistVec<D>>& rates,
                                               const VecX& /*q*/, const VecX& /*v*/, VecX& a) const {
    a.resize(size_);
    for_nodes(states, [&](int column, int body, const Vec<D>& arm, bool is_point) {
        const AngularVec<D>& omega = states[body].angular_velocity;
        const AngularVec<D> alpha = rates[body].template tail<angular_size<D>>();
        const Vec<D> turning = cross<D>(alpha, arm) + cross<D>(omega, cross<D>(omega, arm));
        a.template segment<D>(column) = is_point ? Vec<D>(rates[body].template head<D>() + turning) : turning;
    });
}

template class NaturalCoordinates<2>;
template class NaturalCoordinates<3>;

}  // namespace limber
