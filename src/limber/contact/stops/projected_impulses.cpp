#include "limber/contact/stops/projected_impulses.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace limber {
namespace {

// Over the length scale: closed gaps, and rates that are none.
constexpr double closed = 1e-9;
constexpr double at_rest = 1e-9;
constexpr double projection_accuracy = 1e-13;  // of what multipliers do, over what they have to do
constexpr int max_impulse_sweeps = 20000;
constexpr double gain_of_rounding = 1e-13;
constexpr int restitution_passes = 40;   // that reduce it until it gains nothing
constexpr double nearly_all = 1 - 1e-9;  // of what static friction holds

// Coulomb's friction of one contact; the largest change of a rate.
double project_friction(const MatX& w, const VecX& b, const ProjectedContact& contact, VecX& z) {
    const double bound = contact.coefficient * z[contact.normal];
    const Eigen::Index first = contact.first_slip;
    const int n = contact.slip_count;
    // The larger eigenvalue: with less than twice one over it the projection contracts.
    double response = w(first, first);
    if (n == 2) {
        const double mean = 0.5 * (w(first, first) + w(first + 1, first + 1));
        response = mean + std::hypot(0.5 * (w(first, first) - w(first + 1, first + 1)), w(first, first + 1));
    }
    if (!(response > 0)) return 0;
    Vec2 next = Vec2::Zero();
    if (contact.slides) {
        next = -bound * contact.direction;
    } else {
        for (int k = 0; k < n; ++k) next[k] = z[first + k] - (w.row(first + k).dot(z) + b[first + k]) / response;
        const double size = next.norm();
        if (size > bound) next *= bound / size;
    }
    double change = 0;
    for (int k = 0; k < n; ++k) {
        change = std::max(change, response * std::abs(next[k] - z[first + k]));
        z[first + k] = next[k];
    }
    return change;
}

}  // namespace

bool solve_by_projection(const MatX& w, const VecX& b, const std::vector<ProjectedContact>& contacts, VecX& z) {
    const double enough = projection_accuracy * b.lpNorm<Eigen::Infinity>();
    for (int sweep = 0; sweep < max_impulse_sweeps; ++sweep) {
        double change = 0;
        for (const ProjectedContact& contact : contacts) {
            const Eigen::Index i = contact.normal;
            if (!(w(i, i) > 0)) continue;
            const double next = std::max(0.0, z[i] - (w.row(i).dot(z) + b[i]) / w(i, i));
            change = std::max(change, w(i, i) * std::abs(next - z[i]));
            z[i] = next;
            if (contact.slip_count > 0) change = std::max(change, project_friction(w, b, contact, z));
        }
        if (!std::isfinite(change)) return false;
        if (change <= enough) return true;
    }
    return false;
}

template <int D>
ProjectedImpulses<D>::ProjectedImpulses(std::shared_ptr<const MechanismSystem<D>> system)
    : system_(std::move(system)),
      m_(system_->mechanism()),
      response_(m_),
      friction_of_stop_(m_.stops.size(), -1),
      gap_tolerance_(closed * m_.length_scale),
      speed_tolerance_(at_rest * m_.length_scale) {
    twist_rates_.resize(m_.bodies.size());
    for (std::size_t i = 0; i < m_.friction.size(); ++i)
        if (m_.friction[i].contact >= 0) friction_of_stop_[m_.friction[i].contact] = static_cast<int>(i);
}

// With everything open: what holds are multipliers.
template <int D>
void ProjectedImpulses<D>::look(const State& state) {
    open_memory_ = state.memory;
    for (const StopRow& stop : m_.stops) stop.flag.in(open_memory_) = ContactFlag::open;
    for (const FrictionElement& friction : m_.friction) {
        friction.stick.in(open_memory_) = false;
        friction.slip.in(open_memory_).is_on = false;
    }
    system_->export_states(state.q, state.v, states_);
    response_.look(states_, open_memory_, state.t);
}

template <int D>
void ProjectedImpulses<D>::begin(const State& state) {
    look(state);
    start_rates_ = response_.rates();
}

template <int D>
double ProjectedImpulses<D>::slip_speed(int friction) const {
    const int first = response_.slip_entry(friction, 0);
    return start_rates_.segment(first, m_.friction[friction].row_count).norm();
}

template <int D>
std::string ProjectedImpulses<D>::find_violated(const State& state) {
    look(state);
    for (int i = 0; i < response_.count(); ++i)
        if (response_.gaps()[i] < -gap_tolerance_) return m_.elements[m_.stops[i].element].name;
    return {};
}

