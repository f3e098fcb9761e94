#include "limber/contact/stops/complementarity.hpp"

#include <algorithm>
#include <cmath>

namespace limber {
namespace {

// Sizes below this part of what they are made of are rounding errors.
constexpr double pivot_rounding = 1e-11;
// The number of minors doubles with every contact. Of more than so many only those of one and two are looked at, where
// paradoxes begin.
constexpr Eigen::Index max_contacts_for_all_minors = 12;

// By what the minors without and with the first contact leave of the others (Tsatsomeros and Li 2000); `size` are the
// diagonals at first.
bool has_positive_minors(const MatX& w, const VecX& size) {
    const Eigen::Index others = w.rows() - 1;
    if (others < 0) return true;
    const double pivot = w(0, 0);
    const double noise = std::sqrt(pivot_rounding) * size[0];
    const MatX rest = w.bottomRightCorner(others, others);
    if (pivot < -noise || !has_positive_minors(rest, size.tail(others))) return false;
    if (pivot < noise) return true;
    return has_positive_minors(rest - w.col(0).tail(others) * w.row(0).tail(others) / pivot, size.tail(others));
}

bool has_positive_minors_of_pairs(const MatX& w, const VecX& size) {
    for (Eigen::Index i = 0; i < w.rows(); ++i)
        for (Eigen::Index j = i + 1; j < w.rows(); ++j)
            if (!has_positive_minors(w({i, j}, {i, j}), size({i, j}))) return false;
    return true;
}

}  // namespace

bool has_one_solution(const MatX& w) {
    const VecX size = w.diagonal().cwiseAbs();
    return w.rows() > max_contacts_for_all_minors ? has_positive_minors_of_pairs(w, size)
                                                  : has_positive_minors(w, size);
}

// L D L^T without pivoting; a pivot that has vanished belongs to a contact that the ones before it already determine.
void ComplementaritySolver::solve_carrying(const MatX& w, const VecX& b) {
    const auto n = static_cast<Eigen::Index>(carrying_.size());
    for (Eigen::Index i = 0; i < n; ++i) {
        double x = -b[carrying_[i]];
        double d = w(carrying_[i], carrying_[i]);
        for (Eigen::Index j = 0; j < i; ++j) {
            double sum = w(carrying_[i], carrying_[j]);
            for (Eigen::Index k = 0; k < j; ++k) sum -= factor_(i, k) * factor_(j, k) * pivot_[k];
            factor_(i, j) = pivot_[j] > 0 ? sum / pivot_[j] : 0;
            x -= factor_(i, j) * trial_[j];
            d -= factor_(i, j) * factor_(i, j) * pivot_[j];
        }
        pivot_[i] = d > pivot_rounding * w(carrying_[i], carrying_[i]) ? d : 0;
        trial_[i] = x;
    }
    for (Eigen::Index i = n - 1; i >= 0; --i) {
        trial_[i] = pivot_[i] > 0 ? trial_[i] / pivot_[i] : 0;
        for (Eigen::Index k = i + 1; k < n; ++k) trial_[i] -= pivot_[i] > 0 ? factor_(k, i) * trial_[k] : 0;
    }
}

bool ComplementaritySolver::solve(const MatX& w, const VecX& b, VecX& z) {
    const Eigen::Index n = b.size();
    z.setZero(n);
    trial_.resize(n);
    pivot_.resize(n);
    residual_.resize(n);
    factor_.resize(n, n);
    carrying_.clear();
    const double tolerance = pivot_rounding * b.lpNorm<Eigen::Infinity>();
    const Eigen::Index max_passes = 10 * n + 10;
    for (Eigen::Index pass = 0; pass < max_passes; ++pass) {
        residual_.noalias() = w * z;
        residual_ += b;
        // The contact that is violated most begins to carry.
        int entering = -1;
        double worst = -tolerance;
        for (Eigen::Index i = 0; i < n; ++i) {
            if (!(residual_[i] < worst)) continue;
            if (std::find(carrying_.begin(), carrying_.end(), i) != carrying_.end()) continue;
            worst = residual_[i];
            entering = static_cast<int>(i);
        }
        if (entering < 0) return z.allFinite();
        carrying_.push_back(entering);
        // Contacts that would have to pull stop carrying, those first that reach zero first.
        while (!carrying_.empty()) {
            solve_carrying(w, b);
            double share = 1;
            for (std::size_t k = 0; k < carrying_.size(); ++k) {
                const double from = z[carrying_[k]];
                const double to = trial_[static_cast<Eigen::Index>(k)];
                if (to < 0) share = std::min(share, from / (from - to));
            }
            for (std::size_t k = 0; k < carrying_.size(); ++k) {
                double& value = z[carrying_[k]];
                value += share * (trial_[static_cast<Eigen::Index>(k)] - value);
            }
            if (share >= 1) break;
            std::size_t kept = 0;
            for (std::size_t k = 0; k < carrying_.size(); ++k) {
                const bool has_let_go =
                    trial_[static_cast<Eigen::Index>(k)] < 0 &&
                    z[carrying_[k]] <= pivot_rounding * std::abs(trial_[static_cast<Eigen::Index>(k)]);
                if (has_let_go) {
                    z[carrying_[k]] = 0;
                } else {
                    carrying_[kept++] = carrying_[k];
                }
            }
            carrying_.resize(kept);
        }
    }
    return false;
}

}  // namespace limber
