// Steps that are taken back, fail or throw leave no trace: what follows has the same bits and takes the same number of
// evaluations.

#include <gtest/gtest.h>

#include <atomic>
#include <bit>
#include <stdexcept>

#include "limber/modular/modular_stepper.hpp"
#include "support/models.hpp"

namespace limber::testing {
namespace {

enum class Trouble { none, failure, exception };

/// What befalls the box that is asked as the n-th from now on.
class Fate {
public:
    void await(Trouble trouble, int n) {
        trouble_ = trouble;
        countdown_ = n;
    }
    bool strikes() {
        if (--countdown_ != 0 || trouble_ == Trouble::none) return false;
        if (trouble_ == Trouble::exception) throw std::runtime_error("a box has thrown");
        return true;
    }

private:
    Trouble trouble_ = Trouble::none;
    std::atomic<int> countdown_ = 0;  // threads may ask
};

/// A box of ours that fails when its fate says so.
class FragileBox final : public Component<2> {
public:
    FragileBox(std::shared_ptr<const CompiledComponent<2>> compiled, Fate& fate)
        : box_(std::move(compiled)), fate_(fate) {}

    int port_count() const override { return box_.port_count(); }
    void import_motion(double t, const BodyStates<2>& bodies, std::span<const double> memory) override {
        box_.import_motion(t, bodies, memory);
    }
    void export_motion(std::span<BodyState<2>> bodies, std::span<TwistVec<2>> rates) const override {
        box_.export_motion(bodies, rates);
    }
    void begin(double h, Coupling coupling, ForceCourse course, Wrenches start, Wrenches bend) override {
        box_.begin(h, coupling, course, start, bend);
    }
    StepReport answer(Wrenches wrenches, Motion motion) override {
        StepReport report = box_.answer(wrenches, motion);
        if (fate_.strikes()) report.ok = false;
        return report;
    }
    bool is_coupled() const override { return box_.is_coupled(); }
    void open(Motion motion) override { box_.open(motion); }
    ApproachReport approach(Wrenches wrenches, bool refresh, std::span<TwistVec<2>> rates) override {
        ApproachReport report = box_.approach(wrenches, refresh, rates);
        if (fate_.strikes()) report.ok = false;
        return report;
    }
    NewtonProgress advance(Wrenches further, Motion motion) override { return box_.advance(further, motion); }
    StepReport close(Motion motion) override { return box_.close(motion); }
    void respond(Wrenches wrenches, std::span<TwistVec<2>> rates) override { box_.respond(wrenches, rates); }
    Reach reach() const override { return box_.reach(); }
    void correct() override { box_.correct(); }
    void push_velocities(Wrenches wrenches, Motion motion) override { box_.push_velocities(wrenches, motion); }
    void push_accelerations(Wrenches wrenches, Motion motion) override { box_.push_accelerations(wrenches, motion); }
    void accept() override { box_.accept(); }
    std::vector<double> save() const override { return box_.save(); }
    void restore(std::span<const double> saved) override { box_.restore(saved); }

private:
    SystemComponent<2> box_;
    Fate& fate_;
};

// Two masses with springs and a damper between them, both moving.
constexpr const char* oscillators = R"(
limber: 1
plane: xy
gravity: none
bodies:
  ground: {markers: {left: [-1, 0], right: [2, 0]}}
  first: {disc: {radius: 1, mass: 1}, velocity: [3, 1]}
  second: {disc: {radius: 1, mass: 1}, at: [1, 0], velocity: [-5, 0]}
forces:
  left: {spring: [ground.left, first], stiffness: 100}
  right: {spring: [ground.right, second], stiffness: 100}
  between: {spring: [first, second], stiffness: 2000, damping: 20}
components:
  a: {bodies: [first]}
  b: {bodies: [second]}
)";

struct Case {
    const char* name;
    Model (*model)();
    const char* division;
    Gluing gluing = Gluing::direct;
    Coupling coupling = Coupling::end_of_step;
    const char* formulation = "global";
    double step = 5e-3;
    double first_own_step = 0, other_own_steps = 0;
    double tolerance = 1e-8;
    int threads = 1;
};

std::ostream& operator<<(std::ostream& out, const Case& c) {
    return out << c.name;
}

class Divided {
public:
    explicit Divided(const Case& c) : step_(c.step) {
        const Model model = c.model();
        auto mechanism = std::make_shared<const Mechanism<2>>(make_mechanism<2>(model));
        ModularOptions o;
        o.division = c.division;
        o.gluing = c.gluing;
        o.coupling = c.coupling;
        o.course = ForceCourse::quadratic;
        o.tolerance = c.tolerance;
        o.threads = c.threads;
        Division division = find_division(*mechanism, model, o);
        for (ComponentSettings& settings : division.components) settings.step = c.other_own_steps;
        division.components[0].step = c.first_own_step;
        system_ =
            compile_modular<2>(mechanism, division, {"", c.formulation, "trapezoidal", "", 0}, {}, {}, o.tolerance);
        ComponentList<2> boxes;
        for (const auto& component : system_->components) {
            BodyStates<2> bodies;
            for (const int b : component->bodies) bodies.push_back(mechanism->bodies[b].reference);
            boxes.push_back(std::make_unique<FragileBox>(component, fate));
            boxes.back()->import_motion(0, bodies, {});
        }
        assembly_ = std::make_unique<ModularAssembly<2>>(
            std::move(boxes), std::make_unique<InterfaceJoints<2>>(*mechanism, system_->parts.interface), o,
            FormulationOptions{}, 2);
        EXPECT_TRUE(assembly_->restart_velocities(0).ok);
    }

