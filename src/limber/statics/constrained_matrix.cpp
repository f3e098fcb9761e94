#include "limber/statics/constrained_matrix.hpp"

#include <algorithm>
#include <cmath>

namespace limber {
namespace {

// W over A: high enough for (2) to converge fast, and low enough to leave soft directions beside stiff ones their
// digits.
constexpr double row_weight = 1e4;
constexpr int max_passes = 12;
constexpr double exact_enough = 1e-14;

}  // namespace

ConstrainedMatrix::ConstrainedMatrix(const System& system)
    : system_(system), values_(system.pattern().nonzeros(), 0.0), weight_(VecX::Zero(system.rows())) {}

double find_inertia_rate(const System& system, const std::vector<double>& values) {
    double rate = 0;
    // The diagonal is the first entry of each column.
    for (int i = 0; i < system.size(); ++i)
        rate = std::max(rate, std::abs(values[system.pattern().start[i]]) / system.coordinate_inertia()[i]);
    return rate;
}

bool ConstrainedMatrix::factorize(const Evaluation& e, double inertia_rate) {
    weight_ = row_weight * inertia_rate * system_.row_inertia();
    jacobian_ = e.jacobian;
    sum_ = values_;
    system_.add_penalty(e, weight_, sum_);
    if (!std::all_of(sum_.begin(), sum_.end(), [](double x) { return std::isfinite(x); })) return false;
    const SymmetricPattern& pattern = system_.pattern();
    const Eigen::Map<const Eigen::SparseMatrix<double>> matrix(pattern.size, pattern.size, pattern.nonzeros(),
                                                               pattern.start.data(), pattern.row.data(), sum_.data());
    if (!is_analysed_) factors_.analyzePattern(matrix);
    is_analysed_ = true;
    factors_.factorize(matrix);
    if (factors_.info() != Eigen::Success) return false;
    negative_ = static_cast<int>((factors_.vectorD().array() < 0).count());
    return true;
}

void ConstrainedMatrix::solve(const VecX& b, const VecX& c, VecX& x, VecX& y) {
    const RowPattern& pattern = system_.jacobian_pattern();
    x = VecX::Zero(b.size());
    y = VecX::Zero(c.size());
    force_ = b;
    VecX gap = c;
    double before = INFINITY;
    for (int pass = 0; pass < max_passes; ++pass) {
        rows_ = weight_.cwiseProduct(gap);
        change_ = force_;
        add_transposed(pattern, jacobian_, rows_, 1.0, change_);
        change_ = factors_.solve(change_);
        x += change_;
        multiply(pattern, jacobian_, x, rows_);
        gap = c - rows_;
        y -= weight_.cwiseProduct(gap);
        const double size = change_.lpNorm<Eigen::Infinity>();
        // What does not fall any more is rounding.
        if (!(size > exact_enough * x.lpNorm<Eigen::Infinity>()) || !(size < 0.5 * before)) break;
        before = size;
        multiply(system_.pattern(), values_, x, force_);
        force_ = b - force_;
        add_transposed(pattern, jacobian_, y, -1.0, force_);
    }
}

}  // namespace limber
