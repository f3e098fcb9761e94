#pragma once
// Which slot an element of a given name is in. A flat hash table (open addressing, linear probing, at most half full):
// copying it is copying one block of memory, which is what makes an edited copy of a model cheap. It does not own the
// names; `name_of(slot)` looks them up.

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

namespace limber {

class NameIndex {
public:
    static constexpr std::uint32_t none = UINT32_MAX;

    std::size_t size() const { return size_; }

    /// The slot of a name, or `none`.
    template <class NameOf>
    std::uint32_t find(std::string_view name, const NameOf& name_of) const {
        if (entries_.empty()) return none;
        const std::uint32_t hash = hash_of(name);
        for (std::size_t i = home(hash); entries_[i].slot != none; i = next(i))
            if (entries_[i].hash == hash && name_of(entries_[i].slot) == name) return entries_[i].slot;
        return none;
    }

    /// The name must not be there yet.
    void insert(std::string_view name, std::uint32_t slot) {
        if (2 * (size_ + 1) > entries_.size()) grow();
        place({hash_of(name), slot});
        ++size_;
    }

    /// The name must be there, in that slot.
    void erase(std::string_view name, std::uint32_t slot) {
        std::size_t hole = home(hash_of(name));
        while (entries_[hole].slot != slot) hole = next(hole);
        // Entries behind the hole move up unless that would put them before their home.
        for (std::size_t i = next(hole); entries_[i].slot != none; i = next(i)) {
            const std::size_t mask = entries_.size() - 1;
            const std::size_t from_home = (i - home(entries_[i].hash)) & mask;
            const std::size_t from_hole = (i - hole) & mask;
            if (from_home < from_hole) continue;
            entries_[hole] = entries_[i];
            hole = i;
        }
        entries_[hole].slot = none;
        --size_;
    }

private:
    struct Entry {
        std::uint32_t hash = 0;
        std::uint32_t slot = none;
    };

    static std::uint32_t hash_of(std::string_view name) {
        return static_cast<std::uint32_t>(std::hash<std::string_view>{}(name));
    }
    std::size_t home(std::uint32_t hash) const { return hash & (entries_.size() - 1); }
    std::size_t next(std::size_t i) const { return (i + 1) & (entries_.size() - 1); }
    void place(Entry entry) {
        std::size_t i = home(entry.hash);
        while (entries_[i].slot != none) i = next(i);
        entries_[i] = entry;
    }
    void grow() {
        std::vector<Entry> old(std::max<std::size_t>(8, 2 * entries_.size()));
        old.swap(entries_);
        for (const Entry& entry : old)
            if (entry.slot != none) place(entry);
    }

    std::vector<Entry> entries_;  ///< a power of two of them
    std::size_t size_ = 0;
};

}  // namespace limber
