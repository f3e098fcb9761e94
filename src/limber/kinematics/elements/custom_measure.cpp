#include "limber/kinematics/elements/custom_measure.hpp"

#include <array>
#include <limits>

#include "limber/model/custom_joint.hpp"

namespace limber {
namespace {

// Variables of dual numbers, whether in the plane or in space.
constexpr int variables_per_feature = 3;
static_assert(max_measure_features * variables_per_feature == pose_variables);

template <int D>
RowDual variable(const Measure<D>& m, const MeasureContext<D>& c, int feature, int k) {
    return RowDual::variable(c.features.value[m.feature[feature]][k], feature * variables_per_feature + k);
}

/// What the class sees; `number` makes one of a component of a feature.
template <int D, class T, class MakeNumber>
T compute_residual(const Measure<D>& m, const MakeNumber& number) {
    const bool has_axes = m.count > 2;
    std::array<MarkerPose<T>, 2> poses;
    for (int marker = 0; marker < 2; ++marker) {
        const int point = marker * m.count / 2;
        for (int k = 0; k < D; ++k) poses[marker].position[k] = number(point, k);
        if (!has_axes) poses[marker].axes.setConstant(T(std::numeric_limits<double>::quiet_NaN()));
        for (int axis = 0; axis < D && has_axes; ++axis)
            for (int k = 0; k < D; ++k) poses[marker].axes(k, axis) = number(point + 1 + axis, k);
    }
    return m.custom->residual(m.row, poses[0], poses[1]);
}

template <int D>
void take_partials(const Measure<D>& m, const RowDual& number, Vec<D>* out) {
    for (int i = 0; i < m.count; ++i)
        for (int k = 0; k < D; ++k) out[i][k] = number.partial[i * variables_per_feature + k];
}

}  // namespace

template <int D>
double compute_custom_gradient(const Measure<D>& m, const MeasureContext<D>& c, Vec<D>* gradient) {
    const RowDual residual = compute_residual<D, RowDual>(m, [&](int i, int k) { return variable(m, c, i, k); });
    take_partials(m, residual, gradient);
    return residual.value;
}

template <int D>
void compute_custom_changes(const Measure<D>& m, const MeasureContext<D>& c, const Vec<D>* direction, Vec<D>* changes) {
    const RowDirectedDual residual = compute_residual<D, RowDirectedDual>(
        m, [&](int i, int k) { return RowDirectedDual(variable(m, c, i, k), RowDual(direction[i][k])); });
    take_partials(m, residual.along, changes);
}

template <int D>
void compute_custom_hessian(const Measure<D>& m, const MeasureContext<D>& c, MeasureHessian<D>& hessian) {
    MeasureGradient<D> direction, changes;
    direction.fill(Vec<D>::Zero());
    for (int j = 0; j < m.count; ++j)
        for (int k = 0; k < D; ++k) {
            direction[j][k] = 1;
            compute_custom_changes(m, c, direction.data(), changes.data());
            direction[j][k] = 0;
            for (int i = 0; i < m.count; ++i) hessian.block[i][j].col(k) = changes[i];
        }
}

#define LIMBER_INSTANTIATE(D)                                                                                  \
    template double compute_custom_gradient(const Measure<D>&, const MeasureContext<D>&, Vec<D>*);             \
    template void compute_custom_changes(const Measure<D>&, const MeasureContext<D>&, const Vec<D>*, Vec<D>*); \
    template void compute_custom_hessian(const Measure<D>&, const MeasureContext<D>&, MeasureHessian<D>&);
LIMBER_INSTANTIATE(2)
LIMBER_INSTANTIATE(3)
#undef LIMBER_INSTANTIATE

}  // namespace limber
