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
using ComponentList = std::vector<std::unique_ptr<Component<D>>>;

template <int D>
class ComponentTeam {
public:
    /// All of them in this process.
    ComponentTeam(ComponentList<D> components, int threads)
        : components_(std::move(components)), workers_(std::make_unique<Workers>(threads)), exchange_({}, {}, {0}) {
        for (const auto& component : components_) first_port_.push_back(first_port_.back() + component->port_count());
        spread({}, std::vector<int>(components_.size(), 0));
    }
    /// Process that computes each.
    void spread(const std::shared_ptr<Exchange>& exchange, std::vector<int> owner) {
        exchange_ = InterfaceExchange(exchange, std::move(owner), first_port_);
    }

    int count() const { return static_cast<int>(components_.size()); }
    Component<D>& operator[](int component) { return *components_[component]; }
    const Component<D>& operator[](int component) const { return *components_[component]; }
    const std::vector<int>& own() const { return exchange_.own_components(); }
    /// Calls job(k) for those of this process.
    void for_all(Job job) {
        const std::vector<int>& mine = own();
        workers_->run(static_cast<int>(mine.size()), [&](int i) { job(mine[i]); });
    }

    int port_count() const { return first_port_.back(); }
    int port_count(int component) const { return first_port_[component + 1] - first_port_[component]; }
    int first_port(int component) const { return first_port_[component]; }
    /// Of a list with an item for each port.
    template <class T>
    std::span<T> part(std::vector<T>& list, int component) const {
        return std::span(list).subspan(first_port_[component], port_count(component));
    }
    template <class T>
    std::span<const T> part(const std::vector<T>& list, int component) const {
        return std::span(list).subspan(first_port_[component], port_count(component));
    }

    InterfaceExchange& exchange() { return exchange_; }
    const InterfaceExchange& exchange() const { return exchange_; }
    Workers& workers() { return *workers_; }

private:
    ComponentList<D> components_;
    std::unique_ptr<Workers> workers_;
    std::vector<int> first_port_{0};  // of each, then the number of ports
    InterfaceExchange exchange_;
};

}  // namespace limber
