#include "limber/kinematics/body_space/hermite_motion.hpp"

#include <cmath>

#include "limber/math/rotation.hpp"

namespace limber {
namespace {

/// J(theta), and its rate where theta has the rate given.
void find_left_jacobian(const Vec3& theta, const Vec3& rate, Mat3& jacobian, Mat3& jacobian_rate) {
    const Mat3 s = skew(theta);
    const Mat3 s_rate = skew(rate);
    Mat3 power = Mat3::Identity();  // skew(theta)^k / (k + 1)!
    Mat3 power_rate = Mat3::Zero();
    jacobian = power;
    jacobian_rate.setZero();
    for (int k = 1; k < 60; ++k) {
        power_rate = (s_rate * power + s * power_rate) / (k + 1);
        power = s * power / (k + 1);
        jacobian += power;
        jacobian_rate += power_rate;
        if (power.cwiseAbs().maxCoeff() < 1e-17) break;
    }
}

template <int N>
void fit_cubic(const Vec<N>& way, const Vec<N>& first, const Vec<N>& last, std::array<Vec<N>, 6>& c) {
    c[1] = first;
    c[2] = 3 * way - 2 * first - last;
    c[3] = first + last - 2 * way;
    c[4] = c[5] = Vec<N>::Zero();
}

template <int N>
void fit_quintic(const Vec<N>& way, const Vec<N>& first, const Vec<N>& last, const Vec<N>& a, const Vec<N>& b,
                 std::array<Vec<N>, 6>& c) {
    c[1] = first;
    c[2] = 0.5 * a;
    c[3] = 10 * way - 6 * first - 4 * last - 1.5 * a + 0.5 * b;
    c[4] = -15 * way + 8 * first + 7 * last + 1.5 * a - b;
    c[5] = 6 * way - 3 * first - 3 * last - 0.5 * a + 0.5 * b;
}

template <int N>
void evaluate(const std::array<Vec<N>, 6>& c, double s, Vec<N>& value, Vec<N>& slope) {
    value = c[5];
    slope = Vec<N>::Zero();
    for (int k = 4; k >= 0; --k) {
        slope = slope * s + value;
        value = value * s + c[k];
    }
}

/// The angle nearest to the expected one that is the same turn.
double count_turns(double angle, double expected) {
    return angle + 2 * pi * std::round((expected - angle) / (2 * pi));
}

}  // namespace

template <int D>
void HermiteMotion<D>::find_turn(const BodyState<D>& from, const BodyState<D>& to) {
    const AngularVec<D> expected = 0.5 * h_ * (from.angular_velocity + to.angular_velocity);
    const Mat<D> turned = to.axes * from.axes.transpose();
    if constexpr (D == 2) {
        theta_[0] = count_turns(std::atan2(turned(1, 0) - turned(0, 1), turned.trace()), expected[0]);
        theta_rate_ = h_ * to.angular_velocity;
    } else {
        // A small turn by its sine, which is exact there.
        const Vec3 sine =
            0.5 * Vec3(turned(2, 1) - turned(1, 2), turned(0, 2) - turned(2, 0), turned(1, 0) - turned(0, 1));
        const double size = sine.norm();
        const double cosine = 0.5 * (turned.trace() - 1);
        if (cosine > 0) {
            const double angle = std::atan2(size, cosine);
            theta_ = size > 1e-8 ? Vec3(angle / size * sine) : sine;
        } else {
            const Eigen::AngleAxisd turn(nearest_rotation(turned));
            theta_ = turn.angle() * turn.axis();
        }
        const double angle = theta_.norm();
        if (angle > 1) theta_ *= count_turns(angle, expected.dot(theta_) / angle) / angle;
        Mat3 jacobian;
        Mat3 unused;
        find_left_jacobian(theta_, Vec3::Zero(), jacobian, unused);
        theta_rate_ = h_ * jacobian.partialPivLu().solve(to.angular_velocity);
    }
}

template <int D>
void HermiteMotion<D>::connect(const BodyState<D>& from, const BodyState<D>& to, double h) {
    h_ = h;
    axes_ = from.axes;
    find_turn(from, to);
    place_[0] = from.position;
    turn_[0].setZero();
    fit_cubic<D>(to.position - from.position, h * from.velocity, h * to.velocity, place_);
    fit_cubic<angular_size<D>>(theta_, h * from.angular_velocity, theta_rate_, turn_);
}

template <int D>
void HermiteMotion<D>::connect(const BodyState<D>& from, const BodyState<D>& to, const TwistVec<D>& from_rate,
                               const TwistVec<D>& to_rate, double h) {
    constexpr int A = angular_size<D>;
    h_ = h;
    axes_ = from.axes;
    find_turn(from, to);
    place_[0] = from.position;
    turn_[0].setZero();
    fit_quintic<D>(to.position - from.position, h * from.velocity, h * to.velocity,
                   h * h * from_rate.template head<D>(), h * h * to_rate.template head<D>(), place_);
    // At the start theta = 0 and theta'' is the angular acceleration; at the end  J theta'' = alpha - J' theta'.
    AngularVec<D> bend = h * h * to_rate.template tail<A>();
    if constexpr (D == 3) {
        Mat3 jacobian;
        Mat3 jacobian_rate;
        find_left_jacobian(theta_, theta_rate_, jacobian, jacobian_rate);
        bend = jacobian.partialPivLu().solve(Vec3(bend - jacobian_rate * theta_rate_));
    }
    fit_quintic<A>(theta_, h * from.angular_velocity, theta_rate_, h * h * from_rate.template tail<A>(), bend, turn_);
}

template <int D>
void HermiteMotion<D>::find(double s, BodyState<D>& state) const {
    Vec<D> slope;
    evaluate<D>(place_, s, state.position, slope);
    state.velocity = slope / h_;
    AngularVec<D> theta;
    AngularVec<D> rate;
    evaluate<angular_size<D>>(turn_, s, theta, rate);
    if constexpr (D == 2) {
        state.axes = rotation2(theta[0]) * axes_;
        state.angular_velocity = rate / h_;
    } else {
        Mat3 jacobian;
        Mat3 unused;
        find_left_jacobian(theta, Vec3::Zero(), jacobian, unused);
        state.axes = exp_rotation(theta).toRotationMatrix() * axes_;
        state.angular_velocity = jacobian * rate / h_;
    }
}

template class HermiteMotion<2>;
template class HermiteMotion<3>;

}  // namespace limber
