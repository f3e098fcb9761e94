#include "limber/modular/interface_exchange.hpp"

#include <algorithm>
#include <map>
#include <set>

namespace limber {
namespace {

// That go along with the rows, for which memory is set aside.
constexpr std::size_t max_numbers = 8;

}  // namespace

InterfaceExchange::InterfaceExchange(std::shared_ptr<Exchange> exchange, std::vector<int> owner_of_box,
                                     std::vector<int> first_port)
    : exchange_(std::move(exchange)), owner_of_component_(std::move(owner_of_box)), first_port_(std::move(first_port)) {
    const int count = exchange_ ? exchange_->size() : 1;
    rows_of_process_.resize(count);
    for (int process = 0; process < count; ++process) processes_.push_back(process);
    first_flag_ = {0};
    for (int k = 0; k < static_cast<int>(owner_of_component_.size()); ++k) {
        first_flag_.push_back(k + 1);
        component_of_port_.insert(component_of_port_.end(), first_port_[k + 1] - first_port_[k], k);
        if (exchange_ && owner_of_component_[k] != exchange_->rank()) continue;
        own_components_.push_back(k);
        for (int p = first_port_[k]; p < first_port_[k + 1]; ++p) own_ports_.push_back(p);
    }
}

void InterfaceExchange::connect(const std::vector<Bond>& bonds) {
    const int self = exchange_ ? exchange_->rank() : 0;
    const auto owner_of_port = [&](int port) { return owner_of_component_[component_of_port_[port]]; };
    // Sets, so that both sides list the ports in the same order.
    std::map<int, std::set<int>> sent;
    std::map<int, std::set<int>> received;
    int row = 0;
    for (auto& rows : rows_of_process_) rows.clear();
    for (const Bond& bond : bonds) {
        const int finder = bond.ports.empty() ? 0 : owner_of_port(bond.ports.front());
        for (int i = 0; i < bond.row_count; ++i) rows_of_process_[finder].push_back(row++);
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
    packed_.reserve(row + rows_of_process_.size() * max_numbers);
}

void InterfaceExchange::share_rows(VecX& rows, std::span<double> largest) {
    if (!exchange_) return;
    // Of each process its numbers, then its rows.
    scratch_.assign(1, 0);
    for (const auto& list : rows_of_process_)
        scratch_.push_back(scratch_.back() + (largest.size() + list.size()) * sizeof(double));
    packed_.resize(scratch_.back() / sizeof(double));
    const auto place_of = [&](std::size_t process) {
        return packed_.begin() + static_cast<std::ptrdiff_t>(scratch_[process] / sizeof(double));
    };
    auto to = std::copy(largest.begin(), largest.end(), place_of(exchange_->rank()));
    for (const int r : own_rows()) *to++ = rows[r];
    exchange_->share(reinterpret_cast<std::byte*>(packed_.data()), scratch_, processes_);
    for (const int process : processes_) {
        auto from = place_of(process);
        for (double& number : largest) number = std::max(number, *from++);
        for (const int r : rows_of_process_[process]) rows[r] = *from++;
    }
}

}  // namespace limber
