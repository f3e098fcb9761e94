#pragma once
// Newton's method for positions at which nothing accelerates, with the exact tangent.
//
// Downhill: (K + sigma M) dq = M a under the constraints, with the least sigma that leaves no negative freedom, so that
// forces do work along every step and the search does not end on a hill. A step is shortened until the forces at its
// end work against it by no more than they worked for it at its beginning, which needs no potential. Near a stable
// equilibrium sigma is nothing and the steps are Newton's.
//
// Plain: the same with sigma nothing everywhere. Finds what is near, hills and saddles included.
//
// Directions in which nothing pulls (the place of a vehicle on flat ground) are left as they are: sigma is never zero.

#include <functional>

#include "limber/statics/static_balance.hpp"

namespace limber {

/// Told the iterations so far and the accelerations left.
using StaticProgress = std::function<void(int iterations, double unbalance)>;

class StaticNewton {
public:
    explicit StaticNewton(StaticBalance& balance) : balance_(balance) {}

    /// Empty: everything is; else whether no open stop is violated.
    std::function<bool(const StaticPoint&)> is_possible;
    StaticProgress progress;

    /// True when nothing accelerates any more. Both start and end at the balance's point; where they fail the point is
    /// the best they have found.
    bool go_downhill(int max_iterations);
    bool go_plainly(int max_iterations);
    int iterations() const { return iterations_; }

    /// In m/s^2, or rad/s^2.
    static constexpr double tolerance = 1e-9;
    /// Of all tangents: the inverse square of the longest time that counts [1/s^2]. Longer, rounding errors would push
    /// things about that nothing holds.
    static constexpr double least_shift = 1.0 / 900;

private:
    bool take_step();
    void count();
    bool is_settled() const { return balance_.unbalance() < tolerance || is_exact_; }

    StaticBalance& balance_;
    VecX change_;
    double shift_ = least_shift;
    bool is_exact_ = false;  // the last step was rounding
    int iterations_ = 0;
};

}  // namespace limber
