#include "limber/statics/load_path.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "limber/math/interruption.hpp"

namespace limber {
namespace {

constexpr int max_corrections = 8;
constexpr int few_corrections = 4;  // then the next step is longer
constexpr double position_tolerance = 1e-9;
// Two tangents that form a larger angle belong to a step that was too long: its cosine.
constexpr double least_cosine = 0.8;
constexpr double shortest_step = 1e-8;

class PathFollower {
public:
    PathFollower(StaticBalance& balance, const LoadPathOptions& options, const StaticProgress& progress)
        : balance_(balance), options_(options), progress_(progress) {}

    LoadPathReport follow() {
        const double begin = balance_.point().load;
        const double range = std::abs(options_.end - begin);
        const double towards = options_.end > begin ? 1 : -1;
        if (!find_tangent(nullptr, towards)) return give_up("the stiffness at its beginning is singular");
        keep(false);
        double step = options_.first_step * range * std::numbers::sqrt2;
        while (static_cast<int>(report_.points.size()) < options_.max_points) {
            const StaticPoint start = balance_.point();
            const Tangent tangent = tangent_;
            // The last stretch ends at the end.
            const double left = (options_.end - start.load) * towards;
            if (tangent.load * towards > 0 && step * tangent.load * towards >= left && arrive(start, tangent)) {
                report_.has_arrived = true;
                keep(false);
                return std::move(report_);
            }
            int corrections = 0;
            if (!make_step(start, tangent, step, corrections)) {
                balance_.move_to(start);
                tangent_ = tangent;
                step /= 2;
                if (step < shortest_step * range) return give_up("steps along the path fail");
                continue;
            }
            if ((tangent.load > 0) != (tangent_.load > 0)) find_limit(start, tangent, step);
            keep(false);
            if ((balance_.point().load - begin) * towards < -range)
                return give_up("it leads back beyond its beginning");
            if (corrections <= few_corrections) step *= 1.5;
            step = std::min(step, 0.5 * range);
        }
        return give_up(fmt::format("it has not arrived after {} points", options_.max_points));
    }

private:
    struct Tangent {
        VecX q;
        double load = 0;
    };

    double product(const Tangent& a, const Tangent& b) {
        return balance_.inertia_product(a.q, b.q) / metric_ + a.load * b.load;
    }

    // At the balance's point, on the side of the old one; at the beginning with the load going `towards`.
    bool find_tangent(const Tangent* old, double towards) {
        if (!balance_.factorize(StaticNewton::least_shift)) return false;
        unstable_ = balance_.negative_freedoms();
        balance_.respond(balance_.load_rate(), tangent_.q);
        tangent_.load = 1;
        if (old == nullptr) metric_ = std::max(balance_.inertia_product(tangent_.q, tangent_.q), 1e-30);
        const double size = std::sqrt(product(tangent_, tangent_));
        if (!std::isfinite(size)) return false;
        const double side = old == nullptr ? towards : product(tangent_, *old);
        const double factor = (side < 0 ? -1 : 1) / size;
        tangent_.q *= factor;
        tangent_.load *= factor;
        return true;
    }

    bool is_settled(double change) const {
        const double scale = std::max(1.0, balance_.point().q.lpNorm<Eigen::Infinity>());
        return change < position_tolerance * scale;
    }

    // Newton's method in the plane through the prediction; without a tangent at the load as it is.
    bool correct(const Tangent* tangent, int& corrections) {
        double before = INFINITY;
        for (corrections = 0; corrections < max_corrections;) {
            count();
            ++corrections;
            if (!balance_.factorize(StaticNewton::least_shift)) return false;
            VecX change;
            balance_.respond(balance_.force(), change);
            double load_change = 0;
            if (tangent != nullptr) {
                VecX yielding;
                balance_.respond(balance_.load_rate(), yielding);
                const double across = balance_.inertia_product(tangent->q, change) / metric_;
                const double along = balance_.inertia_product(tangent->q, yielding) / metric_ + tangent->load;
                load_change = -across / along;
                change += load_change * yielding;
            }
            const double size = change.lpNorm<Eigen::Infinity>() + std::abs(load_change);
            if (!std::isfinite(size) || size > 2 * before) return false;
            const StaticPoint& from = balance_.point();
            if (!balance_.move_from(from, change, from.load + load_change)) return false;
            if (is_settled(size)) return true;
            before = size;
        }
        return false;
    }

    bool make_step(const StaticPoint& start, const Tangent& tangent, double step, int& corrections) {
        if (!balance_.move_from(start, step * tangent.q, start.load + step * tangent.load) ||
            !correct(&tangent, corrections) || !find_tangent(&tangent, 0))
            return false;
        return product(tangent_, tangent) > least_cosine;
    }

    bool arrive(const StaticPoint& start, const Tangent& tangent) {
        int corrections = 0;
        const double part = (options_.end - start.load) / tangent.load;
        if (balance_.move_from(start, part * tangent.q, options_.end) && correct(nullptr, corrections) &&
            find_tangent(&tangent, 0) && product(tangent_, tangent) > least_cosine)
            return true;
        balance_.move_to(start);
        tangent_ = tangent;
        return false;
    }

    // Within the step just made; which stays made.
    void find_limit(const StaticPoint& start, const Tangent& tangent, double step) {
        const StaticPoint end = balance_.point();
        const Tangent end_tangent = tangent_;
        const int end_unstable = unstable_;
        double low = 0;
        double low_slope = tangent.load;
        double high = step;
        double high_slope = tangent_.load;
        for (int i = 0; i < 6; ++i) {
            const double middle = low - low_slope * (high - low) / (high_slope - low_slope);
            balance_.move_to(start);
            int corrections = 0;
            if (!make_step(start, tangent, middle, corrections)) break;
            if ((tangent_.load > 0) == (low_slope > 0)) {
                low = middle;
                low_slope = tangent_.load;
            } else {
                high = middle;
                high_slope = tangent_.load;
            }
            if (std::abs(tangent_.load) < 1e-5 || i == 5) {
                keep(true);
                break;
            }
        }
        balance_.move_to(end);
        tangent_ = end_tangent;
        unstable_ = end_unstable;
    }

    void keep(bool is_limit) { report_.points.push_back({balance_.point(), tangent_.load, unstable_, is_limit}); }

    void count() {
        check_interruption();
        ++report_.iterations;
        if (progress_) progress_(report_.iterations, balance_.unbalance());
    }

    LoadPathReport give_up(const std::string& reason) {
        report_.reason = fmt::format("the load path ends at {:.4g}: {}", balance_.point().load, reason);
        return std::move(report_);
    }

    StaticBalance& balance_;
    const LoadPathOptions& options_;
    const StaticProgress& progress_;
    LoadPathReport report_;
    Tangent tangent_;
    double metric_ = 1;
    int unstable_ = 0;
};

}  // namespace

LoadPathReport follow_load(StaticBalance& balance, const LoadPathOptions& options, const StaticProgress& progress) {
    return PathFollower(balance, options, progress).follow();
}

}  // namespace limber
