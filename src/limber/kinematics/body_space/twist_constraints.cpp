#include "limber/kinematics/body_space/twist_constraints.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

namespace limber {

template <int D>
TwistConstraints<D>::TwistConstraints(const Mechanism<D>& m, ConstraintSet<D> constraint_set)
    : mechanism(m), set(std::move(constraint_set)) {
    features.resize(m.features.size());
    values.resize(row_count(), static_cast<int>(set.slot_feature.size()));
    scale = VecX::Ones(row_count());
    connect();
    matrix_.assign(pattern_.nonzeros(), 0.0);
}

// The ordering is worth its price only where something is solved.
template <int D>
bool TwistConstraints<D>::factorize() {
    if (!solver_) solver_ = make_linear_solver(pattern_);
    return solver_->factorize(matrix_);
}

template <int D>
void TwistConstraints<D>::connect() {
    slot_entry_.assign(set.slot_feature.size(), -1);
    std::vector<std::pair<int, int>> body_pairs;
    for (const Row& row : set.rows) {
        const int start = body_start_.back();
        for (int s = row.first_slot; s < row.first_slot + row.slot_count; ++s) {
            const int body = mechanism.features[set.slot_feature[s]].body;
            if (body < 0) continue;
            const auto it = std::find(row_body_.begin() + start, row_body_.end(), body);
            slot_entry_[s] = static_cast<int>(it - row_body_.begin());
            if (it == row_body_.end()) row_body_.push_back(body);
        }
        body_start_.push_back(static_cast<int>(row_body_.size()));
        for (std::size_t a = start; a < row_body_.size(); ++a)
            for (std::size_t b = start; b < row_body_.size(); ++b)
                if (row_body_[a] > row_body_[b]) body_pairs.emplace_back(row_body_[a], row_body_[b]);
    }
    wrench_.assign(row_body_.size(), TwistVec<D>::Zero());

    // The pattern of blocks, one per pair of bodies that share a row, then that of numbers: below its diagonal block a
    // column has one whole block after the other.
    const int bodies = static_cast<int>(mechanism.bodies.size());
    SymmetricPatternBuilder builder(bodies);
    for (const auto& [a, b] : body_pairs) builder.add(a, b);
    const SymmetricPattern blocks = builder.build();
    pattern_.size = bodies * T;
    pattern_.start.clear();
    pattern_.row.clear();
    diagonal_place_.resize(bodies);
    for (int b = 0; b < bodies; ++b) {
        for (int j = 0; j < T; ++j) {
            pattern_.start.push_back(static_cast<int>(pattern_.row.size()));
            for (int i = j; i < T; ++i) {
                diagonal_place_[b][i * (i + 1) / 2 + j] = static_cast<int>(pattern_.row.size());
                pattern_.row.push_back(b * T + i);
            }
            for (int k = blocks.start[b] + 1; k < blocks.start[b + 1]; ++k)
                for (int i = 0; i < T; ++i) pattern_.row.push_back(blocks.row[k] * T + i);
        }
    }
    pattern_.start.push_back(static_cast<int>(pattern_.row.size()));

    for (int r = 0; r < row_count(); ++r) {
        for (int a = body_start_[r]; a < body_start_[r + 1]; ++a)
            for (int b = body_start_[r]; b < body_start_[r + 1]; ++b) {
                if (row_body_[a] <= row_body_[b]) continue;
                const int rank = blocks.find(row_body_[a], row_body_[b]) - blocks.start[row_body_[b]] - 1;
                BodyPair pair{a, b, {}};
                for (int j = 0; j < T; ++j) {
                    const int first = pattern_.start[row_body_[b] * T + j] + T - j + rank * T;
                    for (int i = 0; i < T; ++i) pair.place[i * T + j] = first + i;
                }
                pairs_.push_back(pair);
            }
        pair_start_.push_back(static_cast<int>(pairs_.size()));
    }
}

template <int D>
void TwistConstraints<D>::update(const BodyStates<D>& states, const std::vector<double>& memory, double t) {
    update_features<D>(mechanism, states, mechanism.used_features, features);
    const MeasureContext<D> context{features, memory, mechanism.curves};
    set.evaluate_positions(context, t, values);
    set.evaluate_velocities(context, t, values);
    std::fill(wrench_.begin(), wrench_.end(), TwistVec<D>::Zero());
    for (std::size_t s = 0; s < slot_entry_.size(); ++s) {
        if (slot_entry_[s] < 0) continue;
        const int f = set.slot_feature[s];
        const Feature<D>& feature = mechanism.features[f];
        add_wrench(feature, features.value[f], states[feature.body].position, values.gradient[s],
                   wrench_[slot_entry_[s]]);
    }
}

template <int D>
void TwistConstraints<D>::replace_row(int r, const std::array<int, 2>& bodies,
                                      const std::array<TwistVec<D>, 2>& wrenches) {
    for (int k = body_start_[r]; k < body_start_[r + 1]; ++k) {
        wrench_[k].setZero();
        for (int i = 0; i < 2; ++i)
            if (row_body_[k] == bodies[i]) wrench_[k] += wrenches[i];
    }
}

template <int D>
bool TwistConstraints<D>::measures_angle(const Row& row) const {
    if (!row.is_holonomic() && row.kind != RowKind::user_velocity) return false;
    for (int k = row.first_term; k < row.first_term + row.term_count; ++k) {
        const MeasureKind kind = set.measures[set.terms[k].measure].kind;
        if (kind != MeasureKind::dot && kind != MeasureKind::angle) return false;
    }
    return true;
}

template <int D>
void TwistConstraints<D>::make_comparable() {
    for (auto& w : wrench_) w.template tail<angular_size<D>>() /= mechanism.length_scale;
    for (int r = 0; r < row_count(); ++r) {
        scale[r] = measures_angle(set.rows[r]) ? mechanism.length_scale : 1;
        for (int k = body_start_[r]; k < body_start_[r + 1]; ++k) wrench_[k] *= scale[r];
    }
}

template <int D>
void TwistConstraints<D>::scale_row(int r, double factor) {
    for (int k = body_start_[r]; k < body_start_[r + 1]; ++k) wrench_[k] *= factor;
    scale[r] *= factor;
}

template <int D>
void TwistConstraints<D>::normalise() {
    make_comparable();
    for (int r = 0; r < row_count(); ++r) {
        double square = 0;
        for (int k = body_start_[r]; k < body_start_[r + 1]; ++k) square += wrench_[k].squaredNorm();
        scale_row(r, square > 0 ? 1 / std::sqrt(square) : 0);
    }
}

template <int D>
void TwistConstraints<D>::clear_matrix() {
    std::fill(matrix_.begin(), matrix_.end(), 0.0);
}

template <int D>
void TwistConstraints<D>::add_normal_matrix(double weight, bool with_velocity_rows) {
    for (int r = 0; r < row_count(); ++r) {
        if (!with_velocity_rows && !set.rows[r].is_holonomic()) continue;
        for (int k = body_start_[r]; k < body_start_[r + 1]; ++k) {
            const auto& place = diagonal_place_[row_body_[k]];
            for (int i = 0, p = 0; i < T; ++i)
                for (int j = 0; j <= i; ++j) matrix_[place[p++]] += weight * wrench_[k][i] * wrench_[k][j];
        }
        for (int q = pair_start_[r]; q < pair_start_[r + 1]; ++q) {
            const BodyPair& pair = pairs_[q];
            const TwistVec<D>& a = wrench_[pair.entry_a];
            const TwistVec<D>& b = wrench_[pair.entry_b];
            for (int i = 0; i < T; ++i)
                for (int j = 0; j < T; ++j) matrix_[pair.place[i * T + j]] += weight * a[i] * b[j];
        }
    }
}

template <int D>
void TwistConstraints<D>::add_mass(const BodyStates<D>& states, double floor) {
    const double least_mass = floor * mechanism.mass_scale;
    const double least_inertia = least_mass * mechanism.length_scale * mechanism.length_scale;
    for (std::size_t b = 0; b < mechanism.bodies.size(); ++b) {
        const auto& place = diagonal_place_[b];
        AngularMat<D> inertia = world_inertia(mechanism.bodies[b], states[b]);
        inertia.diagonal().array() += least_inertia;
        for (int i = 0, p = 0; i < T; ++i)
            for (int j = 0; j <= i; ++j, ++p) {
                if (i < D && i == j) matrix_[place[p]] += mechanism.bodies[b].mass + least_mass;
                if (j >= D) matrix_[place[p]] += inertia(i - D, j - D);
            }
    }
}

template <int D>
void TwistConstraints<D>::add_identity(double factor) {
    for (const auto& place : diagonal_place_)
        for (int i = 0, p = 0; i < T; ++i)
            for (int j = 0; j <= i; ++j, ++p)
                if (i == j) matrix_[place[p]] += factor;
}

template <int D>
double TwistConstraints<D>::dot_row(int r, const VecX& twists) const {
    double sum = 0;
    for (int k = body_start_[r]; k < body_start_[r + 1]; ++k)
        sum += wrench_[k].dot(twists.template segment<T>(row_body_[k] * T));
    return sum;
}

template <int D>
void TwistConstraints<D>::add_row(int r, double factor, VecX& result) const {
    for (int k = body_start_[r]; k < body_start_[r + 1]; ++k)
        result.template segment<T>(row_body_[k] * T) += factor * wrench_[k];
}

template <int D>
void TwistConstraints<D>::multiply_rows(const VecX& twists, VecX& result) const {
    for (int r = 0; r < row_count(); ++r) result[r] = dot_row(r, twists);
}

template <int D>
void TwistConstraints<D>::add_transposed(const VecX& multipliers, double factor, VecX& result) const {
    for (int r = 0; r < row_count(); ++r) add_row(r, factor * multipliers[r], result);
}

template <int D>
RowQuantity TwistConstraints<D>::quantity_of(const Row& row) const {
    std::optional<RowQuantity> common;
    for (int k = row.first_term; k < row.first_term + row.term_count; ++k) {
        const MeasureKind kind = set.measures[set.terms[k].measure].kind;
        const RowQuantity quantity = kind == MeasureKind::dot     ? RowQuantity::direction
                                     : kind == MeasureKind::angle ? RowQuantity::angle
                                                                  : RowQuantity::length;
        if (common && *common != quantity) return RowQuantity::mixed;
        common = quantity;
    }
    return common.value_or(RowQuantity::length);
}

template <int D>
WorstRow TwistConstraints<D>::find_worst(const VecX& errors) const {
    WorstRow worst;
    int found = -1;
    for (int r = 0; r < row_count(); ++r)
        if (!(std::abs(errors[r]) <= worst.error)) {
            worst.error = std::abs(errors[r]);
            found = r;
        }
    if (found < 0) return worst;
    const Row& row = set.rows[found];
    worst.quantity = quantity_of(row);
    if (row.element >= 0) {
        const ConstraintElement<D>& element = mechanism.elements[row.element];
        worst.element = element.name;
        worst.subject = fmt::format("{} '{}'", element_role_name(element.role), element.name);
        return worst;
    }
    worst.element = worst.subject = "an initial value";
    for (const NamedScalar& scalar : mechanism.scalars)
        if (scalar.measure == set.terms[row.first_term].measure)
            worst.subject = fmt::format("initial value of '{}'", scalar.name);
    return worst;
}

template class TwistConstraints<2>;
template class TwistConstraints<3>;

}  // namespace limber
