// Linear algebra, evaluation of a system, tangents, equilibrium, reactions, mobility, reading and compiling a model.

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include "limber/kinematics/body_space/assembly.hpp"
#include "limber/kinematics/body_space/reactions.hpp"
#include "limber/kinematics/forces/tyre.hpp"
#include "limber/math/linear_solver.hpp"
#include "limber/math/pivoted_qr.hpp"
#include "limber/model/expression.hpp"
#include "limber/simulation/start_conditions.hpp"
#include "stretch.hpp"

namespace limber::bench {
namespace {

// A banded positive definite matrix like that of a planar linkage.
void factorize(benchmark::State& state) {
    const int n = static_cast<int>(state.range(0));
    SymmetricPatternBuilder builder(n);
    for (int i = 0; i < n; ++i)
        for (int j = std::max(0, i - 4); j < i; ++j) builder.add(i, j);
    const SymmetricPattern pattern = builder.build();
    std::vector<double> values(pattern.nonzeros(), 0.1);
    for (int i = 0; i < n; ++i) values[pattern.start[i]] = 4;
    const auto solver = make_linear_solver(pattern, state.range(1) == 0 ? SolverKind::dense : SolverKind::sparse);
    VecX x = VecX::Ones(n);
    for (auto _ : state) {
        benchmark::DoNotOptimize(solver->factorize(values));
        solver->solve(x);
    }
    state.SetLabel(state.range(1) == 0 ? "dense" : "sparse");
}
BENCHMARK(factorize)->ArgsProduct({{4, 8, 12, 16, 24, 80}, {0, 1}})->Args({1000, 1});

void pivoted_qr(benchmark::State& state) {
    const int n = static_cast<int>(state.range(0));
    PivotedQr qr(n, n - 1);
    const MatX a = MatX::Random(n, n - 1);
    for (auto _ : state) {
        qr.matrix() = a;
        qr.compute(1e-9, n);
        benchmark::DoNotOptimize(qr.rank());
    }
}
BENCHMARK(pivoted_qr)->Arg(8)->Arg(24)->Arg(80);

void evaluate_system(benchmark::State& state, const std::string& file, const std::string& coordinates) {
    Simulation simulation(example(file), options("global", "trapezoidal", coordinates));
    const System& system = simulation.system();
    const auto e = system.make_evaluation();
    const State& s = simulation.state();
    for (auto _ : state) system.update(*e, s.t, s.q, s.v, s.memory);
}

void assemble_tangent(benchmark::State& state, const std::string& file, const std::string& coordinates) {
    Simulation simulation(example(file), options("global", "trapezoidal", coordinates));
    const System& system = simulation.system();
    const auto e = system.make_evaluation();
    const State& s = simulation.state();
    system.update(*e, s.t, s.q, s.v, s.memory);
    std::vector<double> values(system.pattern().nonzeros());
    for (auto _ : state) system.assemble_tangent(*e, 1, 1e-3, 1e-6, s.lambda, s.a, values);
}

void static_equilibrium(benchmark::State& state, const std::string& file, const std::string& coordinates) {
    Simulation simulation(example(file), options("global", "trapezoidal", coordinates));
    const auto& system = static_cast<const MechanismSystem<3>&>(simulation.system());
    const auto solver = make_acceleration_solver("augmented-lagrangian", simulation.shared_system());
    Relaxation relaxation;
    relaxation.stepper = make_relaxation_stepper(simulation.shared_system());
    State moved;
    EquilibriumReport report;
    for (auto _ : state) {
        moved = simulation.state();
        report = find_equilibrium<3>(system, *solver, relaxation, moved);
        if (!report.converged) return state.SkipWithError(report.reason.c_str());
    }
    state.SetLabel(fmt::format("{} iterations", report.iterations));
}

[[maybe_unused]] const bool is_registered = [] {
    const std::string vehicle = "iltis/ramp-and-stairs.yaml";
    for (const std::string& coordinates : examples::all_coordinates()) {
        for (const std::string& file :
             {std::string("n-four-bar.yaml"), std::string("forces/bushing.yaml"), std::string("loops/bricard.yaml"),
              std::string("flexible/right-angle.yaml"), vehicle}) {
            const std::string name = "/" + coordinates + "/" + file;
            add_benchmark("evaluate_system" + name, [=](auto& state) { evaluate_system(state, file, coordinates); });
            add_benchmark("assemble_tangent" + name, [=](auto& state) { assemble_tangent(state, file, coordinates); });
        }
        add_benchmark("static_equilibrium/" + coordinates + "/" + vehicle,
                      [=](auto& state) { static_equilibrium(state, vehicle, coordinates); });
    }
    return true;
}();

void reactions(benchmark::State& state) {
    Simulation simulation(example("loops/bricard.yaml"));
    const auto& system = static_cast<const MechanismSystem<3>&>(simulation.system());
    ReactionSolver<3> solver(system.mechanism());
    BodyStates<3> states;
    std::vector<TwistVec<3>> rates;
    const State& s = simulation.state();
    system.export_states(s.q, s.v, states);
    system.export_twist_rates(s.q, s.v, s.a, rates);
    for (auto _ : state) benchmark::DoNotOptimize(solver.solve(states, s.memory, s.t, rates));
}
BENCHMARK(reactions);

void mobility(benchmark::State& state) {
    Simulation simulation(example("n-four-bar.yaml", {{"N", std::to_string(state.range(0))}}));
    for (auto _ : state) benchmark::DoNotOptimize(simulation.compute_mobility().rank);
    state.SetComplexityN(state.range(0));
}
BENCHMARK(mobility)->Arg(5)->Arg(40);

void read_and_check(benchmark::State& state) {
    const std::string n = std::to_string(state.range(0));
    for (auto _ : state) benchmark::DoNotOptimize(example("n-four-bar.yaml", {{"N", n}}).bodies.size());
    state.SetComplexityN(state.range(0));
}
BENCHMARK(read_and_check)->Arg(5)->Arg(40)->Arg(320);

void compile_and_assemble(benchmark::State& state) {
    const Model model = example("n-four-bar.yaml", {{"N", std::to_string(state.range(0))}});
    for (auto _ : state) benchmark::DoNotOptimize(Simulation(model).system().size());
    state.SetComplexityN(state.range(0));
}
BENCHMARK(compile_and_assemble)->Arg(5)->Arg(40)->Arg(320);

void evaluate_expression(benchmark::State& state) {
    Expression::Scope scope;
    scope.resolve = [](const std::string&) { return Expression::Meaning{std::nullopt, 0}; };
    const BoundExpression f = Expression::parse("2*sin(3*t + 0.1)*exp(-t) + t^3").bind(scope);
    Taylor2 t = Taylor2::variable(0.3);
    for (auto _ : state) benchmark::DoNotOptimize(f.evaluate<Taylor2>({&t, 1}).second);
}
BENCHMARK(evaluate_expression);

// Two parameters for two heights in equilibrium.
void solve_start(benchmark::State& state) {
    const Model model = example("ride-height.yaml");
    for (auto _ : state)
        benchmark::DoNotOptimize(solve_start_conditions(model, simulation_options_of(model)).parameters.names().size());
}
BENCHMARK(solve_start);

// A tyre that drives and is steered, with its tangent.
void brush_tyre(benchmark::State& state) {
    TyreLaw law;
    law.road = std::make_shared<RoadProfile>();
    law.stiffness = 460000;
    law.radius = 0.364;
    law.lateral =
        CalspanCoefficients{2625, 14.47, 12930, 2.29, 18175, -0.464e-4, 1.216, 2.18e-11, 1.0274, -0.171e-4, 0.171e-4};
    law.longitudinal = BrushCoefficients{60000, 0.9, 0.1};
    const WheelMotion wheel{Vec3(0, 0, 0.355), Vec3::UnitY(), Vec3(20, 0.4, 0), 57};
    TyreTangent tangent;
    for (auto _ : state) benchmark::DoNotOptimize(evaluate_tyre(law, false, wheel, tangent).normal);
}
BENCHMARK(brush_tyre);

}  // namespace
}  // namespace limber::bench
