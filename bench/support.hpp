#pragma once
// Models for benchmarks: the shipped examples.

#include <string>

#include "limber/io/model_file.hpp"
#include "limber/simulation/simulation.hpp"

namespace limber::bench {

inline Model example(const std::string& name, const ParameterOverrides& overrides = {}) {
    return read_model_file(std::string(LIMBER_EXAMPLES) + "/" + name, overrides).model;
}

inline SimulationOptions options(const std::string& formulation, const std::string& integrator,
                                 const std::string& coordinates = "") {
    SimulationOptions o;
    o.formulation = formulation;
    o.integrator = integrator;
    o.coordinates = coordinates;
    return o;
}

}  // namespace limber::bench
