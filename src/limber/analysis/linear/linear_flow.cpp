#include "limber/analysis/linear/linear_flow.hpp"

#include <fmt/format.h>

#include <Eigen/Cholesky>
#include <algorithm>
#include <array>
#include <cmath>

#include "limber/analysis/linear/row_space.hpp"
#include "limber/model/error.hpp"

namespace limber {
namespace {

constexpr int max_closings = 20;
// Of positions, over the length scale; rounding of large mechanisms is above the first.
constexpr double shut = 1e-13, nearly_shut = 1e-9;
// Ways of differences; the first at which they agree is taken.
constexpr std::array<double, 3> ways{4e-3, 4e-4, 4e-5};
// How well differences of fourth and sixth order agree: over the largest derivative, and over the rounding of forces.
constexpr double agree = 1e-11, of_rounding = 1e-15;
// Derivatives that are zero: forces that change so little over a unit of the way.
constexpr double least_change = 1e-3;
// And from either side, and all in all where nothing smaller helps.
constexpr double sides_agree = 1e-3, still_smooth = 1e-4;
// Inertia of a free motion, over that which its coordinates have by themselves.
constexpr double no_free_inertia = 1e-10;
// By how much dependent rows may disagree about a change.
constexpr double rows_agree = 1e-5;

}  // namespace

LinearFlow::LinearFlow(const System& system, double t, VecX q, VecX v, std::vector<double> memory)
    : system_(system),
      t_(t),
      q_(std::move(q)),
      v_(std::move(v)),
      memory_(std::move(memory)),
      evaluation_(system.make_evaluation()) {
    close(true);
    solve();
}

LinearFlow::~LinearFlow() = default;

MatX LinearFlow::dense_jacobian(int rows) const {
    const RowPattern& pattern = system_.jacobian_pattern();
    MatX j = MatX::Zero(rows, system_.size());
    for (int i = 0; i < rows; ++i)
        for (int k = pattern.start[i]; k < pattern.start[i + 1]; ++k)
            j(i, pattern.column[k]) = evaluation_->jacobian[k];
    return j;
}

void LinearFlow::close(bool with_velocities) {
    Evaluation& e = *evaluation_;
    const int holonomic = system_.holonomic_rows();
    const double size = std::max(1.0, system_.length_scale());
    double open = 0;
    for (int i = 0; i < max_closings; ++i) {
        system_.update_positions(e, t_, q_, memory_);
        open = holonomic == 0 ? 0 : e.phi.head(holonomic).lpNorm<Eigen::Infinity>();
        if (!(open > shut * size)) break;
        const RowSpace space(dense_jacobian(holonomic), system_.coordinate_inertia());
        q_ -= space.reach(e.phi.head(holonomic));
    }
    if (!(open < nearly_shut * size)) throw ModelError("the joints cannot be closed at this state");
    if (!with_velocities) return;
    system_.update_velocities(e, v_);
    const RowSpace space(dense_jacobian(system_.rows()), system_.coordinate_inertia());
    v_ -= space.reach(e.rate);
}

void LinearFlow::solve() {
    const int n = system_.size();
    Evaluation& e = *evaluation_;
    system_.update(e, t_, q_, v_, memory_);
    mass_ = MatX::Zero(n, n);
    const SymmetricPattern& pattern = system_.pattern();
    for (int j = 0; j < n; ++j)
        for (int k = pattern.start[j]; k < pattern.start[j + 1]; ++k)
            mass_(pattern.row[k], j) = mass_(j, pattern.row[k]) = e.mass[k];
    const auto normalise = [&](const MatX& free) -> MatX {
        const MatX inertia = free.transpose() * mass_ * free;
        const Eigen::LLT<MatX> factor(inertia);
        if (free.cols() > 0 && (factor.info() != Eigen::Success ||
                                factor.matrixL().toDenseMatrix().diagonal().minCoeff() < std::sqrt(no_free_inertia)))
            throw ModelError("a motion without inertia: linear analysis needs a mass for everything that moves");
        return factor.matrixU().solve<Eigen::OnTheRight>(free);
    };
    r_h_ = normalise(RowSpace(dense_jacobian(system_.holonomic_rows()), system_.coordinate_inertia()).null_space());
    space_ = std::make_unique<RowSpace>(dense_jacobian(system_.rows()), system_.coordinate_inertia());
    r_v_ = normalise(space_->null_space());
    if (!e.force.allFinite()) throw ModelError("the forces at this state are not finite");
    a_ = respond(-e.force, e.bias);
    const VecX inertia = mass_ * a_;
    lambda_ = space_->multipliers(e.force - inertia);
    force_ = std::max({inertia.lpNorm<Eigen::Infinity>(), e.force.lpNorm<Eigen::Infinity>(),
                       (e.force - inertia).lpNorm<Eigen::Infinity>()});
}

VecX LinearFlow::respond(const VecX& force, const VecX& rows) const {
    const VecX reached = space_->reach(-rows);
    return reached - r_v_ * (r_v_.transpose() * (mass_ * reached + force));
}

// J v + Phi_t, M a + J^T lambda - Q, J a + bias
void LinearFlow::evaluate(const VecX& q, const VecX& v, VecX& values) {
    Evaluation& e = *evaluation_;
    system_.update(e, t_, q, v, memory_);
    const int n = system_.size();
    const int rows = system_.rows();
    values.resize(2 * rows + n);
    values.head(rows) = e.rate;
    VecX part(n);
    multiply(system_.pattern(), e.mass, a_, part);
    add_transposed(system_.jacobian_pattern(), e.jacobian, lambda_, 1, part);
    values.segment(rows, n) = part - e.force;
    VecX along(rows);
    multiply(system_.jacobian_pattern(), e.jacobian, a_, along);
    values.tail(rows) = along + e.bias;
}

VecX LinearFlow::difference(const VecX& dq, const VecX& dv) {
    const double largest = std::max(dq.lpNorm<Eigen::Infinity>() / std::min(1.0, system_.length_scale()),
                                    dv.lpNorm<Eigen::Infinity>() / std::max(1.0, v_.lpNorm<Eigen::Infinity>()));
    VecX best = VecX::Zero(2 * system_.rows() + system_.size());
    if (largest == 0) return best;
    std::array<VecX, 7> f;
    double least = INFINITY;
    double sides = 0;
    for (const double way : ways) {
        const double h = way / largest / 3;
        for (int k = -3; k <= 3; ++k) {
            moved_q_ = q_ + k * h * dq;
            moved_v_ = v_ + k * h * dv;
            evaluate(moved_q_, moved_v_, f[k + 3]);
        }
        const VecX one = (f[4] - f[2]) / (2 * h);
        const VecX two = (f[5] - f[1]) / (4 * h);
        const VecX three = (f[6] - f[0]) / (6 * h);
        const VecX sixth = 1.5 * one - 0.6 * two + 0.1 * three;
        const VecX fourth = (4 * one - two) / 3;
        const VecX ahead = (-11 * f[3] + 18 * f[4] - 9 * f[5] + 2 * f[6]) / (6 * h);
        const VecX behind = (11 * f[3] - 18 * f[2] + 9 * f[1] - 2 * f[0]) / (6 * h);
        if (!sixth.allFinite()) continue;
        scale_ = std::max({scale_, sixth.lpNorm<Eigen::Infinity>(), least_change * largest * force_});
        const double noise = of_rounding * force_ / h;
        const double error = (sixth - fourth).lpNorm<Eigen::Infinity>();
        const double between = (ahead - behind).lpNorm<Eigen::Infinity>() / 2;
        if (error < least) {
            least = error;
            best = sixth;
            sides = between;
        }
        if (error <= agree * scale_ + noise && between <= sides_agree * scale_) break;
    }
    error_ = std::max(error_, least);
    sides_ = std::max(sides_, sides);
    return best;
}

void LinearFlow::differentiate() {
    const int n = system_.size();
    const int rows = system_.rows();
    drift_ = MatX::Zero(n, positions());
    da_ = MatX::Zero(n, states());
    const VecX nothing = VecX::Zero(n);
    const auto respond_to = [&](const VecX& change) {
        const VecX da = respond(change.segment(rows, n), change.tail(rows));
        miss_ = std::max(miss_, space_->miss(da, -change.tail(rows)));
        return da;
    };
    for (int i = 0; i < positions(); ++i) {
        const VecX dq = r_h_.col(i);
        VecX change = difference(dq, nothing);
        const VecX rate = change.head(rows);
        if (!rate.isZero(0)) {
            VecX dv = space_->reach(-rate);
            dv -= r_v_ * (r_v_.transpose() * (mass_ * dv));
            drift_.col(i) = dv;
            change = difference(dq, dv);
        }
        da_.col(i) = respond_to(change);
    }
    for (int i = 0; i < velocities(); ++i) da_.col(positions() + i) = respond_to(difference(nothing, r_v_.col(i)));
    // Beside the largest derivative, which is known only now.
    if (sides_ > sides_agree * scale_ || error_ > still_smooth * scale_)
        throw ModelError(
            "the forces are not smooth at this state (a kink, a jump, or something that begins to act): their "
            "derivatives from either side differ, and there is no linearisation");
    if (miss_ > rows_agree * std::max(1.0, scale_))
        throw ModelError(
            "a singular position of the joints: there their equations depend on each other in another way than near "
            "by, and there is no linearisation");
}

MatX LinearFlow::position_tangents() const {
    MatX dq = MatX::Zero(system_.size(), states());
    dq.leftCols(positions()) = r_h_;
    return dq;
}

MatX LinearFlow::velocity_tangents() const {
    MatX dv(system_.size(), states());
    dv << drift_, r_v_;
    return dv;
}

MatX LinearFlow::states_of(const MatX& dq, const MatX& dv) const {
    MatX states(positions() + velocities(), dq.cols());
    states.topRows(positions()) = r_h_.transpose() * mass_ * dq;
    states.bottomRows(velocities()) = r_v_.transpose() * mass_ * (dv - drift_ * states.topRows(positions()));
    return states;
}

MatX LinearFlow::matrix(const MatX& g) const {
    const MatX dq = position_tangents();
    const MatX dv = velocity_tangents();
    return states_of(dv - g * dq, da_ - g * dv);
}

double LinearFlow::unsteadiness(const MatX& g) const {
    return (a_ - g * v_).lpNorm<Eigen::Infinity>();
}

}  // namespace limber
