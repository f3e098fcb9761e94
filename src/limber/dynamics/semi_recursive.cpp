#include "limber/dynamics/semi_recursive.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace limber {
namespace {

// Rows closer to dependence than this count as dependent; scaled by their inertia, rows have sizes of about one.
constexpr double rank_tolerance = 1e-8;
// Another set of independent coordinates is looked for when J_d has become so much worse than it was.
constexpr double poor = 0.1;
constexpr int max_closures = 10;

// A speed of a driver that changes by this part more than its acceleration explains has jumped.
constexpr double unexplained = 0.1;

template <int D>
void add_laws(const System& system, std::vector<TimeFunction>& laws) {
    const auto* of_mechanism = dynamic_cast<const MechanismSystem<D>*>(&system);
    if (of_mechanism == nullptr) return;
    const auto& constraints = of_mechanism->mechanism().constraints;
    for (const Row& row : constraints.rows)
        if (row.law >= 0) laws.push_back(constraints.laws[row.law]);
}

}  // namespace

SemiRecursiveSolver::SemiRecursiveSolver(std::shared_ptr<const System> system, const FormulationOptions& options)
    : system_(std::move(system)), options_(options), evaluation_(system_->make_evaluation()) {
    const int n = system_->size();
    const int m = system_->rows();
    q_ = v_ = a_ = scheme_a_ = residual_ = change_ = mass_column_ = VecX::Zero(n);
    lambda_ = rows_ = VecX::Zero(m);
    jacobian_ = scaled_ = MatX::Zero(m, n);
    values_.assign(system_->pattern().nonzeros(), 0.0);
    tangent_ = MatX::Zero(n, n);
    was_on_.assign(m, false);
    time_partial_ = VecX::Zero(m);
    shifted_.q_hat = shifted_.v_hat = VecX::Zero(n);
    add_laws<2>(*system_, laws_);
    add_laws<3>(*system_, laws_);
}

void SemiRecursiveSolver::make_dense_jacobian() {
    const RowPattern& pattern = system_->jacobian_pattern();
    jacobian_.setZero();
    for (int i = 0; i < pattern.rows(); ++i)
        for (int k = pattern.start[i]; k < pattern.start[i + 1]; ++k)
            jacobian_(i, pattern.column[k]) = evaluation_->jacobian[k];
}

bool SemiRecursiveSolver::is_on(int row) const {
    const RowPattern& pattern = system_->jacobian_pattern();
    const auto first = evaluation_->jacobian.begin() + pattern.start[row];
    const auto last = evaluation_->jacobian.begin() + pattern.start[row + 1];
    return std::any_of(first, last, [](double entry) { return entry != 0; });
}

bool SemiRecursiveSolver::have_rows_changed() const {
    for (int i = 0; i < system_->rows(); ++i)
        if (is_on(i) != was_on_[i]) return true;
    return false;
}

void SemiRecursiveSolver::choose() {
    const int n = system_->size();
    const int m = system_->rows();
    make_dense_jacobian();
    for (int i = 0; i < m; ++i) was_on_[i] = is_on(i);
    rank_ = 0;
    dependent_.clear();
    independent_.clear();
    rows_used_.clear();
    std::vector<bool> is_dependent(n, false);
    if (m > 0 && n > 0) {
        // Rows and columns in units of their inertia.
        for (int i = 0; i < m; ++i)
            for (int j = 0; j < n; ++j)
                scaled_(i, j) =
                    jacobian_(i, j) * std::sqrt(system_->row_inertia()[i] / system_->coordinate_inertia()[j]);
        choice_.compute(scaled_);
        const auto& lu = choice_.matrixLU();
        const int most = std::min(m, n);
        while (rank_ < most && std::abs(lu(rank_, rank_)) > rank_tolerance) ++rank_;
        const auto& column_order = choice_.permutationQ().indices();
        const auto& row_order = choice_.permutationP().indices();  // row i goes to place row_order[i]
        for (int k = 0; k < rank_; ++k) {
            dependent_.push_back(column_order[k]);
            is_dependent[column_order[k]] = true;
        }
        for (int i = 0; i < m; ++i)
            if (row_order[i] < rank_) rows_used_.push_back(i);
    }
    for (int j = 0; j < n; ++j)
        if (!is_dependent[j]) independent_.push_back(j);
    const int free = n - rank_;
    dependent_jacobian_.resize(rank_, rank_);
    independent_jacobian_.resize(rank_, free);
    transformation_.resize(rank_, free);
    product_.resize(n, free);
    reduced_.resize(free, free);
    reduced_residual_.resize(free);
    selected_.resize(rank_);
    ordered_.resize(rank_);
    quality_ = 0;
}

