#include "limber/math/block_cholesky.hpp"

#include <metis.h>

#include <Eigen/Cholesky>
#include <algorithm>

#include "limber/math/metis_lock.hpp"

namespace limber {
namespace {

// Fronts are joined if no more than this part of the joined one is zeros: larger products outweigh them.
constexpr double zeros_allowed = 0.25;

using FrontMatrix = Eigen::Map<MatX>;
using ConstFrontMatrix = Eigen::Map<const MatX>;

/// Nodes coupled with each node, in compressed rows.
struct Graph {
    std::vector<idx_t> start, neighbour;

    Graph(int nodes, std::span<const BlockCholesky::Pair> pairs) : start(nodes + 1, 0) {
        for (const auto& [a, b] : pairs) {
            if (a == b) continue;
            ++start[a + 1];
            ++start[b + 1];
        }
        for (int k = 0; k < nodes; ++k) start[k + 1] += start[k];
        neighbour.resize(start.back());
        std::vector<idx_t> next(start.begin(), start.end() - 1);
        for (const auto& [a, b] : pairs) {
            if (a == b) continue;
            neighbour[next[a]++] = b;
            neighbour[next[b]++] = a;
        }
    }
};

/// Parents in the tree of elimination (Liu 1986); -1: none.
std::vector<int> find_parents(const Graph& graph, const std::vector<int>& node_at, const std::vector<int>& place_of) {
    const int count = static_cast<int>(node_at.size());
    std::vector<int> parent(count, -1);
    std::vector<int> top(count, -1);
    for (int k = 0; k < count; ++k)
        for (idx_t e = graph.start[node_at[k]]; e < graph.start[node_at[k] + 1]; ++e) {
            int i = place_of[graph.neighbour[e]];
            while (i < k && i >= 0) {
                const int next = top[i];
                top[i] = k;
                if (next == k) break;
                if (next < 0) parent[i] = k;
                i = next;
            }
        }
    return parent;
}

/// Children before their parents, and every subtree in one piece.
std::vector<int> order_by_tree(const std::vector<int>& parent) {
    const int count = static_cast<int>(parent.size());
    std::vector<int> child(count, -1);
    std::vector<int> sibling(count, -1);
    std::vector<int> open;
    for (int k = count - 1; k >= 0; --k) {
        if (parent[k] < 0) continue;
        sibling[k] = child[parent[k]];
        child[parent[k]] = k;
    }
    std::vector<int> order;
    order.reserve(count);
    for (int root = 0; root < count; ++root) {
        if (parent[root] >= 0) continue;
        open.push_back(root);
        while (!open.empty()) {
            const int k = open.back();
            if (child[k] >= 0) {
                open.push_back(child[k]);
                child[k] = sibling[child[k]];
            } else {
                order.push_back(k);
                open.pop_back();
            }
        }
    }
    return order;
}

}  // namespace

// ---------------------------------------------------------------- structure

void BlockCholesky::analyse(std::span<const int> first, std::span<const Pair> pairs) {
    order_nodes(first, pairs);
    find_structure(pairs);
    place_entries(pairs);
    place_values();
}

void BlockCholesky::order_nodes(std::span<const int> first, std::span<const Pair> pairs) {
    node_first_.assign(first.begin(), first.end());
    idx_t count = static_cast<idx_t>(first.size()) - 1;
    Graph graph(count, pairs);
    node_at_.resize(count);
    place_of_.resize(count);
    for (int k = 0; k < count; ++k) node_at_[k] = place_of_[k] = k;
    if (!graph.neighbour.empty()) {
        idx_t settings[METIS_NOPTIONS];
        METIS_SetDefaultOptions(settings);
        settings[METIS_OPTION_SEED] = 1;
        std::vector<idx_t> at(count);
        std::vector<idx_t> place(count);
        const auto lock = lock_metis();
        // If it fails the order stays as given, which is right too, only slower.
        if (METIS_NodeND(&count, graph.start.data(), graph.neighbour.data(), nullptr, settings, at.data(),
                         place.data()) == METIS_OK) {
            node_at_.assign(at.begin(), at.end());
            place_of_.assign(place.begin(), place.end());
        }
    }
    const std::vector<int> order = order_by_tree(find_parents(graph, node_at_, place_of_));
    std::vector<int> node_at(count);
    for (int k = 0; k < count; ++k) node_at[k] = node_at_[order[k]];
    node_at_ = std::move(node_at);
    place_first_.assign(1, 0);
    for (int k = 0; k < count; ++k) {
        place_of_[node_at_[k]] = k;
        place_first_.push_back(place_first_.back() + first[node_at_[k] + 1] - first[node_at_[k]]);
    }
}

// Later nodes that each node is coupled with when its turn comes: those of the matrix and those of its children.
void BlockCholesky::find_structure(std::span<const Pair> pairs) {
    const int count = static_cast<int>(node_at_.size());
    std::vector<std::vector<int>> later(count);
    for (const auto& [a, b] : pairs) {
        const auto [low, high] = std::minmax(place_of_[a], place_of_[b]);
        if (low < high) later[low].push_back(high);
    }
    for (int k = 0; k < count; ++k) {
        std::sort(later[k].begin(), later[k].end());
        later[k].erase(std::unique(later[k].begin(), later[k].end()), later[k].end());
        if (later[k].empty()) continue;
        std::vector<int>& above = later[later[k].front()];
        above.insert(above.end(), later[k].begin() + 1, later[k].end());
    }
    join_fronts(later);
}

void BlockCholesky::join_fronts(std::vector<std::vector<int>>& later) {
    const auto unknowns = [&](const std::vector<int>& places) {
        double sum = 0;
        for (const int k : places) sum += width(k);
        return sum;
    };
    fronts_.clear();
    std::vector<double> entries;  // of the fronts' columns, without zeros that joining has brought
    for (int k = 0; k < static_cast<int>(later.size()); ++k) {
        Front front;
        front.begin = k;
        front.end = k + 1;
        front.later = std::move(later[k]);
        const double rest = unknowns(front.later);
        double own = width(k) * (width(k) + rest);
        // The front before is the last child, if a child at all.
        while (!fronts_.empty() && !fronts_.back().later.empty() && fronts_.back().later.front() < front.end &&
               fronts_.back().later.front() >= front.begin) {
            const double pivots = place_first_[k + 1] - place_first_[fronts_.back().begin];
            if (own + entries.back() < (1 - zeros_allowed) * pivots * (pivots + rest)) break;
            own += entries.back();
            front.begin = fronts_.back().begin;
            fronts_.pop_back();
            entries.pop_back();
        }
        fronts_.push_back(std::move(front));
        entries.push_back(own);
    }
    std::vector<int> front_of(later.size());
    for (int f = 0; f < static_cast<int>(fronts_.size()); ++f) {
        Front& front = fronts_[f];
        front.pivots = place_first_[front.end] - place_first_[front.begin];
        front.size = front.pivots + static_cast<int>(unknowns(front.later));
        for (int k = front.begin; k < front.end; ++k) front_of[k] = f;
    }
    for (int f = 0; f < static_cast<int>(fronts_.size()); ++f)
        if (!fronts_[f].later.empty()) fronts_[front_of[fronts_[f].later.front()]].children.push_back(f);
}

// Within each front: where blocks of the matrix go, and what its children leave.
void BlockCholesky::place_entries(std::span<const Pair> pairs) {
    const int count = static_cast<int>(node_at_.size());
    std::vector<std::vector<int>> of_column(count);  // pairs whose earlier node this is
    std::vector<std::size_t> start(1, 0);
    for (int p = 0; p < static_cast<int>(pairs.size()); ++p) {
        const int a = place_of_[pairs[p].first];
        const int b = place_of_[pairs[p].second];
        of_column[std::min(a, b)].push_back(p);
        start.push_back(start.back() + static_cast<std::size_t>(width(a)) * width(b));
    }
    std::vector<int> local(count, 0);  // first unknown of a node in the present front
    for (Front& front : fronts_) {
        for (int k = front.begin; k < front.end; ++k) local[k] = place_first_[k] - place_first_[front.begin];
        int next = front.pivots;
        for (const int k : front.later) {
            local[k] = next;
            next += width(k);
        }
        for (int k = front.begin; k < front.end; ++k)
            for (const int p : of_column[k]) {
                const int a = place_of_[pairs[p].first];
                const int b = place_of_[pairs[p].second];
                front.entries.push_back(
                    {start[p], width(b), width(a), local[std::max(a, b)], local[std::min(a, b)], a > b});
            }
        for (const int c : front.children)
            for (const int k : fronts_[c].later) fronts_[c].place_above.push_back(local[k]);
    }
}

// Places of the columns of L, and of what fronts leave: a parent takes all its children off the top of the stack.
void BlockCholesky::place_values() {
    std::size_t factor = 0;
    std::size_t top = 0;
    std::size_t highest = 0;
    std::size_t largest = 0;
    for (Front& front : fronts_) {
        const auto size = static_cast<std::size_t>(front.size);
        const std::size_t rest = size - front.pivots;
        if (!front.children.empty()) top = fronts_[front.children.front()].rest_start;
        front.factor_start = factor;
        front.rest_start = top;
        factor += size * front.pivots;
        top += rest * rest;
        highest = std::max(highest, top);
        largest = std::max(largest, size);
    }
    factor_.resize(factor);
    rest_.resize(highest);
    front_.resize(largest * largest);
    ordered_.resize(place_first_.back());
    gathered_.resize(static_cast<Eigen::Index>(largest));
}

// ---------------------------------------------------------------- numbers

void BlockCholesky::assemble(const Front& front, std::span<const double> blocks) {
    using Block = Eigen::Map<const Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>;
    FrontMatrix matrix(front_.data(), front.size, front.size);
    matrix.setZero();
    for (const Entry& e : front.entries) {
        const Block block(&blocks[e.start], e.rows, e.columns);
        if (e.is_transposed) {
            matrix.block(e.row, e.column, e.columns, e.rows) = block.transpose();
        } else {
            matrix.block(e.row, e.column, e.rows, e.columns) = block;
        }
    }
    for (const int c : front.children) {
        const Front& child = fronts_[c];
        const int left = child.size - child.pivots;
        const ConstFrontMatrix rest(&rest_[child.rest_start], left, left);
        int column = 0;
        for (std::size_t j = 0; j < child.later.size(); ++j) {
            const int columns = width(child.later[j]);
            int row = column;
            for (std::size_t i = j; i < child.later.size(); ++i) {
                const int rows = width(child.later[i]);
                matrix.block(child.place_above[i], child.place_above[j], rows, columns) +=
                    rest.block(row, column, rows, columns);
                row += rows;
            }
            column += columns;
        }
    }
}

bool BlockCholesky::factorize(std::span<const double> blocks) {
    for (const Front& front : fronts_) {
        assemble(front, blocks);
        FrontMatrix matrix(front_.data(), front.size, front.size);
        const int left = front.size - front.pivots;
        Eigen::Ref<MatX> corner(matrix.topLeftCorner(front.pivots, front.pivots));
        const Eigen::LLT<Eigen::Ref<MatX>> pivots(corner);  // in place
        if (pivots.info() != Eigen::Success) return false;
        if (left > 0) {
            auto below = matrix.bottomLeftCorner(left, front.pivots);
            auto rest = matrix.bottomRightCorner(left, left);
            pivots.matrixL().transpose().solveInPlace<Eigen::OnTheRight>(below);
            rest.selfadjointView<Eigen::Lower>().rankUpdate(below, -1);
            FrontMatrix(&rest_[front.rest_start], left, left).triangularView<Eigen::Lower>() = rest;
        }
        FrontMatrix(&factor_[front.factor_start], front.size, front.pivots) = matrix.leftCols(front.pivots);
    }
    return true;
}

void BlockCholesky::solve(VecX& x) {
    const int count = static_cast<int>(node_at_.size());
    for (int k = 0; k < count; ++k)
        ordered_.segment(place_first_[k], width(k)) = x.segment(node_first_[node_at_[k]], width(k));
    for (const Front& front : fronts_) {
        const ConstFrontMatrix factor(&factor_[front.factor_start], front.size, front.pivots);
        auto own = ordered_.segment(place_first_[front.begin], front.pivots);
        factor.topRows(front.pivots).triangularView<Eigen::Lower>().solveInPlace(own);
        auto passed_on = gathered_.head(front.size - front.pivots);
        passed_on.noalias() = factor.bottomRows(passed_on.size()) * own;
        for (int next = 0; const int k : front.later) {
            ordered_.segment(place_first_[k], width(k)) -= passed_on.segment(next, width(k));
            next += width(k);
        }
    }
    for (auto front = fronts_.rbegin(); front != fronts_.rend(); ++front) {
        const ConstFrontMatrix factor(&factor_[front->factor_start], front->size, front->pivots);
        auto own = ordered_.segment(place_first_[front->begin], front->pivots);
        auto taken = gathered_.head(front->size - front->pivots);
        for (int next = 0; const int k : front->later) {
            taken.segment(next, width(k)) = ordered_.segment(place_first_[k], width(k));
            next += width(k);
        }
        own.noalias() -= factor.bottomRows(taken.size()).transpose() * taken;
        factor.topRows(front->pivots).transpose().triangularView<Eigen::Upper>().solveInPlace(own);
    }
    for (int k = 0; k < count; ++k)
        x.segment(node_first_[node_at_[k]], width(k)) = ordered_.segment(place_first_[k], width(k));
}

}  // namespace limber
