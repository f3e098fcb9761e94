#pragma once
// What the processes of a distributed run must tell each other of the interface.
//
//   ports    their motion goes to the processes that own the other side of a joint or force there, and to no others
//   rows     a row is found by the process of its first port; everyone then has one number per row, because all of them
//            solve with the whole admittance matrix and take every decision themselves, from the same numbers in the
//            same order
//   components    whether all have answered, how far the least settled is: the largest of a few numbers
//
// What a process has of ports that are neither its own nor joined to its own is old, and so are the wrenches and rows
// found from it: nobody there asks for them.

#include <memory>

#include "limber/math/types.hpp"
#include "limber/modular/exchange.hpp"

namespace limber {

/// A joint, driver or force between components: the ports it touches, and its rows.
struct Bond {
    std::vector<int> ports;
    int row_count = 0;
};

class InterfaceExchange {
public:
    /// Without an exchange there is one process, which has everything.
    InterfaceExchange(std::shared_ptr<Exchange> exchange, std::vector<int> owner_of_box, std::vector<int> first_port);
    /// After every change of the joints; rows are counted in the order of the bonds.
    void connect(const std::vector<Bond>& bonds);

    const std::vector<int>& own_components() const { return own_components_; }
    const std::vector<int>& own_ports() const { return own_ports_; }
    /// Rows that this process finds.
    const std::vector<int>& own_rows() const { return rows_of_process_[exchange_ ? exchange_->rank() : 0]; }

    /// One item per port, of which this process has filled its own: afterwards it has those of the other side, too.
    template <class T>
    void share_near(std::vector<T>& ports) {
        if (exchange_) exchange_->swap(reinterpret_cast<std::byte*>(ports.data()), sizeof(T), neighbours_);
    }
    /// The same, but afterwards everyone has all of them.
    template <class T>
    void share_ports(std::vector<T>& ports) {
        share(ports, first_port_);
    }
    /// This process has found its own rows: afterwards all are known, and each of the numbers is the largest that a
    /// process has in its place (none may be NaN).
    void share_rows(VecX& rows, std::span<double> largest = {});
    /// A list with pieces for each component, of which this process has filled its own: afterwards it has all.
    template <class T>
    void share(std::vector<T>& list, std::span<const int> first) {
        if (!exchange_) return;
        scratch_.clear();
        for (const int i : first) scratch_.push_back(static_cast<std::size_t>(i) * sizeof(T));
        exchange_->share(reinterpret_cast<std::byte*>(list.data()), scratch_, owner_of_component_);
    }
    /// One item per component.
    template <class T>
    void share_components(std::vector<T>& list) {
        share(list, first_flag_);
    }
    void find_largest(std::span<double> values) {
        if (exchange_) exchange_->find_largest(values);
    }

private:
    std::shared_ptr<Exchange> exchange_;
    std::vector<int> owner_of_component_, first_port_, component_of_port_, own_components_, own_ports_;
    std::vector<int> first_flag_;  // 0, 1, 2, ...
    std::vector<Neighbour> neighbours_;
    std::vector<std::vector<int>> rows_of_process_;  // that it finds
    std::vector<int> processes_;                     // 0, 1, 2, ...
    std::vector<double> packed_;
    std::vector<std::size_t> scratch_;
};

}  // namespace limber
