#pragma once
// The stiffness and damping of forces between components, as rows that yield. With the changes x of the ports'
// accelerations a force changes by -B x, B = position K + velocity C over the twists of its ports, and B = L L^T on the
// part that resists. So
//   s m + L^T x = 0,   change of the wrenches = L m
// is a row like those of the joints, with the compliance s, and the matrix of the interface stays symmetric and as
// sparse. What is left out (negative stiffness, parts that are not symmetric) the iteration of the forces makes up for.

#include <span>
#include <vector>

#include "limber/kinematics/body_space/twist.hpp"

namespace limber {

template <int D>
class InterfaceSprings {
public:
    /// The bodies of the mechanism are the ports. It must outlive this.
    explicit InterfaceSprings(const Mechanism<D>& mechanism);

    /// Rows that the forces may need, the same at all times.
    int row_count() const { return static_cast<int>(row_start_.size()) - 1; }
    /// Of the forces that have rows, in the order of these.
    const std::vector<int>& ports(int force) const { return resistances_[force].ports; }
    /// First row of each, then the number of rows.
    const std::vector<int>& first_rows() const { return first_row_; }
    /// Of all rows, in the unit of admittance that suits the mechanism.
    double compliance() const { return 1 / mechanism_.mass_scale; }

    /// How far a unit of acceleration brings positions and velocities decides how stiff the rows are.
    void update(const BodyStates<D>& ports, const FeatureState<D>& features, const std::vector<double>& memory,
                double t, double position, double velocity);

    /// By how much a force can change if its ports move by this distance and turn by one, and their velocities change
    /// as they then do in a step. `position` as in the last update.
    double find_sensitivity(int force, double distance, double position) const;

    /// Entries [begin, end) of a row: ports it acts on and the wrench of a unit multiplier on each.
    std::pair<int, int> entries(int row) const { return {row_start_[row], row_start_[row + 1]}; }
    int entry_port(int entry) const { return entry_port_[entry]; }
    const TwistVec<D>& entry_wrench(int entry) const { return wrench_[entry]; }
    /// Of all entries.
    const std::vector<TwistVec<D>>& wrenches() const { return wrench_; }
    void set_wrenches(const std::vector<TwistVec<D>>& wrenches) { wrench_ = wrenches; }

private:
    struct Resistance {
        int force;
        std::vector<int> ports;
        VecX unit;  // of the twists, so that turns count as lengths
        MatX matrix, comparable;
    };
    void update_force(Resistance& resistance, int first_row);

    const Mechanism<D>& mechanism_;
    std::vector<Resistance> resistances_;
    std::vector<int> first_row_{0}, row_start_{0}, entry_port_;
    std::vector<TwistVec<D>> wrench_;
    ForceBlocks<D> blocks_;
};

}  // namespace limber
