#include "limber/kinematics/body_space/assembly.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "limber/kinematics/body_space/nudge.hpp"
#include "limber/kinematics/body_space/turn_counter.hpp"
#include "limber/kinematics/body_space/twist_constraints.hpp"
#include "limber/math/interruption.hpp"
#include "limber/math/multiplier_iteration.hpp"

namespace limber {
namespace {

// Penalty over typical mass. Each pass of the augmented Lagrangian leaves a fraction of about 1/penalty_ratio of the
// error.
constexpr double assembly_penalty_ratio = 1e6;

template <int D>
void update_memory(const Mechanism<D>& m, const BodyStates<D>& states, FeatureState<D>& features,
                   std::vector<double>& memory) {
    update_features<D>(m, states, m.used_features, features);
    refresh_memory(m, features, memory);
}

// Moves x so that G x + rhs = 0, least in the metric of the masses; S = M + r G^T G is factorised. Without velocity
// rows these are left out of account.
template <int D>
void solve_least_change(TwistConstraints<D>& c, const VecX& rhs, double penalty, bool with_velocity_rows, VecX& x) {
    const auto silence = [&](VecX& rows) {
        if (with_velocity_rows) return;
        for (int r = 0; r < c.row_count(); ++r)
            if (!c.set.rows[r].is_holonomic()) rows[r] = 0;
    };
    VecX residual(c.row_count());
    c.multiply_rows(x, residual);
    residual += rhs;
    silence(residual);
    VecX lambda = VecX::Zero(c.row_count());
    MultiplierIteration iteration(c.twist_count(), c.row_count());
    const double enough = 1e-13 * (rhs.lpNorm<Eigen::Infinity>() + x.lpNorm<Eigen::Infinity>());
    iteration.run(VecX::Constant(c.row_count(), penalty), enough, 50, residual, x, lambda,
                  [&](const VecX& direction, VecX& change, VecX& rows) {
                      check_interruption();
                      change.setZero();
                      c.add_transposed(direction, 1.0, change);
                      c.solve(change);
                      c.multiply_rows(change, rows);
                      silence(rows);
                  });
}

template <int D>
void displace(BodyStates<D>& states, const VecX& step, double factor) {
    constexpr int T = twist_size<D>;
    for (std::size_t b = 0; b < states.size(); ++b) {
        TwistVec<D> d = factor * step.template segment<T>(static_cast<Eigen::Index>(b) * T);
        const double turn = d.template tail<angular_size<D>>().norm();
        if (turn > 1) d /= turn;  // at most a radian at a time
        move(states[b], d);
    }
}

}  // namespace

// Newton's method on Phi = 0 with the step of least size in the metric of the masses, shortened while |Phi| does not
// fall.
template <int D>
AssemblyReport assemble(const Mechanism<D>& m, BodyStates<D>& states, std::vector<double>& memory, double t,
                        bool with_initial_values) {
    // Only holonomic rows count here.
    ConstraintSet<D> set = m.constraints;
    const auto own_rows = static_cast<Eigen::Index>(set.rows.size());
    if (with_initial_values)
        for (const InitialMeasure& initial : m.initial_positions)
            set.add_holonomic(-1, {{1.0, initial.measure}}, initial.value);
    TwistConstraints<D> c(m, std::move(set));
    const auto errors = [&] {
        VecX phi = c.values.phi;
        for (int r = 0; r < c.row_count(); ++r)
            if (!c.set.rows[r].is_holonomic()) phi[r] = 0;
        return phi;
    };

    const BodyStates<D> start = states;
    const double penalty = assembly_penalty_ratio * m.mass_scale;
    const double tolerance = 1e-14 * m.length_scale * std::max(1, c.row_count());
    AssemblyReport report;
    update_memory(m, states, c.features, memory);
    c.update(states, memory, t);
    report.given_error = own_rows > 0 ? errors().head(own_rows).template lpNorm<Eigen::Infinity>() : 0.0;
    if (with_initial_values) TurnCounter<D>(m, c.features, t, memory).count();
    c.update(states, memory, t);
    VecX phi = errors();
    VecX step(c.twist_count());
    for (; report.iterations < 100 && phi.norm() > tolerance; ++report.iterations) {
        c.clear_matrix();
        c.add_mass(states, 1e-3);
        c.add_normal_matrix(penalty, false);
        if (!c.factorize()) break;
        step.setZero();
        solve_least_change(c, phi, penalty, false, step);
        const BodyStates<D> before = states;
        double factor = 1;
        VecX next;
        for (int halvings = 0; halvings < 12; ++halvings, factor /= 2) {
            check_interruption();
            states = before;
            displace(states, step, factor);
            c.update(states, memory, t);
            next = errors();
            if (next.norm() < phi.norm()) break;
        }
        if (!(next.norm() < phi.norm())) {
            states = before;
            break;
        }
        phi = next;
        update_memory(m, states, c.features, memory);
    }
    update_memory(m, states, c.features, memory);
    c.update(states, memory, t);
    report.worst = c.find_worst(errors());
    report.largest_error = report.worst.error;
    report.converged = report.largest_error < 1e-9 * std::max(1.0, m.length_scale);
    for (std::size_t b = 0; b < states.size(); ++b)
        report.largest_move = std::max(report.largest_move, (states[b].position - start[b].position).norm());
    return report;
}

template <int D>
VelocityReport project_velocities(const Mechanism<D>& m, BodyStates<D>& states, const std::vector<double>& memory,
                                  double t, bool with_initial_values) {
    constexpr int T = twist_size<D>;
    ConstraintSet<D> set = m.constraints;
    const int own_rows = static_cast<int>(set.rows.size());
    if (with_initial_values)
        for (const InitialMeasure& initial : m.initial_rates) set.add_holonomic(-1, {{1.0, initial.measure}}, 0);
    TwistConstraints<D> c(m, std::move(set));
    c.update(states, memory, t);
    VecX rhs = c.values.time_partial;
    for (int r = own_rows; r < c.row_count(); ++r) rhs[r] = -m.initial_rates[r - own_rows].value;

    VecX v(c.twist_count());
    double before = 0;
    for (std::size_t b = 0; b < states.size(); ++b) {
        v.template segment<D>(static_cast<Eigen::Index>(b) * T) = states[b].velocity;
        v.template segment<angular_size<D>>(static_cast<Eigen::Index>(b) * T + D) = states[b].angular_velocity;
        before += kinetic_energy(m.bodies[b], states[b]);
    }
    VecX error(c.row_count());
    c.multiply_rows(v, error);
    if ((error + rhs).lpNorm<Eigen::Infinity>() >
        1e-14 * (rhs.lpNorm<Eigen::Infinity>() + v.lpNorm<Eigen::Infinity>())) {
        const double penalty = assembly_penalty_ratio * m.mass_scale;
        c.clear_matrix();
        c.add_mass(states, 1e-9);
        c.add_normal_matrix(penalty);
        c.factorize();
        solve_least_change(c, rhs, penalty, true, v);
    }

    double after = 0;
    for (std::size_t b = 0; b < states.size(); ++b) {
        states[b].velocity = v.template segment<D>(static_cast<Eigen::Index>(b) * T);
        states[b].angular_velocity = v.template segment<angular_size<D>>(static_cast<Eigen::Index>(b) * T + D);
        after += kinetic_energy(m.bodies[b], states[b]);
    }
    VelocityReport report;
    c.multiply_rows(v, error);
    report.worst = c.find_worst(error + rhs);
    report.largest_error = report.worst.error;
    report.energy_lost = before - after;
    return report;
}

namespace {

// With unit rows G and a small e, the leverage g_i (G^T G + e)^-1 g_i^T of row i is 1 if nothing else can take its
// place and less if the row is (partly) a combination of others; the sum of all leverages is the rank.
template <int D>
std::vector<double> leverages(TwistConstraints<D>& c, const BodyStates<D>& states, const std::vector<double>& memory,
                              double t) {
    c.update(states, memory, t);
    c.normalise();
    c.clear_matrix();
    c.add_normal_matrix(1);
    c.add_identity(1e-11);
    c.factorize();
    std::vector<double> result(c.row_count());
    VecX x(c.twist_count());
    for (int r = 0; r < c.row_count(); ++r) {
        check_interruption();
        x.setZero();
        c.add_row(r, 1, x);
        c.solve(x);
        result[r] = c.dot_row(r, x);
    }
    return result;
}

int rank_of(const std::vector<double>& leverage) {
    double sum = 0;
    for (const double l : leverage) sum += l;
    return static_cast<int>(std::lround(sum));
}

}  // namespace

template <int D>
MobilityReport compute_mobility(const Mechanism<D>& m, const BodyStates<D>& states, const std::vector<double>& memory,
                                double t) {
    std::vector<int> rows;
    for (std::size_t r = 0; r < m.constraints.rows.size(); ++r)
        if (m.constraints.rows[r].is_on(memory)) rows.push_back(static_cast<int>(r));
    TwistConstraints<D> c(m, m.constraints.with_rows(rows));
    MobilityReport report;
    report.bodies = static_cast<int>(m.bodies.size());
    report.rows = c.row_count();
    const std::vector<double> leverage = leverages(c, states, memory, t);
    report.rank = rank_of(leverage);
    report.freedoms = c.twist_count() - report.rank;
    report.redundant = report.rows - report.rank;
    report.counted_freedoms = c.twist_count() - report.rows;
    std::set<int> shared;
    for (int r = 0; r < c.row_count(); ++r)
        if (leverage[r] < 1 - 1e-4) shared.insert(c.set.rows[r].element);
    for (const int e : shared) report.redundant_elements.push_back(m.elements[e].name);
    if (report.redundant > 0) {
        BodyStates<D> near = states;
        std::vector<double> near_memory = memory;
        nudge(near, m.length_scale);
        if (assemble(m, near, near_memory, t, false).converged)
            report.singular_start = rank_of(leverages(c, near, near_memory, t)) > report.rank;
    }
    return report;
}

#define LIMBER_INSTANTIATE(D)                                                                                       \
    template AssemblyReport assemble(const Mechanism<D>&, BodyStates<D>&, std::vector<double>&, double, bool);      \
    template VelocityReport project_velocities(const Mechanism<D>&, BodyStates<D>&, const std::vector<double>&,     \
                                               double, bool);                                                       \
    template MobilityReport compute_mobility(const Mechanism<D>&, const BodyStates<D>&, const std::vector<double>&, \
                                             double);
LIMBER_INSTANTIATE(2)
LIMBER_INSTANTIATE(3)
#undef LIMBER_INSTANTIATE

}  // namespace limber
