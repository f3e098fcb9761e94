#include "limber/kinematics/body_space/relative_error.hpp"

#include <cmath>
#include <limits>

#include "limber/kinematics/body_space/reactions.hpp"
#include "limber/math/dense_factors.hpp"

namespace limber {
namespace {

constexpr double no_inertia = 1e-14;  // over the largest

// inertia^-1 torque. Where a body has no inertia nothing acts on it either: the smallest solution is zero there.
template <int D>
AngularVec<D> least_turn(const AngularMat<D>& inertia, const AngularVec<D>& torque) {
    if constexpr (D == 2) {
        return torque * (inertia(0, 0) > 0 ? 1 / inertia(0, 0) : 0);
    } else {
        const SymmetricEigen3 eigen = compute_symmetric_eigen(inertia);
        AngularVec<D> turn = AngularVec<D>::Zero();
        for (int k = 0; k < 3; ++k)
            if (eigen.values[k] > no_inertia * eigen.values[2])
                turn += eigen.vectors.col(k).dot(torque) / eigen.values[k] * eigen.vectors.col(k);
        return turn;
    }
}

}  // namespace

template <int D>
RelativeErrorMeter<D>::RelativeErrorMeter(const Mechanism<D>& mechanism)
    : m_(mechanism), constraints_(mechanism, mechanism.constraints) {
    slot_force_.assign(m_.forces.slot_feature.size(), Vec<D>::Zero());
    twists_ = VecX::Zero(constraints_.twist_count());
    rates_ = forced_ = VecX::Zero(constraints_.row_count());
}

template <int D>
double RelativeErrorMeter<D>::compute(const BodyStates<D>& states, const std::vector<double>& memory, double t,
                                      const std::vector<TwistVec<D>>& twist_rates, const Gains& gains) {
    constexpr int T = twist_size<D>;
    constexpr int A = angular_size<D>;
    TwistConstraints<D>& c = constraints_;
    if (c.row_count() == 0) return 0;
    c.update(states, memory, t);
    c.make_comparable();
    const auto at = [](std::size_t body) { return static_cast<Eigen::Index>(body) * T; };

    for (std::size_t b = 0; b < m_.bodies.size(); ++b) {
        twists_.template segment<D>(at(b)) = states[b].velocity;
        twists_.template segment<A>(at(b) + D) = m_.length_scale * states[b].angular_velocity;
    }
    c.multiply_rows(twists_, rates_);
    rates_ += c.scale.cwiseProduct(c.values.time_partial);

    for (std::size_t b = 0; b < m_.bodies.size(); ++b)
        twists_.template segment<T>(at(b)) = inertia_wrench(m_.bodies[b], states[b], twist_rates[b]);
    add_applied_wrenches(m_, states, c.features, memory, t, slot_force_, -1.0, twists_);
    for (std::size_t b = 0; b < m_.bodies.size(); ++b) {
        auto linear = twists_.template segment<D>(at(b));
        auto angular = twists_.template segment<A>(at(b) + D);
        linear *= m_.bodies[b].mass > 0 ? 1 / m_.bodies[b].mass : 0;
        angular = m_.length_scale * least_turn<D>(world_inertia(m_.bodies[b], states[b]), angular);
    }
    c.multiply_rows(twists_, forced_);

    double error = 0;
    double whole = 0;
    for (int r = 0; r < c.row_count(); ++r) {
        const double e = c.set.rows[r].is_holonomic()
                             ? gains.position * c.scale[r] * c.values.phi[r] + gains.rate * rates_[r]
                             : gains.velocity_row * rates_[r];
        error += e * e;
        whole += (forced_[r] - e) * (forced_[r] - e);
    }
    if (error == 0) return 0;
    return whole > 0 ? std::sqrt(error / whole) : std::numeric_limits<double>::infinity();
}

template class RelativeErrorMeter<2>;
template class RelativeErrorMeter<3>;

}  // namespace limber
