#include "limber/contact/joint_projector.hpp"

#include <utility>

namespace limber {
namespace {

constexpr double penalty_ratio = 1e7;  // over a typical mass
constexpr double mass_floor = 1e-12;   // of massless bodies, over a typical mass
constexpr double enough = 1e-14;       // of what the rows miss, over the twists
constexpr int most_passes = 50;
constexpr int position_passes = 4;

}  // namespace

template <int D>
JointProjector<D>::JointProjector(const Mechanism<D>& m, ConstraintSet<D> rows)
    : constraints_(m, std::move(rows)),
      is_joined_(m.bodies.size(), false),
      penalty_(penalty_ratio * m.mass_scale),
      iteration_(constraints_.twist_count(), constraints_.row_count()) {
    for (const int f : constraints_.set.slot_feature)
        if (m.features[f].body >= 0) is_joined_[m.features[f].body] = true;
    zero_ = residual_ = multipliers_ = phi_ = VecX::Zero(constraints_.row_count());
    weight_ = VecX::Constant(constraints_.row_count(), penalty_);
    step_ = VecX::Zero(constraints_.twist_count());
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
    iteration_.run(weight_, enough * size, most_passes, residual_, twists, multipliers_,
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
    for (int pass = 0; pass < position_passes; ++pass) {
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
