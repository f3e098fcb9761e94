#pragma once
// Long work that is no longer wanted. Whoever starts it sets a limit; reading and compiling ask now and then whether it
// still holds. Steps do not ask: they are short, and must not be left in the middle.

#include <atomic>
#include <chrono>
#include <optional>
#include <stdexcept>

namespace limber {

/// Work was told to stop, or has taken longer than it may. What it was about to make does not exist; what was there
/// before is as it was.
class Interrupted : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// While it lives, work of this thread ends with Interrupted once `is_cancelled` is true or `longest` has passed.
/// Limits may be nested: all of them hold.
class WorkLimit {
public:
    using Clock = std::chrono::steady_clock;

    explicit WorkLimit(const std::atomic<bool>& is_cancelled, std::optional<Clock::duration> longest = std::nullopt);
    ~WorkLimit();
    WorkLimit(const WorkLimit&) = delete;
    WorkLimit& operator=(const WorkLimit&) = delete;

    void check() const;

private:
    const std::atomic<bool>& is_cancelled_;
    std::optional<Clock::duration> longest_;
    Clock::time_point start_;
    const WorkLimit* outer_;
};

/// While it lives, work of this thread goes on whatever limits say: between two changes that belong together.
class Uninterrupted {
public:
    Uninterrupted();
    ~Uninterrupted();
    Uninterrupted(const Uninterrupted&) = delete;
    Uninterrupted& operator=(const Uninterrupted&) = delete;

private:
    const WorkLimit* hidden_;
};

/// Throws Interrupted if a limit of this thread says so. Costs next to nothing where there is none.
void check_interruption();

}  // namespace limber