template <int D>
void ProjectedImpulses<D>::list_contacts(const VecX& share) {
    list_.clear();
    stops_.clear();
    frictions_.clear();
    contacts_.clear();
    for (int i = 0; i < response_.count(); ++i) {
        const bool has_pushed = share.size() > 0 && share[i] > 0;
        if (!has_pushed && !(response_.gaps()[i] < gap_tolerance_)) continue;
        ProjectedContact contact;
        contact.normal = static_cast<Eigen::Index>(list_.size());
        list_.push_back(i);
        stops_.push_back(i);
        const int friction = friction_of_stop_[i];
        frictions_.push_back(friction);
        if (friction >= 0) {
            contact.first_slip = static_cast<Eigen::Index>(list_.size());
            contact.slip_count = m_.friction[friction].row_count;
            contact.coefficient =
                slip_speed(friction) < speed_tolerance_ ? m_.friction[friction].at_rest : m_.friction[friction].kinetic;
            for (int k = 0; k < contact.slip_count; ++k) list_.push_back(response_.slip_entry(friction, k));
        }
        contacts_.push_back(contact);
    }
}

// impulses_ and after_ from the rates free_; what slides after all under static friction has but the kinetic one.
template <int D>
bool ProjectedImpulses<D>::solve_impulses(const VecX& free, double restitution_share) {
    target_.setZero(free.size());
    for (std::size_t k = 0; k < contacts_.size(); ++k) {
        const Eigen::Index i = contacts_[k].normal;
        const double left = std::min(-start_rates_[stops_[k]], -free[i]);
        target_[i] = restitution_share * m_.stops[stops_[k]].restitution * std::max(0.0, left);
    }
    for (bool is_settled = false; !is_settled;) {
        if (!solve_by_projection(response_.delassus(), free - target_, contacts_, impulses_)) return false;
        after_.noalias() = response_.delassus() * impulses_;
        after_ += free;
        is_settled = true;
        for (std::size_t k = 0; k < contacts_.size(); ++k) {
            ProjectedContact& contact = contacts_[k];
            if (contact.slip_count == 0 || contact.coefficient == m_.friction[frictions_[k]].kinetic) continue;
            if (!(after_.segment(contact.first_slip, contact.slip_count).norm() > speed_tolerance_)) continue;
            contact.coefficient = m_.friction[frictions_[k]].kinetic;
            is_settled = false;
        }
    }
    return true;
}

template <int D>
bool ProjectedImpulses<D>::collide(State& state, const VecX& share, double kinetic_limit, StepReport& report) {
    if (!response_.prepare(states_, open_memory_, state.t, list_)) return false;
    listed_share_.setZero(static_cast<Eigen::Index>(list_.size()));
    if (share.size() > 0)
        for (std::size_t k = 0; k < list_.size(); ++k) listed_share_[static_cast<Eigen::Index>(k)] = share[list_[k]];
    response_.list_rates(before_);
    free_ = before_ - response_.delassus() * listed_share_;
    impulses_ = listed_share_;
    if (!solve_impulses(free_, 1)) return false;
    response_.apply(-listed_share_, states_);
    double energy = 0;
    for (std::size_t b = 0; b < states_.size(); ++b) energy += kinetic_energy(m_.bodies[b], states_[b]);
    const double allowed = std::min(gain_of_rounding * energy, kinetic_limit - energy);
    const auto gains = [&] { return 0.5 * impulses_.dot(free_ + after_) > allowed; };
    if (target_.maxCoeff() > 0 && gains()) {
        double low = 0;
        double high = 1;
        for (int pass = 0; pass < restitution_passes; ++pass) {
            const double middle = 0.5 * (low + high);
            if (!solve_impulses(free_, middle)) return false;
            (gains() ? high : low) = middle;
        }
        if (!solve_impulses(free_, low)) return false;
    }
    response_.apply(impulses_, states_);
    for (std::size_t b = 0; b < states_.size(); ++b) energy -= kinetic_energy(m_.bodies[b], states_[b]);
    system_->import_states(states_, state.q, state.v);
    const auto is_new = [&](std::size_t k) {
        return impulses_[contacts_[k].normal] > 0 && !m_.stops[stops_[k]].is_closed(state.memory);
    };
    bool is_impact = false;
    for (std::size_t k = 0; k < contacts_.size(); ++k) is_impact = is_impact || is_new(k);
    if (!is_impact) return true;
    state.previous_a.resize(0);
    state.previous_step = 0;
    m_.impact_loss.in(state.memory) += energy;
    for (std::size_t k = 0; k < contacts_.size(); ++k) {
        const double impulse = impulses_[contacts_[k].normal];
        if (!(impulse > 0)) continue;
        m_.stops[stops_[k]].impulse.in(state.memory) += impulse;
        ContactEvent event;
        event.kind = ContactEvent::Kind::impact;
        event.t = state.t;
        event.stop = m_.elements[m_.stops[stops_[k]].element].name;
        event.impulse = impulse;
        event.energy_lost = std::exchange(energy, 0.0);
        report.events.push_back(std::move(event));
    }
    return true;
}