bool SemiRecursiveSolver::update_transformation() {
    if (rank_ == 0) return true;
    make_dense_jacobian();
    for (int i = 0; i < rank_; ++i) {
        for (int k = 0; k < rank_; ++k) dependent_jacobian_(i, k) = jacobian_(rows_used_[i], dependent_[k]);
        for (std::size_t k = 0; k < independent_.size(); ++k)
            independent_jacobian_(i, static_cast<int>(k)) = jacobian_(rows_used_[i], independent_[k]);
    }
    factor_.compute(dependent_jacobian_);
    const auto pivots = factor_.matrixLU().diagonal().cwiseAbs();
    const double quality = pivots.minCoeff() / pivots.maxCoeff();
    if (!(quality > 1e-13)) return false;
    if (quality_ == 0) quality_ = quality;
    transformation_ = -independent_jacobian_;
    for (int k = 0; k < transformation_.cols(); ++k) {
        selected_ = transformation_.col(k);
        solve_dependent();
        transformation_.col(k) = selected_;
    }
    return quality > poor * quality_;
}

// selected_ <- J_d^-1 selected_
void SemiRecursiveSolver::solve_dependent() {
    const auto& order = factor_.permutationP().indices();
    for (int i = 0; i < rank_; ++i) ordered_[order[i]] = selected_[i];
    selected_ = ordered_;
    const MatX& lu = factor_.matrixLU();
    for (int i = 0; i < rank_; ++i)
        for (int k = 0; k < i; ++k) selected_[i] -= lu(i, k) * selected_[k];
    for (int i = rank_ - 1; i >= 0; --i) {
        for (int k = i + 1; k < rank_; ++k) selected_[i] -= lu(i, k) * selected_[k];
        selected_[i] /= lu(i, i);
    }
}

void SemiRecursiveSolver::gather_rows(const VecX& rows) {
    for (int i = 0; i < rank_; ++i) selected_[i] = rows[rows_used_[i]];
}

bool SemiRecursiveSolver::close(const State& state, const DifferenceFormulas& f, double t) {
    Evaluation& e = *evaluation_;
    const int holonomic = system_->holonomic_rows();
    const double tolerance = 1e-13 * system_->length_scale();
    double before = 0;
    for (int i = 0; i < max_closures; ++i) {
        // Velocity rows hold for the velocities of the difference formulas.
        v_ = f.v_hat + (f.gamma / (f.beta * f.step)) * (q_ - f.q_hat);
        system_->update_positions(e, t, q_, state.memory);
        system_->update_velocities(e, v_);
        rows_ = e.phi;
        rows_.tail(system_->rows() - holonomic) *= f.beta * f.step / f.gamma;
        const double error = rows_.size() > 0 ? rows_.lpNorm<Eigen::Infinity>() : 0;
        if (!std::isfinite(error)) return false;
        if (error <= tolerance) return true;
        if (i > 2 && error > 0.5 * before) return error < 1e-9 * system_->length_scale();
        before = error;
        if (i == 0 || i == 3) update_transformation();
        if (rank_ == 0) return true;
        gather_rows(rows_);
        solve_dependent();
        for (int k = 0; k < rank_; ++k) q_[dependent_[k]] -= selected_[k];
    }
    return false;
}

