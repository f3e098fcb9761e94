#include "limber/contact/time_stepping/moreau_jean.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "limber/kinematics/body_space/reactions.hpp"
#include "limber/math/rotation.hpp"

namespace limber {
namespace {

// Over the mechanism's typical length.
constexpr double no_slip = 1e-8;         // slower than this is no slip: what the solver leaves of it
constexpr double rest_gap = 1e-6;        // of a stop that rests
constexpr double stop_tolerance = 1e-9;  // by which a stop may be violated at the start

constexpr int max_step_trials = 5;  // of a step whose end has deep overlaps

ConeOptions step_options() {
    ConeOptions options;
    options.tolerance = 1e-10;
    options.max_sweeps = 600;
    options.newton_rows = 60;
    // Sets that move start from the impulses of the step before: what is left over is done in the next steps.
    options.enough_sweeps = 60;
    options.loose_tolerance = 1e-3;
    return options;
}

}  // namespace

template <int D>
MoreauJean<D>::MoreauJean(std::shared_ptr<const MechanismSystem<D>> system)
    : system_(std::move(system)),
      m_(system_->mechanism()),
      stops_(m_),
      joints_(m_, rows_without_stops(m_)),
      world_(m_),
      problem_(m_, stops_),
      parting_(m_),
      solver_(step_options()),
      slip_tolerance_(no_slip * m_.length_scale) {
    for (int i = 0; i < stops_.count(); ++i)
        stops_.for_each_body(i, [&](int body, const auto&) { joints_.count_as_joined(body); });
    features_.resize(m_.features.size());
    slot_force_.assign(m_.forces.slot_feature.size(), Vec<D>::Zero());
    const auto size = static_cast<Eigen::Index>(m_.bodies.size()) * T;
    wrench_ = light_ = before_ = after_ = coasting_ = moved_ = VecX::Zero(size);
}

template <int D>
StepReport MoreauJean<D>::start(State& state) {
    state.a.setZero(state.q.size());
    state.scheme_a = state.a;
    state.lambda.setZero(system_->rows());
    state.previous_a.resize(0);
    state.previous_step = 0;
    state.contacts.clear();
    StepReport report;
    system_->export_states(state.q, state.v, states_);
    stops_.update(states_, state.memory, state.t);
    for (int i = 0; i < stops_.count() && report.ok; ++i) {
        if (stops_.gap(i) >= -stop_tolerance * m_.length_scale) continue;
        report.ok = false;
        report.reason = fmt::format("stop '{}' is violated by {:.3g}", stops_.name(i), -stops_.gap(i));
    }
    return report;
}

template <int D>
void MoreauJean<D>::add_stops(const State& state) {
    stops_.update(states_, state.memory, state.t);
    for (int i = 0; i < stops_.count(); ++i) {
        Contact contact;
        contact.stop = i;
        contact.gap = stops_.gap(i);
        contacts_.insert(contacts_.begin() + i, contact);
    }
}

// Euler's equations over the step, I dW/dt + W x I W = torque in body axes, by the implicit midpoint rule: x is the
// mean rate.
template <int D>
AngularVec<D> MoreauJean<D>::turn_freely(int body, const AngularVec<D>& torque, double h) const {
    const BodyState<D>& state = states_[body];
    if constexpr (D == 2) {
        const double inertia = m_.bodies[body].inertia(0, 0);
        return inertia > 0 ? AngularVec<2>(state.angular_velocity + h * torque / inertia) : state.angular_velocity;
    } else {
        Mat3 inertia = m_.bodies[body].inertia;
        const double size = inertia.trace();
        if (!(size > 0)) return state.angular_velocity;
        inertia.diagonal().array() += 1e-12 * size;
        const Vec3 start = state.axes.transpose() * state.angular_velocity;
        const Vec3 applied = state.axes.transpose() * torque;
        Vec3 x = start;
        for (int k = 0; k < 20; ++k) {
            const Vec3 momentum = inertia * x;
            const Vec3 defect = 2 * inertia * (x - start) + h * (x.cross(momentum) - applied);
            const Mat3 slope = 2 * inertia + h * (skew(x) * inertia - skew(momentum));
            const Vec3 change = slope.inverse() * defect;
            x -= change;
            if (!(change.norm() > 1e-15 * (x.norm() + start.norm()))) break;
        }
        return state.axes * (2 * x - start);
    }
}

template <int D>
void MoreauJean<D>::find_free_velocities(const State& state, double h) {
    middle_ = states_;
    for (std::size_t b = 0; b < states_.size(); ++b) {
        TwistVec<D> half;
        half << 0.5 * h * states_[b].velocity, 0.5 * h * states_[b].angular_velocity;
        move<D>(middle_[b], half);
    }
    update_features<D>(m_, middle_, m_.used_features, features_);
    wrench_.setZero();
    add_applied_wrenches(m_, middle_, features_, state.memory, state.t + 0.5 * h, slot_force_, 1.0, wrench_);
    has_light_ = joints_.find_light_part(middle_, wrench_, light_);
    for (std::size_t b = 0; b < states_.size(); ++b) {
        const auto at = static_cast<Eigen::Index>(b) * T;
        before_.template segment<D>(at) = states_[b].velocity;
        before_.template segment<A>(at + D) = states_[b].angular_velocity;
        const double mass = m_.bodies[b].mass;
        after_.template segment<D>(at) = states_[b].velocity;
        if (mass > 0) after_.template segment<D>(at) += h / mass * (wrench_ - light_).template segment<D>(at);
        turn(static_cast<int>(b), h);
    }
    light_ *= h;
}

// Joints turn what they hold; they are looked at later.
template <int D>
void MoreauJean<D>::turn(int body, double h) {
    const auto at = static_cast<Eigen::Index>(body) * T;
    const AngularVec<D> torque = wrench_.template segment<A>(at + D) - light_.template segment<A>(at + D);
    const AngularVec<D> end = turn_freely(body, torque, h);
    after_.template segment<A>(at + D) = end;
    coasting_.template segment<T>(at) = before_.template segment<T>(at);
    if (joints_.is_joined(body)) return;
    coasting_.template segment<A>(at + D) = torque.isZero(0) ? end : turn_freely(body, AngularVec<D>::Zero(), h);
}

template <int D>
bool MoreauJean<D>::has_impulses(int island) const {
    const auto list = problem_.contacts(island);
    return std::any_of(list.begin(), list.end(), [&](int i) { return impulse_[problem_.first_row(i)] != 0; });
}

template <int D>
void MoreauJean<D>::move_bodies(double h) {
    feels_contact_.assign(m_.bodies.size(), false);
    for (int island = 0; !contacts_.empty() && island < problem_.island_count(); ++island)
        if (has_impulses(island)) problem_.for_each_body(island, [&](int b) { feels_contact_[b] = true; });
    for (std::size_t b = 0; b < states_.size(); ++b) {
        const auto at = static_cast<Eigen::Index>(b) * T;
        const TwistVec<D> end = after_.template segment<T>(at);
        const TwistVec<D> mean = feels_contact_[b] ? end : TwistVec<D>(0.5 * (end + before_.template segment<T>(at)));
        const TwistVec<D> parted = parting_.displacements().template segment<T>(at);
        // The rate in body axes is what the step has found; it turns with the body.
        const AngularVec<D> rate = end.template tail<A>();
        const Mat<D> start = states_[b].axes;
        if (!parted.isZero(0)) move<D>(states_[b], parted);
        moved_.template segment<T>(at) = parted + h * mean;
        move<D>(states_[b], h * mean);
        states_[b].velocity = end.template head<D>();
        if constexpr (D == 2) {
            states_[b].angular_velocity = rate;
        } else {
            states_[b].axes = nearest_rotation(states_[b].axes);
            states_[b].angular_velocity = states_[b].axes * (start.transpose() * rate);
        }
    }
}

template <int D>
Vec3 MoreauJean<D>::find_origin(int body, const Vec3& point) const {
    if (body < 0) return point;
    const Vec<D> own = states_[body].axes.transpose() * (point.template head<D>() - states_[body].position);
    Vec3 origin = point;
    origin.template head<D>() = start_[body].position + start_[body].axes * own;
    return origin;
}

template <int D>
Vec3 MoreauJean<D>::compute_way(int body, const Vec3& origin) const {
    Vec3 way = Vec3::Zero();
    if (body < 0) return way;
    const TwistVec<D> moved = moved_.template segment<T>(static_cast<Eigen::Index>(body) * T);
    Vec3 turn = Vec3::Zero();
    turn.template tail<A>() = moved.template tail<A>();
    Vec3 arm = Vec3::Zero();
    arm.template head<D>() = origin.template head<D>() - start_[body].position;
    way.template head<D>() = moved.template head<D>();
    return way + turn.cross(arm);
}

template <int D>
bool MoreauJean<D>::add_deep_contacts(double h) {
    world_.find_deep_contacts(states_, h, deep_);
    if (deep_.empty()) return false;
    for (Contact& contact : deep_) {
        contact.point = 0.5 * (find_origin(contact.body_a, contact.point) + find_origin(contact.body_b, contact.point));
        const Vec3 way = compute_way(contact.body_b, contact.point) - compute_way(contact.body_a, contact.point);
        // Velocities that keep them apart, but do not throw them apart.
        contact.gap = std::max(0.0, contact.gap - way.dot(contact.normal));
        foreseen_.push_back(contact);
    }
    std::stable_sort(foreseen_.begin(), foreseen_.end(), [](const Contact& a, const Contact& b) {
        return std::pair(a.shape_a, a.shape_b) < std::pair(b.shape_a, b.shape_b);
    });
    return true;
}

template <int D>
void MoreauJean<D>::keep_contacts(State& state, double h) const {
    state.contacts.clear();
    for (std::size_t i = 0; i < contacts_.size(); ++i) {
        const Contact& c = contacts_[i];
        const int index = static_cast<int>(i);
        if (impulse_[problem_.first_row(index)] == 0 || c.stop >= 0) continue;
        state.contacts.push_back({c.body_a, c.body_b, c.shape_a, c.shape_b, c.rule, c.point, c.normal, c.gap,
                                  problem_.force(index, impulse_) / h, problem_.torque(index, impulse_) / h,
                                  slides_[i]});
    }
}

template <int D>
void MoreauJean<D>::keep_account(State& state, double h, double driver_work) const {
    if (!m_.contact_residual.exists()) return;
    m_.impact_loss.in(state.memory) += contacts_.empty() ? 0 : lost_;
    if (m_.driver_work.exists()) {
        m_.driver_work.in(state.memory) += driver_work;
        // What contacts lose is found from the energies of the bodies they push: work of drivers comes on top.
        for (int island = 0; !contacts_.empty() && island < problem_.island_count(); ++island)
            if (problem_.has_joints(island) && has_impulses(island)) m_.impact_loss.in(state.memory) += driver_work;
    }
    m_.contact_residual.in(state.memory) = contacts_.empty() ? 0 : h * residual_;
    for (const ContactPoint& c : state.contacts)
        m_.contact_rules[c.rule].impulse.in(state.memory) += h * c.force.dot(c.normal);
    keep_stops(state);
}

// What rests is closed, for those who watch: here its row is part of the problem in any case.
template <int D>
void MoreauJean<D>::keep_stops(State& state) const {
    for (std::size_t i = 0; i < contacts_.size() && contacts_[i].stop >= 0; ++i) {
        const StopRow& stop = stops_.stop(contacts_[i].stop);
        const int row = problem_.first_row(static_cast<int>(i));
        stop.impulse.in(state.memory) += impulse_[row];
        const bool is_near = contacts_[i].gap <= rest_gap * m_.length_scale;
        const bool is_still = std::abs(velocity_[row]) <= slip_tolerance_;
        const bool rests = impulse_[row] > 0 && is_near && is_still;
        stop.flag.in(state.memory) = rests ? ContactFlag::closed : ContactFlag::open;
    }
}

template <int D>
StepReport MoreauJean<D>::step(State& state, double h) {
    StepReport report;
    system_->export_states(state.q, state.v, states_);
    find_free_velocities(state, h);
    unjoined_ = after_;
    if (joints_.has_joints()) {
        // Drivers that accelerate are asked for their velocity in the middle, too: that at the end, for the mean of
        // both ends, would give twice the change, and the account of their work twice the work.
        if (!joints_.update(middle_, states_, state.memory, state.t + 0.5 * h)) {
            report.ok = false;
            report.reason = "the joints cannot be factorised";
            return report;
        }
        if (has_light_) {
            joints_.respond(passed_on_ = light_);
            after_ += passed_on_;
        }
        // G v' = -G v - 2 Phi_t
        joints_.multiply_rows(before_, target_ = joints_.time_partial());
        target_ += 2 * joints_.time_partial();
        joints_.project(target_, after_);
    }
    next_ = states_;
    for (std::size_t b = 0; b < next_.size(); ++b) {
        next_[b].velocity = after_.template segment<D>(static_cast<Eigen::Index>(b) * T);
        next_[b].angular_velocity = after_.template segment<A>(static_cast<Eigen::Index>(b) * T + D);
    }
    if (!world_.find_contacts(next_, h, contacts_)) {
        const auto name = [&](int body) { return body < 0 ? std::string("ground") : m_.bodies[body].name; };
        report.ok = false;
        report.reason = fmt::format(
            "bodies touch at more than {} points, so many of them must overlap, '{}' and '{}' for one: place them "
            "apart",
            world_.max_contacts(), name(contacts_.back().body_a), name(contacts_.back().body_b));
        return report;
    }
    add_stops(state);
    start_ = states_;
    given_.before = before_;
    given_.coasting = coasting_;
    given_.after = after_;
    for (int trial = 1;; ++trial) {
        foreseen_ = contacts_;  // with gaps that are not parted yet
        parting_.clear();
        if (!contacts_.empty()) {
            problem_.update(states_, contacts_, joints_);
            take_guess(state, h);
            choose_coefficients();
            const bool is_given = state.previous_step == 0;  // overlaps that the start, or an edit, has
            if (!solve_contacts(is_given, h, report)) return report;
        }
        if (!after_.allFinite()) {
            report.ok = false;
            report.reason = "the velocities are not finite";
            return report;
        }
        move_bodies(h);
        if (trial == max_step_trials || !add_deep_contacts(h)) break;
        states_ = start_;
        before_ = given_.before;
        coasting_ = given_.coasting;
        after_ = given_.after;
        contacts_ = foreseen_;
    }
    const double end = state.t + h;
    const double driver_work = !m_.driver_work.exists() ? 0 : compute_driver_work();
    update_features<D>(m_, states_, m_.used_features, features_);
    refresh_memory(m_, features_, state.memory);
    if (joints_.has_joints()) {
        if (joints_.correct_positions(states_, state.memory, end)) {
            for (std::size_t b = 0; b < states_.size(); ++b)
                after_.template segment<A>(static_cast<Eigen::Index>(b) * T + D) = states_[b].angular_velocity;
            joints_.project(joints_.time_partial(), after_);
            for (std::size_t b = 0; b < states_.size(); ++b) {
                states_[b].velocity = after_.template segment<D>(static_cast<Eigen::Index>(b) * T);
                states_[b].angular_velocity = after_.template segment<A>(static_cast<Eigen::Index>(b) * T + D);
            }
        }
    }
    keep_contacts(state, h);
    keep_account(state, h, driver_work);
    state.a = -state.v;
    system_->import_states(states_, state.q, state.v);
    state.a = (state.a + state.v) / h;
    state.t = end;
    state.previous_step = h;
    return report;
}

template class MoreauJean<2>;
template class MoreauJean<3>;

}  // namespace limber
