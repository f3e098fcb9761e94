#pragma once

#include <functional>
#include <string>

#include "limber/model/error.hpp"
#include "support/models.hpp"

namespace limber::testing {

/// The message of what refuses a model; empty: nothing does.
inline std::string refusal(const std::function<void()>& action) {
    try {
        action();
    } catch (const ModelError& error) {
        return error.what();
    }
    return "";
}
/// Of a model file, read or compiled.
inline std::string refusal_of(const std::string& yaml) {
    return refusal([&] { Simulation(read(yaml)); });
}

}  // namespace limber::testing
