#include "limber/model/expression.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <limits>
#include <type_traits>

#include "limber/math/types.hpp"
#include "limber/model/error.hpp"

namespace limber {

using expression_detail::Instruction;
using expression_detail::Operation;

namespace {

// ---------------------------------------------------------------- built-in functions with their derivatives

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
constexpr NamedUnary unary_functions[] = {{"sin", sine},
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
constexpr NamedBinary binary_functions[] = {{"min", minimum}, {"max", maximum},      {"atan2", arctangent2},
                                            {"pow", power},   {"hypot", hypotenuse}, {"mod", modulo}};

UnaryDerivatives apply(Unary code, double x) {
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
            const double d = 1 / (x * std::log(10.0));
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

BinaryDerivatives apply_power(double x, double y) {
    const double f = std::pow(x, y);
    // Powers of x alone are exact for x <= 0 too; the derivative by the exponent exists only for x > 0.
    const double fx = y == 0 ? 0 : y * std::pow(x, y - 1);
    const double fxx = y == 0 || y == 1 ? 0 : y * (y - 1) * std::pow(x, y - 2);
    if (!(x > 0)) return {f, fx, 0, fxx, 0, 0};
    const double l = std::log(x);
    return {f, fx, f * l, fxx, std::pow(x, y - 1) * (1 + y * l), f * l * l};
}

BinaryDerivatives apply(Binary code, double x, double y) {
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
constexpr Unit units[] = {{"deg", pi / 180}, {"rad", 1.0}, {"rev", 2 * pi}, {"rpm", 2 * pi / 60}};

struct Constant {
    const char* name;
    double value;
};
constexpr Constant constants[] = {{"pi", pi}};

}  // namespace

// ---------------------------------------------------------------- parser: recursive descent to postfix code

class ExpressionParser {
public:
    explicit ExpressionParser(const std::string& text) : text_(text) {
        result_.text_ = text;
        result_.code_.clear();
    }

    Expression parse() {
        if (text_.size() > 4096) fail("the expression is longer than 4096 characters");
        skip_space();
        if (at_ >= text_.size()) fail("the expression is empty");
        ternary();
        if (at_ < text_.size()) fail(fmt::format("unexpected '{}'", text_[at_]));
        return std::move(result_);
    }

private:
    [[noreturn]] void fail(const std::string& message) const {
        throw ModelError(fmt::format("{} at column {} of \"{}\"", message, at_ + 1, text_.substr(0, 80)));
    }

    void skip_space() {
        while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])) != 0) ++at_;
    }
    bool accept(const char* token) {
        const std::size_t length = std::char_traits<char>::length(token);
        if (text_.compare(at_, length, token) != 0) return false;
        at_ += length;
        skip_space();
        return true;
    }
    bool accept_word(const char* word) {
        const std::size_t length = std::char_traits<char>::length(word);
        if (text_.compare(at_, length, word) != 0) return false;
        const std::size_t end = at_ + length;
        if (end < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[end])) != 0 || text_[end] == '_'))
            return false;
        at_ = end;
        skip_space();
        return true;
    }

    // Tracks the depth of the evaluation stack, so that evaluation can use a fixed one.
    void emit(Instruction instruction) {
        switch (instruction.operation) {
            case Operation::constant:
            case Operation::variable: ++depth_; break;
            case Operation::binary: --depth_; break;
            case Operation::select: depth_ -= 2; break;
            case Operation::unary:
            case Operation::integer_power:
            case Operation::table: break;
        }
        if (depth_ >= BoundExpression::max_depth) fail("the expression is nested too deeply");
        result_.code_.push_back(instruction);
    }
    void emit(Unary code) { emit({Operation::unary, code}); }
    void emit(Binary code) { emit({Operation::binary, code}); }
    void emit_constant(double value) { emit({Operation::constant, 0, value}); }

    struct Nesting {
        explicit Nesting(ExpressionParser& p) : parser(p) {
            if (++parser.nesting_ > 100) parser.fail("the expression is nested too deeply");
        }
        ~Nesting() { --parser.nesting_; }
        Nesting(const Nesting&) = delete;
        Nesting& operator=(const Nesting&) = delete;
        ExpressionParser& parser;
    };

    void ternary() {
        const Nesting nesting(*this);
        disjunction();
        if (!accept("?")) return;
        ternary();
        if (!accept(":")) fail("expected ':' of 'condition ? a : b'");
        ternary();
        emit({Operation::select});
    }
    void disjunction() {
        conjunction();
        while (accept("||") || accept_word("or")) {
            conjunction();
            emit(logical_or);
        }
    }
    void conjunction() {
        comparison();
        while (accept("&&") || accept_word("and")) {
            comparison();
            emit(logical_and);
        }
    }
    void comparison() {
        sum();
        constexpr std::pair<const char*, Binary> operators[] = {
            {"<=", less_equal}, {">=", greater_equal}, {"==", equal}, {"!=", not_equal}, {"<", less}, {">", greater}};
        for (const auto& [token, code] : operators)
            if (accept(token)) {
                sum();
                emit(code);
                return;
            }
    }
    void sum() {
        product();
        for (;;) {
            if (accept("+")) {
                product();
                emit(add);
            } else if (accept("-")) {
                product();
                emit(subtract);
            } else {
                return;
            }
        }
    }
    void product() {
        signed_power();
        for (;;) {
            if (text_.compare(at_, 2, "**") != 0 && accept("*")) {
                signed_power();
                emit(multiply_by);
            } else if (accept("/")) {
                signed_power();
                emit(divide);
            } else if (accept("%")) {
                signed_power();
                emit(modulo);
            } else {
                return;
            }
        }
    }
    void signed_power() {
        const Nesting nesting(*this);
        if (accept("-")) {
            signed_power();
            emit(negate);
        } else if (accept("+")) {
            signed_power();
        } else if (accept_word("not") || (text_.compare(at_, 2, "!=") != 0 && accept("!"))) {
            signed_power();
            emit(logical_not);
        } else {
            primary();
            if (accept("^") || accept("**")) {
                signed_power();
                emit(power);
            }
        }
    }

    void primary() {
        if (at_ >= text_.size()) fail("the expression ends too early");
        if (accept("(")) {
            ternary();
            if (!accept(")")) fail("expected ')'");
            unit();
            return;
        }
        const char c = text_[at_];
        if (std::isdigit(static_cast<unsigned char>(c)) != 0 || c == '.') {
            number();
            unit();
        } else if (std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_') {
            name_or_call();
        } else {
            fail(fmt::format("unexpected '{}'", c));
        }
    }

    void number() {
        double value = 0;
        const char* first = text_.data() + at_;
        const auto [end, error] = std::from_chars(first, text_.data() + text_.size(), value);
        if (error == std::errc::result_out_of_range) fail("the number is too large");
        if (error != std::errc()) fail("expected a number");
        at_ += end - first;
        skip_space();
        emit_constant(value);
    }

    // A number, a name or a closing parenthesis may be followed by an angle unit.
    void unit() {
        for (const auto& u : units)
            if (accept_word(u.name)) {
                emit_constant(u.factor);
                emit(multiply_by);
                return;
            }
    }

    std::string identifier() {
        const std::size_t first = at_;
        const auto is_word = [&](std::size_t i) {
            return i < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[i])) != 0 || text_[i] == '_');
        };
        while (is_word(at_) || (text_[at_] == '.' && at_ + 1 < text_.size() && is_word(at_ + 1))) ++at_;
        std::string name = text_.substr(first, at_ - first);
        skip_space();
        return name;
    }

    void name_or_call() {
        const std::size_t start = at_;
        const std::string name = identifier();
        if (at_ < text_.size() && text_[at_] == '(') {
            accept("(");
            call(name, start);
            return;
        }
        for (const auto& constant : constants)
            if (name == constant.name) return emit_constant(constant.value);
        emit({Operation::variable, index_in(result_.names_, name)});
        unit();
    }

    static short index_in(std::vector<std::string>& list, const std::string& name) {
        const auto it = std::find(list.begin(), list.end(), name);
        const auto index = static_cast<short>(it - list.begin());
        if (it == list.end()) list.push_back(name);
        return index;
    }

    void arguments(const std::string& function, int count) {
        for (int i = 0; i < count; ++i) {
            if (i > 0 && !accept(",")) fail(fmt::format("{}() takes {} arguments", function, count));
            ternary();
        }
        if (!accept(")")) fail(fmt::format("expected ')' after {} argument(s) of {}()", count, function));
    }

    void call(const std::string& name, std::size_t start) {
        const Nesting nesting(*this);
        for (const auto& f : unary_functions)
            if (name == f.name) {
                arguments(name, 1);
                return emit(f.code);
            }
        for (const auto& f : binary_functions)
            if (name == f.name) {
                arguments(name, 2);
                return emit(f.code);
            }
        if (name == "if") {
            arguments(name, 3);
            return emit({Operation::select});
        }
        if (name.find('.') != std::string::npos) {
            at_ = start;
            fail(fmt::format("'{}' is not a function", name));
        }
        arguments(name, 1);
        emit({Operation::table, index_in(result_.table_names_, name)});
    }

    const std::string& text_;
    std::size_t at_ = 0;
    int depth_ = 0;
    int nesting_ = 0;
    Expression result_;
};

