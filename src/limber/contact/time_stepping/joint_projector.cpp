#include "limber/contact/time_stepping/joint_projector.hpp"

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <utility>

namespace limber {
namespace {

constexpr double joint_penalty_ratio = 1e7;  // over a typical mass
constexpr double mass_floor = 1e-12;         // of massless bodies, over a typical mass
constexpr double light = 1e-8;               // far above the floor: over a typical mass, or inertia
constexpr double thin = 1e-9;                // of an inertia, over the largest of the same body
constexpr double row_tolerance = 1e-14;      // of what the rows miss, over the twists
constexpr int max_projection_passes = 50;
constexpr int joint_position_passes = 4;

template <int D>
AngularMat<D> find_light_turns(const AngularMat<D>& inertia, double typical) {
    const Eigen::SelfAdjointEigenSolver<AngularMat<D>> eigen(inertia);
    const double least = std::max(light * typical, thin * eigen.eigenvalues().maxCoeff());
    AngularMat<D> turns = AngularMat<D>::Zero();
    for (int k = 0; k < angular_size<D>; ++k)
        if (!(eigen.eigenvalues()[k] > least))
            turns += eigen.eigenvectors().col(k) * eigen.eigenvectors().col(k).transpose();
    return turns;
}

}  // namespace

template <int D>
JointProjector<D>::JointProjector(const Mechanism<D>& m, ConstraintSet<D> rows)
    : constraints_(m, std::move(rows)),
      is_joined_(m.bodies.size(), false),
      penalty_(joint_penalty_ratio * m.mass_scale),
      iteration_(constraints_.twist_count(), constraints_.row_count()) {
    for (const int f : constraints_.set.slot_feature)
        if (m.features[f].body >= 0) is_joined_[m.features[f].body] = true;
    find_light_bodies(m);
    zero_ = residual_ = multipliers_ = phi_ = VecX::Zero(constraints_.row_count());
    weight_ = VecX::Constant(constraints_.row_count(), penalty_);
    step_ = VecX::Zero(constraints_.twist_count());
}

template <int D>
void JointProjector<D>::find_light_bodies(const Mechanism<D>& m) {
    const double inertia = m.mass_scale * m.length_scale * m.length_scale;
    for (std::size_t b = 0; b < m.bodies.size(); ++b) {
        const bool has_mass = m.bodies[b].mass > light * m.mass_scale;
        const AngularMat<D> turns = find_light_turns<D>(m.bodies[b].inertia, inertia);
        if (!has_mass || !turns.isZero(0)) light_.push_back({static_cast<int>(b), has_mass, turns});
    }
}

template <int D>
bool JointProjector<D>::is_light(int body) const {
    return is_joined(body) && std::any_of(light_.begin(), light_.end(), [&](const LightBody& other) {
               return other.body == body && !other.has_mass;
           });
}

template <int D>
bool JointProjector<D>::find_light_part(const BodyStates<D>& states, const VecX& wrenches, VecX& light) const {
    light.setZero(wrenches.size());
    for (const LightBody& own : light_) {
        if (!is_joined_[own.body]) continue;
        const auto at = static_cast<Eigen::Index>(own.body) * twist_size<D>;
        if (!own.has_mass) light.template segment<D>(at) = wrenches.template segment<D>(at);
        const AngularVec<D> torque = wrenches.template segment<angular_size<D>>(at + D);
        if constexpr (D == 2) {
            light.template segment<1>(at + D) = own.turns * torque;
        } else {
            const Mat3& axes = states[own.body].axes;
            light.template segment<3>(at + D) = axes * (own.turns * (axes.transpose() * torque));
        }
    }
    return !light.isZero(0);
}

template <int D>
bool JointProjector<D>::update(const BodyStates<D>& states, const BodyStates<D>& mass_states,
                               const std::vector<double>& memory, double t) {
    constraints_.update(states, memory, t);
    constraints_.clear_matrix();
    constraints_.add_mass(mass_states, mass_floor);
    constraints_.add_normal_matrix(penalty_);
    return constraints_.factorize();
}

template <int D>
void JointProjector<D>::project(const VecX& target, VecX& twists) {
    if (!has_joints()) return;
    constraints_.multiply_rows(twists, residual_);
    residual_ += target;
    multipliers_.setZero();
    const double size = twists.template lpNorm<Eigen::Infinity>() + target.template lpNorm<Eigen::Infinity>();
    iteration_.run(weight_, row_tolerance * size, max_projection_passes, residual_, twists, multipliers_,
                   [&](const VecX& direction, VecX& change, VecX& rows) {
                       change.setZero();
                       constraints_.add_transposed(direction, 1.0, change);
                       constraints_.solve(change);
                       constraints_.multiply_rows(change, rows);
                   });
}

template <int D>
void JointProjector<D>::respond(const VecX& target, VecX& x) {
    constraints_.solve(x);
    project(target, x);
}

// Newton's method; rows and matrix must be of the same place, since the penalty magnifies what they differ by.
template <int D>
bool JointProjector<D>::correct_positions(BodyStates<D>& states, const std::vector<double>& memory, double t) {
    constexpr int T = twist_size<D>;
    for (int pass = 0; pass < joint_position_passes; ++pass) {
        if (!update(states, states, memory, t)) return false;
        phi_ = constraints_.values.phi;
        if (!(phi_.template lpNorm<Eigen::Infinity>() > 1e-13 * constraints_.mechanism.length_scale)) break;
        step_.setZero();
        constraints_.add_transposed(phi_, -penalty_, step_);
        constraints_.solve(step_);
        for (std::size_t b = 0; b < states.size(); ++b)
            move<D>(states[b], step_.template segment<T>(static_cast<Eigen::Index>(b) * T));
    }
    return true;
}

template class JointProjector<2>;
template class JointProjector<3>;

}  // namespace limber
