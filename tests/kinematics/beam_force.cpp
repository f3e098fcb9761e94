// An element of a beam by itself: forces against differences of its energy, tangents against differences of its forces,
// rigid motions, damping.

#include "limber/kinematics/forces/beam_force.hpp"

#include <gtest/gtest.h>

#include <random>

#include "limber/math/rotation.hpp"

namespace limber::testing {
namespace {

template <int D>
class RandomBeam {
public:
    static constexpr int turns = D == 2 ? 1 : 3;
    using Turn = Eigen::Matrix<double, turns, 1>;

    explicit RandomBeam(int node_count, unsigned seed) : random_(seed) {
        beam.node_count = node_count;
        beam.has_damping = true;
        features.resize(node_count * (D + 1));
        for (int i = 0; i < node_count * (D + 1); ++i) slots_.push_back(i);
        for (int k = 0; k < node_count; ++k) {
            place.push_back(0.1 * vector() + 0.5 * k * Vec<D>::UnitX());
            velocity.push_back(vector());
            axes.push_back(rotation(0.4 * turn()));
            turning.push_back(turn());
        }
        for (int q = 0; q + 1 < node_count; ++q) beam.points.push_back(point());
        put();
    }

    ForceView<D> view() const { return {measures_, context_, 0, slots_.data(), static_cast<int>(slots_.size())}; }
    std::vector<Vec<D>> forces() const {
        std::vector<Vec<D>> out(slots_.size());
        beam.evaluate(view(), out.data());
        return out;
    }
    // Features from the motion of the nodes.
    void put() {
        for (std::size_t k = 0; k < place.size(); ++k) {
            const std::size_t first = k * (D + 1);
            features.value[first] = place[k];
            features.rate[first] = velocity[k];
            for (int a = 0; a < D; ++a) {
                features.value[first + 1 + a] = axes[k].col(a);
                features.rate[first + 1 + a] = turned(turning[k], axes[k].col(a));
            }
        }
    }
    static Vec<D> turned(const Turn& w, const Vec<D>& e) {
        if constexpr (D == 2) {
            return w[0] * perp(e);
        } else {
            return w.cross(e);
        }
    }
    static Mat<D> rotation(const Turn& w) {
        if constexpr (D == 2) {
            return rotation2(w[0]);
        } else {
            return exp_rotation(w).toRotationMatrix();
        }
    }
    double number() { return normal_(random_); }
    Vec<D> vector() {
        Vec<D> v;
        for (int i = 0; i < D; ++i) v[i] = number();
        return v;
    }
    Turn turn() {
        Turn w;
        for (int i = 0; i < turns; ++i) w[i] = number();
        return w;
    }

    BeamForce<D> beam;
    FeatureState<D> features;
    std::vector<Vec<D>> place, velocity;
    std::vector<Mat<D>> axes;
    std::vector<Turn> turning;

private:
    BeamPoint<D> point() {
        BeamPoint<D> p;
        p.length = 0.5 + 0.1 * std::abs(number());
        double shape = 0;
        double slope = 0;
        for (int k = 0; k + 1 < beam.node_count; ++k) {
            shape += p.shape[k] = 0.3 + 0.3 * number();
            slope += p.slope[k] = number();
        }
        p.shape[beam.node_count - 1] = 1 - shape;
        p.slope[beam.node_count - 1] = -slope;
        StrainMat<D> root;
        for (int i = 0; i < strain_size<D>; ++i) {
            for (int j = 0; j < strain_size<D>; ++j) root(i, j) = number();
            p.unstrained[i] = 0.2 * number();
            p.prestress[i] = number();
        }
        p.stiffness = root * root.transpose();
        p.damping = 0.1 * p.stiffness;
        return p;
    }

