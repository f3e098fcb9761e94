#pragma once
// The part of the driver of Bullet for bodies that touch.

#include <LinearMath/btVector3.h>

#include "engine.hpp"

namespace peers {

inline btVector3 to_bullet(const Vec& v) {
    return {v[0], v[1], v[2]};
}
inline Vec from_bullet(const btVector3& v) {
    return {v.x(), v.y(), v.z()};
}

std::vector<Setting> contact_settings();
std::unique_ptr<Engine> make_contact_engine(const Case& c, const Setting& setting);

}  // namespace peers