// Velocities and accelerations of the dependent coordinates from those of the independent ones.
void SemiRecursiveSolver::update_motion(const State& state, const DifferenceFormulas& f) {
    Evaluation& e = *evaluation_;
    const double h = f.step;
    for (const int j : independent_) {
        scheme_a_[j] = (q_[j] - f.q_hat[j]) / (f.beta * h * h);
        v_[j] = f.v_hat[j] + f.gamma * h * scheme_a_[j];
        a_[j] =
            ((1 - f.delta_m) * scheme_a_[j] + f.delta_m * state.scheme_a[j] - f.delta_f * state.a[j]) / (1 - f.delta_f);
    }
    complete(v_, e.time_partial);
    system_->update_velocities(e, v_);
    complete_accelerations(state, f);
}

// Dependent part of x, from J x + rhs = 0.
void SemiRecursiveSolver::complete(VecX& x, const VecX& rhs) {
    for (int i = 0; i < rank_; ++i) {
        double sum = rhs[rows_used_[i]];
        for (std::size_t k = 0; k < independent_.size(); ++k)
            sum += independent_jacobian_(i, static_cast<int>(k)) * x[independent_[k]];
        selected_[i] = -sum;
    }
    if (rank_ > 0) solve_dependent();
    for (int k = 0; k < rank_; ++k) x[dependent_[k]] = selected_[k];
}

void SemiRecursiveSolver::complete_accelerations(const State& state, const DifferenceFormulas& f) {
    complete(a_, evaluation_->bias);
    for (const int j : dependent_)
        scheme_a_[j] =
            ((1 - f.delta_f) * a_[j] + f.delta_f * state.a[j] - f.delta_m * state.scheme_a[j]) / (1 - f.delta_m);
}

// m <- R^T A R, with A as columns of `columns` times R already.
void SemiRecursiveSolver::reduce(const MatX& columns, MatX& m) const {
    const auto free = static_cast<int>(independent_.size());
    for (int k = 0; k < free; ++k)
        for (int l = 0; l < free; ++l) {
            double sum = columns(independent_[l], k);
            for (int i = 0; i < rank_; ++i) sum += transformation_(i, l) * columns(dependent_[i], k);
            m(l, k) = sum;
        }
}

bool SemiRecursiveSolver::has_jump(double t, double h) const {
    return std::any_of(laws_.begin(), laws_.end(), [&](const TimeFunction& law) {
        const Taylor2 before = law.at(t);
        const Taylor2 after = law.at(t + h);
        const double change = after.first - before.first;
        const double rest = std::abs(change - h / 2 * (before.second + after.second));
        return rest > unexplained * std::abs(change) && rest > 1e-9 * (std::abs(before.first) + std::abs(after.first));
    });
}

// Rows whose speeds have jumped have taken their dependent coordinates with them: by d = -J_d^-1 rows. In truth M dx + J^T p = 0 with J dx + rows = 0,
// so that the independent ones get y with R^T M (R y + d) = 0. Leaves y in reduced_residual_.
void SemiRecursiveSolver::share_jump() {
    const Evaluation& e = *evaluation_;
    const auto free = static_cast<int>(independent_.size());
    for (Eigen::Index i = 0; i < rows_.size(); ++i)
        if (e.time_partial[i] == time_partial_[i]) rows_[i] = 0;
    gather_rows(rows_);
    solve_dependent();
    change_.setZero();
    for (int i = 0; i < rank_; ++i) change_[dependent_[i]] = selected_[i];
    multiply(system_->pattern(), e.mass, change_, residual_);
    for (int k = 0; k < free; ++k) {
        change_.setZero();
        change_[independent_[k]] = 1;
        for (int i = 0; i < rank_; ++i) change_[dependent_[i]] = transformation_(i, k);
        reduced_residual_[k] = change_.dot(residual_);
        multiply(system_->pattern(), e.mass, change_, mass_column_);
        product_.col(k) = mass_column_;
    }
    reduce(product_, reduced_);
    newton_.compute(reduced_);
    newton_.solveInPlace(reduced_residual_);
}

