#include "limber/kinematics/forces/contact_law.hpp"

#include <algorithm>
#include <cmath>

namespace limber {

NormalForce evaluate_normal_force(const ContactLaw& law, double depth, double rate) {
    NormalForce n;
    if (!(depth > 0)) return n;
    if (law.kind == ContactLaw::Kind::linear) {
        double damping = law.damping;
        double slope = 0;
        if (depth < law.full_depth) {
            const double x = depth / law.full_depth;
            damping *= x * x * (3 - 2 * x);
            slope = law.damping * 6 * x * (1 - x) / law.full_depth;
        }
        n = {law.stiffness * depth + damping * rate, law.stiffness + slope * rate, damping};
    } else {
        const double elastic = law.stiffness * std::pow(depth, law.exponent);
        const double damped = 1 + law.factor * rate;
        n = {elastic * damped, law.exponent * elastic / depth * damped, elastic * law.factor};
    }
    return n.force > 0 ? n : NormalForce{};
}

double exact_damping_factor(double e) {
    if (e >= 1) return 0;
    // (1 + e) D - ln[(1 + D)/(1 - e D)] grows from zero and then falls without bound towards D = 1/e: one root between.
    // Its place is sought as ln(1 - e D), since for small e it is extremely close to 1/e.
    const auto excess = [&](double log_y) {
        const double d = (1 - std::exp(log_y)) / e;
        return (1 + e) * d - std::log1p(d) + log_y;
    };
    double low = -800;
    double high = std::log1p(-e * 1e-9);
    for (int k = 0; k < 200; ++k) {
        const double middle = 0.5 * (low + high);
        (excess(middle) < 0 ? low : high) = middle;
    }
    return (1 - std::exp(0.5 * (low + high))) / e;
}

}  // namespace limber
