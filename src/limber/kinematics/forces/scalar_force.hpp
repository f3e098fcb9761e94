#pragma once
// Springs, torsion springs and motors: a law of a measure, its rate, time and other scalars (see along_measure.hpp and
// law_input.hpp).

#include "limber/kinematics/forces/along_measure.hpp"
#include "limber/kinematics/forces/force_law.hpp"
#include "limber/kinematics/forces/law_input.hpp"

namespace limber {

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
    bool has_kinks() const override { return law.has_kinks(); }
    void add_kinks(const ForceView<D>& at, KinkArguments& kinks) const override;
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
