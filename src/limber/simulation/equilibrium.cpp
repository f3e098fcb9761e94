#include "limber/simulation/equilibrium.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "limber/math/linear_solver.hpp"

namespace limber {
namespace {

constexpr double penalty = 1e7;
constexpr double tolerance = 1e-9;  // of accelerations, in m/s^2 (or rad/s^2)
constexpr double first_pseudo_time = 1e-3;
constexpr double longest_pseudo_time = 1e6;

}  // namespace

EquilibriumReport find_equilibrium(const System& system, AccelerationSolver& solver, State& state, int max_iterations) {
    EquilibriumReport report;
    const int n = system.size();
    const auto e = system.make_evaluation();
    const auto linear = make_linear_solver(system.pattern());
    const VecX weight = penalty * system.row_inertia();
    std::vector<double> tangent(system.pattern().nonzeros());
    state.v = VecX::Zero(n);
    VecX a = VecX::Zero(n);
    VecX lambda = VecX::Zero(system.rows());
    VecX change = VecX::Zero(n);
    VecX rows = VecX::Zero(system.rows());
    solver.use_no_gains();
    const auto release = [&](const VecX& q) {
        return solver.solve(state.t, q, state.v, state.memory, a, lambda) ? a.lpNorm<Eigen::Infinity>() : INFINITY;
    };
    double s = first_pseudo_time * first_pseudo_time;
    double size = release(state.q);
    while (report.iterations < max_iterations) {
        report.residual = size;
        if (size < tolerance) {
            report.converged = true;
            return report;
        }
        if (!std::isfinite(size)) break;
        ++report.iterations;
        system.update(*e, state.t, state.q, state.v, state.memory);
        multiply(system.pattern(), e->mass, a, change);
        change *= s;
        rows = e->phi.cwiseProduct(weight);
        rows.tail(system.rows() - system.holonomic_rows()).setZero();
        add_transposed(system.jacobian_pattern(), e->jacobian, rows, -1.0, change);
        system.assemble_tangent(*e, 1, 0, s, lambda, VecX::Zero(n), tangent);
        system.add_penalty(*e, weight, tangent);
        bool is_better = false;
        if (linear->factorize(tangent)) {
            linear->solve(change);
            VecX q = state.q + change;
            VecX v = state.v;
            const VecX kept_a = a;
            const VecX kept_lambda = lambda;
            if (q.allFinite() && solver.project(state.t, q, v, state.memory)) {
                const double next = release(q);
                // A little worse is allowed: on the way down accelerations may rise for a while.
                is_better = next < 2 * size;
                if (is_better) {
                    state.q = q;
                    system.update_memory(*e, state.q, state.memory);
                    s = std::clamp(s * std::clamp(std::pow(size / next, 2), 0.5, 100.0), 1e-12,
                                   longest_pseudo_time * longest_pseudo_time);
                    size = next;
                }
            }
            if (!is_better) {
                a = kept_a;
                lambda = kept_lambda;
            }
        }
        if (!is_better) {
            s /= 25;
            if (s < 1e-14) break;
        }
    }
    report.residual = size;
    report.converged = size < 1e3 * tolerance;
    if (!report.converged)
        report.reason = fmt::format("no equilibrium found in {} iterations; accelerations of {:.3g} are left",
                                    report.iterations, size);
    return report;
}

}  // namespace limber
