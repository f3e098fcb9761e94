// The cases of Joli, Seguy and Feng 2008, divided body by body.

#include <gtest/gtest.h>

#include <cmath>

#include "support/examples.hpp"

namespace limber {
namespace {

using examples::example;

TEST(scratch, DoublePendulum) {
    for (const Coupling coupling : {Coupling::acceleration, Coupling::end_of_step})
        for (int g = 0; g < 5; ++g) {
            SimulationOptions options;
            options.formulation = "augmented-lagrangian";
            if (coupling == Coupling::end_of_step) options.formulation = "global";
            options.modular.division = "body";
            options.modular.gluing = static_cast<Gluing>(g);
            options.modular.coupling = coupling;
            options.modular.max_questions = 3000;
            try {
                Simulation s(example("double-pendulum.yaml"), options);
                const StepReport report = s.advance(1.0, 1e-3);
                std::vector<double> values;
                s.observer().observe(s.state(), 0, values);
                const ConstraintErrors e = s.observer().compute_errors(s.state());
                printf("%d %d ok %d %s iterations %g tip %.8f %.8f errors %g %g %g\n", (int)coupling, g, report.ok,
                       report.reason.c_str(), report.iterations / 1000.0, values[0], values[1], e.position, e.velocity,
                       e.acceleration);
            } catch (const std::exception& e) {
                printf("%d %d failed %s\n", (int)coupling, g, e.what());
            }
        }
    for (const char* f : {"global"}) {
        SimulationOptions options;
        options.formulation = f;
        Simulation s(example("double-pendulum.yaml"), options);
        s.advance(1.0, 1e-3);
        std::vector<double> values;
        s.observer().observe(s.state(), 0, values);
        printf("central %.8f %.8f\n", values[0], values[1]);
    }
}

}  // namespace
}  // namespace limber
