#include "limber/dynamics/system/relative_system.hpp"

#include <fmt/format.h>

#include <Eigen/Eigenvalues>
#include <algorithm>

#include "limber/dynamics/system/active_features.hpp"
#include "limber/kinematics/relative/articulated_inertia.hpp"

namespace limber {

/// Of a subtree about the centre of mass of its first body, see accumulate_momenta.
template <int D>
struct Momenta {
    Vec<D> rate = Vec<D>::Zero(), second = Vec<D>::Zero();
    Mat<D> rate_dyad = Mat<D>::Zero(), second_dyad = Mat<D>::Zero();
};

template <int D>
struct ColumnMix {
    Vec<D> with_p = Vec<D>::Zero();
    AngularVec<D> with_l = AngularVec<D>::Zero(), with_x = AngularVec<D>::Zero();
};

template <int D>
struct RelativeSystem<D>::Scratch final : Evaluation {
    RelativeMotion<D> motion;
    FeatureState<D> features;
    RowValues<D> row_values;
    std::vector<Vec<D>> slot_force;
    ForceBlocks<D> blocks;
    std::vector<TwistVec<D>> wrench;  // per node
    // Per node, of its subtree about its centre of mass.
    std::vector<double> mass;
    std::vector<Vec<D>> first_moment;
    std::vector<AngularMat<D>> inertia;
    // Per node: sum of all gradients and of arm x gradient^T (dyads) of the subtree.
    std::vector<Vec<D>> load;
    std::vector<Mat<D>> dyad;
    // The same with elements that act within a subtree, for balls.
    std::vector<Vec<D>> ball_load;
    std::vector<Mat<D>> ball_dyad;
    std::vector<Momenta<D>> momenta;                  // per node
    std::vector<ColumnMix<D>> mix;                    // per column
    std::vector<MatX> jacobian_of, rate_jacobian_of;  // of the slots of one element
    MatX product;
};

namespace {

// Inertia of mass, first moment h and inertia I moved by r (new reference = old - r): what was at x is now at x + r.
template <int D>
AngularMat<D> moved_inertia(double mass, const Vec<D>& h, const AngularMat<D>& inertia, const Vec<D>& r) {
    if constexpr (D == 2) {
        return inertia + AngularMat<2>::Constant(mass * r.squaredNorm() + 2 * h.dot(r));
    } else {
        const Mat3 dyad = r * h.transpose();
        const double trace = mass * r.squaredNorm() + 2 * h.dot(r);
        return inertia + trace * Mat3::Identity() - mass * r * r.transpose() - dyad - dyad.transpose();
    }
}

template <int D>
AngularVec<D> transposed_turn(const Mat<D>& dyad, const AngularVec<D>& w) {
    // sum (w x r) x g = B w - w tr B with B = sum r g^T
    if constexpr (D == 2) {
        return AngularVec<2>(-w[0] * dyad.trace());
    } else {
        return dyad * w - dyad.trace() * w;
    }
}

}  // namespace

// ---------------------------------------------------------------- compilation

template <int D>
RelativeSystem<D>::RelativeSystem(std::shared_ptr<const Mechanism<D>> mechanism, bool with_matrices)
    : MechanismSystem<D>(std::move(mechanism)), coordinates_(*this->mechanism_), with_matrices_(with_matrices) {
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

// Rows in the order: lengths of Euler parameters, holonomic rows of joints outside the forest and of drivers, velocity rows.
template <int D>
void RelativeSystem<D>::gather_rows() {
    const Mechanism<D>& m = *this->mechanism_;
    const RelativeTree<D>& tree = coordinates_.tree();
    balls_ = static_cast<int>(tree.ball_columns.size());
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
            const RowTerm* terms = &m.constraints.terms[row.first_term];
            const auto is_component = [&](int k) {
                return rows_.measures[terms[k].measure].kind == MeasureKind::component;
            };
            if (holonomic && row.term_count == 2 && is_component(0) && is_component(1) && element.body_a >= 0) {
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
            this->row_names_.push_back(fmt::format("{} '{}'", element.is_driver ? "driver" : "joint", element.name));
        }
        if (holonomic) this->holonomic_rows_ = balls_ + static_cast<int>(rows_.rows.size());
    }
}

// Components in world axes notice when both bodies turn together; all other measures do not.
template <int D>
bool RelativeSystem<D>::is_felt_by_common_motion(const Row& row) const {
    for (int k = row.first_term; k < row.first_term + row.term_count; ++k)
        if (rows_.measures[rows_.terms[k].measure].kind == MeasureKind::component) return true;
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
            reach_of(&rows_.slot_feature[row.first_slot], row.slot_count, !is_felt_by_common_motion(row)));
        this->jacobian_pattern_.append(row_reach_.back().columns);
    }
    for (const auto& e : m.forces.elements) {
        const bool is_internal = !m.forces.is_felt_by_common_motion(e, m.constraints.measures);
        force_reach_.push_back(reach_of(&m.forces.slot_feature[e.first_slot], e.slot_count, is_internal));
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

// 1 / (J M^-1 J^T) at the reference configuration, with a little inertia where there is none. The diagonal of M would not do: a
// base coordinate carries the inertia of its whole subtree, but its bodies can give way elsewhere.
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
    update_positions(*e, 0, q, this->initial_memory_);
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
        // What counts as the inertia of a coordinate that has less.
        const bool is_slide = column.w.isZero(0) && !column.axis.isZero(0);
        const double typical = 1e-3 * m.mass_scale * (is_slide ? 1 : length * length);
        const double own = column.u.dot(linear) + column.w.dot(angular);
        this->coordinate_inertia_[c] = std::max(own, typical);
        floor[c] = own < typical ? typical : 1e-9 * own;
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
    this->row_inertia_ = VecX::Constant(this->rows(), this->mass_scale_);
    VecX x(this->size());
    for (int i = 0; i < this->rows(); ++i) {
        x.setZero();
        for (int k = this->jacobian_pattern_.start[i]; k < this->jacobian_pattern_.start[i + 1]; ++k)
            x[this->jacobian_pattern_.column[k]] = e->jacobian[k];
        inertia.solve(s.motion, x);
        double admittance = 0;
        for (int k = this->jacobian_pattern_.start[i]; k < this->jacobian_pattern_.start[i + 1]; ++k)
            admittance += e->jacobian[k] * x[this->jacobian_pattern_.column[k]];
        if (admittance > 0) this->row_inertia_[i] = 1 / admittance;
    }
}

