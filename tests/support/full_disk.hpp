#pragma once
// A disk without room, for those who write files.

#include <sys/resource.h>

#include <csignal>
#include <cstdint>

namespace limber::testing {

/// As long as it lives, no file can grow beyond so many bytes, which is what a full disk looks like: what fits of a
/// line is written.
class FullDisk {
public:
    explicit FullDisk(std::uintmax_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
        ::getrlimit(RLIMIT_FSIZE, &before_);
        rlimit now = before_;
        now.rlim_cur = bytes;
        ::setrlimit(RLIMIT_FSIZE, &now);
    }
    ~FullDisk() {
        ::setrlimit(RLIMIT_FSIZE, &before_);
        std::signal(SIGXFSZ, handler_);
    }
    FullDisk(const FullDisk&) = delete;
    FullDisk& operator=(const FullDisk&) = delete;

private:
    rlimit before_{};
    void (*handler_)(int);
};

}  // namespace limber::testing
