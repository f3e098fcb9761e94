#pragma once
// Articulated-body method in relative coordinates: accelerations of trees in time proportional to the number of bodies.
//
// Loop closures by a solve in the space of the constraints:
//   (J M^-1 J^T) lambda = J M^-1 Q + g,     a = M^-1 (Q - J^T lambda),     g = bias + gains
// where each product with M^-1 is a sweep over the tree. The matrix is regularised and refined like that of baumgarte, so
// redundant closures give the smallest multipliers.
//
// Massless links have no M^-1 of their own: M + E with a small E is used, and the equations M a + J^T lambda = Q are refined against it.

#include "limber/dynamics/formulation.hpp"

namespace limber {

/// The system must be in relative coordinates.
std::unique_ptr<AccelerationSolver> make_articulated_body_solver(std::shared_ptr<const System> system,
                                                                 const FormulationOptions& options);

}  // namespace limber
