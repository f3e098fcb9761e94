#pragma once

#include <functional>
#include <string>

#include "limber/model/error.hpp"

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

}  // namespace limber::testing
