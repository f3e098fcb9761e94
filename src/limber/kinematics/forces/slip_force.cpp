#include "limber/kinematics/forces/slip_force.hpp"

#include <algorithm>
#include <cmath>

#include "limber/kinematics/forces/along_measure.hpp"

namespace limber {
namespace {

// Linear between two instants.
double force_at(const SlipMemory::In<const double>& slip, double t) {
    const double length = slip.time_after - slip.time;
    const double share = length > 0 ? std::clamp((t - slip.time) / length, 0.0, 1.0) : 1;
    return slip.force + share * (slip.force_after - slip.force);
}

}  // namespace

template <int D>
FrictionForce SlipForce<D>::find_compliant_force(const ForceView<D>& at) const {
    const auto known = slip.in(at.context.memory);
    const auto start = bristles.in(at.context.memory);
    const Measure<D>& m = at.measures[measure];
    return evaluate_friction(law, force_at(known, at.t), compute_value(m, at.context), compute_rate(m, at.context),
                             {start.bend, start.place, start.rest}, std::max(0.0, at.t - known.time));
}

template <int D>
void SlipForce<D>::advance_bristles(const ForceView<D>& at, std::vector<double>& to) const {
    auto known = slip.in(to);
    auto kept = bristles.in(to);
    const Measure<D>& m = at.measures[measure];
    const Bristles end = limber::advance_bristles(law, compute_value(m, at.context), compute_rate(m, at.context),
                                                  {kept.bend, kept.place, kept.rest}, std::max(0.0, at.t - known.time));
    kept.bend = end.bend;
    kept.place = end.place;
    kept.rest = end.rest;
    known.time = known.time_after = at.t;
}

template <int D>
auto SlipForce<D>::find_slip(const ForceView<D>& at) const -> Slip {
    Slip found;
    const auto known = slip.in(at.context.memory);
    if (!known.is_on) return found;
    found.directions = measure >= 0 ? 1 : D - 1;
    if (law.is_compliant()) {
        found.force[0] = find_compliant_force(at).force;
        return found;
    }
    const double force = force_at(known, at.t);
    for (int d = 0; d < found.directions; ++d) found.force[d] = -force * known.direction[d];
    return found;
}

template <int D>
void SlipForce<D>::evaluate(const ForceView<D>& at, Vec<D>* out) const {
    for (int k = 0; k < at.slot_count; ++k) out[k].setZero();
    const Slip found = find_slip(at);
    std::array<Vec<D>, 8> gradient;
    for (int d = 0; d < found.directions; ++d) {
        if (measure >= 0) {
            compute_gradient(at.measures[measure], at.context, gradient.data());
        } else {
            compute_sliding_gradient(at.context.features, at.slots, rows[d], gradient.data());
        }
        for (int k = 0; k < at.slot_count; ++k) out[k] += found.force[d] * gradient[k];
    }
}

// Of Coulomb's law the stepper finds the force by a fixed point; what the turning of its direction contributes is left
// to Newton's method.
template <int D>
bool SlipForce<D>::compute_blocks(const ForceView<D>& at, ForceBlocks<D>& blocks) const {
    if (!law.is_compliant()) return false;
    const FrictionForce f = find_compliant_force(at);
    MeasureGradient<D> g;
    add_blocks_along(at, measure, {f.force, f.by_x, f.by_v}, g, blocks);
    return true;
}

template <int D>
double SlipForce<D>::compute_size(const ForceView<D>& at) const {
    const Slip found = find_slip(at);
    return measure >= 0 ? found.force[0] : std::hypot(found.force[0], found.force[1]);
}

template <int D>
bool SlipForce<D>::is_felt_by_common_motion(const std::vector<Measure<D>>& measures) const {
    return measure >= 0 && is_component(measures, measure);
}

template <int D>
void SlipForce<D>::add_felt_features(const ForceView<D>& at, std::vector<int>& features) const {
    const bool slides_as_point = measure < 0 && rows[0].radius == 0;
    const int count = slides_as_point ? D + 2 : at.slot_count;
    features.insert(features.end(), at.slots, at.slots + count);
}

template <int D>
void SlipForce<D>::renumber(const Renumbering& to) {
    if (measure >= 0) measure = to.measure(measure);
    slip = slip.renumbered(to.block);
    bristles = bristles.renumbered(to.block);
}

template struct SlipForce<2>;
template struct SlipForce<3>;

}  // namespace limber
