#pragma once
// Files that a command writes at its end: tried at its start, so that nobody waits for a long run to learn that its
// results go nowhere.

#include <string>
#include <vector>

namespace limber::app {

class OutputFiles {
public:
    /// Says on standard error what cannot be written. It is tried again at the end.
    void try_out(const std::string& path) const;
    /// False: it could not be written, which was said on standard error.
    bool write(const std::string& path, const std::string& bytes);
    bool is_any_missing() const { return is_any_missing_; }

private:
    bool is_any_missing_ = false;
};

}  // namespace limber::app
