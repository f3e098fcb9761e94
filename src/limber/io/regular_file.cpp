#include "limber/io/regular_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "limber/math/interruption.hpp"
#include "limber/model/error.hpp"

namespace limber {
namespace {

class Descriptor {
public:
    // A pipe without a writer would hold up the opening itself.
    explicit Descriptor(const std::string& path) : number_(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC)) {}
    ~Descriptor() {
        if (number_ >= 0) ::close(number_);
    }
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    int get() const { return number_; }

private:
    int number_;
};

const char* kind_of(mode_t mode) {
    if (S_ISDIR(mode)) return "a folder";
    if (S_ISFIFO(mode)) return "a pipe";
    if (S_ISSOCK(mode)) return "a socket";
    return "a device";
}

}  // namespace

std::string read_regular_file(const std::string& path, std::size_t most) {
    const auto refuse = [&](const std::string& why) {
        throw ModelError(fmt::format("cannot read the file '{}': {}", path, why));
    };
    const Descriptor file(path);
    struct stat about {};
    if (file.get() < 0 || ::fstat(file.get(), &about) != 0) refuse(std::strerror(errno));
    if (!S_ISREG(about.st_mode)) refuse(fmt::format("it is {}; only regular files are read", kind_of(about.st_mode)));
    std::string text;
    if (about.st_size > 0) text.reserve(std::min(static_cast<std::size_t>(about.st_size), most));
    char block[65536];
    for (ssize_t count = 0; (count = ::read(file.get(), block, sizeof block)) != 0;) {
        check_interruption();
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) refuse(std::strerror(errno));
        // What the file says of its size need not be true (/proc).
        if (text.size() + static_cast<std::size_t>(count) > most)
            refuse(fmt::format("it is larger than {} bytes", most));
        text.append(block, static_cast<std::size_t>(count));
    }
    return text;
}

}  // namespace limber
