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
        own_.clear();
        for (std::size_t k = 0; k < owner.size(); ++k)
            if (owner[k] == rank_) own_.insert(own_.end(), data + first[k], data + first[k + 1]);
        all_.resize(static_cast<std::size_t>(starts_.back() + counts_.back()));
        MPI_Allgatherv(own_.data(), counts_[rank_], MPI_BYTE, all_.data(), counts_.data(), starts_.data(), MPI_BYTE,
                       MPI_COMM_WORLD);
        for (std::size_t k = 0; k < owner.size(); ++k) {
            const std::size_t size = first[k + 1] - first[k];
            int& from = starts_[owner[k]];
            if (owner[k] != rank_) std::copy_n(all_.begin() + from, size, data + first[k]);
            from += static_cast<int>(size);
        }
    }

private:
    int rank_ = 0, size_ = 1;
    std::vector<int> counts_, starts_;
    std::vector<std::byte> own_, all_;
};

}  // namespace

std::shared_ptr<Exchange> make_mpi_exchange() {
    return std::make_shared<MpiExchange>();
}

}  // namespace limber
