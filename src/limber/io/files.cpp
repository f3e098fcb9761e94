#include "limber/io/files.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <optional>
#include <utility>

#include "limber/model/error.hpp"

namespace limber {
namespace {

namespace fs = std::filesystem;

constexpr int max_links = 40;
constexpr int max_temporary_names = 1000;

[[noreturn]] void fail(const std::string& path, int error) {
    throw ModelError(fmt::format("cannot write '{}': {}", path, std::strerror(error)));
}

std::string follow_links(const std::string& path) {
    fs::path place = path;
    std::error_code error;
    for (int i = 0; i < max_links && fs::is_symlink(place, error); ++i) {
        const fs::path target = fs::read_symlink(place, error);
        if (error) break;
        place = place.parent_path() / target;  // an absolute target stands for itself
    }
    return place.string();
}

// Of what is there, if anything is. Throws if it must not be written: a folder, or a file that is protected.
std::optional<mode_t> find_mode(const std::string& place, const std::string& path) {
    struct stat about {};
    if (::lstat(place.c_str(), &about) != 0) return std::nullopt;
    if (S_ISDIR(about.st_mode)) fail(path, EISDIR);
    if (!S_ISLNK(about.st_mode) && ::access(place.c_str(), W_OK) != 0) fail(path, errno);
    return about.st_mode;
}

// A device or a pipe, which no new file takes the place of.
bool is_special(mode_t mode) {
    return !S_ISREG(mode) && !S_ISLNK(mode);
}

// An open file that is removed with the scope unless it is kept.
class NewFile {
public:
    /// Beside `place`, under a name that nobody else has; messages speak of `path`.
    NewFile(const std::string& place, const std::string& path) {
        static std::atomic<unsigned> counter = 0;
        const fs::path folder = fs::path(place).parent_path();
        for (int i = 0; i < max_temporary_names && file_ < 0; ++i) {
            name_ = (folder / fmt::format(".limber-{}-{}.new", ::getpid(), counter++)).string();
            file_ = ::open(name_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
            if (file_ < 0 && errno != EEXIST) fail(path, errno);
        }
        if (file_ < 0) fail(path, EEXIST);
    }
    ~NewFile() {
        if (file_ >= 0) ::close(file_);
        if (!name_.empty()) ::unlink(name_.c_str());
    }
    NewFile(const NewFile&) = delete;
    NewFile& operator=(const NewFile&) = delete;

    int get() const { return file_; }
    /// What it holds is on the disk, and the file is called `place`.
    void rename_to(const std::string& place, const std::string& path) {
        if (::fdatasync(file_) != 0 && errno != EINVAL) fail(path, errno);
        if (::close(std::exchange(file_, -1)) != 0) fail(path, errno);
        if (std::rename(name_.c_str(), place.c_str()) != 0) fail(path, errno);
        name_.clear();
    }

private:
    int file_ = -1;
    std::string name_;
};

// Closes with the scope.
class OpenFile {
public:
    explicit OpenFile(const std::string& path) : file_(::open(path.c_str(), O_WRONLY | O_CLOEXEC)) {
        if (file_ < 0) fail(path, errno);
    }
    ~OpenFile() { ::close(file_); }
    OpenFile(const OpenFile&) = delete;
    OpenFile& operator=(const OpenFile&) = delete;
    int get() const { return file_; }

private:
    int file_;
};

void write_all(int file, const std::string& bytes, const std::string& path) {
    std::size_t done = 0;
    while (done < bytes.size()) {
        const ssize_t count = ::write(file, bytes.data() + done, bytes.size() - done);
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) fail(path, count < 0 ? errno : ENOSPC);
        done += static_cast<std::size_t>(count);
    }
}

}  // namespace

void write_file(const std::string& path, const std::string& bytes, Links links) {
    const std::string place = links == Links::follow ? follow_links(path) : path;
    const std::optional<mode_t> mode = find_mode(place, path);
    if (mode && is_special(*mode)) {
        const OpenFile file(place);
        write_all(file.get(), bytes, path);
        return;
    }
    NewFile file(place, path);
    // Whoever could read the old one can read the new one.
    if (mode && S_ISREG(*mode) && ::fchmod(file.get(), *mode & 07777) != 0) fail(path, errno);
    write_all(file.get(), bytes, path);
    file.rename_to(place, path);
}

void check_writable(const std::string& path) {
    const std::string place = follow_links(path);
    const std::optional<mode_t> mode = find_mode(place, path);
    if (!mode || !is_special(*mode)) NewFile(place, path);
}

}  // namespace limber
