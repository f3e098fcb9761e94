#pragma once
// Impulses of simultaneous contacts with friction in the cones of Coulomb, and of bilateral rows beside them.
//
//   u = W p + u_free                                          relative velocities after, W the Delassus operator
//   bilateral rows      u = 0
//   normal row          0 <= p_n  complementary to  u_n + bias >= 0
//   sliding rows        |p_t| <= mu p_n,   p_t = -mu p_n u_t / |u_t| where u_t is not zero
//   rolling, spinning   the same with their own coefficients (lengths), u the relative angular velocity
//
// This is Coulomb's law itself with a round cone (the bi-potential problem of De Saxce), not its convex relaxation: sliding contacts
// do not lift off. Two methods work together (both after Alart and Curnier 1991, Jean and Moreau 1992, and the survey of Acary,
// Bremond and Huber 2018):
//
//   - block Gauss-Seidel: each contact in turn is solved exactly with all others held, which suits thousands of contacts and a
//     start from the impulses of the step before;
//   - semi-smooth Newton on the projected equations, for small sets: quadratic convergence to rounding. Redundant contacts make W
//     singular; a proximal term  eps (p - p_k)  with p_0 = 0 keeps the matrix regular and leads to nearly the least impulses.
//
// Restitution (Newton): bias = e u_n(before) where the contact is approached. With friction this law can create energy; then all
// restitutions are scaled down until it does not.

#include <Eigen/LU>
#include <vector>

#include "limber/contact/delassus.hpp"

namespace limber {

/// What the impulses of one block of rows must obey.
struct ConeBlock {
    bool is_bilateral = false;
    int rows = 1;           ///< bilateral: any number; contact: 1 + those of friction
    int sliding_rows = 0;   ///< after the normal: 0, 1 (plane) or 2
    int rolling_rows = 0;   ///< after the sliding ones: 0, 1 (plane) or 2
    int spinning_rows = 0;  ///< the last: 0 or 1
    double friction = 0;
    double rolling = 0, spinning = 0;  ///< resistance: moment over normal force, a length
    double restitution = 0;            ///< Newton's coefficient

    static ConeBlock bilateral(int rows) {
        ConeBlock block;
        block.is_bilateral = true;
        block.rows = rows;
        return block;
    }
    static ConeBlock contact(int sliding_rows, double friction, double restitution = 0) {
        ConeBlock block;
        block.rows = 1 + sliding_rows;
        block.sliding_rows = sliding_rows;
        block.friction = friction;
        block.restitution = restitution;
        return block;
    }
};

struct ConeOptions {
    double tolerance = 1e-12;  ///< of the residual, relative to the velocities that come in
    int max_sweeps = 500;      ///< of Gauss-Seidel
    /// Sets with more than `newton_rows` rows are good enough after so many sweeps if the residual is below the loose tolerance.
    int enough_sweeps = 500;
    double loose_tolerance = 1e-12;
    int newton_rows = 150;  ///< Newton's method is used up to this many rows
};

struct ConeReport {
    bool converged = false;
    int sweeps = 0, newton_steps = 0;
    /// Largest defect of the conditions above, a velocity over the largest one that comes in.
    double residual = 0;
    /// By this factor restitution was reduced: no energy may appear, and redundant contacts may ask for what cannot be.
    double restitution_factor = 1;
};

/// Scratch memory inside: one per thread.
class ConeSolver {
public:
    explicit ConeSolver(const ConeOptions& options = {}) : options_(options) {}

    /// `impulse` holds a guess on entry (zeros will do) and the solution on exit; `bias` is added to the velocities of normal rows
    /// (and may be given for bilateral rows: their velocity after is -bias). `velocity` is W p + u_free.
    ConeReport solve(const DelassusMatrix& delassus, const std::vector<ConeBlock>& blocks, const VecX& free_velocity,
                     const VecX& bias, VecX& impulse, VecX& velocity);

    /// An impact: `before` are the relative velocities before it, to which restitution applies; `free_velocity` those without
    /// impulses, different from `before` if forces act meanwhile. Where `bias` is larger than what restitution asks for, it counts.
    /// Energy: p . (before + (velocity - free_velocity) / 2) must not exceed `allowance` (half the square of the change by forces
    /// in the metric of the masses; zero for a pure impact).
    ConeReport solve_impact(const DelassusMatrix& delassus, const std::vector<ConeBlock>& blocks, const VecX& before,
                            const VecX& free_velocity, const VecX& bias, double allowance, VecX& impulse,
                            VecX& velocity);

private:
    void start(const DelassusMatrix& w, const std::vector<ConeBlock>& blocks, const VecX& free_velocity,
               const VecX& bias);
    double sweep(bool backwards, VecX& p);
    double update_block(int i, VecX& p);
    void pull_into_cones(VecX& p) const;
    double compute_residual(const VecX& p, VecX& u) const;
    double measure(int i, const VecX& p, const VecX& u) const;
    void improve_by_newton(int attempt, double tolerance, VecX& p, VecX& u, ConeReport& report);
    void update_newton_defect(const VecX& p);
    void update_newton_matrix(const VecX& p);

    ConeOptions options_;
    const DelassusMatrix* w_ = nullptr;
    const std::vector<ConeBlock>* blocks_ = nullptr;
    VecX q_;     // free velocity + bias
    VecX unit_;  // of each row: W_ii of its part of the block, what turns impulses into velocities
    VecX local_;
    VecX start_, impact_bias_;
    // Newton's method: W with the proximal term, where that is centred, F and dF/dp.
    double proximal_weight_ = 0;
    MatX dense_, jacobian_;
    VecX centre_, newton_u_, defect_, step_, trial_, best_;
    Eigen::PartialPivLU<MatX> lu_;
};

}  // namespace limber
