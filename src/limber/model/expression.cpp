// Binding of names and evaluation; see expression_parser.cpp for the text.

#include "limber/model/expression.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <type_traits>

#include "limber/math/kink.hpp"
#include "limber/model/error.hpp"
#include "limber/model/expression_functions.hpp"

namespace limber {

using namespace expression_detail;

namespace {

bool is_small_exponent(double y) {
    return y >= 2 && y <= 16 && y == std::floor(y);
}

UnaryDerivatives apply_integer_power(double x, int n) {
    double below = 1;  // x^(n-2)
    for (int i = 2; i < n; ++i) below *= x;
    return {below * x * x, n * below * x, n * (n - 1) * below};
}

// Comparisons that a branch may follow, and branches of their own.
bool decides(short binary) {
    return (binary >= less && binary <= greater_equal) || binary == minimum || binary == maximum;
}

// Sums and products without the detour over their derivatives.
template <class T>
bool apply_directly(Binary code, T& a, const T& b) {
    if constexpr (!std::is_same_v<T, Taylor2>) {
        switch (code) {
            case add: a = a + b; return true;
            case subtract: a = a - b; return true;
            case multiply_by: a = a * b; return true;
            default: return false;
        }
    }
    return false;
}

// Replaces an operation whose operands are all constants by its result, so that parameters cost nothing at run time.
void append_folded(std::vector<Instruction>& code, const Instruction& next) {
    const auto constant_at = [&](std::size_t back) {
        return code.size() >= back && code[code.size() - back].operation == Operation::constant;
    };
    if (next.operation == Operation::unary && constant_at(1)) {
        code.back().value = apply(static_cast<Unary>(next.code), code.back().value).f;
    } else if (next.operation == Operation::binary && constant_at(1) && constant_at(2)) {
        const double y = code.back().value;
        code.pop_back();
        code.back().value = apply(static_cast<Binary>(next.code), code.back().value, y).f;
    } else if (next.operation == Operation::binary && next.code == power && constant_at(1) &&
               is_small_exponent(code.back().value)) {
        code.back() = {Operation::integer_power, static_cast<short>(code.back().value)};
    } else if (next.operation == Operation::select && constant_at(1) && constant_at(2) && constant_at(3)) {
        const double no = code.back().value;
        code.pop_back();
        const double yes = code.back().value;
        code.pop_back();
        code.back().value = code.back().value != 0 ? yes : no;
    } else {
        code.push_back(next);
    }
}

}  // namespace

std::optional<double> Expression::literal() const {
    if (code_.empty() || code_.size() > 2 || code_[0].operation != Operation::constant) return std::nullopt;
    if (code_.size() == 1) return code_[0].value;
    const bool is_negative = code_[1].operation == Operation::unary && code_[1].code == negate;
    return is_negative ? std::optional(-code_[0].value) : std::nullopt;
}

BoundExpression Expression::bind(const Scope& scope) const {
    BoundExpression bound;
    bound.code_.clear();
    for (const auto& name : table_names_) {
        auto table = scope.find_table ? scope.find_table(name) : nullptr;
        if (!table)
            throw ModelError(
                fmt::format("unknown function '{}' in \"{}\"{}", name, text_, did_you_mean(name, builtin_names())));
        bound.tables_.push_back(std::move(table));
    }
    std::vector<Meaning> meanings;
    for (const auto& name : names_) {
        const auto meaning = scope.resolve ? scope.resolve(name) : std::nullopt;
        if (!meaning) {
            std::vector<std::string> known = scope.known_names ? scope.known_names() : std::vector<std::string>{};
            throw ModelError(
                fmt::format("unknown name '{}' in \"{}\"{}", name, text_, suggest_name(name, text_, known)));
        }
        meanings.push_back(*meaning);
    }
    for (Instruction instruction : code_) {
        if (instruction.operation == Operation::variable) {
            const Meaning& meaning = meanings[instruction.code];
            if (meaning.value) {
                instruction = {Operation::constant, 0, *meaning.value};
            } else {
                instruction.code = static_cast<short>(meaning.slot);
            }
        }
        const bool constant_argument = !bound.code_.empty() && bound.code_.back().operation == Operation::constant;
        if (instruction.operation == Operation::table && constant_argument) {
            double& value = bound.code_.back().value;
            value = bound.tables_[instruction.code]->evaluate(value).f;
            continue;
        }
        append_folded(bound.code_, instruction);
    }
    for (std::size_t i = 0; i < bound.code_.size(); ++i)
        if (bound.can_kink(bound.code_[i])) bound.kinks_.push_back(static_cast<int>(i));
    return bound;
}

BoundExpression::BoundExpression(double constant) {
    code_.push_back({Operation::constant, 0, constant});
}

bool BoundExpression::is_constant() const {
    return code_.size() == 1 && code_[0].operation == Operation::constant;
}

double BoundExpression::constant() const {
    return is_constant() ? code_[0].value : std::numeric_limits<double>::quiet_NaN();
}

bool BoundExpression::depends_on(int slot) const {
    return std::any_of(code_.begin(), code_.end(),
                       [&](const Instruction& i) { return i.operation == Operation::variable && i.code == slot; });
}

bool BoundExpression::can_kink(const Instruction& i) const {
    if (i.operation == Operation::table) return !tables_[i.code]->kinks().empty();
    if (i.operation == Operation::unary) return i.code == absolute;
    return i.operation == Operation::binary && decides(i.code);
}

// Before every operation of one or two operands the watch sees where it stands, the instruction and the operands (the
// second one null if there is none).
template <class T, class Watch>
T BoundExpression::run(std::span<const T> variables, const Watch& watch) const {
    std::array<T, max_depth> stack;
    int top = -1;
    for (const Instruction& i : code_) {
        switch (i.operation) {
            case Operation::unary:
            case Operation::table: watch(i, stack[top], nullptr); break;
            case Operation::binary: watch(i, stack[top - 1], &stack[top]); break;
            default: break;
        }
        switch (i.operation) {
            case Operation::constant: stack[++top] = T(i.value); break;
            case Operation::variable: stack[++top] = variables[i.code]; break;
            case Operation::unary:
                stack[top] = chain(apply(static_cast<Unary>(i.code), value_of(stack[top])), stack[top]);
                break;
            case Operation::binary:
                --top;
                if (apply_directly(static_cast<Binary>(i.code), stack[top], stack[top + 1])) break;
                stack[top] = chain(apply(static_cast<Binary>(i.code), value_of(stack[top]), value_of(stack[top + 1])),
                                   stack[top], stack[top + 1]);
                break;
            case Operation::integer_power:
                stack[top] = chain(apply_integer_power(value_of(stack[top]), i.code), stack[top]);
                break;
            case Operation::select:
                top -= 2;
                stack[top] = value_of(stack[top]) != 0 ? stack[top + 1] : stack[top + 2];
                break;
            case Operation::table:
                stack[top] = chain(tables_[i.code]->evaluate(value_of(stack[top])), stack[top]);
                break;
        }
    }
    return stack[0];
}

template <class T>
T BoundExpression::evaluate(std::span<const T> variables) const {
    return run<T>(variables, [](const Instruction&, const T&, const T*) {});
}

template <class T>
void BoundExpression::find_kinks(std::span<const T> variables, std::vector<Kink<T>>& kinks) const {
    std::size_t next = 0;
    run<T>(variables, [&](const Instruction& i, const T& first, const T* second) {
        const int place = static_cast<int>(&i - code_.data());
        if (next == kinks_.size() || kinks_[next] != place) return;
        ++next;
        const bool is_table = i.operation == Operation::table;
        kinks.push_back({place, second == nullptr ? first : first - *second,
                         is_table ? tables_[i.code]->kinks() : std::span<const double>(kink_at_zero)});
    });
}

template void BoundExpression::find_kinks(std::span<const Dual<1>>, std::vector<Kink<Dual<1>>>&) const;
template void BoundExpression::find_kinks(std::span<const Dual<2>>, std::vector<Kink<Dual<2>>>&) const;
template double BoundExpression::evaluate(std::span<const double>) const;
template Taylor2 BoundExpression::evaluate(std::span<const Taylor2>) const;
template Dual<1> BoundExpression::evaluate(std::span<const Dual<1>>) const;
template Dual<2> BoundExpression::evaluate(std::span<const Dual<2>>) const;

}  // namespace limber
