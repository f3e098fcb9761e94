#include "limber/contact/cone_complementarity.hpp"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>

#include "limber/contact/local_contact.hpp"

namespace limber {
namespace {

constexpr double least_proximal_weight = 1e-6;  // over the diagonal of W
constexpr int max_proximal_passes = 20;
constexpr int max_newton_steps = 25;  // of one pass
constexpr int max_line_halvings = 8;
constexpr int max_velocity_passes = 10;
constexpr int first_path = 2;           // steps of a path, doubled with every attempt
constexpr int first_newton = 10;        // sweeps before other methods are tried
constexpr double contradiction = 1e-8;  // a residual beyond this: there is no solution

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
        for_each_disc(blocks[i], first, [&](const Disc& d) {
            unit_.segment(d.first, d.rows).setConstant(diagonal.segment(d.first - first, d.rows).maxCoeff());
        });
    }
}

// The impulses of one block with all others held. Returns the change, as a velocity.
double ConeSolver::update_block(int i, VecX& p) {
    const ConeBlock& block = (*blocks_)[i];
    const int first = w_->first_row(i);
    const int rows = w_->size(i);
    const auto diagonal = w_->diagonal(i);
    SmallVec u(rows);
    w_->multiply_row(i, p, carried_, local_.head(rows));
    u = local_.head(rows) + q_.segment(first, rows);
    const SmallVec before = p.segment(first, rows);
    if (block.is_bilateral) {
        SmallMat a = diagonal;
        a.diagonal().array() += 1e-12 * a.trace();
        p.segment(first, rows) -= a.ldlt().solve(u);
    } else {
        // Without the block's own impulses.
        const int contact_rows = 1 + block.sliding_rows;
        if (contact_rows == 3) {
            const Mat3 own = diagonal.topLeftCorner<3, 3>();
            p.segment<3>(first) = solve_contact<2>(own, u.head<3>() - own * before.head<3>(), block.friction);
        } else if (contact_rows == 2) {
            const Mat2 own = diagonal.topLeftCorner<2, 2>();
            p.segment<2>(first) = solve_contact<1>(own, u.head<2>() - own * before.head<2>(), block.friction);
        } else if (diagonal(0, 0) > 0) {
            p[first] = std::max(0.0, before[0] - u[0] / diagonal(0, 0));
        }
        for_each_disc(block, first, [&](const Disc& d) {
            if (d.first == first + 1 && block.sliding_rows > 0) return;  // solved with the normal
            const int own = d.first - first;
            const SmallVec changes = p.segment(first, rows) - before;
            const SmallVec now = u + diagonal.lazyProduct(changes);
            const double radius = d.coefficient * p[first];
            if (d.rows == 2) {
                const Mat2 a = diagonal.block<2, 2>(own, own);
                p.segment<2>(d.first) = solve_disc<2>(a, now.segment<2>(own) - a * before.segment<2>(own), radius);
            } else {
                const Mat<1> a = diagonal.block<1, 1>(own, own);
                p.segment<1>(d.first) = solve_disc<1>(a, now.segment<1>(own) - a * before.segment<1>(own), radius);
            }
        });
    }
    const SmallVec change = p.segment(first, rows) - before;
    if (change.isZero(0)) return 0;
    w_->add_carried(i, change.data(), carried_);
    return change.cwiseProduct(unit_.segment(first, rows)).lpNorm<Eigen::Infinity>();
}

// Forwards and backwards in turn, so that nothing depends on which end of a stack comes first.
double ConeSolver::sweep(bool backwards, VecX& p) {
    double change = 0;
    const int count = w_->block_count();
    for (int k = 0; k < count; ++k) change = std::max(change, update_block(backwards ? count - 1 - k : k, p));
    return change;
}

void ConeSolver::remember(const VecX& p) {
    before_pair_ = p;
    carried_before_pair_ = carried_;
}

// Conjugate gradients over pairs of sweeps, which are symmetric (nonsmooth: Silcowitz, Niebe and Erleben 2010): goes on in the
// direction of the pairs before, unless this one has changed more than the last.
void ConeSolver::accelerate(VecX& p) {
    before_pair_ = p - before_pair_;
    carried_before_pair_ = carried_ - carried_before_pair_;
    const double change = before_pair_.cwiseAbs2().dot(unit_);
    const double ratio = last_change_ > 0 ? change / last_change_ : 1;
    last_change_ = change;
    if (ratio < 1) {
        p += ratio * direction_;
        carried_ += ratio * carried_direction_;
        direction_ = before_pair_ + ratio * direction_;
        carried_direction_ = carried_before_pair_ + ratio * carried_direction_;
    } else {
        direction_ = before_pair_;
        carried_direction_ = carried_before_pair_;
    }
}