// The way that a driver goes in a step in which its speed jumps, as far as the motion before does not foresee it.
void SemiRecursiveSolver::share_jump_of_positions(const State& state, const DifferenceFormulas& f) {
    Evaluation& e = *evaluation_;
    system_->update_velocities(e, state.v);
    time_partial_ = e.time_partial;
    shifted_ = f;
    if (rank_ == 0 || independent_.empty()) return;
    q_ = f.q_hat + f.beta * f.step * f.step * state.scheme_a;
    v_ = f.v_hat + f.gamma * f.step * state.scheme_a;
    system_->update_positions(e, state.t + f.step, q_, state.memory);
    system_->update_velocities(e, v_);
    rows_ = e.phi;
    rows_.tail(system_->rows() - system_->holonomic_rows()).setZero();
    share_jump();
    for (std::size_t k = 0; k < independent_.size(); ++k)
        shifted_.q_hat[independent_[k]] += reduced_residual_[static_cast<Eigen::Index>(k)];
}

void SemiRecursiveSolver::share_jump_of_velocities(const State& state, const DifferenceFormulas& f) {
    Evaluation& e = *evaluation_;
    if (rank_ == 0 || independent_.empty()) return;
    change_ = f.v_hat + f.gamma * f.step * scheme_a_;
    multiply(system_->jacobian_pattern(), e.jacobian, change_, rows_);
    rows_ += e.time_partial;
    share_jump();
    for (std::size_t k = 0; k < independent_.size(); ++k)
        v_[independent_[k]] += reduced_residual_[static_cast<Eigen::Index>(k)];
    complete(v_, e.time_partial);
    system_->update_velocities(e, v_);
    complete_accelerations(state, f);
}

// Of long chains rounding of the forces moves the ends by more than the change that is accepted: what counts then is that forces balance, as
// accelerations, so that light and heavy coordinates count alike.
bool SemiRecursiveSolver::is_balanced() const {
    const VecX& inertia = system_->coordinate_inertia();
    double worst = 0;
    for (std::size_t k = 0; k < independent_.size(); ++k)
        worst = std::max(worst, std::abs(reduced_residual_[static_cast<Eigen::Index>(k)]) / inertia[independent_[k]]);
    return worst <= 3 * options_.tolerance * a_.lpNorm<Eigen::Infinity>();
}

