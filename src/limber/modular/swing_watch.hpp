#pragma once
// Whether forces between components swing from step to step, ever wider.
//
// Springs that a step does not resolve do swing so: their force changes now this way, now that. With the scheme of an
// undivided mechanism the swings stay what they are, or die out. Where the two sides of a spring take different steps,
// or its force is extrapolated, they grow as a geometric series beyond a limit of stiffness, while every single step
// looks well. Beats of oscillations below the limit, and resonances, grow too, but slower and slower: of the quotients
// n / (n - 1) of such swings no more than three in a row exceed 3/2.
//
// Fast series show in single swings, slow ones in the widest of every four.

#include <span>
#include <vector>

#include "limber/kinematics/body_space/twist.hpp"

namespace limber {

template <int D>
class SwingWatch {
public:
    /// Torques count as forces at this length.
    SwingWatch(int ports, double length) : ports_(static_cast<std::size_t>(ports)), length_(length) {}

    /// Whether the force on a port, as a step of length h leaves it, goes on with swings that have no limit. Swings
    /// below `negligible` do not matter.
    bool does_swing_out(int port, const TwistVec<D>& force, double h, double negligible) const;
    /// The step has been accepted.
    void accept(std::span<const int> ports, std::span<const TwistVec<D>> forces, double h);
    /// What comes has nothing to do with what was.
    void restart() { h_ = 0; }

private:
    struct Port {
        TwistVec<D> force = TwistVec<D>::Zero();
        TwistVec<D> swing = TwistVec<D>::Zero();
        int fast = 0;           // swings in a row that were opposite to those before and much wider
        double widest = 0;      // swing of the window under way
        int opposite = 0;       // swings in it that were opposite to those before
        double before = 0;      // widest of the window before
        double first = 0;       // widest of the window from which on they have grown
        int wider_windows = 0;  // in a row, much wider than those before
    };
    /// The port after another force.
    Port follow(const Port& port, const TwistVec<D>& force, bool ends_window) const;

    std::vector<Port> ports_;
    double length_;
    double h_ = 0;   // of the steps accepted last; 0: none
    int steps_ = 0;  // of this length
};

}  // namespace limber
