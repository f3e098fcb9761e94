// Cholesky's factors of matrices made of blocks, against Eigen's dense ones.

#include "limber/math/block_cholesky.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <Eigen/Cholesky>
#include <random>

namespace limber {
namespace {

using Pair = BlockCholesky::Pair;

/// A random positive definite matrix whose blocks outside of `pairs` are zero, and its blocks as the factorisation
/// takes them.
struct BlockMatrix {
    std::vector<int> first{0};
    std::vector<Pair> pairs;
    std::vector<double> blocks;
    MatX dense;

    BlockMatrix(const std::vector<int>& widths, std::vector<Pair> coupled, std::mt19937& random)
        : pairs(std::move(coupled)) {
        for (const int width : widths) first.push_back(first.back() + width);
        for (int k = 0; k < static_cast<int>(widths.size()); ++k) pairs.push_back({k, k});
        std::sort(pairs.begin(), pairs.end());
        pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
        fill(random);
    }

    void fill(std::mt19937& random) {
        std::normal_distribution<double> normal;
        dense = MatX::Zero(first.back(), first.back());
        for (const auto& [a, b] : pairs) {
            const int columns = first[a + 1] - first[a];
            const int rows = first[b + 1] - first[b];
            const MatX block = MatX::NullaryExpr(rows, columns, [&] { return normal(random); });
            dense.block(first[b], first[a], rows, columns) = block;
            dense.block(first[a], first[b], columns, rows) = block.transpose();
            if (a == b) dense.block(first[a], first[a], rows, rows) = block + block.transpose();
        }
        // Diagonal dominance, as masses and springs have it.
        dense.diagonal() = dense.cwiseAbs().rowwise().sum().array() + 0.1;
        blocks.clear();
        for (const auto& [a, b] : pairs)
            for (int i = first[b]; i < first[b + 1]; ++i)
                for (int j = first[a]; j < first[a + 1]; ++j) blocks.push_back(dense(i, j));
    }
};

void check(BlockCholesky& cholesky, const BlockMatrix& matrix) {
    const VecX b = VecX::LinSpaced(matrix.dense.rows(), -1, 2);
    VecX x = b;
    RC_ASSERT(cholesky.factorize(matrix.blocks));
    cholesky.solve(x);
    RC_ASSERT((matrix.dense * x - b).norm() < 1e-12 * b.norm());
    RC_ASSERT((matrix.dense.ldlt().solve(b) - x).norm() < 1e-11 * x.norm());
}

RC_GTEST_PROP(BlockCholesky, SolvesWhatADenseFactorisationSolves, ()) {
    std::mt19937 random(*rc::gen::arbitrary<unsigned>());
    const int nodes = *rc::gen::inRange(1, 60);
    const double density = *rc::gen::element(0.0, 0.5, 1.5, 6.0);  // pairs per node
    std::vector<int> widths;
    for (int k = 0; k < nodes; ++k) widths.push_back(1 + static_cast<int>(random() % 6));
    std::vector<Pair> pairs;
    for (int k = 0; k < static_cast<int>(density * nodes); ++k) {
        const auto [a, b] = std::minmax({static_cast<int>(random() % nodes), static_cast<int>(random() % nodes)});
        pairs.push_back({a, b});
    }
    BlockMatrix matrix(widths, pairs, random);
    BlockCholesky cholesky;
    // Of another structure first: nothing of it may stay.
    cholesky.analyse(std::vector<int>{0, 3, 5}, std::vector<Pair>{{0, 0}, {0, 1}, {1, 1}});
    cholesky.analyse(matrix.first, matrix.pairs);
    check(cholesky, matrix);
    matrix.fill(random);
    check(cholesky, matrix);
}

// A cube of bodies, each touching its six neighbours: as in a heap, with fronts of many nodes.
TEST(BlockCholesky, SolvesAHeap) {
    constexpr int n = 6;
    const auto node = [](int x, int y, int z) { return (z * n + y) * n + x; };
    std::vector<Pair> pairs;
    for (int z = 0; z < n; ++z)
        for (int y = 0; y < n; ++y)
            for (int x = 0; x < n; ++x) {
                if (x + 1 < n) pairs.push_back({node(x, y, z), node(x + 1, y, z)});
                if (y + 1 < n) pairs.push_back({node(x, y, z), node(x, y + 1, z)});
                if (z + 1 < n) pairs.push_back({node(x, y, z), node(x, y, z + 1)});
            }
    std::mt19937 random(3);
    const BlockMatrix matrix(std::vector<int>(n * n * n, 6), pairs, random);
    BlockCholesky cholesky;
    cholesky.analyse(matrix.first, matrix.pairs);
    check(cholesky, matrix);
}

TEST(BlockCholesky, TellsThatAMatrixIsNotPositiveDefinite) {
    BlockCholesky cholesky;
    cholesky.analyse(std::vector<int>{0, 1, 2}, std::vector<Pair>{{0, 0}, {0, 1}, {1, 1}});
    EXPECT_TRUE(cholesky.factorize(std::vector<double>{2, 1, 2}));
    EXPECT_FALSE(cholesky.factorize(std::vector<double>{1, 2, 1}));
}

}  // namespace
}  // namespace limber
