#pragma once
// An elastic element of a beam: nodes that are frames, between them a geometrically exact beam (Simo 1985) whose
// rotations are interpolated relative to one of the nodes (Crisfield and Jelenic 1999), so that rigid motion strains
// nothing. Along the arc length s, with shape functions N_k of the nodes and R_c the axes of the node chosen:
//
//   r = sum N_k r_k,   psi = sum N_k psi_k,   psi_k = log(R_c^T R_k),   R = R_c exp(psi)
//   strains in the axes of the section     gamma = R^T r' - (the same unstrained),   kappa = J(psi) psi' - ...
//   stresses      (n, m) = S (gamma, kappa) + D (gamma', kappa')dot + prestress
//   virtual work  sum over Gauss points of  w (n . dgamma + m . dkappa):
//     dgamma = R^T dr' + (R^T r') x dTheta,   dkappa = J dpsi' + J' dpsi + kappa x (J dpsi),
//     dTheta = J dpsi + exp(psi)^T R_c^T dtheta_c,   dpsi_k = Jl^-1(psi_k) R_c^T (dtheta_k - dtheta_c)
//
// One Gauss point less than nodes: exact for what the shape functions can tell, and no locking. In the plane the same
// with angles. The stiffness is the derivative of these forces by dual numbers, by place and turn of the nodes; on
// features:  dtheta = 1/2 sum e_b x de_b,  F_a = 1/2 M x e_a.

#include <array>
#include <vector>

#include "limber/kinematics/forces/applied_force.hpp"

namespace limber {

/// Stretch and shear, then curvatures: along and about the axes of the section, of which the first is along the beam.
template <int D>
inline constexpr int strain_size = D == 2 ? 3 : 6;
template <int D>
using StrainVec = Vec<strain_size<D>>;
template <int D>
using StrainMat = Mat<strain_size<D>>;

inline constexpr int max_beam_nodes = 4;

/// A place within an element where strains are known.
template <int D>
struct BeamPoint {
    double place = 0;                            ///< arc length
    double length = 0;                           ///< of beam for which it stands
    std::array<double, max_beam_nodes> shape{};  ///< N_k
    std::array<double, max_beam_nodes> slope{};  ///< dN_k / ds
    StrainVec<D> unstrained = StrainVec<D>::Zero();
    StrainMat<D> stiffness = StrainMat<D>::Zero(), damping = StrainMat<D>::Zero();
    StrainVec<D> prestress = StrainVec<D>::Zero();
};

/// Its features: of each node its point and its axes.
template <int D>
struct BeamForce final : AppliedForceOf<BeamForce<D>, D> {
    int node_count = 2;
    std::vector<BeamPoint<D>> points;
    bool has_damping = false;

    /// The node relative to which rotations are interpolated.
    int centre_node() const { return (node_count - 1) / 2; }

    void evaluate(const ForceView<D>& at, Vec<D>* out) const override;
    bool compute_blocks(const ForceView<D>& at, ForceBlocks<D>& blocks) const override;
    /// The size of the force in the section, averaged over the element.
    double compute_size(const ForceView<D>& at) const override;
    double compute_potential(const ForceView<D>& at) const override;
    void evaluate_without_potential(const ForceView<D>& at, Vec<D>* out) const override;
    int prediction_size() const override { return strain_size<D> * static_cast<int>(points.size()); }
    void predict(const ForceView<D>& at, double* prediction) const override;
    bool is_felt_by_common_motion(const std::vector<Measure<D>>&) const override { return false; }
    bool feels_all_turns() const override { return true; }

    /// Strains at one of its points, without the unstrained ones.
    StrainVec<D> find_strain(const ForceView<D>& at, const BeamPoint<D>& point) const;
    /// Forces and moments in the section there, axes of the section.
    StrainVec<D> find_stress(const ForceView<D>& at, const BeamPoint<D>& point) const;
};

}  // namespace limber