// ---------------------------------------------------------------- evaluation

template <int D>
std::unique_ptr<Evaluation> RelativeSystem<D>::make_evaluation() const {
    const Mechanism<D>& m = *this->mechanism_;
    const auto nodes = coordinates_.tree().nodes.size();
    auto s = std::make_unique<Scratch>();
    s->motion = coordinates_.make_motion();
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
        int most_slots = std::max(max_measure_features, m.forces.max_slots());
        int most_columns = 0;
        for (const auto* list : {&row_reach_, &force_reach_})
            for (const TreeReach& reach : *list) {
                most_slots = std::max(most_slots, static_cast<int>(reach.slot_node.size()));
                most_columns = std::max(most_columns, static_cast<int>(reach.columns.size()));
            }
        s->jacobian_of.assign(most_slots, MatX::Zero(D, most_columns));
        s->rate_jacobian_of = s->jacobian_of;
        s->product = MatX::Zero(most_columns, D);
    }
    return s;
}

template <int D>
const RelativeMotion<D>& RelativeSystem<D>::motion(const Evaluation& e) {
    return static_cast<const Scratch&>(e).motion;
}

template <int D>
MeasureContext<D> RelativeSystem<D>::context(const Scratch& s) const {
    return {s.features, s.memory, this->mechanism_->curves};
}

template <int D>
void RelativeSystem<D>::update_features(Scratch& s, const std::vector<int>& list) const {
    const Mechanism<D>& m = *this->mechanism_;
    const std::vector<int>& node_of_body = coordinates_.tree().node_of_body;
    for (const int i : list) {
        const Feature<D>& f = m.features[i];
        if (f.body < 0) {
            s.features.value[i] = f.local;
            continue;
        }
        const BodyState<D>& body = s.motion.body[node_of_body[f.body]];
        s.features.value[i] = body.axes * f.local;
        if (f.is_point) s.features.value[i] += body.position;
    }
}

template <int D>
void RelativeSystem<D>::update_residuals(Evaluation& e, double t, const VecX& q, std::span<const double> memory) const {
    auto& s = static_cast<Scratch&>(e);
    s.t = t;
    s.q = &q;
    s.memory = memory;
    coordinates_.update_positions(q, s.motion);
    update_features(s, active_features_);
    rows_.evaluate_positions(context(s), t, s.row_values);
    for (int b = 0; b < balls_; ++b)
        s.phi[b] = 0.5 * (q.template segment<4>(coordinates_.tree().ball_columns[b]).squaredNorm() - 1);
    s.phi.tail(this->rows() - balls_) = s.row_values.phi;
}

template <int D>
void RelativeSystem<D>::update_positions(Evaluation& e, double t, const VecX& q, std::span<const double> memory) const {
    update_residuals(e, t, q, memory);
    auto& s = static_cast<Scratch&>(e);
    const Mechanism<D>& m = *this->mechanism_;
    const RelativeTree<D>& tree = coordinates_.tree();
    std::fill(s.jacobian.begin(), s.jacobian.end(), 0.0);
    for (int b = 0; b < balls_; ++b)
        for (int k = 0; k < 4; ++k) s.jacobian[this->jacobian_pattern_.start[b] + k] = q[tree.ball_columns[b] + k];
    for (std::size_t i = 0; i < rows_.rows.size(); ++i) {
        const Row& row = rows_.rows[i];
        const TreeReach& reach = row_reach_[i];
        double* out = s.jacobian.data() + this->jacobian_pattern_.start[balls_ + i];
        for (std::size_t n = 0; n < reach.nodes.size(); ++n) {
            int node = reach.nodes[n];
            TwistVec<D> wrench = TwistVec<D>::Zero();
            for (int k = 0; k < row.slot_count; ++k) {
                if (reach.slot_node[k] != static_cast<int>(n)) continue;
                const int feature = rows_.slot_feature[row.first_slot + k];
                add_wrench(m.features[feature], s.features.value[feature], s.motion.body[node].position,
                           s.row_values.gradient[row.first_slot + k], wrench);
            }
            Vec<D> force = wrench.template head<D>();
            AngularVec<D> torque = wrench.template tail<A>();
            const int* place = reach.places[n].data();
            while (node != reach.ancestor) {
                const TreeNode<D>& at = tree.nodes[node];
                for (int c = at.first_column; c < at.first_column + at.column_count; ++c)
                    out[*place++] += s.motion.column[c].u.dot(force) + s.motion.column[c].w.dot(torque);
                if (at.parent >= 0)
                    torque += moment<D>(s.motion.body[node].position - s.motion.body[at.parent].position, force);
                node = at.parent;
            }
        }
    }
    if (with_matrices_) assemble_mass(s);
}