StepReport SemiRecursiveSolver::step(State& state, const DifferenceFormulas& formulas) {
    StepReport report;
    const double h = formulas.step;
    const double t = state.t + h;
    const int n = system_->size();
    Evaluation& e = *evaluation_;
    const auto fail = [&](std::string reason) {
        report.ok = false;
        report.reason = std::move(reason);
        rank_ = -1;
        return report;
    };
    system_->update_positions(e, state.t, state.q, state.memory);
    if (rank_ < 0 || have_rows_changed()) choose();
    if (!update_transformation()) {
        choose();
        if (!update_transformation() && rank_ > 0 && !(quality_ > 0))
            return fail("the constraints have become singular");
    }
    const bool jumps = has_jump(state.t, h);
    if (jumps) share_jump_of_positions(state, formulas);
    const DifferenceFormulas& f = jumps ? shifted_ : formulas;
    lambda_ = state.lambda;
    q_ = f.q_hat + f.beta * h * h * state.scheme_a;
    const auto free = static_cast<int>(independent_.size());
    double before = 0;
    bool converged = false;
    bool is_stale = true;
    const auto evaluate = [&] {
        if (!close(state, f, t)) return false;
        if (rank_ > 0) update_transformation();
        update_motion(state, f);
        system_->update_forces(e);
        multiply(system_->pattern(), e.mass, a_, residual_);
        residual_ -= e.force;
        for (int k = 0; k < free; ++k) reduced_residual_[k] = residual_[independent_[k]];
        for (int i = 0; i < rank_; ++i) selected_[i] = residual_[dependent_[i]];
        for (int k = 0; k < free; ++k)
            for (int i = 0; i < rank_; ++i) reduced_residual_[k] += transformation_(i, k) * selected_[i];
        return true;
    };
    while (report.iterations < options_.max_iterations) {
        if (!evaluate())
            return fail(fmt::format("the loops cannot be closed ({})", system_->describe_worst_row(e.phi)));
        if (converged || (report.iterations > 1 && is_balanced())) {
            converged = true;
            break;
        }
        if (is_stale && free > 0) {
            const double share = (1 - f.delta_m) / (1 - f.delta_f);
            if (options_.use_approximate_tangent) {
                system_->assemble_approximate_tangent(e, share, f.gamma * h, f.beta * h * h, values_);
            } else {
                system_->assemble_tangent(e, share, f.gamma * h, f.beta * h * h, lambda_, a_, values_);
            }
            const SymmetricPattern& pattern = system_->pattern();
            for (int j = 0; j < n; ++j)
                for (int k = pattern.start[j]; k < pattern.start[j + 1]; ++k)
                    tangent_(pattern.row[k], j) = tangent_(j, pattern.row[k]) = values_[k];
            // R^T T R
            for (int k = 0; k < free; ++k) {
                product_.col(k) = tangent_.col(independent_[k]);
                for (int i = 0; i < rank_; ++i) product_.col(k) += transformation_(i, k) * tangent_.col(dependent_[i]);
            }
            reduce(product_, reduced_);
            newton_.compute(reduced_);
        }
        if (free > 0) newton_.solveInPlace(reduced_residual_);
        reduced_residual_ *= -f.beta * h * h;
        ++report.iterations;
        const double size = free > 0 ? reduced_residual_.lpNorm<Eigen::Infinity>() : 0;
        if (!std::isfinite(size)) break;
        for (int k = 0; k < free; ++k) q_[independent_[k]] += reduced_residual_[k];
        // A matrix without columns has no rows to point at.
        for (int i = 0; i < rank_ && free > 0; ++i) q_[dependent_[i]] += transformation_.row(i).dot(reduced_residual_);
        const double rate = before > 0 ? size / before : 0;
        const double left = before > 0 ? size * std::max(rate, 1e-3) / std::max(0.1, 1 - rate) : size;
        const double enough = std::max(options_.tolerance * f.beta * h * h * a_.lpNorm<Eigen::Infinity>(),
                                       1e-14 * q_.lpNorm<Eigen::Infinity>());
        converged = left <= enough;
        is_stale = rate > 0.1;
        before = size;
    }
    if (!converged) return fail(fmt::format("Newton's method did not converge in {} iterations", report.iterations));
    if (!q_.allFinite() || !v_.allFinite() || !a_.allFinite()) return fail("the motion is not finite");
    // Multipliers of the rows used: J_d^T lambda = (Q - M a)_d.
    lambda_.setZero();
    if (rank_ > 0) {
        for (int i = 0; i < rank_; ++i) selected_[i] = -residual_[dependent_[i]];
        const MatX& lu = factor_.matrixLU();
        for (int i = 0; i < rank_; ++i) {
            for (int k = 0; k < i; ++k) selected_[i] -= lu(k, i) * selected_[k];
            selected_[i] /= lu(i, i);
        }
        for (int i = rank_ - 1; i >= 0; --i)
            for (int k = i + 1; k < rank_; ++k) selected_[i] -= lu(k, i) * selected_[k];
        ordered_ = selected_;
        const auto& order = factor_.permutationP().indices();
        for (int i = 0; i < rank_; ++i) selected_[i] = ordered_[order[i]];
        for (int i = 0; i < rank_; ++i) lambda_[rows_used_[i]] = selected_[i];
    }
    if (jumps) share_jump_of_velocities(state, f);
    if (!v_.allFinite() || !a_.allFinite()) return fail("the motion is not finite");
    state.complete_step(t, h, q_, v_, a_, scheme_a_, lambda_);
    system_->update_memory(e, state.q, state.memory);
    return report;
}

}  // namespace limber
