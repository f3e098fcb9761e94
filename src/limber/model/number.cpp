#include "limber/model/number.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>

#include "limber/math/interruption.hpp"
#include "limber/model/error.hpp"

namespace limber {
namespace {

// The value of a text that is a plain number, a sign included; nothing for all others, too large ones among them.
std::optional<double> plain_value(const std::string& text) {
    const std::size_t sign = !text.empty() && text[0] == '-' ? 1 : 0;
    const bool starts_number =
        text.size() > sign && (std::isdigit(static_cast<unsigned char>(text[sign])) != 0 || text[sign] == '.');
    if (!starts_number) return std::nullopt;
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return value;
}

const std::vector<std::string> no_names;

}  // namespace

Number::Number(const std::string& text) {
    if (const auto value = plain_value(text); value && fmt::format("{}", *value) == text) {
        value_ = *value;
    } else {
        expression_ = std::make_shared<const Expression>(Expression::parse(text));
    }
}

std::string Number::text() const {
    return expression_ ? expression_->text() : fmt::format("{}", value_);
}

const std::vector<std::string>& Number::names() const {
    return expression_ ? expression_->names() : no_names;
}

const std::vector<std::string>& Number::table_names() const {
    return expression_ ? expression_->table_names() : no_names;
}

BoundExpression Number::bind(const Expression::Scope& scope) const {
    return expression_ ? expression_->bind(scope) : BoundExpression(value_);
}

std::uint32_t Parameters::find(const std::string& name) const {
    return index_.find(name, [&](std::uint32_t i) -> const std::string& { return entries_[i].first; });
}

void Parameters::set(const std::string& name, Number value) {
    const std::uint32_t known = find(name);
    if (known != NameIndex::none) {
        entries_[known].second = std::move(value);
        return;
    }
    index_.insert(name, static_cast<std::uint32_t>(entries_.size()));
    entries_.emplace_back(name, std::move(value));
}

void Parameters::remove(const std::string& name) {
    const std::uint32_t place = find(name);
    if (place == NameIndex::none) return;
    entries_.erase(entries_.begin() + place);
    index_ = {};
    for (std::uint32_t i = 0; i < entries_.size(); ++i) index_.insert(entries_[i].first, i);
}

std::vector<std::string> Parameters::names() const {
    std::vector<std::string> result;
    for (const auto& [name, number] : entries_) result.push_back(name);
    return result;
}

const Number& Parameters::definition(const std::string& name) const {
    const std::uint32_t place = find(name);
    if (place == NameIndex::none)
        throw ModelError(fmt::format("unknown parameter '{}'{}", name, did_you_mean(name, names())));
    return entries_[place].second;
}

// Each parameter when all those it needs are known.
std::vector<std::pair<std::string, double>> Parameters::evaluate() const {
    const std::size_t count = entries_.size();
    std::vector<std::vector<std::uint32_t>> users(count);
    std::vector<std::size_t> missing(count, 0);
    std::vector<std::uint32_t> ready;
    for (std::uint32_t i = 0; i < count; ++i) {
        check_interruption();
        for (const std::string& name : entries_[i].second.names()) {
            const std::uint32_t needed = find(name);
            if (needed == NameIndex::none)
                throw ModelError(fmt::format("parameter '{}': unknown name '{}'{}", entries_[i].first, name,
                                             did_you_mean(name, names())));
            users[needed].push_back(i);
            ++missing[i];
        }
        if (missing[i] == 0) ready.push_back(i);
    }
    std::vector<std::pair<std::string, double>> values(count);
    Expression::Scope scope;
    scope.resolve = [&](const std::string& name) { return Expression::Meaning{values[find(name)].second, -1}; };
    for (std::size_t done = 0; done < ready.size(); ++done) {
        check_interruption();
        const std::uint32_t i = ready[done];
        values[i] = {entries_[i].first, entries_[i].second.bind(scope).constant()};
        for (const std::uint32_t user : users[i])
            if (--missing[user] == 0) ready.push_back(user);
    }
    for (std::size_t i = 0; i < count; ++i)
        if (missing[i] > 0)
            throw ModelError(fmt::format("parameter '{}' is defined in terms of itself", entries_[i].first));
    return values;
}

}  // namespace limber
