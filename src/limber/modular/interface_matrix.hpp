#pragma once
// The matrix of the interface, as the components show it: K = G Y G^T over the rows of the joints, and of the springs
// between components where these are found with their stiffness. Y, what the ports do under unit wrenches, is measured
// component by component; K is assembled from it with the wrenches of the rows of here, factorised and kept while it
// serves.
//
// Accelerations of different components bring their ports to different places at the end of a step (Reach). K is either
// that of the end of the step, where each component counts by its share of the mean reach, or that of accelerations
// alone.

#include <span>
#include <vector>

#include "limber/modular/admittance.hpp"
#include "limber/modular/component_team.hpp"
#include "limber/modular/gluing.hpp"
#include "limber/modular/interface_joints.hpp"

namespace limber {

/// What was measured, and how it has served.
template <int D>
struct InterfaceMatrixSnapshot {
    std::vector<MatX> box_admittances;
    std::vector<TwistVec<D>> spring_wrenches;
    std::vector<double> values;
    bool is_ready = false, is_old = true, is_of_end = true;
    int best_evaluations = 0, excess_evaluations = 0;
    double force_sensitivity = 0;
};

template <int D>
class InterfaceMatrix {
public:
    /// The team must outlive it.
    explicit InterfaceMatrix(ComponentTeam<D>& team);

    /// Other joints, which must outlive it; or other processes. Forces between components have rows only with springs.
    void connect(InterfaceJoints<D>& joints, bool with_springs);
    /// A step of this length, in which components reach so far. Ports are so far from the origin.
    void begin(double h, double distance, const std::vector<Reach>& reaches);

    /// Mean of all components, and how far a component gets in comparison.
    const Reach& reach() const { return reach_; }
    double reach_share(int component) const { return reaches_[component].position / reach_.position; }
    bool has_equal_reach() const { return has_equal_reach_; }
    int spring_rows() const { return spring_rows_; }
    double distance() const { return distance_; }

    /// Tries unit wrenches on all ports of all components, and assembles. Returns the measuring cost.
    int measure();
    /// Unit wrenches that takes, of the largest component.
    int measuring_cost() const;
    /// K of the end of the step, or of accelerations, from what was measured.
    void assemble(bool at_the_end);
    bool is_of_end() const { return is_of_end_; }
    /// How much forces between components on own ports could change if the ports moved by their distance from the
    /// origin, at the last assembly for a step. Rounding leaves them uncertain by the same part of it as of places.
    double force_sensitivity() const { return force_sensitivity_; }
    /// Whether it should be measured anew. An admittance of long ago shows in the number of evaluations that steps
    /// take: it has served when these have cost as much as measuring anew.
    bool is_old() const { return is_old_; }
    void make_old() { is_old_ = true; }
    void judge(int evaluations);
    void save(InterfaceMatrixSnapshot<D>& to) const;
    /// For the same joints.
    void restore(const InterfaceMatrixSnapshot<D>& from);

    Admittance& admittance() { return *admittance_; }
    /// Solves K correction = -rows, where the ports are about to change by `known`; the wrenches of the springs that
    /// answer all of this go into spring_wrenches.
    void solve(const VecX& rows, const std::vector<TwistVec<D>>& known, VecX& correction,
               std::vector<TwistVec<D>>& spring_wrenches);
    /// x <- K^-1 x and x <- what K moves of x, for multipliers of the joints.
    void solve_joints(VecX& x);
    void project_joints(VecX& x);
    /// The largest force that would move its row alone as much as these multipliers do.
    double find_largest_force(const VecX& multipliers);
    /// result = K x for the joints, by evaluations of the components.
    void multiply(const VecX& x, VecX& result);
    AdmittanceProduct product() {
        return [this](const VecX& x, VecX& result) { multiply(x, result); };
    }
    /// What the ports of a component do under further wrenches (a list over all ports), as measured.
    void add_answer(int component, const std::vector<TwistVec<D>>& wrenches, std::vector<TwistVec<D>>& changes) const;

private:
    struct ComponentMeasure {
        MatX admittance, wrench, product, part;
        std::vector<TwistVec<D>> unit, rates;
    };
    /// Calls act(port, wrench of a unit multiplier) for a row: those of the joints, then those of the springs.
    template <class Act>
    void for_entries(int row, const Act& act) const;
    void connect_springs();
    /// What its ports do under unit wrenches, and what they mean for the rows.
    void measure_component(int component);
    void find_rows_of_component(int component);

    ComponentTeam<D>& team_;
    InterfaceJoints<D>* joints_ = nullptr;
    InterfaceExchange spring_exchange_;  // of the rows of forces between components
    std::unique_ptr<Admittance> admittance_;
    std::vector<std::vector<int>> box_rows_;
    int spring_rows_ = 0;  // beside those of the joints

    double h_ = 0, distance_ = 0;
    std::vector<Reach> reaches_;
    Reach reach_;
    bool has_equal_reach_ = true;

    std::vector<ComponentMeasure> component_measures_;  // own components
    std::vector<int> first_measure_;                    // of each component's part of K in measures_
    std::vector<double> measures_;                      // lower triangles, row by row
    bool is_old_ = true, is_of_end_ = true;
    int best_evaluations_ = 0;    // of a step with the admittance in use
    int excess_evaluations_ = 0;  // beyond these since it was measured
    double force_sensitivity_ = 0;

    VecX unknown_, product_, spring_changes_;
    std::vector<TwistVec<D>> probe_, responses_;
};

}  // namespace limber
