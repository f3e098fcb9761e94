#pragma once
// Named elements held by handles. A handle carries the generation of the slot it points to, so a handle to something
// that was removed is recognised as stale, whatever has taken its place since.
//
// A table is a value that shares: a copy costs nothing until one of the two changes, and then only the list of slots
// and the changed element are copied. So the models before and after an edit can both be kept.

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "limber/model/error.hpp"
#include "limber/model/name_index.hpp"

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
        refuse_taken(element.name);
        auto fresh = std::make_shared<T>(std::move(element));
        Content& content = own_content();
        std::uint32_t index = 0;
        if (content.free.empty()) {
            index = static_cast<std::uint32_t>(content.slots.size());
            content.slots.emplace_back();
        } else {
            index = content.free.back();
            content.free.pop_back();
        }
        Slot& slot = content.slots[index];
        content.by_name.insert(fresh->name, index);
        slot.element = std::move(fresh);
        return {index, slot.generation};
    }

    void remove(Handle<T> handle) {
        require(handle);
        Content& content = own_content();
        Slot& slot = content.slots[handle.index];
        content.by_name.erase(slot.element->name, handle.index);
        slot.element.reset();
        ++slot.generation;
        if (is_behind_all(content, handle.index)) content.free.push_back(handle.index);
    }

    /// Puts an element in the place of another: handles to it stay valid. Its name may be a new one.
    void replace(Handle<T> handle, T element) {
        const std::string old_name = std::as_const(*this).get(handle).name;
        const bool is_renamed = element.name != old_name;
        if (is_renamed) refuse_taken(element.name);
        auto fresh = std::make_shared<T>(std::move(element));
        Content& content = own_content();
        if (is_renamed) {
            content.by_name.erase(old_name, handle.index);
            content.by_name.insert(fresh->name, handle.index);
        }
        content.slots[handle.index].element = std::move(fresh);
    }

    bool contains(Handle<T> handle) const {
        const auto& slots = content().slots;
        return handle.index < slots.size() && slots[handle.index].generation == handle.generation &&
               slots[handle.index].element != nullptr;
    }
    const T* find(Handle<T> handle) const {
        return contains(handle) ? content().slots[handle.index].element.get() : nullptr;
    }
    const T& get(Handle<T> handle) const {
        require(handle);
        return *content().slots[handle.index].element;
    }
    /// For changing an element, except for its name. These alone copy what is shared: read through a const table.
    T* find(Handle<T> handle) { return contains(handle) ? &own_element(handle) : nullptr; }
    T& get(Handle<T> handle) {
        require(handle);
        return own_element(handle);
    }

    /// Null handle if there is no element of that name.
    Handle<T> find(const std::string& name) const {
        const Content& c = content();
        const std::uint32_t slot =
            c.by_name.find(name, [&](std::uint32_t i) -> const std::string& { return c.slots[i].element->name; });
        return slot == NameIndex::none ? Handle<T>{} : Handle<T>{slot, c.slots[slot].generation};
    }

    std::size_t size() const { return content().by_name.size(); }
    /// Beyond the index of every handle.
    std::size_t slot_count() const { return content().slots.size(); }

    /// Handles of all elements, in slot order.
    std::vector<Handle<T>> handles() const {
        std::vector<Handle<T>> result;
        result.reserve(size());
        const auto& slots = content().slots;
        for (std::uint32_t i = 0; i < slots.size(); ++i)
            if (slots[i].element) result.push_back({i, slots[i].generation});
        return result;
    }
    std::vector<std::string> names() const {
        std::vector<std::string> result;
        result.reserve(size());
        for (const Slot& slot : content().slots)
            if (slot.element) result.push_back(slot.element->name);
        return result;
    }

    struct Slot {
        std::shared_ptr<T> element;  ///< null: free
        std::uint32_t generation = 0;
    };
    /// What became of one slot.
    struct Change {
        std::uint32_t index = 0;
        Slot before, after;
    };

    /// Where another table, a changed copy of this one, differs.
    std::vector<Change> changes_to(const Table& other) const {
        std::vector<Change> list;
        if (content_ == other.content_) return list;
        const auto& from = content().slots;
        const auto& to = other.content().slots;
        for (std::uint32_t i = 0; i < std::max(from.size(), to.size()); ++i) {
            const Slot before = i < from.size() ? from[i] : Slot{};
            const Slot after = i < to.size() ? to[i] : Slot{};
            if (before.element != after.element || before.generation != after.generation)
                list.push_back({i, before, after});
        }
        return list;
    }

    /// Makes changes again, or backwards takes them back, elements and generations. Throws ModelError if a slot does
    /// not hold what the change starts from; then the table is in no good state, so work on a copy.
    void apply(const std::vector<Change>& changes, bool backwards) {
        if (changes.empty()) return;
        Content& content = own_content();
        // Elements leave before others come, who may take their names.
        for (const Change& change : changes) {
            const Slot& from = backwards ? change.after : change.before;
            if (change.index >= content.slots.size()) content.slots.resize(change.index + 1);
            Slot& slot = content.slots[change.index];
            if (slot.element != from.element) {
                const T* other = slot.element ? slot.element.get() : from.element.get();
                throw ModelError(std::string(T::kind) + " '" + other->name + "' has been changed since");
            }
            if (slot.element) content.by_name.erase(slot.element->name, change.index);
            slot.element.reset();
        }
        for (const Change& change : changes) {
            const Slot& to = backwards ? change.before : change.after;
            if (to.element) {
                refuse_taken(to.element->name);
                content.by_name.insert(to.element->name, change.index);
            }
            content.slots[change.index] = to;
        }
        content.free.clear();
        for (auto end = static_cast<std::uint32_t>(content.slots.size()); end > 0 && !content.slots[end - 1].element;
             --end)
            content.free.push_back(end - 1);
    }

private:
    struct Content {
        std::vector<Slot> slots;
        /// Behind all elements, the first of them last: what is added comes last, as in a file. Gaps between elements
        /// stay, so that the order tells all that matters, and a model that was written and read again goes on as this
        /// one does.
        std::vector<std::uint32_t> free;
        NameIndex by_name;
    };

    static bool is_behind_all(const Content& content, std::uint32_t index) {
        return std::all_of(content.slots.begin() + index, content.slots.end(),
                           [](const Slot& slot) { return !slot.element; });
    }
    void require(Handle<T> handle) const {
        if (!contains(handle)) throw ModelError(std::string("this ") + T::kind + " was removed from the model");
    }
    void refuse_taken(const std::string& name) const {
        if (!find(name).is_null()) throw ModelError(std::string(T::kind) + " '" + name + "' exists already");
    }

    const Content& content() const {
        static const Content empty;
        return content_ ? *content_ : empty;
    }
    Content& own_content() {
        if (!content_) content_ = std::make_shared<Content>();
        make_own(content_);
        return *content_;
    }
    T& own_element(Handle<T> handle) {
        auto& element = own_content().slots[handle.index].element;
        make_own(element);
        return *element;
    }
    template <class Shared>
    static void make_own(std::shared_ptr<Shared>& shared) {
        if (shared.use_count() > 1) {
            shared = std::make_shared<Shared>(*shared);
        } else {
            // Another thread may have let go of its copy just now: what it read, it read before our writing.
            std::atomic_thread_fence(std::memory_order_acquire);
        }
    }

    std::shared_ptr<Content> content_;  ///< null: empty
};

}  // namespace limber
