// Compilation of a relative system: rows, patterns, inertias; import and export of body states.

#include "limber/dynamics/system/relative_system.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "limber/dynamics/system/active_features.hpp"
#include "limber/dynamics/system/relative_scratch.hpp"
#include "limber/kinematics/relative/articulated_inertia.hpp"
#include "limber/math/dense_factors.hpp"

namespace limber {

template <int D>
RelativeSystem<D>::RelativeSystem(const std::shared_ptr<const Mechanism<D>>& mechanism, bool with_matrices)
    : RelativeSystem(mechanism, choose_tree(*mechanism), with_matrices) {}

template <int D>
RelativeSystem<D>::RelativeSystem(const std::shared_ptr<const Mechanism<D>>& mechanism, const RelativeSystem& like)
    : RelativeSystem(mechanism, like.coordinates_.tree(), like.with_matrices_) {}

template <int D>
RelativeSystem<D>::RelativeSystem(const std::shared_ptr<const Mechanism<D>>& mechanism, RelativeTree<D> tree,
                                  bool with_matrices)
    : MechanismSystem<D>(mechanism), coordinates_(*this->mechanism_, std::move(tree)), with_matrices_(with_matrices) {
    const Mechanism<D>& m = *this->mechanism_;
    this->has_constant_mass_ = false;
    this->length_scale_ = m.length_scale;
    this->mass_scale_ = m.mass_scale;
    this->initial_memory_ = m.initial_memory;
    this->coordinate_notes_ = coordinates_.describe();
    gather_rows();
    active_features_ = stepping_features(rows_, *this->mechanism_);
    memory_features_ = counting_features(*this->mechanism_);
    build_patterns();
    find_spin_inertia();
    compute_row_inertia();
}

// Rows in the order: lengths of Euler parameters, holonomic rows of joints outside the forest and of drivers, velocity
// rows.
template <int D>
void RelativeSystem<D>::gather_rows() {
    const Mechanism<D>& m = *this->mechanism_;
    const RelativeTree<D>& tree = coordinates_.tree();
    balls_ = static_cast<int>(tree.ball_columns.size());
    this->euler_parameters_ = tree.ball_columns;
    for (const int column : tree.ball_columns)
        this->row_names_.push_back(
            fmt::format("turn of body '{}'", m.bodies[tree.nodes[tree.node_of_column[column]].body].name));
    rows_.measures = m.constraints.measures;
    rows_.laws = m.constraints.laws;
    rows_.user_rows = m.constraints.user_rows;
    for (const bool holonomic : {true, false}) {
        for (const Row& row : m.constraints.rows) {
            if (row.is_holonomic() != holonomic || tree.is_tree_element[row.element]) continue;
            const auto& element = m.elements[row.element];
            Row copy = row;
            copy.first_term = static_cast<int>(rows_.terms.size());
            copy.first_slot = static_cast<int>(rows_.slot_feature.size());
            const RowTerm* terms = m.constraints.terms.data() + row.first_term;
            const auto is_component = [&](int k) {
                return rows_.measures[terms[k].measure].kind == MeasureKind::component;
            };
            if (holonomic && row.law < 0 && row.term_count == 2 && is_component(0) && is_component(1) &&
                element.body_a >= 0) {
                // Two points that coincide, component by component: along the axes of the first marker instead of the
                // world's, so that common motion is not felt.
                Measure<D> along;
                along.kind = MeasureKind::dot_point;
                along.count = 3;
                int axis = 0;
                rows_.measures[terms[0].measure].axis.maxCoeff(&axis);
                along.feature = {element.a.point, element.b.point, element.a.axis[axis]};
                rows_.terms.push_back({1.0, rows_.add_measure(along)});
                copy.term_count = 1;
                copy.slot_count = 3;
                for (int k = 0; k < 3; ++k) rows_.slot_feature.push_back(along.feature[k]);
            } else {
                rows_.terms.insert(rows_.terms.end(), terms, terms + row.term_count);
                const auto* slots = m.constraints.slot_feature.data() + row.first_slot;
                rows_.slot_feature.insert(rows_.slot_feature.end(), slots, slots + row.slot_count);
            }
            rows_.rows.push_back(copy);
            this->row_names_.push_back(fmt::format("{} '{}'", element_role_name(element.role), element.name));
        }
        if (holonomic) this->holonomic_rows_ = balls_ + static_cast<int>(rows_.rows.size());
    }
}

// Components in world axes notice when both bodies turn together, and classes of users may; all other measures do not.
template <int D>
bool RelativeSystem<D>::is_felt_by_common_motion(const Row& row) const {
    for (int k = row.first_term; k < row.first_term + row.term_count; ++k) {
        const MeasureKind kind = rows_.measures[rows_.terms[k].measure].kind;
        if (kind == MeasureKind::component || kind == MeasureKind::custom) return true;
    }
    if (row.kind == RowKind::user_velocity)
        for (const int input : rows_.user_rows[row.user].inputs)
            if (rows_.measures[input].kind == MeasureKind::component) return true;
    return false;
}

template <int D>
TreeReach RelativeSystem<D>::reach_of(const int* features, int count, bool is_internal) const {
    const RelativeTree<D>& tree = coordinates_.tree();
    TreeReach reach;
    bool with_ground = false;
    for (int s = 0; s < count; ++s) {
        const int body = this->mechanism_->features[features[s]].body;
        if (body < 0) {
            with_ground = true;
            reach.slot_node.push_back(-1);
            continue;
        }
        const int node = tree.node_of_body[body];
        const auto it = std::find(reach.nodes.begin(), reach.nodes.end(), node);
        reach.slot_node.push_back(static_cast<int>(it - reach.nodes.begin()));
        if (it == reach.nodes.end()) reach.nodes.push_back(node);
    }
    if (is_internal && !with_ground && !reach.nodes.empty()) {
        reach.ancestor = reach.nodes.front();
        for (const int node : reach.nodes) reach.ancestor = tree.common_ancestor(reach.ancestor, node);
    }
    const auto walk = [&](int node, const auto& visit) {
        for (; node != reach.ancestor; node = tree.nodes[node].parent)
            for (int k = 0; k < tree.nodes[node].column_count; ++k) visit(tree.nodes[node].first_column + k);
    };
    for (const int node : reach.nodes) walk(node, [&](int column) { reach.columns.push_back(column); });
    std::sort(reach.columns.begin(), reach.columns.end());
    reach.columns.erase(std::unique(reach.columns.begin(), reach.columns.end()), reach.columns.end());
    for (const int node : reach.nodes) {
        std::vector<int> places;
        walk(node, [&](int column) {
            const auto it = std::lower_bound(reach.columns.begin(), reach.columns.end(), column);
            places.push_back(static_cast<int>(it - reach.columns.begin()));
        });
        reach.places.push_back(std::move(places));
    }
    return reach;
}

template <int D>
void RelativeSystem<D>::build_patterns() {
    const Mechanism<D>& m = *this->mechanism_;
    const RelativeTree<D>& tree = coordinates_.tree();
    this->jacobian_pattern_.columns = tree.columns;
    for (const int column : tree.ball_columns)
        this->jacobian_pattern_.append(std::array{column, column + 1, column + 2, column + 3});
    for (const Row& row : rows_.rows) {
        row_reach_.push_back(
            reach_of(rows_.slot_feature.data() + row.first_slot, row.slot_count, !is_felt_by_common_motion(row)));
        this->jacobian_pattern_.append(row_reach_.back().columns);
    }
    for (const auto& e : m.forces.elements) {
        const bool is_internal = !e.force->is_felt_by_common_motion(m.constraints.measures);
        force_reach_.push_back(reach_of(m.forces.slot_feature.data() + e.first_slot, e.slot_count, is_internal));
    }
    if (!with_matrices_) {
        this->pattern_.size = tree.columns;
        this->pattern_.start.assign(tree.columns + 1, 0);
        return;
    }
    SymmetricPatternBuilder builder(tree.columns);
    std::vector<int> branch;
    const auto walk_up = [&](int node) {
        branch.clear();
        for (; node >= 0; node = tree.nodes[node].parent)
            for (int k = 0; k < tree.nodes[node].column_count; ++k) branch.push_back(tree.nodes[node].first_column + k);
    };
    for (std::size_t i = 0; i < tree.nodes.size(); ++i) {
        walk_up(static_cast<int>(i));
        for (int k = 0; k < tree.nodes[i].column_count; ++k)
            for (const int other : branch) builder.add(tree.nodes[i].first_column + k, other);
    }
    for (const TreeReach& reach : force_reach_) builder.add_clique(reach.columns);
    this->finish_patterns(builder);
    const auto square = [&](const TreeReach& reach) {
        std::vector<int> places;
        for (const int a : reach.columns)
            for (const int b : reach.columns) places.push_back(this->pattern_.find(a, b));
        return places;
    };
    for (const TreeReach& reach : row_reach_) row_place_.push_back(square(reach));
    for (const TreeReach& reach : force_reach_) force_place_.push_back(square(reach));
    for (std::size_t i = 0; i < tree.nodes.size(); ++i) {
        const TreeNode<D>& node = tree.nodes[i];
        walk_up(node.parent);
        for (int k = 0; k < node.column_count; ++k) {
            const int d = node.first_column + k;
            for (int c = node.first_column; c <= d; ++c) mass_place_.push_back(this->pattern_.find(c, d));
            for (const int c : branch) mass_place_.push_back(this->pattern_.find(c, d));
        }
    }
}

// 1 / (J M^-1 J^T) at the reference configuration, with a little inertia where there is none. The diagonal of M would
// not do: a base coordinate carries the inertia of its whole subtree, but its bodies can give way elsewhere.
template <int D>
void RelativeSystem<D>::compute_row_inertia() {
    const Mechanism<D>& m = *this->mechanism_;
    const RelativeTree<D>& tree = coordinates_.tree();
    VecX q;
    VecX v;
    BodyStates<D> states;
    for (const auto& body : m.bodies) states.push_back(body.reference);
    import_states(states, q, v);
    const auto e = make_evaluation();
    const std::vector<double> memory = m.memory_with_all_rows();
    update_positions(*e, 0, q, memory);
    auto& s = static_cast<Scratch&>(*e);
    accumulate_inertia(s);
    this->coordinate_inertia_.resize(this->size());
    VecX floor(this->size());
    const double length = m.length_scale;
    for (int c = 0; c < this->size(); ++c) {
        const RelativeColumn<D>& column = s.motion.column[c];
        const int node = tree.node_of_column[c];
        const Vec<D> linear = s.mass[node] * column.u + cross<D>(column.w, s.first_moment[node]);
        const AngularVec<D> angular = s.inertia[node] * column.w + moment<D>(s.first_moment[node], column.u);
        // What counts as the inertia of a coordinate that has none; light ones count as what they are.
        constexpr double rounding = 1e-14;
        const bool is_slide = column.w.isZero(0) && !column.axis.isZero(0);
        const double typical = m.mass_scale * (is_slide ? 1 : length * length);
        const double own = column.u.dot(linear) + column.w.dot(angular);
        const bool is_massless = !(own > rounding * typical);
        this->coordinate_inertia_[c] = is_massless ? 1e-3 * typical : own;
        floor[c] = is_massless ? 1e-3 * typical : 1e-9 * own;
    }
    // No Euler parameter is the length of all four alone: they share their inertia.
    for (const int first : tree.ball_columns) {
        auto parameters = this->coordinate_inertia_.template segment<4>(first);
        parameters.setConstant(parameters.mean());
    }
    std::vector<double> ball_inertia;
    for (const int first : tree.ball_columns) ball_inertia.push_back(this->coordinate_inertia_[first]);
    ArticulatedInertia<D> inertia(m, tree, floor, ball_inertia);
    inertia.factorize(s.motion, q);
    this->row_inertia_.resize(this->rows());
    VecX lifted;
    for (int i = 0; i < this->rows(); ++i) {
        const std::span<const int> columns = this->jacobian_pattern_.row(i);
        const TreeBranch branch = inertia.find_branch(columns);
        lifted.resize(static_cast<Eigen::Index>(branch.columns.size()));
        inertia.climb(branch, columns, e->jacobian.data() + this->jacobian_pattern_.start[i], lifted.data());
        this->row_inertia_[i] = this->find_row_inertia(lifted.squaredNorm());
    }
}

// Point masses and slender rods on balls have turns without inertia, and no Euler parameter is such a turn alone. They
// get a billionth of what is there: without any inertia, rounding would drive them.
template <int D>
void RelativeSystem<D>::find_spin_inertia() {
    const Mechanism<D>& m = *this->mechanism_;
    const RelativeTree<D>& tree = coordinates_.tree();
    spin_inertia_.assign(tree.ball_columns.size(), 0.0);
    if constexpr (D == 3) {
        for (std::size_t b = 0; b < tree.ball_columns.size(); ++b) {
            const TreeNode<D>& node = tree.nodes[tree.node_of_column[tree.ball_columns[b]]];
            const MechanismBody<D>& body = m.bodies[node.body];
            const Mat3 inertia = moved_inertia<3>(body.mass, Vec3::Zero(), body.inertia, -node.point);
            const double least = compute_eigenvalues(inertia)[0];
            const double typical =
                inertia.trace() > 0 ? inertia.trace() : 1e-3 * m.mass_scale * m.length_scale * m.length_scale;
            if (least < 1e-9 * typical) spin_inertia_[b] = 1e-9 * typical;
        }
    }
}

template <int D>
std::unique_ptr<Evaluation> RelativeSystem<D>::make_evaluation() const {
    const Mechanism<D>& m = *this->mechanism_;
    const auto nodes = coordinates_.tree().nodes.size();
    auto s = std::make_unique<Scratch>();
    s->motion = coordinates_.make_motion();
    s->motion_q = VecX::Constant(this->size(), NAN);  // nowhere yet
    s->features.resize(m.features.size());
    s->row_values.resize(static_cast<int>(rows_.rows.size()), static_cast<int>(rows_.slot_feature.size()));
    s->slot_force.assign(m.forces.slot_feature.size(), Vec<D>::Zero());
    s->wrench.assign(nodes, TwistVec<D>::Zero());
    s->mass.assign(nodes, 0.0);
    s->first_moment.assign(nodes, Vec<D>::Zero());
    s->inertia.assign(nodes, AngularMat<D>::Zero());
    s->load = s->first_moment;
    s->momenta.resize(nodes);
    s->mix.resize(coordinates_.tree().columns);
    s->dyad.assign(nodes, Mat<D>::Zero());
    if (balls_ > 0) {
        s->ball_load = s->load;
        s->ball_dyad = s->dyad;
    }
    const int rows = this->rows();
    s->phi = s->time_partial = s->rate = s->bias = VecX::Zero(rows);
    s->jacobian.assign(this->jacobian_pattern_.nonzeros(), 0.0);
    s->Evaluation::mass.assign(this->pattern_.nonzeros(), 0.0);
    s->force = VecX::Zero(this->size());
    if (with_matrices_) {
        s->blocks.reserve(m.forces.max_slots());
        int max_slots = std::max(max_measure_features, m.forces.max_slots());
        int max_columns = 0;
        for (const auto* list : {&row_reach_, &force_reach_})
            for (const TreeReach& reach : *list) {
                max_slots = std::max(max_slots, static_cast<int>(reach.slot_node.size()));
                max_columns = std::max(max_columns, static_cast<int>(reach.columns.size()));
            }
        s->jacobian_of.assign(max_slots, MatX::Zero(D, max_columns));
        s->rate_jacobian_of = s->jacobian_of;
    }
    return s;
}

// ---------------------------------------------------------------- bodies

template <int D>
void RelativeSystem<D>::export_states(const VecX& q, const VecX& v, BodyStates<D>& states) const {
    coordinates_.export_states(q, v, states);
}

template <int D>
void RelativeSystem<D>::export_twist_rates(const VecX& q, const VecX& v, const VecX& a,
                                           std::vector<TwistVec<D>>& rates) const {
    thread_local RelativeMotion<D> motion;
    coordinates_.prepare(motion);
    coordinates_.update_positions(q, motion);
    coordinates_.update_velocities(q, v, motion);
    coordinates_.update_twist_rates(a, motion);
    rates.resize(motion.twist_rate.size());
    const auto& nodes = coordinates_.tree().nodes;
    for (std::size_t i = 0; i < nodes.size(); ++i) rates[nodes[i].body] = motion.twist_rate[i];
}

template <int D>
void RelativeSystem<D>::import_states(const BodyStates<D>& states, VecX& q, VecX& v) const {
    coordinates_.import_states(states, q, v);
}

template <int D>
void RelativeSystem<D>::import_twist_rates(const BodyStates<D>& states, const std::vector<TwistVec<D>>& rates,
                                           const VecX& q, const VecX& v, VecX& a) const {
    coordinates_.import_twist_rates(states, rates, q, v, a);
}

template class RelativeSystem<2>;
template class RelativeSystem<3>;

}  // namespace limber
