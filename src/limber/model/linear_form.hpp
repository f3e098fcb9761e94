#pragma once
// Expressions that are sums: evaluated on linear forms, an expression tells its coefficients, or that it has none.

#include <vector>

#include "limber/model/expression.hpp"

namespace limber {

/// constant + sum of coefficient[k] x_k; missing coefficients are zero.
struct LinearForm {
    bool is_linear = true;  ///< false: no such sum is known, and the numbers mean nothing
    double constant = 0;
    std::vector<double> coefficient;

    static LinearForm variable(int index);
    bool is_constant() const;
};

/// The operations themselves are looked at, not values: abs(x), or x*x/x, is no sum, wherever x may be.
template <>
LinearForm BoundExpression::evaluate(std::span<const LinearForm> variables) const;

/// To which power an expression may depend on some variables, with coefficients that depend on the others.
struct Degree {
    enum Power { none, linear, other };
    Power power = none;
};

/// Again the operations are looked at: other means that it may not be linear.
template <>
Degree BoundExpression::evaluate(std::span<const Degree> variables) const;

}  // namespace limber
