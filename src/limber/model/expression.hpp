#pragma once
// Expressions in model files: "2*m*l^2", "30 deg", "a*sin(2*pi*f*t)", "if(x > 0, k*x^1.5, 0)".
//
// An Expression is parsed text; its names are still free. bind() gives every name a number (a parameter) or a slot
// (t, a spring's length, ...) and returns a BoundExpression that is evaluated without allocation on double, Taylor2
// or Dual<N>, so every law used in a model has exact derivatives.
//
// Cost is bounded by the length of the text: no loops, no recursion on evaluation, both branches of a condition are
// computed.

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "limber/math/derivative.hpp"
#include "limber/math/interpolation.hpp"

namespace limber {

namespace expression_detail {
enum class Operation : unsigned char { constant, variable, unary, binary, integer_power, select, table };
struct Instruction {
    Operation operation;
    short code = 0;    ///< which function, variable slot or table; the exponent of an integer power
    double value = 0;  ///< of a constant
};
}  // namespace expression_detail

class BoundExpression {
public:
    static constexpr int max_depth = 64;

    BoundExpression() : BoundExpression(0.0) {}
    explicit BoundExpression(double constant);

    bool is_constant() const;
    /// The value of an expression without variables.
    double constant() const;
    bool depends_on(int slot) const;

    template <class T>
    T evaluate(std::span<const T> variables) const;

    /// A quantity that decides between two branches, or the argument of a table of straight lines; equality and what
    /// jumps by itself (sign, step, floor, ceil, mod) are not among them.
    template <class T>
    struct Kink {
        int place = 0;  ///< in the program: the same at every evaluation
        T argument;
        std::span<const double> at;
    };
    bool has_kinks() const { return !kinks_.empty(); }
    /// For T = Dual<1> and Dual<2>.
    template <class T>
    void find_kinks(std::span<const T> variables, std::vector<Kink<T>>& kinks) const;
    /// It has turned out to be smooth, or a jump.
    void remove_kink(int place) { std::erase(kinks_, place); }

private:
    template <class T, class Watch>
    T run(std::span<const T> variables, const Watch& watch) const;
    bool can_kink(const expression_detail::Instruction& instruction) const;

    std::vector<int> kinks_;  // places
    friend class Expression;
    std::vector<expression_detail::Instruction> code_;
    std::vector<std::shared_ptr<const Interpolation>> tables_;
};

class Expression {
public:
    Expression() : Expression(0.0) {}
    explicit Expression(double value);
    /// Throws ModelError that points at the place in the text.
    static Expression parse(const std::string& text);

    const std::string& text() const { return text_; }
    /// Free names, each once, in order of appearance.
    const std::vector<std::string>& names() const { return names_; }
    /// Names called as functions that are not built in (tables of the model).
    const std::vector<std::string>& table_names() const { return table_names_; }

    /// The value, if the text is nothing but a number, with a minus or without.
    std::optional<double> literal() const;

    /// What a name stands for: a number, or a variable slot.
    struct Meaning {
        std::optional<double> value;
        int slot = -1;
    };
    /// resolve returns nothing for an unknown name; known_names() is asked only to word the error.
    struct Scope {
        std::function<std::optional<Meaning>(const std::string&)> resolve;
        std::function<std::shared_ptr<const Interpolation>(const std::string&)> find_table;
        std::function<std::vector<std::string>()> known_names;
    };
    BoundExpression bind(const Scope& scope) const;

    /// Names of the built-in functions and constants, for documentation and suggestions.
    static std::vector<std::string> builtin_names();

private:
    friend class ExpressionParser;
    std::string text_;
    std::vector<expression_detail::Instruction> code_;
    std::vector<std::string> names_, table_names_;
};

}  // namespace limber
