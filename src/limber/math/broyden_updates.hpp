#pragma once
// Newton's method with a matrix that is not quite the derivative: a symmetric part only, or one from near by. Broyden's
// updates learn the rest from the changes already made (Broyden 1965; in this form, which stores changes and nothing
// else, Kelley 1995, section 7.3).
//
// With s_0 .. s_n the changes so far and z = -B_0^-1 F the one that the factorised matrix proposes next,
//
//   z <- z + s_(j+1) (s_j . z) / |s_j|^2,  j = 0 .. n - 1;      s_(n+1) = z / (1 - s_n . z / |s_n|^2)
//
// Where the error turns round in a few planes, as a gyroscopic part makes it, a linear iteration only shrinks it by
// that part; the updates take out a plane with two changes. A second vector goes along with the same factors:
// multipliers beside positions.

#include "limber/math/types.hpp"

namespace limber {

class BroydenUpdates {
public:
    /// Scalar products are weighted by the metric. `most`: changes remembered; further ones are not improved.
    BroydenUpdates(VecX metric, int companions, int most)
        : metric_(std::move(metric)),
          changes_(MatX::Zero(metric_.size(), most)),
          companions_(MatX::Zero(companions, most)),
          square_(VecX::Zero(most)) {}

    /// Another matrix is factorised.
    void restart() { count_ = 0; }

    /// From the change that the factorised matrix proposes to the one to be made.
    void improve(VecX& change, VecX& companion) {
        for (int j = 0; j + 1 < count_; ++j) {
            const double share = project(j, change);
            change += share * changes_.col(j + 1);
            companion += share * companions_.col(j + 1);
        }
        if (count_ > 0) {
            const double rest = 1 - project(count_ - 1, change);
            // A change that points back would be drawn out without limit.
            if (rest > least_rest) {
                change /= rest;
                companion /= rest;
            }
        }
        if (count_ == changes_.cols()) return restart();
        changes_.col(count_) = change;
        companions_.col(count_) = companion;
        square_[count_] = change.cwiseProduct(metric_).dot(change);
        ++count_;
    }

private:
    static constexpr double least_rest = 0.25;

    double project(int j, const VecX& change) const {
        return square_[j] > 0 ? changes_.col(j).cwiseProduct(metric_).dot(change) / square_[j] : 0;
    }

    VecX metric_;
    MatX changes_, companions_;
    VecX square_;
    int count_ = 0;
};

}  // namespace limber
