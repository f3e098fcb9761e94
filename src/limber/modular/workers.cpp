#include "limber/modular/workers.hpp"

#include <system_error>
#include <utility>

namespace limber {

Workers::Workers(int count) {
    try {
        for (int i = 1; i < count; ++i) threads_.emplace_back([this] { live(); });
    } catch (const std::system_error&) {
        // The machine has no more of them. Those there are do the same work.
    }
}

Workers::~Workers() {
    {
        const std::scoped_lock lock(mutex_);
        is_ending_ = true;
    }
    wake_.notify_all();
    for (std::thread& thread : threads_) thread.join();
}

void Workers::take_jobs() {
    try {
        for (int i = next_++; i < count_; i = next_++) (*job_)(i);
    } catch (...) {
        keep_exception();
    }
}

void Workers::keep_exception() {
    next_ = count_;
    const std::scoped_lock lock(mutex_);
    if (!exception_) exception_ = std::current_exception();
}

void Workers::run(int count, Job job) {
    if (threads_.empty() || count < 2) {
        for (int i = 0; i < count; ++i) job(i);
        return;
    }
    {
        const std::scoped_lock lock(mutex_);
        job_ = &job;
        count_ = count;
        next_ = 0;
        working_ = static_cast<int>(threads_.size());
        ++round_;
    }
    wake_.notify_all();
    take_jobs();
    std::unique_lock lock(mutex_);
    done_.wait(lock, [this] { return working_ == 0; });
    if (exception_) std::rethrow_exception(std::exchange(exception_, nullptr));
}

void Workers::live() {
    long seen = 0;
    while (true) {
        {
            std::unique_lock lock(mutex_);
            wake_.wait(lock, [&] { return is_ending_ || round_ != seen; });
            if (is_ending_) return;
            seen = round_;
        }
        take_jobs();
        const std::scoped_lock lock(mutex_);
        if (--working_ == 0) done_.notify_one();
    }
}

}  // namespace limber
