#pragma once
// Named elements held by handles. A handle carries the generation of the slot it points to, so a handle to something
// that was removed is recognised as stale, whatever has taken its place since.

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "limber/model/error.hpp"

namespace limber {

template <class T>
struct Handle {
    std::uint32_t index = UINT32_MAX;
    std::uint32_t generation = 0;

    bool is_null() const { return index == UINT32_MAX; }
    friend bool operator==(const Handle&, const Handle&) = default;
};

/// T must have a member `name` and a static `kind` ("body", "joint", ...) for messages.
template <class T>
class Table {
public:
    Handle<T> add(T element) {
        if (by_name_.count(element.name) != 0)
            throw ModelError(std::string(T::kind) + " '" + element.name + "' exists already");
        std::uint32_t index = 0;
        if (free_.empty()) {
            index = static_cast<std::uint32_t>(slots_.size());
            slots_.emplace_back();
        } else {
            index = free_.back();
            free_.pop_back();
        }
        Slot& slot = slots_[index];
        by_name_[element.name] = index;
        slot.element = std::move(element);
        return {index, slot.generation};
    }

    void remove(Handle<T> handle) {
        T& element = get(handle);
        by_name_.erase(element.name);
        Slot& slot = slots_[handle.index];
        slot.element.reset();
        ++slot.generation;
        free_.push_back(handle.index);
    }

    bool contains(Handle<T> handle) const {
        return handle.index < slots_.size() && slots_[handle.index].generation == handle.generation &&
               slots_[handle.index].element.has_value();
    }
    T* find(Handle<T> handle) { return contains(handle) ? &*slots_[handle.index].element : nullptr; }
    const T* find(Handle<T> handle) const { return contains(handle) ? &*slots_[handle.index].element : nullptr; }
    T& get(Handle<T> handle) {
        if (!contains(handle)) throw ModelError(std::string("this ") + T::kind + " was removed from the model");
        return *slots_[handle.index].element;
    }
    const T& get(Handle<T> handle) const { return const_cast<Table*>(this)->get(handle); }

    /// Null handle if there is no element of that name.
    Handle<T> find(const std::string& name) const {
        const auto it = by_name_.find(name);
        if (it == by_name_.end()) return {};
        return {it->second, slots_[it->second].generation};
    }

    std::size_t size() const { return by_name_.size(); }

    /// Handles of all elements, in slot order.
    std::vector<Handle<T>> handles() const {
        std::vector<Handle<T>> result;
        result.reserve(size());
        for (std::uint32_t i = 0; i < slots_.size(); ++i)
            if (slots_[i].element) result.push_back({i, slots_[i].generation});
        return result;
    }
    std::vector<std::string> names() const {
        std::vector<std::string> result;
        for (const auto& slot : slots_)
            if (slot.element) result.push_back(slot.element->name);
        return result;
    }

private:
    struct Slot {
        std::optional<T> element;
        std::uint32_t generation = 0;
    };
    std::vector<Slot> slots_;
    std::vector<std::uint32_t> free_;
    std::unordered_map<std::string, std::uint32_t> by_name_;
};

}  // namespace limber
