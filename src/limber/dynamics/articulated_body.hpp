#pragma once
// Articulated-body method in relative coordinates: accelerations of trees in time proportional to the number of bodies.
//
// Loop closures by a solve in the space of the constraints:
//   (J M^-1 J^T) lambda = J M^-1 Q + g,     a = M^-1 (Q - J^T lambda),     g = bias + gains
// where each product with M^-1 is a sweep over the tree. The way up is made once for every closure, along its branches
// only, and gives the matrix by dot products (see articulated_inertia.hpp). The matrix is regularised and refined like
// that of baumgarte, so redundant closures give the smallest multipliers; where closures are open, those that depend on
// others are left out instead.
//
// Massless links have no M^-1 of their own: M + E is factorised, with an inertia E for their coordinates like that of a
// real link, so that ranks and pivots are those of a real mechanism. The solution x for M itself obeys x = P (Q + E x),
// P being the solution operator for M + E and the closures. I - P E is symmetric and positive definite in the metric of
// E, its spectrum lies between 0 and 1, and conjugate gradients find x in a few passes, one per massless coordinate at
// most.

#include "limber/dynamics/configuration.hpp"
#include "limber/dynamics/formulation.hpp"
#include "limber/dynamics/system/relative_system.hpp"
#include "limber/kinematics/relative/articulated_inertia.hpp"
#include "limber/math/linear_solver.hpp"
#include "limber/math/multiplier_iteration.hpp"

namespace limber {

template <int D>
class ArticulatedBodySolver : public AccelerationSolver {
public:
    /// The system must be in relative coordinates.
    ArticulatedBodySolver(std::shared_ptr<const System> system, const FormulationOptions& options);

    bool solve(double t, const VecX& q, const VecX& v, std::span<const double> memory, VecX& a, VecX& lambda) override;
    bool project(double t, VecX& q, VecX& v, std::span<const double> memory) override;
    bool project_step(const VecX& start, double t, double h, VecX& q, VecX& v, std::span<const double> memory) override;

protected:
    /// Positions, inertias and closures, unless they are those of the last call. Closures that depend on others where
    /// nothing is open may be left out where something is. False: see failure().
    bool factorize_at(double t, const VecX& q, std::span<const double> memory, bool with_dependent = false);
    /// M x + J^T y = f and J x + rhs = 0 with the inertias last factorised. The value of x on entry counts only where
    /// there is no mass.
    void solve_constrained(const VecX& f, const VecX& rhs, const VecX& q, VecX& x, VecX& y);
    const RelativeSystem<D>& relative() const { return relative_; }
    int closure_rows() const { return rows_; }

private:
    void find_branches();
    bool factorize_closures(bool with_dependent);
    /// M^-1 J^T times multipliers of the closures.
    void respond(const VecX& multipliers, VecX& response);
    void normalise(VecX& q) const;
    VecX find_floor() const;
    /// x <- P f, y <- multipliers, with M + E (see above).
    void solve_with_floor(const VecX& f, const VecX& rhs, const VecX& q, VecX& x, VecX& y);
    /// From the solution for M + E to that for M.
    void take_floor_away(const VecX& q, VecX& x, VecX& y);
    std::vector<double> find_ball_inertia() const;
    double dot_row(int row, const VecX& x) const;
    /// x <- x - M^-1 J^T y with y such that J x + rhs = 0; lambda += y.
    void close_loops(const VecX& rhs, VecX& x, VecX& lambda);
    void remove(const VecX& violation, VecX& x);
    /// Closes the loops by the inertias last factorised; returns what is left of them.
    double correct_closures(double t, VecX& q, std::span<const double> memory);
    bool project_velocities(double t, const VecX& q, VecX& v, std::span<const double> memory);

    const RelativeSystem<D>& relative_;
    const RelativeTree<D>& tree_;
    int balls_;
    int rows_;  // without those of Euler parameters
    std::vector<double> ball_inertia_;
    VecX floor_;
    bool is_massless_;
    ArticulatedInertia<D> inertia_;
    Configuration factorized_at_;
    std::vector<TreeBranch> branches_;  // of the closures
    std::vector<int> lifted_start_;
    std::vector<double> lifted_;  // the way up of every closure, in the columns of its branch
    SymmetricPattern pattern_;    // of J M^-1 J^T
    std::vector<double> matrix_, pivot_floor_;
    std::unique_ptr<LinearSolver> linear_;
    MultiplierIteration iteration_;
    VecX weight_;     // of the rows; one over what their matrix is regularised with
    VecX scattered_;  // zero between calls
    VecX floor_force_, change_, response_, violation_, residual_, multipliers_, scratch_lambda_, unprojected_;
    VecX floor_rest_, floor_direction_, floor_answer_, floor_multipliers_, no_rows_;  // of conjugate gradients
};

/// The system must be in relative coordinates.
std::unique_ptr<AccelerationSolver> make_articulated_body_solver(std::shared_ptr<const System> system,
                                                                 const FormulationOptions& options);

}  // namespace limber
