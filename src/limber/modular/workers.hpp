#pragma once
// Threads that share out numbered jobs. Each job writes to its own place, so results do not depend on who did what.

#include <atomic>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace limber {

/// A reference to anything that can be called with a number, which must outlive it. Unlike a std::function it never
/// allocates.
class Job {
public:
    template <class Callable>
    Job(const Callable& callable)  // not explicit: lambdas are handed over as they are
        : callable_(&callable), call_([](const void* c, int i) { (*static_cast<const Callable*>(c))(i); }) {}
    void operator()(int index) const { call_(callable_, index); }

private:
    const void* callable_;
    void (*call_)(const void*, int);
};

class Workers {
public:
    /// The caller works too: `count` 1 starts no thread. Where no more can be started there are fewer.
    explicit Workers(int count);
    ~Workers();
    Workers(const Workers&) = delete;
    Workers& operator=(const Workers&) = delete;

    /// Calls job(0) ... job(count - 1), each once, and returns when all are done. If one throws, those not yet begun
    /// are left out.
    void run(int count, Job job);
    /// Threads that work, with the caller's.
    int count() const { return static_cast<int>(threads_.size()) + 1; }

private:
    void take_jobs();
    void live();
    void keep_exception();

    std::vector<std::thread> threads_;
    std::mutex mutex_;
    std::condition_variable wake_, done_;
    const Job* job_ = nullptr;
    std::atomic<int> next_{0};
    int count_ = 0;
    int working_ = 0;
    long round_ = 0;
    bool is_ending_ = false;
    std::exception_ptr exception_;  // the first of this round
};

}  // namespace limber
