#pragma once
// The balance of forces of a mechanism at rest, and how it changes with the positions: what Newton's method and load
// paths are made of.
//
//   F(q, p) - J^T lambda = 0,   Phi(q, t) = 0        t stands still; rows for velocities hold positions, too
//   F(q, p) = (1 - p) F_0(q) + p F_1(q) - (1 - p) h  p: the load, 1 unless a path is followed
//
// F_1 are the forces of the system, F_0 those of the same system with another load (by default the same), h a constant
// force that holds what is out of balance at p = 0. Out of balance is measured by the accelerations with which the
// mechanism would start, M a + J^T lambda = F with J a = 0: rows are met exactly whatever they carry, and light and
// heavy bodies count alike. The tangent is exact: K = -dF/dq + sum of lambda_i Phi_i,qq.

#include <memory>
#include <vector>

#include "limber/dynamics/formulation.hpp"
#include "limber/statics/constrained_matrix.hpp"

namespace limber {

/// Where a mechanism is at rest under a load.
struct StaticPoint {
    VecX q;
    std::vector<double> memory;
    double load = 1;
};

class StaticBalance {
public:
    /// The solver, of the same system, brings positions onto the constraints and releases them.
    StaticBalance(const System& system, AccelerationSolver& solver, double t);

    /// The forces at load 0 are those of another system with the same coordinates and memory.
    void load_from(const System& unloaded);
    /// Holds what is out of balance at the present point, at load 0. Moves nothing.
    void hold();

    /// Brings q onto the constraints, evaluates everything there and, if that can be done, stays there.
    bool move_to(StaticPoint point);
    /// The same for a change from a point, which is where it is. Elements that predict their stresses take those of the
    /// change for the next tangent (System::predict).
    bool move_from(StaticPoint start, const VecX& change, double load);
    bool has_predictions() const { return !prediction_.empty(); }
    const StaticPoint& point() const { return point_; }
    double t() const { return t_; }
    const System& system() const { return system_; }
    /// What starts if the mechanism is released, and the largest of it.
    const VecX& accelerations() const { return a_; }
    double unbalance() const { return unbalance_; }
    /// M a: what is out of balance.
    const VecX& force() const { return force_; }
    /// dF/dp, the part of it that the constraints do not carry.
    VecX load_rate();

    /// K + shift M with the constraints of here. False: singular to the last bit.
    bool factorize(double shift);
    /// How many freedoms have a stiffness below -shift times their inertia.
    int negative_freedoms() const { return tangent_.negative_pivots(); }
    /// Where the factorised tangent goes under a force.
    void respond(const VecX& force, VecX& change);
    /// M x
    VecX inertia_force(const VecX& x);
    /// x . M y
    double inertia_product(const VecX& x, const VecX& y);
    /// Largest stiffness of a coordinate over its inertia, of the last tangent [1/s^2].
    double stiffness_rate() const { return stiffness_rate_; }
    long factorizations() const { return factorizations_; }

private:
    bool evaluate();
    void add_load();

    const System& system_;
    AccelerationSolver& solver_;
    double t_;
    const System* unloaded_ = nullptr;
    std::unique_ptr<Evaluation> evaluation_, unloaded_evaluation_;
    ConstrainedMatrix mass_, tangent_;
    std::vector<double> part_;
    StaticPoint point_;
    std::vector<double> prediction_;
    bool is_predicted_ = false;  // the point is reached by move_from
    VecX held_, rest_, zero_rows_;
    VecX a_, lambda_, force_, scratch_, rows_;
    double unbalance_ = 0, stiffness_rate_ = 0;
    long factorizations_ = 0;
};

}  // namespace limber
