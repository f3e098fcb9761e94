#pragma once
// What a relative system computes at one configuration. Internal to the room.

#include "limber/dynamics/system/relative_system.hpp"

namespace limber {

/// Of a subtree about the centre of mass of its first body, see accumulate_momenta.
template <int D>
struct Momenta {
    Vec<D> rate = Vec<D>::Zero(), second = Vec<D>::Zero();
    Mat<D> rate_dyad = Mat<D>::Zero(), second_dyad = Mat<D>::Zero();
};

template <int D>
struct ColumnMix {
    Vec<D> with_p = Vec<D>::Zero();
    AngularVec<D> with_l = AngularVec<D>::Zero(), with_x = AngularVec<D>::Zero();
};

template <int D>
struct RelativeSystem<D>::Scratch final : Evaluation {
    RelativeMotion<D> motion;
    VecX motion_q;  // where the motion was evaluated
    FeatureState<D> features;
    RowValues<D> row_values;
    std::vector<Vec<D>> slot_force;
    ForceBlocks<D> blocks;
    std::vector<TwistVec<D>> wrench;  // per node
    // Per node, of its subtree about its centre of mass.
    std::vector<double> mass;
    std::vector<Vec<D>> first_moment;
    std::vector<AngularMat<D>> inertia;
    // Per node: sum of all gradients and of arm x gradient^T (dyads) of the subtree.
    std::vector<Vec<D>> load;
    std::vector<Mat<D>> dyad;
    // The same with elements that act within a subtree, for balls.
    std::vector<Vec<D>> ball_load;
    std::vector<Mat<D>> ball_dyad;
    std::vector<Momenta<D>> momenta;                  // per node
    std::vector<ColumnMix<D>> mix;                    // per column
    std::vector<MatX> jacobian_of, rate_jacobian_of;  // of the slots of one element
};

}  // namespace limber