Expression::Expression(double value) : text_(fmt::format("{}", value)) {
    code_.push_back({Operation::constant, 0, value});
}

Expression Expression::parse(const std::string& text) {
    return ExpressionParser(text).parse();
}

std::vector<std::string> Expression::builtin_names() {
    std::vector<std::string> names{"if"};
    for (const auto& f : unary_functions) names.emplace_back(f.name);
    for (const auto& f : binary_functions) names.emplace_back(f.name);
    for (const auto& c : constants) names.emplace_back(c.name);
    return names;
}

// ---------------------------------------------------------------- binding and evaluation

namespace {

bool is_small_exponent(double y) {
    return y >= 2 && y <= 16 && y == std::floor(y);
}

UnaryDerivatives apply_integer_power(double x, int n) {
    double below = 1;  // x^(n-2)
    for (int i = 2; i < n; ++i) below *= x;
    return {below * x * x, n * below * x, n * (n - 1) * below};
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
            throw ModelError(fmt::format("unknown name '{}' in \"{}\"{}", name, text_, did_you_mean(name, known)));
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

template <class T>
T BoundExpression::evaluate(std::span<const T> variables) const {
    std::array<T, max_depth> stack;
    int top = -1;
    for (const Instruction& i : code_) {
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

template double BoundExpression::evaluate(std::span<const double>) const;
template Taylor2 BoundExpression::evaluate(std::span<const Taylor2>) const;
template Dual<1> BoundExpression::evaluate(std::span<const Dual<1>>) const;
template Dual<2> BoundExpression::evaluate(std::span<const Dual<2>>) const;

}  // namespace limber
