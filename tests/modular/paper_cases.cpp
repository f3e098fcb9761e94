#include <gtest/gtest.h>

#include <cmath>

#include "support/examples.hpp"

namespace limber {
namespace {
using examples::example;
TEST(scratch, DoublePendulum) {
    SimulationOptions options;
    options.formulation_options.tolerance = 1e-10;
    Simulation c(example("double-pendulum.yaml"), options);
    options.integrator_options.max_halvings = 0;
    std::vector<Simulation> list;
    for (int g : {0, 1, 2, 3}) {
        options.modular.division = "body";
        options.modular.gluing = static_cast<Gluing>(g);
        list.emplace_back(example("double-pendulum.yaml"), options);
    }
    for (int i = 0; i < 1000; ++i) {
        c.step(1e-3);
        for (int g = 0; g < 4; ++g) {
            Simulation& s = list[g];
            const StepReport report = s.step(1e-3);
            const GluingReport r = s.gluing_report();
            if (i < 3 || i % 100 == 0)
                printf("%d %d ok %d %s answers %d products %d measures %d residual %g  dq %g dv %g da %g\n", g, i,
                       report.ok, report.reason.c_str(), r.answers, r.products, r.measures, r.residual,
                       (s.state().q - c.state().q).lpNorm<Eigen::Infinity>(),
                       (s.state().v - c.state().v).lpNorm<Eigen::Infinity>(),
                       (s.state().a - c.state().a).lpNorm<Eigen::Infinity>());
        }
    }
}

}  // namespace
}  // namespace limber
