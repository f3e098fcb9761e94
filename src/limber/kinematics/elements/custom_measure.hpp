#pragma once
// A residual of a user's class as a measure (model/custom_joint.hpp). Features: the points of the two markers, or the
// point and the axes (D) of the first marker, then of the second. Derivatives follow from dual numbers.

#include "limber/kinematics/elements/measure.hpp"

namespace limber {

/// Returns the value.
template <int D>
double compute_custom_gradient(const Measure<D>& m, const MeasureContext<D>& c, Vec<D>* gradient);

/// Of the gradient, while the features move along a direction: second derivatives times the direction.
template <int D>
void compute_custom_changes(const Measure<D>& m, const MeasureContext<D>& c, const Vec<D>* direction, Vec<D>* changes);

template <int D>
void compute_custom_hessian(const Measure<D>& m, const MeasureContext<D>& c, MeasureHessian<D>& hessian);

}  // namespace limber
