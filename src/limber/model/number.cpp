#include "limber/model/number.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "limber/model/error.hpp"

namespace limber {

void Parameters::set(const std::string& name, Number value) {
    for (auto& [key, number] : entries_)
        if (key == name) {
            number = std::move(value);
            return;
        }
    entries_.emplace_back(name, std::move(value));
}

void Parameters::remove(const std::string& name) {
    std::erase_if(entries_, [&](const auto& entry) { return entry.first == name; });
}

bool Parameters::contains(const std::string& name) const {
    return std::any_of(entries_.begin(), entries_.end(), [&](const auto& e) { return e.first == name; });
}

std::vector<std::string> Parameters::names() const {
    std::vector<std::string> result;
    for (const auto& [name, number] : entries_) result.push_back(name);
    return result;
}

const Number& Parameters::definition(const std::string& name) const {
    for (const auto& [key, number] : entries_)
        if (key == name) return number;
    throw ModelError(fmt::format("unknown parameter '{}'{}", name, did_you_mean(name, names())));
}

std::vector<std::pair<std::string, double>> Parameters::evaluate() const {
    std::map<std::string, double> known;
    std::vector<std::pair<std::string, double>> values(entries_.size());
    std::vector<bool> done(entries_.size(), false);
    // Repeated passes: each pass evaluates what depends only on known parameters.
    for (std::size_t finished = 0; finished < entries_.size();) {
        bool progress = false;
        for (std::size_t i = 0; i < entries_.size(); ++i) {
            if (done[i]) continue;
            const std::string& name = entries_[i].first;
            const Number& number = entries_[i].second;
            const auto& names = number.expression().names();
            const bool ready = std::all_of(names.begin(), names.end(), [&](const std::string& n) {
                if (!contains(n))
                    throw ModelError(
                        fmt::format("parameter '{}': unknown name '{}'{}", name, n, did_you_mean(n, this->names())));
                return known.count(n) != 0;
            });
            if (!ready) continue;
            Expression::Scope scope;
            scope.resolve = [&](const std::string& n) { return Expression::Meaning{known.at(n), -1}; };
            const double value = number.expression().bind(scope).constant();
            known[name] = value;
            values[i] = {name, value};
            done[i] = true;
            progress = true;
            ++finished;
        }
        if (!progress)
            for (std::size_t i = 0; i < entries_.size(); ++i)
                if (!done[i])
                    throw ModelError(fmt::format("parameter '{}' is defined in terms of itself", entries_[i].first));
    }
    return values;
}

}  // namespace limber
