#include "limber/kinematics/reference_point/reference_point_coordinates.hpp"

#include "limber/math/rotation.hpp"

namespace limber {
namespace {

using Vec4 = Vec<4>;
using Mat34 = Eigen::Matrix<double, 3, 4>;

Vec3 turned(const Vec4& p, const Vec3& s) {
    const double e0 = p[0];
    const Vec3 e = p.tail<3>();
    return (e0 * e0 - e.squaredNorm()) * s + 2 * e.dot(s) * e + 2 * e0 * e.cross(s);
}

Mat34 b_matrix(const Vec4& p, const Vec3& s) {
    const double e0 = p[0];
    const Vec3 e = p.tail<3>();
    Mat34 b;
    b.col(0) = 2 * (e0 * s + e.cross(s));
    b.rightCols<3>() = 2 * (e * s.transpose() - s * e.transpose() + e.dot(s) * Mat3::Identity() - e0 * skew(s));
    return b;
}

Mat34 g_matrix(const Vec4& p) {
    Mat34 g;
    g.col(0) = -p.tail<3>();
    g.rightCols<3>() = p[0] * Mat3::Identity() - skew(p.tail<3>());
    return g;
}

// Y(y) p = G(p)^T y
Mat<4> y_matrix(const Vec3& y) {
    Mat<4> m;
    m << 0, -y.transpose(), y, -skew(y);
    return m;
}

// Second derivative of g . A(p) s by p: constant.
Mat<4> curvature(const Vec3& g, const Vec3& s) {
    Mat<4> h;
    h(0, 0) = 2 * g.dot(s);
    h.block<3, 1>(1, 0) = 2 * s.cross(g);
    h.block<1, 3>(0, 1) = h.block<3, 1>(1, 0).transpose();
    h.bottomRightCorner<3, 3>() = 2 * (s * g.transpose() + g * s.transpose() - g.dot(s) * Mat3::Identity());
    return h;
}

// Place of the turning coordinates of a body; in the plane the single angle.
template <int D>
Vec<ReferencePointCoordinates<D>::turning_columns> turning(const VecX& x, int body) {
    return x.template segment<ReferencePointCoordinates<D>::turning_columns>(
        ReferencePointCoordinates<D>::turning_column(body));
}

// A(q) s, B(q, s) and B(x, s) y for both dimensions.
Vec2 rotate(const Vec<1>& angle, const Vec2& s) {
    return rotation2(angle[0]) * s;
}
Vec3 rotate(const Vec4& p, const Vec3& s) {
    return turned(p, s);
}
Vec2 turn_jacobian(const Vec<1>& angle, const Vec2& s) {
    return perp(rotation2(angle[0]) * s);
}
Mat34 turn_jacobian(const Vec4& p, const Vec3& s) {
    return b_matrix(p, s);
}

}  // namespace

template <int D>
ReferencePointCoordinates<D>::ReferencePointCoordinates(const Mechanism<D>& mechanism) : m_(mechanism) {
    for (const Feature<D>& f : m_.features) {
        if (f.body >= 0) {
            const int start = f.body * columns_per_body;
            for (int k = f.is_point ? 0 : D; k < columns_per_body; ++k) column_.push_back(start + k);
        }
        column_start_.push_back(static_cast<int>(column_.size()));
    }
}

template <int D>
double ReferencePointCoordinates<D>::inertia_floor(int column) const {
    // Light bodies count as what they are: beside what a typical one would need, their own inertia is lost.
    const MechanismBody<D>& body = m_.bodies[column / columns_per_body];
    const double mass = 1e-3 * (body.mass > 0 ? body.mass : m_.mass_scale);
    if (column % columns_per_body < D) return mass;
    const double own = body.inertia.trace() / angular_size<D>;
    return (D == 2 ? 1 : 4) * (own > 0 ? 0.3 * own : mass * m_.length_scale * m_.length_scale);
}

template <int D>
void ReferencePointCoordinates<D>::update_positions(const VecX& q, std::span<const int> list,
                                                    FeatureState<D>& features) const {
    for (const int i : list) {
        const Feature<D>& f = m_.features[i];
        if (f.body < 0) {
            features.value[i] = f.local;
            continue;
        }
        features.value[i] = rotate(turning<D>(q, f.body), f.local);
        if (f.is_point) features.value[i] += q.template segment<D>(f.body * columns_per_body);
    }
}

template <int D>
void ReferencePointCoordinates<D>::update_velocities(const VecX& q, const VecX& v, std::span<const int> list,
                                                     FeatureState<D>& features) const {
    for (const int i : list) {
        const Feature<D>& f = m_.features[i];
        if (f.body < 0) continue;
        const auto p = turning<D>(q, f.body);
        const auto p_rate = turning<D>(v, f.body);
        features.rate[i] = turn_jacobian(p, f.local) * p_rate;
        if constexpr (D == 2) {
            features.bias[i] = -p_rate[0] * p_rate[0] * rotate(p, f.local);
        } else {
            features.bias[i] = b_matrix(p_rate, f.local) * p_rate;
        }
        if (f.is_point) features.rate[i] += v.template segment<D>(f.body * columns_per_body);
    }
}

template <int D>
void ReferencePointCoordinates<D>::pull_back(int feature, const Vec<D>& g, const VecX& q, const int* map,
                                             double* out) const {
    const Feature<D>& f = m_.features[feature];
    if (f.body < 0) return;
    int k = 0;
    if (f.is_point)
        for (; k < D; ++k) out[map[k]] += g[k];
    const Vec<turning_columns> turn = turn_jacobian(turning<D>(q, f.body), f.local).transpose() * g;
    for (int i = 0; i < turning_columns; ++i) out[map[k + i]] += turn[i];
}

template <int D>
void ReferencePointCoordinates<D>::compute_jacobian(int feature, const VecX& q, FeatureJacobian& j) const {
    const Feature<D>& f = m_.features[feature];
    const int offset = f.is_point ? D : 0;
    if (f.body < 0) {
        j.resize(D, 0);
        return;
    }
    j.resize(D, offset + turning_columns);
    if (f.is_point) j.template leftCols<D>().setIdentity();
    j.template rightCols<turning_columns>() = turn_jacobian(turning<D>(q, f.body), f.local);
}

template <int D>
void ReferencePointCoordinates<D>::compute_rate_jacobian(int feature, const VecX& q, const VecX& v,
                                                         FeatureJacobian& j) const {
    const Feature<D>& f = m_.features[feature];
    const int offset = f.is_point ? D : 0;
    if (f.body < 0) {
        j.resize(D, 0);
        return;
    }
    j.setZero(D, offset + turning_columns);
    const auto p_rate = turning<D>(v, f.body);
    if constexpr (D == 2) {
        j.template rightCols<1>() = -p_rate[0] * rotate(turning<D>(q, f.body), f.local);
    } else {
        // B(p, s) p' = B(p', s) p
        j.template rightCols<4>() = b_matrix(p_rate, f.local);
    }
}

template <int D>
typename ReferencePointCoordinates<D>::Curvature ReferencePointCoordinates<D>::compute_curvature(int feature,
                                                                                                 const Vec<D>& g,
                                                                                                 const VecX& q) const {
    const Feature<D>& f = m_.features[feature];
    if constexpr (D == 2) {
        return Curvature(-g.dot(rotate(turning<D>(q, f.body), f.local)));
    } else {
        static_cast<void>(q);
        return curvature(g, f.local);
    }
}

// ---------------------------------------------------------------- inertia

template <int D>
void ReferencePointCoordinates<D>::add_mass_pattern(SymmetricPatternBuilder& builder) const {
    for (std::size_t b = 0; b < m_.bodies.size(); ++b) {
        const int column = turning_column(static_cast<int>(b));
        for (int i = 0; i < turning_columns; ++i)
            for (int j = 0; j <= i; ++j) builder.add(column + i, column + j);
    }
}

template <int D>
std::vector<int> ReferencePointCoordinates<D>::make_mass_places(const SymmetricPattern& pattern) const {
    std::vector<int> places;
    for (std::size_t b = 0; b < m_.bodies.size(); ++b) {
        const int first = static_cast<int>(b) * columns_per_body;
        for (int i = 0; i < D; ++i) places.push_back(pattern.find(first + i, first + i));
        for (int i = 0; i < turning_columns; ++i)
            for (int j = 0; j <= i; ++j) places.push_back(pattern.find(first + D + i, first + D + j));
    }
    return places;
}

template <int D>
void ReferencePointCoordinates<D>::assemble_mass(const VecX& q, const std::vector<int>& places,
                                                 std::vector<double>& values) const {
    const int* place = places.data();
    for (std::size_t b = 0; b < m_.bodies.size(); ++b) {
        for (int i = 0; i < D; ++i) values[*place++] += m_.bodies[b].mass;
        Curvature block;
        if constexpr (D == 2) {
            block = m_.bodies[b].inertia;
        } else {
            const Mat34 g = g_matrix(turning<D>(q, static_cast<int>(b)));
            block = 4 * g.transpose() * m_.bodies[b].inertia * g;
        }
        for (int i = 0; i < turning_columns; ++i)
            for (int j = 0; j <= i; ++j) values[*place++] += block(i, j);
    }
    static_cast<void>(q);
}

template <int D>
void ReferencePointCoordinates<D>::add_weight(const Vec<D>& g, VecX& force) const {
    for (std::size_t b = 0; b < m_.bodies.size(); ++b)
        force.template segment<D>(static_cast<Eigen::Index>(b) * columns_per_body) += m_.bodies[b].mass * g;
}

template <int D>
void ReferencePointCoordinates<D>::subtract_velocity_inertia(const VecX& q, const VecX& v, VecX& force) const {
    if constexpr (D == 3) {
        for (std::size_t i = 0; i < m_.bodies.size(); ++i) {
            const int b = static_cast<int>(i);
            const Vec4 p_rate = turning<D>(v, b);
            const Vec3 momentum = m_.bodies[b].inertia * (g_matrix(turning<D>(q, b)) * p_rate);
            force.template segment<4>(turning_column(b)) -= 8 * g_matrix(p_rate).transpose() * momentum;
        }
    }
}

// F = 4 G(p)^T J G(p) a + 8 G(v)^T J G(p) v;  G(dp) x = -G(x) dp,  G(dp)^T y = Y(y) dp.
template <int D>
void ReferencePointCoordinates<D>::compute_inertia_tangent(int body, const VecX& q, const VecX& v, const VecX& a,
                                                           Curvature& by_q, Curvature& by_v) const {
    by_q.setZero();
    by_v.setZero();
    if constexpr (D == 3) {
        const Mat3& inertia = m_.bodies[body].inertia;
        const Vec4 p_rate = turning<D>(v, body);
        const Mat34 g = g_matrix(turning<D>(q, body));
        const Mat34 g_rate = g_matrix(p_rate);
        const Mat34 g_acc = g_matrix(turning<D>(a, body));
        const Mat<4> k = 4 * y_matrix(inertia * (g * turning<D>(a, body))) - 4 * g.transpose() * inertia * g_acc -
                         8 * g_rate.transpose() * inertia * g_rate;
        const Mat<4> c = 8 * (y_matrix(inertia * (g * p_rate)) + g_rate.transpose() * inertia * g);
        by_q = 0.5 * (k + k.transpose());
        by_v = 0.5 * (c + c.transpose());
    }
}

// ---------------------------------------------------------------- bodies

template <int D>
void ReferencePointCoordinates<D>::export_states(const VecX& q, const VecX& v, BodyStates<D>& states) const {
    states.resize(m_.bodies.size());
    for (std::size_t b = 0; b < m_.bodies.size(); ++b) export_state(static_cast<int>(b), q, v, states[b]);
}

template <int D>
void ReferencePointCoordinates<D>::export_state(int b, const VecX& q, const VecX& v, BodyState<D>& state) const {
    state.position = q.template segment<D>(b * columns_per_body);
    state.velocity = v.template segment<D>(b * columns_per_body);
    if constexpr (D == 2) {
        state.axes = rotation2(q[turning_column(b)]);
        state.angular_velocity[0] = v[turning_column(b)];
    } else {
        const Vec4 p = turning<D>(q, b);
        const Vec4 unit = p.normalized();
        state.axes = Quat(unit[0], unit[1], unit[2], unit[3]).toRotationMatrix();
        state.angular_velocity = state.axes * (2 * g_matrix(p) * turning<D>(v, b)) / p.squaredNorm();
    }
}

template <int D>
void ReferencePointCoordinates<D>::export_twist_rates(const VecX& q, const VecX& v, const VecX& a,
                                                      std::vector<TwistVec<D>>& rates) const {
    rates.resize(m_.bodies.size());
    for (std::size_t b = 0; b < m_.bodies.size(); ++b) export_twist_rate(static_cast<int>(b), q, v, a, rates[b]);
}

template <int D>
void ReferencePointCoordinates<D>::export_twist_rate(int b, const VecX& q, const VecX& /*v*/, const VecX& a,
                                                     TwistVec<D>& rate) const {
    rate.template head<D>() = a.template segment<D>(b * columns_per_body);
    if constexpr (D == 2) {
        rate[2] = a[turning_column(b)];
    } else {
        // omega_body = 2 G p', so its rate in body axes is 2 G p'' (G(p') p' = 0), the same vector in world axes.
        const Vec4 p = turning<D>(q, b);
        const Vec4 unit = p.normalized();
        const Mat3 axes = Quat(unit[0], unit[1], unit[2], unit[3]).toRotationMatrix();
        rate.template tail<3>() = axes * (2 * g_matrix(p) * turning<D>(a, b)) / p.squaredNorm();
    }
}

template <int D>
void ReferencePointCoordinates<D>::import_states(const BodyStates<D>& states, VecX& q, VecX& v) const {
    q.resize(size());
    v.resize(size());
    for (std::size_t i = 0; i < m_.bodies.size(); ++i) {
        const int b = static_cast<int>(i);
        const BodyState<D>& state = states[i];
        q.template segment<D>(b * columns_per_body) = state.position;
        v.template segment<D>(b * columns_per_body) = state.velocity;
        if constexpr (D == 2) {
            q[turning_column(b)] = std::atan2(state.axes(1, 0), state.axes(0, 0));
            v[turning_column(b)] = state.angular_velocity[0];
        } else {
            const Quat quaternion(state.axes);
            const Vec4 p(quaternion.w(), quaternion.x(), quaternion.y(), quaternion.z());
            q.template segment<4>(turning_column(b)) = p;
            v.template segment<4>(turning_column(b)) =
                0.5 * g_matrix(p).transpose() * (state.axes.transpose() * state.angular_velocity);
        }
    }
}

// p'' = 1/2 G(p)^T omega_body' - 1/4 |omega|^2 p: along p what keeps its length, across it what turns the body.
template <int D>
void ReferencePointCoordinates<D>::import_twist_rates(const BodyStates<D>& states,
                                                      const std::vector<TwistVec<D>>& rates, const VecX& q,
                                                      const VecX& /*v*/, VecX& a) const {
    a.resize(size());
    for (std::size_t i = 0; i < m_.bodies.size(); ++i) {
        const int b = static_cast<int>(i);
        a.template segment<D>(b * columns_per_body) = rates[i].template head<D>();
        if constexpr (D == 2) {
            a[turning_column(b)] = rates[i][2];
        } else {
            const Vec4 p = turning<D>(q, b);
            const Vec3 in_body = states[i].axes.transpose() * rates[i].template tail<3>();
            a.template segment<4>(turning_column(b)) =
                0.5 * g_matrix(p).transpose() * in_body - 0.25 * states[i].angular_velocity.squaredNorm() * p;
        }
    }
}

template class ReferencePointCoordinates<2>;
template class ReferencePointCoordinates<3>;

}  // namespace limber
