// Expressions: values, exact derivatives, and errors that point at the place.

#include "limber/model/expression.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "limber/math/types.hpp"
#include "limber/model/error.hpp"

namespace limber {
namespace {

double value(const std::string& text) {
    return Expression::parse(text).bind({}).constant();
}

BoundExpression of_t(const std::string& text) {
    Expression::Scope scope;
    scope.resolve = [](const std::string& name) -> std::optional<Expression::Meaning> {
        if (name == "t") return Expression::Meaning{std::nullopt, 0};
        return std::nullopt;
    };
    return Expression::parse(text).bind(scope);
}

std::string error_of(const std::string& text) {
    try {
        Expression::parse(text).bind({});
    } catch (const ModelError& error) {
        return error.what();
    }
    return "";
}

TEST(Expression, ComputesNumbers) {
    EXPECT_DOUBLE_EQ(value("1 + 2*3"), 7);
    EXPECT_DOUBLE_EQ(value("(1 + 2)*3"), 9);
    EXPECT_DOUBLE_EQ(value("-2^2"), -4);
    EXPECT_DOUBLE_EQ(value("2^3^2"), 512);
    EXPECT_DOUBLE_EQ(value("2**-1"), 0.5);
    EXPECT_DOUBLE_EQ(value("7 % 4"), 3);
    EXPECT_DOUBLE_EQ(value("mod(-1, 4)"), 3);
    EXPECT_DOUBLE_EQ(value("1e-3 + .5"), 0.501);
    EXPECT_DOUBLE_EQ(value("8 - 4 - 2"), 2);
    EXPECT_DOUBLE_EQ(value("8/4/2"), 1);
    EXPECT_DOUBLE_EQ(value("+3"), 3);
}

TEST(Expression, KnowsAngles) {
    EXPECT_DOUBLE_EQ(value("30 deg"), pi / 6);
    EXPECT_DOUBLE_EQ(value("(10 + 20) deg"), pi / 6);
    EXPECT_DOUBLE_EQ(value("2 rev"), 4 * pi);
    EXPECT_DOUBLE_EQ(value("60 rpm"), 2 * pi);
    EXPECT_DOUBLE_EQ(value("sin(30 deg)"), 0.5);
}

TEST(Expression, KnowsLogic) {
    EXPECT_DOUBLE_EQ(value("if(1 < 2, 10, 20)"), 10);
    EXPECT_DOUBLE_EQ(value("3 >= 4 ? 1 : 0"), 0);
    EXPECT_DOUBLE_EQ(value("1 < 2 and 2 < 3"), 1);
    EXPECT_DOUBLE_EQ(value("not (1 == 1) || 2 != 2"), 0);
    EXPECT_DOUBLE_EQ(value("min(3, max(1, 2))"), 2);
    EXPECT_DOUBLE_EQ(value("step(-0.1) + step(0)"), 1);
    EXPECT_DOUBLE_EQ(value("sign(-3)*abs(-4)"), -4);
    EXPECT_DOUBLE_EQ(value("floor(2.7) + ceil(2.2)"), 5);
    EXPECT_DOUBLE_EQ(value("atan2(1, 0)"), pi / 2);
    EXPECT_DOUBLE_EQ(value("hypot(3, 4)"), 5);
}

TEST(Expression, FunctionsHaveExactDerivatives) {
    // f, f', f'' at t = 0.7, by central differences of f and f'.
    for (const char* text : {"sin(2*t)",
                             "cos(t^2)",
                             "tan(t)",
                             "asin(t/2)",
                             "acos(t/3)",
                             "atan(3*t)",
                             "sinh(t)",
                             "cosh(t)",
                             "tanh(2*t)",
                             "exp(-t)",
                             "log(t)",
                             "log10(1 + t)",
                             "sqrt(t)",
                             "abs(t - 1)",
                             "t^3 - 2*t",
                             "2^t",
                             "t^t",
                             "t^-1.5",
                             "1/(1 + t)",
                             "atan2(t, 2)",
                             "atan2(1, t)",
                             "hypot(t, 2)",
                             "hypot(2, t)",
                             "min(t, 1)",
                             "max(t^2, 0.1)",
                             "mod(5*t, 2)",
                             "if(t > 0.5, t^2, 3)",
                             "t*exp(t)*sin(t)",
                             "pow(1 + t, 2.5)",
                             "floor(t) + t",
                             "-t^2",
                             "step(t)*t"}) {
        const BoundExpression f = of_t(text);
        const auto at = [&](double t) {
            const Taylor2 variable = Taylor2::variable(t);
            return f.evaluate<Taylor2>({&variable, 1});
        };
        constexpr double t = 0.7;
        constexpr double h = 1e-5;
        const Taylor2 here = at(t);
        EXPECT_NEAR(here.first, (at(t + h).value - at(t - h).value) / (2 * h), 1e-7) << text;
        EXPECT_NEAR(here.second, (at(t + h).first - at(t - h).first) / (2 * h), 1e-7) << text;
        const Dual<1> dual = Dual<1>::variable(t, 0);
        EXPECT_DOUBLE_EQ(f.evaluate<Dual<1>>({&dual, 1}).partial[0], here.first) << text;
        EXPECT_DOUBLE_EQ(f.evaluate<double>({&t, 1}), here.value) << text;
    }
}

TEST(Expression, PolynomialsOfZeroAndNegativeNumbersHaveDerivatives) {
    const BoundExpression cube = of_t("t^3");
    for (const double t : {-2.0, 0.0, 1.5}) {
        const Taylor2 variable = Taylor2::variable(t);
        const Taylor2 y = cube.evaluate<Taylor2>({&variable, 1});
        EXPECT_DOUBLE_EQ(y.value, t * t * t);
        EXPECT_DOUBLE_EQ(y.first, 3 * t * t);
        EXPECT_DOUBLE_EQ(y.second, 6 * t);
    }
}

TEST(Expression, ErrorsPointAtThePlace) {
    EXPECT_NE(error_of("1 + * 2").find("column 5"), std::string::npos);
    EXPECT_NE(error_of("2*(3 + 4").find("expected ')'"), std::string::npos);
    EXPECT_NE(error_of("sin()").find("unexpected ')'"), std::string::npos);
    EXPECT_NE(error_of("atan2(1)").find("takes 2 arguments"), std::string::npos);
    EXPECT_NE(error_of("").find("empty"), std::string::npos);
    EXPECT_NE(error_of("1 2").find("unexpected '2'"), std::string::npos);
    EXPECT_NE(error_of("sqr(4)").find("did you mean 'sqrt'"), std::string::npos);
    EXPECT_NE(error_of("1e999").find("too large"), std::string::npos);
    EXPECT_NE(error_of("3 ? 1").find("':'"), std::string::npos);
    EXPECT_NE(error_of("a.b(2)").find("not a function"), std::string::npos);
    EXPECT_NE(error_of("mass*2").find("unknown name 'mass'"), std::string::npos);
}

TEST(Expression, RefusesWhatIsTooDeepOrTooLong) {
    EXPECT_NE(error_of(std::string(500, '(') + "1" + std::string(500, ')')).find("nested too deeply"),
              std::string::npos);
    EXPECT_NE(error_of(std::string(500, '-') + "1").find("nested too deeply"), std::string::npos);
    EXPECT_NE(error_of(std::string(5000, '1')).find("longer than"), std::string::npos);
    std::string tower = "1";
    for (int i = 0; i < 90; ++i) tower = "1+(" + tower + ")";
    EXPECT_NE(error_of(tower).find("nested too deeply"), std::string::npos);
}

TEST(Expression, BindsParametersAndTables) {
    Expression::Scope scope;
    scope.resolve = [](const std::string& name) -> std::optional<Expression::Meaning> {
        if (name == "k") return Expression::Meaning{3.0, -1};
        if (name == "crank.angle") return Expression::Meaning{std::nullopt, 0};
        return std::nullopt;
    };
    scope.find_table = [](const std::string& name) -> std::shared_ptr<const Interpolation> {
        if (name != "cam") return nullptr;
        return std::make_shared<const Interpolation>(std::vector<double>{0, 1}, std::vector<double>{0, 5},
                                                     Interpolation::Kind::linear);
    };
    const BoundExpression bound = Expression::parse("k*cam(crank.angle)").bind(scope);
    const double angle = 0.4;
    EXPECT_DOUBLE_EQ(bound.evaluate<double>({&angle, 1}), 3 * 2);
    EXPECT_TRUE(bound.depends_on(0));
    EXPECT_DOUBLE_EQ(Expression::parse("k*cam(0.2)").bind(scope).constant(), 3);
}

}  // namespace
}  // namespace limber
