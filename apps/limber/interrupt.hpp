#pragma once
// Ctrl-C, and the request to end that other programs send (SIGTERM).

namespace limber::app {

/// From now on they end the program with exit code 128 + number of the signal: 130 for Ctrl-C. Signals that were
/// ignored stay so.
void end_on_interrupt();

/// While one lives the first of them is noted only, so that what is being computed can stop where it is whole; a second
/// one ends the program.
class InterruptWatch {
public:
    InterruptWatch();
    ~InterruptWatch();
    InterruptWatch(const InterruptWatch&) = delete;
    InterruptWatch& operator=(const InterruptWatch&) = delete;
};

bool is_interrupted();
/// Of a program that has been interrupted.
int interrupt_exit_code();

}  // namespace limber::app
