#pragma once
// What classes of users see of a marker (custom_force.hpp, custom_joint.hpp, custom_sensor.hpp).

#include "limber/math/dual_vectors.hpp"

namespace limber {

/// World axes, SI; in a planar model z is 0 and turns are about z.
template <class T>
struct MarkerPose {
    Vector3<T> position = Vector3<T>::Zero();
    Eigen::Matrix<T, 3, 3> axes = Eigen::Matrix<T, 3, 3>::Identity();  ///< columns: x, y, z of the marker
};

template <class T>
struct MarkerMotion : MarkerPose<T> {
    Vector3<T> velocity = Vector3<T>::Zero(), angular_velocity = Vector3<T>::Zero();
};

}  // namespace limber
