// The account of energy of a step.

#include <algorithm>
#include <cmath>

#include "limber/contact/time_stepping/moreau_jean.hpp"

namespace limber {

// What can be taken of an energy from the turning of bodies of an island that are being parted.
template <int D>
double MoreauJean<D>::slow_down(int island, double energy, double h) {
    const auto for_each_parted = [&](const auto& use) {
        problem_.for_each_body(island, [&](int b) {
            if (!parting_.displacements().template segment<T>(static_cast<Eigen::Index>(b) * T).isZero(0)) use(b);
        });
    };
    double turning = 0;
    for_each_parted([&](int b) {
        const AngularVec<D>& rate = states_[b].angular_velocity;
        turning += 0.5 * rate.dot(world_inertia(m_.bodies[b], states_[b]) * rate);
    });
    const double taken = std::min(energy, turning);
    if (!(taken > 0)) return 0;
    const double factor = std::sqrt(1 - taken / turning);
    for_each_parted([&](int b) {
        states_[b].angular_velocity *= factor;
        before_.template segment<A>(static_cast<Eigen::Index>(b) * T + D) = states_[b].angular_velocity;
        turn(b, h);
    });
    find_velocities(h);
    return taken;
}

// Large sets are not solved to the last digit. Should what is left of their error add energy, they move less: in an
// island that touches the ground everything, in others, whose momentum nothing outside can change, only what turns.
template <int D>
void MoreauJean<D>::take_back(int island, double gain, double h) {
    const auto list = problem_.contacts(island);
    const bool is_grounded = std::any_of(list.begin(), list.end(),
                                         [&](int i) { return contacts_[i].body_a < 0 || contacts_[i].body_b < 0; });
    const int first = is_grounded ? 0 : D;
    const auto part = [&](VecX& twists, int b) {
        return twists.segment(static_cast<Eigen::Index>(b) * T + first, T - first);
    };
    double kinetic = 0;
    double work = 0;  // of forces along the way
    problem_.for_each_body(island, [&](int b) {
        const TwistVec<D> own = after_.template segment<T>(static_cast<Eigen::Index>(b) * T);
        const AngularVec<D> rate = own.template tail<A>();
        if (is_grounded) kinetic += 0.5 * m_.bodies[b].mass * own.template head<D>().squaredNorm();
        kinetic += 0.5 * rate.dot(world_inertia(m_.bodies[b], states_[b]) * rate);
        work += h * part(wrench_, b).dot(part(after_, b));
    });
    // kinetic factor^2 - work factor shall be what it is without the gain.
    const double wanted = kinetic - work - gain;
    const double root = std::sqrt(std::max(0.0, work * work + 4 * kinetic * wanted));
    const double below = root - work;
    const double factor = wanted > 0 && below > 0 ? std::min(1.0, 2 * wanted / below) : 0;
    problem_.for_each_body(island, [&](int b) { part(after_, b) *= factor; });
    lost_ += kinetic * (1 - factor * factor) - work * (1 - factor);
}

// At the contacts, without impulses. These work at M^-1 (M v_f - h f): the velocities without forces, of which joints
// let pass what they do not hold.
template <int D>
void MoreauJean<D>::find_velocities(double h) {
    problem_.multiply(coasting_, u_before_);
    problem_.multiply(after_, u_free_);
    momenta_ = -h * wrench_;
    for (std::size_t b = 0; b < states_.size(); ++b) {
        const auto at = static_cast<Eigen::Index>(b) * T;
        momenta_.template segment<D>(at) += m_.bodies[b].mass * after_.template segment<D>(at);
        momenta_.template segment<A>(at + D) +=
            world_inertia(m_.bodies[b], states_[b]) * after_.template segment<A>(at + D);
    }
    problem_.find_working_velocities(momenta_, u_working_);
}

// What forces, and joints that turn bodies, do to the energy of an island's bodies without impulses, as a loss: 1/2
// |v_f - v_c|_M^2 of bodies without joints.
template <int D>
double MoreauJean<D>::compute_allowance(int island, double h) const {
    const auto product = [&](int b, const TwistVec<D>& x, const TwistVec<D>& y) {
        const AngularVec<D> rate = y.template tail<A>();
        return 0.5 * (m_.bodies[b].mass * x.template head<D>().dot(y.template head<D>()) +
                      x.template tail<A>().dot(world_inertia(m_.bodies[b], states_[b]) * rate));
    };
    double sum = 0;
    problem_.for_each_body(island, [&](int b) {
        const auto at = static_cast<Eigen::Index>(b) * T;
        const TwistVec<D> end = after_.template segment<T>(at);
        const TwistVec<D> change = end - coasting_.template segment<T>(at);
        if (!joints_.is_joined(b)) {
            sum += product(b, change, change);
        } else {
            // T(v) - T(v_f) + h f.v_f
            sum += h * wrench_.template segment<T>(at).dot(end) - product(b, change, 2 * end - change);
        }
    });
    return sum;
}

// By the impulses found last, which are those of this island.
template <int D>
double MoreauJean<D>::compute_lost_energy(int island, double h) const {
    const Island& own = island_;
    if (own.impulse.isZero(0)) return 0;
    return compute_allowance(island, h) - own.impulse.dot(own.working) - 0.5 * own.impulse.dot(own.velocity - own.free);
}

// Joints and drivers act by G^T lambda = M (v' - v_f) - J^T p, v_f being free of both. They see the mean velocities, G
// (v + v')/2 + Phi_t = 0: joints that do not move do no work by these, drivers -lambda Phi_t.
template <int D>
double MoreauJean<D>::compute_driver_work() {
    mean_ = 0.5 * (before_ + after_);
    double work = 0;
    for (std::size_t b = 0; b < start_.size(); ++b) {
        if (!joints_.is_joined(static_cast<int>(b))) continue;
        const auto at = static_cast<Eigen::Index>(b) * T;
        const TwistVec<D> change = after_.template segment<T>(at) - unjoined_.template segment<T>(at);
        const TwistVec<D> mean = mean_.template segment<T>(at);
        const AngularVec<D> turn = change.template tail<A>();
        work += m_.bodies[b].mass * mean.template head<D>().dot(change.template head<D>()) +
                mean.template tail<A>().dot(world_inertia(m_.bodies[b], start_[b]) * turn);
    }
    // v_f is without the forces that joints pass on.
    if (has_light_) work -= light_.dot(mean_);
    if (contacts_.empty()) return work;
    // Of contacts, only what acts on bodies that joints hold.
    for (std::size_t b = 0; b < start_.size(); ++b)
        if (!joints_.is_joined(static_cast<int>(b)))
            mean_.template segment<T>(static_cast<Eigen::Index>(b) * T).setZero();
    problem_.multiply(mean_, rows_);
    return work - impulse_.dot(rows_);
}

template double MoreauJean<2>::slow_down(int island, double energy, double h);
template double MoreauJean<3>::slow_down(int island, double energy, double h);
template void MoreauJean<2>::take_back(int island, double gain, double h);
template void MoreauJean<3>::take_back(int island, double gain, double h);
template void MoreauJean<2>::find_velocities(double h);
template void MoreauJean<3>::find_velocities(double h);
template double MoreauJean<2>::compute_allowance(int island, double h) const;
template double MoreauJean<3>::compute_allowance(int island, double h) const;
template double MoreauJean<2>::compute_driver_work();
template double MoreauJean<3>::compute_driver_work();
template double MoreauJean<2>::compute_lost_energy(int island, double h) const;
template double MoreauJean<3>::compute_lost_energy(int island, double h) const;

}  // namespace limber
