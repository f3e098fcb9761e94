#pragma once
// A frame in its parent: where it is and how it is turned.

#include "limber/math/types.hpp"

namespace limber {

struct Frame {
    Vec3 position = Vec3::Zero();
    Mat3 axes = Mat3::Identity();  ///< columns are its axes

    Vec3 point(const Vec3& local) const { return position + axes * local; }
    Vec3 direction(const Vec3& local) const { return axes * local; }
    Vec3 local_direction(const Vec3& direction) const { return axes.transpose() * direction; }
    Vec3 local_point(const Vec3& point) const { return axes.transpose() * (point - position); }
    friend Frame operator*(const Frame& a, const Frame& b) { return {a.point(b.position), a.axes * b.axes}; }
};

}  // namespace limber
