#pragma once
// METIS draws from one sequence of random numbers for all threads: calls take turns, or their results would depend on
// each other.

#include <mutex>

namespace limber {

[[nodiscard]] inline std::unique_lock<std::mutex> lock_metis() {
    static std::mutex mutex;
    return std::unique_lock(mutex);
}

}  // namespace limber
