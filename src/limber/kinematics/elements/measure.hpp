#pragma once
// Measures: scalar functions of features. Constraints, joint coordinates, springs and sensors are all made of them,
// and each is written once, here, with its gradient, second derivatives and velocity-dependent acceleration.
//
//   component    p . axis                                    p a point, axis fixed in the world
//   dot          u . v
//   dot_point    (b - a) . u
//   half_square  (|b - a|^2 - L^2) / (2 L)                    the distance constraint: quadratic, smooth at any length
//   distance     |b - a|                                     the length of a spring
//   angle        atan2(b . a2, b . a1), unwound               of direction b in the plane of a1 and a2
//   curve_offset distance of point p from a curve along a normal of the curve (curve fixed in frame a, x, y (, z))
//   disc_height  (p - a) . n - R sqrt(1 - (n . s)^2)          of a disc with centre p and axis s above the plane (a, n)
//   custom       a residual of a user's class, of two points, or of two frames p, x, y (, z) (custom_measure.hpp)

#include <memory>

#include "limber/kinematics/elements/feature.hpp"
#include "limber/kinematics/elements/memory.hpp"
#include "limber/math/interpolation.hpp"

namespace limber {

class CustomRows;

enum class MeasureKind { component, dot, dot_point, half_square, distance, angle, curve_offset, disc_height, custom };

inline constexpr int max_measure_features = 8;

template <int D>
struct Measure {
    MeasureKind kind = MeasureKind::component;
    int count = 0;  ///< number of features
    std::array<int, max_measure_features> feature{};
    Vec<D> axis = Vec<D>::Zero();
    double length = 0;                 ///< L of half_square, R of disc_height
    MemorySlot<MeasureMemory> memory;  ///< TurnMemory of an angle, CurveMemory of a curve_offset
    int curve = -1;
    int normal = 0;  ///< curve_offset: which of the D-1 normals
    int row = 0;     ///< custom: which of the residuals
    std::shared_ptr<const CustomRows> custom{};
};

/// A curve with the reference direction from which its normals are made (space only).
template <int D>
struct MeasuredCurve {
    Curve<D> curve;
    Vec<D> reference = Vec<D>::Zero();
};

/// A direction that no tangent of the curve comes near to, so that normals made from it never degenerate.
template <int D>
Vec<D> curve_reference(const Curve<D>& curve);

/// What a measure is evaluated on. `memory` carries what depends on the past: turns counted, place on a curve.
template <int D>
struct MeasureContext {
    const FeatureState<D>& features;
    std::span<const double> memory;
    std::span<const MeasuredCurve<D>> curves;
};

template <int D>
using MeasureGradient = std::array<Vec<D>, max_measure_features>;

/// block[i][j] = second derivative by features i and j of the measure.
template <int D>
struct MeasureHessian {
    std::array<std::array<Mat<D>, max_measure_features>, max_measure_features> block;
    void set_zero(int count) {
        for (int i = 0; i < count; ++i)
            for (int j = 0; j < count; ++j) block[i][j].setZero();
    }
};

template <int D>
double compute_value(const Measure<D>& m, const MeasureContext<D>& c);

/// Fills the first m.count entries of the gradient and returns the value.
template <int D>
double compute_gradient(const Measure<D>& m, const MeasureContext<D>& c, Vec<D>* gradient);

/// d/dt of the measure.
template <int D>
double compute_rate(const Measure<D>& m, const MeasureContext<D>& c);

/// Second time derivative minus (gradient . J qddot): gradient . bias + fdot^T H fdot.
template <int D>
double compute_bias(const Measure<D>& m, const MeasureContext<D>& c);

/// Fills the first m.count x m.count blocks.
template <int D>
void compute_hessian(const Measure<D>& m, const MeasureContext<D>& c, MeasureHessian<D>& hessian);

/// The value a memory slot should take once a configuration is accepted.
template <int D>
double compute_memory(const Measure<D>& m, const MeasureContext<D>& c);

}  // namespace limber
