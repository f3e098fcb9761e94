#include "limber/kinematics/elements/constraint_set.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "limber/kinematics/elements/triple.hpp"

namespace limber {
namespace {

// ---------------------------------------------------------------- small vectors over any scalar

template <class S>
Triple<S> operator+(const Triple<S>& a, const Triple<S>& b) {
    return {a[0] + b[0], a[1] + b[1], a[2] + b[2]};
}
template <class S>
Triple<S> operator-(const Triple<S>& a, const Triple<S>& b) {
    return {a[0] - b[0], a[1] - b[1], a[2] - b[2]};
}
template <class S>
Triple<S> operator*(const S& s, const Triple<S>& a) {
    return {s * a[0], s * a[1], s * a[2]};
}

// ---------------------------------------------------------------- rolling and skating
// Velocity of the material point of body B at x relative to body A, along T:
//   T . (pdot_B - pdot_A) + omega_B . ((x - p_B) x T) - omega_A . ((x - p_A) x T)
// and  omega . w = 1/2 sum_k edot_k . (w x e_k)  gives the coefficient of each axis rate.
// In the plane the axes are x, y only; a third axis fixed at (0,0,1) makes both cases one:
//   1/2 sum over x, y, z with zdot = 0 gives omega_z when the sum runs over x and y with weight 1/2 each.

constexpr int max_slots = 8;

// Velocity along `tangent` of the body's material point at its centre + contact, relative to the plane's material point
// there.
template <int D, class S>
void slip_coefficients(const std::array<Triple<S>, max_slots>& f, const Triple<S>& contact, const Triple<S>& tangent,
                       std::array<Triple<S>, max_slots>& out) {
    constexpr int disc = D + 1;
    const Triple<S> w_disc = cross(contact, tangent);
    const Triple<S> w_plane = cross(f[disc] - f[0] + contact, tangent);
    out[disc] = tangent;
    out[0] = S(-1.0) * tangent;
    for (int k = 0; k < D; ++k) {
        out[disc + 1 + k] = S(0.5) * cross(w_disc, f[disc + 1 + k]);
        out[1 + k] = S(-0.5) * cross(w_plane, f[1 + k]);
    }
}

// Slots of rolling: plane frame p, axes(D); disc frame p, axes(D).
template <int D, class S>
void rolling_coefficients(const std::array<Triple<S>, max_slots>& f, double radius, int axis,
                          std::array<Triple<S>, max_slots>& out) {
    constexpr int disc = D + 1;
    const Triple<S> tangent = f[1 + axis];
    Triple<S> contact;  // from the disc's centre to the point of contact
    if constexpr (D == 3) {
        const Triple<S> n = f[3];
        const Triple<S> s = f[disc + 3];
        const S u = dot(n, s);
        using std::sqrt;
        const S root = sqrt(S(1.0) - u * u);
        contact = (S(-radius) / root) * (n - u * s);
    } else {
        contact = S(-radius) * f[2];
    }
    slip_coefficients<D, S>(f, contact, tangent, out);
}

// Tangent at a round body with the normal n: the first frame's y and z, turned the shortest way that takes its x to n.
// In space there is none where n = -x.
template <int D, class S>
Triple<S> round_tangent(const std::array<Triple<S>, max_slots>& f, const Triple<S>& n, int axis) {
    if constexpr (D == 2) {
        return {S(0.0) - n[1], n[0], S(0.0)};
    } else {
        const Triple<S>& e = f[2 + axis];
        return e - (dot(n, e) / (S(1.0) + dot(n, f[1]))) * (f[1] + n);
    }
}

// Slots of sliding: plane frame p, axes(D); ball frame p, axes(D). The last axis of the plane is its normal.
template <int D, class S>
void sliding_coefficients(const std::array<Triple<S>, max_slots>& f, const Row& row,
                          std::array<Triple<S>, max_slots>& out) {
    if (!row.is_round) {
        slip_coefficients<D, S>(f, S(-row.radius) * f[D], f[1 + row.axis], out);
        return;
    }
    constexpr double tiny = 1e-300;  // points that coincide have no normal, and touch nothing
    using std::sqrt;
    const Triple<S> d = f[D + 1] - f[0];
    const Triple<S> n = (S(1.0) / sqrt(dot(d, d) + S(tiny))) * d;
    slip_coefficients<D, S>(f, S(-row.radius) * n, round_tangent<D, S>(f, n, row.axis), out);
}

// Slots of skate: ground frame p, axes(D); blade point, lateral axis.
template <int D, class S>
void skate_coefficients(const std::array<Triple<S>, max_slots>& f, std::array<Triple<S>, max_slots>& out) {
    constexpr int blade = D + 1;
    const Triple<S> lateral = f[blade + 1];
    const Triple<S> w = cross(f[blade] - f[0], lateral);
    out[blade] = lateral;
    out[blade + 1] = Triple<S>{S(0.0), S(0.0), S(0.0)};
    out[0] = S(-1.0) * lateral;
    for (int k = 0; k < D; ++k) out[1 + k] = S(-0.5) * cross(w, f[1 + k]);
}

template <int D, class S>
void coefficients(const Row& row, const std::array<Triple<S>, max_slots>& f, std::array<Triple<S>, max_slots>& out) {
    if (row.kind == RowKind::rolling) {
        rolling_coefficients<D, S>(f, row.radius, row.axis, out);
    } else if (row.kind == RowKind::sliding) {
        sliding_coefficients<D, S>(f, row, out);
    } else {
        skate_coefficients<D, S>(f, out);
    }
}

}  // namespace

template <int D>
int ConstraintSet<D>::add_measure(const Measure<D>& measure) {
    measures.push_back(measure);
    return static_cast<int>(measures.size()) - 1;
}

template <int D>
void ConstraintSet<D>::add_holonomic(int element, const std::vector<RowTerm>& row_terms, double rhs, int law) {
    Row row;
    row.element = element;
    row.rhs = rhs;
    row.law = law;
    row.first_term = static_cast<int>(terms.size());
    row.term_count = static_cast<int>(row_terms.size());
    row.first_slot = static_cast<int>(slot_feature.size());
    for (const RowTerm& term : row_terms) {
        const Measure<D>& m = measures[term.measure];
        for (int i = 0; i < m.count; ++i) slot_feature.push_back(m.feature[i]);
        row.slot_count += m.count;
        terms.push_back(term);
    }
    rows.push_back(row);
}

template <int D>
void ConstraintSet<D>::drop_rows_from(int first) {
    if (first >= static_cast<int>(rows.size())) return;
    for (auto row = rows.begin() + first; row != rows.end(); ++row)
        if (row->term_count > 0) terms.resize(std::min(terms.size(), static_cast<std::size_t>(row->first_term)));
    slot_feature.resize(rows[first].first_slot);
    rows.resize(first);
}

template <int D>
void ConstraintSet<D>::add_velocity_row(Row row, const std::vector<int>& slots) {
    row.first_slot = static_cast<int>(slot_feature.size());
    row.slot_count = static_cast<int>(slots.size());
    slot_feature.insert(slot_feature.end(), slots.begin(), slots.end());
    rows.push_back(row);
}

template <int D>
void ConstraintSet<D>::add_user_velocity_row(int element, const std::vector<int>& row_measures, UserVelocityRow user) {
    std::vector<RowTerm> row_terms;
    row_terms.reserve(row_measures.size());
    for (const int m : row_measures) row_terms.push_back({1.0, m});
    add_holonomic(element, row_terms, 0);
    rows.back().kind = RowKind::user_velocity;
    rows.back().user = static_cast<int>(user_rows.size());
    user_rows.push_back(std::move(user));
}

template <int D>
ConstraintSet<D> ConstraintSet<D>::with_rows(const std::vector<int>& list, bool keeps_flags) const {
    ConstraintSet<D> set = *this;
    set.rows.clear();
    set.terms.clear();
    set.slot_feature.clear();
    for (const int index : list) {
        Row row = rows[index];
        if (!keeps_flags) row.flag = {};
        row.first_term = static_cast<int>(set.terms.size());
        row.first_slot = static_cast<int>(set.slot_feature.size());
        const auto first_term = terms.begin() + rows[index].first_term;
        const auto first_slot = slot_feature.begin() + rows[index].first_slot;
        set.terms.insert(set.terms.end(), first_term, first_term + row.term_count);
        set.slot_feature.insert(set.slot_feature.end(), first_slot, first_slot + row.slot_count);
        set.rows.push_back(row);
    }
    return set;
}

template <int D>
void ConstraintSet<D>::evaluate_positions(const MeasureContext<D>& context, double t, RowValues<D>& out) const {
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const Row& row = rows[i];
        if (!row.is_on(context.memory)) {
            out.phi[static_cast<Eigen::Index>(i)] = 0;
            std::fill_n(out.gradient.begin() + row.first_slot, row.slot_count, Vec<D>::Zero());
            continue;
        }
        if (!row.is_holonomic()) {
            evaluate_velocity_row(row, context, t, out);
            continue;
        }
        int slot = row.first_slot;
        double sum = -(row.law < 0 ? row.rhs : laws[row.law].value(t));
        for (int k = row.first_term; k < row.first_term + row.term_count; ++k) {
            const Measure<D>& m = measures[terms[k].measure];
            const double c = terms[k].coefficient;
            Vec<D>* gradient = &out.gradient[slot];
            sum += c * compute_gradient(m, context, gradient);
            if (c != 1)
                for (int j = 0; j < m.count; ++j) gradient[j] *= c;
            slot += m.count;
        }
        out.phi[static_cast<Eigen::Index>(i)] = sum;
    }
}