template <int D>
bool ProjectedImpulses<D>::hold(State& state, AccelerationSolver& solver) {
    look(state);
    state.a.resize(state.q.size());
    state.lambda.setZero(system_->rows());
    if (!solver.solve(state.t, state.q, state.v, open_memory_, state.a, state.lambda)) return false;
    system_->export_twist_rates(state.q, state.v, state.a, twist_rates_);
    free_.resize(static_cast<Eigen::Index>(list_.size()));
    for (std::size_t k = 0; k < list_.size(); ++k)
        free_[static_cast<Eigen::Index>(k)] = response_.acceleration(list_[k], twist_rates_);
    for (std::size_t k = 0; k < contacts_.size(); ++k) {
        if (!(response_.rates()[stops_[k]] < speed_tolerance_)) continue;
        ProjectedContact contact = contacts_[k];
        if (contact.slip_count > 0) {
            const FrictionElement& friction = m_.friction[frictions_[k]];
            Vec2 slip = Vec2::Zero();
            for (int d = 0; d < contact.slip_count; ++d) slip[d] = response_.slip_rate(frictions_[k], d);
            contact.slides = slip.norm() > speed_tolerance_;
            contact.coefficient = contact.slides ? friction.kinetic : friction.at_rest;
            if (contact.slides) contact.direction = slip.normalized();
        }
        resting_.push_back(contact);
        resting_places_.push_back(k);
    }
    for (bool is_settled = false; !is_settled;) {
        forces_.setZero(free_.size());
        if (!solve_by_projection(response_.delassus(), free_, resting_, forces_)) return false;
        after_.noalias() = response_.delassus() * forces_;
        after_ += free_;
        is_settled = true;
        // What begins to slide now goes against its friction.
        for (ProjectedContact& contact : resting_) {
            if (contact.slip_count == 0 || contact.slides) continue;
            Vec2 push = Vec2::Zero();
            for (int d = 0; d < contact.slip_count; ++d) push[d] = forces_[contact.first_slip + d];
            const double bound = contact.coefficient * forces_[contact.normal];
            if (!(bound > 0 && push.norm() > nearly_all * bound)) continue;
            if (!(after_.segment(contact.first_slip, contact.slip_count).norm() > at_rest * free_.norm())) continue;
            contact.slides = true;
            contact.direction = -push.normalized();
            is_settled = false;
        }
        if (is_settled) break;
        for (std::size_t k = 0; k < resting_.size(); ++k)
            if (resting_[k].slides) resting_[k].coefficient = m_.friction[frictions_[resting_places_[k]]].kinetic;
    }
    return true;
}

template <int D>
StepReport ProjectedImpulses<D>::settle(State& state, const VecX& share, double kinetic_limit,
                                        AccelerationSolver& solver, StepReport& report) {
    StepReport result;
    const auto fail = [&](const char* what) {
        result.ok = false;
        result.reason = fmt::format("no {} can be found at stop '{}'", what,
                                    m_.elements[m_.stops[stops_.empty() ? 0 : stops_.front()].element].name);
        return result;
    };
    look(state);
    list_contacts(share);
    resting_.clear();
    resting_places_.clear();
    if (!list_.empty()) {
        if (!collide(state, share, kinetic_limit, report)) return fail("impulses");
        if (!hold(state, solver)) return fail("contact forces");
    }
    // What holds, sticks and slides from now on.
    const double parting = at_rest * (list_.empty() ? 0 : free_.norm() + m_.length_scale);
    bool is_changed = false;
    const auto turn = [&](auto flag, auto to) {
        is_changed = is_changed || !(flag == to);
        flag = to;
    };
    std::vector<double>& memory = state.memory;
    for (std::size_t i = 0; i < m_.stops.size(); ++i) {
        const auto place = std::find_if(resting_places_.begin(), resting_places_.end(),
                                        [&](std::size_t k) { return stops_[k] == static_cast<int>(i); });
        const ProjectedContact* contact =
            place == resting_places_.end() ? nullptr : &resting_[place - resting_places_.begin()];
        if (contact != nullptr && after_[contact->normal] > parting) contact = nullptr;
        turn(m_.stops[i].flag.in(memory), contact != nullptr ? ContactFlag::closed : ContactFlag::open);
        const int f = friction_of_stop_[i];
        if (f < 0) continue;
        const FrictionElement& friction = m_.friction[f];
        const bool has_friction = contact != nullptr && contact->slip_count > 0;
        turn(friction.stick.in(memory), has_friction && !contact->slides);
        auto slip = friction.slip.in(memory);
        turn(slip.is_on, has_friction && contact->slides);
        slip.force = slip.force_after =
            has_friction && contact->slides ? contact->coefficient * forces_[contact->normal] : 0;
        slip.time = slip.time_after = state.t;
        if (has_friction && contact->slides) slip.direction = contact->direction;
    }
    const bool is_start = share.size() == 0;
    if (list_.empty() && !is_start) {
        if (is_changed) {
            state.previous_a.resize(0);
            state.previous_step = 0;
        }
        return result;
    }
    state.a.resize(state.q.size());
    state.lambda.setZero(system_->rows());
    if (!solver.solve(state.t, state.q, state.v, memory, state.a, state.lambda)) {
        result.ok = false;
        result.reason = solver.failure();
        return result;
    }
    state.scheme_a = state.a;
    if (is_start || is_changed) {
        state.previous_a.resize(0);
        state.previous_step = 0;
    }
    return result;
}

template class ProjectedImpulses<2>;
template class ProjectedImpulses<3>;

}  // namespace limber
