#include "limber/dynamics/semi_recursive.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace limber {
namespace {

// Rows closer to dependence than this count as dependent; scaled by their inertia, rows have sizes of about one.
constexpr double independence_tolerance = 1e-8;
// Of (9): what another choice is made at, over the least since the last choice but over one at least, and what counts
// as singular.
constexpr double poor = 2;
constexpr double singular = 1e10;
constexpr int max_closures = 10;

}  // namespace

SemiRecursiveSolver::SemiRecursiveSolver(std::shared_ptr<const System> system, const FormulationOptions& options)
    : system_(std::move(system)),
      options_(options),
      evaluation_(system_->make_evaluation()),
      updates_(system_->coordinate_inertia(), 0, options.max_iterations),
      tangent_choice_(options.use_approximate_tangent, !options.use_approximate_tangent) {
    const int n = system_->size();
    const int m = system_->rows();
    q_ = v_ = a_ = scheme_a_ = residual_ = change_ = VecX::Zero(n);
    lambda_ = rows_ = VecX::Zero(m);
    jacobian_ = scaled_ = MatX::Zero(m, n);
    values_.assign(system_->pattern().nonzeros(), 0.0);
    tangent_ = MatX::Zero(n, n);
    was_on_.assign(m, false);
    is_dependent_.assign(n, false);
    for (auto* list : {&dependent_, &independent_}) list->reserve(n);
    rows_used_.reserve(m);
    prepare_for_jumps();
}

StepReport SemiRecursiveSolver::step(State& state, const DifferenceFormulas& formulas) {
    StepReport report;
    system_->update_positions(*evaluation_, state.t, state.q, state.memory);
    if (!update_choice()) return fail(report, "the constraints have become singular");
    const bool jumps = has_jump(state.t, formulas.step);
    if (jumps) share_jump_of_positions(state, formulas);
    const DifferenceFormulas& f = jumps ? shifted_ : formulas;
    lambda_ = state.lambda;
    predict_acceleration(state, f.step, scheme_a_);
    q_ = f.q_hat + f.beta * f.step * f.step * scheme_a_;
    ConvergenceWatch watch;
    for (bool is_slow = true;;) {
        if (!evaluate(state, f))
            return fail(report,
                        fmt::format("the loops cannot be closed ({})", system_->describe_worst_row(evaluation_->phi)));
        if (is_slow) {
            factorize_tangent(f);
            watch.start_tangent();
        }
        find_change();
        const double size = change_.lpNorm<Eigen::Infinity>();
        watch.follow(size, newton_noise * options_.tolerance * a_.lpNorm<Eigen::Infinity>());
        if (has_settled(state, f, size, watch)) break;
        if (report.iterations == options_.max_iterations || !std::isfinite(size))
            return fail(report, fmt::format("Newton's method did not converge in {} iterations", report.iterations));
        take_change(f);
        ++report.iterations;
        is_slow = watch.rate() > slow_newton;
        if (is_slow) tangent_choice_.learn(watch.worst_of_tangent());
    }
    tangent_choice_.learn(watch.worst_of_tangent());
    if (!q_.allFinite() || !v_.allFinite() || !a_.allFinite()) return fail(report, "the motion is not finite");
    update_multipliers();
    if (jumps) share_jump_of_velocities(state, f);
    state.complete_step(state.t + f.step, f.step, q_, v_, a_, scheme_a_, lambda_);
    system_->update_memory(*evaluation_, state.q, state.memory);
    return report;
}

// A failed step is tried again in parts, with another choice.
StepReport SemiRecursiveSolver::fail(StepReport report, std::string reason) {
    report.ok = false;
    report.reason = std::move(reason);
    rank_ = -1;
    return report;
}

// ---------------------------------------------------------------- independent coordinates

// R at the start of the step, with the coordinates of the last one or, if these have become poor, with others. False:
// no choice will do.
bool SemiRecursiveSolver::update_choice() {
    const auto update = [&] {
        make_dense_jacobian();
        if (!factorize_dependent()) return false;
        update_transformation();
        return magnification_ < singular;
    };
    const bool must_choose = rank_ < 0 || have_rows_changed();
    if (!must_choose && update()) {
        least_magnification_ = std::min(least_magnification_, magnification_);
        if (magnification_ <= poor * std::max(1.0, least_magnification_)) return true;
    }
    choose();
    if (!update()) return false;
    least_magnification_ = magnification_;
    return true;
}