// Point masses and slender rods on balls have turns without inertia, and no Euler parameter is such a turn alone. They get a
// billionth of what is there: without any inertia, rounding would drive them.
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
            const double least = Eigen::SelfAdjointEigenSolver<Mat3>(inertia, Eigen::EigenvaluesOnly).eigenvalues()[0];
            const double typical = std::max(inertia.trace(), 1e-3 * m.mass_scale * m.length_scale * m.length_scale);
            if (least < 1e-9 * typical) spin_inertia_[b] = 1e-9 * typical;
        }
    }
}

// Mass, first moment and inertia of every subtree about the centre of mass of its first body.
template <int D>
void RelativeSystem<D>::accumulate_inertia(Scratch& s) const {
    const Mechanism<D>& m = *this->mechanism_;
    const RelativeTree<D>& tree = coordinates_.tree();
    for (std::size_t i = 0; i < tree.nodes.size(); ++i) {
        const MechanismBody<D>& body = m.bodies[tree.nodes[i].body];
        s.mass[i] = body.mass;
        s.first_moment[i].setZero();
        s.inertia[i] = world_inertia(body, s.motion.body[i]);
    }
    for (std::size_t i = tree.nodes.size(); i-- > 0;) {
        const int parent = tree.nodes[i].parent;
        if (parent < 0) continue;
        const Vec<D> r = s.motion.body[i].position - s.motion.body[parent].position;
        s.mass[parent] += s.mass[i];
        s.inertia[parent] += moved_inertia<D>(s.mass[i], s.first_moment[i], s.inertia[i], r);
        s.first_moment[parent] += s.first_moment[i] + s.mass[i] * r;
    }
}

template <int D>
void RelativeSystem<D>::assemble_mass(Scratch& s) const {
    accumulate_inertia(s);
    const RelativeTree<D>& tree = coordinates_.tree();
    std::vector<double>& values = s.Evaluation::mass;
    const int* place = mass_place_.data();
    for (std::size_t i = 0; i < tree.nodes.size(); ++i) {
        const TreeNode<D>& node = tree.nodes[i];
        for (int d = node.first_column; d < node.first_column + node.column_count; ++d) {
            const RelativeColumn<D>& column = s.motion.column[d];
            const Vec<D> linear = s.mass[i] * column.u + cross<D>(column.w, s.first_moment[i]);
            AngularVec<D> angular = s.inertia[i] * column.w + moment<D>(s.first_moment[i], column.u);
            for (int c = node.first_column; c <= d; ++c)
                values[*place++] = s.motion.column[c].u.dot(linear) + s.motion.column[c].w.dot(angular);
            int at = static_cast<int>(i);
            for (int up = node.parent; up >= 0; up = tree.nodes[up].parent) {
                angular += moment<D>(s.motion.body[at].position - s.motion.body[up].position, linear);
                const TreeNode<D>& ancestor = tree.nodes[up];
                for (int c = ancestor.first_column; c < ancestor.first_column + ancestor.column_count; ++c)
                    values[*place++] = s.motion.column[c].u.dot(linear) + s.motion.column[c].w.dot(angular);
                at = up;
            }
        }
    }
    for (int b = 0; b < balls_; ++b)
        for (int k = 0; k < 4; ++k) values[this->pattern_.start[tree.ball_columns[b] + k]] += spin_inertia_[b];
}

template <int D>
void RelativeSystem<D>::update_velocities(Evaluation& e, const VecX& v) const {
    auto& s = static_cast<Scratch&>(e);
    const Mechanism<D>& m = *this->mechanism_;
    const std::vector<int>& node_of_body = coordinates_.tree().node_of_body;
    s.v = &v;
    coordinates_.update_velocities(*s.q, v, s.motion);
    for (const int i : active_features_) {
        const Feature<D>& f = m.features[i];
        if (f.body < 0) continue;
        const int node = node_of_body[f.body];
        const BodyState<D>& body = s.motion.body[node];
        const AngularVec<D>& omega = body.angular_velocity;
        const AngularVec<D> alpha = s.motion.bias[node].template tail<A>();
        const Vec<D> arm = f.is_point ? Vec<D>(s.features.value[i] - body.position) : s.features.value[i];
        const Vec<D> turning = cross<D>(omega, arm);
        s.features.rate[i] = turning;
        s.features.bias[i] = cross<D>(omega, turning) + cross<D>(alpha, arm);
        if (f.is_point) {
            s.features.rate[i] += body.velocity;
            s.features.bias[i] += s.motion.bias[node].template head<D>();
        }
    }
    rows_.evaluate_velocities(context(s), s.t, s.row_values);
    for (int b = 0; b < balls_; ++b)
        s.bias[b] = v.template segment<4>(coordinates_.tree().ball_columns[b]).squaredNorm();
    const int rest = this->rows() - balls_;
    s.bias.tail(rest) = s.row_values.bias;
    s.time_partial.tail(rest) = s.row_values.time_partial;
    multiply(this->jacobian_pattern_, s.jacobian, v, s.rate);
    s.rate += s.time_partial;
    for (int i = this->holonomic_rows_; i < this->rows(); ++i) s.phi[i] = s.rate[i];
}

