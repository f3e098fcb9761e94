#pragma once
// Tables y(x): straight lines between the points, or a natural cubic spline (twice continuously differentiable, so
// that a driver given as a table has a continuous acceleration). Outside the table the end value goes on (lines) or
// the end tangent goes on (spline), so that nothing jumps.

#include <span>
#include <vector>

#include "limber/math/derivative.hpp"
#include "limber/math/types.hpp"

namespace limber {

class Interpolation {
public:
    enum class Kind { cubic, linear };

    Interpolation() = default;
    /// x strictly increasing, at least two points; checked by the caller.
    Interpolation(std::vector<double> x, std::vector<double> y, Kind kind);

    /// Value and two derivatives at x.
    UnaryDerivatives evaluate(double x) const;
    /// Where the slope jumps; none of a spline.
    std::span<const double> kinks() const { return kinks_; }

private:
    std::vector<double> x_, y_, curvature_, kinks_;
    Kind kind_ = Kind::cubic;
};

/// A space curve through given points: cubic in a parameter that is the accumulated chord length; open (natural
/// ends) or closed (periodic).
template <int D>
class Curve {
public:
    struct Point {
        Vec<D> position, first, second, third;  ///< and derivatives with respect to the parameter
    };

    Curve() = default;
    /// At least two points (three if closed), no two neighbours equal; checked by the caller.
    Curve(std::vector<Vec<D>> points, bool closed);

    Point evaluate(double parameter) const;
    double length() const { return knots_.back(); }
    bool closed() const { return closed_; }

    /// Parameter of the point of the curve nearest to p, found by Newton's method from a guess near by.
    double project(const Vec<D>& p, double guess) const;
    /// The same from a search over the whole curve.
    double project_globally(const Vec<D>& p) const;

private:
    std::vector<double> knots_;
    std::vector<Vec<D>> points_, curvature_;
    bool closed_ = false;
};

}  // namespace limber
