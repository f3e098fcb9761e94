#pragma once
// The files a page can reach, and no others: examples built into the program, and one folder without sub-folders.

#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "limber/io/model_file.hpp"

namespace limber {

/// A file built into the program: "page/index.html", "examples/chain.yaml".
struct Asset {
    std::string_view path, content;
};

/// Thread-safe.
class Library {
public:
    /// `workspace` is created if it does not exist; empty: nothing is read or saved. Throws ModelError if it cannot be
    /// written.
    Library(std::span<const Asset> assets, const std::string& workspace);

    const Asset* find_asset(std::string_view path) const;
    /// Names below examples/, without those that are only parts of others.
    std::vector<std::string> example_names() const;
    ModelFile read_example(const std::string& name) const;

    bool has_workspace() const { return !workspace_.empty(); }
    std::vector<std::string> file_names() const;
    /// Names are letters, digits, '-', '_', '.', and end in .yaml. Throw ModelError.
    std::string read_file(const std::string& name) const;
    void save_file(const std::string& name, const std::string& text) const;

    /// Where the journal of a session is kept; empty without a workspace.
    std::string journal_path(const std::string& session) const;
    /// The newest `kept_journals` stay, and those that are being written.
    void drop_old_journals() const;
    /// Gives the journal of a session another name, so that it is neither brought back nor written over; returns that
    /// name. Empty: there is none.
    std::string keep_journal(const std::string& session) const;

    /// All examples as scenes, for pictures; made when first asked for.
    const std::string& gallery() const;

private:
    static constexpr std::size_t kept_journals = 100;

    std::span<const Asset> assets_;
    std::string workspace_;
    mutable std::once_flag gallery_made_;
    mutable std::string gallery_;
};

}  // namespace limber
