// Edits of a running mechanism: from the edit to a consistent, compiled, started mechanism. Each iteration makes the
// edit and takes it back, so the time is that of two.

#include <benchmark/benchmark.h>

#include "limber/simulation/session.hpp"
#include "stretch.hpp"

namespace limber::bench {
namespace {

void edit(benchmark::State& state, const std::string& file, const ParameterOverrides& parameters,
          const std::string& formulation, const std::string& text) {
    Session session(example(file, parameters), options(formulation, "trapezoidal"));
    if (!session.advance(0.05).ok) state.SkipWithError("the steps before the edit failed");
    for (auto _ : state) {
        EditReport report = session.apply(text);
        if (report.ok) report = session.apply("undo");
        if (!report.ok) {
            state.SkipWithError(report.reason.c_str());
            break;
        }
    }
    state.counters["bodies"] = static_cast<double>(session.model().bodies.size()) - 1;
}

void move_pull(benchmark::State& state) {
    Session session(example("n-four-bar.yaml", {{"N", "40"}}), options("global", "trapezoidal"));
    session.apply("pull crank0.to [0, 1]");
    double x = 0;
    for (auto _ : state) {
        x += 1e-6;
        session.apply(PullMarker{"crank0.to", {x, 1, 0}, {}, {}});
    }
}

const bool is_registered = [] {
    for (const char* n : {"40", "500"})
        for (const char* formulation : {"global", "augmented-lagrangian", "hybrid"}) {
            const std::string size = std::string(n) == "40" ? "81" : "1001";
            for (const auto& [name, text] : {std::pair{"remove-joint", "remove joints.left0"},
                                             std::pair{"set-mass", "set bodies.crank1.rod.mass 2"}})
                benchmark::RegisterBenchmark(
                    ("edit/" + std::string(name) + "/" + formulation + "/" + size + "-bodies").c_str(), edit,
                    "n-four-bar.yaml", ParameterOverrides{{"N", n}}, formulation, text)
                    ->Unit(benchmark::kMillisecond);
        }
    benchmark::RegisterBenchmark("edit/move-pull/global/81-bodies", move_pull)->Unit(benchmark::kMillisecond);
    return true;
}();

}  // namespace
}  // namespace limber::bench
