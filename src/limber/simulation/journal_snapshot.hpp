#pragma once
// The last snapshot of a session, in a file of its own beside the journal ("session.journal.snapshot"). It is nothing
// but a short cut: all of it follows from the journal, which is replayed from the beginning where the snapshot is
// missing, damaged, of another journal, or does not lead to the states recorded.

#include <optional>
#include <string>

#include "limber/simulation/session.hpp"

namespace limber {

/// Up to where a journal had been written when a snapshot was taken.
struct JournalPlace {
    std::string identity;
    long bytes = 0;
    double cost = 0;          ///< [s] of computing up to there
    std::string fingerprint;  ///< of the session there
};

struct JournalSnapshot {
    JournalPlace place;
    Situation situation;
};

/// Tells journals apart, by their first lines.
std::string identify_journal(const std::string& first_line);
std::string identify_journal_file(const std::string& journal);

/// Does nothing if the session is in the middle of something that a model file cannot say (a pull, joints that are
/// being closed), or if there is no room.
void write_snapshot(const std::string& journal, const JournalPlace& place, const Situation& situation,
                    const SessionOptions& session_options);
/// Nothing, if there is none that belongs to the journal or can be read.
std::optional<JournalSnapshot> read_snapshot(const std::string& journal, const std::string& identity);
/// [s] of computing up to the snapshot; 0: there is none.
double find_snapshot_cost(const std::string& journal);
void remove_snapshot(const std::string& journal);

}  // namespace limber
