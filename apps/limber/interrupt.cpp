#include "interrupt.hpp"

#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <string_view>

namespace limber::app {
namespace {

std::atomic<int> watches = 0;
std::atomic<int> noted = 0;  // the signal
static_assert(std::atomic<int>::is_always_lock_free);

void answer(int signal) {
    if (watches == 0 || noted != 0) std::_Exit(128 + signal);
    noted = signal;
    constexpr std::string_view words = "\nstopping after this step; once more ends the program at once\n";
    [[maybe_unused]] const auto written = ::write(STDERR_FILENO, words.data(), words.size());
}

}  // namespace

void end_on_interrupt() {
    for (const int signal : {SIGINT, SIGTERM}) {
        struct sigaction before {};
        if (::sigaction(signal, nullptr, &before) != 0 || before.sa_handler == SIG_IGN) continue;
        struct sigaction action {};
        action.sa_handler = &answer;
        action.sa_flags = SA_RESTART;
        ::sigaction(signal, &action, nullptr);
    }
}

InterruptWatch::InterruptWatch() {
    ++watches;
}

InterruptWatch::~InterruptWatch() {
    --watches;
}

bool is_interrupted() {
    return noted != 0;
}

int interrupt_exit_code() {
    return 128 + noted;
}

}  // namespace limber::app
