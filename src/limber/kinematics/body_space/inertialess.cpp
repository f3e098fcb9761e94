#include "limber/kinematics/body_space/inertialess.hpp"

#include <Eigen/QR>
#include <algorithm>
#include <cmath>
#include <numeric>

#include "limber/kinematics/body_space/assembly.hpp"
#include "limber/kinematics/body_space/nudge.hpp"
#include "limber/math/dense_factors.hpp"
#include "limber/math/interruption.hpp"

namespace limber {
namespace {

constexpr double no_body_inertia = 1e-14;  // over the largest moment of inertia of a body
constexpr double independent = 1e-9;       // of rows and vectors of unit size

/// Orthonormal basis of the vectors that all rows of a matrix are orthogonal to.
MatX null_space(const MatX& rows) {
    const Eigen::Index n = rows.cols();
    if (n == 0 || rows.rows() == 0) return MatX::Identity(n, n);
    const Eigen::ColPivHouseholderQR<MatX> qr(rows.transpose());
    const double largest = std::abs(qr.matrixR()(0, 0));
    Eigen::Index rank = 0;
    const Eigen::Index most = std::min(rows.rows(), n);
    while (rank < most && std::abs(qr.matrixR()(rank, rank)) > independent * std::max(1.0, largest)) ++rank;
    MatX q = MatX::Identity(n, n);
    q.applyOnTheLeft(qr.householderQ());
    return q.rightCols(n - rank);
}

template <int D>
MatX turns_without_inertia(const MechanismBody<D>& body, const BodyState<D>& state) {
    if constexpr (D == 2) {
        return body.inertia(0, 0) > 0 ? MatX(1, 0) : MatX(MatX::Identity(1, 1));
    } else {
        const SymmetricEigen3 eigen = compute_symmetric_eigen(body.inertia);
        int count = 0;
        while (count < 3 && !(eigen.values[count] > no_body_inertia * eigen.values[2])) ++count;
        return state.axes * eigen.vectors.leftCols(count);
    }
}

/// Row-wise matrix of the velocity at an arm by a turn.
template <int D>
Eigen::Matrix<double, D, angular_size<D>> arm_matrix(const Vec<D>& arm) {
    Eigen::Matrix<double, D, angular_size<D>> m;
    for (int k = 0; k < angular_size<D>; ++k) m.col(k) = cross<D>(AngularVec<D>(AngularVec<D>::Unit(k)), arm);
    return m;
}

template <int D>
bool is_light(const MechanismBody<D>& body) {
    return !(body.mass > 0) || turns_without_inertia<D>(body, body.reference).cols() > 0;
}

/// None if they are not needed.
template <int D>
ConstraintSet<D> rows_that_hold(const Mechanism<D>& m, const std::vector<double>& memory) {
    if (std::none_of(m.bodies.begin(), m.bodies.end(), is_light<D>)) return {};
    std::vector<int> rows;
    for (std::size_t r = 0; r < m.constraints.rows.size(); ++r)
        if (m.constraints.rows[r].is_on(memory)) rows.push_back(static_cast<int>(r));
    return m.constraints.with_rows(rows);
}

}  // namespace

template <int D>
InertialessMotions<D>::InertialessMotions(const Mechanism<D>& mechanism, const BodyStates<D>& states,
                                          const std::vector<double>& memory, double t)
    : m_(mechanism), rows_(mechanism, rows_that_hold(mechanism, memory)) {
    find_light_bodies(states);
    if (light_.empty()) return;
    slot_force_.assign(m_.forces.slot_feature.size(), Vec<D>::Zero());
    force_ties_ = find_force_ties(m_);
    find_clusters();
    const MatX basis = find_basis(states, memory, t);
    count_ = static_cast<int>(basis.cols());
    if (count_ == 0) return;
    BodyStates<D> near = states;
    std::vector<double> near_memory = memory;
    nudge(near, m_.length_scale);
    if (assemble(m_, near, near_memory, t, false).converged && find_basis(near, near_memory, t).cols() < basis.cols()) {
        count_ = 0;
        return;
    }
    for (const LightBody& light : light_)
        if (basis.middleRows(light.body * T, T).norm() > independent) bodies_.push_back(light.body);
}

// ---------------------------------------------------------------- which motions

template <int D>
void InertialessMotions<D>::find_light_bodies(const BodyStates<D>& states) {
    int column = 0;
    std::vector<bool> may_touch(m_.bodies.size(), false);
    for (const CollisionShape& shape : m_.shapes)
        if (shape.body >= 0 && !m_.contact_rules.empty()) may_touch[shape.body] = true;
    for (std::size_t b = 0; b < m_.bodies.size(); ++b) {
        // Contacts may turn a point mass, but only while they last.
        if (m_.bodies[b].mass > 0 && may_touch[b]) continue;
        const int turns = static_cast<int>(turns_without_inertia(m_.bodies[b], states[b]).cols());
        const int count = turns + (m_.bodies[b].mass > 0 ? 0 : D);
        if (count == 0) continue;
        light_.push_back({static_cast<int>(b), column, count, 0});
        column += count;
    }
}

template <int D>
void InertialessMotions<D>::find_clusters() {
    std::vector<int> place(m_.bodies.size(), -1);
    for (std::size_t i = 0; i < light_.size(); ++i) place[light_[i].body] = static_cast<int>(i);
    std::vector<int> root(light_.size());
    std::iota(root.begin(), root.end(), 0);
    const auto find = [&](int i) {
        while (root[i] != i) i = root[i] = root[root[i]];
        return i;
    };
    point_features_.resize(m_.bodies.size());
    element_count_.assign(m_.bodies.size(), 0);
    std::vector<int> last_element(m_.bodies.size(), -1);
    for (int r = 0; r < rows_.row_count(); ++r) {
        int first = -1;
        const auto [begin, end] = rows_.entries(r);
        for (int k = begin; k < end; ++k) {
            const int body = rows_.entry_body(k);
            if (place[body] < 0) continue;
            if (last_element[body] != rows_.set.rows[r].element) ++element_count_[body];
            last_element[body] = rows_.set.rows[r].element;
            if (first >= 0) root[find(place[body])] = find(first);
            first = place[body];
        }
        const Row& row = rows_.set.rows[r];
        for (int s = row.first_slot; s < row.first_slot + row.slot_count; ++s) {
            const int f = rows_.set.slot_feature[s];
            if (m_.features[f].body >= 0 && m_.features[f].is_point) point_features_[m_.features[f].body].push_back(f);
        }
    }
    std::vector<int> number(light_.size(), -1);
    for (std::size_t i = 0; i < light_.size(); ++i) {
        element_count_[light_[i].body] += force_ties_[light_[i].body].element_count;
        int& own = number[find(static_cast<int>(i))];
        if (own < 0) own = clusters_++;
        light_[i].cluster = own;
    }
}

// Columns of a body's own twist, lengths and turns times the typical length.
template <int D>
MatX InertialessMotions<D>::light_columns(const LightBody& light, const BodyStates<D>& states) const {
    MatX columns = MatX::Zero(T, light.column_count);
    int next = 0;
    if (!(m_.bodies[light.body].mass > 0)) {
        columns.topLeftCorner(D, D).setIdentity();
        next = D;
    }
    columns.bottomRightCorner(A, light.column_count - next) =
        turns_without_inertia(m_.bodies[light.body], states[light.body]);
    return columns;
}

template <int D>
MatX InertialessMotions<D>::find_unseen(const LightBody& light, const BodyStates<D>& states,
                                        const std::vector<int>& rows) const {
    const int body = light.body;
    const MatX none(T, 0);
    const bool is_massless = !(m_.bodies[body].mass > 0);
    if (force_ties_[body].by_all || (is_massless && element_count_[body] < 2)) return none;
    const MatX columns = light_columns(light, states);
    const BodyState<D>& state = states[body];
    std::vector<Eigen::Matrix<double, D, T>> conditions;
    const auto hold = [&](bool is_point, const Vec<D>& arm) {
        Eigen::Matrix<double, D, T> condition = Eigen::Matrix<double, D, T>::Zero();
        if (is_point) condition.template leftCols<D>().setIdentity();
        condition.template rightCols<A>() = arm_matrix<D>(arm) / (is_point ? m_.length_scale : 1.0);
        conditions.push_back(condition);
    };
    for (const int f : point_features_[body]) hold(true, state.axes * m_.features[f].local);
    for (const Vec<D>& p : force_ties_[body].points) hold(true, state.axes * p);
    for (const Vec<D>& d : force_ties_[body].directions) hold(false, state.axes * d);
    std::vector<TwistVec<D>> own_rows;
    for (const int r : rows) {
        const auto [begin, end] = rows_.entries(r);
        for (int k = begin; k < end; ++k)
            if (rows_.entry_body(k) == body) own_rows.push_back(rows_.entry_wrench(k));
    }
    if (conditions.empty() && is_massless) return none;
    MatX all(static_cast<Eigen::Index>(own_rows.size() + D * conditions.size()), T);
    Eigen::Index next = 0;
    for (const auto& row : own_rows) all.row(next++) = row.transpose();
    for (const auto& condition : conditions) {
        all.middleRows(next, D) = condition;
        next += D;
    }
    return columns * null_space(all * columns);
}

template <int D>
MatX InertialessMotions<D>::find_basis(const BodyStates<D>& states, const std::vector<double>& memory, double t) {
    rows_.update(states, memory, t);
    rows_.normalise();
    // What belongs to each cluster: its bodies and the rows that act on them.
    std::vector<int> place(m_.bodies.size(), -1);
    std::vector<std::vector<int>> members(clusters_), rows(clusters_);
    for (std::size_t i = 0; i < light_.size(); ++i) {
        place[light_[i].body] = static_cast<int>(i);
        members[light_[i].cluster].push_back(static_cast<int>(i));
    }
    for (int r = 0; r < rows_.row_count(); ++r) {
        const auto [begin, end] = rows_.entries(r);
        for (int k = begin; k < end; ++k) {
            const int i = place[rows_.entry_body(k)];
            if (i < 0) continue;
            rows[light_[i].cluster].push_back(r);
            break;
        }
    }
    std::vector<MatX> parts(clusters_);
    Eigen::Index columns = 0;
    for (int c = 0; c < clusters_; ++c) {
        check_interruption();
        parts[c] = find_cluster_basis(members[c], rows[c], place, states);
        columns += parts[c].cols();
    }
    MatX basis = MatX::Zero(rows_.twist_count(), columns);
    columns = 0;
    for (int c = 0; c < clusters_; ++c) {
        if (parts[c].cols() == 0) continue;
        for (std::size_t k = 0; k < members[c].size(); ++k)
            basis.block(light_[members[c][k]].body * T, columns, T, parts[c].cols()) =
                parts[c].middleRows(static_cast<Eigen::Index>(k) * T, T);
        columns += parts[c].cols();
    }
    return basis;
}

// Twists of the cluster's bodies, one below the other.
template <int D>
MatX InertialessMotions<D>::find_cluster_basis(const std::vector<int>& members, const std::vector<int>& rows,
                                               const std::vector<int>& place, const BodyStates<D>& states) const {
    std::vector<int> first(members.size() + 1, 0);
    for (std::size_t k = 0; k < members.size(); ++k) first[k + 1] = first[k] + light_[members[k]].column_count;
    const int count = first.back();
    MatX z = MatX::Zero(static_cast<Eigen::Index>(members.size()) * T, count);
    // Rows of the joints, and those that leave out what nothing sees.
    std::vector<VecX> conditions(rows.size(), VecX::Zero(count));
    for (std::size_t k = 0; k < members.size(); ++k) {
        const LightBody& light = light_[members[k]];
        const MatX own = light_columns(light, states);
        z.block(static_cast<Eigen::Index>(k) * T, first[k], T, light.column_count) = own;
        const MatX idle = find_unseen(light, states, rows);
        for (Eigen::Index i = 0; i < idle.cols(); ++i) {
            conditions.emplace_back(VecX::Zero(count));
            conditions.back().segment(first[k], light.column_count) = own.transpose() * idle.col(i);
        }
    }
    for (std::size_t r = 0; r < rows.size(); ++r) {
        const auto [begin, end] = rows_.entries(rows[r]);
        for (int k = begin; k < end; ++k) {
            const int i = place[rows_.entry_body(k)];
            if (i < 0) continue;
            const auto at = std::lower_bound(members.begin(), members.end(), i) - members.begin();
            const int columns = light_[i].column_count;
            conditions[r].segment(first[at], columns) +=
                z.block(at * T, first[at], T, columns).transpose() * rows_.entry_wrench(k);
        }
    }
    MatX matrix(static_cast<Eigen::Index>(conditions.size()), count);
    for (std::size_t k = 0; k < conditions.size(); ++k)
        matrix.row(static_cast<Eigen::Index>(k)) = conditions[k].transpose();
    return z * null_space(matrix);
}

template <int D>
std::string InertialessMotions<D>::name_of(const VecX& motion) const {
    int best = light_.front().body;
    for (const LightBody& light : light_)
        if (motion.segment<T>(light.body * T).norm() > 1.0001 * motion.segment<T>(best * T).norm()) best = light.body;
    return m_.bodies[best].name;
}

template class InertialessMotions<2>;
template class InertialessMotions<3>;

}  // namespace limber
