#include "limber/contact/joint_projector.hpp"

namespace limber {
namespace {

constexpr double penalty_ratio = 1e7;  // over the masses
constexpr int max_passes = 12;
constexpr int position_passes = 4;

}  // namespace

template <int D>
JointProjector<D>::JointProjector(const Mechanism<D>& m)
    : constraints_(m, m.constraints), is_joined_(m.bodies.size(), false), penalty_(penalty_ratio * m.mass_scale) {
    for (const int f : constraints_.set.slot_feature)
        if (m.features[f].body >= 0) is_joined_[m.features[f].body] = true;
    zero_ = rows_ = phi_ = VecX::Zero(constraints_.row_count());
    step_ = VecX::Zero(constraints_.twist_count());
}

template <int D>
bool JointProjector<D>::update(const BodyStates<D>& states, const BodyStates<D>& mass_states,
                               const std::vector<double>& memory, double t) {
    if (!has_joints()) return true;
    constraints_.update(states, memory, t);
    constraints_.clear_matrix();
    constraints_.add_mass(mass_states, 1e-9);
    constraints_.add_normal_matrix(penalty_);
    return constraints_.factorize();
}

// v <- v - S^-1 G^T w (G v + target), S = M + w G^T G: each pass leaves about 1/w of the error.
template <int D>
void JointProjector<D>::project(const VecX& target, VecX& twists) {
    if (!has_joints()) return;
    const double small =
        1e-15 * (twists.template lpNorm<Eigen::Infinity>() + target.template lpNorm<Eigen::Infinity>());
    double before = 0;
    for (int k = 0; k < max_passes; ++k) {
        constraints_.multiply_rows(twists, rows_);
        rows_ += target;
        const double error = rows_.template lpNorm<Eigen::Infinity>();
        if (!(error > small) || (k > 0 && error > 0.5 * before)) return;
        before = error;
        step_.setZero();
        constraints_.add_transposed(rows_, penalty_, step_);
        constraints_.solve(step_);
        twists -= step_;
    }
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
