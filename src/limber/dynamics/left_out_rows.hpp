#pragma once
// Combinations of rows that are left out of a solution with S = M + J^T W J (see open_constraints.hpp): y^T W^1/2 J,
// |y| = 1. With u = J^T W^1/2 y and z = S^-1 u
//   (S - u u^T)^-1 = S^-1 + z z^T / (1 - u.z)
// and residuals r lose their part W^-1/2 y y^T W^1/2 r. Whoever has factorised S gives its inverse as a function
// `solve(x)`, in place.

#include <cmath>
#include <vector>

#include "limber/dynamics/system/system.hpp"

namespace limber {

class LeftOutRows {
public:
    /// Weights W, and what they are over the inertia of their rows.
    LeftOutRows(const System& system, const VecX& weight, double penalty)
        : system_(system), weight_(weight), penalty_(penalty) {}

    void clear() { count_ = 0; }
    int count() const { return count_; }

    /// Leaves out the combination of rows that is held least, if its square is below this share of the usual one. To be
    /// found among the residuals that a solve has left.
    template <class Solve>
    bool add(const Evaluation& e, const VecX& residual, double share, const Solve& solve) {
        if (count_ == static_cast<int>(list_.size())) return false;
        Combination& next = list_[count_];
        next.shape = residual;
        // A solve leaves 1 / (1 + penalty * share) of a residual: those held least stand out more with each.
        for (int i = 0; i < power_iterations; ++i) {
            const double size = std::sqrt(next.shape.dot(weight_.cwiseProduct(next.shape)));
            if (!(size > 0)) return false;
            next.shape /= size;
            next.row = weight_.cwiseProduct(next.shape);
            next.force.setZero();
            add_transposed(system_.jacobian_pattern(), e.jacobian, next.row, 1.0, next.force);
            next.response = next.force;
            solve(next.response);
            respond(next.response);
            next.rest = 1 - next.force.dot(next.response);
            if (i + 1 == power_iterations) break;
            multiply(system_.jacobian_pattern(), e.jacobian, next.response, change_);
            next.shape -= change_;
            take_from(next.shape);
        }
        if (!(next.rest > 1 / (1 + penalty_ * share))) return false;
        ++count_;
        return true;
    }

    /// Looks for combinations that depend on the others, with S factorised, and makes room for them if there are any.
    template <class Solve>
    bool find_dependent(const Evaluation& e, const Solve& solve) {
        // Any residual will do that has a part of each row, but for those that are off.
        const RowPattern& pattern = system_.jacobian_pattern();
        VecX trial = VecX::Zero(system_.rows());
        for (int i = 0; i < system_.rows(); ++i)
            for (int k = pattern.start[i]; k < pattern.start[i + 1]; ++k)
                if (e.jacobian[k] != 0) trial[i] = std::sin(1.0 + i) / std::sqrt(weight_[i]);
        const VecX by_row = VecX::Zero(system_.rows());
        const VecX by_column = VecX::Zero(system_.size());
        list_.assign(max_left_out, {by_row, by_row, by_column, by_column, 1.0});
        change_ = by_row;
        const bool found = add(e, trial, 1 / penalty_, solve);
        velocity_share_ = 0;
        for (int i = system_.holonomic_rows(); found && i < system_.rows(); ++i)
            velocity_share_ += list_[0].row[i] * list_[0].shape[i];
        count_ = 0;
        if (!found) list_ = {};
        return found;
    }
    /// Whether some of those found are among the conditions on velocities.
    bool are_velocities_dependent() const { return velocity_share_ > least_share; }

    /// From S^-1 f to what it is without the combinations left out.
    void respond(VecX& x) const {
        for (int i = 0; i < count_; ++i) x += (list_[i].force.dot(x) / list_[i].rest) * list_[i].response;
    }
    /// Takes away what is left out of residuals.
    void take_from(VecX& residual) const {
        for (int i = 0; i < count_; ++i) residual -= list_[i].row.dot(residual) * list_[i].shape;
    }

private:
    static constexpr int max_left_out = 4;
    static constexpr int power_iterations = 3;
    static constexpr double least_share = 1e-8;
    struct Combination {
        VecX shape, row;       ///< W^-1/2 y, W^1/2 y
        VecX force, response;  ///< u, z
        double rest = 1;       ///< 1 - u.z
    };

    const System& system_;
    const VecX& weight_;
    double penalty_;
    std::vector<Combination> list_;
    int count_ = 0;
    double velocity_share_ = 0;
    VecX change_;
};

}  // namespace limber
