#pragma once
// How the wrenches on the ports of a component run over a step of the outside: from those at its start to those at its
// end, held, along a line or along a parabola. A component may take several steps of its own on the way.

#include <span>
#include <vector>

#include "limber/kinematics/body_space/twist.hpp"
#include "limber/modular/component.hpp"
#include "limber/modular/options.hpp"

namespace limber {

/// A constant wrench over a part of an own step, made of those of the course at its start, middle and end.
struct HeldPart {
    double length, start, middle, end;
};

template <int D>
class WrenchCourse {
public:
    using Wrenches = std::span<const TwistVec<D>>;

    explicit WrenchCourse(std::size_t ports);
    /// `bend`: second differences of the steps before, for a parabola.
    void begin(ForceCourse kind, int steps, Wrenches start, Wrenches bend);
    void set_end(Wrenches end);

    ForceCourse kind() const { return kind_; }
    int steps() const { return steps_; }
    Wrenches start() const { return start_; }
    Wrenches end() const { return end_; }
    /// At the end of an own step.
    Wrenches after_step(int index);
    /// What stands for the course where a scheme takes no wrench that changes within its step.
    std::span<const HeldPart> held_parts() const;
    Wrenches held(int index, const HeldPart& part);

    /// How far a unit of the wrench at the end brings a unit mass: by structural steps, or by steps with held wrenches.
    Reach reach(double beta, double gamma) const;
    Reach reach_of_held_parts() const;

private:
    /// Weights of the wrenches at the start and the end, and of their bend, at the part s of the whole step.
    struct Weights {
        double start, end, bend;
    };
    Weights weights(double s) const;
    Weights weights(int index, const HeldPart& part) const;
    Wrenches sum(const Weights& weights);

    ForceCourse kind_ = ForceCourse::linear;
    int steps_ = 1;
    std::vector<TwistVec<D>> start_, end_, bend_, sum_;
};

}  // namespace limber
