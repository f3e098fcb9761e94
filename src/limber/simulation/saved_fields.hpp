#pragma once
// Structures whose fields are listed (fields.hpp) as JSON, and back: every number that comes from a file is asked for
// its kind, length and range.

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "limber/model/error.hpp"
#include "limber/simulation/fields.hpp"

namespace limber {

namespace saved {

using Json = nlohmann::json;

// JSON has no infinities; a number that is not finite is kept as its name.
inline Json encode(double value) {
    if (std::isfinite(value)) return value;
    return std::isnan(value) ? "nan" : (value > 0 ? "inf" : "-inf");
}
inline Json encode(int value) {
    return value;
}
inline Json encode(bool value) {
    return value;
}
inline Json encode(const std::string& text) {
    return text;
}

template <class Numbers>
Json encode_list(const Numbers& numbers) {
    Json json = Json::array();
    for (const double value : numbers) json.push_back(encode(value));
    return json;
}
inline Json encode(const VecX& numbers) {
    return encode_list(numbers);
}
inline Json encode(const Vec3& numbers) {
    return encode_list(numbers);
}
inline Json encode(const std::vector<double>& numbers) {
    return encode_list(numbers);
}

inline Json encode(const std::vector<ContactPoint>& contacts);

template <class T>
Json encode_fields(const T& fields) {
    Json json = Json::object();
    visit_fields(fields, [&](const char* name, const auto& field) { json[name] = encode(field); });
    return json;
}
inline Json encode(const std::vector<ContactPoint>& contacts) {
    Json json = Json::array();
    for (const ContactPoint& contact : contacts) json.push_back(encode_fields(contact));
    return json;
}
inline Json encode(const State& state) {
    return encode_fields(state);
}

}  // namespace saved

// A value of the file, and where it stands: every question it is asked is answered, or refused with a message.
class SavedPlace {
public:
    SavedPlace(const saved::Json& json, std::string name) : json_(json), name_(std::move(name)) {}

    [[noreturn]] void refuse(const std::string& expected) const {
        std::string found = json_.is_structured() ? fmt::format("{} of {} elements", json_.type_name(), json_.size())
                                                  : json_.dump(-1, ' ', false, saved::Json::error_handler_t::replace);
        constexpr std::size_t most = 60;
        if (found.size() > most) found = found.substr(0, most) + "...";
        throw ModelError(fmt::format("{}: expected {}, found {}", name_, expected, found));
    }

    SavedPlace at(const char* key) const {
        if (!json_.is_object() || !json_.contains(key)) refuse(fmt::format("an object with '{}'", key));
        return {json_.at(key), name_.empty() ? key : fmt::format("{}.{}", name_, key)};
    }
    SavedPlace at(std::size_t index) const { return {json_.at(index), fmt::format("{}[{}]", name_, index)}; }
    std::size_t length() const {
        if (!json_.is_array()) refuse("a list");
        return json_.size();
    }
    void require_length(std::size_t expected) const {
        if (length() != expected) refuse(fmt::format("a list of {} elements", expected));
    }

    /// Any, also "nan", "inf" and "-inf".
    double number() const {
        if (json_.is_number()) return json_.get<double>();
        if (json_ == "nan") return std::numeric_limits<double>::quiet_NaN();
        if (json_ == "inf" || json_ == "-inf")
            return (json_ == "inf" ? 1 : -1) * std::numeric_limits<double>::infinity();
        refuse("a number");
    }
    double finite(double least = -std::numeric_limits<double>::max()) const {
        const double value = json_.is_number() ? json_.get<double>() : std::nan("");
        if (!std::isfinite(value) || value < least)
            refuse(least == 0 ? "a finite number that is not negative" : "a finite number");
        return value;
    }
    long integer(long least, long most) const {
        const bool is_whole = json_.is_number_integer() && !(json_.is_number_unsigned() && json_ > saved::Json(most));
        if (!is_whole || json_.get<long>() < least || json_.get<long>() > most)
            refuse(fmt::format("a whole number between {} and {}", least, most));
        return json_.get<long>();
    }
    std::string text() const {
        if (!json_.is_string()) refuse("a text");
        return json_.get<std::string>();
    }

    void read(double& value) const { value = finite(); }
    void read(int& value) const {
        value = static_cast<int>(integer(std::numeric_limits<int>::min(), std::numeric_limits<int>::max()));
    }
    void read(std::string& value) const { value = text(); }
    void read(bool& value) const {
        if (!json_.is_boolean()) refuse("true or false");
        value = json_.get<bool>();
    }
    /// Any, one after the other.
    template <class Take>
    void each_number(const Take& take) const {
        for (std::size_t i = 0; i < length(); ++i)
            take(json_[i].is_number_float() ? json_[i].get<double>() : at(i).number());
    }
    void read(std::vector<double>& numbers) const {
        numbers.clear();
        each_number([&](double x) { numbers.push_back(std::isfinite(x) ? x : at(numbers.size()).finite()); });
    }
    void read(VecX& numbers) const {
        std::vector<double> list;
        read(list);
        numbers = Eigen::Map<const VecX>(list.data(), static_cast<Eigen::Index>(list.size()));
    }
    void read(Vec3& numbers) const {
        require_length(3);
        VecX list;
        read(list);
        numbers = list;
    }
    void read(std::vector<ContactPoint>& contacts) const {
        contacts.resize(length());
        for (std::size_t i = 0; i < contacts.size(); ++i) at(i).read_fields(contacts[i]);
    }
    template <class T>
    void read_fields(T& fields) const {
        visit_fields(fields, [&](const char* name, auto& field) { at(name).read(field); });
    }

private:
    const saved::Json& json_;
    std::string name_;
};

}  // namespace limber
