#pragma once
// A number of the model: written as an expression of parameters (and of t where a law of time is allowed).

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "limber/model/expression.hpp"
#include "limber/model/name_index.hpp"

namespace limber {

/// Most numbers of a model are just that, and a height field has hundreds of thousands of them: only those that say
/// more have an expression.
class Number {
public:
    Number() = default;
    Number(double value) : value_(value) {}
    /// Throws ModelError that points at the place in the text.
    explicit Number(const std::string& text);

    /// As it was written.
    std::string text() const;
    /// The value, if nothing but a number was written.
    std::optional<double> literal() const { return expression_ ? expression_->literal() : value_; }
    /// Free names, each once, in order of appearance.
    const std::vector<std::string>& names() const;
    /// Names called as functions that are not built in (tables of the model).
    const std::vector<std::string>& table_names() const;
    BoundExpression bind(const Expression::Scope& scope) const;
    /// Written alike.
    friend bool operator==(const Number& a, const Number& b) { return a.text() == b.text(); }

private:
    double value_ = 0;
    std::shared_ptr<const Expression> expression_;  ///< null: the value, as the program would write it
};

using Number3 = std::array<Number, 3>;

/// Parameters by name, in order of definition; a parameter may be an expression of others.
class Parameters {
public:
    void set(const std::string& name, Number value);
    void remove(const std::string& name);
    bool contains(const std::string& name) const { return find(name) != NameIndex::none; }
    std::vector<std::string> names() const;
    const Number& definition(const std::string& name) const;

    /// All values. Throws ModelError for unknown names and circular definitions.
    std::vector<std::pair<std::string, double>> evaluate() const;

private:
    /// Its place among the entries, or NameIndex::none.
    std::uint32_t find(const std::string& name) const;

    std::vector<std::pair<std::string, Number>> entries_;
    NameIndex index_;
};

}  // namespace limber
