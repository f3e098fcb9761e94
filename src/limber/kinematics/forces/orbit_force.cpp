#include "limber/kinematics/forces/orbit_force.hpp"

namespace limber {

// T
template <int D>
Mat<D> OrbitForce<D>::gradient() const {
    Mat<D> t = Mat<D>::Zero();
    t(0, 0) = 3 * rate * rate;
    if constexpr (D == 3) t(2, 2) = -rate * rate;
    return t;
}

// n z x
template <int D>
Mat<D> OrbitForce<D>::turning() const {
    Mat<D> w = Mat<D>::Zero();
    w(0, 1) = -rate;
    w(1, 0) = rate;
    return w;
}

template <int D>
void OrbitForce<D>::evaluate(const ForceView<D>& at, Vec<D>* out) const {
    evaluate_without_potential(at, out);
    const Mat<D> t = gradient();
    for (int a = 0; a < at.slot_count; ++a)
        for (int b = 0; b < at.slot_count; ++b) out[a] += weight(a, b) * (t * at.value(b));
}

template <int D>
void OrbitForce<D>::evaluate_without_potential(const ForceView<D>& at, Vec<D>* out) const {
    const Mat<D> w = turning();
    for (int a = 0; a < at.slot_count; ++a) {
        out[a].setZero();
        for (int b = 0; b < at.slot_count; ++b) out[a] -= 2 * weight(a, b) * (w * at.rate(b));
    }
}

template <int D>
bool OrbitForce<D>::compute_blocks(const ForceView<D>& at, ForceBlocks<D>& blocks) const {
    const Mat<D> t = gradient();
    const Mat<D> w = turning();
    for (int a = 0; a < at.slot_count; ++a)
        for (int b = 0; b < at.slot_count; ++b) {
            blocks.k(a, b) = -weight(a, b) * t;
            blocks.c(a, b) = 2 * weight(a, b) * w;
        }
    return true;
}

template <int D>
double OrbitForce<D>::compute_size(const ForceView<D>& at) const {
    return mass * (gradient() * at.value(0) - 2 * turning() * at.rate(0)).norm();
}

template <int D>
double OrbitForce<D>::compute_potential(const ForceView<D>& at) const {
    const Mat<D> t = gradient();
    double sum = 0;
    for (int a = 0; a < at.slot_count; ++a)
        for (int b = 0; b < at.slot_count; ++b) sum -= 0.5 * weight(a, b) * at.value(a).dot(t * at.value(b));
    return sum;
}

template struct OrbitForce<2>;
template struct OrbitForce<3>;

}  // namespace limber
