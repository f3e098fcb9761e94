// Chains of beams and rods by chance, in plane and space: the same motion in every set of coordinates, energy kept,
// forces on the ground that are those of momentum and weight.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <random>

#include "support/energy.hpp"
#include "support/model_text.hpp"

namespace limber::testing {
namespace {

class RandomChain {
public:
    RandomChain(bool is_planar, unsigned seed) : is_planar_(is_planar), random_(seed) {}

    std::string make() {
        std::string bodies;
        std::string joints;
        const int count = 2 + pick(2);
        Vec3 start = Vec3::Zero();
        for (int i = 0; i < count; ++i) {
            const Vec3 end = start + Vec3(0.4 + 0.4 * part(), 0.8 * part() - 0.4, is_planar_ ? 0 : 0.8 * part() - 0.4);
            // One beam at least.
            bodies += i == 0 || pick(3) > 0 ? beam(i, start, end) : rod(i, start, end);
            const std::string before = i == 0 ? "ground" : fmt::format("b{}.to", i - 1);
            const char* const kinds[] = {"revolute", is_planar_ ? "revolute" : "spherical", "fixed"};
            joints += fmt::format("  j{}: {{{}: [{}, b{}.from], at: {}{}}}\n", i, kinds[pick(3)], before, i,
                                  vector(start), is_planar_ ? "" : ", axis: [0.2, 1, 0.3]");
            start = end;
        }
        return fmt::format(
            "limber: 1\n{}bodies:\n{}joints:\n{}sensors:\n  tip: {{position: b{}.to}}\n  base: {{reaction: "
            "j0, body: b0, at: ground}}\n",
            is_planar_ ? "plane: xy\n" : "", bodies, joints, count - 1);
    }

private:
    double part() { return std::uniform_real_distribution<double>(0, 1)(random_); }
    int pick(int count) { return static_cast<int>(part() * count); }
    std::string vector(const Vec3& v) const {
        return is_planar_ ? fmt::format("[{:.6f}, {:.6f}]", v.x(), v.y())
                          : fmt::format("[{:.6f}, {:.6f}, {:.6f}]", v.x(), v.y(), v.z());
    }
    std::string rod(int i, const Vec3& from, const Vec3& to) const {
        return fmt::format("  b{}: {{rod: {{from: {}, to: {}, mass: 0.4, radius: 0.05}}}}\n", i, vector(from),
                           vector(to));
    }
    std::string beam(int i, const Vec3& from, const Vec3& to) {
        const bool is_exact = pick(4) > 0;
        const std::string theory = is_exact ? fmt::format("order: {}", 1 + pick(3)) : "theory: segments";
        const std::string twist = is_planar_ || pick(2) == 0 ? "" : ", twist: 0.7";
        const double bending = 2 + 10 * part();
        const std::string section =
            is_planar_ ? fmt::format("axial: 2e3, shear: 1e3, bending: {:.4f}, mass: 1, inertia: 5e-3", bending)
                       : fmt::format(
                             "axial: 2e3, shear: [1e3, 8e2], torsion: {:.4f}, bending: [{:.4f}, 5], mass: 1, "
                             "inertia: [1e-2, 5e-3, 5e-3]",
                             bending / 2, bending);
        return fmt::format("  b{}: {{beam: {{from: {}, to: {}, elements: {}, {}{}, section: {{given: {{{}}}}}}}}}\n", i,
                           vector(from), vector(to), is_exact ? 1 + pick(2) : 3, theory, twist, section);
    }

    bool is_planar_;
    std::mt19937 random_;
};

class RandomBeams : public ::testing::TestWithParam<bool> {};

TEST_P(RandomBeams, MoveAlikeAndKeepTheirBalances) {
    const bool is_planar = GetParam();
    for (unsigned seed = 1; seed <= 10; ++seed) {
        const Model model = read(RandomChain(is_planar, seed).make());
        SCOPED_TRACE(write_model_text(model));
        const ModelEvaluation numbers(model);
        double mass = 0;
        for (const BodyHandle body : model.bodies.handles())
            if (body != model.ground()) mass += numbers.mass_properties(body).mass;
        const Vec3 weight = mass * 9.81 * (is_planar ? Vec3(0, -1, 0) : Vec3(0, 0, -1));
        std::vector<Vec3> tips;
        for (const std::string& coordinates : all_coordinates()) {
            Simulation s(model, options("augmented-lagrangian", "rk4", coordinates));
            const auto vector = [&](const std::string& sensor) {
                return Vec3(sense(s, sensor + "x"), sense(s, sensor + "y"), is_planar ? 0 : sense(s, sensor + "z"));
            };
            const double energy = mechanical_energy(s);
            const Vec3 start = vector("tip.");
            constexpr double h = 2e-4;
            Vec3 before;
            Vec3 after;
            Vec3 turning;
            ASSERT_TRUE(s.advance(0.1 - h, h).ok) << coordinates;
            s.observer().compute_momentum(s.state(), before, turning);
            ASSERT_TRUE(s.advance(0.1, h).ok) << coordinates;
            const Vec3 force = vector("base.f");
            tips.push_back(vector("tip."));
            EXPECT_GT((tips.back() - start).norm(), 1e-4) << coordinates;
            EXPECT_GT(force.norm(), 1e-2) << coordinates;
            EXPECT_LT((tips.back() - tips.front()).norm(), 1e-7) << coordinates;
            EXPECT_NEAR(mechanical_energy(s), energy, 1e-5) << coordinates;
            ASSERT_TRUE(s.advance(0.1 + h, h).ok) << coordinates;
            s.observer().compute_momentum(s.state(), after, turning);
            // What the ground does and weight change the momentum.
            EXPECT_LT(((after - before) / (2 * h) - force - weight).norm(), 1e-2 * (1 + force.norm())) << coordinates;
        }
    }
}

INSTANTIATE_TEST_SUITE_P(In, RandomBeams, ::testing::Bool(),
                         [](const auto& info) { return info.param ? "Plane" : "Space"; });

}  // namespace
}  // namespace limber::testing
