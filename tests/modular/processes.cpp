// Components spread over processes, here threads that know nothing of each other but what they are sent: the same bits
// as alone.

#include <gtest/gtest.h>

#include <barrier>
#include <cmath>
#include <cstring>
#include <thread>

#include "limber/modular/exchange.hpp"
#include "support/model_text.hpp"
#include "support/models.hpp"

namespace limber::testing {
namespace {

// What all processes see of each other while they exchange something.
struct Room {
    explicit Room(int processes) : data(processes), neighbours(processes), values(processes), meet(processes) {}
    std::vector<const std::byte*> data;
    std::vector<std::span<const Neighbour>> neighbours;
    std::vector<std::span<double>> values;
    std::barrier<> meet;
};

class RoomExchange final : public Exchange {
public:
    RoomExchange(Room& room, int rank) : room_(room), rank_(rank) {}
    int rank() const override { return rank_; }
    int size() const override { return static_cast<int>(room_.data.size()); }

    void share(std::byte* data, std::span<const std::size_t> first, std::span<const int> owner) override {
        room_.data[rank_] = data;
        room_.meet.arrive_and_wait();
        for (std::size_t k = 0; k < owner.size(); ++k)
            if (owner[k] != rank_)
                std::memcpy(data + first[k], room_.data[owner[k]] + first[k], first[k + 1] - first[k]);
        room_.meet.arrive_and_wait();
    }

    void swap(std::byte* data, std::size_t item_size, std::span<const Neighbour> neighbours) override {
        room_.data[rank_] = data;
        room_.neighbours[rank_] = neighbours;
        room_.meet.arrive_and_wait();
        for (const Neighbour& from : neighbours) {
            const auto& sent = find(room_.neighbours[from.process]).sent;
            ASSERT_EQ(sent, from.received);
            for (const int item : sent)
                std::memcpy(data + item * item_size, room_.data[from.process] + item * item_size, item_size);
        }
        room_.meet.arrive_and_wait();
    }

    void find_largest(std::span<double> values) override {
        room_.values[rank_] = values;
        room_.meet.arrive_and_wait();
        std::vector<double> largest(values.begin(), values.end());
        for (const auto& others : room_.values)
            for (std::size_t i = 0; i < values.size(); ++i) largest[i] = std::max(largest[i], others[i]);
        room_.meet.arrive_and_wait();
        std::copy(largest.begin(), largest.end(), values.begin());
    }

private:
    const Neighbour& find(std::span<const Neighbour> neighbours) const {
        for (const Neighbour& n : neighbours)
            if (n.process == rank_) return n;
        throw std::logic_error("a neighbour does not know this process");
    }

    Room& room_;
    int rank_;
};

struct Spread {
    const char* model;
    const char* division;
    const char* gluing;
    const char* coupling = "end-of-step";
    double step = 2e-3;
};

SimulationOptions divided(const Spread& how, std::shared_ptr<Exchange> exchange) {
    const bool is_explicit = std::string(how.coupling) == "acceleration";
    SimulationOptions o = options(is_explicit ? "augmented-lagrangian" : "global", "trapezoidal");
    o.modular.division = how.division;
    o.modular.exchange = std::move(exchange);
    set_option(o, "gluing", how.gluing);
    set_option(o, "coupling", how.coupling);
    return o;
}

class OnSeveralProcesses : public ::testing::TestWithParam<Spread> {};

TEST_P(OnSeveralProcesses, TheMotionHasTheSameBits) {
    const Spread how = GetParam();
    const Model model = example(how.model);
    constexpr int steps = 20;
    Simulation alone(model, divided(how, nullptr));
    const StepReport report = alone.advance(steps * how.step, how.step);
    ASSERT_TRUE(report.ok) << report.reason;
    for (const int processes : {1, 2, 4}) {
        Room room(processes);
        std::vector<State> ends(processes);
        std::vector<std::thread> threads;
        threads.reserve(processes);
        for (int rank = 0; rank < processes; ++rank)
            threads.emplace_back([&, rank] {
                Simulation simulation(model, divided(how, std::make_shared<RoomExchange>(room, rank)));
                if (simulation.advance(steps * how.step, how.step).ok) ends[rank] = simulation.state();
            });
        for (std::thread& thread : threads) thread.join();
        for (const State& end : ends) {
            EXPECT_TRUE(same_bits(end.q, alone.state().q)) << processes << " processes";
            EXPECT_TRUE(same_bits(end.v, alone.state().v)) << processes << " processes";
        }
    }
}

INSTANTIATE_TEST_SUITE_P(All, OnSeveralProcesses,
                         ::testing::Values(Spread{"modular/chain-of-chains.yaml", "groups", "direct"},
                                           Spread{"modular/chain-of-chains.yaml", "groups", "conjugate-gradient"},
                                           Spread{"modular/net-of-squares.yaml", "body", "direct"},
                                           Spread{"modular/net-of-squares.yaml", "auto:8", "conjugate-gradient"},
                                           Spread{"double-pendulum.yaml", "body", "anderson"},
                                           Spread{"double-pendulum.yaml", "body", "uzawa", "acceleration"},
                                           Spread{"double-pendulum.yaml", "body", "penalty", "acceleration", 2e-4},
                                           Spread{"modular/two-oscillators.yaml", "body", "direct"},
                                           Spread{"iltis/divided.yaml", "groups", "direct", "end-of-step", 5e-4},
                                           Spread{"loops/bricard.yaml", "body", "direct"},
                                           Spread{"modular/stops.yaml", "groups", "direct", "end-of-step", 1e-2}));

}  // namespace
}  // namespace limber::testing
