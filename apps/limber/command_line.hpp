#pragma once
// The whole command line, without what is before and after it in a process.

namespace limber::app {

/// Returns the exit code.
int run_command_line(int argc, char** argv);

}  // namespace limber::app
