// Joints of users' classes: one row per residual, of the points of the two markers or of their frames.

#include <cmath>

#include "limber/kinematics/mechanism/builder.hpp"
#include "limber/kinematics/mechanism/idle_turns.hpp"

namespace limber {

template <int D>
void MechanismBuilder<D>::add_rows(const std::string& name, const CustomJoint& joint) {
    if (joint.rows == nullptr)
        throw ModelError(fmt::format("joint '{}': a custom joint needs a class that tells its residuals", name));
    Measure<D> m;
    m.kind = MeasureKind::custom;
    m.custom = joint.rows;
    for (const MarkerFeatures<D>* on : {&element_->a, &element_->b}) {
        m.feature[m.count++] = on->point;
        for (int k = 0; k < D && joint.rows->uses_axes(); ++k) m.feature[m.count++] = on->axis[k];
    }
    // Nobody knows which turns the class would notice.
    for (const int body : {element_->body_a, element_->body_b})
        if (joint.rows->uses_axes() && body >= 0 && has_free_spin(m_.bodies[body]))
            throw ModelError(fmt::format(
                "joint '{}': body '{}' has no inertia about some axis, and a custom joint may turn it about any; give "
                "it inertia, or let the class of the joint say 'static constexpr bool uses_axes = false' and use "
                "positions alone",
                name, m_.bodies[body].name));
    for (m.row = 0; m.row < joint.rows->count(); ++m.row) {
        MeasureGradient<D> gradient;
        double sum = compute_gradient(m, reference_context(), gradient.data());
        for (int i = 0; i < m.count; ++i) sum += gradient[i].sum();
        if (!std::isfinite(sum))
            throw ModelError(fmt::format(
                "joint '{}': residual {} of its class, or a derivative of it, is not a number where the bodies are "
                "drawn",
                name, m.row + 1));
        add_row({{1.0, m_.constraints.add_measure(m)}});
    }
}

template void MechanismBuilder<2>::add_rows(const std::string&, const CustomJoint&);
template void MechanismBuilder<3>::add_rows(const std::string&, const CustomJoint&);

}  // namespace limber
