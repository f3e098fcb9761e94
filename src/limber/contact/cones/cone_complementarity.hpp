#pragma once
// Impulses of simultaneous contacts with friction in the cones of Coulomb, and of bilateral rows beside them.
//
//   u = W p + u_free                                          relative velocities after, W the Delassus operator
//   bilateral rows      u = 0
//   normal row          0 <= p_n  complementary to  u_n + bias >= 0
//   sliding rows        |p_t| <= mu p_n,   p_t = -mu p_n u_t / |u_t| where u_t is not zero
//   rolling, spinning   the same with their own coefficients (lengths), u the relative angular velocity
//
// This is Coulomb's law itself with a round cone (the bi-potential problem of De Saxce), not its convex relaxation:
// sliding contacts do not lift off. These methods work together (after Alart and Curnier 1991, Jean and Moreau 1992,
// and the survey of Acary, Bremond and Huber 2018):
//
//   - block Gauss-Seidel with conjugate gradients (cone_sweeps.hpp), which suits thousands of contacts and a start from
//     the impulses of the step before;
//   - semi-smooth Newton on the projected equations, for small sets: quadratic convergence to rounding. Redundant
//     contacts make W singular; a proximal term  eps (p - p_k)  with p_0 = 0 keeps the matrix regular and leads to
//     nearly the least impulses;
//   - an augmented Lagrangian in the space of velocities (cone_newton.hpp) where these two do not get there: stacks,
//     and hard small sets;
//   - for small sets, should all of this fail: Newton's method along a path on which friction grows, and from the
//     impulses in many-sided cones, which can always be found (cone_facets.hpp).
//
// How exact. Small sets and sets at rest are solved to the tolerance; in a set at rest every error would add up, and
// Newton's methods need few steps there. In a larger set that moves they need hundreds, for an accuracy that the next
// impact drowns: there sweeps are enough once the work of what is left of the error,  sum of p_n r  with r the residual
// of each contact, is a small part of the energy that the set loses in this step. So no error can make the energy grow,
// and what comes to rest is solved the more exactly the less it moves.
//
// Restitution (Newton): bias = e u_n(before) where the contact is approached. With friction this law can create energy;
// then all restitutions are scaled down until it does not.

#include <Eigen/LU>
#include <vector>

#include "limber/contact/cones/cone_block.hpp"
#include "limber/contact/cones/cone_facets.hpp"
#include "limber/contact/cones/cone_newton.hpp"
#include "limber/contact/cones/cone_sweeps.hpp"
#include "limber/contact/cones/delassus.hpp"

namespace limber {

struct ConeOptions {
    double tolerance = 1e-12;       ///< of the residual, relative to the velocities that come in
    double absolute_tolerance = 0;  ///< a residual, as a velocity, that is always good enough
    int max_sweeps = 500;           ///< of Gauss-Seidel
    int newton_rows = 150;          ///< Newton's method over impulses is used up to this many rows: small sets
    int newton_bodies = 300;        ///< Newton's method over velocities up to this many bodies; at rest always
    /// Of impacts of larger sets that move: the residual, relative as above, from which on the energy decides, and the
    /// sweeps after which a tenth of that will do if the error is worth less than half of the energy lost.
    double loose_tolerance = 1e-12;
    int enough_sweeps = 500;
};

struct ConeReport {
    bool converged = false;  ///< to the tolerance
    int sweeps = 0, newton_steps = 0;
    /// Largest defect of the conditions above, a velocity over the largest one that comes in.
    double residual = 0;
    double defect = 0;  ///< the same, as a velocity
    int worst = -1;     ///< the block that has it
    /// What the defects can do to the energy, at most about.
    double error_energy = 0;
    /// By this factor restitution was reduced: no energy may appear, and redundant contacts may ask for what cannot be.
    double restitution_factor = 1;
};

/// Scratch memory inside: one per thread.
class ConeSolver {
public:
    explicit ConeSolver(const ConeOptions& options = {}) : options_(options) {}

    /// `impulse` holds a guess on entry (zeros will do) and the solution on exit; `bias` is added to the velocities of
    /// normal rows (and may be given for bilateral rows: their velocity after is -bias). `velocity` is W p + u_free.
    ConeReport solve(const DelassusMatrix& delassus, const std::vector<ConeBlock>& blocks, const VecX& free_velocity,
                     const VecX& bias, VecX& impulse, VecX& velocity);

    /// An impact: `before` are the relative velocities before it, to which restitution applies; `free_velocity` those
    /// without impulses, different from `before` if forces act meanwhile. Where `bias` is larger than what restitution
    /// asks for, it counts. Energy: p . (working + (velocity - free_velocity) / 2) must not exceed `allowance`.
    /// `working` are the velocities at which impulses work: those before, unless something else changes them meanwhile.
    /// The allowance is half the square of the change by forces in the metric of the masses; zero for a pure impact.
    ConeReport solve_impact(const DelassusMatrix& delassus, const std::vector<ConeBlock>& blocks, const VecX& before,
                            const VecX& working, const VecX& free_velocity, const VecX& bias, double allowance,
                            VecX& impulse, VecX& velocity);

private:
    /// What is known of an impact: how much energy it loses, and whether anything moved before.
    struct Impact {
        const VecX& working;
        double allowance;
        bool is_resting;
    };

    void start(const DelassusMatrix& w, const std::vector<ConeBlock>& blocks, const VecX& free_velocity,
               const VecX& bias);
    ConeReport solve_set(const DelassusMatrix& delassus, const std::vector<ConeBlock>& blocks,
                         const VecX& free_velocity, const VecX& bias, const Impact* impact, VecX& impulse,
                         VecX& velocity);
    double compute_lost_energy(const Impact& impact, const VecX& p, const VecX& u) const;
    void pull_into_cones(VecX& p) const;
    double compute_residual(const VecX& p, VecX& u);
    double measure(int i, const VecX& p, const VecX& u) const;
    void improve(int attempt, bool is_small, double goal, VecX& p, VecX& u, ConeReport& report);
    void improve_by_newton(int attempt, double tolerance, VecX& p, VecX& u, ConeReport& report);
    void improve_by_continuation(int steps, double tolerance, VecX& p, VecX& u, ConeReport& report);
    void improve_from_facets(double tolerance, VecX& p, VecX& u, ConeReport& report);
    void take_if_better(const VecX& other, VecX& p, VecX& u, ConeReport& report);
    void improve_in_velocities(double tolerance, VecX& p, VecX& u, ConeReport& report);
    void update_newton_defect(const VecX& p);
    void update_newton_matrix(const VecX& p);

    ConeOptions options_;
    ConeSweeps sweeps_;
    ConeNewton newton_;
    ConeFacets facets_;
    const DelassusMatrix* w_ = nullptr;
    const std::vector<ConeBlock>* blocks_ = nullptr;
    VecX q_;                   // free velocity + bias
    VecX unit_;                // of each row: W_ii of its part of the block, what turns impulses into velocities
    double error_energy_ = 0;  // of the impulses measured last
    int worst_ = -1;           // of their blocks
    VecX start_, guess_, impact_bias_;
    std::vector<ConeBlock> weakened_;  // with the part of friction that a path has come to
    VecX path_;
    // Newton's method: W with the proximal term, where that is centred, F and dF/dp.
    double proximal_weight_ = 0;
    MatX dense_, jacobian_;
    VecX centre_, newton_u_, defect_, step_, trial_, best_;
    Eigen::PartialPivLU<MatX> lu_;
};

}  // namespace limber