// Distance from the projected equations p = P(p - u / unit), as a velocity. Angular velocities count by what they mean at the
// contact's own lever.
double ConeSolver::measure(int i, const VecX& p, const VecX& u) const {
    const ConeBlock& block = (*blocks_)[i];
    const int first = w_->first_row(i);
    if (block.is_bilateral) return u.segment(first, w_->size(i)).lpNorm<Eigen::Infinity>();
    const double unit = unit_[first];
    double worst =
        unit > 0 ? std::abs(p[first] * unit - std::max(0.0, p[first] * unit - u[first])) : std::max(0.0, -u[first]);
    for_each_disc(block, first, [&](const Disc& d) {
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
    w_->multiply(p, carried_, u);
    u += q_;
    double worst = 0;
    for (int i = 0; i < w_->block_count(); ++i) worst = std::max(worst, measure(i, p, u));
    return worst;
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
        for_each_disc(block, first, [&](const Disc& d) {
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
        for_each_disc(block, first, [&](const Disc& d) {
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

// Each pass solves the problem with W + eps D and the impulses of the pass before as the centre of eps D (p - centre). Starting
// without friction drops what Gauss-Seidel has put into directions that nothing needs, and so leads to the least impulses; that is
// the first attempt. Later ones start where Gauss-Seidel has come to, and from a large eps that falls from pass to pass.
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
        for (int k = 0; k < max_newton_steps; ++k) {
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
    const double residual = compute_residual(path_, u);
    if (residual >= report.residual) return;
    p = path_;
    report.residual = residual;
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

// Newton's method obeys the law of friction only to its tolerance; impulses that leave here obey it.
void ConeSolver::pull_into_cones(VecX& p) const {
    for (int i = 0; i < w_->block_count(); ++i) {
        const ConeBlock& block = (*blocks_)[i];
        if (block.is_bilateral) continue;
        const int first = w_->first_row(i);
        p[first] = std::max(0.0, p[first]);
        for_each_disc(block, first, [&](const Disc& d) {
            auto impulse = p.segment(d.first, d.rows);
            const double radius = d.coefficient * p[first];
            const double length = impulse.norm();
            if (length > radius) impulse *= radius / length;
        });
    }
}

ConeReport ConeSolver::solve(const DelassusMatrix& delassus, const std::vector<ConeBlock>& blocks,
                             const VecX& free_velocity, const VecX& bias, VecX& impulse, VecX& velocity) {
    ConeReport report;
    start(delassus, blocks, free_velocity, bias);
    int most_rows = 0;
    for (int i = 0; i < delassus.block_count(); ++i) most_rows = std::max(most_rows, delassus.size(i));
    if (local_.size() < most_rows) local_.resize(most_rows);
    const double scale = q_.size() > 0 ? q_.lpNorm<Eigen::Infinity>() : 0;
    const double tolerance = options_.tolerance * scale;
    report.residual = compute_residual(impulse, velocity);
    const bool is_small = delassus.rows() <= options_.newton_rows;
    const bool is_large = delassus.touched_bodies() > options_.newton_bodies;
    const auto is_enough = [&] {
        return report.residual <= tolerance || report.sweeps >= options_.max_sweeps ||
               (is_large && report.sweeps >= options_.enough_sweeps &&
                report.residual <= options_.loose_tolerance * scale);
    };
    int until_newton = first_newton;
    int attempt = 0;
    last_change_ = 0;
    while (!is_enough()) {
        const bool backwards = report.sweeps % 2 == 1;
        if (!backwards) remember(impulse);
        const double change = sweep(backwards, impulse);
        ++report.sweeps;
        if (!is_large && report.sweeps == until_newton) {
            report.residual = compute_residual(impulse, velocity);
            if (report.residual > tolerance && is_small)
                improve_by_newton(attempt, tolerance, impulse, velocity, report);
            if (report.residual > tolerance && (attempt > 1 || !is_small))
                improve_in_velocities(tolerance, impulse, velocity, report);
            if (report.residual > tolerance && is_small && attempt > 1)
                improve_by_continuation(first_path << attempt, tolerance, impulse, velocity, report);
            ++attempt;
            until_newton *= 2;
            last_change_ = 0;
            continue;
        }
        if (change <= tolerance || report.sweeps % 20 == 0) report.residual = compute_residual(impulse, velocity);
        // In smaller sets Newton's method follows, which starts better from plain sweeps: they stay near the least impulses.
        if (is_large && backwards && !is_enough()) accelerate(impulse);
    }
    pull_into_cones(impulse);
    report.residual = compute_residual(impulse, velocity);
    report.converged = report.residual <= tolerance;
    report.residual = scale > 0 ? report.residual / scale : 0;
    velocity -= bias;
    return report;
}

ConeReport ConeSolver::solve_impact(const DelassusMatrix& delassus, const std::vector<ConeBlock>& blocks,
                                    const VecX& before, const VecX& free_velocity, const VecX& bias, double allowance,
                                    VecX& impulse, VecX& velocity) {
    guess_ = impulse;
    const bool is_small = delassus.rows() <= options_.newton_rows;
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
        ConeReport report = solve(delassus, blocks, free_velocity, impact_bias_, impulse, velocity);
        report.restitution_factor = factor;
        return report;
    };
    // Too much restitution either creates energy or, where contacts are redundant, contradicts itself.
    const auto is_too_much = [&](const ConeReport& report) {
        const double gained = impulse.dot(before) + 0.5 * impulse.dot(velocity - free_velocity);
        return gained > allowance + 1e-12 * std::abs(impulse.dot(before)) ||
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
