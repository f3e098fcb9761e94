#pragma once
// Features: the points and directions of markers, through which all elements see the bodies.
//
// A feature is a point or a direction fixed to a body. Constraints, forces and sensors are written as functions of
// the values f of features and of their rates; a set of coordinates says how features depend on its coordinates q:
//
//   f = f(q),   fdot = J qdot,   fddot = J qddot + bias
//
// so no element knows coordinates and no set of coordinates knows elements.
//
// Rotation is expressed by directions: with the orthonormal axes e_k of a marker, a virtual turn and the angular
// velocity are   dtheta = 1/2 sum e_k x de_k,   omega = 1/2 sum e_k x edot_k   (plane: omega = perp(e_1) . edot_1).

#include <array>
#include <span>
#include <vector>

#include "limber/math/types.hpp"

namespace limber {

template <int D>
struct Feature {
    int body = -1;  ///< -1: ground, the feature is constant
    bool is_point = true;
    Vec<D> local = Vec<D>::Zero();  ///< from the centre of mass, in body axes; for the ground in world axes

    friend bool operator==(const Feature&, const Feature&) = default;
};

/// Values, rates and velocity-dependent accelerations of all features of a mechanism.
template <int D>
struct FeatureState {
    std::vector<Vec<D>> value, rate, bias;
    bool has_bias = true;  ///< false: features are linear in the coordinates, all biases are zero

    void resize(std::size_t count) {
        value.resize(count, Vec<D>::Zero());
        rate.resize(count, Vec<D>::Zero());
        bias.resize(count, Vec<D>::Zero());
    }
};

/// The features of one marker: its point and its axes. In the plane there is no z.
template <int D>
struct MarkerFeatures {
    int point = -1;
    std::array<int, D> axis{};
};

}  // namespace limber
