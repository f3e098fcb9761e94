#pragma once
// The cases on which engines are compared: a scene, how long it runs, and what the answer is.

#include <functional>

#include "scene.hpp"

namespace peers {

struct Case {
    Scene scene;
    double until = 10;
    bool is_conservative = true;
    /// A number to be compared with the reference, and the reference; none for cases that are judged by energy alone.
    std::function<double(const std::vector<LinkState>&)> error;
    std::string error_name = "error";
    /// What counts as solved.
    std::string criterion;
    double largest_drift = 1e9, largest_error = 1e9;
    /// For the page: who is not shown, and why, or what an engine is given instead.
    std::string remark;
    /// Limber's model, under examples/, for scenes with forces of their own.
    std::string model_file;
};

/// "double-pendulum", "chain-40", "n-four-bar-5", ...
std::vector<std::string> case_names();
Case make_case(const std::string& name);

}  // namespace peers