// Wrenches of the bodies, gathered towards the roots, along the coordinates.
template <int D>
void RelativeSystem<D>::add_wrenches(Scratch& s, VecX& forces) const {
    const RelativeTree<D>& tree = coordinates_.tree();
    for (std::size_t i = tree.nodes.size(); i-- > 0;) {
        const TreeNode<D>& node = tree.nodes[i];
        const Vec<D> force = s.wrench[i].template head<D>();
        const AngularVec<D> torque = s.wrench[i].template tail<A>();
        for (int c = node.first_column; c < node.first_column + node.column_count; ++c)
            forces[c] += s.motion.column[c].u.dot(force) + s.motion.column[c].w.dot(torque);
        if (node.parent < 0) continue;
        s.wrench[node.parent].template head<D>() += force;
        s.wrench[node.parent].template tail<A>() +=
            torque + moment<D>(s.motion.body[i].position - s.motion.body[node.parent].position, force);
    }
}

template <int D>
void RelativeSystem<D>::update_forces(Evaluation& e) const {
    auto& s = static_cast<Scratch&>(e);
    const Mechanism<D>& m = *this->mechanism_;
    const RelativeTree<D>& tree = coordinates_.tree();
    Vec<D> gravity;
    for (int k = 0; k < D; ++k) gravity[k] = m.gravity[k].value(s.t);
    for (std::size_t i = 0; i < tree.nodes.size(); ++i) {
        const MechanismBody<D>& body = m.bodies[tree.nodes[i].body];
        s.wrench[i] = -inertia_wrench(body, s.motion.body[i], s.motion.bias[i]);
        s.wrench[i].template head<D>() += body.mass * gravity;
    }
    m.forces.evaluate(m.constraints.measures, context(s), s.t, s.slot_force);
    for (std::size_t slot = 0; slot < s.slot_force.size(); ++slot) {
        const int f = m.forces.slot_feature[slot];
        const int body = m.features[f].body;
        if (body < 0) continue;
        const int node = tree.node_of_body[body];
        add_wrench(m.features[f], s.features.value[f], s.motion.body[node].position, s.slot_force[slot],
                   s.wrench[node]);
    }
    s.force.setZero();
    add_wrenches(s, s.force);
}

template <int D>
void RelativeSystem<D>::compute_inverse_dynamics(Evaluation& e, const VecX& a, VecX& forces) const {
    auto& s = static_cast<Scratch&>(e);
    const Mechanism<D>& m = *this->mechanism_;
    const RelativeTree<D>& tree = coordinates_.tree();
    coordinates_.update_twist_rates(a, s.motion);
    forces = -s.force;
    // What the accelerations add to the inertia forces at zero accelerations, which Q contains.
    for (std::size_t i = 0; i < tree.nodes.size(); ++i) {
        const MechanismBody<D>& body = m.bodies[tree.nodes[i].body];
        const TwistVec<D> added = s.motion.twist_rate[i] - s.motion.bias[i];
        s.wrench[i].template head<D>() = body.mass * added.template head<D>();
        s.wrench[i].template tail<A>() = world_inertia(body, s.motion.body[i]) * added.template tail<A>();
    }
    add_wrenches(s, forces);
}

template <int D>
void RelativeSystem<D>::update_memory(Evaluation& e, const VecX& q, std::vector<double>& memory) const {
    const Mechanism<D>& m = *this->mechanism_;
    if (memory.empty()) return;
    auto& s = static_cast<Scratch&>(e);
    coordinates_.update_positions(q, s.motion);
    update_features(s, memory_features_);
    for (std::size_t i = 0; i < memory.size(); ++i)
        memory[i] = compute_memory(m.measure(m.memory_measure[i]), MeasureContext<D>{s.features, memory, m.curves});
}

// ---------------------------------------------------------------- tangent matrices

template <int D>
void RelativeSystem<D>::compute_jacobian(const Scratch& s, int feature, const TreeReach& reach, int index, MatX& j,
                                         MatX* j_rate) const {
    const RelativeTree<D>& tree = coordinates_.tree();
    const Feature<D>& f = this->mechanism_->features[feature];
    int k = 0;
    for (int node = reach.nodes[index]; node != reach.ancestor; node = tree.nodes[node].parent) {
        const TreeNode<D>& at = tree.nodes[node];
        const BodyState<D>& body = s.motion.body[node];
        const Vec<D> arm = f.is_point ? Vec<D>(s.features.value[feature] - body.position) : s.features.value[feature];
        const Vec<D> arm_rate =
            f.is_point ? Vec<D>(s.features.rate[feature] - body.velocity) : s.features.rate[feature];
        for (int c = at.first_column; c < at.first_column + at.column_count; ++c, ++k) {
            const RelativeColumn<D>& column = s.motion.column[c];
            j.col(k) = cross<D>(column.w, arm);
            if (f.is_point) j.col(k) += column.u;
            if (j_rate == nullptr) continue;
            j_rate->col(k) = cross<D>(column.w_rate, arm) + cross<D>(column.w, arm_rate);
            if (f.is_point) j_rate->col(k) += column.u_rate;
        }
    }
}

