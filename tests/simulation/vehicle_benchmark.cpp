// The Iltis against the tables of its benchmark, whole, in steps of 0.2 ms: everything within 0.31 % of its peak (with
// finer steps the largest difference comes to 0.308 %, of a tyre at 1.4 s in anti-phase: 2903.33 N in place of 2928 N;
// all others are below 0.3 %). And what a driver whose speed jumps gives the vehicle.

#include <gtest/gtest.h>

#include <cmath>

#include "limber/io/element_edits.hpp"
#include "support/iltis_tables.hpp"
#include "support/models.hpp"

namespace limber::testing {
namespace {

constexpr double share_of_peak = 0.0031;

constexpr double fine_step = 2e-4;

Simulation start(const std::string& formulation, const std::string& integrator, const std::string& file,
                 const ParameterOverrides& overrides = {}) {
    SimulationOptions o = options(formulation, integrator);
    o.from_equilibrium = true;
    return Simulation(example("iltis/" + file, overrides), o);
}

class IltisBenchmark : public ::testing::TestWithParam<examples::PublishedTable> {};

TEST_P(IltisBenchmark, RunsAsPublished) {
    const examples::PublishedTable& table = GetParam();
    Simulation s = start("hybrid", "trapezoidal", table.file);
    for (const auto& row : table.rows) {
        const bool reached = row.t == 0 || s.advance(row.t, fine_step).ok;
        ASSERT_TRUE(reached) << row.t;
        for (std::size_t c = 0; c < table.columns.size(); ++c)
            EXPECT_NEAR(sense_as_published(s, table.columns[c]), row.values[c], share_of_peak * table.peak(c))
                << table.columns[c].heading << " at " << row.t << " s";
    }
}

INSTANTIATE_TEST_SUITE_P(All, IltisBenchmark,
                         ::testing::Values(examples::iltis_in_phase(), examples::iltis_anti_phase(),
                                           examples::iltis_ramp_to_steer()),
                         [](const auto& info) { return test_name(info.param.file); });

// Forces in the leaf rods at standstill, tension positive. Published: -1408.51 and -1335.52 N.
TEST(IltisStandstill, PushesItsLeafRodsAsPublished) {
    SimulationOptions o = options("hybrid", "trapezoidal");
    o.from_equilibrium = true;
    Model model = example("iltis/bump-in-phase.yaml", {{"speed", "0"}});
    for (const std::string axle : {"0", "1"}) {
        add_element(model, "sensors", "pin" + axle, "{reaction: leafpin" + axle + "0}");
        add_element(model, "sensors", "inner" + axle, "{position: leaf" + axle + "0.from}");
        add_element(model, "sensors", "outer" + axle, "{position: leaf" + axle + "0.to}");
    }
    Simulation s(model, o);
    for (const auto& [axle, published] : {std::pair{"0", -1408.51}, {"1", -1335.52}}) {
        const std::string a = axle;
        Vec3 rod;
        Vec3 force;  // of the chassis on the rod
        int k = 0;
        for (const char* c : {"x", "y", "z"}) {
            rod[k] = sense(s, "outer" + a + "." + c) - sense(s, "inner" + a + "." + c);
            force[k++] = sense(s, "pin" + a + ".f" + c);
        }
        EXPECT_NEAR(-force.dot(rod.normalized()), published, share_of_peak * std::abs(published));
    }
}

// The rack's speed jumps at the start and after half a second. What the steered wheels give the vehicle then must not
// depend on the formulation; with wheels that turn by 0.05 rad per step, Cartesian coordinates have errors of their
// own.
TEST(IltisJump, TurnsTheVehicleAlikeInAllFormulations) {
    struct Group {
        std::string integrator;
        std::vector<std::string> formulations;
        double agreement;  // degrees; a jump that is not passed on makes 1.3e-3
    };
    const std::vector<std::string> relative{"hybrid", "semi-recursive", "composite-body", "articulated-body",
                                            "canonical-momenta"};
    const std::vector<std::string> all = formulation_names();
    const std::vector<Group> groups{{"trapezoidal", all, 2e-4},
                                    {"rk4", all, 2e-5},
                                    {"hht", relative, 1e-4},
                                    {"generalized-alpha", relative, 1e-4},
                                    {"linear-acceleration", relative, 1e-4},
                                    {"higher-order", relative, 1e-4},
                                    {"newmark", relative, 1e-4},
                                    {"semi-implicit-euler", relative, 1e-6}};
    for (const Group& group : groups) {
        double first = 0;
        for (const std::string& formulation : group.formulations) {
            SCOPED_TRACE(group.integrator + ", " + formulation);
            Simulation s = start(formulation, group.integrator, "ramp-to-steer.yaml");
            ASSERT_TRUE(s.advance(0.8, 1e-3).ok);
            const double yaw = sense(s, "yaw");
            if (first == 0) first = yaw;
            EXPECT_LT(yaw, -2);
            EXPECT_NEAR(yaw, first, group.agreement);
        }
    }
}

}  // namespace
}  // namespace limber::testing
