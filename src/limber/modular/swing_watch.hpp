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
#include <string>
#include <vector>

#include "limber/kinematics/mechanism/mechanism.hpp"
#include "limber/modular/interface_exchange.hpp"

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
    /// The same over all processes, as a step with this tolerance leaves the forces: accepts them, or refuses the step
    /// from then on. Rounding leaves forces uncertain by this part of `sensitivity`.
    bool accept_unless_swinging(InterfaceExchange& exchange, const Mechanism<D>& joints,
                                std::span<const TwistVec<D>> forces, double h, double tolerance, double sensitivity);
    /// Whether it is known that forces would swing without bounds. Shorter steps that are still unequal are not tried
    /// if forces are iterated: each trial would widen the swings.
    bool is_refused(double h, bool iterates_forces) const {
        return refused_step_ > 0 && (iterates_forces || h > (1 - 1e-6) * refused_step_);
    }
    const std::string& refusal() const { return refusal_; }
    /// Other joints and forces: none is known to be refused.
    void clear_refusal() { refused_step_ = 0; }
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
    double h_ = 0;             // of the steps accepted last; 0: none
    int steps_ = 0;            // of this length
    double refused_step_ = 0;  // in which forces swung without bounds; 0: none is known
    std::string refusal_;
};

}  // namespace limber
