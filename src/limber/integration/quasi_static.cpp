#include "limber/integration/quasi_static.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "limber/integration/structural.hpp"

namespace limber {
namespace {

std::string list(const std::vector<std::string>& words) {
    return fmt::format("{} or {}", fmt::join(words.begin(), words.end() - 1, ", "), words.back());
}

std::vector<std::string> formulations_that_balance() {
    std::vector<std::string> names;
    for (const FormulationInfo& info : formulations())
        if (info.is_step_solver) names.push_back(info.name);
    return names;
}

// With beta below (gamma + 1/2)^2 / 4 a scheme is unstable beyond some frequency.
std::vector<std::string> integrators_that_balance() {
    return {"trapezoidal", "newmark", "hht", "generalized-alpha"};
}

}  // namespace

bool can_balance_forces(const std::string& formulation, const std::string& integrator) {
    const auto schemes = integrators_that_balance();
    return find_formulation(formulation).is_step_solver &&
           std::find(schemes.begin(), schemes.end(), integrator) != schemes.end();
}

std::string list_what_balances_forces() {
    return list(formulations_that_balance()) + " with " + list(integrators_that_balance());
}

}  // namespace limber
