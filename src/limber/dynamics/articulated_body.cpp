#include "limber/dynamics/articulated_body.hpp"

#include <algorithm>
#include <cmath>

#include "limber/dynamics/open_constraints.hpp"
#include "limber/math/dense_factors.hpp"
#include "limber/model/error.hpp"

namespace limber {
namespace {

constexpr double massless_floor = 0.1;           // over the inertia of the lightest links
constexpr double no_joint_inertia = 1e-10;       // of a body along a joint, over that along its single coordinates
constexpr double lightest_link = 1e-3;           // over the typical mass
constexpr double closure_regularisation = 1e-8;  // over the admittance of a row
constexpr int max_closure_passes = 20;           // needed near dead points, where some constraint hardly acts
constexpr int massless_passes = 50;
constexpr double closure_tolerance = 1e-13;
// Inertia of a motion over E that is rounding.
constexpr double held_by_floor = 1e-11;
// Closures that are open by less, over the length of the mechanism, have been closed.
constexpr double closed_rows = 1e-12;

/// Whether a body by itself resists every motion of its joint.
template <int D>
bool has_inertia_along(const MechanismBody<D>& body, const RelativeMotion<D>& motion, const TreeNode<D>& node,
                       int index, const VecX& q) {
    const AngularMat<D> inertia = world_inertia(body, motion.body[index]);
    const int count = node.column_count;
    MatX gram(count, count);
    for (int i = 0; i < count; ++i)
        for (int j = 0; j < count; ++j) {
            const auto& a = motion.column[node.first_column + i];
            const auto& b = motion.column[node.first_column + j];
            gram(i, j) = body.mass * a.u.dot(b.u) + a.w.dot(inertia * b.w);
        }
    // The length of Euler parameters is no motion.
    int first = 0;
    for (const JointMotion& step : node.motions) {
        const bool is_ball = step.kind == JointMotion::Kind::ball;
        if (is_ball) {
            const VecX p = q.segment(node.first_column + first, 4);
            gram.block(first, first, 4, 4) += gram.block(first, first, 4, 4).trace() * p * p.transpose();
        }
        first += is_ball ? 4 : 1;
    }
    const VecX size = gram.diagonal();
    if (!(size.minCoeff() > 0)) return false;
    const VecX scale = size.cwiseSqrt().cwiseInverse();
    const MatX scaled = scale.asDiagonal() * gram * scale.asDiagonal();
    return compute_least_eigenvalue(scaled) > no_joint_inertia;
}

}  // namespace

template <int D>
ArticulatedBodySolver<D>::ArticulatedBodySolver(std::shared_ptr<const System> system, const FormulationOptions& options)
    : AccelerationSolver(std::move(system), options),
      relative_(static_cast<const RelativeSystem<D>&>(*system_)),
      tree_(relative_.coordinates().tree()),
      balls_(static_cast<int>(tree_.ball_columns.size())),
      rows_(system_->rows() - balls_),
      ball_inertia_(find_ball_inertia()),
      floor_(find_floor()),
      is_massless_(!floor_.isZero(0)),
      inertia_(relative_.mechanism(), tree_, floor_, ball_inertia_),
      iteration_(system_->size(), rows_) {
    find_branches();
    matrix_.assign(pattern_.nonzeros(), 0.0);
    linear_ = make_linear_solver(pattern_);
    const int n = system_->size();
    scattered_ = VecX::Zero(n);
    change_ = floor_force_ = response_ = unprojected_ = VecX::Zero(n);
    floor_rest_ = floor_direction_ = floor_answer_ = VecX::Zero(n);
    floor_multipliers_ = no_rows_ = VecX::Zero(system_->rows());
    scratch_lambda_ = violation_ = VecX::Zero(system_->rows());
    residual_ = multipliers_ = VecX::Zero(rows_);
    pivot_floor_.assign(rows_, 0.0);
    weight_ = system_->row_inertia().tail(rows_) / closure_regularisation;
}

template <int D>
bool ArticulatedBodySolver<D>::solve(double t, const VecX& q, const VecX& v, std::span<const double> memory, VecX& a,
                                     VecX& lambda) {
    Evaluation& e = *evaluation_;
    if (!factorize_at(t, q, memory)) return false;
    system_->update_velocities(e, v);
    system_->update_forces(e);
    update_target();
    ++iterations_;
    a.setZero(system_->size());
    solve_constrained(e.force, target_, q, a, lambda);
    if (!a.allFinite()) failure_ = "the accelerations are not finite";
    return a.allFinite();
}

template <int D>
void ArticulatedBodySolver<D>::solve_constrained(const VecX& f, const VecX& rhs, const VecX& q, VecX& x, VecX& y) {
    if (!is_massless_) {
        solve_with_floor(f, rhs, q, x, y);
        return;
    }
    // E x of the guess goes to the other side.
    floor_rest_ = -x;
    floor_force_ = f + floor_.cwiseProduct(x);
    solve_with_floor(floor_force_, rhs, q, x, y);
    floor_rest_ += x;
    take_floor_away(q, x, y);
}

template <int D>
void ArticulatedBodySolver<D>::solve_with_floor(const VecX& f, const VecX& rhs, const VecX& q, VecX& x, VecX& y) {
    x = f;
    // Euler parameters p: p . x = -rhs, through their own part of M.
    for (int b = 0; b < balls_; ++b)
        x.template segment<4>(tree_.ball_columns[b]) -=
            ball_inertia_[b] * rhs[b] * q.template segment<4>(tree_.ball_columns[b]);
    y.setZero(system_->rows());
    inertia_.solve(x);
    if (rows_ > 0) close_loops(rhs, x, y);
}

// floor_rest_: x less the guess it was found from.
template <int D>
void ArticulatedBodySolver<D>::take_floor_away(const VecX& q, VecX& x, VecX& y) {
    const auto product = [&](const VecX& a, const VecX& b) { return a.dot(floor_.cwiseProduct(b)); };
    const auto apply = [&](const VecX& direction) {
        floor_force_ = floor_.cwiseProduct(direction);
        solve_with_floor(floor_force_, no_rows_, q, floor_answer_, floor_multipliers_);
    };
    // With g the guess, x = P (f + E g) leaves the residual P (f + E x) - x = P E (x - g).
    apply(floor_rest_);
    y += floor_multipliers_;
    floor_rest_ = floor_answer_;
    floor_direction_ = floor_rest_;
    double size = product(floor_rest_, floor_rest_);
    const double tolerance = closure_tolerance * closure_tolerance * floor_.maxCoeff() * x.squaredNorm();
    for (int pass = 0; pass < massless_passes && size > tolerance; ++pass) {
        apply(floor_direction_);
        change_ = floor_direction_ - floor_answer_;
        const double curvature = product(floor_direction_, change_);
        // Nothing else holds it: a motion without inertia, whose forces balance up to rounding.
        if (!(curvature > held_by_floor * product(floor_direction_, floor_direction_))) break;
        const double step = size / curvature;
        x += step * floor_direction_;
        y += step * floor_multipliers_;
        floor_rest_ -= step * change_;
        const double before = size;
        size = product(floor_rest_, floor_rest_);
        floor_direction_ = floor_rest_ + (size / before) * floor_direction_;
    }
}

template <int D>
bool ArticulatedBodySolver<D>::project(double t, VecX& q, VecX& v, std::span<const double> memory) {
    normalise(q);
    if (rows_ > 0) {
        // The inertias of the last evaluation are from near by and mostly good enough.
        unprojected_ = q;
        if (!factorized_at_.is_set() || correct_closures(t, q, memory) > closed_rows * system_->length_scale()) {
            q = unprojected_;
            if (!factorize_at(t, q, memory, true)) return false;
            correct_closures(t, q, memory);
        }
    }
    return project_velocities(t, q, v, memory);
}

template <int D>
bool ArticulatedBodySolver<D>::project_step(const VecX& start, double t, double h, VecX& q, VecX& v,
                                            std::span<const double> memory) {
    normalise(q);
    const double end = t + h;
    if (rows_ > 0) {
        if (!factorize_at(t, start, memory)) return false;
        unprojected_ = q;
        if (correct_closures(end, q, memory) > closed_rows * system_->length_scale()) {
            // The forces of the start do not lead onto the constraints, as at a dead point.
            q = unprojected_;
            return project(end, q, v, memory);
        }
        v += (q - unprojected_) / h;
    }
    return project_velocities(end, q, v, memory);
}

template <int D>
double ArticulatedBodySolver<D>::correct_closures(double t, VecX& q, std::span<const double> memory) {
    Evaluation& e = *evaluation_;
    const int holonomic = system_->holonomic_rows() - balls_;
    const double tolerance = 1e-14 * system_->length_scale();
    double before = 0;
    factorized_at_.clear();
    for (int i = 0;; ++i) {
        system_->update_residuals(e, t, q, memory);
        violation_.setZero();
        violation_.segment(balls_, holonomic) = e.phi.segment(balls_, holonomic);
        const double error = violation_.template lpNorm<Eigen::Infinity>();
        if (i == 6 || !(error > tolerance) || (i > 0 && error > 0.5 * before)) return error;
        before = error;
        remove(violation_, q);
        normalise(q);
    }
}

template <int D>
bool ArticulatedBodySolver<D>::project_velocities(double t, const VecX& q, VecX& v, std::span<const double> memory) {
    Evaluation& e = *evaluation_;
    for (const int first : tree_.ball_columns)
        v.template segment<4>(first) -=
            q.template segment<4>(first) * q.template segment<4>(first).dot(v.template segment<4>(first));
    if (rows_ > 0) {
        if (!factorize_at(t, q, memory)) return false;
        system_->update_velocities(e, v);
        violation_ = e.rate;
        remove(violation_, v);
    }
    return q.allFinite() && v.allFinite();
}

template <int D>
void ArticulatedBodySolver<D>::normalise(VecX& q) const {
    for (const int first : tree_.ball_columns) q.template segment<4>(first).normalize();
}

// Only for joints along which their own body has no inertia: all others have a regular S^T A S, however light they are.
template <int D>
VecX ArticulatedBodySolver<D>::find_floor() const {
    const Mechanism<D>& m = relative_.mechanism();
    VecX floor = VecX::Zero(system_->size());
    double lightest = m.mass_scale;
    for (const auto& body : m.bodies)
        if (body.mass > 0) lightest = std::min(lightest, body.mass);
    lightest = std::max(lightest, lightest_link * m.mass_scale);
    BodyStates<D> states;
    for (const auto& body : m.bodies) states.push_back(body.reference);
    VecX q;
    VecX v;
    relative_.import_states(states, q, v);
    const auto evaluation = relative_.make_evaluation();
    const std::vector<double> memory = m.memory_with_all_rows();
    relative_.update_positions(*evaluation, 0, q, memory);
    const RelativeMotion<D>& motion = RelativeSystem<D>::motion(*evaluation);
    for (std::size_t i = 0; i < tree_.nodes.size(); ++i) {
        const TreeNode<D>& node = tree_.nodes[i];
        const MechanismBody<D>& body = m.bodies[node.body];
        if (node.column_count == 0 || has_inertia_along(body, motion, node, static_cast<int>(i), q)) continue;
        int c = node.first_column;
        for (const JointMotion& step : node.motions) {
            const bool is_ball = step.kind == JointMotion::Kind::ball;
            const double length = step.kind == JointMotion::Kind::slide ? 1 : m.length_scale;
            // Euler parameters are half of a turn.
            for (int k = 0; k < (is_ball ? 4 : 1); ++k)
                floor[c++] = massless_floor * (is_ball ? 4 : 1) * lightest * length * length;
        }
    }
    return floor;
}

template <int D>
std::vector<double> ArticulatedBodySolver<D>::find_ball_inertia() const {
    std::vector<double> list;
    list.reserve(tree_.ball_columns.size());
    for (const int first : tree_.ball_columns) list.push_back(system_->coordinate_inertia()[first]);
    return list;
}

// Closures of one tree are coupled by its root, those of different trees are not.
template <int D>
void ArticulatedBodySolver<D>::find_branches() {
    std::vector<std::vector<int>> rows_of_root(tree_.nodes.size());
    lifted_start_.assign(1, 0);
    for (int r = 0; r < rows_; ++r) {
        branches_.push_back(inertia_.find_branch(system_->jacobian_pattern().row(balls_ + r)));
        for (const int node : branches_.back().nodes)
            if (tree_.nodes[node].parent < 0) rows_of_root[node].push_back(r);
        lifted_start_.push_back(lifted_start_.back() + static_cast<int>(branches_.back().columns.size()));
    }
    lifted_.assign(lifted_start_.back(), 0.0);
    SymmetricPatternBuilder builder(rows_);
    for (int r = 0; r < rows_; ++r) builder.add(r, r);
    for (const auto& rows : rows_of_root) builder.add_clique(rows);
    pattern_ = builder.build();
}

template <int D>
bool ArticulatedBodySolver<D>::factorize_at(double t, const VecX& q, std::span<const double> memory,
                                            bool with_dependent) {
    Evaluation& e = *evaluation_;
    const bool ok = factorize_once_at(factorized_at_, *system_, e, t, q, memory, [&] {
        return inertia_.factorize(RelativeSystem<D>::motion(e), q) && factorize_closures(with_dependent);
    });
    if (!ok) failure_ = "the articulated inertias are not finite";
    return ok;
}

template <int D>
bool ArticulatedBodySolver<D>::factorize_closures(bool with_dependent) {
    if (rows_ == 0) return true;
    const RowPattern& pattern = system_->jacobian_pattern();
    const double* jacobian = evaluation_->jacobian.data();
    for (int r = 0; r < rows_; ++r)
        inertia_.climb(branches_[r], pattern.row(balls_ + r), jacobian + pattern.start[balls_ + r],
                       lifted_.data() + lifted_start_[r]);
    for (int s = 0; s < rows_; ++s) {
        const std::vector<int>& columns = branches_[s].columns;
        for (std::size_t k = 0; k < columns.size(); ++k) scattered_[columns[k]] = lifted_[lifted_start_[s] + k];
        for (int k = pattern_.start[s]; k < pattern_.start[s + 1]; ++k) {
            const int r = pattern_.row[k];
            const double* lifted = lifted_.data() + lifted_start_[r];
            double sum = 0;
            for (const int column : branches_[r].columns) sum += *lifted++ * scattered_[column];
            matrix_[k] = sum;
        }
        for (const int column : columns) scattered_[column] = 0;
    }
    // Pivots below this share of the diagonal tell nothing.
    const double share = with_dependent ? 0 : find_uncertain_share(*system_, *evaluation_, gains_, balls_);
    for (int r = 0; r < rows_; ++r) {
        double& diagonal = matrix_[pattern_.start[r]];
        // A row that has vanished counts by what it usually is.
        pivot_floor_[r] = share * std::max(diagonal, 1 / (closure_regularisation * weight_[r]));
        if (share == 0) diagonal += 1 / weight_[r];
    }
    return linear_->factorize(matrix_, pivot_floor_);
}

template <int D>
void ArticulatedBodySolver<D>::respond(const VecX& multipliers, VecX& response) {
    response.setZero();
    const double* lifted = lifted_.data();
    for (int r = 0; r < rows_; ++r)
        for (const int column : branches_[r].columns) response[column] += multipliers[r] * *lifted++;
    inertia_.descend(response);
}

template <int D>
double ArticulatedBodySolver<D>::dot_row(int row, const VecX& x) const {
    const RowPattern& pattern = system_->jacobian_pattern();
    double sum = 0;
    for (int k = pattern.start[row]; k < pattern.start[row + 1]; ++k)
        sum += evaluation_->jacobian[k] * x[pattern.column[k]];
    return sum;
}

template <int D>
void ArticulatedBodySolver<D>::close_loops(const VecX& rhs, VecX& x, VecX& lambda) {
    const auto update_residual = [&] {
        for (int r = 0; r < rows_; ++r) residual_[r] = dot_row(balls_ + r, x) + rhs[balls_ + r];
        for (int r = 0; r < rows_ && linear_->frozen_pivots() > 0; ++r)
            if (linear_->is_frozen(r)) residual_[r] = 0;
    };
    multipliers_ = lambda.tail(rows_);
    update_residual();
    const auto refine = [&] {
        linear_->solve(residual_);
        respond(residual_, response_);
        x -= response_;
        multipliers_ += residual_;
        update_residual();
    };
    refine();
    const double tolerance =
        closure_tolerance * (x.template lpNorm<Eigen::Infinity>() + rhs.tail(rows_).template lpNorm<Eigen::Infinity>());
    const auto is_done = [&] { return !(residual_.template lpNorm<Eigen::Infinity>() > tolerance); };
    // What the regularisation has left.
    if (!is_done()) refine();
    if (!is_done()) {
        iteration_.run_balanced(weight_, tolerance, max_closure_passes, residual_, x, multipliers_,
                                [&](const VecX& direction, VecX& change, VecX& rows) {
                                    rows = direction.cwiseQuotient(weight_);
                                    linear_->solve(rows);
                                    respond(rows, change);
                                    for (int r = 0; r < rows_; ++r) rows[r] = dot_row(balls_ + r, change);
                                });
        update_residual();
        refine();
    }
    lambda.tail(rows_) = multipliers_;
}

template <int D>
void ArticulatedBodySolver<D>::remove(const VecX& violation, VecX& x) {
    // From zero, so that the products are those of the change alone.
    change_.setZero();
    close_loops(violation, change_, scratch_lambda_);
    x += change_;
}

template class ArticulatedBodySolver<2>;
template class ArticulatedBodySolver<3>;

std::unique_ptr<AccelerationSolver> make_articulated_body_solver(std::shared_ptr<const System> system,
                                                                 const FormulationOptions& options) {
    if (dynamic_cast<const RelativeSystem<2>*>(system.get()) != nullptr)
        return std::make_unique<ArticulatedBodySolver<2>>(std::move(system), options);
    if (dynamic_cast<const RelativeSystem<3>*>(system.get()) != nullptr)
        return std::make_unique<ArticulatedBodySolver<3>>(std::move(system), options);
    throw ModelError("articulated-body works in relative coordinates only");
}

}  // namespace limber
