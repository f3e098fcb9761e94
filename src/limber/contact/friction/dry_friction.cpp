#include "limber/contact/friction/dry_friction.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "limber/contact/friction/painleve.hpp"
#include "limber/contact/friction/slip_discs.hpp"
#include "limber/contact/time_stepping/contact_wrenches.hpp"
#include "limber/integration/step_control.hpp"
#include "limber/kinematics/forces/compliant_contact.hpp"
#include "limber/math/dense_factors.hpp"

namespace limber {
namespace {

constexpr double rest_speed = 1e-9;  // slower than this, over the length scale, is no slip
// Of slip forces, over the largest: what is wanted, and what is accepted where the formulation's accelerations are no
// better, so that further passes gain nothing.
constexpr double force_accuracy = 1e-11;
constexpr double accepted_accuracy = 1e-7;
constexpr double vanishing = 1e-12;       // in units of mass and length of the mechanism: no force but rounding
constexpr double excess = 1e-9;           // of a stick force beyond its bound that counts
constexpr double no_acceleration = 1e-6;  // over the length scale: of slip that is about to begin, or to be thrown back
constexpr double large_turn = 1e-3;
constexpr int max_stick_passes = 60;
constexpr int max_halvings = 8;  // of a step in which no force of slip is found

}  // namespace

template <int D>
DryFriction<D>::DryFriction(std::shared_ptr<const MechanismSystem<D>> system)
    : system_(std::move(system)),
      m_(system_->mechanism()),
      reactions_(m_),
      shared_stick_(m_),
      speed_tolerance_(rest_speed * m_.length_scale) {
    rates_.resize(m_.bodies.size());
    // What others hold in its place needs no friction, neither here nor at what slips and shares a load with it.
    std::vector<int> slip_rows;
    for (const FrictionElement& friction : m_.friction)
        for (int k = 0; k < friction.row_count; ++k) slip_rows.push_back(friction.first_row + k);
    reactions_.spare(std::move(slip_rows));
    features_.resize(m_.features.size());
    for (const FrictionElement& friction : m_.friction)
        if (friction.compliant >= 0) bristled_.push_back(friction.compliant);
    for (std::size_t i = 0; i < m_.forces.elements.size(); ++i) {
        const auto* contact = m_.forces.elements[i].template as<CompliantContact>();
        if (contact != nullptr && contact->bristles.exists()) bristled_.push_back(static_cast<int>(i));
    }
    for (const int i : bristled_) {
        const ForceElement<D>& e = m_.forces.elements[i];
        for (int s = e.first_slot; s < e.first_slot + e.slot_count; ++s)
            bristle_features_.push_back(m_.forces.slot_feature[s]);
    }
}

template <int D>
MeasureContext<D> DryFriction<D>::look_at_bristles(const State& state) {
    system_->export_states(state.q, state.v, states_);
    update_features<D>(m_, states_, bristle_features_, features_);
    return {features_, state.memory, m_.curves};
}

// Straight, as if they had just come to rest; of what slides at the start, bent as if it had always done so.
template <int D>
void DryFriction<D>::begin_bristles(State& state, int i) {
    m_.friction[i].slip.in(state.memory).is_on = true;
    const SlipForce<D>& force = *m_.forces.elements[m_.friction[i].compliant].template as<SlipForce>();
    const FrictionLaw& law = force.law;
    const MeasureContext<D> context = look_at_bristles(state);
    const double x = compute_value(m_.measure(force.measure), context);
    const double v = compute_rate(m_.measure(force.measure), context);
    const double far = 1e3 * law.at_rest / law.kinetic * law.bend / law.lever;
    const bool slides = std::abs(law.lever * v) > law.stribeck;
    auto bristles = m_.friction[i].bristles.in(state.memory);
    bristles.bend = slides ? limber::advance_bristles(law, x, v, {0, x - std::copysign(far, v), 0}, 0).bend : 0;
    bristles.place = x;
}

template <int D>
void DryFriction<D>::advance_bristles(State& state) {
    if (bristled_.empty()) return;
    const MeasureContext<D> context = look_at_bristles(state);
    for (const int i : bristled_) {
        const ForceElement<D>& e = m_.forces.elements[i];
        const ForceView<D> view = m_.forces.view(e, m_.constraints.measures, context, state.t);
        if (const auto* contact = e.template as<CompliantContact>()) {
            contact->advance_bristles(view, state.memory);
        } else {
            e.template as<SlipForce>()->advance_bristles(view, state.memory);
        }
    }
}

template <int D>
void DryFriction<D>::stamp_bristles(State& state) const {
    for (const int i : bristled_)
        if (const auto* contact = m_.forces.elements[i].template as<CompliantContact>())
            contact->bristles.in(state.memory).time = state.t;
}

template <int D>
bool DryFriction<D>::is_any_slipping(const State& state) const {
    return std::any_of(m_.friction.begin(), m_.friction.end(),
                       [&](const FrictionElement& friction) { return bool{friction.slip.in(state.memory).is_on}; });
}

template <int D>
bool DryFriction<D>::is_loaded(const State& state, int i) const {
    const int contact = m_.friction[i].contact;
    return contact < 0 || m_.stops[contact].is_closed(state.memory);
}

template <int D>
void DryFriction<D>::find_reactions(const State& state) {
    system_->export_states(state.q, state.v, states_);
    system_->export_twist_rates(state.q, state.v, state.a, rates_);
    update_contact_wrenches<D>(state, states_, touching_);
    reactions_.solve(states_, state.memory, state.t, rates_, touching_);
}

template <int D>
double DryFriction<D>::contact_force(int i) const {
    return reactions_.row_multiplier(m_.stops[m_.friction[i].contact].row);
}

template <int D>
double DryFriction<D>::load(int i) const {
    const FrictionElement& friction = m_.friction[i];
    if (friction.contact >= 0) return std::max(0.0, contact_force(i));
    const TwistVec<D> wrench = reactions_.reaction(friction.joint);
    const double force = wrench.template head<D>().norm();
    const double moment = wrench.template tail<angular_size<D>>().norm();
    return force + (friction.arm > 0 ? 2 * moment / friction.arm : 0) + friction.preload;
}

template <int D>
double DryFriction<D>::stick_force(int i) const {
    const FrictionElement& friction = m_.friction[i];
    double square = 0;
    for (int k = 0; k < friction.row_count; ++k)
        square += std::pow(reactions_.row_multiplier(friction.first_row + k), 2);
    return std::sqrt(square);
}

template <int D>
double DryFriction<D>::stick_ratio(int i) const {
    const double force = stick_force(i);
    return force > excess * m_.mass_scale * m_.length_scale ? force / (m_.friction[i].at_rest * load(i)) : 0;
}

template <int D>
void DryFriction<D>::add_event(StepReport& report, ContactEvent::Kind kind, double t, int i) const {
    ContactEvent event;
    event.kind = kind;
    event.t = t;
    event.stop = m_.friction[i].name;
    report.events.push_back(std::move(event));
}

template <int D>
void DryFriction<D>::update_mobility(StopResponse<D>& response, const State& state, double h) {
    planar_.clear();
    entries_.clear();
    for (std::size_t k = 0; k < slipping_.size(); ++k) {
        if (m_.friction[slipping_[k]].row_count < 2) continue;
        planar_.push_back(static_cast<Eigen::Index>(k));
        for (int d = 0; d < 2; ++d) entries_.push_back(response.slip_entry(slipping_[k], d));
    }
    mobility_.resize(0, 0);
    is_scaled_ = false;
    last_rates_.resize(0);
    if (planar_.empty() || !(h > 0)) return;
    const auto n = static_cast<Eigen::Index>(entries_.size());
    for (int i = 0; i < response.count(); ++i)
        if (m_.stops[i].is_closed(state.memory)) entries_.push_back(i);
    const auto closed = static_cast<Eigen::Index>(entries_.size()) - n;
    if (!response.prepare(states_, state.memory, state.t, entries_)) return;
    const MatX& w = response.delassus();
    mobility_ = h * w.topLeftCorner(n, n);
    if (closed > 0)
        mobility_ -= h * w.topRightCorner(n, closed) *
                     solve_least_norm(w.bottomRightCorner(closed, closed), MatX(w.bottomLeftCorner(closed, n)));
}

template <int D>
void DryFriction<D>::rescale_mobility(const VecX& rates) {
    if (is_scaled_ || last_rates_.size() == 0) return;
    const VecX expected = mobility_ * last_pushes_;
    if (!(expected.norm() > speed_tolerance_)) return;  // nothing but rounding to be seen
    const VecX seen = rates - last_rates_;
    const double factor = seen.dot(expected) / expected.squaredNorm();
    // Other forces change too, and what comes to rest does not answer linearly: then the mobility is left as it is,
    // which is safe if too large.
    if (!(factor > 0.2 && factor < 2) || (seen - factor * expected).norm() > 0.1 * seen.norm()) return;
    mobility_ *= factor;
    is_scaled_ = true;
}

template <int D>
double DryFriction<D>::turn_directions(const StopResponse<D>& response) {
    if (mobility_.size() == 0) return 0;
    const auto count = static_cast<Eigen::Index>(planar_.size());
    VecX rates(2 * count);
    VecX pushes(2 * count);
    VecX sizes(count);
    for (Eigen::Index j = 0; j < count; ++j) {
        const int i = slipping_[planar_[j]];
        const auto direction = m_.friction[i].slip.in(trial_.memory).direction;
        sizes[j] = std::max(0.0, forces_[planar_[j]]);
        for (int d = 0; d < 2; ++d) {
            rates[2 * j + d] = response.slip_rate(i, d);
            pushes[2 * j + d] = -forces_[planar_[j]] * direction[d];
        }
    }
    rescale_mobility(rates);
    VecX next = pushes;
    if (!solve_slip_discs(mobility_, rates - mobility_ * pushes, sizes, speed_tolerance_, next)) passes_rest_ = true;
    double turned = 0;
    for (Eigen::Index j = 0; j < count; ++j) {
        const Vec<2> push = next.template segment<2>(2 * j);
        if (!(push.norm() > 0)) continue;
        auto direction = m_.friction[slipping_[planar_[j]]].slip.in(trial_.memory).direction;
        const Vec<2> along = -push.normalized();
        turned = std::max(turned, (along - direction).norm());
        direction = along;
        next.template segment<2>(2 * j) = -forces_[planar_[j]] * along;
    }
    last_rates_ = rates;
    last_pushes_ = next - pushes;
    return turned;
}

// Loads depend on the forces almost linearly: Broyden's method, which begins as a plain fixed point, needs few passes,
// and converges also where forces and loads feed on each other strongly. That is so as long as contacts may pull, which
// those that do will not be asked to for long: they open. Only where forces of least norm pull among several that push
// together friction must not push, too: then loads are cut off at zero.
template <int D>
template <class Advance>
StepReport DryFriction<D>::find_forces(StopResponse<D>& response, State& state, double h, const Advance& advance) {
    before_ = trial_ = state;
    slipping_.clear();
    for (int i = 0; i < static_cast<int>(m_.friction.size()); ++i)
        if (slips(state, i)) slipping_.push_back(i);
    const auto n = static_cast<Eigen::Index>(slipping_.size());
    forces_.resize(n);
    for (Eigen::Index k = 0; k < n; ++k) forces_[k] = m_.friction[slipping_[k]].slip.in(state.memory).force_after;
    inverse_.setIdentity(n, n);
    StepReport report;
    int iterations = 0;
    double last_error = std::numeric_limits<double>::infinity();
    bool is_comparable = false;  // with the pass before
    bool may_pull = true;
    for (int pass = 0; pass < max_stick_passes; ++pass) {
        state = trial_;
        report = advance(state);
        iterations += report.iterations;
        report.iterations = iterations;
        if (!report.ok) {
            state = before_;
            return report;
        }
        find_reactions(state);
        previous_defect_ = defect_;
        defect_.resize(n);
        double largest = 0;
        for (Eigen::Index k = 0; k < n; ++k) {
            const int i = slipping_[k];
            const bool pulls = may_pull && m_.friction[i].contact >= 0;
            const double next = m_.friction[i].kinetic * (pulls ? contact_force(i) : load(i));
            largest = std::max(largest, std::abs(next));
            defect_[k] = next - forces_[k];
        }
        response.look(states_, state.memory, state.t);
        if (pass == 0) update_mobility(response, state, h);
        const double turned = turn_directions(response);
        const double error = std::max(defect_.lpNorm<Eigen::Infinity>(), turned * largest);
        // Where forces feed on nothing but themselves there are none, and no share of them is small enough.
        const bool is_found = error <= force_accuracy * largest ||
                              error <= vanishing * m_.mass_scale * m_.length_scale ||
                              (error <= accepted_accuracy * largest && error > 0.5 * last_error);
        if (is_found && (!may_pull || forces_.minCoeff() >= -accepted_accuracy * largest)) return report;
        if (!std::isfinite(error)) break;
        last_error = error;
        if (is_found) {
            may_pull = is_comparable = false;
            forces_ = forces_.cwiseMax(0.0);
            defect_.setZero();
        }
        // What forces do to loads depends on directions.
        if (is_found || turned > large_turn) inverse_.setIdentity(n, n);
        if (is_comparable) {
            previous_defect_ = defect_ - previous_defect_;
            product_.noalias() = inverse_ * previous_defect_;
            row_.noalias() = inverse_.transpose() * change_;
            const double curvature = change_.dot(product_);
            if (curvature != 0) inverse_ -= (change_ + product_) * row_.transpose() / curvature;
        }
        change_.noalias() = inverse_ * defect_;
        // Where directions turn by more than forces change, loads do not show what forces do to them.
        is_comparable = turned * largest <= change_.lpNorm<Eigen::Infinity>();
        forces_ += change_;
        for (Eigen::Index k = 0; k < n; ++k) m_.friction[slipping_[k]].slip.in(trial_.memory).force_after = forces_[k];
    }
    // At the end of the last trial, or where the step begins.
    system_->export_states(state.q, state.v, states_);
    bool is_impossible = is_paradox(m_, response, states_, trial_);
    state = before_;
    system_->export_states(state.q, state.v, states_);
    is_impossible = is_impossible || is_paradox(m_, response, states_, before_);
    report.ok = false;
    report.reason = fmt::format("friction at '{}': {}", m_.friction[slipping_.front()].name,
                                is_impossible ? "no force is consistent with its own load while it slips (Painleve)"
                                              : "its force was not found while it slips");
    return report;
}

template <int D>
StepReport DryFriction<D>::step(Stepper& inner, StopResponse<D>& response, State& state, double h) {
    passes_rest_ = false;
    if (!is_any_slipping(state)) {
        StepReport report = inner.step(state, h);
        if (report.ok) advance_bristles(state);
        return report;
    }
    StepReport last;
    return step_with_halvings(state, h, max_halvings, [&](State& part, double length) {
        if (!passes_rest_) {
            last = step_once(inner, response, part, length);
        } else if (last.ok) {
            last.ok = false;
            last.reason = "slip comes to rest";
        }
        return last;
    });
}

template <int D>
StepReport DryFriction<D>::step_once(Stepper& inner, StopResponse<D>& response, State& state, double h) {
    for (const FrictionElement& friction : m_.friction) {
        auto slip = friction.slip.in(state.memory);
        slip.force = slip.force_after;
        slip.time = state.t;
        slip.time_after = state.t + h;
    }
    const StepReport report = find_forces(response, state, h, [&](State& end) { return inner.step(end, h); });
    if (report.ok) advance_bristles(state);
    return report;
}

template <int D>
StepReport DryFriction<D>::start(Stepper& inner, StopResponse<D>& response, State& state) {
    if (!is_any_slipping(state)) return inner.start(state);
    for (const FrictionElement& friction : m_.friction) {
        auto slip = friction.slip.in(state.memory);
        slip.time = slip.time_after = state.t;
    }
    return find_forces(response, state, 0, [&](State& at) { return inner.start(at); });
}

template <int D>
bool DryFriction<D>::does_stick_hold(StopResponse<D>& response, const State& state) {
    for (int i = 0; i < static_cast<int>(m_.friction.size()); ++i) {
        if (is_compliant(i) || !sticks(state, i) || !(stick_ratio(i) > 1 + excess)) continue;
        if (m_.friction[i].contact < 0 || !shared_stick_.exists(response, states_, state, touching_)) return false;
    }
    return true;
}

template <int D>
bool DryFriction<D>::holds(Stepper& inner, StopResponse<D>& response, const State& state) {
    for (int i = 0; i < static_cast<int>(m_.friction.size()); ++i) {
        const FrictionElement& friction = m_.friction[i];
        if (is_compliant(i) || !slips(state, i)) continue;
        double along = 0;
        for (int k = 0; k < friction.row_count; ++k)
            along += response.slip_rate(i, k) * friction.slip.in(state.memory).direction[k];
        // A contact that is held by others may tremble by rounding errors.
        if (along < -0.5 * speed_tolerance_) return false;
    }
    const auto is_sticking = [&](const FrictionElement& friction) {
        return friction.compliant < 0 && friction.stick.in(state.memory);
    };
    if (std::none_of(m_.friction.begin(), m_.friction.end(), is_sticking)) return true;
    find_reactions(state);
    if (does_stick_hold(response, state)) return true;
    // The accelerations of a scheme have its errors and, under gains, what pulls constraints together. What settles
    // friction is the equations of motion at this instant; unless they agree nothing would change, again and again.
    exact_ = state;
    if (!start(inner, response, exact_).ok) return false;
    find_reactions(exact_);
    return does_stick_hold(response, exact_);
}

template <int D>
void DryFriction<D>::start_slip(State& state, int i, const VecX& direction) {
    const FrictionElement& friction = m_.friction[i];
    friction.stick.in(state.memory) = false;
    auto slip = friction.slip.in(state.memory);
    slip.is_on = true;
    for (int k = 0; k < friction.row_count; ++k) slip.direction[k] = direction[k];
}

template <int D>
bool DryFriction<D>::recoils(StopResponse<D>& response, const State& state, int i) {
    const FrictionElement& friction = m_.friction[i];
    if (friction.contact < 0) return false;
    double along = 0;
    for (int k = 0; k < friction.row_count; ++k)
        along += response.acceleration(response.slip_entry(i, k), rates_) * friction.slip.in(state.memory).direction[k];
    return along < no_acceleration * m_.length_scale && is_paradox(m_, response, states_, state);
}

template <int D>
FrictionSettled DryFriction<D>::settle(Stepper& inner, StopResponse<D>& response, State& state, StepReport& report) {
    const int count = static_cast<int>(m_.friction.size());
    stamp_bristles(state);
    FrictionSettled result;
    if (count == 0) {
        result.report = inner.start(state);
        return result;
    }
    const State old = state;
    VecX rate(2);
    for (int i = 0; i < count; ++i) {
        const FrictionElement& friction = m_.friction[i];
        if (is_compliant(i)) {
            if (!slips(state, i)) begin_bristles(state, i);
            continue;
        }
        friction.stick.in(state.memory) = false;
        friction.slip.in(state.memory).is_on = false;
        if (!is_loaded(state, i)) continue;
        rate.setZero(2);
        for (int k = 0; k < friction.row_count; ++k) rate[k] = response.slip_rate(i, k);
        if (rate.norm() > speed_tolerance_) {
            start_slip(state, i, rate.normalized());
        } else {
            friction.stick.in(state.memory) = true;
        }
    }
    // What cannot stick begins to slip, the worst first.
    int worst = -1;
    for (int pass = 0; pass <= count; ++pass) {
        result.report = start(inner, response, state);
        if (!result.report.ok) return result;
        find_reactions(state);
        if (worst >= 0 && recoils(response, state, worst)) {
            result.lifts = m_.friction[worst].contact;
            state = old;
            return result;
        }
        worst = -1;
        double largest = 1 + excess;
        for (int i = 0; i < count; ++i) {
            if (!sticks(state, i)) continue;
            const double ratio = stick_ratio(i);
            if (ratio > largest) {
                largest = ratio;
                worst = i;
            }
        }
        if (worst < 0) break;
        if (m_.friction[worst].contact >= 0 && shared_stick_.exists(response, states_, state, touching_)) break;
        const FrictionElement& friction = m_.friction[worst];
        rate.setZero(2);
        for (int k = 0; k < friction.row_count; ++k) rate[k] = -reactions_.row_multiplier(friction.first_row + k);
        start_slip(state, worst, rate.normalized());
        friction.slip.in(state.memory).force_after = friction.kinetic * load(worst);
    }
    for (int i = 0; i < count; ++i) {
        if (sticks(state, i) && !sticks(old, i)) add_event(report, ContactEvent::Kind::stuck, state.t, i);
        if (slips(state, i) && !slips(old, i) && !is_compliant(i))
            add_event(report, ContactEvent::Kind::slipped, state.t, i);
    }
    return result;
}

template class DryFriction<2>;
template class DryFriction<3>;

}  // namespace limber
