// The limber program. A distributed run is the business of limber-distributed, its sister with MPI, so that this one
// does without.

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <string_view>

#include "command_line.hpp"
#include "common.hpp"

int main(int argc, char** argv) {
    const auto is_flag = [](const char* word) { return std::string_view(word) == "--distributed"; };
    if (std::any_of(argv, argv + argc, is_flag)) {
        const auto sister = std::filesystem::read_symlink("/proc/self/exe").replace_filename("limber-distributed");
        ::execv(sister.c_str(), argv);
        fmt::print(stderr,
                   "error: --distributed: this build has no MPI; install it (tools/setup mpi) and build again\n");
        return limber::app::bad_input;
    }
    return limber::app::run_command_line(argc, argv);
}
