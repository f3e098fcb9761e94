#include "limber/distributed/mpi_exchange.hpp"

#include <mpi.h>

#include <algorithm>
#include <numeric>

namespace limber {
namespace {

class MpiExchange final : public Exchange {
public:
    MpiExchange() {
        MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
        MPI_Comm_size(MPI_COMM_WORLD, &size_);
    }

    int rank() const override { return rank_; }
    int size() const override { return size_; }

    void share(std::byte* data, std::span<const std::size_t> first, std::span<const int> owner) override {
        if (size_ == 1) return;
        // Pieces of one process after the other, each in the order of the components.
        counts_.assign(size_, 0);
        for (std::size_t k = 0; k < owner.size(); ++k) counts_[owner[k]] += static_cast<int>(first[k + 1] - first[k]);
        starts_.assign(size_, 0);
        std::partial_sum(counts_.begin(), counts_.end() - 1, starts_.begin() + 1);
        sent_.clear();
        for (std::size_t k = 0; k < owner.size(); ++k)
            if (owner[k] == rank_) sent_.insert(sent_.end(), data + first[k], data + first[k + 1]);
        received_.resize(static_cast<std::size_t>(starts_.back()) + static_cast<std::size_t>(counts_.back()));
        MPI_Allgatherv(sent_.data(), counts_[rank_], MPI_BYTE, received_.data(), counts_.data(), starts_.data(),
                       MPI_BYTE, MPI_COMM_WORLD);
        for (std::size_t k = 0; k < owner.size(); ++k) {
            const std::size_t size = first[k + 1] - first[k];
            int& from = starts_[owner[k]];
            if (owner[k] != rank_) std::copy_n(received_.begin() + from, size, data + first[k]);
            from += static_cast<int>(size);
        }
    }

    void swap(std::byte* data, std::size_t item_size, std::span<const Neighbour> neighbours) override {
        std::size_t sent = 0;
        std::size_t received = 0;
        for (const Neighbour& n : neighbours) {
            sent += n.sent.size() * item_size;
            received += n.received.size() * item_size;
        }
        sent_.resize(sent);
        received_.resize(received);
        requests_.clear();
        std::byte* from = received_.data();
        for (const Neighbour& n : neighbours) {
            const std::size_t size = n.received.size() * item_size;
            MPI_Irecv(from, static_cast<int>(size), MPI_BYTE, n.process, 0, MPI_COMM_WORLD,
                      &requests_.emplace_back(MPI_REQUEST_NULL));
            from += size;
        }
        std::byte* to = sent_.data();
        for (const Neighbour& n : neighbours) {
            const std::byte* start = to;
            for (const int item : n.sent)
                to = std::copy_n(data + static_cast<std::size_t>(item) * item_size, item_size, to);
            MPI_Isend(start, static_cast<int>(to - start), MPI_BYTE, n.process, 0, MPI_COMM_WORLD,
                      &requests_.emplace_back(MPI_REQUEST_NULL));
        }
        MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE);
        from = received_.data();
        for (const Neighbour& n : neighbours)
            for (const int item : n.received) {
                std::copy_n(from, item_size, data + static_cast<std::size_t>(item) * item_size);
                from += item_size;
            }
    }

    void find_largest(std::span<double> values) override {
        MPI_Allreduce(MPI_IN_PLACE, values.data(), static_cast<int>(values.size()), MPI_DOUBLE, MPI_MAX,
                      MPI_COMM_WORLD);
    }

private:
    int rank_ = 0, size_ = 1;
    std::vector<int> counts_, starts_;
    std::vector<std::byte> sent_, received_;
    std::vector<MPI_Request> requests_;
};

}  // namespace

std::shared_ptr<Exchange> make_mpi_exchange() {
    return std::make_shared<MpiExchange>();
}

}  // namespace limber