// The geometric tangent (see below) of an element that acts within a subtree, on the columns it concerns.
template <int D>
void RelativeSystem<D>::add_internal_geometric(const Scratch& s, const TreeReach& reach, const int* features,
                                               const Vec<D>* gradients, double weight, const std::vector<int>& place,
                                               std::vector<double>& values) const {
    const RelativeTree<D>& tree = coordinates_.tree();
    const int stride = static_cast<int>(reach.columns.size());
    for (std::size_t n = 0; n < reach.nodes.size(); ++n) {
        int node = reach.nodes[n];
        Vec<D> load = Vec<D>::Zero();
        Mat<D> dyad = Mat<D>::Zero();
        for (std::size_t k = 0; k < reach.slot_node.size(); ++k) {
            if (reach.slot_node[k] != static_cast<int>(n)) continue;
            const bool is_point = this->mechanism_->features[features[k]].is_point;
            const Vec<D>& value = s.features.value[features[k]];
            if (is_point) load += gradients[k];
            dyad += (is_point ? Vec<D>(value - s.motion.body[node].position) : value) * gradients[k].transpose();
        }
        const std::vector<int>& places = reach.places[n];
        std::size_t from = 0;
        while (node != reach.ancestor) {
            const TreeNode<D>& at = tree.nodes[node];
            for (int k = 0; k < at.column_count; ++k) {
                const RelativeColumn<D>& column = s.motion.column[at.first_column + k];
                const AngularVec<D> y = weight * (moment<D>(column.u, load) + transposed_turn<D>(dyad, column.w));
                const int* row = place.data() + static_cast<std::ptrdiff_t>(places[from + k]) * stride;
                for (int c = 0; c <= k; ++c)
                    values[row[places[from + c]]] += s.motion.column[at.first_column + c].w.dot(y);
                for (std::size_t c = from + at.column_count; c < places.size(); ++c)
                    values[row[places[c]]] += s.motion.column[reach.columns[places[c]]].w.dot(y);
            }
            from += at.column_count;
            if (at.parent >= 0)
                dyad += (s.motion.body[node].position - s.motion.body[at.parent].position) * load.transpose();
            node = at.parent;
        }
    }
}

template <int D>
void RelativeSystem<D>::add_row_tangent(Scratch& s, int index, double weight, std::vector<double>& values) const {
    const Row& row = rows_.rows[index];
    const TreeReach& reach = row_reach_[index];
    const std::vector<int>& place = row_place_[index];
    const int stride = static_cast<int>(reach.columns.size());
    MeasureHessian<D> hessian;
    int slot = 0;
    for (int k = row.first_term; k < row.first_term + row.term_count; ++k) {
        const Measure<D>& m = rows_.measures[rows_.terms[k].measure];
        compute_hessian(m, context(s), hessian);
        for (int i = 0; i < m.count; ++i)
            if (reach.slot_node[slot + i] >= 0)
                compute_jacobian(s, m.feature[i], reach, reach.slot_node[slot + i], s.jacobian_of[i], nullptr);
        for (int i = 0; i < m.count; ++i) {
            const int a = reach.slot_node[slot + i];
            if (a < 0) continue;
            const std::vector<int>& to = reach.places[a];
            for (int j = 0; j < m.count; ++j) {
                const int b = reach.slot_node[slot + j];
                if (b < 0) continue;
                const Mat<D> block = weight * rows_.terms[k].coefficient * hessian.block[i][j];
                if (block.isZero(0)) continue;
                const std::vector<int>& from = reach.places[b];
                for (std::size_t p = 0; p < to.size(); ++p) {
                    const Vec<D> left = block.transpose() * s.jacobian_of[i].col(static_cast<Eigen::Index>(p));
                    for (std::size_t r = 0; r < from.size(); ++r)
                        values[place[to[p] * stride + from[r]]] +=
                            (to[p] == from[r] ? 1.0 : 0.5) *
                            left.dot(s.jacobian_of[j].col(static_cast<Eigen::Index>(r)));
                }
            }
        }
        slot += m.count;
    }
    if (reach.ancestor >= 0)
        add_internal_geometric(s, reach, &rows_.slot_feature[row.first_slot], &s.row_values.gradient[row.first_slot],
                               weight, place, values);
}

template <int D>
void RelativeSystem<D>::add_force_tangent(Scratch& s, int index, double damping_weight, double stiffness_weight,
                                          std::vector<double>& values) const {
    const Mechanism<D>& m = *this->mechanism_;
    const auto& element = m.forces.elements[index];
    const TreeReach& reach = force_reach_[index];
    const std::vector<int>& place = force_place_[index];
    if (reach.ancestor >= 0)
        add_internal_geometric(s, reach, &m.forces.slot_feature[element.first_slot], &s.slot_force[element.first_slot],
                               -stiffness_weight, place, values);
    if (!m.forces.compute_blocks(index, m.constraints.measures, context(s), s.t, s.blocks)) return;
    const int stride = static_cast<int>(reach.columns.size());
    const int* slots = &m.forces.slot_feature[element.first_slot];
    for (int i = 0; i < element.slot_count; ++i)
        if (reach.slot_node[i] >= 0)
            compute_jacobian(s, slots[i], reach, reach.slot_node[i], s.jacobian_of[i], &s.rate_jacobian_of[i]);
    for (int i = 0; i < element.slot_count; ++i) {
        if (reach.slot_node[i] < 0) continue;
        const std::vector<int>& to = reach.places[reach.slot_node[i]];
        for (int j = 0; j < element.slot_count; ++j) {
            if (reach.slot_node[j] < 0) continue;
            const std::vector<int>& from = reach.places[reach.slot_node[j]];
            const Mat<D> by_value = stiffness_weight * s.blocks.k(i, j) + damping_weight * s.blocks.c(i, j);
            const Mat<D> by_rate = stiffness_weight * s.blocks.c(i, j);
            const bool is_damped = !by_rate.isZero(0);
            if (!is_damped && by_value.isZero(0)) continue;
            for (std::size_t p = 0; p < to.size(); ++p) {
                const auto column = s.jacobian_of[i].col(static_cast<Eigen::Index>(p));
                const Vec<D> left = by_value.transpose() * column;
                const Vec<D> left_rate = by_rate.transpose() * column;
                for (std::size_t r = 0; r < from.size(); ++r) {
                    const auto other = static_cast<Eigen::Index>(r);
                    double value = left.dot(s.jacobian_of[j].col(other));
                    if (is_damped) value += left_rate.dot(s.rate_jacobian_of[j].col(other));
                    values[place[to[p] * stride + from[r]]] += (to[p] == from[r] ? 1.0 : 0.5) * value;
                }
            }
        }
    }
}

