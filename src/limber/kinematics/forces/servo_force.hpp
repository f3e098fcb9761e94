#pragma once
// A servo holds a measure at a target:  f = gain (target - x) + rate_gain (target' - v), limited (see
// along_measure.hpp).

#include "limber/kinematics/elements/time_function.hpp"
#include "limber/kinematics/forces/along_measure.hpp"

namespace limber {

template <int D>
struct ServoForce final : AppliedForceOf<ServoForce<D>, D> {
    int measure = -1;
    TimeFunction target;
    double gain = 0, rate_gain = 0, limit = 0;  ///< limit 0: none

    void evaluate(const ForceView<D>& at, Vec<D>* out) const override;
    bool compute_blocks(const ForceView<D>& at, ForceBlocks<D>& blocks) const override;
    double compute_size(const ForceView<D>& at) const override { return find_force(at).force; }
    bool is_felt_by_common_motion(const std::vector<Measure<D>>& measures) const override {
        return is_component(measures, measure);
    }
    void renumber(const Renumbering& to) { measure = to.measure(measure); }

private:
    ForceAlong find_force(const ForceView<D>& at) const;
};

}  // namespace limber
