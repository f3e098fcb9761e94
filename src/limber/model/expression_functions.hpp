#pragma once
// The functions, operators, units and constants of expressions, with derivatives. Internal to expressions.

#include <cmath>
#include <numbers>

#include "limber/math/derivative.hpp"
#include "limber/math/types.hpp"

namespace limber::expression_detail {

enum Unary : short {
    negate,
    logical_not,
    sine,
    cosine,
    tangent,
    arcsine,
    arccosine,
    arctangent,
    hyperbolic_sine,
    hyperbolic_cosine,
    hyperbolic_tangent,
    exponential,
    logarithm,
    logarithm10,
    square_root,
    absolute,
    sign_of,
    floor_of,
    ceil_of,
    step_of
};
enum Binary : short {
    add,
    subtract,
    multiply_by,
    divide,
    power,
    modulo,
    less,
    less_equal,
    greater,
    greater_equal,
    equal,
    not_equal,
    logical_and,
    logical_or,
    minimum,
    maximum,
    arctangent2,
    hypotenuse
};

struct NamedUnary {
    const char* name;
    Unary code;
};
inline constexpr NamedUnary unary_functions[] = {{"sin", sine},
                                                 {"cos", cosine},
                                                 {"tan", tangent},
                                                 {"asin", arcsine},
                                                 {"acos", arccosine},
                                                 {"atan", arctangent},
                                                 {"sinh", hyperbolic_sine},
                                                 {"cosh", hyperbolic_cosine},
                                                 {"tanh", hyperbolic_tangent},
                                                 {"exp", exponential},
                                                 {"log", logarithm},
                                                 {"log10", logarithm10},
                                                 {"sqrt", square_root},
                                                 {"abs", absolute},
                                                 {"sign", sign_of},
                                                 {"floor", floor_of},
                                                 {"ceil", ceil_of},
                                                 {"step", step_of}};
struct NamedBinary {
    const char* name;
    Binary code;
};
inline constexpr NamedBinary binary_functions[] = {{"min", minimum}, {"max", maximum},      {"atan2", arctangent2},
                                                   {"pow", power},   {"hypot", hypotenuse}, {"mod", modulo}};

inline UnaryDerivatives apply(Unary code, double x) {
    switch (code) {
        case negate: return {-x, -1, 0};
        case logical_not: return {x == 0 ? 1.0 : 0.0, 0, 0};
        case sine: return {std::sin(x), std::cos(x), -std::sin(x)};
        case cosine: return {std::cos(x), -std::sin(x), -std::cos(x)};
        case tangent: {
            const double f = std::tan(x);
            return {f, 1 + f * f, 2 * f * (1 + f * f)};
        }
        case arcsine: {
            const double d = 1 / std::sqrt(1 - x * x);
            return {std::asin(x), d, x * d * d * d};
        }
        case arccosine: {
            const double d = 1 / std::sqrt(1 - x * x);
            return {std::acos(x), -d, -x * d * d * d};
        }
        case arctangent: {
            const double d = 1 / (1 + x * x);
            return {std::atan(x), d, -2 * x * d * d};
        }
        case hyperbolic_sine: return {std::sinh(x), std::cosh(x), std::sinh(x)};
        case hyperbolic_cosine: return {std::cosh(x), std::sinh(x), std::cosh(x)};
        case hyperbolic_tangent: {
            const double f = std::tanh(x);
            return {f, 1 - f * f, -2 * f * (1 - f * f)};
        }
        case exponential: {
            const double f = std::exp(x);
            return {f, f, f};
        }
        case logarithm: return {std::log(x), 1 / x, -1 / (x * x)};
        case logarithm10: {
            const double d = 1 / (x * std::numbers::ln10);
            return {std::log10(x), d, -d / x};
        }
        case square_root: {
            const double f = std::sqrt(x);
            return {f, 0.5 / f, -0.25 / (f * x)};
        }
        case absolute: return {std::abs(x), x < 0 ? -1.0 : 1.0, 0};
        case sign_of: return {x > 0 ? 1.0 : (x < 0 ? -1.0 : 0.0), 0, 0};
        case floor_of: return {std::floor(x), 0, 0};
        case ceil_of: return {std::ceil(x), 0, 0};
        case step_of: return {x >= 0 ? 1.0 : 0.0, 0, 0};
    }
    return {};
}

inline BinaryDerivatives apply_power(double x, double y) {
    const double f = std::pow(x, y);
    // Powers of x alone are exact for x <= 0 too; the derivative by the exponent exists only for x > 0.
    const double fx = y == 0 ? 0 : y * std::pow(x, y - 1);
    const double fxx = y == 0 || y == 1 ? 0 : y * (y - 1) * std::pow(x, y - 2);
    if (!(x > 0)) return {f, fx, 0, fxx, 0, 0};
    const double l = std::log(x);
    return {f, fx, f * l, fxx, std::pow(x, y - 1) * (1 + y * l), f * l * l};
}

inline BinaryDerivatives apply(Binary code, double x, double y) {
    const auto truth = [](bool b) { return BinaryDerivatives{b ? 1.0 : 0.0, 0, 0, 0, 0, 0}; };
    switch (code) {
        case add: return {x + y, 1, 1, 0, 0, 0};
        case subtract: return {x - y, 1, -1, 0, 0, 0};
        case multiply_by: return {x * y, y, x, 0, 1, 0};
        case divide: {
            const double r = 1 / y;
            return {x * r, r, -x * r * r, 0, -r * r, 2 * x * r * r * r};
        }
        case power: return apply_power(x, y);
        case modulo: {
            const double n = std::floor(x / y);
            return {x - n * y, 1, -n, 0, 0, 0};
        }
        case less: return truth(x < y);
        case less_equal: return truth(x <= y);
        case greater: return truth(x > y);
        case greater_equal: return truth(x >= y);
        case equal: return truth(x == y);
        case not_equal: return truth(x != y);
        case logical_and: return truth(x != 0 && y != 0);
        case logical_or: return truth(x != 0 || y != 0);
        case minimum: return x <= y ? BinaryDerivatives{x, 1, 0, 0, 0, 0} : BinaryDerivatives{y, 0, 1, 0, 0, 0};
        case maximum: return x >= y ? BinaryDerivatives{x, 1, 0, 0, 0, 0} : BinaryDerivatives{y, 0, 1, 0, 0, 0};
        case arctangent2: {  // atan2(x, y): x is the opposite side
            const double r2 = x * x + y * y;
            const double r4 = r2 * r2;
            return {std::atan2(x, y), y / r2, -x / r2, -2 * x * y / r4, (x * x - y * y) / r4, 2 * x * y / r4};
        }
        case hypotenuse: {
            const double r = std::hypot(x, y);
            const double r3 = r * r * r;
            return {r, x / r, y / r, y * y / r3, -x * y / r3, x * x / r3};
        }
    }
    return {};
}

struct Unit {
    const char* name;
    double factor;
};
inline constexpr Unit units[] = {{"deg", pi / 180}, {"rad", 1.0}, {"rev", 2 * pi}, {"rpm", 2 * pi / 60}};

struct Constant {
    const char* name;
    double value;
};
inline constexpr Constant constants[] = {{"pi", pi}};

}  // namespace limber::expression_detail
