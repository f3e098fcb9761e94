#pragma once
// Whether what an iteration between components has left is small enough: of the rows, of the forces between components
// and of the motion of coupled components.

#include "limber/modular/interface_matrix.hpp"
#include "limber/modular/interface_step.hpp"

namespace limber {

template <int D>
class GluingConvergence {
public:
    /// Team and matrix must outlive it. Forces are found to this fraction (Joli 2008 eq. 28).
    GluingConvergence(ComponentTeam<D>& team, InterfaceMatrix<D>& matrix, double tolerance)
        : team_(team), matrix_(matrix), tolerance_(tolerance) {}

    /// Whether a correction of the multipliers is small beside them, or nothing acts.
    bool is_correction_small(const InterfaceStep<D>& step, double correction) const;
    /// The same joint by joint, each over its own force, as it would be after the correction (Joli 2008 eq. 28).
    bool is_each_joint_settled(const InterfaceStep<D>& step, const Mechanism<D>& joints, const VecX& correction) const;
    /// Whether a residual of accelerations is small enough, before it is corrected. What would still take it out
    /// becomes the late correction.
    bool is_residual_small(InterfaceStep<D>& step, const VecX& residual);
    /// Of the forces between components, from those assumed to those of the motion.
    double find_force_change(const InterfaceStep<D>& step) const;
    bool is_force_change_small(const InterfaceStep<D>& step, double change) const;

    /// The next iteration is the first one of coupled components.
    void begin_newton() { change_ = 0; }
    /// Whether what their last iteration has left is small enough; is_slow: the next one needs new tangents.
    bool has_newton_converged(const NewtonProgress& progress, bool& is_slow);

private:
    /// Where nothing acts, forces cannot be compared with themselves.
    bool is_nothing_left(const InterfaceStep<D>& step) const;

    ComponentTeam<D>& team_;
    InterfaceMatrix<D>& matrix_;
    double tolerance_;
    double change_ = 0;  // of the last Newton iteration; 0: there was none
    VecX weakest_;
};

}  // namespace limber
