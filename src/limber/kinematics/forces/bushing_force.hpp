#pragma once
// A bushing couples several measures x_i, displacements and then rotations 1/2 sum a_k x b_k (sine of the angle times
// the axis), in the axes of a:  w = -K x - C xdot,  F_a = sum_i w_i g_ia  with g_i = d x_i / df, so
//   K_ab = sum_ij g_ia (K_ij g_jb + C_ij (H_j fdot)_b)^T - sum_i w_i H_i,ab,   C_ab = sum_ij g_ia C_ij g_jb^T
// The symmetric part of K has a potential.

#include "limber/kinematics/elements/constraint_set.hpp"
#include "limber/kinematics/forces/applied_force.hpp"

namespace limber {

template <int D>
struct BushingForce final : AppliedForceOf<BushingForce<D>, D> {
    std::vector<std::vector<RowTerm>> components;  ///< each x_i is a sum of measures
    MatX stiffness, damping;

    void evaluate(const ForceView<D>& at, Vec<D>* out) const override;
    bool compute_blocks(const ForceView<D>& at, ForceBlocks<D>& blocks) const override;
    double compute_size(const ForceView<D>& at) const override;
    double compute_potential(const ForceView<D>& at) const override;
    void evaluate_without_potential(const ForceView<D>& at, Vec<D>* out) const override;
    bool is_felt_by_common_motion(const std::vector<Measure<D>>& measures) const override;
    /// Components without stiffness and damping feel nothing.
    void add_felt_features(const ForceView<D>& at, std::vector<int>& features) const override;
    void renumber(const Renumbering& to);

private:
    static constexpr int max_components = 6;
    using Components = Eigen::Matrix<double, Eigen::Dynamic, 1, 0, max_components, 1>;

    void find_displacements(const ForceView<D>& at, Components& x, Components& v) const;
    Components find_forces(const ForceView<D>& at) const;
    void add_forces(const ForceView<D>& at, const Components& w, Vec<D>* out) const;
};

}  // namespace limber
