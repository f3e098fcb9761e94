#pragma once
// A number of the model: written as an expression of parameters (and of t where a law of time is allowed).

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "limber/model/expression.hpp"

namespace limber {

class Number {
public:
    Number() = default;
    Number(double value) : expression_(value) {}
    explicit Number(const std::string& text) : expression_(Expression::parse(text)) {}

    const Expression& expression() const { return expression_; }
    const std::string& text() const { return expression_.text(); }

private:
    Expression expression_;
};

using Number3 = std::array<Number, 3>;

/// Parameters by name, in order of definition; a parameter may be an expression of others.
class Parameters {
public:
    void set(const std::string& name, Number value);
    void remove(const std::string& name);
    bool contains(const std::string& name) const;
    std::vector<std::string> names() const;
    const Number& definition(const std::string& name) const;

    /// All values. Throws ModelError for unknown names and circular definitions.
    std::vector<std::pair<std::string, double>> evaluate() const;

private:
    std::vector<std::pair<std::string, Number>> entries_;
};

}  // namespace limber
