#include "limber/modular/interface_exchange.hpp"

#include <algorithm>
#include <map>
#include <set>

namespace limber {

InterfaceExchange::InterfaceExchange(std::shared_ptr<Exchange> exchange, std::vector<int> owner_of_box,
                                     std::vector<int> first_port)
    : exchange_(std::move(exchange)), owner_of_box_(std::move(owner_of_box)), first_port_(std::move(first_port)) {
    first_flag_ = {0};
    for (int k = 0; k < static_cast<int>(owner_of_box_.size()); ++k) {
        first_flag_.push_back(k + 1);
        box_of_port_.insert(box_of_port_.end(), first_port_[k + 1] - first_port_[k], k);
        if (exchange_ && owner_of_box_[k] != exchange_->rank()) continue;
        own_boxes_.push_back(k);
        for (int p = first_port_[k]; p < first_port_[k + 1]; ++p) own_ports_.push_back(p);
    }
}

void InterfaceExchange::connect(const std::vector<Bond>& bonds) {
    own_rows_.clear();
    const int self = exchange_ ? exchange_->rank() : 0;
    const auto owner_of_port = [&](int port) { return owner_of_box_[box_of_port_[port]]; };
    // Sets, so that both sides list the ports in the same order.
    std::map<int, std::set<int>> sent;
    std::map<int, std::set<int>> received;
    first_row_ = {0};
    owner_of_rows_.clear();
    for (const Bond& bond : bonds) {
        owner_of_rows_.push_back(bond.ports.empty() ? 0 : owner_of_port(bond.ports.front()));
        first_row_.push_back(first_row_.back() + bond.row_count);
        for (int r = first_row_[first_row_.size() - 2]; r < first_row_.back() && owner_of_rows_.back() == self; ++r)
            own_rows_.push_back(r);
        const bool is_near =
            std::any_of(bond.ports.begin(), bond.ports.end(), [&](int port) { return owner_of_port(port) == self; });
        if (!is_near) continue;
        for (const int port : bond.ports) {
            if (owner_of_port(port) != self) {
                received[owner_of_port(port)].insert(port);
                continue;
            }
            for (const int other : bond.ports)
                if (owner_of_port(other) != self) sent[owner_of_port(other)].insert(port);
        }
    }
    neighbours_.clear();
    for (const auto& [process, ports] : sent)
        neighbours_.push_back(
            {process, {ports.begin(), ports.end()}, {received[process].begin(), received[process].end()}});
}

void InterfaceExchange::share_rows(VecX& rows) {
    if (exchange_) share_pieces(reinterpret_cast<std::byte*>(rows.data()), sizeof(double), first_row_, owner_of_rows_);
}

void InterfaceExchange::share_pieces(std::byte* data, std::size_t item_size, std::span<const int> first,
                                     std::span<const int> owner) {
    scratch_.clear();
    for (const int i : first) scratch_.push_back(static_cast<std::size_t>(i) * item_size);
    exchange_->share(data, scratch_, owner);
}

}  // namespace limber
