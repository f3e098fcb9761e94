#include "limber/integration/kink_stepper.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "limber/integration/kink_crossing.hpp"

namespace limber {
namespace {

// Over the step: how exactly a kink is met, what counts as begun there, and the shortest part. What is left of a step
// beyond a kink is a part, too, and velocities have the rounding errors of positions over its length.
constexpr double kink_margin = 1e-4;
constexpr double near_kink = 1e-3;
constexpr double shortest_part = 1e-6;
constexpr int max_trials = 12;   // of one part
constexpr int max_parts = 1000;  // of one step
// Behind a kink with omega h beyond the first, parts are this share of the step, and this over omega at most.
constexpr double stiff_bounce = 0.25;
constexpr double share_of_step = 0.125;
constexpr double share_of_bounce = 0.5;

bool is_near_kink(const KinkArgument& argument, double h) {
    return std::abs(argument.value - argument.at[0]) <= near_kink * h * std::abs(argument.rate);
}

}  // namespace

template <int D>
bool has_kinks(const Mechanism<D>& mechanism) {
    return std::any_of(mechanism.forces.elements.begin(), mechanism.forces.elements.end(),
                       [](const ForceElement<D>& e) { return e.force->has_kinks(); });
}

template <int D>
KinkStepper<D>::KinkStepper(std::unique_ptr<Stepper> inner, std::shared_ptr<const MechanismSystem<D>> system)
    : inner_(std::move(inner)), system_(std::move(system)), m_(system_->mechanism()) {
    for (const ForceElement<D>& e : m_.forces.elements) {
        if (!e.force->has_kinks()) continue;
        forces_.push_back(&e);
        for (int k = 0; k < e.slot_count; ++k) {
            const int feature = m_.forces.slot_feature[e.first_slot + k];
            features_used_.push_back(feature);
            if (m_.features[feature].body >= 0) bodies_used_.push_back(m_.features[feature].body);
        }
    }
    for (std::vector<int>* list : {&features_used_, &bodies_used_}) {
        std::sort(list->begin(), list->end());
        list->erase(std::unique(list->begin(), list->end()), list->end());
    }
    states_.resize(m_.bodies.size());
    features_.resize(m_.features.size());
}

template <int D>
void KinkStepper<D>::look(const State& state, KinkArguments& arguments) {
    system_->export_states_of(bodies_used_, state.q, state.v, states_);
    update_features<D>(m_, states_, features_used_, features_);
    arguments.clear();
    const MeasureContext<D> context{features_, state.memory, m_.curves};
    for (const ForceElement<D>* e : forces_)
        e->force->add_kinks(m_.forces.view(*e, m_.constraints.measures, context, state.t), arguments);
}

template <int D>
void KinkStepper<D>::look_at_start(const State& state) {
    const bool is_known =
        known_t_ == state.t && known_q_.size() == state.q.size() && known_q_ == state.q && known_v_ == state.v;
    if (is_known) {
        std::swap(before_, now_);
    } else {
        look(state, before_);
    }
    bounces_.resize(before_.size());
}

template <int D>
StepReport KinkStepper<D>::start(State& state) {
    bounces_.assign(bounces_.size(), Bounce());
    known_q_.resize(0);
    const StepReport report = inner_->start(state);
    start_ = part_start_ = state;  // so that no step has to make room
    return report;
}

template <int D>
double KinkStepper<D>::find_part(double t, double length) const {
    double part = length;
    for (const Bounce& b : bounces_)
        if (t >= b.begin && t < b.end) part = std::min(part, b.part);
    return part;
}

template <int D>
double KinkStepper<D>::find_bounce(double t, double length, double h) {
    double part = length;
    for (std::size_t i = 0; i < before_.size(); ++i) {
        const KinkArgument& from = before_[i];
        const KinkArgument& to = now_[i];
        // Along tables and roads pieces are long.
        if (from.at.size() != 1 || !std::isfinite(from.rate) || !std::isfinite(to.rate)) continue;
        if (!is_near_kink(from, h)) continue;
        const double sum = from.rate + to.rate;
        if (!(sum * from.rate > 0)) {  // far too long to see anything
            part = std::min(part, length / 4);
            continue;
        }
        const double omega = 2 * std::sqrt(std::max(0.0, (from.rate - to.rate) / sum)) / length;
        if (!(omega * h > stiff_bounce)) continue;
        const double allowed = std::min(share_of_step * h, share_of_bounce / omega);
        bounces_[i] = {t, t + pi / omega, allowed};
        part = std::min(part, allowed);
    }
    return part;
}

template <int D>
void KinkStepper<D>::end_bounces(double t, double h) {
    for (std::size_t i = 0; i < bounces_.size(); ++i) {
        Bounce& b = bounces_[i];
        if (b.end <= t) continue;
        if (t > b.begin + near_kink * h && is_near_kink(now_[i], h)) b = Bounce();
    }
}

// One part, as long as no kink is crossed within it.
template <int D>
StepReport KinkStepper<D>::step_part(State& state, double length, double h, int trials) {
    const double least = shortest_part * h;
    part_start_ = state;
    StepReport report;
    report.substeps = 0;
    for (int trial = 0;; ++trial) {
        if (trial > 0) state = part_start_;
        StepReport part = inner_->step(state, length);
        part.iterations += report.iterations;
        report = std::move(part);
        if (!report.ok) return report;
        look(state, now_);
        if (trial == trials) return report;
        const double share = find_first_crossing(before_, now_, length, std::min(0.5, kink_margin * h / length));
        double shorter = length;
        if (share < 1) {
            // The end of a part feels what is behind the kink: found too late once, it is approached from before.
            shorter = (trial == 0 ? share : std::max(0.5 * share, 2 * share - 1)) * length;
        } else if (const double allowed = find_bounce(part_start_.t, length, h); allowed < 0.999 * length) {
            shorter = allowed;
        }
        if (shorter == length || length <= least) return report;
        length = std::max(shorter, least);
    }
}

template <int D>
StepReport KinkStepper<D>::step(State& state, double h) {
    const double end = state.t + h;
    inner_->expect_parts_of(h);
    if (listener_ != nullptr) listener_->begin_step();
    look_at_start(state);
    StepReport report;
    report.substeps = 0;
    for (int parts = 0;; ++parts) {
        if (parts == 1) start_ = part_start_;
        const double rest = end - state.t;
        const double length = parts < max_parts ? find_part(state.t, rest) : rest;
        StepReport part = step_part(state, length, h, parts < max_parts ? max_trials : 0);
        report.iterations += part.iterations;
        report.substeps += part.substeps;
        if (!part.ok) {
            state = parts == 0 ? part_start_ : start_;
            report.ok = false;
            report.reason = std::move(part.reason);
            known_q_.resize(0);
            return report;
        }
        const bool is_last = !(end - state.t > shortest_part * h);
        if (is_last) state.t = end;
        if (listener_ != nullptr) listener_->add_stretch(part_start_, state);
        end_bounces(state.t, h);
        // Schemes that look back must not look across a kink, nor at parts of quite another length.
        if (!is_last || parts > 0) state.previous_step = 0;
        if (is_last) break;
        std::swap(before_, now_);
    }
    known_t_ = state.t;
    known_q_ = state.q;
    known_v_ = state.v;
    return report;
}

template bool has_kinks(const Mechanism<2>&);
template bool has_kinks(const Mechanism<3>&);
template class KinkStepper<2>;
template class KinkStepper<3>;

}  // namespace limber
