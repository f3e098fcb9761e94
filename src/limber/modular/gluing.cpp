#include "limber/modular/gluing.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "limber/math/dense_factors.hpp"

namespace limber {
namespace {

// The step of a row without a given rho is 3/2 over the sum of the absolute values of its row of K. The rows of
// diag(rho) K then add up to 3/2, so no eigenvalue is larger, every part of the error that K moves shrinks at each pass
// whatever the sizes of the others (2 would be the limit), and so it converges wherever any rho does. K may be that of
// a step before: if what is left grows all the same, the steps were too long for the K of this one and are halved.
class UzawaGluing final : public GluingMethod {
public:
    explicit UzawaGluing(VecX rho) : rho_(std::move(rho)) {}

    void start(Admittance& k) override {
        step_ = k.row_sums();
        for (Eigen::Index r = 0; r < rho_.size(); ++r)
            step_[r] = rho_[r] > 0 ? rho_[r] : step_[r] > 0 ? part_of_row_sum / step_[r] : 0;
        left_ = std::numeric_limits<double>::infinity();
    }

    int correct(Admittance&, const AdmittanceProduct&, const VecX&, const VecX& residual, VecX& correction) override {
        correction = step_.cwiseProduct(residual);
        double left = residual.dot(correction);
        if (left > (1 + rounding) * left_) {
            for (Eigen::Index r = 0; r < rho_.size(); ++r)
                if (!(rho_[r] > 0)) step_[r] *= 0.5;
            correction = step_.cwiseProduct(residual);
            left = residual.dot(correction);
        }
        left_ = left;
        correction = -correction;
        return 0;
    }
    bool starts_warm() const override { return false; }

private:
    static constexpr double part_of_row_sum = 1.5;
    static constexpr double rounding = 1e-6;

    VecX rho_, step_;
    double left_ = 0;  // of the residual, over the steps: falls in every pass with steps that converge
};

class ConjugateGradientGluing final : public GluingMethod {
public:
    explicit ConjugateGradientGluing(bool use_whole_matrix) : use_whole_matrix_(use_whole_matrix) {}

    bool uses_whole_matrix() const override { return use_whole_matrix_; }
    bool asks() const override { return true; }

    int correct(Admittance& k, const AdmittanceProduct& product, const VecX&, const VecX& residual,
                VecX& correction) override {
        correction.setZero(residual.size());
        left_ = -residual;
        scale(k);
        direction_ = scaled_;
        double weight = left_.dot(scaled_);
        double least = weight;
        const double enough = weight * part_left * part_left;
        course_ = correction;
        image_.resize(residual.size());
        int products = 0;
        const int most = 2 * static_cast<int>(residual.size()) + 10;
        while (weight > enough && weight <= widest_rise * least && products < most) {
            product(direction_, image_);
            ++products;
            const double curvature = direction_.dot(image_);
            // Near one if the scaling is good; beyond the limit what is left is not in the components' power.
            if (!(weight < longest_step * curvature)) break;
            const double along = weight / curvature;
            course_ += along * direction_;
            left_ -= along * image_;
            scale(k);
            const double next = left_.dot(scaled_);
            direction_ = scaled_ + (next / weight) * direction_;
            weight = next;
            // Where joints are redundant, what rounding and open joints have put into the residual beside what forces
            // can take out stays in it: once that is all there is, further directions only build up forces without
            // effect.
            if (!(weight < least)) continue;
            least = weight;
            correction = course_;
        }
        return products;
    }

private:
    // A correction need not be better than what the wrenches of another configuration allow.
    static constexpr double part_left = 1e-4;
    static constexpr double longest_step = 1e3;
    // On the way to less the weight of what is left may rise; beyond this it does not come back.
    static constexpr double widest_rise = 1e2;

    void scale(Admittance& k) {
        scaled_ = left_;
        if (use_whole_matrix_) {
            k.solve(scaled_);
        } else {
            k.solve_blocks(scaled_);
        }
    }

    bool use_whole_matrix_;
    VecX left_, scaled_, direction_, image_, course_;
};

class AndersonGluing final : public GluingMethod {
public:
    AndersonGluing(bool use_whole_matrix, int depth) : use_whole_matrix_(use_whole_matrix), depth_(depth) {}

    bool uses_whole_matrix() const override { return use_whole_matrix_; }
    void start(Admittance&) override { count_ = -1; }

    int correct(Admittance& k, const AdmittanceProduct&, const VecX& multipliers, const VecX& residual,
                VecX& correction) override {
        correction = -residual;
        if (use_whole_matrix_) {
            k.solve(correction);
        } else {
            k.solve_blocks(correction);
        }
        const Eigen::Index n = residual.size();
        if (moved_.rows() != n) {
            moved_.resize(n, depth_);
            changed_.resize(n, depth_);
            count_ = -1;
        }
        if (count_ >= 0) {
            const int place = count_ % depth_;
            moved_.col(place) = multipliers - last_multipliers_;
            changed_.col(place) = correction - last_correction_;
        }
        ++count_;
        last_multipliers_ = multipliers;
        last_correction_ = correction;
        const int used = std::min(count_, depth_);
        if (used > 0) {
            const VecX mix = solve_least_squares(changed_.leftCols(used), correction);
            correction -= (moved_.leftCols(used) + changed_.leftCols(used)) * mix;
        }
        return 0;
    }

private:
    bool use_whole_matrix_;
    int depth_;
    int count_ = -1;  // pairs seen in this step
    MatX moved_, changed_;
    VecX last_multipliers_, last_correction_;
};

}  // namespace

std::unique_ptr<GluingMethod> make_block_gradient_gluing() {
    return std::make_unique<ConjugateGradientGluing>(false);
}

std::unique_ptr<GluingMethod> make_gluing_method(const ModularOptions& options, VecX rho) {
    switch (options.gluing) {
        case Gluing::conjugate_gradient: return std::make_unique<ConjugateGradientGluing>(true);
        case Gluing::anderson: return std::make_unique<AndersonGluing>(false, 20);
        case Gluing::uzawa: return std::make_unique<UzawaGluing>(std::move(rho));
        case Gluing::penalty:
        case Gluing::direct: break;
    }
    return std::make_unique<AndersonGluing>(true, 4);
}

const std::vector<std::string>& gluing_names() {
    static const std::vector<std::string> list{"direct", "conjugate-gradient", "anderson", "uzawa", "penalty"};
    return list;
}

const std::vector<std::string>& coupling_names() {
    static const std::vector<std::string> list{"end-of-step", "acceleration"};
    return list;
}

}  // namespace limber
