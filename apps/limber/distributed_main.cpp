// limber-distributed: the same program as one of several processes under mpirun.

#include <fmt/format.h>
#include <mpi.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <thread>

#include "command_line.hpp"
#include "common.hpp"
#include "limber/distributed/mpi_exchange.hpp"

namespace {

// All processes find the same faults in the same input, and one message is enough: the others keep theirs to
// themselves.
class Silence {
public:
    explicit Silence(bool is_wanted) {
        if (!is_wanted) return;
        kept_ = std::tmpfile();
        if (kept_ == nullptr) return;
        ::dup2(::fileno(kept_), STDOUT_FILENO);
        ::dup2(::fileno(kept_), STDERR_FILENO);
    }
    ~Silence() {
        if (kept_ != nullptr) std::fclose(kept_);
    }
    Silence(const Silence&) = delete;
    Silence& operator=(const Silence&) = delete;
    /// What has been said.
    std::string words() const {
        std::string text;
        if (kept_ == nullptr) return text;
        std::fflush(stdout);
        if (std::fseek(kept_, 0, SEEK_SET) != 0) return text;
        for (int letter = 0; (letter = std::fgetc(kept_)) != EOF;) text += static_cast<char>(letter);
        return text;
    }

private:
    std::FILE* kept_ = nullptr;
};

// Whether all processes come here within a few seconds: one that has stopped alone leaves the others waiting for its
// numbers.
bool do_all_end() {
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    for (int i = 0; i < 300; ++i) {
        int is_done = 0;
        MPI_Test(&request, &is_done, MPI_STATUS_IGNORE);
        if (is_done != 0) return true;
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return false;
}

// mpirun ends the processes that are left when one is lost, and says which; what the user can do about it is ours to
// say.
void tell_about_the_end(int /*signal*/) {
    constexpr std::string_view words =
        "error: the run was ended before its time, because a process was lost or mpirun was stopped; with --checkpoint "
        "there is one to go on from by --resume\n";
    [[maybe_unused]] const auto written = ::write(STDERR_FILENO, words.data(), words.size());
    std::_Exit(limber::app::solver_failed);
}

}  // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    auto& exchange = limber::app::process_exchange();
    exchange = limber::make_mpi_exchange();
    const int rank = exchange->rank();
    const int console = ::dup(STDERR_FILENO);
    const Silence silence(rank > 0);
    if (rank == 0) std::signal(SIGTERM, tell_about_the_end);
    const int code = limber::app::run_command_line(argc, argv);
    // What there is to say has been said: mpirun ends the others as soon as the first of them has failed, too.
    if (rank == 0) std::signal(SIGTERM, SIG_IGN);
    if (code != limber::app::ok && !do_all_end()) {
        ::dprintf(console, "%serror: process %d of %d has stopped alone; the run is over\n", silence.words().c_str(),
                  rank, exchange->size());
        MPI_Abort(MPI_COMM_WORLD, code);
    }
    MPI_Finalize();
    return code;
}
