#pragma once
// A bound function of time with two derivatives: constant, expression of t, or table.

#include <memory>
#include <utility>

#include "limber/math/interpolation.hpp"
#include "limber/model/expression.hpp"

namespace limber {

class TimeFunction {
public:
    TimeFunction() = default;
    TimeFunction(double constant) : value_(constant) {}
    /// Slot 0 of the expression is t.
    explicit TimeFunction(BoundExpression expression) : is_constant_(expression.is_constant()) {
        if (is_constant_) {
            value_ = expression.constant();
        } else {
            expression_ = std::move(expression);
        }
    }
    explicit TimeFunction(std::shared_ptr<const Interpolation> table) : is_constant_(false), table_(std::move(table)) {}

    bool is_constant() const { return is_constant_; }

    Taylor2 at(double t) const {
        if (is_constant_) return {value_, 0, 0};
        const Taylor2 time = Taylor2::variable(t);
        if (table_) return chain(table_->evaluate(t), time);
        return expression_.evaluate<Taylor2>(std::span<const Taylor2>(&time, 1));
    }
    double value(double t) const {
        if (is_constant_) return value_;
        if (table_) return table_->evaluate(t).f;
        return expression_.evaluate<double>(std::span<const double>(&t, 1));
    }

private:
    bool is_constant_ = true;
    double value_ = 0;
    BoundExpression expression_;
    std::shared_ptr<const Interpolation> table_;
};

}  // namespace limber
