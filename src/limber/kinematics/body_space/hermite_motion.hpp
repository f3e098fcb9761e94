#pragma once
// The motion of a body between two states, from what is known at both ends:
//
//   cubic     poses and velocities:                p of degree 3, of fourth order in the step
//   quintic   poses, velocities, accelerations:    p of degree 5, of sixth order
//
// for the centre of mass p(s) and for the turn theta(s), axes = exp(theta) axes_0, with angular velocity J(theta)
// theta', J the left Jacobian of the exponential map,  J = sum_k skew(theta)^k / (k + 1)!.  The mean velocity is the
// way covered: a constant force does the work F . (p_1 - p_0), and none on what comes back to where it was.

#include <array>

#include "limber/kinematics/body_space/twist.hpp"

namespace limber {

template <int D>
class HermiteMotion {
public:
    /// Cubic over a step of length h. A turn by more than half a revolution is counted by the velocities.
    void connect(const BodyState<D>& from, const BodyState<D>& to, double h);
    /// Quintic.
    void connect(const BodyState<D>& from, const BodyState<D>& to, const TwistVec<D>& from_rate,
                 const TwistVec<D>& to_rate, double h);
    /// By which the body has turned, world axes.
    const AngularVec<D>& turn() const { return theta_; }
    /// At the part s of the step, 0 .. 1.
    void find(double s, BodyState<D>& state) const;

private:
    template <int N>
    using Coefficients = std::array<Vec<N>, 6>;

    /// Ends of the turn: theta, theta' and, if asked for, theta'' at the end.
    void find_turn(const BodyState<D>& from, const BodyState<D>& to);

    Coefficients<D> place_;
    Coefficients<angular_size<D>> turn_;
    Mat<D> axes_ = Mat<D>::Identity();
    AngularVec<D> theta_ = AngularVec<D>::Zero(), theta_rate_ = AngularVec<D>::Zero();
    double h_ = 1;
};

}  // namespace limber
