#pragma once
// A number that two things share only if they are the same to the bit (FNV-1a).

#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "limber/simulation/fields.hpp"
#include "limber/simulation/options.hpp"

namespace limber {

class Fingerprint {
public:
    std::uint64_t value() const { return hash_; }

    void add_bytes(const void* data, std::size_t size) {
        for (std::size_t i = 0; i < size; ++i) {
            hash_ ^= static_cast<const unsigned char*>(data)[i];
            hash_ *= 1099511628211ULL;
        }
    }
    template <class T>
    requires(std::is_arithmetic_v<T> || std::is_enum_v<T>) void add(const T& value) { add_bytes(&value, sizeof value); }
    // Lengths are added, too: otherwise one list could go on in the next.
    void add(const std::string& text) {
        add(text.size());
        add_bytes(text.data(), text.size());
    }
    template <class Derived>
    void add(const Eigen::PlainObjectBase<Derived>& numbers) {
        add(numbers.size());
        add_bytes(numbers.data(), sizeof(double) * static_cast<std::size_t>(numbers.size()));
    }
    template <class A, class B>
    void add(const std::pair<A, B>& pair) {
        add(pair.first);
        add(pair.second);
    }
    template <class T>
    void add(const std::vector<T>& list) {
        add(list.size());
        for (const T& element : list) add(element);
    }
    void add(const ContactPoint& contact) { add_fields(contact); }
    void add(const State& state) { add_fields(state); }
    void add(const SimulationOptions& options);

private:
    template <class T>
    void add_fields(const T& fields) {
        visit_fields(fields, [this](const char*, const auto& field) { this->add(field); });
    }

    std::uint64_t hash_ = 14695981039346656037ULL;
};

/// Of everything a model says, with the surfaces it has read from files.
std::uint64_t fingerprint_of(const Model& model);

}  // namespace limber
