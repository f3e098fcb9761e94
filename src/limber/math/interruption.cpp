#include "limber/math/interruption.hpp"

#include <fmt/format.h>

#include <utility>

namespace limber {
namespace {

thread_local const WorkLimit* innermost = nullptr;

}  // namespace

WorkLimit::WorkLimit(const std::atomic<bool>& is_cancelled, std::optional<Clock::duration> longest)
    : is_cancelled_(is_cancelled), longest_(longest), start_(Clock::now()), outer_(std::exchange(innermost, this)) {}

WorkLimit::~WorkLimit() {
    innermost = outer_;
}

void WorkLimit::check() const {
    if (is_cancelled_.load(std::memory_order_relaxed)) throw Interrupted("stopped before it was done");
    if (longest_ && Clock::now() - start_ > *longest_)
        throw Interrupted(fmt::format("stopped: reading and compiling took longer than {:.3g} s",
                                      std::chrono::duration<double>(*longest_).count()));
    if (outer_ != nullptr) outer_->check();
}

Uninterrupted::Uninterrupted() : hidden_(std::exchange(innermost, nullptr)) {}

Uninterrupted::~Uninterrupted() {
    innermost = hidden_;
}

void check_interruption() {
    if (innermost != nullptr) innermost->check();
}

}  // namespace limber
