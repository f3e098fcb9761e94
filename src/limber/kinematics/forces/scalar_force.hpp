#pragma once
// Springs, torsion springs and motors: a law of a measure, its rate, time and other scalars (see along_measure.hpp).
// With inputs y_i, values or rates of other measures,
//   dF_a/df_b    += f_y g_a (d y / df_b)^T,   dF_a/dfdot_b += f_y g_a (d y / dfdot_b)^T

#include "limber/kinematics/forces/along_measure.hpp"
#include "limber/kinematics/forces/force_law.hpp"

namespace limber {

inline constexpr int max_law_inputs = 16;

/// A scalar used by a force law beside its own: the value of a measure or its rate.
struct LawInput {
    int measure = -1;
    bool is_rate = false;
};

template <int D>
struct ScalarForce final : AppliedForceOf<ScalarForce<D>, D> {
    int measure = -1;
    double free_value = 0;  ///< x = measure - free_value
    double sign = 1;        ///< -1: the law gives tension (springs); +1: it pushes the measure up (motors)
    BoundLaw law;
    std::vector<LawInput> inputs;  ///< their features follow those of the measure in the slots

    void evaluate(const ForceView<D>& at, Vec<D>* out) const override;
    bool compute_blocks(const ForceView<D>& at, ForceBlocks<D>& blocks) const override;
    double compute_size(const ForceView<D>& at) const override;
    double compute_potential(const ForceView<D>& at) const override;
    void evaluate_without_potential(const ForceView<D>& at, Vec<D>* out) const override;
    bool is_felt_by_common_motion(const std::vector<Measure<D>>& measures) const override;
    void renumber(const Renumbering& to);

private:
    struct Arguments {
        double x = 0, v = 0;
        std::array<double, max_law_inputs> inputs{};
        std::span<const double> span{};
    };
    void find_arguments(const ForceView<D>& at, Arguments& arguments) const;
};

}  // namespace limber
