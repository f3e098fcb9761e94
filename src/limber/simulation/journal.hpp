#pragma once
// A session on disk: the model and options at the start, then every edit with the number of steps before it, written
// before it is applied and synchronised before it is acknowledged; now and then the number of steps made with a
// fingerprint of the state. Replaying it gives the same bits. One JSON object per line.
//
// What can go wrong: a crash leaves a last line without its end, which is left out. A full disk leaves nothing of a
// line that did not fit; edits are refused until there is room again. An edit that was being applied when the program
// died has '?' in place of its first brace and is left out, too. A journal that is being written is locked against
// other programs.
//
// Beside a journal lies its last snapshot (journal_snapshot.hpp), from which long sessions are brought back.

#include <functional>
#include <memory>
#include <string>

#include "limber/simulation/session.hpp"

namespace limber {

/// Of the journals that are written and read; others are refused.
inline constexpr int journal_version = 4;

/// In place of the first brace of an edit that is not yet applied.
inline constexpr char pending_mark = '?';

class Journal {
public:
    /// A new journal that begins with the session as it is; it must be at its start. It takes the place of a file of
    /// that name only once it is on disk, and not at all if another program is writing that file, or another journal
    /// than `replaced`. Throws std::runtime_error.
    static std::shared_ptr<Journal> create(const std::string& path, const Session& session,
                                           const Journal* replaced = nullptr);
    /// Goes on with a journal that has been replayed to its end; a last line that is not whole, or not applied, is cut
    /// off when the first new one is written. Throws std::runtime_error, also if another program is writing it.
    static std::shared_ptr<Journal> append(const std::string& path);
    /// Of a journal that could be replayed only so far. What follows is lost: keep a copy.
    void cut_to(long good_bytes);
    /// The file was renamed.
    void has_moved_to(const std::string& path) { path_ = path; }
    /// Whether somebody is writing it now.
    static bool is_in_use(const std::string& path);
    ~Journal();
    Journal(const Journal&) = delete;
    Journal& operator=(const Journal&) = delete;

    /// An edit on its way: written when made, but left out by whoever reads the journal until it is confirmed; cut off
    /// again if it never is.
    class PendingEdit {
    public:
        PendingEdit(Journal& journal, long steps, const std::string& edit);
        ~PendingEdit();
        PendingEdit(const PendingEdit&) = delete;
        PendingEdit& operator=(const PendingEdit&) = delete;
        bool is_written() const { return is_written_; }
        void confirm();

    private:
        Journal& journal_;
        long start_, steps_;
        bool is_written_ = false, is_confirmed_ = false;
    };

    /// Writes the number of steps made, a few times a second.
    void write_step(const Session& session);
    /// Writes the number of steps made, if that has not been done.
    void finish(const Session& session);
    /// Lets a session be brought back from here; every few seconds.
    void keep_snapshot(const Situation& situation, const Session& session);
    /// Why the last attempt to write has failed; empty: it has not.
    const std::string& trouble() const { return trouble_; }

private:
    Journal(std::string path, int file) : path_(std::move(path)), file_(file) {}
    /// False: nothing of it is in the file.
    bool write_line(const std::string& line);
    bool synchronise();
    void cut(long end);
    void fail(const char* what);

    std::string path_;
    int file_ = -1;
    long end_ = 0;             // of the last whole line
    bool is_cut_due_ = false;  // something follows that is not to stay
    std::string trouble_;
    long last_steps_ = -1;
    double last_write_ = 0, last_snapshot_ = 0;  // by the clock
    double snapshot_time_ = 0;                   // [s] that the last one took
    double cost_ = 0, cost_start_ = 0;           // [s] of computing: before this journal was opened, and when it was
    std::string identity_;                       // of its first line
};

struct ReplayReport {
    long steps = 0, edits = 0;
    long checked = 0;      ///< fingerprints compared
    bool is_cut = false;   ///< the last line was not complete, or its edit was never applied
    std::string mismatch;  ///< where the first fingerprint differed; empty: nowhere
    std::string trouble;   ///< of a journal that was recovered: file, line and what is wrong there
    long good_bytes = 0;   ///< up to the end of the last line that was replayed
    bool is_from_snapshot = false;
    double start_time = 0;  ///< from which on it was replayed
};

struct ReplayOptions {
    /// Stops before the first bad line and tells of it, in place of throwing. The first line must be right.
    bool recovers = false;
    /// [s] of computing that a replay from the beginning may take; if it would take longer, and a snapshot is there, it
    /// is replayed from there. Infinite: always from the beginning.
    double longest_replay = 1e300;
    std::size_t snapshot_memory = SessionOptions{}.snapshot_memory;  ///< of the session, which no journal says
    /// Told a few times a second how much is done, 0 .. 1, and the time reached; false: stop, by ReplayStopped.
    std::function<bool(double done, double time)> on_progress{};
    double progress_interval = 0.2;  ///< [s]
};

class ReplayStopped : public std::runtime_error {
public:
    ReplayStopped() : std::runtime_error("the replay was stopped") {}
};

/// The session of a journal, replayed up to the last step written. Throws ModelError that names file and line.
Session replay_journal(const std::string& path, ReplayReport& report, const ReplayOptions& options = {});

/// As journals of a version have it.
std::string print_fingerprint(const Session& session);

/// Keeps a copy of a journal that could not be read to its end, so that it can be gone on with; returns the copy's
/// name. Throws std::runtime_error.
std::string keep_damaged_journal(const std::string& path);

}  // namespace limber
