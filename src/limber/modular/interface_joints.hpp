#pragma once
// The joints, drivers and forces between components: they know both sides, and nothing of them but the
// motion of their ports. Rows are the model's own, written against body poses and twists; a multiplier is the
// generalised force that pushes its row's value up. Rows that measure angles are multiplied by a length, so that all
// multipliers count as forces.

#include <memory>
#include <span>

#include "limber/kinematics/body_space/twist_constraints.hpp"
#include "limber/kinematics/mechanism/part.hpp"
#include "limber/modular/component.hpp"
#include "limber/modular/interface_springs.hpp"

namespace limber {

template <int D>
class InterfaceJoints {
public:
    /// The bodies of the choice are the ports, in their order.
    InterfaceJoints(const Mechanism<D>& whole, const PartChoice& choice);
    /// The bodies of the part are the ports.
    explicit InterfaceJoints(Part<D> part);

    int row_count() const { return constraints_->row_count(); }
    int element_count() const { return static_cast<int>(mechanism_->elements.size()); }
    const Mechanism<D>& mechanism() const { return *mechanism_; }
    /// Indices of the joints and drivers in the whole; -1: has come later.
    const std::vector<int>& elements() const { return elements_; }
    bool has_forces() const { return !mechanism_->forces.elements.empty(); }
    bool is_holonomic(int row) const { return mechanism_->constraints.rows[row].is_holonomic(); }

    /// Rows and their wrenches for the motion of the ports.
    void update(std::span<const PortMotion<D>> motion, double t);
    VecX phi, rate, acceleration;  ///< of the rows; velocity rows have no phi

    /// Entries [begin, end) of a row: ports it acts on and the wrench of a unit multiplier on each.
    std::pair<int, int> entries(int row) const { return constraints_->entries(row); }
    int entry_port(int entry) const { return constraints_->entry_body(entry); }
    const TwistVec<D>& entry_wrench(int entry) const { return wrench_[entry]; }
    /// wrenches += G^T multipliers
    void add_wrenches(const VecX& multipliers, std::span<TwistVec<D>> wrenches) const;
    /// result = G twists
    void multiply(std::span<const TwistVec<D>> twists, VecX& result) const;
    /// Wrenches of springs and other forces between components, at the motion of the last update.
    void find_forces(std::span<TwistVec<D>> wrenches);
    /// How these forces resist, at the motion of the last update.
    InterfaceSprings<D>& springs() { return *springs_; }
    void update_springs(double position, double velocity) {
        springs_->update(states_, constraints_->features, memory_, time_, position, velocity);
    }
    /// The largest of the forces that act on one of these ports (see InterfaceSprings).
    double find_sensitivity_of_forces(std::span<const int> ports, double distance, double position) const;

    /// Turns and places on curves. Slots of the whole for each own one.
    const std::vector<int>& memory_slots() const { return memory_slots_; }
    void set_memory(std::span<const double> memory) { memory_.assign(memory.begin(), memory.end()); }
    const std::vector<double>& memory() const { return memory_; }
    /// The motion of the last update has been accepted.
    void accept();

    /// What a joint does to its second body, at its second marker, world axes.
    TwistVec<D> compute_reaction(int element, const VecX& multipliers) const;

private:
    std::shared_ptr<const Mechanism<D>> mechanism_;
    std::unique_ptr<TwistConstraints<D>> constraints_;
    std::unique_ptr<InterfaceSprings<D>> springs_;
    std::vector<int> elements_, memory_slots_;
    std::vector<double> memory_;
    double time_ = 0;
    BodyStates<D> states_;
    std::vector<TwistVec<D>> twists_, rates_, wrench_;
    std::vector<Vec<D>> slot_force_;
    VecX applied_;
};

}  // namespace limber
