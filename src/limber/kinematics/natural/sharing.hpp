#pragma once
// Choice of natural coordinates (Garcia de Jalon and Bayo 1994): which points and unit vectors describe each body,
// and which of them are shared between bodies so that the joint between them needs no equations at all.
//
// Nodes are points or vectors. A body is described by a basis of nodes:
//   point   1 point                          a point mass nothing turns
//   bar     2 points                         space only: all mass and all features on one line
//   frame   a point and D-1 .. D others      2 nodes in the plane, 4 in space, points or vectors
// Features that a joint makes equal become one node wherever both bodies can use it in their bases. Nodes shared
// with the ground are fixed: they cost no coordinates.

#include <array>
#include <string>
#include <vector>

#include "limber/kinematics/mechanism/mechanism.hpp"

namespace limber {

template <int D>
struct NaturalNode {
    bool is_point = true;
    bool is_fixed = false;
    Vec<D> reference = Vec<D>::Zero();  ///< at the reference configuration; the value, if fixed
    std::vector<int> bodies;            ///< whose basis it belongs to
};

enum class BasisKind { point, bar, frame };

template <int D>
struct NaturalBasis {
    BasisKind kind = BasisKind::frame;
    int count = 0;
    std::array<int, 4> node{-1, -1, -1, -1};  ///< the first is a point: the origin
    std::array<Vec<D>, 4> local;              ///< of the nodes, from the centre of mass in body axes
};

template <int D>
struct NaturalLayout {
    std::vector<NaturalNode<D>> nodes;
    std::vector<NaturalBasis<D>> basis;  ///< per body
    std::vector<int> feature_node;       ///< per feature: the node it is, or -1 (also for ground features)
};

template <int D>
NaturalLayout<D> choose_natural_layout(const Mechanism<D>& mechanism);

}  // namespace limber
