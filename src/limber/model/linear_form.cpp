#include "limber/model/linear_form.hpp"

#include <algorithm>

#include "limber/model/expression_functions.hpp"

namespace limber {

using namespace expression_detail;

namespace {

LinearForm constant_form(double value) {
    LinearForm form;
    form.constant = value;
    return form;
}

LinearForm no_form() {
    LinearForm form;
    form.is_linear = false;
    return form;
}

LinearForm scaled(LinearForm a, double factor) {
    a.constant *= factor;
    for (double& c : a.coefficient) c *= factor;
    return a;
}

LinearForm sum(LinearForm a, const LinearForm& b) {
    a.constant += b.constant;
    a.coefficient.resize(std::max(a.coefficient.size(), b.coefficient.size()));
    for (std::size_t k = 0; k < b.coefficient.size(); ++k) a.coefficient[k] += b.coefficient[k];
    return a;
}

LinearForm combine_forms(Binary code, const LinearForm& a, const LinearForm& b) {
    if (!a.is_linear || !b.is_linear) return no_form();
    if (a.is_constant() && b.is_constant()) return constant_form(apply(code, a.constant, b.constant).f);
    switch (code) {
        case add: return sum(a, b);
        case subtract: return sum(a, scaled(b, -1));
        case multiply_by:
            if (b.is_constant()) return scaled(a, b.constant);
            return a.is_constant() ? scaled(b, a.constant) : no_form();
        case divide: return b.is_constant() ? scaled(a, 1 / b.constant) : no_form();
        default: return no_form();
    }
}

LinearForm transform(Unary code, const LinearForm& a) {
    if (!a.is_linear) return no_form();
    if (a.is_constant()) return constant_form(apply(code, a.constant).f);
    return code == negate ? scaled(a, -1) : no_form();
}

LinearForm choose(const LinearForm& condition, const LinearForm& yes, const LinearForm& no) {
    if (!condition.is_linear || !condition.is_constant()) return no_form();
    return condition.constant != 0 ? yes : no;
}

}  // namespace

LinearForm LinearForm::variable(int index) {
    LinearForm form;
    form.coefficient.assign(static_cast<std::size_t>(index) + 1, 0.0);
    form.coefficient.back() = 1;
    return form;
}

bool LinearForm::is_constant() const {
    return std::all_of(coefficient.begin(), coefficient.end(), [](double c) { return c == 0; });
}

template <>
LinearForm BoundExpression::evaluate(std::span<const LinearForm> variables) const {
    std::vector<LinearForm> stack;
    const auto pop = [&] {
        LinearForm top = std::move(stack.back());
        stack.pop_back();
        return top;
    };
    for (const Instruction& i : code_) {
        switch (i.operation) {
            case Operation::constant: stack.push_back(constant_form(i.value)); break;
            case Operation::variable: stack.push_back(variables[i.code]); break;
            case Operation::unary: stack.push_back(transform(static_cast<Unary>(i.code), pop())); break;
            case Operation::binary: {
                const LinearForm second = pop();
                stack.push_back(combine_forms(static_cast<Binary>(i.code), pop(), second));
                break;
            }
            case Operation::select: {
                const LinearForm no = pop();
                const LinearForm yes = pop();
                stack.push_back(choose(pop(), yes, no));
                break;
            }
            // Constants to a power and in tables have been computed when names were bound.
            case Operation::integer_power:
            case Operation::table:
                pop();
                stack.push_back(no_form());
                break;
        }
    }
    return stack[0];
}

template <>
Degree BoundExpression::evaluate(std::span<const Degree> variables) const {
    using Power = Degree::Power;
    std::vector<Power> stack;
    const auto pop = [&] {
        const Power top = stack.back();
        stack.pop_back();
        return top;
    };
    // Of a function that is not linear.
    const auto curved = [](Power of) { return of == Degree::none ? Degree::none : Degree::other; };
    for (const Instruction& i : code_) {
        switch (i.operation) {
            case Operation::constant: stack.push_back(Degree::none); break;
            case Operation::variable: stack.push_back(variables[i.code].power); break;
            case Operation::unary: {
                const Power of = pop();
                stack.push_back(static_cast<Unary>(i.code) == negate ? of : curved(of));
                break;
            }
            case Operation::binary: {
                const Power second = pop();
                const Power first = pop();
                const auto code = static_cast<Binary>(i.code);
                const bool keeps = code == add || code == subtract || (code == multiply_by && first == Degree::none) ||
                                   ((code == multiply_by || code == divide) && second == Degree::none);
                stack.push_back(keeps ? std::max(first, second) : curved(std::max(first, second)));
                break;
            }
            case Operation::select: {
                const Power no = pop();
                const Power yes = pop();
                const Power condition = pop();
                stack.push_back(condition == Degree::none ? std::max(yes, no) : Degree::other);
                break;
            }
            case Operation::integer_power:
            case Operation::table: stack.push_back(curved(pop())); break;
        }
    }
    return {stack[0]};
}

}  // namespace limber