// Full pivoting of J, rows and columns in units of their inertia (Terze's criterion).
void SemiRecursiveSolver::choose() {
    const int n = system_->size();
    const int m = system_->rows();
    make_dense_jacobian();
    for (int i = 0; i < m; ++i) was_on_[i] = is_on(i);
    rank_ = 0;
    if (m > 0 && n > 0) {
        for (int i = 0; i < m; ++i)
            for (int j = 0; j < n; ++j)
                scaled_(i, j) =
                    jacobian_(i, j) * std::sqrt(system_->row_inertia()[i] / system_->coordinate_inertia()[j]);
        choice_.compute(scaled_);
        const int most = std::min(m, n);
        while (rank_ < most && std::abs(choice_.matrixLU()(rank_, rank_)) > independence_tolerance) ++rank_;
    }
    split();
    resize();
}

// (1): the columns of the pivots are dependent, all others independent.
void SemiRecursiveSolver::split() {
    dependent_.clear();
    independent_.clear();
    rows_used_.clear();
    std::fill(is_dependent_.begin(), is_dependent_.end(), false);
    for (int k = 0; k < rank_; ++k) {
        dependent_.push_back(choice_.permutationQ().indices()[k]);
        is_dependent_[dependent_.back()] = true;
    }
    for (int i = 0; i < system_->rows() && rank_ > 0; ++i)
        if (choice_.permutationP().indices()[i] < rank_) rows_used_.push_back(i);  // row i goes to this place
    for (int j = 0; j < system_->size(); ++j)
        if (!is_dependent_[j]) independent_.push_back(j);
}

void SemiRecursiveSolver::resize() {
    const int free = system_->size() - rank_;
    dependent_jacobian_.resize(rank_, rank_);
    independent_jacobian_.resize(rank_, free);
    transformation_.resize(rank_, free);
    product_.resize(system_->size(), free);
    reduced_.resize(free, free);
    reduced_residual_.resize(free);
    reduced_change_.resize(free);
    selected_.resize(rank_);
    ordered_.resize(rank_);
}

bool SemiRecursiveSolver::is_on(int row) const {
    const RowPattern& pattern = system_->jacobian_pattern();
    const auto first = evaluation_->jacobian.begin() + pattern.start[row];
    const auto last = evaluation_->jacobian.begin() + pattern.start[row + 1];
    return std::any_of(first, last, [](double entry) { return entry != 0; });
}

// Contacts may have opened or closed since the last choice.
bool SemiRecursiveSolver::have_rows_changed() const {
    for (int i = 0; i < system_->rows(); ++i)
        if (is_on(i) != was_on_[i]) return true;
    return false;
}

// ---------------------------------------------------------------- velocity transformation

void SemiRecursiveSolver::make_dense_jacobian() {
    const RowPattern& pattern = system_->jacobian_pattern();
    jacobian_.setZero();
    for (int i = 0; i < pattern.rows(); ++i)
        for (int k = pattern.start[i]; k < pattern.start[i + 1]; ++k)
            jacobian_(i, pattern.column[k]) = evaluation_->jacobian[k];
}

bool SemiRecursiveSolver::factorize_dependent() {
    if (rank_ == 0) return true;
    for (int i = 0; i < rank_; ++i) {
        for (int k = 0; k < rank_; ++k) dependent_jacobian_(i, k) = jacobian_(rows_used_[i], dependent_[k]);
        for (std::size_t k = 0; k < independent_.size(); ++k)
            independent_jacobian_(i, static_cast<int>(k)) = jacobian_(rows_used_[i], independent_[k]);
    }
    factor_.compute(dependent_jacobian_);
    return factor_.matrixLU().diagonal().cwiseAbs().minCoeff() > 0;
}

