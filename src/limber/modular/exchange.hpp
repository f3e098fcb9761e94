#pragma once
// Components spread over processes. Every process knows the whole mechanism and all joints between components; each computes the
// components it owns and tells the others what their ports show. So all of them take the same decisions, from the same numbers
// in the same order, and the motion is the same to the bit for any number of processes.

#include <cstddef>
#include <span>
#include <vector>

namespace limber {

class Exchange {
public:
    virtual ~Exchange() = default;
    virtual int rank() const = 0;
    virtual int size() const = 0;
    /// Piece k of the data are the bytes first[k] .. first[k + 1], filled by process owner[k]. Afterwards everyone has all of them.
    virtual void share(std::byte* data, std::span<const std::size_t> first, std::span<const int> owner) = 0;
};

/// The pieces of a list of T, `count` of them for each box.
template <class T>
void share(Exchange& exchange, std::span<T> list, std::span<const int> first, std::span<const int> owner,
           std::vector<std::size_t>& scratch) {
    scratch.clear();
    for (const int i : first) scratch.push_back(static_cast<std::size_t>(i) * sizeof(T));
    exchange.share(reinterpret_cast<std::byte*>(list.data()), scratch, owner);
}

}  // namespace limber
