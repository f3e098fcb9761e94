#pragma once
// Models for tests: from YAML text and from the shipped examples.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/examples.hpp"

namespace limber::testing {

inline Model read(const std::string& yaml, const ParameterOverrides& overrides = {}) {
    return read_model_text(yaml, "test.yaml", overrides).model;
}

using examples::all_coordinates;
using examples::example;
using examples::fits;
using examples::formulation_names;
using examples::formulations_in_coordinates;
using examples::options;
using examples::sense;

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