// Forces that keep their direction while the bodies turn: with all gradients g (of inertia, applied and constraint forces) held,
//   d/dq_c of sum J_d(f) . g  =  w_c . sum J_d(f) x g     for c before d on the way from the root.
template <int D>
void RelativeSystem<D>::accumulate_loads(Scratch& s, const VecX& row_force) const {
    const Mechanism<D>& m = *this->mechanism_;
    const RelativeTree<D>& tree = coordinates_.tree();
    Vec<D> gravity;
    for (int k = 0; k < D; ++k) gravity[k] = m.gravity[k].value(s.t);
    for (std::size_t i = 0; i < tree.nodes.size(); ++i) {
        const MechanismBody<D>& body = m.bodies[tree.nodes[i].body];
        const TwistVec<D>& rate = s.motion.twist_rate[i];
        const AngularVec<D>& omega = s.motion.body[i].angular_velocity;
        s.load[i] = body.mass * (rate.template head<D>() - gravity);
        if constexpr (D == 2) {
            s.dyad[i] = -0.5 * omega[0] * omega[0] * body.inertia(0, 0) * Mat2::Identity();
        } else {
            const Mat3 inertia = world_inertia(body, s.motion.body[i]);
            const Mat3 second_moment = 0.5 * inertia.trace() * Mat3::Identity() - inertia;
            const Mat3 turning = skew(rate.template tail<3>()) + skew(omega) * skew(omega);
            s.dyad[i] = second_moment * turning.transpose();
        }
    }
    const auto add = [&](int node, int feature, const Vec<D>& gradient, std::vector<Vec<D>>& load,
                         std::vector<Mat<D>>& dyad) {
        const bool is_point = m.features[feature].is_point;
        const Vec<D>& value = s.features.value[feature];
        const Vec<D> arm = is_point ? Vec<D>(value - s.motion.body[node].position) : value;
        if (is_point) load[node] += gradient;
        dyad[node] += arm * gradient.transpose();
    };
    const auto accumulate = [&](std::vector<Vec<D>>& load, std::vector<Mat<D>>& dyad) {
        for (std::size_t i = tree.nodes.size(); i-- > 0;) {
            const int parent = tree.nodes[i].parent;
            if (parent < 0) continue;
            const Vec<D> r = s.motion.body[i].position - s.motion.body[parent].position;
            load[parent] += load[i];
            dyad[parent] += dyad[i] + r * load[i].transpose();
        }
    };
    const auto for_each_slot = [&](bool is_internal, const auto& visit) {
        for (std::size_t e = 0; e < force_reach_.size(); ++e) {
            const TreeReach& reach = force_reach_[e];
            if ((reach.ancestor >= 0) != is_internal) continue;
            const int first = m.forces.elements[e].first_slot;
            for (std::size_t k = 0; k < reach.slot_node.size(); ++k)
                if (reach.slot_node[k] >= 0)
                    visit(reach.nodes[reach.slot_node[k]], m.forces.slot_feature[first + k],
                          Vec<D>(-s.slot_force[first + k]));
        }
        for (std::size_t i = 0; i < rows_.rows.size(); ++i) {
            const TreeReach& reach = row_reach_[i];
            const double multiplier = row_force[balls_ + static_cast<int>(i)];
            if ((reach.ancestor >= 0) != is_internal || multiplier == 0 || !rows_.rows[i].is_holonomic()) continue;
            const int first = rows_.rows[i].first_slot;
            for (std::size_t k = 0; k < reach.slot_node.size(); ++k)
                if (reach.slot_node[k] >= 0)
                    visit(reach.nodes[reach.slot_node[k]], rows_.slot_feature[first + k],
                          Vec<D>(multiplier * s.row_values.gradient[first + k]));
        }
    };
    for_each_slot(false, [&](int node, int feature, const Vec<D>& g) { add(node, feature, g, s.load, s.dyad); });
    if (balls_ > 0) {
        s.ball_load = s.load;
        s.ball_dyad = s.dyad;
        for_each_slot(true,
                      [&](int node, int feature, const Vec<D>& g) { add(node, feature, g, s.ball_load, s.ball_dyad); });
        accumulate(s.ball_load, s.ball_dyad);
    }
    accumulate(s.load, s.dyad);
}

// Within a ball no parameter comes before another: the formula above lacks the change of w_k itself.
template <int D>
void RelativeSystem<D>::add_ball_tangent(const Scratch& s, double stiffness_weight, std::vector<double>& values) const {
    if constexpr (D == 3) {
        const RelativeTree<D>& tree = coordinates_.tree();
        for (int b = 0; b < balls_; ++b) {
            const int first = tree.ball_columns[b];
            const int node = tree.node_of_column[first];
            // Torque of all gradients about the centre of the ball: axial part of the dyad, moved.
            const Mat3& dyad = s.ball_dyad[node];
            const Vec3 about_centre(dyad(1, 2) - dyad(2, 1), dyad(2, 0) - dyad(0, 2), dyad(0, 1) - dyad(1, 0));
            const Vec3 torque =
                about_centre + (s.motion.body[node].position - s.motion.column[first].point).cross(s.ball_load[node]);
            for (int k = 0; k < 4; ++k)
                for (int l = 0; l <= k; ++l) {
                    // The formula has been applied with l before k; the exact one is symmetric.
                    const double value = coordinates_.ball_curvature(b, k, l, *s.q, s.motion).dot(torque);
                    const double swapped = coordinates_.ball_curvature(b, l, k, *s.q, s.motion).dot(torque);
                    const auto& wk = s.motion.column[first + k];
                    const auto& wl = s.motion.column[first + l];
                    const auto y = [&](const RelativeColumn<D>& column) {
                        return Vec3(moment<D>(column.u, s.ball_load[node]) +
                                    transposed_turn<D>(s.ball_dyad[node], column.w));
                    };
                    // d J_k / d p_l = (d w_k / d p_l) x r + w_k x (w_l x r): the first kind of product is w_k . y_l.
                    const double exact = 0.5 * (value + wk.w.dot(y(wl)) + swapped + wl.w.dot(y(wk)));
                    const double applied = wl.w.dot(y(wk));
                    values[this->pattern_.find(first + k, first + l)] += stiffness_weight * (exact - applied);
                }
        }
    }
}

