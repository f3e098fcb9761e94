#include "limber/contact/cones/cone_complementarity.hpp"

#include <algorithm>
#include <cmath>

namespace limber {
namespace {

constexpr double least_proximal_weight = 1e-6;  // over the diagonal of W
constexpr int max_proximal_passes = 20;
constexpr int max_local_newton_steps = 25;  // of one pass
constexpr int max_line_halvings = 8;
constexpr int max_velocity_passes = 10;
constexpr int facet_directions = 16;
constexpr int facet_attempt = 2;          // at which many-sided cones are tried
constexpr unsigned first_path = 2;        // steps of a path, doubled with every attempt
constexpr int first_newton = 10;          // sweeps before other methods are tried
constexpr int first_newton_moving = 160;  // the same where sweeps are expected to do
constexpr int sweeps_between_checks = 10;
constexpr double rest_velocity_ratio = 1e-2;  // velocities before, over what forces add to them: less than this is rest
// Of a set that moves: the part of the energy lost that the error may be worth; after enough sweeps more, but then
// velocities must be the more exact.
constexpr double energy_share = 1e-3;
constexpr double late_energy_share = 0.5;
constexpr double late_tolerance_share = 0.1;
constexpr double contradiction = 1e-9;  // a residual beyond this: there is no solution

using SmallVec = Eigen::Matrix<double, Eigen::Dynamic, 1, 0, 6, 1>;
using SmallMat = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, 0, 6, 6>;

}  // namespace

void ConeSolver::start(const DelassusMatrix& w, const std::vector<ConeBlock>& blocks, const VecX& free_velocity,
                       const VecX& bias) {
    w_ = &w;
    blocks_ = &blocks;
    q_ = free_velocity + bias;
    unit_.resize(w.rows());
    for (int i = 0; i < w.block_count(); ++i) {
        const auto diagonal = w.diagonal(i).diagonal();
        const int first = w.first_row(i);
        if (blocks[i].is_bilateral) {
            unit_.segment(first, w.size(i)) = diagonal;
            continue;
        }
        unit_[first] = diagonal[0];
        for_each_disc(blocks[i], first, [&](const FrictionDisc& d) {
            unit_.segment(d.first, d.rows).setConstant(diagonal.segment(d.first - first, d.rows).maxCoeff());
        });
    }
    sweeps_.start(w, blocks, q_, unit_);
}

// Distance from the projected equations p = P(p - u / unit), as a velocity. Angular velocities count by what they mean
// at the contact's own lever.
double ConeSolver::measure(int i, const VecX& p, const VecX& u) const {
    const ConeBlock& block = (*blocks_)[i];
    const int first = w_->first_row(i);
    if (block.is_bilateral) return u.segment(first, w_->size(i)).lpNorm<Eigen::Infinity>();
    const double unit = unit_[first];
    double worst =
        unit > 0 ? std::abs(p[first] * unit - std::max(0.0, p[first] * unit - u[first])) : std::max(0.0, -u[first]);
    for_each_disc(block, first, [&](const FrictionDisc& d) {
        const double own = unit_[d.first];
        if (!(own > 0)) return;
        const double radius = d.coefficient * std::max(0.0, p[first]) * own;
        SmallVec y = p.segment(d.first, d.rows) * own;
        const SmallVec held = y;
        y -= u.segment(d.first, d.rows);
        const double length = y.norm();
        if (length > radius) y *= radius / length;
        const bool is_angular = d.first > first + block.sliding_rows;
        const double lever = is_angular && unit > 0 ? std::sqrt(unit / own) : 1;
        worst = std::max(worst, lever * (held - y).norm());
    });
    return worst;
}

double ConeSolver::compute_residual(const VecX& p, VecX& u) {
    sweeps_.multiply(p, u);
    double worst = 0;
    worst_ = -1;
    error_energy_ = 0;
    for (int i = 0; i < w_->block_count(); ++i) {
        const double defect = measure(i, p, u);
        if (defect > worst) worst_ = i;
        worst = std::max(worst, defect);
        // The impulse that is there, and the one that is missing, over the way that should not be.
        const int first = w_->first_row(i);
        const double missing = unit_[first] > 0 ? defect / unit_[first] : 0;
        error_energy_ += defect * (std::abs(p[first]) + missing);
    }
    return worst;
}

// The change of energy is p.(u_before + u_after)/2 without forces; what forces do alone is the allowance.
double ConeSolver::compute_lost_energy(const Impact& impact, const VecX& p, const VecX& u) const {
    return impact.allowance - p.dot(impact.working) - 0.5 * p.dot(u - q_);
}

// ---------------------------------------------------------------- Newton's method

// F(p), row by row a velocity: u where the impulse is inside its set, else what the impulse lacks to its border.
void ConeSolver::update_newton_defect(const VecX& p) {
    newton_u_.noalias() = dense_ * p;
    newton_u_ += q_;
    newton_u_.array() -= proximal_weight_ * unit_.array() * centre_.array();
    for (int i = 0; i < w_->block_count(); ++i) {
        const ConeBlock& block = (*blocks_)[i];
        const int first = w_->first_row(i);
        defect_.segment(first, w_->size(i)) = newton_u_.segment(first, w_->size(i));
        if (block.is_bilateral) continue;
        const double normal = p[first] * unit_[first];
        if (normal - newton_u_[first] <= 0) defect_[first] = normal;
        for_each_disc(block, first, [&](const FrictionDisc& d) {
            const double own = unit_[d.first];
            const double radius = d.coefficient * std::max(0.0, p[first]) * own;
            SmallVec y = p.segment(d.first, d.rows) * own - newton_u_.segment(d.first, d.rows);
            const double length = y.norm();
            if (length <= radius && radius > 0) return;
            defect_.segment(d.first, d.rows) = p.segment(d.first, d.rows) * own;
            if (length > 0) defect_.segment(d.first, d.rows) -= y * (radius / length);
        });
    }
}

void ConeSolver::update_newton_matrix(const VecX& p) {
    jacobian_ = dense_;
    const auto hold = [&](int row) {
        jacobian_.row(row).setZero();
        jacobian_(row, row) = unit_[row];
    };
    for (int i = 0; i < w_->block_count(); ++i) {
        const ConeBlock& block = (*blocks_)[i];
        if (block.is_bilateral) continue;
        const int first = w_->first_row(i);
        if (p[first] * unit_[first] - newton_u_[first] <= 0) hold(first);
        for_each_disc(block, first, [&](const FrictionDisc& d) {
            const double own = unit_[d.first];
            const double radius = d.coefficient * std::max(0.0, p[first]) * own;
            SmallVec y = p.segment(d.first, d.rows) * own - newton_u_.segment(d.first, d.rows);
            const double length = y.norm();
            if (length <= radius && radius > 0) return;
            if (radius == 0) {
                for (int k = 0; k < d.rows; ++k) hold(d.first + k);
                return;
            }
            // d(p - R y/|y|), y = p - u, |y| > R: the border moves with the normal impulse and turns with y.
            y /= length;
            const double turn = radius / length;
            SmallMat across = turn * (SmallMat::Identity(d.rows, d.rows) - y * y.transpose());
            jacobian_.middleRows(d.first, d.rows) = across.lazyProduct(dense_.middleRows(d.first, d.rows));
            jacobian_.block(d.first, d.first, d.rows, d.rows) += own * (SmallMat::Identity(d.rows, d.rows) - across);
            jacobian_.block(d.first, first, d.rows, 1) -= own * d.coefficient * y;
        });
    }
}

// Each pass solves the problem with W + eps D and the impulses of the pass before as the centre of eps D (p - centre).
// Starting without friction drops what Gauss-Seidel has put into directions that nothing needs, and so leads to the
// least impulses; that is the first attempt. Later ones start where Gauss-Seidel has come to, and from a large eps that
// falls from pass to pass.
void ConeSolver::improve_by_newton(int attempt, double tolerance, VecX& p, VecX& u, ConeReport& report) {
    const int n = w_->rows();
    if (!(unit_.minCoeff() > 0)) return;  // a row that nothing can move
    w_->to_dense(dense_);
    proximal_weight_ = attempt < 2 ? least_proximal_weight : 1;
    dense_.diagonal() += proximal_weight_ * unit_;
    centre_ = VecX::Zero(n);
    defect_.resize(n);
    best_ = p;
    trial_ = p;
    for (int i = 0; attempt == 0 && i < w_->block_count(); ++i)
        if (!(*blocks_)[i].is_bilateral) trial_.segment(w_->first_row(i) + 1, w_->size(i) - 1).setZero();
    double best = report.residual;
    for (int pass = 0; pass < max_proximal_passes; ++pass) {
        update_newton_defect(trial_);
        for (int k = 0; k < max_local_newton_steps; ++k) {
            const double defect = defect_.norm();
            if (defect <= 0.1 * tolerance) break;
            update_newton_matrix(trial_);
            lu_.compute(jacobian_);
            step_ = lu_.solve(defect_);
            if (!step_.allFinite()) break;
            ++report.newton_steps;
            double length = 1;
            const VecX& from = start_ = trial_;
            for (int halving = 0;; ++halving) {
                trial_ = from - length * step_;
                update_newton_defect(trial_);
                if (defect_.norm() < defect || halving == max_line_halvings) break;
                length /= 2;
            }
            if (!(defect_.norm() < defect)) break;
        }
        const double residual = compute_residual(trial_, u);
        if (residual < best) {
            best = residual;
            best_ = trial_;
        } else if (proximal_weight_ == least_proximal_weight) {
            break;
        }
        if (best <= tolerance) break;
        centre_ = trial_;
        const double next_weight = std::max(least_proximal_weight, 0.1 * proximal_weight_);
        dense_.diagonal() += (next_weight - proximal_weight_) * unit_;
        proximal_weight_ = next_weight;
    }
    p = best_;
    report.residual = compute_residual(p, u);
}

// Along a path: without friction a solution can always be found, and Newton's method follows it as friction grows.
void ConeSolver::improve_by_continuation(int steps, double tolerance, VecX& p, VecX& u, ConeReport& report) {
    const std::vector<ConeBlock>& wanted = *blocks_;
    weakened_ = wanted;
    path_.setZero(p.size());
    for (int k = 0; k <= steps; ++k) {
        const double part = static_cast<double>(k) / steps;
        for (std::size_t i = 0; i < wanted.size(); ++i) {
            weakened_[i].friction = part * wanted[i].friction;
            weakened_[i].rolling = part * wanted[i].rolling;
            weakened_[i].spinning = part * wanted[i].spinning;
        }
        blocks_ = &weakened_;
        ConeReport here;
        here.residual = compute_residual(path_, u);
        improve_by_newton(1, tolerance, path_, u, here);
        report.newton_steps += here.newton_steps;
        blocks_ = &wanted;
    }
    take_if_better(path_, p, u, report);
}

void ConeSolver::improve_from_facets(double tolerance, VecX& p, VecX& u, ConeReport& report) {
    if (!(unit_.minCoeff() > 0)) return;
    w_->to_dense(dense_);
    if (!facets_.solve(dense_, *blocks_, q_, unit_, facet_directions, path_)) return;
    ConeReport here;
    here.residual = compute_residual(path_, u);
    improve_by_newton(1, tolerance, path_, u, here);
    report.newton_steps += here.newton_steps;
    take_if_better(path_, p, u, report);
}

// Leaves velocities and residual of what it has chosen.
void ConeSolver::take_if_better(const VecX& other, VecX& p, VecX& u, ConeReport& report) {
    if (compute_residual(other, u) < report.residual) p = other;
    report.residual = compute_residual(p, u);
}

// ---------------------------------------------------------------- augmented Lagrangian

void ConeSolver::improve_in_velocities(double tolerance, VecX& p, VecX& u, ConeReport& report) {
    newton_.start(*w_, *blocks_, q_, unit_, p);
    best_ = trial_ = p;
    double best = report.residual;
    for (int pass = 0; pass < max_velocity_passes && best > tolerance; ++pass) {
        report.newton_steps += newton_.pass(tolerance, trial_);
        const double residual = compute_residual(trial_, u);
        if (residual >= best) continue;
        best = residual;
        best_ = trial_;
    }
    p = best_;
    report.residual = compute_residual(p, u);
}

// ---------------------------------------------------------------- all together

// What sweeps leave: the quickest method first, the others where it has failed before.
void ConeSolver::improve(int attempt, bool is_small, double goal, VecX& p, VecX& u, ConeReport& report) {
    const auto is_open = [&] { return report.residual > goal; };
    if (is_open() && is_small) improve_by_newton(attempt, goal, p, u, report);
    if (is_open() && (attempt > 1 || !is_small)) improve_in_velocities(goal, p, u, report);
    if (is_open() && is_small && attempt > 1)
        improve_by_continuation(static_cast<int>(first_path << attempt), goal, p, u, report);
    if (is_open() && is_small && attempt == facet_attempt) improve_from_facets(goal, p, u, report);
}

// Newton's method obeys the law of friction only to its tolerance; impulses that leave here obey it.
void ConeSolver::pull_into_cones(VecX& p) const {
    for (int i = 0; i < w_->block_count(); ++i) {
        const ConeBlock& block = (*blocks_)[i];
        if (block.is_bilateral) continue;
        const int first = w_->first_row(i);
        p[first] = std::max(0.0, p[first]);
        for_each_disc(block, first, [&](const FrictionDisc& d) {
            auto impulse = p.segment(d.first, d.rows);
            const double radius = d.coefficient * p[first];
            const double length = impulse.norm();
            if (length > radius) impulse *= radius / length;
        });
    }
}

ConeReport ConeSolver::solve(const DelassusMatrix& delassus, const std::vector<ConeBlock>& blocks,
                             const VecX& free_velocity, const VecX& bias, VecX& impulse, VecX& velocity) {
    return solve_set(delassus, blocks, free_velocity, bias, nullptr, impulse, velocity);
}

ConeReport ConeSolver::solve_set(const DelassusMatrix& delassus, const std::vector<ConeBlock>& blocks,
                                 const VecX& free_velocity, const VecX& bias, const Impact* impact, VecX& impulse,
                                 VecX& velocity) {
    ConeReport report;
    start(delassus, blocks, free_velocity, bias);
    const double scale = q_.size() > 0 ? q_.lpNorm<Eigen::Infinity>() : 0;
    const double tolerance = std::max(options_.tolerance * scale, options_.absolute_tolerance);
    const double loose = std::max(options_.loose_tolerance * scale, tolerance);
    const bool is_small = delassus.rows() <= options_.newton_rows;
    const bool is_resting = impact && impact->is_resting;
    const bool is_moving = impact && !is_resting && !is_small && loose > tolerance;
    const bool uses_newton = is_small || is_resting || delassus.touched_bodies() <= options_.newton_bodies;
    const double goal = is_moving ? loose : tolerance;
    // Where Newton's method follows soon, it starts better from plain sweeps: they stay near the least impulses.
    const bool accelerates = is_moving || !uses_newton;
    int until_newton = is_moving ? first_newton_moving : first_newton;
    int attempt = 0;
    double lost = 0;
    const auto check_energy = [&] {
        if (is_moving) lost = compute_lost_energy(*impact, impulse, velocity);
    };
    const auto check = [&] {
        report.residual = compute_residual(impulse, velocity);
        check_energy();
    };
    const auto is_enough = [&] {
        if (report.residual <= tolerance || report.sweeps >= options_.max_sweeps) return true;
        const auto is_good = [&](double residual, double share) {
            return is_moving && report.residual <= residual && error_energy_ <= share * lost;
        };
        return is_good(loose, energy_share) ||
               (report.sweeps >= options_.enough_sweeps && is_good(late_tolerance_share * loose, late_energy_share));
    };
    check();
    while (!is_enough()) {
        const bool backwards = report.sweeps % 2 == 1;
        if (accelerates && !backwards) sweeps_.remember(impulse);
        const double change = sweeps_.sweep(backwards, impulse);
        ++report.sweeps;
        if (uses_newton && report.sweeps == until_newton) {
            check();
            improve(attempt++, is_small, goal, impulse, velocity, report);
            check_energy();
            until_newton *= 2;
            sweeps_.restart();
            continue;
        }
        if (change <= tolerance || report.sweeps % sweeps_between_checks == 0) check();
        if (accelerates && backwards && !is_enough()) sweeps_.accelerate(impulse);
    }
    pull_into_cones(impulse);
    report.defect = compute_residual(impulse, velocity);
    report.converged = report.defect <= tolerance;
    report.residual = scale > 0 ? report.defect / scale : 0;
    report.worst = worst_;
    report.error_energy = error_energy_;
    velocity -= bias;
    return report;
}

ConeReport ConeSolver::solve_impact(const DelassusMatrix& delassus, const std::vector<ConeBlock>& blocks,
                                    const VecX& before, const VecX& working, const VecX& free_velocity,
                                    const VecX& bias, double allowance, VecX& impulse, VecX& velocity) {
    guess_ = impulse;
    const bool is_small = delassus.rows() <= options_.newton_rows;
    const auto largest = [](const auto& velocities) {
        return velocities.size() > 0 ? velocities.template lpNorm<Eigen::Infinity>() : 0.0;
    };
    const Impact impact{working, allowance, largest(before) <= rest_velocity_ratio * largest(free_velocity - before)};
    bool has_restitution = false;
    for (int i = 0; i < delassus.block_count(); ++i)
        has_restitution = has_restitution || (blocks[i].restitution > 0 && before[delassus.first_row(i)] < 0);
    const auto solve_with = [&](double factor) {
        impact_bias_ = bias;
        for (int i = 0; i < delassus.block_count(); ++i) {
            const int row = delassus.first_row(i);
            // A bias of -e u asks for the velocity e u after; of all wishes the strongest counts.
            if (!blocks[i].is_bilateral && blocks[i].restitution > 0 && before[row] < 0)
                impact_bias_[row] = std::min(bias[row], factor * blocks[i].restitution * before[row]);
        }
        ConeReport report = solve_set(delassus, blocks, free_velocity, impact_bias_, &impact, impulse, velocity);
        report.restitution_factor = factor;
        return report;
    };
    // Too much restitution either creates energy or, where contacts are redundant, contradicts itself. What an error is
    // worth does not come from restitution.
    const auto is_too_much = [&](const ConeReport& report) {
        const double gained = impulse.dot(working) + 0.5 * impulse.dot(velocity - free_velocity);
        const double error = is_small || report.converged ? 0 : report.error_energy;
        return gained > allowance + 1e-12 * std::abs(impulse.dot(before)) + error ||
               (is_small && report.residual > contradiction);
    };
    const ConeReport report = solve_with(1);
    if (!has_restitution || !is_too_much(report)) return report;
    double high = 1;
    double low = 0;
    for (int k = 0; k < 12; ++k) {
        const double middle = 0.5 * (low + high);
        impulse = guess_;
        (is_too_much(solve_with(middle)) ? high : low) = middle;
    }
    impulse = guess_;
    return solve_with(low);
}

}  // namespace limber
