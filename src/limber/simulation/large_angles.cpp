#include "limber/simulation/large_angles.hpp"

#include <fmt/format.h>

#include <cmath>

#include "limber/kinematics/body_space/twist.hpp"
#include "limber/model/error.hpp"

namespace limber {
namespace {

constexpr double largest_angle = 2097152;  // rad: 2^21, of which rounding leaves 5e-10 rad

}  // namespace

template <int D>
void refuse_large_angles(const Mechanism<D>& m, const std::vector<BodyState<D>>& states,
                         const std::vector<double>& memory) {
    const ConstraintSet<D>& set = m.constraints;
    FeatureState<D> features;
    features.resize(m.features.size());
    update_features<D>(m, states, m.used_features, features);
    const MeasureContext<D> context{features, memory, m.curves};
    for (const Row& row : set.rows) {
        if (!row.is_holonomic() || row.element < 0) continue;
        for (int k = row.first_term; k < row.first_term + row.term_count; ++k) {
            const Measure<D>& measure = set.measures[set.terms[k].measure];
            if (measure.kind != MeasureKind::angle) continue;
            const double angle = std::abs(set.terms[k].coefficient * compute_value(measure, context));
            if (!(angle > largest_angle)) continue;
            throw ModelError(fmt::format(
                "{} '{}': its angles at the start amount to {:.3g} rad, with the ratio of a gear, of which rounding "
                "leaves {:.1g} rad: too much to hold it by; start at no more than {:.2g} rad, for instance by leaving "
                "out whole turns",
                element_role_name(m.elements[row.element].role), m.elements[row.element].name, angle, angle * 2.2e-16,
                largest_angle));
        }
    }
}

template void refuse_large_angles(const Mechanism<2>&, const std::vector<BodyState<2>>&, const std::vector<double>&);
template void refuse_large_angles(const Mechanism<3>&, const std::vector<BodyState<3>>&, const std::vector<double>&);

}  // namespace limber
