// Writing journals. Reading them is in journal_replay.cpp.

#include "limber/simulation/journal.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "limber/io/model_writer.hpp"
#include "limber/math/clock.hpp"
#include "limber/simulation/journal_options.hpp"
#include "limber/simulation/journal_snapshot.hpp"

namespace limber {
namespace {

using Json = nlohmann::ordered_json;
namespace fs = std::filesystem;

// Steps are written down this often [s]: what a crash can cost.
constexpr double step_interval = 0.05;
// Snapshots are kept this often [s]: what bringing a session back can cost.
constexpr double snapshot_interval = 2;
// Large models take so long to write that the motion would suffer: so many times as long there is no other snapshot.
constexpr double snapshot_pause = 50;

double computing_time() {
    timespec time{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

[[noreturn]] void throw_unwritable(const std::string& path) {
    throw std::runtime_error(fmt::format("cannot write the journal '{}': {}", path, std::strerror(errno)));
}

// A device would be replaced, a pipe waited for.
[[noreturn]] void throw_no_file(const std::string& path, const char* what) {
    throw std::runtime_error(fmt::format("cannot {} the journal '{}': it is not a regular file", what, path));
}

[[noreturn]] void throw_in_use(const std::string& path) {
    throw std::runtime_error(fmt::format("the journal '{}' is being written by another program", path));
}

// Closes the file with the scope, unless it is released.
struct FileHolder {
    int file;
    explicit FileHolder(int f) : file(f) {}
    FileHolder(const FileHolder&) = delete;
    FileHolder& operator=(const FileHolder&) = delete;
    ~FileHolder() {
        if (file >= 0) ::close(file);
    }
    int release() { return std::exchange(file, -1); }
};

// Of this open file; goes with it. File systems without locks do without.
bool lock(int file) {
    return ::flock(file, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK;
}

bool is_regular(int file) {
    struct stat about {};
    return ::fstat(file, &about) == 0 && S_ISREG(about.st_mode);
}

bool write_text(int file, const std::string& text, long at) {
    std::size_t done = 0;
    while (done < text.size()) {
        const ssize_t count = ::pwrite(file, text.data() + done, text.size() - done, at + static_cast<off_t>(done));
        if (count < 0 && errno == EINTR) continue;
        if (count == 0) errno = ENOSPC;
        if (count <= 0) return false;
        done += static_cast<std::size_t>(count);
    }
    return true;
}

void synchronise_folder(const std::string& path) {
    const fs::path folder = fs::path(path).parent_path();
    const FileHolder holder(::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (holder.file >= 0) ::fsync(holder.file);
}

// Where the line begins in which the byte before `end` lies.
long find_line_start(int file, long end) {
    char chunk[4096];
    while (end > 0) {
        const long start = std::max(0L, end - static_cast<long>(sizeof chunk));
        const ssize_t count = ::pread(file, chunk, static_cast<std::size_t>(end - start), start);
        for (long i = count; i > 0; --i)
            if (chunk[i - 1] == '\n') return start + i;
        end = start;
    }
    return 0;
}

// Where the last whole line ends that is not that of a pending edit.
long find_good_end(int file, const std::string& path) {
    const long size = ::lseek(file, 0, SEEK_END);
    if (size < 0) throw_unwritable(path);
    const long end = find_line_start(file, size);
    const long start = end > 0 ? find_line_start(file, end - 1) : 0;
    char letter = 0;
    return ::pread(file, &letter, 1, start) == 1 && letter == pending_mark ? start : end;
}

// The number of steps made at the end of the line before `end`; -1: it does not say.
long read_last_steps(int file, long end) {
    if (end <= 0) return -1;
    const long start = find_line_start(file, end - 1);
    std::string line(static_cast<std::size_t>(end - start), '\0');
    if (::pread(file, line.data(), line.size(), start) != static_cast<ssize_t>(line.size())) return -1;
    const Json json = Json::parse(line, nullptr, false);
    if (!json.is_object()) return -1;
    if (json.contains("limber_journal")) return 0;
    const auto steps = json.find("steps");
    return steps != json.end() && steps->is_number_integer() ? steps->get<long>() : -1;
}

}  // namespace

std::shared_ptr<Journal> Journal::create(const std::string& path, const Session& session, const Journal* replaced) {
    if (session.steps() != 0) throw std::runtime_error("a journal begins with the session");
    std::error_code error;
    if (fs::exists(path, error) && !fs::is_regular_file(path, error)) throw_no_file(path, "write");
    const bool is_own = replaced != nullptr && replaced->path_ == path;
    if (!is_own && is_in_use(path)) throw_in_use(path);
    const std::string fresh = path + ".new";
    FileHolder holder(::open(fresh.c_str(), O_RDWR | O_CREAT | O_NONBLOCK | O_CLOEXEC, 0644));
    if (holder.file < 0) throw_unwritable(path);
    if (!lock(holder.file)) throw_in_use(path);
    if (::ftruncate(holder.file, 0) != 0) throw_unwritable(path);
    std::shared_ptr<Journal> journal(new Journal(path, holder.release()));
    const Json header{{"limber_journal", journal_version},
                      {"options", write_options({session.options(), session.session_options()})},
                      {"model", write_model_text(session.model())}};
    const std::string line = header.dump();
    const bool is_written = journal->write_line(line) && journal->synchronise();
    if (is_written) remove_snapshot(path);
    if (!is_written || std::rename(fresh.c_str(), path.c_str()) != 0) {
        const std::string reason = is_written ? std::strerror(errno) : journal->trouble_;
        ::unlink(fresh.c_str());
        throw std::runtime_error(fmt::format("cannot write the journal '{}': {}", path, reason));
    }
    synchronise_folder(path);
    journal->identity_ = identify_journal(line);
    journal->last_steps_ = 0;
    journal->cost_start_ = computing_time();
    return journal;
}

std::shared_ptr<Journal> Journal::append(const std::string& path) {
    FileHolder holder(::open(path.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC));
    if (holder.file < 0) throw_unwritable(path);
    if (!is_regular(holder.file)) throw_no_file(path, "read");
    if (!lock(holder.file)) throw_in_use(path);
    std::shared_ptr<Journal> journal(new Journal(path, holder.release()));
    journal->end_ = find_good_end(journal->file_, path);
    journal->is_cut_due_ = true;
    journal->last_steps_ = read_last_steps(journal->file_, journal->end_);
    journal->identity_ = identify_journal_file(path);
    journal->cost_ = find_snapshot_cost(path);
    journal->cost_start_ = computing_time();
    return journal;
}

void Journal::cut_to(long good_bytes) {
    if (good_bytes >= end_) return;
    cut(good_bytes);
    last_steps_ = read_last_steps(file_, end_);
}

bool Journal::is_in_use(const std::string& path) {
    const FileHolder holder(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
    return holder.file >= 0 && !lock(holder.file);
}

Journal::~Journal() {
    if (file_ >= 0) ::close(file_);
}

void Journal::fail(const char* what) {
    trouble_ = fmt::format("the journal cannot be {}: {}", what, std::strerror(errno));
}

// Lines are written at the end of the last whole one, so that what is left of one that did not fit is never before
// others.
bool Journal::write_line(const std::string& line) {
    if (is_cut_due_) cut(end_);
    const std::string text = line + "\n";
    if (is_cut_due_ || !write_text(file_, text, end_)) {
        fail("written");
        cut(end_);
        return false;
    }
    end_ += static_cast<long>(text.size());
    return true;
}

bool Journal::synchronise() {
    if (::fdatasync(file_) == 0 || errno == EINVAL) {
        trouble_.clear();
        return true;
    }
    fail("brought to disk");
    return false;
}

void Journal::cut(long end) {
    end_ = end;
    // If that fails, it is tried again before the next line.
    is_cut_due_ = ::ftruncate(file_, end) != 0;
}

// ---------------------------------------------------------------- edits

Journal::PendingEdit::PendingEdit(Journal& journal, long steps, const std::string& edit)
    : journal_(journal), start_(journal.end_), steps_(steps) {
    std::string line = Json{{"steps", steps}, {"edit", edit}}.dump();
    line.front() = pending_mark;
    is_written_ = journal_.write_line(line);
}

Journal::PendingEdit::~PendingEdit() {
    if (is_written_ && !is_confirmed_) journal_.cut(start_);
}

void Journal::PendingEdit::confirm() {
    is_confirmed_ = true;
    // The room for it is there already.
    if (!write_text(journal_.file_, "{", start_)) {
        journal_.fail("written");
    } else {
        journal_.synchronise();
    }
    journal_.last_steps_ = steps_;
}

// ---------------------------------------------------------------- steps

void Journal::write_step(const Session& session) {
    if (steady_seconds() - last_write_ < step_interval) return;
    finish(session);
}

// Without these lines a journal is right, too; so what does not fit now is tried again later, and the motion goes on.
void Journal::finish(const Session& session) {
    if (session.steps() == last_steps_) return;
    last_write_ = steady_seconds();
    const Json line{{"steps", session.steps()}, {"state", print_fingerprint(session)}};
    if (!write_line(line.dump())) return;
    last_steps_ = session.steps();
    trouble_.clear();
}

void Journal::keep_snapshot(const Situation& situation, const Session& session) {
    const double start = steady_seconds();
    if (start - last_snapshot_ < std::max(snapshot_interval, snapshot_pause * snapshot_time_)) return;
    last_snapshot_ = start;
    JournalPlace place;
    place.identity = identity_;
    place.bytes = end_;
    place.cost = cost_ + computing_time() - cost_start_;
    place.fingerprint = print_fingerprint(session);
    write_snapshot(path_, place, situation, session.session_options());
    snapshot_time_ = steady_seconds() - start;
}

std::string print_fingerprint(const Session& session) {
    return fmt::format("{:016x}", session.fingerprint());
}

std::string keep_damaged_journal(const std::string& path) {
    for (int i = 1;; ++i) {
        const std::string copy = fmt::format("{}.damaged-{}", path, i);
        std::error_code error;
        if (fs::exists(copy, error)) continue;
        if (!fs::copy_file(path, copy, error))
            throw std::runtime_error(fmt::format("cannot keep a copy of the journal '{}': {}", path, error.message()));
        return copy;
    }
}

}  // namespace limber
