#pragma once
// Cholesky's factors of a positive definite matrix made of blocks: nodes with a few unknowns each (bodies), coupled in
// pairs (bodies that touch).
//
// Multifrontal (Duff and Reid 1983): nodes are eliminated in an order of nested dissection (METIS). Nodes with nearly
// the same couplings go together, in one dense matrix, their front; what it leaves for later nodes is added into the
// front of the next one up the tree. So nearly all work is products of dense matrices, done by Eigen.

#include <span>
#include <utility>
#include <vector>

#include "limber/math/types.hpp"

namespace limber {

/// Scratch memory inside: one per thread.
class BlockCholesky {
public:
    /// Nodes first <= second.
    struct Pair {
        int first, second;
        bool operator==(const Pair&) const = default;
        auto operator<=>(const Pair&) const = default;
    };

    /// Node k has the unknowns first[k] .. first[k + 1]; `pairs` are those that couple, sorted, every node with itself
    /// among them.
    void analyse(std::span<const int> first, std::span<const Pair> pairs);
    /// The pairs' blocks one after the other, row by row; rows are those of the second node, columns those of the
    /// first. False if the matrix is not positive definite to working precision.
    bool factorize(std::span<const double> blocks);
    /// Solves A x = b in place.
    void solve(VecX& x);

private:
    /// Where a block of the matrix goes in a front.
    struct Entry {
        std::size_t start;
        int rows, columns;  // as stored
        int row, column;    // of the front
        bool is_transposed;
    };
    struct Front {
        int begin = 0, end = 0;                        // nodes eliminated here, by their places in the order
        std::vector<int> later;                        // nodes coupled with them
        int size = 0, pivots = 0;                      // unknowns: all, and those eliminated
        std::size_t factor_start = 0, rest_start = 0;  // of factor_ and rest_
        std::vector<Entry> entries;
        std::vector<int> children;
        std::vector<int> place_above;  // of the nodes in `later`: unknown of the parent's front
    };

    void order_nodes(std::span<const int> first, std::span<const Pair> pairs);
    void find_structure(std::span<const Pair> pairs);
    void join_fronts(std::vector<std::vector<int>>& later);
    void place_entries(std::span<const Pair> pairs);
    void place_values();
    int width(int place) const { return place_first_[place + 1] - place_first_[place]; }
    void assemble(const Front& front, std::span<const double> blocks);

    std::vector<int> node_at_, place_of_;        // order of elimination
    std::vector<int> node_first_, place_first_;  // first unknowns in the order given and in that of elimination
    std::vector<Front> fronts_;
    std::vector<double> front_, factor_,
        rest_;  // the present front; columns of L; what fronts leave for their parents, a stack
    VecX ordered_, gathered_;
};

}  // namespace limber
