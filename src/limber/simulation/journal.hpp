#pragma once
// A session on disk: the model and options at the start, then every edit with the number of steps before it, written as it happens
// and synchronised before the edit is acknowledged; now and then the number of steps made with a fingerprint of the state. Replaying
// it gives the same bits. One JSON object per line; a last line cut short by a crash is left out.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "limber/simulation/session.hpp"

namespace limber {

class Journal {
public:
    /// A new journal that begins with the session as it is; it must be at its start. Throws std::runtime_error if the file cannot
    /// be written.
    static std::shared_ptr<Journal> create(const std::string& path, const Session& session);
    /// Goes on with a journal that has been replayed to its end.
    static std::shared_ptr<Journal> append(const std::string& path);
    ~Journal();
    Journal(const Journal&) = delete;
    Journal& operator=(const Journal&) = delete;

    void write_edit(long steps, const std::string& edit);
    void write_step(const Session& session);
    /// Writes the number of steps made, if that has not been done.
    void finish(const Session& session);

private:
    explicit Journal(int file) : file_(file) {}
    void write_line(const std::string& line, bool synchronise) const;

    int file_ = -1;
    long last_steps_ = 0;
    double last_write_ = 0;  // of steps, by the clock
};

struct ReplayReport {
    long steps = 0, edits = 0;
    long checked = 0;      ///< fingerprints compared
    bool is_cut = false;   ///< the last line was not complete
    std::string mismatch;  ///< where the first fingerprint differed; empty: nowhere
};

/// The session of a journal, replayed up to the last step written. Throws ModelError that names file and line.
Session replay_journal(const std::string& path, ReplayReport& report);

}  // namespace limber
