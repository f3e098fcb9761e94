#pragma once
// Spanning forest of a mechanism: every body hangs on a parent by a sequence of turns and slides; joints that are not
// in the forest close loops by their constraint rows.
//
// Joints with many rows stay in the forest (few coordinates, few closures), and among equals those that keep chains
// short. A body that no joint of the forest reaches floats: it hangs on the ground by slides and a ball (plane: a
// turn).

#include <string>
#include <vector>

#include "limber/kinematics/mechanism/mechanism.hpp"

namespace limber {

template <int D>
struct TreeNode {
    int body = -1;     ///< of the mechanism
    int parent = -1;   ///< node; -1: the ground
    int end = 0;       ///< nodes [own index, end) are its subtree
    int element = -1;  ///< joint of the mechanism; -1: floating
    int first_column = 0, column_count = 0;
    std::vector<JointMotion> motions;
    // The joint's frame on the parent (ground: in world axes) and on the body; positions from the centres of mass.
    Vec<D> parent_point = Vec<D>::Zero(), point = Vec<D>::Zero();
    Mat<D> parent_axes = Mat<D>::Identity(), axes = Mat<D>::Identity();
};

template <int D>
struct RelativeTree {
    std::vector<TreeNode<D>> nodes;  ///< parents before children, subtrees together
    std::vector<int> node_of_body;
    std::vector<bool> is_tree_element;  ///< per element of the mechanism
    int columns = 0;
    std::vector<int> ball_columns;  ///< first of the four of each ball
    std::vector<int> node_of_column;

    /// Node whose subtree is the smallest that contains both; -1: the ground.
    int common_ancestor(int a, int b) const;
};

template <int D>
RelativeTree<D> choose_tree(const Mechanism<D>& mechanism);

}  // namespace limber