// Momenta of every subtree about the centre of mass c of its first body: with r the place of a mass point from c,
//   rate = sum m r',  second = sum m r'',  and the dyads  sum m r' r^T,  sum m r'' r^T.
template <int D>
void RelativeSystem<D>::accumulate_momenta(Scratch& s) const {
    const Mechanism<D>& m = *this->mechanism_;
    const RelativeTree<D>& tree = coordinates_.tree();
    for (std::size_t i = 0; i < tree.nodes.size(); ++i) {
        Momenta<D>& own = s.momenta[i];
        own.rate.setZero();
        own.second.setZero();
        const MechanismBody<D>& body = m.bodies[tree.nodes[i].body];
        const AngularVec<D>& omega = s.motion.body[i].angular_velocity;
        if constexpr (D == 2) {
            // Only the traces matter: r . r' = 0, r . r'' = -omega^2 r . r; and r x r' = omega r . r, r x r'' = alpha r . r.
            const double inertia = body.inertia(0, 0);
            const double alpha = s.motion.twist_rate[i][2];
            own.rate_dyad << 0, -omega[0], omega[0], 0;
            own.rate_dyad *= 0.5 * inertia;
            own.second_dyad << -omega[0] * omega[0], -alpha, alpha, -omega[0] * omega[0];
            own.second_dyad *= 0.5 * inertia;
        } else {
            const Mat3 inertia = world_inertia(body, s.motion.body[i]);
            const Mat3 second_moment = 0.5 * inertia.trace() * Mat3::Identity() - inertia;
            const Vec3 alpha = s.motion.twist_rate[i].template tail<3>();
            const Mat3 spin = skew(omega);
            own.rate_dyad = spin * second_moment;
            own.second_dyad = skew(alpha) * second_moment + spin * own.rate_dyad;
        }
    }
    for (std::size_t i = tree.nodes.size(); i-- > 0;) {
        const int up = tree.nodes[i].parent;
        if (up < 0) continue;
        const Momenta<D>& own = s.momenta[i];
        Momenta<D>& parent = s.momenta[up];
        const double mass = s.mass[i];
        const Vec<D>& h = s.first_moment[i];
        const Vec<D> r = s.motion.body[i].position - s.motion.body[up].position;
        const Vec<D> r1 = s.motion.body[i].velocity - s.motion.body[up].velocity;
        const Vec<D> r2 = (s.motion.twist_rate[i] - s.motion.twist_rate[up]).template head<D>();
        parent.rate += own.rate + mass * r1;
        parent.second += own.second + mass * r2;
        parent.rate_dyad += own.rate_dyad + own.rate * r.transpose() + r1 * (h + mass * r).transpose();
        parent.second_dyad += own.second_dyad + own.second * r.transpose() + r2 * (h + mass * r).transpose();
    }
}

namespace {

// sum r x (w x r') = (tr P - P) w with P = sum r' r^T, and its transpose.
template <int D>
AngularVec<D> turned(const Mat<D>& dyad, const AngularVec<D>& w) {
    if constexpr (D == 2) {
        return AngularVec<2>(w[0] * dyad.trace());
    } else {
        return dyad.trace() * w - dyad * w;
    }
}
template <int D>
AngularVec<D> turned_back(const Mat<D>& dyad, const AngularVec<D>& w) {
    if constexpr (D == 2) {
        return AngularVec<2>(w[0] * dyad.trace());
    } else {
        return dyad.trace() * w - dyad.transpose() * w;
    }
}

}  // namespace

