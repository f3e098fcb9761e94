#include "limber/dynamics/baumgarte.hpp"

namespace limber {
namespace {

// Over the admittance of a row. Away from the constraints (stages, predictions) redundant rows contradict each other a little;
// smaller values would enforce the contradiction, larger ones blur dead points.
constexpr double regularisation = 1e-8;
constexpr int min_solves = 3;
constexpr int max_solves = 20;  // needed near dead points, where some constraint hardly acts
constexpr double enough = 1e-11;

}  // namespace

BaumgarteSolver::BaumgarteSolver(std::shared_ptr<const System> system, const FormulationOptions& options)
    : AccelerationSolver(std::move(system), options) {
    const int n = system_->size();
    const int m = system_->rows();
    const SymmetricPattern& mass = system_->pattern();
    const RowPattern& rows = system_->jacobian_pattern();
    SymmetricPatternBuilder builder(n + m);
    for (int j = 0; j < n; ++j)
        for (int k = mass.start[j]; k < mass.start[j + 1]; ++k) builder.add(mass.row[k], j);
    for (int i = 0; i < m; ++i)
        for (const int column : rows.row(i)) builder.add(n + i, column);
    pattern_ = builder.build();
    for (int j = 0; j < n; ++j)
        for (int k = mass.start[j]; k < mass.start[j + 1]; ++k) mass_place_.push_back(pattern_.find(mass.row[k], j));
    for (int i = 0; i < m; ++i) {
        for (const int column : rows.row(i)) row_place_.push_back(pattern_.find(n + i, column));
        diagonal_place_.push_back(pattern_.find(n + i, n + i));
    }
    matrix_.assign(pattern_.nonzeros(), 0.0);
    block_.assign(mass.nonzeros(), 0.0);
    solver_ = make_linear_solver(pattern_);
    x_ = VecX::Zero(n + m);
    rows_ = VecX::Zero(m);
    product_ = VecX::Zero(n);
}

void BaumgarteSolver::assemble() {
    const Evaluation& e = *evaluation_;
    block_ = e.mass;
    system_->add_penalty(e, system_->row_inertia(), block_);
    for (std::size_t k = 0; k < mass_place_.size(); ++k) matrix_[mass_place_[k]] = block_[k];
    for (std::size_t k = 0; k < row_place_.size(); ++k) matrix_[row_place_[k]] = e.jacobian[k];
    for (int i = 0; i < system_->rows(); ++i) matrix_[diagonal_place_[i]] = -regularisation / system_->row_inertia()[i];
}

bool BaumgarteSolver::solve(double t, const VecX& q, const VecX& v, std::span<const double> memory, VecX& a,
                            VecX& lambda) {
    const int n = system_->size();
    const int m = system_->rows();
    Evaluation& e = *evaluation_;
    system_->update(e, t, q, v, memory);
    update_target();
    assemble();
    if (!solver_->factorize(matrix_)) {
        failure_ = "the saddle-point matrix is not finite";
        return false;
    }
    a.setZero(n);
    lambda.setZero(m);
    double before = 0;
    for (int i = 0; i < max_solves; ++i) {
        // Residuals: constraints J a + g, and Q - M a - J^T (lambda + m (J a + g)).
        multiply(system_->jacobian_pattern(), e.jacobian, a, rows_);
        rows_ += target_;
        const double left = rows_.lpNorm<Eigen::Infinity>();
        const bool is_stalled = left > 0.9 * before;  // rounding, or rows that contradict each other
        if (i >= min_solves && (is_stalled || left <= enough * a.lpNorm<Eigen::Infinity>())) break;
        before = left;
        x_.tail(m) = -rows_;
        rows_ = rows_.cwiseProduct(system_->row_inertia()) + lambda;
        multiply(system_->pattern(), e.mass, a, product_);
        product_ = e.force - product_;
        add_transposed(system_->jacobian_pattern(), e.jacobian, rows_, -1.0, product_);
        x_.head(n) = product_;
        solver_->solve(x_);
        a += x_.head(n);
        lambda += x_.tail(m);
        ++iterations_;
    }
    if (!a.allFinite()) failure_ = "the accelerations are not finite";
    return a.allFinite();
}

}  // namespace limber
