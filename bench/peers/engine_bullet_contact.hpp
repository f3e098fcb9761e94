#pragma once
// The part of the driver of Bullet for bodies that touch.

#include "engine.hpp"

namespace peers {

std::vector<Setting> contact_settings();
std::unique_ptr<Engine> make_contact_engine(const Case& c, const Setting& setting);

}  // namespace peers
