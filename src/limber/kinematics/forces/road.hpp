#pragma once
// Road profiles: the height of the ground over the world's x axis, a sum of pieces, with its slope and curvature.

#include <memory>
#include <vector>

#include "limber/math/interpolation.hpp"
#include "limber/math/kink.hpp"
#include "limber/model/expression.hpp"

namespace limber {

class RoadProfile {
public:
    /// h/2 (1 - cos(2 pi (x - from) / length)) between from and from + length.
    void add_bump(double from, double length, double height);
    /// Straight from `from` to `to` by `height`; both ends rounded over a length by parabolas that join the slopes.
    void add_ramp(double from, double to, double height, double rounding);
    /// `count` steps of height `rise`, the risers half cosines of length `riser` that begin at from, from + run, ...
    void add_stairs(double from, int count, double run, double rise, double riser);
    void add_table(std::shared_ptr<const Interpolation> table);
    /// Slot 0 of the expression is x.
    void add_expression(BoundExpression height);
    /// Random road of ISO 8608: displacement spectrum G(n) = roughness (n / n0)^-2, n0 = 0.1 cycles/m, between
    /// wavelengths of 100 m and 0.35 m, from `from` to `from + length` (flat before and after, blended over 5 m). The
    /// same seed gives the same road.
    void add_random(double from, double length, double roughness, unsigned seed);

    /// Height, slope and curvature.
    UnaryDerivatives evaluate(double x) const;
    /// What crosses the places where slope or curvature jump, at x, which moves at this rate.
    void add_kinks(double x, double rate, KinkArguments& kinks) const;

private:
    void note_kinks(std::initializer_list<double> places);

    std::vector<double> kinks_;  // of all pieces but expressions, in rising order
    struct Bump {
        double from, length, height;
    };
    struct Ramp {
        double from, to, height, rounding;
    };
    struct Stairs {
        double from, run, rise, riser;
        int count;
    };
    std::vector<Bump> bumps_;
    std::vector<Ramp> ramps_;
    std::vector<Stairs> stairs_;
    std::vector<std::shared_ptr<const Interpolation>> tables_;
    std::vector<BoundExpression> expressions_;
};

}  // namespace limber
