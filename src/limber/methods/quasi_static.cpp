#include "limber/methods/quasi_static.hpp"

#include <fmt/format.h>

#include <vector>

#include "limber/methods/integrators.hpp"

namespace limber {
namespace {

std::string list(const std::vector<std::string>& words) {
    return fmt::format("{} or {}", fmt::join(words.begin(), words.end() - 1, ", "), words.back());
}

std::vector<std::string> formulations_that_balance() {
    std::vector<std::string> names;
    for (const FormulationInfo& info : formulations())
        if (info.is_step_solver()) names.push_back(info.name);
    return names;
}

}  // namespace

bool can_balance_forces(const std::string& formulation, const std::string& integrator) {
    return find_formulation(formulation).is_step_solver() && find_integrator(integrator).is_always_stable;
}

std::string list_what_balances_forces() {
    return list(formulations_that_balance()) + " with " +
           list_integrators([](const IntegratorInfo& info) { return info.is_always_stable; });
}

}  // namespace limber
