#pragma once
// The components of a divided mechanism: which of them this process computes, on how many threads, and where the ports
// of each are in lists of all ports.

#include <memory>
#include <span>
#include <vector>

#include "limber/modular/component.hpp"
#include "limber/modular/interface_exchange.hpp"
#include "limber/modular/workers.hpp"

namespace limber {

template <int D>
using ComponentBoxes = std::vector<std::unique_ptr<Component<D>>>;

template <int D>
class ComponentTeam {
public:
    using Boxes = ComponentBoxes<D>;

    /// All of them in this process.
    ComponentTeam(Boxes boxes, int threads)
        : boxes_(std::move(boxes)), workers_(std::make_unique<Workers>(threads)), exchange_({}, {}, {0}) {
        for (const auto& box : boxes_) first_port_.push_back(first_port_.back() + box->port_count());
        spread({}, std::vector<int>(boxes_.size(), 0));
    }
    /// Process that computes each.
    void spread(const std::shared_ptr<Exchange>& exchange, std::vector<int> owner) {
        exchange_ = InterfaceExchange(exchange, std::move(owner), first_port_);
    }

    int count() const { return static_cast<int>(boxes_.size()); }
    Component<D>& operator[](int box) { return *boxes_[box]; }
    const Component<D>& operator[](int box) const { return *boxes_[box]; }
    const std::vector<int>& own() const { return exchange_.own_boxes(); }
    /// Calls job(k) for those of this process.
    void for_all(Job job) {
        const std::vector<int>& mine = own();
        workers_->run(static_cast<int>(mine.size()), [&](int i) { job(mine[i]); });
    }

    int port_count() const { return first_port_.back(); }
    int port_count(int box) const { return first_port_[box + 1] - first_port_[box]; }
    int first_port(int box) const { return first_port_[box]; }
    /// Of a list with an item for each port.
    template <class T>
    std::span<T> part(std::vector<T>& list, int box) const {
        return std::span(list).subspan(first_port_[box], port_count(box));
    }
    template <class T>
    std::span<const T> part(const std::vector<T>& list, int box) const {
        return std::span(list).subspan(first_port_[box], port_count(box));
    }

    InterfaceExchange& exchange() { return exchange_; }
    const InterfaceExchange& exchange() const { return exchange_; }
    Workers& workers() { return *workers_; }

private:
    Boxes boxes_;
    std::unique_ptr<Workers> workers_;
    std::vector<int> first_port_{0};  // of each, then the number of ports
    InterfaceExchange exchange_;
};

}  // namespace limber
