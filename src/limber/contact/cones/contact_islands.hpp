#pragma once
// Islands: contacts that share bodies, directly or through others, that can move. What happens in one does not reach
// any other in the same step, so each is solved for itself: as exactly as it needs, whatever moves elsewhere.

#include <array>
#include <span>
#include <vector>

namespace limber {

/// Filling again allocates nothing once the largest set of contacts has been seen.
class ContactIslands {
public:
    /// Bodies of each contact; -1 for one that cannot move.
    void find(std::span<const std::array<int, 2>> ends, int body_count);

    int count() const { return static_cast<int>(contact_start_.size()) - 1; }
    /// Ascending.
    std::span<const int> contacts(int island) const { return part(contacts_, contact_start_, island); }
    /// Ascending.
    std::span<const int> bodies(int island) const { return part(bodies_, body_start_, island); }
    /// Place of a body in the list of its island.
    int place(int body) const { return place_[body]; }

private:
    static std::span<const int> part(const std::vector<int>& list, const std::vector<int>& start, int island) {
        return {list.data() + start[island], list.data() + start[island + 1]};
    }
    int root(int body);

    std::vector<int> parent_, island_of_root_, place_;
    std::vector<int> contact_start_{0}, contacts_, body_start_{0}, bodies_, next_;
};

}  // namespace limber
