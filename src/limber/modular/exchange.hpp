#pragma once
// Components spread over processes: the three ways in which these talk to each other. All processes make the same calls
// in the same order. What arrives is what was sent or the largest of it, so no result depends on how many processes
// there are.

#include <cstddef>
#include <span>
#include <vector>

namespace limber {

/// A process with which items of a list are exchanged: what it is sent and what comes from it.
struct Neighbour {
    int process = 0;
    std::vector<int> sent, received;
};

class Exchange {
public:
    virtual ~Exchange() = default;
    virtual int rank() const = 0;
    virtual int size() const = 0;
    /// Piece k of the data are the bytes first[k] .. first[k + 1], filled by process owner[k]. Afterwards everyone has
    /// all of them.
    virtual void share(std::byte* data, std::span<const std::size_t> first, std::span<const int> owner) = 0;
    /// Items of the data, `item_size` bytes each, go to the neighbours and come from them. Both sides list them in the
    /// same order.
    virtual void swap(std::byte* data, std::size_t item_size, std::span<const Neighbour> neighbours) = 0;
    /// Each value becomes the largest that a process has in its place; none may be NaN.
    virtual void find_largest(std::span<double> values) = 0;
};

}  // namespace limber
