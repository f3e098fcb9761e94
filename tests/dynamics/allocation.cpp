// Stepping must not allocate: malloc itself is watched, so nothing can hide behind Eigen or the standard library.
// Not part of the sanitizer build, whose runtime owns malloc.

#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>

#include "limber/integration/stepper.hpp"
#include "support/models.hpp"

#if !defined(__SANITIZE_ADDRESS__) && !(defined(__has_feature) && __has_feature(address_sanitizer))

namespace {
std::atomic<long> allocations{0};
}

extern "C" {
void* __libc_malloc(std::size_t size);                     // NOLINT(bugprone-reserved-identifier)
void* __libc_calloc(std::size_t count, std::size_t size);  // NOLINT(bugprone-reserved-identifier)
void* __libc_realloc(void* old, std::size_t size);         // NOLINT(bugprone-reserved-identifier)

void* malloc(std::size_t size) {
    ++allocations;
    return __libc_malloc(size);
}
void* calloc(std::size_t count, std::size_t size) {
    ++allocations;
    return __libc_calloc(count, size);
}
void* realloc(void* old, std::size_t size) {
    ++allocations;
    return __libc_realloc(old, size);
}
}

namespace limber::testing {
namespace {

TEST(Allocation, IsSeenByTheCounter) {
    const long before = allocations;
    delete new std::string(1000, 'x');
    EXPECT_GT(allocations - before, 0);
}

class SteppingAllocatesNothing
    : public ::testing::TestWithParam<std::tuple<std::string, std::tuple<std::string, std::string>, std::string>> {};

TEST_P(SteppingAllocatesNothing, AfterTheFirstStep) {
    const auto& [model, how, integrator] = GetParam();
    const auto& [formulation, coordinates] = how;
    Simulation simulation(
        example(model, model == "n-four-bar.yaml" ? ParameterOverrides{{"N", "10"}} : ParameterOverrides{}),
        options(formulation, integrator, coordinates));
    const double h = model == "andrews.yaml" ? 1e-5 : model == "flexible/mast.yaml" ? 1e-6 : 1e-3;
    for (int i = 0; i < 3; ++i) ASSERT_TRUE(simulation.step(h).ok);
    const long before = allocations;
    bool ok = true;
    for (int i = 0; i < 50; ++i) ok = simulation.step(h).ok && ok;
    const long during = allocations - before;
    EXPECT_TRUE(ok);
    EXPECT_EQ(during, 0);
}

INSTANTIATE_TEST_SUITE_P(All, SteppingAllocatesNothing,
                         ::testing::Combine(::testing::Values("double-pendulum.yaml", "n-four-bar.yaml", "andrews.yaml",
                                                              "loops/bricard.yaml", "joints/rolling-disc.yaml",
                                                              "forces/bushing.yaml", "joints/universal.yaml",
                                                              "joints/spherical.yaml", "flexible/mast.yaml",
                                                              "contact/double-pendulum-wall.yaml"),
                                            ::testing::ValuesIn(formulations_in_coordinates()),
                                            ::testing::Values("trapezoidal", "hht", "higher-order", "rk4",
                                                              "semi-implicit-euler", "explicit-euler")));

class DividedSteppingAllocatesNothing : public ::testing::TestWithParam<std::tuple<const char*, const char*>> {};

TEST_P(DividedSteppingAllocatesNothing, WhereTheJointsLead) {
    const auto& [model, division] = GetParam();
    SimulationOptions chosen = options("global", "trapezoidal");
    chosen.modular.division = division;
    Simulation simulation(example(model), chosen);
    for (int i = 0; i < 5; ++i) ASSERT_TRUE(simulation.step(1e-3).ok);
    const long before = allocations;
    bool ok = true;
    for (int i = 0; i < 20; ++i) ok = simulation.step(1e-3).ok && ok;
    const long during = allocations - before;
    EXPECT_TRUE(ok);
    EXPECT_EQ(during, 0);
}

INSTANTIATE_TEST_SUITE_P(Modular, DividedSteppingAllocatesNothing,
                         ::testing::Values(std::tuple("modular/chain-of-chains.yaml", "groups"),
                                           std::tuple("modular/net-of-squares.yaml", "body"),
                                           std::tuple("loops/bricard.yaml", "body")));

class TimeSteppingAllocatesNothing : public ::testing::TestWithParam<std::tuple<const char*, double>> {};

TEST_P(TimeSteppingAllocatesNothing, WhileContactsStay) {
    const auto& [model, h] = GetParam();
    SimulationOptions chosen;
    chosen.integrator = "moreau-jean";
    Simulation simulation(example(model), chosen);
    for (int i = 0; i < 50; ++i) ASSERT_TRUE(simulation.step(h).ok);
    const long before = allocations;
    bool ok = true;
    for (int i = 0; i < 50; ++i) ok = simulation.step(h).ok && ok;
    const long during = allocations - before;
    EXPECT_TRUE(ok);
    EXPECT_FALSE(simulation.state().contacts.empty());
    EXPECT_EQ(during, 0);
}

INSTANTIATE_TEST_SUITE_P(Contacts, TimeSteppingAllocatesNothing,
                         ::testing::Values(std::tuple("contact/brick-wall.yaml", 5e-3),
                                           std::tuple("contact/brick-on-slope.yaml", 1e-3),
                                           std::tuple("contact/slide-then-roll.yaml", 1e-3)));

}  // namespace
}  // namespace limber::testing

#endif