    std::mt19937 random_;
    std::normal_distribution<double> normal_;
    std::vector<Measure<D>> measures_;
    std::vector<MeasuredCurve<D>> curves_;
    std::vector<double> memory_;
    MeasureContext<D> context_{features, memory_, curves_};
    std::vector<int> slots_;
};

template <class Dimension>
class BeamElements : public ::testing::Test {};
using Dimensions = ::testing::Types<std::integral_constant<int, 2>, std::integral_constant<int, 3>>;
TYPED_TEST_SUITE(BeamElements, Dimensions);

constexpr double small = 1e-5;

TYPED_TEST(BeamElements, ForcesAreTheSlopeOfTheEnergy) {
    constexpr int D = TypeParam::value;
    for (int nodes = 2; nodes <= 4; ++nodes) {
        RandomBeam<D> random(nodes, 7 + nodes);
        random.beam.has_damping = false;
        const auto forces = random.forces();
        for (int trial = 0; trial < 10; ++trial) {
            std::vector<Vec<D>> moves;
            std::vector<typename RandomBeam<D>::Turn> turns;
            for (int k = 0; k < nodes; ++k) {
                moves.push_back(random.vector());
                turns.push_back(random.turn());
            }
            double work = 0;
            for (int k = 0; k < nodes; ++k) {
                work += forces[k * (D + 1)].dot(moves[k]);
                for (int a = 0; a < D; ++a)
                    work += forces[k * (D + 1) + 1 + a].dot(random.turned(turns[k], random.axes[k].col(a)));
            }
            const auto place = random.place;
            const auto axes = random.axes;
            double energy[2];
            for (const int side : {0, 1}) {
                const double part = side == 0 ? -small : small;
                for (int k = 0; k < nodes; ++k) {
                    random.place[k] = place[k] + part * moves[k];
                    random.axes[k] = random.rotation(part * turns[k]) * axes[k];
                }
                random.put();
                energy[side] = random.beam.compute_potential(random.view());
            }
            random.place = place;
            random.axes = axes;
            random.put();
            EXPECT_NEAR(work, (energy[0] - energy[1]) / (2 * small), 1e-8 * (1 + std::abs(work))) << nodes;
        }
    }
}

TYPED_TEST(BeamElements, TangentsAreTheSlopeOfTheForces) {
    constexpr int D = TypeParam::value;
    for (int nodes = 2; nodes <= 4; ++nodes) {
        RandomBeam<D> random(nodes, 70 + nodes);
        const int slots = nodes * (D + 1);
        ForceBlocks<D> blocks;
        blocks.reserve(slots);
        blocks.start(slots);
        ASSERT_TRUE(random.beam.compute_blocks(random.view(), blocks));
        std::array<std::vector<Vec<D>>, 2> force, value, rate;
        std::vector<Vec<D>> moves, speeds;
        std::vector<typename RandomBeam<D>::Turn> turns, spins;
        for (int k = 0; k < nodes; ++k) {
            moves.push_back(random.vector());
            speeds.push_back(random.vector());
            turns.push_back(random.turn());
            spins.push_back(random.turn());
        }
        const auto place = random.place;
        const auto velocity = random.velocity;
        const auto axes = random.axes;
        const auto turning = random.turning;
        for (const int side : {0, 1}) {
            const double part = side == 0 ? -small : small;
            for (int k = 0; k < nodes; ++k) {
                random.place[k] = place[k] + part * moves[k];
                random.velocity[k] = velocity[k] + part * speeds[k];
                random.axes[k] = random.rotation(part * turns[k]) * axes[k];
                random.turning[k] = turning[k] + part * spins[k];
            }
            random.put();
            force[side] = random.forces();
            value[side] = random.features.value;
            rate[side] = random.features.rate;
        }
        for (int a = 0; a < slots; ++a) {
            Vec<D> expected = (force[1][a] - force[0][a]) / (2 * small);
            Vec<D> found = Vec<D>::Zero();
            for (int b = 0; b < slots; ++b)
                found -= (blocks.k(a, b) * (value[1][b] - value[0][b]) + blocks.c(a, b) * (rate[1][b] - rate[0][b])) /
                         (2 * small);
            EXPECT_LT((found - expected).norm(), 1e-7 * (1 + expected.norm())) << nodes << ' ' << a;
        }
    }
}

// Moved as a whole its energy is the same; its forces cancel, and do no work in a rigid motion.
TYPED_TEST(BeamElements, RigidMotionsStrainNothing) {
    constexpr int D = TypeParam::value;
    for (int nodes = 2; nodes <= 4; ++nodes) {
        RandomBeam<D> random(nodes, 700 + nodes);
        const double energy = random.beam.compute_potential(random.view());
        const Mat<D> turn = random.rotation(random.turn());
        const Vec<D> shift = random.vector();
        const typename RandomBeam<D>::Turn spin = random.turn();
        for (int k = 0; k < nodes; ++k) {
            random.place[k] = shift + turn * random.place[k];
            random.axes[k] = turn * random.axes[k];
            random.velocity[k] = shift + random.turned(spin, random.place[k]);
            random.turning[k] = spin;
        }
        random.put();
        EXPECT_NEAR(random.beam.compute_potential(random.view()), energy, 1e-12 * energy);
        std::vector<Vec<D>> damping(nodes * (D + 1));
        random.beam.evaluate_without_potential(random.view(), damping.data());
        for (const Vec<D>& force : damping) EXPECT_LT(force.norm(), 1e-12);
        double power = 0;
        const auto forces = random.forces();
        for (std::size_t s = 0; s < forces.size(); ++s) power += forces[s].dot(random.features.rate[s]);
        EXPECT_NEAR(power, 0, 1e-11);
    }
}

TYPED_TEST(BeamElements, DampingTakesEnergyAway) {
    constexpr int D = TypeParam::value;
    for (unsigned seed = 0; seed < 20; ++seed) {
        RandomBeam<D> random(2 + static_cast<int>(seed) % 3, seed);
        std::vector<Vec<D>> scratch(16);
        EXPECT_LT(random.beam.compute_power(random.view(), scratch.data()), 0);
    }
}

}  // namespace
}  // namespace limber::testing
