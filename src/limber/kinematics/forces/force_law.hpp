#pragma once
// Bound scalar force laws: force as a function of elongation x, its rate v, time and other scalars, with
// derivatives.

#include <memory>
#include <span>
#include <vector>

#include "limber/kinematics/elements/time_function.hpp"
#include "limber/math/kink.hpp"
#include "limber/model/evaluation.hpp"

namespace limber {

class BoundLaw {
public:
    struct Value {
        double force = 0;
        double by_x = 0, by_v = 0;
    };

    BoundLaw() = default;
    /// `inputs`: names of further scalars and rates the expression may use, in the order in which they will be
    /// given.
    BoundLaw(const ModelEvaluation& evaluation, const ScalarLaw& law, const std::vector<std::string>& inputs,
             const std::string& what);

    /// The force alone.
    double force(double x, double v, double t, std::span<const double> inputs) const;
    Value evaluate(double x, double v, double t, std::span<const double> inputs) const;
    /// Derivative by input i; zero unless the law is an expression that uses it.
    double by_input(int i, double x, double v, double t, std::span<const double> inputs) const;

    /// Corners of a table or an expression; not where two pieces of its text meet with the same slope, nor jumps, as
    /// far as conditions are on x or v alone and linear.
    bool has_kinks() const;
    void add_kinks(double x, double v, double t, std::span<const double> inputs, KinkArguments& kinks) const;

    /// Energy stored by the part of the law that depends on x alone.
    double potential(double x) const;
    /// Force of the part that has no potential (damping, dependence on t or on other scalars).
    double rest(double x, double v, double t, std::span<const double> inputs) const;

private:
    double expression_value(double x, double v, double t, std::span<const double> inputs, int by,
                            double* derivative) const;
    double elastic(double x) const;
    void keep_corners(std::size_t slots);
    bool has_corner_at(double x, double v, bool is_along_x, std::size_t slots) const;

    ScalarLaw::Kind kind_ = ScalarLaw::Kind::linear;
    TimeFunction stiffness_, damping_, preload_;
    std::vector<double> coefficients_;
    std::shared_ptr<const Interpolation> table_;
    BoundExpression expression_;
    bool expression_is_elastic_ = false;
};

}  // namespace limber