namespace {

// Variables of a user velocity row: inputs, t, and rates, of which none or one is 1.
template <class S>
struct UserVariables {
    std::array<S, BoundExpression::max_depth> all{};
    std::size_t first_rate, count;

    explicit UserVariables(const UserVelocityRow& row)
        : first_rate(row.inputs.size() + 1), count(first_rate + static_cast<std::size_t>(row.rates)) {}
    std::span<const S> span() const { return {all.data(), count}; }

    // Of term k of the row: its own coefficient, or what the rhs has for that rate.
    S find_coefficient(const UserVelocityRow& row, int k, const S& rhs) {
        const int own = static_cast<int>(row.coefficients.size());
        if (k < own) return row.coefficients[k].template evaluate<S>(span());
        S& rate = all[first_rate + static_cast<std::size_t>(k - own)];
        rate = S(1.0);
        const S with = row.rhs.template evaluate<S>(span());
        rate = S(0.0);
        return rhs - with;
    }
};

}  // namespace

// Gradients of velocity rows; their value needs velocities and is J qdot + time_partial.
template <int D>
void ConstraintSet<D>::evaluate_velocity_row(const Row& row, const MeasureContext<D>& context, double t,
                                             RowValues<D>& out) const {
    if (row.kind == RowKind::user_velocity) {
        const UserVelocityRow& user = user_rows[row.user];
        UserVariables<double> variables(user);
        const std::size_t inputs = user.inputs.size();
        for (std::size_t k = 0; k < inputs; ++k) variables.all[k] = compute_value(measures[user.inputs[k]], context);
        variables.all[inputs] = t;
        const double rhs = user.rates > 0 ? user.rhs.template evaluate<double>(variables.span()) : 0;
        MeasureGradient<D> gradient;
        int slot = row.first_slot;
        for (int k = 0; k < row.term_count; ++k) {
            const Measure<D>& m = measures[terms[row.first_term + k].measure];
            compute_gradient(m, context, gradient.data());
            const double c = variables.find_coefficient(user, k, rhs);
            for (int j = 0; j < m.count; ++j) out.gradient[slot++] = c * gradient[j];
        }
        return;
    }
    std::array<Triple<double>, max_slots> f{};
    std::array<Triple<double>, max_slots> a{};
    for (int s = 0; s < row.slot_count; ++s)
        for (int i = 0; i < D; ++i) f[s][i] = context.features.value[slot_feature[row.first_slot + s]][i];
    coefficients<D, double>(row, f, a);
    for (int s = 0; s < row.slot_count; ++s)
        for (int i = 0; i < D; ++i) out.gradient[row.first_slot + s][i] = a[s][i];
}

