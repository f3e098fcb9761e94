#pragma once
// One evaluation of all components of all processes: each finds its motion under the wrenches given. Those that can be
// coupled take one step of their Newton iteration at a time instead; the others answer in full.

#include <array>
#include <string>
#include <vector>

#include "limber/modular/component_team.hpp"

namespace limber {

template <int D>
class ComponentEvaluation {
public:
    using Wrenches = std::vector<TwistVec<D>>;
    using Motion = std::vector<PortMotion<D>>;
    /// How the components are, as numbers of which the largest of all processes counts: failed, out of balance, change,
    /// acceptable change, and one for the caller.
    using Status = std::array<double, 5>;

    /// The team must outlive it.
    explicit ComponentEvaluation(ComponentTeam<D>& team);
    /// After the components have begun a step from this motion.
    void begin(const Motion& motion);

    // All of these return false if a component of any process has failed.
    /// All components answer.
    bool evaluate(const Wrenches& wrenches, Motion& motion);
    /// First motion: where coupled components start, what the others answer.
    bool open(const Wrenches& wrenches, Motion& motion);
    /// Next changes of the coupled components, as accelerations. A failure shows in the next status.
    void approach(const Wrenches& wrenches, bool refresh, Wrenches& rates);
    /// Coupled components take their changes and what further wrenches add, the others answer.
    bool advance(const Wrenches& further, const Wrenches& wrenches, Motion& motion);
    /// Coupled components complete the step.
    bool close(Motion& motion);

    /// For who sends it together with other numbers.
    Status find_own_status() const;
    bool set_status(const Status& status);

    bool is_coupled(int component) const { return kinds_[component].is_coupled; }
    bool has_coupled() const { return has_coupled_; }
    bool has_uncoupled() const { return has_uncoupled_; }
    const std::vector<Reach>& reaches() const { return reaches_; }
    /// Of ports from the origin, the largest.
    double distance() const { return distance_; }
    /// Whether no coupled component needs a further change, and the largest change of one.
    bool is_balanced() const { return is_balanced_; }
    const NewtonProgress& progress() const { return largest_progress_; }
    const std::string& failure() const { return failure_; }

private:
    struct Kind {
        Reach reach;
        double distance = 0;
        bool is_coupled = false;
    };
    template <class Act>
    bool evaluate_others(const Wrenches& wrenches, Motion& motion, const Act& act_coupled);
    bool have_all_succeeded();

    ComponentTeam<D>& team_;
    // Of all components in this step.
    std::vector<Kind> kinds_;
    std::vector<Reach> reaches_;
    bool has_coupled_ = false, has_uncoupled_ = false, is_balanced_ = false;
    double distance_ = 0;
    // Of own components.
    std::vector<StepReport> answers_;
    std::vector<char> balanced_;
    std::vector<NewtonProgress> progress_;
    NewtonProgress largest_progress_;
    std::string failure_;
};

}  // namespace limber
