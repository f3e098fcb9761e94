#pragma once
// Definitions of SystemOf<Set>; included only by the files that instantiate it.

#include <fmt/format.h>

#include <algorithm>

#include "limber/dynamics/system/active_features.hpp"
#include "limber/dynamics/system/system_of.hpp"

namespace limber {

template <class Set>
struct SystemOf<Set>::Scratch final : Evaluation {
    FeatureState<D> features;
    RowValues<D> row_values;
    std::vector<Vec<D>> slot_force;
    ForceBlocks<D> blocks;
    std::vector<typename Set::FeatureJacobian> jacobians, rate_jacobians;  // of the slots of one element
};

// ---------------------------------------------------------------- compilation

template <class Set>
SystemOf<Set>::SystemOf(std::shared_ptr<const Mechanism<D>> mechanism, Set set)
    : MechanismSystem<D>(std::move(mechanism)), set_(std::move(set)) {
    const Mechanism<D>& m = *this->mechanism_;
    this->has_constant_mass_ = Set::has_constant_mass;
    this->length_scale_ = m.length_scale;
    this->mass_scale_ = m.mass_scale;
    this->initial_memory_ = m.initial_memory;
    this->coordinate_notes_ = set_.describe_sharing();
    gather_rows();
    active_features_ = stepping_features(rows_, m);
    memory_features_ = counting_features(m);
    build_patterns();
    find_constant_hessians();
    for (const auto& g : m.gravity) has_constant_gravity_ = has_constant_gravity_ && g.is_constant();
    constant_weight_ = VecX::Zero(this->size());
    if (has_constant_gravity_) {
        set_.add_weight(m.gravity_at(0), constant_weight_);
    }
    compute_row_inertia();
}

// Rows in the order: norms of Euler parameters, rows of the set, holonomic rows of the mechanism, velocity rows.
template <class Set>
void SystemOf<Set>::gather_rows() {
    const Mechanism<D>& m = *this->mechanism_;
    normalisation_rows_ = set_.normalisation_rows();
    rows_ = set_.own_rows();
    const int own = std::max(normalisation_rows_, static_cast<int>(rows_.rows.size()));
    for (int i = 0; i < own; ++i)
        this->row_names_.push_back(fmt::format("rigidity of body '{}'", m.bodies[set_.own_row_body(i)].name));
    // Measures of the mechanism follow those of the set, so their indices move by an offset.
    const int offset = static_cast<int>(rows_.measures.size());
    rows_.measures.insert(rows_.measures.end(), m.constraints.measures.begin(), m.constraints.measures.end());
    rows_.laws = m.constraints.laws;
    rows_.user_rows = m.constraints.user_rows;
    for (auto& user : rows_.user_rows)
        for (int& input : user.inputs) input += offset;
    for (const bool holonomic : {true, false}) {
        for (const Row& row : m.constraints.rows) {
            if (row.is_holonomic() != holonomic || set_.is_implied(row)) continue;
            Row copy = row;
            copy.first_term = static_cast<int>(rows_.terms.size());
            copy.first_slot = static_cast<int>(rows_.slot_feature.size());
            for (int k = row.first_term; k < row.first_term + row.term_count; ++k) {
                RowTerm term = m.constraints.terms[k];
                term.measure += offset;
                rows_.terms.push_back(term);
            }
            for (int s = row.first_slot; s < row.first_slot + row.slot_count; ++s)
                rows_.slot_feature.push_back(m.constraints.slot_feature[s]);
            rows_.rows.push_back(copy);
            const auto& element = m.elements[row.element];
            this->row_names_.push_back(fmt::format("{} '{}'", element_role_name(element.role), element.name));
        }
        if (holonomic) this->holonomic_rows_ = normalisation_rows_ + static_cast<int>(rows_.rows.size());
    }
}

template <class Set>
ColumnUnion SystemOf<Set>::unite(const int* features, int count) const {
    ColumnUnion u;
    for (int s = 0; s < count; ++s) {
        const auto columns = set_.columns(features[s]);
        u.columns.insert(u.columns.end(), columns.begin(), columns.end());
    }
    std::sort(u.columns.begin(), u.columns.end());
    u.columns.erase(std::unique(u.columns.begin(), u.columns.end()), u.columns.end());
    for (int s = 0; s < count; ++s) {
        u.slot_start.push_back(static_cast<int>(u.map.size()));
        for (const int column : set_.columns(features[s])) {
            const auto it = std::lower_bound(u.columns.begin(), u.columns.end(), column);
            u.map.push_back(static_cast<int>(it - u.columns.begin()));
        }
    }
    u.slot_start.push_back(static_cast<int>(u.map.size()));
    return u;
}

template <class Set>
void SystemOf<Set>::build_patterns() {
    const Mechanism<D>& m = *this->mechanism_;
    SymmetricPatternBuilder builder(set_.size());
    set_.add_mass_pattern(builder);
    this->jacobian_pattern_.columns = set_.size();
    for (int i = 0; i < normalisation_rows_; ++i) {
        this->jacobian_pattern_.append(set_.normalisation_columns(i));
        this->euler_parameters_.push_back(set_.normalisation_columns(i)[0]);
    }
    for (const Row& row : rows_.rows) {
        const ColumnUnion u = unite(rows_.slot_feature.data() + row.first_slot, row.slot_count);
        this->jacobian_pattern_.append(u.columns);
        const int base = static_cast<int>(slot_map_.size());
        for (int s = 0; s < row.slot_count; ++s) slot_map_start_.push_back(base + u.slot_start[s]);
        slot_map_.insert(slot_map_.end(), u.map.begin(), u.map.end());
    }
    for (const auto& e : m.forces.elements) {
        force_columns_.push_back(unite(m.forces.slot_feature.data() + e.first_slot, e.slot_count));
        builder.add_clique(force_columns_.back().columns);
    }
    this->finish_patterns(builder);
    for (const ColumnUnion& u : force_columns_) {
        std::vector<int> places;
        for (const int i : u.columns)
            for (const int j : u.columns) places.push_back(this->pattern_.find(i, j));
        force_places_.push_back(std::move(places));
    }
    mass_places_ = set_.make_mass_places(this->pattern_);
    if (Set::has_constant_mass) {
        constant_mass_.assign(this->pattern_.nonzeros(), 0.0);
        set_.assemble_mass(VecX(), mass_places_, constant_mass_);
    }
}

// With features linear in the coordinates, products of features have constant second derivatives.
template <class Set>
void SystemOf<Set>::find_constant_hessians() {
    has_varying_hessian_.assign(rows_.rows.size(), false);
    hessian_start_.assign(1, 0);
    const auto is_quadratic = [&](const Row& row) {
        if (Set::has_curved_features) return false;
        for (int k = row.first_term; k < row.first_term + row.term_count; ++k) {
            const MeasureKind kind = rows_.measures[rows_.terms[k].measure].kind;
            if (kind != MeasureKind::component && kind != MeasureKind::dot && kind != MeasureKind::dot_point &&
                kind != MeasureKind::half_square)
                return false;
        }
        return true;
    };
    const auto scratch = make_evaluation();
    auto& s = static_cast<Scratch&>(*scratch);
    const VecX q = VecX::Zero(this->size());
    s.q = s.v = &q;
    s.memory = this->initial_memory_;
    std::vector<double> values(this->pattern_.nonzeros(), 0.0);
    for (std::size_t i = 0; i < rows_.rows.size(); ++i) {
        const Row& row = rows_.rows[i];
        if (row.is_holonomic() && is_quadratic(row)) {
            add_row_hessian(s, static_cast<int>(i), 1, values);
            const int system_row = normalisation_rows_ + static_cast<int>(i);
            for (int k = this->outer_start_[system_row]; k < this->outer_start_[system_row + 1]; ++k) {
                const int place = this->outer_place_[k];
                if (values[place] == 0) continue;
                hessian_place_.push_back(place);
                hessian_value_.push_back(values[place]);
                values[place] = 0;
            }
        } else {
            has_varying_hessian_[i] = row.is_holonomic();
        }
        hessian_start_.push_back(static_cast<int>(hessian_place_.size()));
    }
}

// 1 / (J D^-1 J^T) with the diagonal D of M at the reference configuration, floored where there is no mass.
template <class Set>
void SystemOf<Set>::compute_row_inertia() {
    const Mechanism<D>& m = *this->mechanism_;
    VecX q;
    VecX v;
    BodyStates<D> states;
    for (const auto& body : m.bodies) states.push_back(body.reference);
    set_.import_states(states, q, v);
    const auto e = make_evaluation();
    const std::vector<double> memory = m.memory_with_all_rows();
    update_positions(*e, 0, q, memory);
    this->coordinate_inertia_.resize(this->size());
    for (int column = 0; column < this->size(); ++column)
        this->coordinate_inertia_[column] = std::max(e->mass[this->pattern_.start[column]], set_.inertia_floor(column));
    this->row_inertia_.resize(this->rows());
    for (int i = 0; i < this->rows(); ++i) {
        double sum = 0;
        for (int k = this->jacobian_pattern_.start[i]; k < this->jacobian_pattern_.start[i + 1]; ++k) {
            sum += e->jacobian[k] * e->jacobian[k] / this->coordinate_inertia_[this->jacobian_pattern_.column[k]];
        }
        this->row_inertia_[i] = this->find_row_inertia(sum);
    }
}

// ---------------------------------------------------------------- evaluation

template <class Set>
std::unique_ptr<Evaluation> SystemOf<Set>::make_evaluation() const {
    const Mechanism<D>& m = *this->mechanism_;
    auto s = std::make_unique<Scratch>();
    s->features.resize(set_.feature_count());
    s->features.has_bias = Set::has_curved_features;
    s->row_values.resize(static_cast<int>(rows_.rows.size()), static_cast<int>(rows_.slot_feature.size()));
    s->slot_force.assign(m.forces.slot_feature.size(), Vec<D>::Zero());
    s->blocks.reserve(m.forces.max_slots());
    int max_slots = m.forces.max_slots();
    for (const Row& row : rows_.rows) max_slots = std::max(max_slots, row.slot_count);
    s->jacobians.resize(max_slots);
    s->rate_jacobians.resize(max_slots);
    const int rows = this->rows();
    s->phi = s->time_partial = s->rate = s->bias = VecX::Zero(rows);
    s->jacobian.assign(this->jacobian_pattern_.nonzeros(), 0.0);
    s->mass = constant_mass_;
    s->mass.resize(this->pattern_.nonzeros(), 0.0);
    s->force = VecX::Zero(this->size());
    return s;
}

template <class Set>
auto SystemOf<Set>::context(const Evaluation& e) const -> MeasureContext<D> {
    return {static_cast<const Scratch&>(e).features, e.memory, this->mechanism_->curves};
}

template <class Set>
void SystemOf<Set>::update_residuals(Evaluation& e, double t, const VecX& q, std::span<const double> memory) const {
    auto& s = static_cast<Scratch&>(e);
    s.t = t;
    s.q = &q;
    s.memory = memory;
    set_.update_positions(q, active_features_, s.features);
    rows_.evaluate_positions(context(e), t, s.row_values);
    for (int b = 0; b < normalisation_rows_; ++b)
        s.phi[b] = 0.5 * (q.template segment<4>(Set::turning_column(b)).squaredNorm() - 1);
    s.phi.tail(this->rows() - normalisation_rows_) = s.row_values.phi;
}

template <class Set>
void SystemOf<Set>::update_positions(Evaluation& e, double t, const VecX& q, std::span<const double> memory) const {
    update_residuals(e, t, q, memory);
    auto& s = static_cast<Scratch&>(e);
    std::fill(s.jacobian.begin(), s.jacobian.end(), 0.0);
    for (int b = 0; b < normalisation_rows_; ++b)
        for (int k = 0; k < 4; ++k) s.jacobian[this->jacobian_pattern_.start[b] + k] = q[Set::turning_column(b) + k];
    for (std::size_t i = 0; i < rows_.rows.size(); ++i) {
        const Row& row = rows_.rows[i];
        double* out = s.jacobian.data() + this->jacobian_pattern_.start[normalisation_rows_ + i];
        for (int slot = row.first_slot; slot < row.first_slot + row.slot_count; ++slot)
            set_.pull_back(rows_.slot_feature[slot], s.row_values.gradient[slot], q,
                           slot_map_.data() + slot_map_start_[slot], out);
    }
    if (!Set::has_constant_mass) {
        std::fill(s.mass.begin(), s.mass.end(), 0.0);
        set_.assemble_mass(q, mass_places_, s.mass);
    }
}

template <class Set>
void SystemOf<Set>::update_velocities(Evaluation& e, const VecX& v) const {
    auto& s = static_cast<Scratch&>(e);
    s.v = &v;
    set_.update_velocities(*s.q, v, active_features_, s.features);
    rows_.evaluate_velocities(context(e), s.t, s.row_values);
    for (int b = 0; b < normalisation_rows_; ++b)
        s.bias[b] = v.template segment<4>(Set::turning_column(b)).squaredNorm();
    const int rest = this->rows() - normalisation_rows_;
    s.bias.tail(rest) = s.row_values.bias;
    s.time_partial.tail(rest) = s.row_values.time_partial;
    multiply(this->jacobian_pattern_, s.jacobian, v, s.rate);
    s.rate += s.time_partial;
    for (int i = this->holonomic_rows_; i < this->rows(); ++i) s.phi[i] = s.rate[i];
}

template <class Set>
void SystemOf<Set>::update_forces(Evaluation& e) const {
    auto& s = static_cast<Scratch&>(e);
    const Mechanism<D>& m = *this->mechanism_;
    if (has_constant_gravity_) {
        s.force = constant_weight_;
    } else {
        s.force.setZero();
        set_.add_weight(m.gravity_at(s.t), s.force);
    }
    if constexpr (!Set::has_constant_mass) set_.subtract_velocity_inertia(*s.q, *s.v, s.force);
    m.forces.evaluate(m.constraints.measures, context(e), s.t, s.slot_force);
    // The columns of a feature are global here, so each maps to itself.
    for (std::size_t slot = 0; slot < s.slot_force.size(); ++slot) {
        const int feature = m.forces.slot_feature[slot];
        set_.pull_back(feature, s.slot_force[slot], *s.q, set_.columns(feature).data(), s.force.data());
    }
}

template <class Set>
void SystemOf<Set>::update_memory(Evaluation& e, const VecX& q, std::vector<double>& memory) const {
    const Mechanism<D>& m = *this->mechanism_;
    if (memory.empty()) return;
    auto& s = static_cast<Scratch&>(e);
    set_.update_positions(q, memory_features_, s.features);
    refresh_memory(m, s.features, memory);
}

// ---------------------------------------------------------------- tangent matrices

template <class Set>
void SystemOf<Set>::add_row_hessian(Scratch& s, int index, double weight, std::vector<double>& values) const {
    const Row& row = rows_.rows[index];
    const MeasureContext<D> c = context(s);
    MeasureHessian<D> hessian;
    int slot = row.first_slot;
    const int start = this->outer_start_[normalisation_rows_ + index];
    // Lower triangle of the row's own columns: entry (a, b), a >= b, is at a (a + 1) / 2 + b.
    const auto place = [&](int a, int b) {
        if (a < b) std::swap(a, b);
        return this->outer_place_[start + a * (a + 1) / 2 + b];
    };
    for (int k = row.first_term; k < row.first_term + row.term_count; ++k) {
        const Measure<D>& m = rows_.measures[rows_.terms[k].measure];
        const double w = weight * rows_.terms[k].coefficient;
        compute_hessian(m, c, hessian);
        for (int i = 0; i < m.count; ++i) set_.compute_jacobian(m.feature[i], *s.q, s.jacobians[i]);
        for (int i = 0; i < m.count; ++i) {
            const int* map_i = slot_map_.data() + slot_map_start_[slot + i];
            for (int j = 0; j < m.count; ++j) {
                const int* map_j = slot_map_.data() + slot_map_start_[slot + j];
                const auto left = (s.jacobians[i].transpose() * hessian.block[i][j]).eval();
                for (Eigen::Index p = 0; p < left.rows(); ++p)
                    for (Eigen::Index r = 0; r < s.jacobians[j].cols(); ++r) {
                        const int a = map_i[p];
                        const int b = map_j[r];
                        // (a, b) and (b, a) share one place of the triangle: each brings half of their sum.
                        values[place(a, b)] += (a == b ? 1.0 : 0.5) * w * left.row(p).dot(s.jacobians[j].col(r));
                    }
            }
            if constexpr (Set::has_curved_features) {
                if (set_.columns(m.feature[i]).empty()) continue;
                const auto curvature = set_.compute_curvature(m.feature[i], s.row_values.gradient[slot + i], *s.q);
                constexpr int T = Set::turning_columns;
                const int* turning = map_i + set_.columns(m.feature[i]).size() - T;
                for (int p = 0; p < T; ++p)
                    for (int r = 0; r < T; ++r)
                        values[place(turning[p], turning[r])] += (p == r ? 1.0 : 0.5) * weight * curvature(p, r);
            }
        }
        slot += m.count;
    }
}

template <class Set>
void SystemOf<Set>::add_force_tangent(Scratch& s, int index, double damping_weight, double stiffness_weight,
                                      std::vector<double>& values) const {
    const Mechanism<D>& m = *this->mechanism_;
    const auto& element = m.forces.elements[index];
    const ColumnUnion& u = force_columns_[index];
    const int* slots = m.forces.slot_feature.data() + element.first_slot;
    const int stride = static_cast<int>(u.columns.size());
    const std::vector<int>& places = force_places_[index];
    const auto add = [&](int a, int b, double value) {
        values[places[a * stride + b]] += (a == b ? 1.0 : 0.5) * value;
    };
    const bool has_blocks = m.forces.compute_blocks(index, m.constraints.measures, context(s), s.t, s.blocks,
                                                    s.prediction.empty() ? nullptr : s.prediction.data());
    if (has_blocks) {
        for (int i = 0; i < element.slot_count; ++i) {
            set_.compute_jacobian(slots[i], *s.q, s.jacobians[i]);
            if constexpr (Set::has_curved_features)
                set_.compute_rate_jacobian(slots[i], *s.q, *s.v, s.rate_jacobians[i]);
        }
        for (int i = 0; i < element.slot_count; ++i)
            for (int j = 0; j < element.slot_count; ++j) {
                const Mat<D> block = stiffness_weight * s.blocks.k(i, j) + damping_weight * s.blocks.c(i, j);
                const int* map_i = u.map.data() + u.slot_start[i];
                const int* map_j = u.map.data() + u.slot_start[j];
                const auto left = (s.jacobians[i].transpose() * block).eval();
                for (Eigen::Index p = 0; p < left.rows(); ++p)
                    for (Eigen::Index r = 0; r < s.jacobians[j].cols(); ++r)
                        add(map_i[p], map_j[r], left.row(p).dot(s.jacobians[j].col(r)));
                if constexpr (Set::has_curved_features) {
                    const auto damped = (stiffness_weight * s.jacobians[i].transpose() * s.blocks.c(i, j)).eval();
                    for (Eigen::Index p = 0; p < damped.rows(); ++p)
                        for (Eigen::Index r = 0; r < s.rate_jacobians[j].cols(); ++r)
                            add(map_i[p], map_j[r], damped.row(p).dot(s.rate_jacobians[j].col(r)));
                }
            }
    }
    if constexpr (Set::has_curved_features) {
        constexpr int T = Set::turning_columns;
        for (int i = 0; i < element.slot_count; ++i) {
            const auto columns = set_.columns(slots[i]);
            if (columns.empty()) continue;
            const auto curvature = set_.compute_curvature(slots[i], s.slot_force[element.first_slot + i], *s.q);
            const int* turning = u.map.data() + u.slot_start[i] + columns.size() - T;
            for (int p = 0; p < T; ++p)
                for (int r = 0; r < T; ++r) add(turning[p], turning[r], -stiffness_weight * curvature(p, r));
        }
    }
}

template <class Set>
void SystemOf<Set>::add_inertia_tangent(const Evaluation& e, double damping_weight, double stiffness_weight,
                                        const VecX& a, std::vector<double>& values) const {
    if constexpr (!Set::has_constant_mass) {
        constexpr int T = Set::turning_columns;
        typename Set::Curvature by_q;
        typename Set::Curvature by_v;
        const int* place = mass_places_.data();
        for (std::size_t b = 0; b < this->mechanism_->bodies.size(); ++b) {
            set_.compute_inertia_tangent(static_cast<int>(b), *e.q, *e.v, a, by_q, by_v);
            place += D;
            for (int i = 0; i < T; ++i)
                for (int j = 0; j <= i; ++j)
                    values[*place++] += stiffness_weight * by_q(i, j) + damping_weight * by_v(i, j);
        }
    }
}

template <class Set>
void SystemOf<Set>::assemble_tangent(Evaluation& e, double mass_weight, double damping_weight, double stiffness_weight,
                                     const VecX& row_force, const VecX& a, std::vector<double>& values) const {
    auto& s = static_cast<Scratch&>(e);
    const Mechanism<D>& m = *this->mechanism_;
    if (!e.prediction.empty())
        m.forces.evaluate(m.constraints.measures, context(s), s.t, s.slot_force, e.prediction.data());
    for (std::size_t k = 0; k < values.size(); ++k) values[k] = mass_weight * s.mass[k];
    for (int b = 0; b < normalisation_rows_; ++b) {
        // Second derivative of a norm row: the identity on its four columns.
        const double weight = stiffness_weight * row_force[b];
        const int start = this->outer_start_[b];
        for (int k = 0; k < 4; ++k) values[this->outer_place_[start + k * (k + 1) / 2 + k]] += weight;
    }
    for (std::size_t i = 0; i < rows_.rows.size(); ++i) {
        const double weight = stiffness_weight * row_force[normalisation_rows_ + static_cast<int>(i)];
        if (has_varying_hessian_[i]) {
            add_row_hessian(s, static_cast<int>(i), weight, values);
        } else {
            for (int k = hessian_start_[i]; k < hessian_start_[i + 1]; ++k)
                values[hessian_place_[k]] += weight * hessian_value_[k];
        }
    }
    for (std::size_t i = 0; i < force_columns_.size(); ++i)
        add_force_tangent(s, static_cast<int>(i), damping_weight, stiffness_weight, values);
    add_inertia_tangent(e, damping_weight, stiffness_weight, a, values);
}

template <class Set>
void SystemOf<Set>::predict(Evaluation& e, const VecX& change, double* prediction) const {
    update_velocities(e, change);
    const Mechanism<D>& m = *this->mechanism_;
    m.forces.predict(m.constraints.measures, context(static_cast<Scratch&>(e)), e.t, prediction);
}

template <class Set>
void SystemOf<Set>::assemble_approximate_tangent(Evaluation& e, double mass_weight, double damping_weight,
                                                 double stiffness_weight, std::vector<double>& values) const {
    auto& s = static_cast<Scratch&>(e);
    for (std::size_t k = 0; k < values.size(); ++k) values[k] = mass_weight * s.mass[k];
    for (std::size_t i = 0; i < force_columns_.size(); ++i)
        add_force_tangent(s, static_cast<int>(i), damping_weight, stiffness_weight, values);
}

// ---------------------------------------------------------------- bodies

template <class Set>
void SystemOf<Set>::export_states(const VecX& q, const VecX& v, BodyStates<D>& states) const {
    set_.export_states(q, v, states);
}

template <class Set>
void SystemOf<Set>::export_twist_rates(const VecX& q, const VecX& v, const VecX& a,
                                       std::vector<TwistVec<D>>& rates) const {
    set_.export_twist_rates(q, v, a, rates);
}

template <class Set>
void SystemOf<Set>::export_states_of(std::span<const int> bodies, const VecX& q, const VecX& v,
                                     BodyStates<D>& states) const {
    for (const int b : bodies) set_.export_state(b, q, v, states[b]);
}

template <class Set>
void SystemOf<Set>::export_twist_rates_of(std::span<const int> bodies, const VecX& q, const VecX& v, const VecX& a,
                                          std::vector<TwistVec<D>>& rates) const {
    for (const int b : bodies) set_.export_twist_rate(b, q, v, a, rates[b]);
}

template <class Set>
void SystemOf<Set>::import_states(const BodyStates<D>& states, VecX& q, VecX& v) const {
    set_.import_states(states, q, v);
}

template <class Set>
void SystemOf<Set>::import_twist_rates(const BodyStates<D>& states, const std::vector<TwistVec<D>>& rates,
                                       const VecX& q, const VecX& v, VecX& a) const {
    set_.import_twist_rates(states, rates, q, v, a);
}

template <class Set>
const char* SystemOf<Set>::coordinates_name() const {
    return Set::name;
}

}  // namespace limber