template <int D>
void ConstraintSet<D>::evaluate_velocities(const MeasureContext<D>& context, double t, RowValues<D>& out) const {
    using D1 = Dual<1>;
    const auto& features = context.features;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const Row& row = rows[i];
        double time_partial = 0;
        double bias = 0;
        if (!row.is_on(context.memory)) {
            // Nothing to add.
        } else if (row.is_holonomic()) {
            if (row.law >= 0) {
                const Taylor2 h = laws[row.law].at(t);
                time_partial = -h.first;
                bias = -h.second;
            }
            for (int k = row.first_term; k < row.first_term + row.term_count; ++k)
                bias += terms[k].coefficient * compute_bias(measures[terms[k].measure], context);
        } else if (row.kind == RowKind::user_velocity) {
            const UserVelocityRow& user = user_rows[row.user];
            UserVariables<D1> variables(user);
            const std::size_t inputs = user.inputs.size();
            for (std::size_t k = 0; k < inputs; ++k) {
                const Measure<D>& m = measures[user.inputs[k]];
                variables.all[k].value = compute_value(m, context);
                variables.all[k].partial[0] = compute_rate(m, context);
            }
            variables.all[inputs] = D1::variable(t, 0);
            const D1 rhs = user.rhs.template evaluate<D1>(variables.span());
            for (int k = 0; k < row.term_count; ++k) {
                const Measure<D>& m = measures[terms[row.first_term + k].measure];
                const D1 c = variables.find_coefficient(user, k, rhs);
                bias += c.partial[0] * compute_rate(m, context) + c.value * compute_bias(m, context);
            }
            time_partial = -rhs.value;
            bias -= rhs.partial[0];
        } else {
            std::array<Triple<D1>, max_slots> f{};
            std::array<Triple<D1>, max_slots> a{};
            for (int s = 0; s < row.slot_count; ++s) {
                const int feature = slot_feature[row.first_slot + s];
                for (int j = 0; j < D; ++j) {
                    f[s][j].value = features.value[feature][j];
                    f[s][j].partial[0] = features.rate[feature][j];
                }
            }
            coefficients<D, D1>(row, f, a);
            for (int s = 0; s < row.slot_count; ++s) {
                const int feature = slot_feature[row.first_slot + s];
                for (int j = 0; j < D; ++j)
                    bias += a[s][j].partial[0] * features.rate[feature][j] + a[s][j].value * features.bias[feature][j];
            }
        }
        out.time_partial[static_cast<Eigen::Index>(i)] = time_partial;
        out.bias[static_cast<Eigen::Index>(i)] = bias;
    }
}

template <int D>
void compute_sliding_gradient(const FeatureState<D>& features, const int* slots, const Row& row, Vec<D>* gradient) {
    std::array<Triple<double>, max_slots> f{};
    std::array<Triple<double>, max_slots> a{};
    for (int s = 0; s < 2 * (D + 1); ++s)
        for (int i = 0; i < D; ++i) f[s][i] = features.value[slots[s]][i];
    coefficients<D, double>(row, f, a);
    for (int s = 0; s < 2 * (D + 1); ++s)
        for (int i = 0; i < D; ++i) gradient[s][i] = a[s][i];
}

template void compute_sliding_gradient(const FeatureState<2>&, const int*, const Row&, Vec<2>*);
template void compute_sliding_gradient(const FeatureState<3>&, const int*, const Row&, Vec<3>*);
template class ConstraintSet<2>;
template class ConstraintSet<3>;

}  // namespace limber
