// Which settings act where: what the table says, against runs with and without them.

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "support/models.hpp"

namespace limber {
namespace {

using namespace testing;

// A four-bar that swings, so that constraints drift and Newton's method works.
Model four_bar() {
    return read(R"(
limber: 1
plane: xy
bodies:
  crank: {rod: {from: [0, 0], to: [0, 0.4], mass: 1}}
  coupler: {rod: {from: [0, 0.4], to: [1, 0.7], mass: 1}}
  rocker: {rod: {from: [1, 0], to: [1, 0.7], mass: 1}}
joints:
  a: {revolute: [ground, crank.from]}
  b: {revolute: [crank.to, coupler.from]}
  c: {revolute: [coupler.to, rocker.to]}
  d: {revolute: [rocker.from, ground], at: [1, 0]}
initial: {rates: {a.angle: 8}}
)");
}

struct Setting {
    const char* name;
    const char* value;
};

const std::vector<Setting> settings{{"stabilisation", "none"},
                                    {"tangent", "approximate"},
                                    {"kinks", "ignored"},
                                    {"stops", "penalty"},
                                    {"impacts", "poisson"},
                                    {"gluing", "anderson"},
                                    {"coupling", "acceleration"},
                                    {"course", "hold"},
                                    {"gluing-iteration", "no"},
                                    {"penalty", "2e4"},
                                    {"penalty-form", "springs"},
                                    {"row-inertia", "product"},
                                    {"frequency", "0.9"},
                                    {"damping", "0.9"},
                                    {"velocity-gain", "0.2"},
                                    {"tolerance", "1e-3"},
                                    {"xi", "-0.6"},
                                    {"delta", "0.3"},
                                    {"rho", "0.3"},
                                    {"passes", "5"},
                                    {"halvings", "2"},
                                    {"projection-interval", "3"},
                                    {"step-control", "1e-8"},
                                    {"stop-stiffness", "1e3"},
                                    {"stop-rho", "1e3"},
                                    {"stop-action", "impulse"},
                                    {"gluing-tolerance", "1e-3"},
                                    {"gluing-rho", "1"},
                                    {"gluing-evaluations", "100"},
                                    {"threads", "2"},
                                    {"reference-tolerance", "1e-5"}};

// What a few long steps lead to, or why they do not.
std::pair<VecX, std::string> motion(const Model& model, const SimulationOptions& chosen) {
    try {
        Simulation s(model, chosen);
        const StepReport report = s.advance(0.1, 0.01);
        return {s.state().q, report.reason};
    } catch (const std::exception& error) {
        return {VecX(), error.what()};
    }
}

class OptionEffects : public ::testing::TestWithParam<std::pair<std::string, std::string>> {};

// A setting that is refused would have left the motion as it is; so nobody is kept from anything.
TEST_P(OptionEffects, AreNoneWhereTheyAreDenied) {
    const Model model = four_bar();
    for (const char* division : {"", "body"}) {
        SimulationOptions plain = options(GetParam().first, GetParam().second);
        plain.modular.division = division;
        const auto usual = motion(model, plain);
        for (const Setting& setting : settings) {
            SimulationOptions with = plain;
            set_option(with, setting.name, setting.value);
            if (explain_no_effect(setting.name, with, model).empty()) continue;
            const auto found = motion(model, with);
            EXPECT_EQ(found.second, usual.second) << setting.name << " " << division;
            ASSERT_EQ(found.first.size(), usual.first.size()) << setting.name << " " << division;
            // Step control that never acts still cuts its steps by other sums of times.
            if (found.first.size() > 0) {
                EXPECT_LT((found.first - usual.first).lpNorm<Eigen::Infinity>(), 1e-11)
                    << setting.name << " " << division;
            }
        }
    }
}

// The other way round, where a number must show in the motion.
TEST_P(OptionEffects, ShowWhereTheyAreGranted) {
    const Model model = four_bar();
    for (const char* division : {"", "body"}) {
        SimulationOptions plain = options(GetParam().first, GetParam().second);
        plain.modular.division = division;
        const auto usual = motion(model, plain);
        if (!usual.second.empty()) continue;
        for (const Setting& setting : settings) {
            const std::string name = setting.name;
            // These act only when something goes wrong, or must not show in the motion.
            if (name == "halvings" || name == "threads" || name == "gluing-evaluations" || name == "penalty" ||
                name == "tangent" || name == "tolerance" || name == "gluing-tolerance" || name == "course" ||
                name == "gluing-iteration" || name == "gluing")
                continue;
            SimulationOptions with = plain;
            set_option(with, setting.name, setting.value);
            if (!explain_no_effect(name, with, model).empty()) continue;
            const auto found = motion(model, with);
            EXPECT_FALSE(found.second == usual.second && (found.first.array() == usual.first.array()).all())
                << setting.name << " " << division;
        }
    }
}

std::vector<std::pair<std::string, std::string>> methods() {
    std::vector<std::pair<std::string, std::string>> list;
    for (const char* formulation :
         {"global", "augmented-lagrangian", "baumgarte", "null-space", "semi-recursive", "hybrid", "articulated-body"})
        for (const char* integrator :
             {"trapezoidal", "hht", "newmark", "generalized-alpha", "rk4", "moreau-jean", "reference"})
            list.emplace_back(formulation, integrator);
    return list;
}

INSTANTIATE_TEST_SUITE_P(Methods, OptionEffects, ::testing::ValuesIn(methods()),
                         [](const auto& i) { return test_name(i.param.first + " " + i.param.second); });

// Every setting has a place in the list above, so that a new one is not forgotten.
TEST(Options, AreAllLookedAt) {
    const std::string all = describe_options();
    std::size_t lines = 0;
    for (const char c : all) lines += c == '\n' ? 1 : 0;
    EXPECT_EQ(lines, settings.size() + 1);  // energy-bound acts in every run
}

}  // namespace
}  // namespace limber
