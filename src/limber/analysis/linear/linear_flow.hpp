#pragma once
// The motion beside a motion: how small changes of a state of a mechanism go on, in independent coordinates.
//
// States (q, v) with Phi(q, t) = 0 and J v + Phi_t = 0 are a surface; the equations of motion are a flow X = (v, a) on
// it. Its tangents at a state are
//
//   (R_h z, P z + R_v w)    J_h R_h = 0 (holonomic rows),  J R_v = 0 (all rows),  J P + (J v + Phi_t)_q R_h = 0
//
// with R^T M R = 1, so that z and w are mass-normalised; z are as many as positions are free, w as velocities are. The
// change of a along (dq, dv) solves
//
//   M da + J^T dlambda = -d(M a + J^T lambda - Q),    J da = -d(J a + bias)         d: at fixed a and lambda
//
// Only these residuals, smooth functions without a solution of equations in them, are differentiated by differences, of
// sixth order; so redundant rows do no harm, and velocity terms, geometric stiffness and rows for velocities are in.
//
// A steady motion is one of a frame in which nothing changes: q' = v0 + G (q - q0), v' = G v. The flow relative to the
// frame, X - (v0 + G (q - q0), G v), is zero at the state, so its linearisation does not depend on the choice of
// coordinates. Turns and slides along coordinates have G = 0; steady_frame.hpp knows the others.

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "limber/dynamics/system/system.hpp"

namespace limber {

class RowSpace;

class LinearFlow {
public:
    /// At a state, which is brought onto the constraints. Throws ModelError if that cannot be done, or if some motion
    /// has no inertia.
    LinearFlow(const System& system, double t, VecX q, VecX v, std::vector<double> memory);
    ~LinearFlow();

    const System& system() const { return system_; }
    double t() const { return t_; }
    const VecX& q() const { return q_; }
    const VecX& v() const { return v_; }
    const VecX& a() const { return a_; }
    const std::vector<double>& memory() const { return memory_; }
    int positions() const { return static_cast<int>(r_h_.cols()); }
    int velocities() const { return static_cast<int>(r_v_.cols()); }
    int states() const { return positions() + velocities(); }
    /// R_h, R_v and P.
    const MatX& free_positions() const { return r_h_; }
    const MatX& free_velocities() const { return r_v_; }
    const MatX& drift() const { return drift_; }
    /// Changes of the accelerations along each tangent.
    const MatX& accelerations() const { return da_; }

    /// Finds drift() and accelerations(). Throws ModelError if something is not smooth here.
    void differentiate();
    /// The matrix A of (z, w)' = A (z, w), relative to a frame that moves with G.
    MatX matrix(const MatX& g) const;
    /// (z, w) of changes (dq, dv) along the surface, columns beside each other.
    MatX states_of(const MatX& dq, const MatX& dv) const;
    /// Changes of q and of v along each tangent.
    MatX position_tangents() const;
    MatX velocity_tangents() const;
    /// Largest acceleration left in that frame.
    double unsteadiness(const MatX& g) const;
    /// What a change of the residual (M a + J^T lambda - Q, J a + bias) does to the accelerations.
    VecX respond(const VecX& force, const VecX& rows) const;

private:
    void close(bool with_velocities);
    void solve();
    void evaluate(const VecX& q, const VecX& v, VecX& values);
    /// Of the residuals along (dq, dv).
    VecX difference(const VecX& dq, const VecX& dv);
    MatX dense_jacobian(int rows) const;

    const System& system_;
    double t_;
    VecX q_, v_, a_, lambda_;
    std::vector<double> memory_;
    std::unique_ptr<Evaluation> evaluation_;
    std::unique_ptr<RowSpace> space_;
    MatX mass_, r_h_, r_v_, drift_, da_;
    double force_ = 0;                         // the largest of a coordinate
    double scale_ = 0;                         // of all derivatives so far
    double error_ = 0, sides_ = 0, miss_ = 0;  // what they show: see differentiate()
    VecX moved_q_, moved_v_, scratch_;
};

}  // namespace limber
