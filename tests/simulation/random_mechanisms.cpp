// Random trees and loops of all joint types (RapidCheck), six hundred of them: all formulations in all sets of
// coordinates agree with a textbook solution in extended precision on accelerations and reactions, and a short run
// keeps energy and constraints.

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <optional>
#include <set>

#include "limber/model/error.hpp"
#include "support/exact_accelerations.hpp"
#include "support/models.hpp"
#include "support/random_mechanism.hpp"

namespace limber::testing {
namespace {

// Ratio of singular values in natural coordinates, some ten times more in others. Near a singular position errors grow
// with it, and formulations with a penalty take directions with less than a hundred-thousandth of the largest value for
// free.
constexpr double worst_condition = 1e4;
constexpr double tolerance = 1e-8;
// For `penalty`, which is compared with the exact solution of its own equation: far enough from where rounding takes
// over.
constexpr double compared_penalty = 1e5;

/// What became of the cases drawn.
struct Census {
    int drawn = 0, contradictory = 0, near_singular = 0, driven = 0, redundant = 0;
    std::set<std::size_t> types;
};

/// Nothing if a driver moves what loops hold still.
std::optional<Simulation> find_start(const Model& model, const SimulationOptions& options) {
    try {
        return Simulation(model, options);
    } catch (const ModelError&) {
        if (model.drivers.size() == 0) throw;
        return std::nullopt;
    }
}

/// All sensors at the start, with given accelerations in place of those of the formulation.
std::vector<double> sense_exactly(const Simulation& simulation, double penalty, double& condition) {
    std::vector<double> values;
    const auto observe = [&]<int D>(std::integral_constant<int, D>) {
        const auto system = std::static_pointer_cast<const MechanismSystem<D>>(simulation.shared_system());
        FormulationOptions options;
        options.penalty = penalty;
        auto solver = std::make_unique<ExactAccelerations>(system, options);
        const ExactAccelerations& exact = *solver;
        const auto observer = make_observer<D>(simulation.model(), system, std::move(solver));
        observer->observe(simulation.state(), 0, values);
        condition = exact.condition();
    };
    if (simulation.model().planar) {
        observe(std::integral_constant<int, 2>());
    } else {
        observe(std::integral_constant<int, 3>());
    }
    return values;
}

/// Accelerations and reactions are compared with the largest of their own kind.
void check_agreement(const std::vector<std::string>& columns, const std::vector<double>& expected,
                     const std::vector<double>& found, const std::string& who) {
    const auto is_reaction = [&](std::size_t i) { return columns[i].front() == 'r'; };
    double size[] = {1, 1};
    for (std::size_t i = 0; i < expected.size(); ++i)
        size[is_reaction(i)] = std::max(size[is_reaction(i)], std::abs(expected[i]));
    for (std::size_t i = 0; i < found.size(); ++i)
        if (!(std::abs(found[i] - expected[i]) < tolerance * size[is_reaction(i)]))
            RC_FAIL(fmt::format("{}: {} is {} instead of {}", who, columns[i], found[i], expected[i]));
}

class RandomMechanisms : public ::testing::TestWithParam<std::tuple<bool, Topology>> {};

TEST_P(RandomMechanisms, AgreeInEveryFormulation) {
    const auto& [planar, topology] = GetParam();
    Census census;
    const auto compare = [&, planar = planar, topology = topology] {
        const std::string yaml = RandomMechanism(planar, topology, true).draw();
        RC_LOG() << yaml;
        const Model model = read(yaml);
        ++census.drawn;
        const std::optional<Simulation> start = find_start(model, options("null-space", "rk4"));
        if (!start) {
            ++census.contradictory;
            RC_DISCARD("driven against a loop");
        }
        double condition = 0;
        const std::vector<double> expected = sense_exactly(*start, 0, condition);
        if (condition > worst_condition) {
            ++census.near_singular;
            RC_DISCARD("near a singular position");
        }
        census.driven += model.drivers.size() > 0 ? 1 : 0;
        census.redundant += start->compute_mobility().redundant > 0 ? 1 : 0;
        for (const auto handle : model.joints.handles()) census.types.insert(model.joints.get(handle).type.index());
        for (const auto& [formulation, coordinates] : formulations_in_coordinates()) {
            SimulationOptions o = options(formulation, "rk4", coordinates);
            const bool is_penalty = formulation == "penalty";
            if (is_penalty) o.formulation_options.penalty = compared_penalty;
            Simulation s(model, o);
            check_agreement(s.observer().columns(),
                            is_penalty ? sense_exactly(s, compared_penalty, condition) : expected, sense_all(s),
                            formulation + " " + coordinates);
        }
    };
    EXPECT_TRUE(rc::check(compare));
    fmt::print("{} drawn, {} driven against a loop, {} near a singular position, {} redundant, {} driven\n",
               census.drawn, census.contradictory, census.near_singular, census.redundant, census.driven);
    if (census.drawn < 100) return;  // under the sanitizers: too few to say anything about the mixture
    EXPECT_LE(census.contradictory, 0.1 * census.drawn);
    EXPECT_LE(census.near_singular, 0.02 * census.drawn);
    EXPECT_GT(census.driven, 0);
    if (topology == Topology::redundant) {
        EXPECT_GT(census.redundant, 0.3 * census.drawn);
    } else {
        EXPECT_EQ(census.types.size(), planar ? 14U : 21U);
    }
}

std::string family_name(const ::testing::TestParamInfo<std::tuple<bool, Topology>>& info) {
    const auto& [planar, topology] = info.param;
    return fmt::format("{}_{}", planar ? "planar" : "spatial",
                       topology == Topology::tree    ? "trees"
                       : topology == Topology::loops ? "loops"
                                                     : "redundant");
}

INSTANTIATE_TEST_SUITE_P(All, RandomMechanisms,
                         ::testing::Combine(::testing::Bool(),
                                            ::testing::Values(Topology::tree, Topology::loops, Topology::redundant)),
                         family_name);

RC_GTEST_PROP(RandomMechanism, KeepsItsEnergyAndItsConstraints, ()) {
    const bool planar = *rc::gen::arbitrary<bool>();
    const std::string yaml =
        RandomMechanism(planar, *rc::gen::element(Topology::tree, Topology::loops, Topology::redundant)).draw();
    RC_LOG() << yaml;
    const auto [formulation, coordinates] = *rc::gen::elementOf(formulations_in_coordinates());
    RC_LOG() << formulation << " " << coordinates;
    const Model model = read(yaml);
    RC_PRE(find_start(model, options(formulation, "rk4", coordinates)).has_value());
    const auto run_with = [&, formulation = formulation, coordinates = coordinates](double step) {
        Simulation s(model, options(formulation, "rk4", coordinates));
        RunOptions o;
        o.until = 0.1;
        o.step = step;
        return run(s, o).summary;
    };
    const RunSummary summary = run_with(5e-4);
    RC_ASSERT(summary.ok);
    RC_ASSERT(summary.errors.position < 1e-8);
    RC_ASSERT(summary.errors.velocity < 1e-5);
    const double scale = 1 + summary.exchanged_energy;
    const double tolerance = formulation == "penalty" ? 1e-3 : 1e-5;
    if (summary.energy_drift < tolerance * scale) return;
    // Small boxes on long arms may spin fast: then the error must fall with the fourth power of the step.
    RC_ASSERT(run_with(1.25e-4).energy_drift < std::max(tolerance * scale / 256, summary.energy_drift / 100));
}

}  // namespace
}  // namespace limber::testing
