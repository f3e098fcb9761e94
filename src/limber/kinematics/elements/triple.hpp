#pragma once
// Vectors of three numbers of any kind: plain ones, or ones with derivatives.

#include <array>

namespace limber {

template <class S>
using Triple = std::array<S, 3>;

template <class S>
S dot(const Triple<S>& a, const Triple<S>& b) {
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}
template <class S>
Triple<S> cross(const Triple<S>& a, const Triple<S>& b) {
    return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}

}  // namespace limber