    ModularAssembly<2>& operator*() { return *assembly_; }
    ModularAssembly<2>* operator->() { return assembly_.get(); }
    double step_length() const { return step_; }
    void make_steps(int count) {
        for (int i = 0; i < count; ++i) {
            const StepReport report = assembly_->step(step_);
            ASSERT_TRUE(report.ok) << report.reason;
        }
    }
    /// Motion of all bodies, multipliers and evaluations of the last step.
    std::vector<double> numbers() {
        std::vector<double> all{assembly_->time(), static_cast<double>(assembly_->report().total())};
        for (std::size_t k = 0; k < system_->components.size(); ++k) {
            const std::vector<double> saved = assembly_->component(static_cast<int>(k)).save();
            all.insert(all.end(), saved.begin(), saved.end());
        }
        const VecX multipliers = assembly_->compute_multipliers();
        all.insert(all.end(), multipliers.begin(), multipliers.end());
        return all;
    }

    Fate fate;

private:
    double step_;
    std::shared_ptr<const ModularSystem<2>> system_;
    std::unique_ptr<ModularAssembly<2>> assembly_;
};

constexpr int steps_before = 12, steps_after = 12;

class StepTakenBack : public ::testing::TestWithParam<Case> {
protected:
    StepTakenBack() : straight_(GetParam()), tried_(GetParam()) {
        straight_.make_steps(steps_before);
        tried_.make_steps(steps_before);
    }

    void expect_the_same_from_here() {
        for (int i = 0; i < steps_after; ++i) {
            straight_.make_steps(1);
            tried_.make_steps(1);
            const std::vector<double> expected = straight_.numbers();
            const std::vector<double> found = tried_.numbers();
            ASSERT_EQ(found.size(), expected.size());
            for (std::size_t n = 0; n < found.size(); ++n)
                ASSERT_EQ(std::bit_cast<std::uint64_t>(found[n]), std::bit_cast<std::uint64_t>(expected[n]))
                    << "step " << i << ", number " << n << ": " << found[n] << " in place of " << expected[n];
        }
    }

    Divided straight_, tried_;
};

TEST_P(StepTakenBack, LeavesNoTrace) {
    AssemblySnapshot<2> snapshot;
    tried_->save(snapshot);
    tried_.make_steps(3);
    ASSERT_TRUE(tried_->step(0.4 * tried_.step_length()).ok);
    tried_->restore(snapshot);
    expect_the_same_from_here();
}

TEST_P(StepTakenBack, LeavesNoTraceOfFailures) {
    for (const Trouble trouble : {Trouble::failure, Trouble::exception})
        for (const int asked : {1, 2, 4}) {
            tried_.fate.await(trouble, asked);
            if (trouble == Trouble::failure) {
                EXPECT_FALSE(tried_->step(2 * tried_.step_length()).ok);
            } else {
                EXPECT_THROW(tried_->step(2 * tried_.step_length()), std::runtime_error);
            }
        }
    expect_the_same_from_here();
}

Model pendulum() {
    return example("double-pendulum.yaml");
}
Model chain() {
    return example("modular/chain-of-chains.yaml", {{"C", "3"}, {"N", "3"}});
}
Model net() {
    return example("modular/net-of-squares.yaml", {{"N", "3"}});
}
Model masses() {
    return read(oscillators);
}

using enum Coupling;
using enum Gluing;
INSTANTIATE_TEST_SUITE_P(
    All, StepTakenBack,
    ::testing::Values(
        Case{"led", pendulum, "body"}, Case{"led_conjugate_gradient", chain, "groups", conjugate_gradient},
        Case{"led_anderson", pendulum, "body", anderson},
        Case{"accelerations", pendulum, "body", direct, acceleration, "augmented-lagrangian", 1e-2, 0, 0, 1e-2},
        Case{"accelerations_conjugate_gradient", pendulum, "body", conjugate_gradient, acceleration,
             "augmented-lagrangian", 1e-2, 0, 0, 1e-2},
        Case{"accelerations_anderson", pendulum, "body", anderson, acceleration, "augmented-lagrangian", 1e-2, 0, 0,
             1e-2},
        Case{"redundant_with_a_spring", net, "body", direct, acceleration, "augmented-lagrangian", 1e-3},
        Case{"one_with_own_steps", chain, "groups", direct, end_of_step, "global", 5e-3, 2e-3},
        Case{"all_with_own_steps", chain, "groups", direct, end_of_step, "hybrid", 5e-3, 2e-3, 1e-3},
        Case{"all_with_own_steps_conjugate_gradient", chain, "groups", conjugate_gradient, end_of_step, "hybrid", 5e-3,
             2e-3, 1e-3},
        Case{"springs_and_own_steps", masses, "groups", direct, end_of_step, "global", 1e-2, 2e-3},
        Case{"springs_and_all_with_own_steps", masses, "groups", direct, end_of_step, "global", 1e-2, 2e-3, 5e-3},
        Case{"led_by_two_threads", chain, "groups", direct, end_of_step, "global", 5e-3, 0, 0, 1e-8, 2}),
    [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace limber::testing
