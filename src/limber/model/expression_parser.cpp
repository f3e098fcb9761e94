// From text to postfix code, by recursive descent.

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>

#include "limber/model/error.hpp"
#include "limber/model/expression.hpp"
#include "limber/model/expression_functions.hpp"

namespace limber {

using namespace expression_detail;

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
        if (at_ < text_.size()) fail(fmt::format("unexpected '{}'{}", text_[at_], advice()));
        return std::move(result_);
    }

private:
    // For what people write after a number.
    const char* advice() const {
        const bool follows_digit = at_ > 0 && std::isdigit(static_cast<unsigned char>(text_[at_ - 1])) != 0;
        if (text_[at_] == ',' && follows_digit) return " (the decimal sign is a point)";
        if (std::isalpha(static_cast<unsigned char>(text_[at_])) != 0)
            return " (numbers are in SI units, without their names; only angles may have one: deg, rad, rev, rpm)";
        return "";
    }

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

}  // namespace limber
