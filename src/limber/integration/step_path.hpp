#pragma once
// The motion within a step, for those who look at instants between the ends of steps. Between two states of a smooth
// motion:
//
//   plain     q and its rate v by the cubic through positions and velocities at both ends:  q to h^4, v to h^3
//   cubic     v by the cubic through velocities and accelerations:                          q to h^4, v to h^4
//   quintic   q and its rate v through positions, velocities and accelerations:             q to h^6, v to h^5
//
// Positions of a scheme of second order are not quite the integral of its velocities, and the rate of the first cubic
// would make that error over the length of the step: so velocities have a cubic of their own where accelerations can be
// trusted.
//
// A step in which contacts or forces change suddenly is smooth in pieces, which end just before and begin just after
// such an instant.

#include <vector>

#include "limber/dynamics/system/state.hpp"

namespace limber {

class StepPath {
public:
    enum class Shape {
        plain,
        cubic,
        quintic,
        /// Velocities have jumped, nobody knows when: positions go straight, velocities are those of the start.
        jump
    };

    /// Begins a step; what is known of an earlier one is forgotten.
    void begin() { used_ = 0; }
    /// From where to where the motion is smooth; what lies between two pieces is sudden.
    void add_piece(const State& from, const State& to);
    /// The last piece ends with this state.
    void end(const State& end, Shape shape);

    double begin_time() const { return states_.front().t; }
    double end_time() const { return states_[used_ - 1].t; }
    int pieces() const { return used_ / 2; }
    const State& begin_of(int piece) const { return states_[2 * piece]; }
    const State& end_of(int piece) const { return states_[2 * piece + 1]; }
    /// The one that holds an instant of the step; the earlier one of two that meet there.
    int find_piece(double t) const;

    /// Time, coordinates, velocities, accelerations, multipliers and contacts at an instant of the step; all else is
    /// that of the start of the piece.
    void find_state(double t, State& state) const;

private:
    State& next();

    std::vector<State> states_;  // begin and end of each piece; kept for the next step
    int used_ = 0;
    Shape shape_ = Shape::plain;
};

}  // namespace limber