// (3), and by (9) how far the dependent coordinates can be trusted.
void SemiRecursiveSolver::update_transformation() {
    magnification_ = 0;
    const VecX& inertia = system_->coordinate_inertia();
    for (int k = 0; k < transformation_.cols() && rank_ > 0; ++k) {
        selected_ = -independent_jacobian_.col(k);
        solve_dependent();
        transformation_.col(k) = selected_;
        for (int i = 0; i < rank_; ++i) {
            const double g = std::abs(selected_[i]) * std::sqrt(inertia[dependent_[i]] / inertia[independent_[k]]);
            if (!(g <= magnification_)) magnification_ = g;  // not a number too
        }
    }
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

// selected_ <- J_d^-T selected_
void SemiRecursiveSolver::solve_dependent_transposed() {
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
}

void SemiRecursiveSolver::gather_rows(const VecX& rows) {
    for (int i = 0; i < rank_; ++i) selected_[i] = rows[rows_used_[i]];
}

// ---------------------------------------------------------------- one iterate

// Everything that belongs to the accelerations scheme_a_ of the independent coordinates.
bool SemiRecursiveSolver::evaluate(const State& state, const DifferenceFormulas& f) {
    if (!close_loops(state, f)) return false;
    if (rank_ > 0) {
        make_dense_jacobian();
        factorize_dependent();
        update_transformation();
    }
    update_motion(state, f);
    system_->update_forces(*evaluation_);
    update_residual();
    return true;
}

// (2): dependent positions for the independent ones in q_.
bool SemiRecursiveSolver::close_loops(const State& state, const DifferenceFormulas& f) {
    Evaluation& e = *evaluation_;
    const int velocity_rows = system_->rows() - system_->holonomic_rows();
    const double tolerance = 1e-13 * system_->length_scale();
    double before = 0;
    for (int i = 0; i < max_closures; ++i) {
        // Velocity rows hold for the velocities of the difference formulas.
        v_ = f.v_hat + (f.gamma / (f.beta * f.step)) * (q_ - f.q_hat);
        system_->update_positions(e, state.t + f.step, q_, state.memory);
        system_->update_velocities(e, v_);
        rows_ = e.phi;
        rows_.tail(velocity_rows) *= f.beta * f.step / f.gamma;
        const double error = rows_.size() > 0 ? rows_.lpNorm<Eigen::Infinity>() : 0;
        if (!std::isfinite(error)) return false;
        if (error <= tolerance || rank_ == 0) return true;
        if (i > 2 && error > 0.5 * before) return error < 1e-9 * system_->length_scale();
        before = error;
        if (i == 0 || i == 3) {
            make_dense_jacobian();
            factorize_dependent();
        }
        gather_rows(rows_);
        solve_dependent();
        for (int k = 0; k < rank_; ++k) q_[dependent_[k]] -= selected_[k];
    }
    return false;
}

// Velocities and accelerations: of the independent coordinates by (6), of the dependent ones by (3) and (4).
void SemiRecursiveSolver::update_motion(const State& state, const DifferenceFormulas& f) {
    Evaluation& e = *evaluation_;
    for (const int j : independent_) {
        v_[j] = f.v_hat[j] + f.gamma * f.step * scheme_a_[j];
        a_[j] =
            ((1 - f.delta_m) * scheme_a_[j] + f.delta_m * state.scheme_a[j] - f.delta_f * state.a[j]) / (1 - f.delta_f);
    }
    complete(v_, e.time_partial);
    system_->update_velocities(e, v_);
    complete_accelerations(state, f);
}

void SemiRecursiveSolver::complete_accelerations(const State& state, const DifferenceFormulas& f) {
    complete(a_, evaluation_->bias);
    for (const int j : dependent_)
        scheme_a_[j] =
            ((1 - f.delta_f) * a_[j] + f.delta_f * state.a[j] - f.delta_m * state.scheme_a[j]) / (1 - f.delta_m);
}

// x_d = -J_d^-1 (J_y x_y + rhs)
void SemiRecursiveSolver::complete(VecX& x, const VecX& rhs) {
    if (rank_ == 0) return;
    for (int i = 0; i < rank_; ++i) {
        double sum = rhs[rows_used_[i]];
        for (std::size_t k = 0; k < independent_.size(); ++k)
            sum += independent_jacobian_(i, static_cast<int>(k)) * x[independent_[k]];
        selected_[i] = -sum;
    }
    solve_dependent();
    for (int k = 0; k < rank_; ++k) x[dependent_[k]] = selected_[k];
}

// (5)
void SemiRecursiveSolver::update_residual() {
    multiply(system_->pattern(), evaluation_->mass, a_, residual_);
    residual_ -= evaluation_->force;
    for (std::size_t k = 0; k < independent_.size(); ++k) {
        const auto column = static_cast<int>(k);
        double sum = residual_[independent_[k]];
        for (int i = 0; i < rank_; ++i) sum += transformation_(i, column) * residual_[dependent_[i]];
        reduced_residual_[column] = sum;
    }
}

// (7), left
void SemiRecursiveSolver::factorize_tangent(const DifferenceFormulas& f) {
    const auto free = static_cast<int>(independent_.size());
    if (free == 0) return;
    Evaluation& e = *evaluation_;
    const double share = (1 - f.delta_m) / (1 - f.delta_f);
    const double damping = f.gamma * f.step;
    const double stiffness = f.beta * f.step * f.step;
    if (tangent_choice_.is_approximate()) {
        system_->assemble_approximate_tangent(e, share, damping, stiffness, values_);
    } else {
        system_->assemble_tangent(e, share, damping, stiffness, lambda_, a_, values_);
    }
    const SymmetricPattern& pattern = system_->pattern();
    for (int j = 0; j < pattern.size; ++j)
        for (int k = pattern.start[j]; k < pattern.start[j + 1]; ++k)
            tangent_(pattern.row[k], j) = tangent_(j, pattern.row[k]) = values_[k];
    for (int k = 0; k < free; ++k) {
        product_.col(k) = tangent_.col(independent_[k]);
        for (int i = 0; i < rank_; ++i) product_.col(k) += transformation_(i, k) * tangent_.col(dependent_[i]);
    }
    factorize_reduced();
    updates_.restart();
}

// R^T P, where P = product_ is a matrix of all coordinates times R.
void SemiRecursiveSolver::factorize_reduced() {
    const auto free = static_cast<int>(independent_.size());
    for (int k = 0; k < free; ++k)
        for (int l = 0; l < free; ++l) {
            double sum = product_(independent_[l], k);
            for (int i = 0; i < rank_; ++i) sum += transformation_(i, l) * product_(dependent_[i], k);
            reduced_(l, k) = sum;
        }
    newton_.compute(reduced_);
}

// (7), solved; and what earlier changes tell of the part that the symmetric tangent leaves out.
void SemiRecursiveSolver::find_change() {
    change_.setZero();
    if (independent_.empty()) return;
    reduced_change_ = -reduced_residual_;
    newton_.solveInPlace(reduced_change_);
    for (std::size_t k = 0; k < independent_.size(); ++k)
        change_[independent_[k]] = reduced_change_[static_cast<int>(k)];
    updates_.improve(change_, no_companion_);
}

// Dependent positions go along to first order, from where their loops are closed.
void SemiRecursiveSolver::take_change(const DifferenceFormulas& f) {
    const double reach = f.beta * f.step * f.step;
    for (std::size_t k = 0; k < independent_.size(); ++k) {
        const int j = independent_[k];
        scheme_a_[j] += change_[j];
        q_[j] = f.q_hat[j] + reach * scheme_a_[j];
        for (int i = 0; i < rank_; ++i)
            q_[dependent_[i]] += reach * transformation_(i, static_cast<int>(k)) * change_[j];
    }
}

// The change that the residual still asks for is small enough to be left out (newton_iteration.hpp).
bool SemiRecursiveSolver::has_settled(const State& state, const DifferenceFormulas& f, double size,
                                      const ConvergenceWatch& watch) const {
    if (size <= find_acceptable_error(state.scheme_a, scheme_a_, options_.tolerance)) return true;
    if (!watch.has_stalled()) return false;
    const double rounding = 1e-14 * q_.lpNorm<Eigen::Infinity>() / (f.beta * f.step * f.step);
    return size <= std::max(options_.tolerance * a_.lpNorm<Eigen::Infinity>(), rounding) || is_balanced();
}

// Of long chains rounding of the forces moves the ends by more than the change that is accepted: what counts then is
// that forces balance, as accelerations, so that light and heavy coordinates count alike.
bool SemiRecursiveSolver::is_balanced() const {
    const VecX& inertia = system_->coordinate_inertia();
    double worst = 0;
    for (std::size_t k = 0; k < independent_.size(); ++k)
        worst = std::max(worst, std::abs(reduced_residual_[static_cast<Eigen::Index>(k)]) / inertia[independent_[k]]);
    return worst <= 3 * options_.tolerance * a_.lpNorm<Eigen::Infinity>();
}

// (8)
void SemiRecursiveSolver::update_multipliers() {
    lambda_.setZero();
    if (rank_ == 0) return;
    for (int i = 0; i < rank_; ++i) selected_[i] = -residual_[dependent_[i]];
    solve_dependent_transposed();
    for (int i = 0; i < rank_; ++i) lambda_[rows_used_[i]] = selected_[i];
}

}  // namespace limber
