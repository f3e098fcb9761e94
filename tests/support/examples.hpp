#pragma once
// The shipped examples under any formulation: what tests and benchmarks have in common. Knows no test framework.

#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

#include "limber/io/model_file.hpp"
#include "limber/simulation/run.hpp"

namespace limber::examples {

inline Model example(const std::string& name, const ParameterOverrides& overrides = {}) {
    return read_model_file(std::string(LIMBER_EXAMPLES) + "/" + name, overrides).model;
}

/// All formulations, in the coordinates they take by default.
inline std::vector<std::string> formulation_names() {
    std::vector<std::string> names;
    for (const auto& info : formulations()) names.push_back(info.name);
    return names;
}

inline std::vector<std::string> all_coordinates() {
    return coordinate_kind_names();
}

/// Whether a formulation works in given coordinates.
inline bool fits(const std::string& formulation, const std::string& coordinates) {
    const FormulationInfo& info = find_formulation(formulation);
    return info.coordinates.empty() || info.coordinates == coordinates;
}

inline SimulationOptions options(const std::string& formulation, const std::string& integrator,
                                 const std::string& coordinates = "") {
    SimulationOptions o;
    o.formulation = formulation;
    o.integrator = integrator;
    o.coordinates = coordinates;
    return o;
}

/// Pairs of a formulation and a set of coordinates it works in.
inline std::vector<std::tuple<std::string, std::string>> formulations_in_coordinates() {
    std::vector<std::tuple<std::string, std::string>> pairs;
    for (const auto& formulation : formulation_names())
        for (const auto& coordinates : all_coordinates())
            if (fits(formulation, coordinates)) pairs.emplace_back(formulation, coordinates);
    return pairs;
}

/// Value of a sensor column now.
inline double sense(Simulation& simulation, const std::string& column) {
    std::vector<double> values;
    simulation.observer().observe(simulation.state(), 0, values);
    const auto& columns = simulation.observer().columns();
    for (std::size_t i = 0; i < columns.size(); ++i)
        if (columns[i] == column) return values[i];
    throw std::invalid_argument("there is no sensor " + column);
}

}  // namespace limber::examples
