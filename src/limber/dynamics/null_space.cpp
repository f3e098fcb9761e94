#include "limber/dynamics/null_space.hpp"

#include <algorithm>
#include <cmath>

namespace limber {
namespace {

// Rows closer to dependence than this count as dependent; scaled by their inertia, rows have sizes of about one.
constexpr double null_rank_tolerance = 1e-9;

}  // namespace

NullSpaceSolver::NullSpaceSolver(std::shared_ptr<const System> system, const FormulationOptions& options)
    : AccelerationSolver(std::move(system), options), qr_(system_->size(), system_->rows()) {
    const int n = system_->size();
    scale_ = system_->coordinate_inertia().cwiseSqrt().cwiseInverse();
    row_scale_ = system_->row_inertia().cwiseSqrt();
    x_ = y_ = product_ = velocity_ = VecX::Zero(n);
    rows_ = VecX::Zero(system_->rows());
    null_basis_ = mass_times_basis_ = MatX::Zero(n, n);
    reduced_ = MatX::Zero(n, n);
}

void NullSpaceSolver::decompose(int rank_limit) {
    const Evaluation& e = *evaluation_;
    const RowPattern& pattern = system_->jacobian_pattern();
    MatX& a = qr_.matrix();
    a.setZero();
    for (int i = 0; i < system_->rows(); ++i)
        for (int k = pattern.start[i]; k < pattern.start[i + 1]; ++k)
            a(pattern.column[k], i) = row_scale_[i] * e.jacobian[k] * scale_[pattern.column[k]];
    qr_.compute(null_rank_tolerance, rank_limit);
}

// Dense L D L^T of the reduced mass matrix, in place; freedoms without inertia are left at rest.
bool NullSpaceSolver::solve_self_motion(VecX& y, int rank) {
    const int free = system_->size() - rank;
    auto rhs = y.tail(free);
    for (int k = 0; k < free; ++k) {
        for (int i = 0; i < k; ++i) reduced_(k, i) = reduced_(i, k);  // keep M in the upper triangle
        double pivot = reduced_(k, k);
        for (int i = 0; i < k; ++i) {
            double sum = reduced_(k, i);
            for (int j = 0; j < i; ++j) sum -= reduced_(k, j) * reduced_(i, j) * product_[j];
            reduced_(k, i) = product_[i] != 0 ? sum / product_[i] : 0;
        }
        for (int i = 0; i < k; ++i) pivot -= reduced_(k, i) * reduced_(k, i) * product_[i];
        product_[k] = pivot > 1e-13 * std::abs(reduced_(k, k)) ? pivot : 0;
        if (!std::isfinite(pivot)) return false;
    }
    for (int k = 0; k < free; ++k)
        for (int i = 0; i < k; ++i) rhs[k] -= reduced_(k, i) * rhs[i];
    for (int k = 0; k < free; ++k) rhs[k] = product_[k] != 0 ? rhs[k] / product_[k] : 0;
    for (int k = free - 1; k >= 0; --k)
        for (int i = 0; i < k; ++i) rhs[i] -= reduced_(k, i) * rhs[k];
    return true;
}

bool NullSpaceSolver::solve(double t, const VecX& q, const VecX& v, std::span<const double> memory, VecX& a,
                            VecX& lambda) {
    const int n = system_->size();
    Evaluation& e = *evaluation_;
    // The velocity is split first: its constraint part is set by the constraints, only its self-motion part is taken
    // over.
    system_->update_positions(e, t, q, memory);
    const double error = e.phi.head(system_->holonomic_rows()).lpNorm<Eigen::Infinity>();
    const bool holds = error < 1e-10 * system_->length_scale();
    // Where nothing is known yet, all rows count.
    decompose(holds || rank_limit_ == 0 ? system_->rows() : rank_limit_);
    if (holds) rank_limit_ = std::max(rank_limit_, qr_.rank());
    system_->update_velocities(e, v);
    velocity_ = v;
    rows_ = e.rate.cwiseProduct(row_scale_);
    correct(qr_, rows_, velocity_);
    system_->update_velocities(e, velocity_);
    system_->update_forces(e);
    update_target();
    const int rank = qr_.rank();
    const int free = n - rank;
    ++iterations_;

    // Constraint part.
    rows_ = -target_.cwiseProduct(row_scale_);
    x_.setZero();
    qr_.solve_transposed(rows_, x_);
    qr_.apply(x_);
    a = x_.cwiseProduct(scale_);

    // Self-motion part.
    multiply(system_->pattern(), e.mass, a, product_);
    y_ = (e.force - product_).cwiseProduct(scale_);
    qr_.apply_transposed(y_);
    for (int k = 0; k < free; ++k) {
        auto basis = null_basis_.col(k);
        basis.setZero();
        basis[rank + k] = 1;
        qr_.apply(basis);
        x_ = basis.cwiseProduct(scale_);
        multiply(system_->pattern(), e.mass, x_, product_);
        mass_times_basis_.col(k) = product_.cwiseProduct(scale_);
    }
    for (int i = 0; i < free; ++i)
        for (int j = i; j < free; ++j) reduced_(i, j) = null_basis_.col(i).dot(mass_times_basis_.col(j));
    if (!solve_self_motion(y_, rank)) {
        failure_ = "the reduced mass matrix is not finite";
        return false;
    }
    x_.setZero();
    x_.tail(free) = y_.tail(free);
    qr_.apply(x_);
    a += x_.cwiseProduct(scale_);

    // Multipliers.
    multiply(system_->pattern(), e.mass, a, product_);
    y_ = (e.force - product_).cwiseProduct(scale_);
    qr_.apply_transposed(y_);
    lambda.resize(system_->rows());
    qr_.solve(y_, lambda);
    lambda = lambda.cwiseProduct(row_scale_);
    if (!a.allFinite()) failure_ = "the accelerations are not finite";
    return a.allFinite();
}

bool NullSpaceSolver::project(double t, VecX& q, VecX& v, std::span<const double> memory) {
    if (!AccelerationSolver::project(t, q, v, memory)) return false;
    update_rank_limit(t, q, memory);
    return true;
}

bool NullSpaceSolver::project_step(const VecX& start, double t, double h, VecX& q, VecX& v,
                                   std::span<const double> memory) {
    if (!AccelerationSolver::project_step(start, t, h, q, v, memory)) return false;
    update_rank_limit(t + h, q, memory);
    return true;
}

void NullSpaceSolver::update_rank_limit(double t, const VecX& q, std::span<const double> memory) {
    if (rank_limit_ == system_->rows()) return;  // otherwise: redundant rows, or a start at a dead point
    system_->update_positions(*evaluation_, t, q, memory);
    decompose(system_->rows());
    rank_limit_ = std::max(rank_limit_, qr_.rank());
}

void NullSpaceSolver::correct(const PivotedQr& qr, const VecX& violation, VecX& x) {
    x_.setZero();
    qr.solve_transposed(violation, x_);
    qr.apply(x_);
    x -= x_.cwiseProduct(scale_);
}

}  // namespace limber
