#include "limber/kinematics/forces/slip_force.hpp"

#include <algorithm>
#include <cmath>

#include "limber/kinematics/forces/along_measure.hpp"

namespace limber {
namespace {

// Linear between two instants.
double force_at(const double* memory, double t) {
    const double length = memory[slip_time_after] - memory[slip_time];
    const double share = length > 0 ? std::clamp((t - memory[slip_time]) / length, 0.0, 1.0) : 1;
    return memory[slip_force] + share * (memory[slip_force_after] - memory[slip_force]);
}

Bristles bristles_in(const double* memory) {
    return {memory[slip_bend], memory[slip_place], memory[slip_rest]};
}

}  // namespace

template <int D>
FrictionForce SlipForce<D>::find_compliant_force(const ForceView<D>& at) const {
    const double* slip = at.memory(memory);
    const Measure<D>& m = at.measures[measure];
    return evaluate_friction(law, force_at(slip, at.t), compute_value(m, at.context), compute_rate(m, at.context),
                             bristles_in(slip), std::max(0.0, at.t - slip[slip_time]));
}

template <int D>
void SlipForce<D>::advance_bristles(const ForceView<D>& at, std::vector<double>& to) const {
    double* slip = to.data() + memory;
    const Measure<D>& m = at.measures[measure];
    const Bristles end = limber::advance_bristles(law, compute_value(m, at.context), compute_rate(m, at.context),
                                                  bristles_in(slip), std::max(0.0, at.t - slip[slip_time]));
    slip[slip_bend] = end.bend;
    slip[slip_place] = end.place;
    slip[slip_rest] = end.rest;
    slip[slip_time] = slip[slip_time_after] = at.t;
}

template <int D>
auto SlipForce<D>::find_slip(const ForceView<D>& at) const -> Slip {
    Slip slip;
    const double* known = at.memory(memory);
    if (known[slip_is_on] == 0) return slip;
    slip.directions = measure >= 0 ? 1 : D - 1;
    if (law.is_compliant()) {
        slip.force[0] = find_compliant_force(at).force;
        return slip;
    }
    const double force = force_at(known, at.t);
    for (int d = 0; d < slip.directions; ++d) slip.force[d] = -force * known[slip_direction + d];
    return slip;
}

template <int D>
void SlipForce<D>::evaluate(const ForceView<D>& at, Vec<D>* out) const {
    for (int k = 0; k < at.slot_count; ++k) out[k].setZero();
    const Slip slip = find_slip(at);
    std::array<Vec<D>, 8> gradient;
    for (int d = 0; d < slip.directions; ++d) {
        if (measure >= 0) {
            compute_gradient(at.measures[measure], at.context, gradient.data());
        } else {
            compute_sliding_gradient(at.context.features, at.slots, rows[d], gradient.data());
        }
        for (int k = 0; k < at.slot_count; ++k) out[k] += slip.force[d] * gradient[k];
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
    const Slip slip = find_slip(at);
    return measure >= 0 ? slip.force[0] : std::hypot(slip.force[0], slip.force[1]);
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
    memory = to.memory(memory, slip_size);
}

template struct SlipForce<2>;
template struct SlipForce<3>;

}  // namespace limber