// Mass matrix, change of the inertia forces, and geometric tangent, in one walk from every column c up to the root.
//
// A column d above moves the mass points of c's subtree by the field u + w x r (and so changes their velocities and accelerations by
// its time derivatives); with the momenta of c's subtree under its own column,
//   p = sum m J_c,  l = sum r x m J_c,  x = sum over r',  y = sum over r'',
// the inertia forces that c feels change by
//   by q_d:   u''.p + w''.l + w'.x + w.y          by v_d:   2 (u'.p + w'.l) + w.x
// and those that d feels change, by q_c and v_c, by u.F + w.N with the force and torque F, N of c's subtree.
template <int D>
void RelativeSystem<D>::add_tree_tangent(Scratch& s, double mass_weight, double damping_weight, double stiffness_weight,
                                         std::vector<double>& values) const {
    const RelativeTree<D>& tree = coordinates_.tree();
    // What each column d multiplies p, l and x with.
    for (int d = 0; d < tree.columns; ++d) {
        const RelativeColumn<D>& column = s.motion.column[d];
        ColumnMix<D>& mix = s.mix[d];
        mix.with_p = mass_weight * column.u + 0.5 * stiffness_weight * column.u_second + damping_weight * column.u_rate;
        mix.with_l = mass_weight * column.w + 0.5 * stiffness_weight * column.w_second + damping_weight * column.w_rate;
        mix.with_x = 0.5 * stiffness_weight * column.w_rate + 0.5 * damping_weight * column.w;
    }
    const int* place = mass_place_.data();
    for (std::size_t i = 0; i < tree.nodes.size(); ++i) {
        const TreeNode<D>& node = tree.nodes[i];
        const Momenta<D>& momenta = s.momenta[i];
        const double mass = s.mass[i];
        const Vec<D>& h = s.first_moment[i];
        for (int c = node.first_column; c < node.first_column + node.column_count; ++c) {
            const RelativeColumn<D>& k = s.motion.column[c];
            const Vec<D> p = mass * k.u + cross<D>(k.w, h);
            AngularVec<D> l = s.inertia[i] * k.w + moment<D>(h, k.u);
            AngularVec<D> x = 2 * (moment<D>(momenta.rate, k.u) + turned_back<D>(momenta.rate_dyad, k.w));
            AngularVec<D> y = moment<D>(momenta.second, k.u) + turned_back<D>(momenta.second_dyad, k.w);
            // Half of the force and torque of the subtree by q_c and v_c.
            const Vec<D> force =
                0.5 * stiffness_weight *
                    (mass * k.u_second + cross<D>(k.w_second, h) + 2 * cross<D>(k.w_rate, momenta.rate) +
                     cross<D>(k.w, momenta.second)) +
                damping_weight * (mass * k.u_rate + cross<D>(k.w_rate, h) + cross<D>(k.w, momenta.rate));
            AngularVec<D> torque =
                0.5 * stiffness_weight *
                    (moment<D>(h, k.u_second) + s.inertia[i] * k.w_second + 2 * turned<D>(momenta.rate_dyad, k.w_rate) +
                     turned<D>(momenta.second_dyad, k.w)) +
                damping_weight * (moment<D>(h, k.u_rate) + s.inertia[i] * k.w_rate + turned<D>(momenta.rate_dyad, k.w));
            const AngularVec<D> geometric =
                stiffness_weight * (moment<D>(k.u, s.load[i]) + transposed_turn<D>(s.dyad[i], k.w));
            const auto value = [&](int d, const AngularVec<D>& sum) {
                const RelativeColumn<D>& column = s.motion.column[d];
                const ColumnMix<D>& mix = s.mix[d];
                return mix.with_p.dot(p) + mix.with_l.dot(l) + mix.with_x.dot(x) + column.w.dot(sum) +
                       column.u.dot(force);
            };
            AngularVec<D> sum = 0.5 * stiffness_weight * y + torque + geometric;
            for (int d = node.first_column; d <= c; ++d) values[*place++] += value(d, sum);
            int at = static_cast<int>(i);
            for (int up = node.parent; up >= 0; up = tree.nodes[up].parent) {
                const Vec<D> r = s.motion.body[at].position - s.motion.body[up].position;
                const Vec<D> r1 = s.motion.body[at].velocity - s.motion.body[up].velocity;
                const Vec<D> r2 = (s.motion.twist_rate[at] - s.motion.twist_rate[up]).template head<D>();
                l += moment<D>(r, p);
                x += 2 * moment<D>(r1, p);
                y += moment<D>(r2, p);
                torque += moment<D>(r, force);
                sum = 0.5 * stiffness_weight * y + torque + geometric;
                const TreeNode<D>& ancestor = tree.nodes[up];
                for (int d = ancestor.first_column; d < ancestor.first_column + ancestor.column_count; ++d)
                    values[*place++] += value(d, sum);
                at = up;
            }
        }
    }
}

template <int D>
void RelativeSystem<D>::assemble_tangent(Evaluation& e, double mass_weight, double damping_weight,
                                         double stiffness_weight, const VecX& row_force, const VecX& a,
                                         std::vector<double>& values) const {
    auto& s = static_cast<Scratch&>(e);
    std::fill(values.begin(), values.end(), 0.0);
    coordinates_.update_twist_rates(a, s.motion);
    coordinates_.update_second_derivatives(*s.q, *s.v, a, s.motion);
    for (int b = 0; b < balls_; ++b)
        for (int k = 0; k < 4; ++k) {
            const int c = coordinates_.tree().ball_columns[b] + k;
            values[this->pattern_.start[c]] += stiffness_weight * row_force[b] + mass_weight * spin_inertia_[b];
        }
    for (std::size_t i = 0; i < rows_.rows.size(); ++i)
        if (rows_.rows[i].is_holonomic())
            add_row_tangent(s, static_cast<int>(i), stiffness_weight * row_force[balls_ + static_cast<int>(i)], values);
    for (std::size_t i = 0; i < force_reach_.size(); ++i)
        add_force_tangent(s, static_cast<int>(i), damping_weight, stiffness_weight, values);
    accumulate_loads(s, row_force);
    accumulate_momenta(s);
    add_tree_tangent(s, mass_weight, damping_weight, stiffness_weight, values);
    add_ball_tangent(s, stiffness_weight, values);
}

// ---------------------------------------------------------------- bodies

template <int D>
void RelativeSystem<D>::export_states(const VecX& q, const VecX& v, BodyStates<D>& states) const {
    coordinates_.export_states(q, v, states);
}

template <int D>
void RelativeSystem<D>::export_twist_rates(const VecX& q, const VecX& v, const VecX& a,
                                           std::vector<TwistVec<D>>& rates) const {
    RelativeMotion<D> motion = coordinates_.make_motion();
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

template class RelativeSystem<2>;
template class RelativeSystem<3>;

}  // namespace limber
