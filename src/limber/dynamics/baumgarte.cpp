#include "limber/dynamics/baumgarte.hpp"

#include "limber/dynamics/dependent_rows.hpp"
#include "limber/dynamics/open_constraints.hpp"

namespace limber {
namespace {

// Over the admittance of a row. Away from the constraints (stages, predictions) redundant rows contradict each other a
// little; smaller values would enforce the contradiction, larger ones blur dead points.
constexpr double saddle_regularisation = 1e-8;
constexpr int refinements = 3;
constexpr int max_refinements = 20;  // needed near dead points, where some constraint hardly acts
constexpr double saddle_tolerance = 1e-13;

}  // namespace

BaumgarteSolver::BaumgarteSolver(std::shared_ptr<const System> system, const FormulationOptions& options)
    : AccelerationSolver(std::move(system), options),
      iteration_(system_->size(), system_->rows()),
      weight_(system_->row_inertia() / saddle_regularisation),
      left_out_(*system_, weight_, 1 / saddle_regularisation) {
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
    trial_ = VecX::Zero(m);
    if (m == 0) return;
    update_reference_positions(*system_, *evaluation_);
    assemble();
    is_overconstrained_ =
        solver_->factorize(matrix_) && left_out_.find_dependent(*evaluation_, [&](VecX& x) { respond(x); });
}

// x <- S^-1 x, S = M + J^T (m + 1/d) J
void BaumgarteSolver::respond(VecX& x) {
    x_.head(system_->size()) = x;
    x_.tail(system_->rows()).setZero();
    solver_->solve(x_);
    x = x_.head(system_->size());
}

void BaumgarteSolver::assemble() {
    const Evaluation& e = *evaluation_;
    block_ = e.mass;
    system_->add_penalty(e, system_->row_inertia(), block_);
    for (std::size_t k = 0; k < mass_place_.size(); ++k) matrix_[mass_place_[k]] = block_[k];
    for (std::size_t k = 0; k < row_place_.size(); ++k) matrix_[row_place_[k]] = e.jacobian[k];
    for (int i = 0; i < system_->rows(); ++i) matrix_[diagonal_place_[i]] = -1 / weight_[i];
}

// The matrix applied to what is left of the constraints, J a + g, and of the equilibrium, Q - M a - J^T (lambda + m (J
// a + g)).
void BaumgarteSolver::refine(VecX& a, VecX& lambda) {
    const Evaluation& e = *evaluation_;
    const int n = system_->size();
    const int m = system_->rows();
    x_.tail(m) = -rows_;
    rows_ = rows_.cwiseProduct(system_->row_inertia()) + lambda;
    multiply(system_->pattern(), e.mass, a, product_);
    product_ = e.force - product_;
    add_transposed(system_->jacobian_pattern(), e.jacobian, rows_, -1.0, product_);
    x_.head(n) = product_;
    solver_->solve(x_);
    ++iterations_;
    if (left_out_.count() > 0) {
        product_ = x_.head(n);
        left_out_.respond(product_);
        a += product_;
    } else {
        a += x_.head(n);
        lambda += x_.tail(m);
    }
    multiply(system_->jacobian_pattern(), e.jacobian, a, rows_);
    rows_ += target_;
    left_out_.take_from(rows_);
    // 1/d times what is left: the same multipliers, but for rounding.
    if (left_out_.count() > 0) lambda += weight_.cwiseProduct(rows_);
}

void BaumgarteSolver::start(VecX& a, VecX& lambda) {
    a.setZero(system_->size());
    lambda.setZero(system_->rows());
    rows_ = target_;
    left_out_.take_from(rows_);
    for (int i = 0; i < refinements; ++i) refine(a, lambda);
}

// Conditions that are none where the constraints are closed.
void BaumgarteSolver::leave_out_uncertain(VecX& a, VecX& lambda) {
    const double uncertain = is_overconstrained_ ? find_uncertain_share(*system_, *evaluation_, gains_) : 0;
    if (uncertain == 0) return;
    // What one solve leaves of the target shows which are held least.
    trial_ = target_;
    while (left_out_.add(*evaluation_, trial_, uncertain, [&](VecX& x) { respond(x); })) {
        start(a, lambda);
        left_out_.take_from(trial_);
    }
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
    left_out_.clear();
    start(a, lambda);
    leave_out_uncertain(a, lambda);
    const double tolerance = saddle_tolerance * (a.lpNorm<Eigen::Infinity>() + target_.lpNorm<Eigen::Infinity>());
    if (rows_.lpNorm<Eigen::Infinity>() > tolerance) {
        iterations_ += iteration_.run_balanced(weight_, tolerance, max_refinements, rows_, a, lambda,
                                               [&](const VecX& direction, VecX& change, VecX& rows) {
                                                   x_.head(n).setZero();
                                                   x_.tail(m) = direction.cwiseQuotient(weight_);
                                                   solver_->solve(x_);
                                                   change = x_.head(n);
                                                   left_out_.respond(change);
                                                   multiply(system_->jacobian_pattern(), e.jacobian, change, rows);
                                                   left_out_.take_from(rows);
                                               });
        refine(a, lambda);
    }
    if (!a.allFinite()) failure_ = "the accelerations are not finite";
    return a.allFinite();
}

}  // namespace limber
