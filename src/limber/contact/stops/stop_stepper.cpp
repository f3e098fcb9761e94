#include "limber/contact/stops/stop_stepper.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "limber/contact/time_stepping/contact_wrenches.hpp"

namespace limber {
namespace {

// Over the length scale: what takes part in an impact, what can hold from then on, and how exactly the instant of
// contact is found.
constexpr double touching = 1e-9;
constexpr double closed_gap = 1e-11;
constexpr double exactly = 1e-14;
constexpr double shortest_time = 1e-13;  // seconds between two instants that differ
constexpr double release_time = 1e-11;   // a force that passes zero does so smoothly: later by this changes nothing
constexpr double shortest_part = 1e-6;   // of the step, to which a trial is shortened that goes too far beyond an event
constexpr int max_impacts = 200;         // within one step; from then on they are plastic
constexpr int max_events = 1000;
constexpr int max_root_trials = 100;
constexpr int max_turns = 100000;
constexpr int max_event_passes = 5;

}  // namespace

template <int D>
StopStepper<D>::StopStepper(std::unique_ptr<Stepper> inner, std::shared_ptr<const MechanismSystem<D>> system,
                            const ContactOptions& options)
    : inner_(std::move(inner)),
      system_(std::move(system)),
      m_(system_->mechanism()),
      options_(options),
      response_(m_),
      friction_(system_),
      coulomb_impact_(m_, options.impact_law),
      gap_tolerance_(touching * m_.length_scale),
      speed_tolerance_(touching * m_.length_scale) {}

template <int D>
void StopStepper<D>::add_event(StepReport& report, ContactEvent::Kind kind, double t, int contact) const {
    ContactEvent event;
    event.kind = kind;
    event.t = t;
    event.stop = name_of(contact);
    report.events.push_back(std::move(event));
}

template <int D>
void StopStepper<D>::look(const State& state) {
    system_->export_states(state.q, state.v, states_);
    response_.look(states_, state.memory, state.t);
}

template <int D>
bool StopStepper<D>::is_possible(const State& state) {
    look(state);
    for (int i = 0; i < response_.count(); ++i)
        if (!is_closed(state, i) && response_.gaps()[i] < -gap_tolerance_) return false;
    return true;
}

template <int D>
void StopStepper<D>::begin_step(double h) {
    step_ = h;
    impact_count_ = 0;
    flights_.assign(m_.stops.size(), Flight());
}

template <int D>
StepReport StopStepper<D>::start(State& state) {
    StepReport report = inner_->start(state);
    if (!report.ok) return report;
    look(state);
    for (int i = 0; i < response_.count(); ++i)
        if (!is_closed(state, i) && response_.gaps()[i] < -gap_tolerance_) {
            report.ok = false;
            report.reason = fmt::format("stop '{}' is violated by {:.3g}", name_of(i), -response_.gaps()[i]);
            return report;
        }
    begin_step(0);
    StepReport settled = settle(state, report);
    settled.events = report.events;
    return settled;
}

template <int D>
StepReport StopStepper<D>::step(State& state, double h) {
    StepReport report;
    const double end = state.t + h;
    begin_step(h);
    inner_->expect_parts_of(h);
    if (listener_ != nullptr) listener_->begin_step();
    int events = 0;
    for (;; ++events) {
        before_ = state;
        double length = end - state.t;
        StepReport part = friction_.step(*inner_, response_, state, length);
        while (!part.ok && friction_.passes_rest() && length > shortest_part * h) {
            length *= 0.5;
            part = friction_.step(*inner_, response_, state, length);
        }
        report.iterations += part.iterations;
        report.substeps += part.substeps - 1;
        const auto give_up = [&](const std::string& reason) {
            state = events > 0 ? start_ : before_;
            report.ok = false;
            report.reason = reason;
            report.events.clear();
            return report;
        };
        if (!part.ok) return give_up(part.reason);
        const bool is_event = find_event(state, length, report);
        if (!report.ok) return give_up(report.reason);
        if (listener_ != nullptr) listener_->add_stretch(before_, state);
        if (!is_event && length == end - before_.t) break;
        if (events == 0) start_ = before_;
        if (events == max_events)
            return give_up(fmt::format("more than {} contacts open and close within one step", max_events));
        if (is_event) {
            const StepReport settled = settle(state, report);
            if (!settled.ok) return give_up(settled.reason);
        }
        if (!(end - state.t > shortest_time)) {
            if (listener_ != nullptr) listener_->add_stretch(state, state);  // the step ends with a change
            break;
        }
        ++report.substeps;
    }
    state.t = end;
    // Accelerations that schemes carry on from a very short step are those of its stabilisation or of rounding.
    if (events > 0) {
        const StepReport started = friction_.start(*inner_, response_, state);
        report.ok = started.ok;
        report.reason = started.reason;
        if (!report.ok) state = start_;
    }
    return report;
}

// ---------------------------------------------------------------- events

template <int D>
double StopStepper<D>::smallest_gap(const State& state) const {
    double smallest = std::numeric_limits<double>::infinity();
    // A contact that has just opened may be a rounding error deep; it must not become deeper.
    for (int i = 0; i < response_.count(); ++i)
        if (!is_closed(state, i)) smallest = std::min(smallest, response_.gaps()[i] - std::min(gaps_before_[i], 0.0));
    return smallest;
}

template <int D>
double StopStepper<D>::try_step(State& state, double tau, StepReport& report) {
    state = before_;
    const StepReport part = friction_.step(*inner_, response_, state, tau);
    report.iterations += part.iterations;
    if (!part.ok) {
        report.ok = false;
        report.reason = part.reason;
        return std::numeric_limits<double>::quiet_NaN();
    }
    look(state);
    return smallest_gap(state);
}

// The lowest point of the cubic through gaps and rates at both ends.
template <int D>
double StopStepper<D>::find_dip(const State& state, double h) const {
    for (int i = 0; i < response_.count(); ++i) {
        const double g0 = gaps_before_[i];
        const double g1 = response_.gaps()[i];
        const double r0 = h * rates_before_[i];
        const double r1 = h * response_.rates()[i];
        if (is_closed(state, i) || !(r0 < 0 && r1 > 0)) continue;
        // g = g0 + r0 s + c s^2 + d s^3
        const double c = 3 * (g1 - g0) - 2 * r0 - r1;
        const double d = 2 * (g0 - g1) + r0 + r1;
        const double root = std::sqrt(std::max(0.0, c * c - 3 * d * r0));
        const double s = -r0 / (c + root);
        if (g0 + s * (r0 + s * (c + s * d)) < std::min(g0, 0.0)) return s * h;
    }
    return 0;
}

template <int D>
bool StopStepper<D>::find_event(State& state, double h, StepReport& report) {
    look(before_);
    gaps_before_ = response_.gaps();
    rates_before_ = response_.rates();
    look(state);
    double high = h;
    bool is_reached = smallest_gap(state) < -exactly * m_.length_scale;
    if (!is_reached) {
        const double dip = find_dip(state, h);
        if (dip > shortest_time) {
            is_reached = try_step(state, dip, report) < -exactly * m_.length_scale;
            high = dip;
            if (!is_reached) try_step(state, h, report);
        }
    }
    if (is_reached && !locate_contact(state, high, report)) return false;
    if (!report.ok) return false;
    // A contact may have opened before another closes.
    if (holds(state)) return is_reached;
    return locate_release(state, is_reached ? state.t - before_.t : h, report);
}

// Regula falsi with halved ends (Illinois): the gap is positive at `low`, negative at `high`.
template <int D>
bool StopStepper<D>::locate_contact(State& state, double high, StepReport& report) {
    const double enough = exactly * m_.length_scale;
    double low = 0;
    double low_gap = std::numeric_limits<double>::infinity();
    for (int i = 0; i < response_.count(); ++i)
        if (!is_closed(before_, i)) low_gap = std::min(low_gap, std::max(0.0, gaps_before_[i]));
    double high_gap = smallest_gap(state);
    int same_side = 0;
    for (int trial = 0; trial < max_root_trials; ++trial) {
        if (high - low < shortest_time || (high_gap > -enough && high_gap <= 0)) break;
        // Contacts that have just opened are at zero, but on their way up: leave them behind first.
        const double at = low > 0 || low_gap > gap_tolerance_ ? low + (high - low) * low_gap / (low_gap - high_gap)
                                                              : 0.5 * (low + high);
        const double tau = std::clamp(at, low + 0.01 * shortest_time, high);
        const double gap = try_step(state, tau, report);
        if (std::isnan(gap)) return false;
        if (gap > 0) {
            low = tau;
            low_gap = gap;
            if (same_side > 0) high_gap *= 0.5;
            same_side = std::max(same_side, 0) + 1;
        } else {
            high = tau;
            high_gap = gap;
            if (same_side < 0) low_gap *= 0.5;
            same_side = std::min(same_side, 0) - 1;
        }
        if (std::abs(gap) < enough) {
            high = tau;
            break;
        }
    }
    if (state.t != before_.t + high) try_step(state, high, report);
    return report.ok;
}

template <int D>
bool StopStepper<D>::locate_release(State& state, double high, StepReport& report) {
    double low = 0;
    while (high - low > release_time) {
        const double middle = 0.5 * (low + high);
        if (std::isnan(try_step(state, middle, report))) return false;
        (holds(state) ? low : high) = middle;
    }
    try_step(state, high, report);
    return report.ok;
}

template <int D>
void StopStepper<D>::list_contact(const State& state, int contact) {
    list_.push_back(contact);
    if (is_latched(state, contact)) list_.push_back(response_.opposite(contact));
}

// Of the contacts of list_; rigid bodies that touch push as in the last step.
template <int D>
void StopStepper<D>::find_free_accelerations(const State& state) {
    update_contact_wrenches<D>(state, states_, touching_);
    response_.find_free_accelerations(states_, state.memory, state.t, touching_, accelerations_);
}

template <int D>
bool StopStepper<D>::find_forces(const State& state) {
    if (!response_.prepare(states_, state.memory, state.t, list_)) return false;
    find_free_accelerations(state);
    if (!complementarity_.solve(response_.delassus(), accelerations_, forces_)) return false;
    after_rates_.noalias() = response_.delassus() * forces_;
    after_rates_ += accelerations_;
    return true;
}

template <int D>
bool StopStepper<D>::separates(std::size_t place) const {
    const double tolerance = touching * (accelerations_.template lpNorm<Eigen::Infinity>() + m_.length_scale);
    return after_rates_[static_cast<Eigen::Index>(place)] > tolerance;
}

template <int D>
bool StopStepper<D>::do_contacts_hold(const State& state) {
    list_.clear();
    for (int i = 0; i < response_.count(); ++i)
        if (is_closed(state, i)) list_contact(state, i);
    if (list_.empty() || !find_forces(state)) return true;
    for (std::size_t k = 0; k < list_.size(); ++k)
        if (separates(k)) return false;
    return true;
}

// ---------------------------------------------------------------- impacts

template <int D>
void StopStepper<D>::collide_in_turn(const VecX& restitution) {
    const MatX& w = response_.delassus();
    for (int turn = 0; turn < max_turns; ++turn) {
        Eigen::Index fastest = 0;
        if (!(after_rates_.minCoeff(&fastest) < -speed_tolerance_)) return;
        const double impulse = -(1 + restitution[fastest]) * after_rates_[fastest] / w(fastest, fastest);
        impulses_[fastest] += impulse;
        after_rates_ += impulse * w.col(fastest);
    }
    // What still approaches does so slowly.
    complementarity_.solve(w, after_rates_, bound_);
    impulses_ += bound_;
    after_rates_ += w * bound_;
}

// impulses_ and after_rates_ from before_rates_, by the law chosen.
template <int D>
void StopStepper<D>::find_impulses(const VecX& restitution) {
    const MatX& w = response_.delassus();
    const auto newton = [&](const VecX& e, bool for_all) {
        bound_ = before_rates_;
        for (Eigen::Index k = 0; k < bound_.size(); ++k)
            if (for_all || bound_[k] < 0) bound_[k] *= 1 + e[k];
        complementarity_.solve(w, bound_, impulses_);
        after_rates_ = before_rates_ + w * impulses_;
    };
    switch (options_.impact_law) {
        case ImpactLaw::newton: newton(restitution, false); break;
        case ImpactLaw::poisson:
            complementarity_.solve(w, before_rates_, compression_);
            compression_ += compression_.cwiseProduct(restitution);
            after_rates_ = before_rates_ + w * compression_;
            complementarity_.solve(w, after_rates_, impulses_);
            impulses_ += compression_;
            after_rates_ = before_rates_ + w * impulses_;
            break;
        case ImpactLaw::in_turn:
            impulses_.setZero(before_rates_.size());
            after_rates_ = before_rates_;
            collide_in_turn(restitution);
            break;
    }
    const double size = 0.5 * impulses_.dot(before_rates_.cwiseAbs() + after_rates_.cwiseAbs());
    if (energy_gain() > touching * size) newton(VecX::Constant(before_rates_.size(), restitution.minCoeff()), true);
}

template <int D>
void StopStepper<D>::change_velocities(const std::vector<double>& memory, double t, const VecX& restitution) {
    if (coulomb_impact_.applies(list_)) {
        coulomb_impact_.solve(response_, memory, t, list_, restitution, states_, impulses_, after_rates_);
    } else {
        find_impulses(restitution);
        response_.apply(impulses_, states_);
    }
}

template <int D>
bool StopStepper<D>::hold_hops(std::vector<double>& memory) {
    const std::size_t count = list_.size();
    for (std::size_t k = 0; k < count; ++k) {
        const auto place = static_cast<Eigen::Index>(k);
        const bool hops = list_[k] >= 0 && before_rates_[place] > -speed_tolerance_ &&
                          after_rates_[place] > speed_tolerance_ && accelerations_[place] < 0;
        if (!hops || 2 * after_rates_[place] > -accelerations_[place] * options_.shortest_flight * step_) continue;
        auto flag = m_.stops[list_[k]].flag.in(memory);
        if (flag == ContactFlag::latched) continue;
        flag = ContactFlag::latched;
        list_.push_back(response_.opposite(list_[k]));
    }
    return list_.size() > count;
}

// Where others push a contact back its flight cannot be foretold, but its last one tells. What was farther away than
// contacts that collide together may bounce fast between two others.
template <int D>
bool StopStepper<D>::has_hardly_parted(int contact, double t) const {
    const double passed = t - flights_[contact].begin;
    return passed < options_.shortest_flight * step_ && flights_[contact].rate * passed < gap_tolerance_;
}

// Velocities after an impact at the contacts of list_, if any of them approaches.
template <int D>
bool StopStepper<D>::collide(State& state, StepReport& report) {
    const auto n = static_cast<Eigen::Index>(list_.size());
    response_.list_rates(before_rates_);
    after_rates_ = before_rates_;
    if (!(before_rates_.minCoeff() < -speed_tolerance_)) return false;
    VecX restitution(n);
    for (Eigen::Index k = 0; k < n; ++k) {
        const StopRow& gap = m_.stops[response_.contact_of(list_[k])];
        // Of a contact that others set in motion nothing is known yet.
        const bool bounces = before_rates_[k] < -speed_tolerance_ && accelerations_[k] < 0;
        const double flight = bounces ? 2 * gap.restitution * before_rates_[k] / accelerations_[k] : step_;
        const bool is_last = flight < options_.shortest_flight * step_ || impact_count_ >= max_impacts ||
                             has_hardly_parted(response_.contact_of(list_[k]), state.t);
        restitution[k] = is_last || -before_rates_[k] < gap.latch_speed ? 0 : gap.restitution;
    }
    double energy = 0;
    for (std::size_t b = 0; b < states_.size(); ++b) energy += kinetic_energy(m_.bodies[b], states_[b]);
    const BodyStates<D> before = states_;
    change_velocities(state.memory, state.t, restitution);
    std::vector<double> memory = state.memory;
    if (hold_hops(memory)) {
        states_ = before;
        restitution.conservativeResizeLike(VecX::Zero(static_cast<Eigen::Index>(list_.size())));
        if (!response_.prepare(states_, memory, state.t, list_)) return false;
        response_.list_rates(before_rates_);
        change_velocities(memory, state.t, restitution);
    }
    for (std::size_t b = 0; b < states_.size(); ++b) energy -= kinetic_energy(m_.bodies[b], states_[b]);
    m_.impact_loss.in(state.memory) += energy;
    ++impact_count_;
    for (Eigen::Index k = 0; k < impulses_.size(); ++k) {
        if (!(impulses_[k] > 0)) continue;
        const int contact = response_.contact_of(list_[k]);
        const double impulse = response_.sign_of(list_[k]) * impulses_[k];
        m_.stops[contact].impulse.in(state.memory) += impulse;
        flights_[contact] = {state.t, after_rates_[k]};
        add_event(report, ContactEvent::Kind::impact, state.t, contact);
        report.events.back().impulse = impulse;
        report.events.back().energy_lost = std::exchange(energy, 0.0);
    }
    return true;
}

template <int D>
void StopStepper<D>::turn(State& state, StepReport& report, int contact, ContactFlag flag) {
    auto now = m_.stops[contact].flag.in(state.memory);
    if (now == flag) return;
    now = flag;
    const auto kind = flag == ContactFlag::open     ? ContactEvent::Kind::opened
                      : flag == ContactFlag::closed ? ContactEvent::Kind::closed
                                                    : ContactEvent::Kind::latched;
    add_event(report, kind, state.t, contact);
}

// Of the contacts of list_, which do not separate, those hold that have to.
template <int D>
bool StopStepper<D>::hold(State& state, StepReport& report) {
    if (list_.empty()) return true;
    if (!find_forces(state)) return false;
    for (std::size_t k = 0; k < list_.size(); ++k) {
        const int contact = response_.contact_of(list_[k]);
        if (!is_latched(state, contact))
            turn(state, report, contact, separates(k) ? ContactFlag::open : ContactFlag::closed);
    }
    return true;
}

template <int D>
StepReport StopStepper<D>::settle(State& state, StepReport& report) {
    StepReport result;
    look(state);
    list_.clear();
    for (int i = 0; i < response_.count(); ++i)
        if (is_closed(state, i) || response_.gaps()[i] < gap_tolerance_) list_contact(state, i);
    const std::vector<int> all = list_;
    const auto fail = [&] {
        result.ok = false;
        result.reason =
            fmt::format("no contact forces can be found at stop '{}'", name_of(response_.contact_of(all[0])));
        return result;
    };
    if (!all.empty()) {
        if (!response_.prepare(states_, state.memory, state.t, list_)) return fail();
        find_free_accelerations(state);
        if (collide(state, report)) {
            system_->import_states(states_, state.q, state.v);
            look(state);
        }
    }
    const VecX after = after_rates_;
    list_.clear();
    for (std::size_t k = 0; k < all.size(); ++k) {
        if (all[k] < 0) continue;
        const auto place = static_cast<Eigen::Index>(k);
        if (std::abs(before_rates_[place]) < m_.stops[all[k]].latch_speed)
            turn(state, report, all[k], ContactFlag::latched);
        // A contact that only nearly touches has its own instant soon. Held as an equation it would have to be moved by
        // its gap, which those that stick do not let it where a mechanism jams.
        const bool touches = is_closed(state, all[k]) || response_.gaps()[all[k]] < closed_gap * m_.length_scale;
        if (is_latched(state, all[k]) || (touches && after[place] <= speed_tolerance_)) {
            list_contact(state, all[k]);
        } else {
            turn(state, report, all[k], ContactFlag::open);
        }
    }
    // Friction depends on which contacts hold, and they on friction.
    std::vector<int> resting = list_;
    for (int pass = 0; pass < max_event_passes; ++pass) {
        list_ = resting;
        if (!hold(state, report)) return fail();
        const FrictionSettled settled = friction_.settle(*inner_, response_, state, report);
        result = settled.report;
        if (!result.ok || m_.friction.empty()) break;
        if (settled.lifts >= 0) {
            std::erase(resting, settled.lifts);
            turn(state, report, settled.lifts, ContactFlag::open);
        } else if (do_contacts_hold(state)) {
            break;
        }
    }
    return result;
}

template class StopStepper<2>;
template class StopStepper<3>;

}  // namespace limber
