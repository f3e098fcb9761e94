#pragma once
// Models for tests: from YAML text and from the shipped examples.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "limber/io/model_file.hpp"
#include "limber/simulation/run.hpp"

namespace limber::testing {

inline Model read(const std::string& yaml, const ParameterOverrides& overrides = {}) {
    return read_model_text(yaml, "test.yaml", overrides).model;
}

inline Model example(const std::string& name, const ParameterOverrides& overrides = {}) {
    return read_model_file(std::string(LIMBER_EXAMPLES) + "/" + name, overrides).model;
}

inline std::vector<std::string> formulation_names() {
    std::vector<std::string> names;
    for (const auto& info : formulations()) names.push_back(info.name);
    return names;
}

inline SimulationOptions options(const std::string& formulation, const std::string& integrator,
                                 const std::string& coordinates = "natural") {
    SimulationOptions o;
    o.formulation = formulation;
    o.integrator = integrator;
    o.coordinates = coordinates;
    return o;
}

/// Value of a sensor column now.
inline double sense(Simulation& simulation, const std::string& column) {
    std::vector<double> values;
    simulation.observer().observe(simulation.state(), 0, values);
    const auto& columns = simulation.observer().columns();
    for (std::size_t i = 0; i < columns.size(); ++i)
        if (columns[i] == column) return values[i];
    ADD_FAILURE() << "there is no sensor " << column;
    return 0;
}

inline std::vector<double> sense_all(Simulation& simulation) {
    std::vector<double> values;
    simulation.observer().observe(simulation.state(), 0, values);
    return values;
}

/// A name that GoogleTest accepts: letters, digits and underscores.
inline std::string test_name(std::string text) {
    for (char& c : text)
        if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
    return text;
}

}  // namespace limber::testing
