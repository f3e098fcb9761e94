#include "limber/server/library.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "limber/io/files.hpp"
#include "limber/model/error.hpp"
#include "limber/server/memory_account.hpp"
#include "limber/server/protocol.hpp"
#include "limber/server/scene.hpp"
#include "limber/simulation/journal.hpp"
#include "limber/simulation/journal_snapshot.hpp"

namespace limber {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view example_folder = "examples/";
constexpr std::string_view autosave_folder = "autosave";
constexpr std::size_t max_files = 1000;

bool is_plain_character(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' ||
           c == '.';
}

bool is_file_name(const std::string& name) {
    return name.size() > 5 && name.size() <= 100 && name.front() != '.' && name.ends_with(".yaml") &&
           std::all_of(name.begin(), name.end(), is_plain_character);
}

// Of sessions, and those that were kept because they could not be brought back.
bool is_journal(const fs::path& path) {
    const std::string name = path.filename().string();
    return name.ends_with(".journal") || name.find(".journal.kept-") != std::string::npos ||
           name.find(".journal.damaged-") != std::string::npos;
}

void require_file_name(const std::string& name) {
    if (!is_file_name(name))
        throw ModelError(fmt::format(
            "'{}' cannot be the name of a file: use letters, digits, '-' and '_', with .yaml at the end", name));
}

// Closes the file with the scope.
class OpenFile {
public:
    // Links are not followed: they could lead out of the folder. A pipe does not hold up the opening.
    OpenFile(const std::string& path, int flags)
        : file_(::open(path.c_str(), flags | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0644)) {}
    ~OpenFile() {
        if (file_ >= 0) ::close(file_);
    }
    OpenFile(const OpenFile&) = delete;
    OpenFile& operator=(const OpenFile&) = delete;
    bool is_open() const { return file_ >= 0; }
    int get() const { return file_; }

private:
    int file_;
};

}  // namespace

Library::Library(std::span<const Asset> assets, const std::string& workspace) : assets_(assets), workspace_(workspace) {
    if (workspace_.empty()) return;
    std::error_code error;
    fs::create_directories(fs::path(workspace_) / autosave_folder, error);
    if (error) throw ModelError(fmt::format("cannot use the workspace '{}': {}", workspace_, error.message()));
    // Tried now, not when somebody saves.
    check_writable((fs::path(workspace_) / "model.yaml").string());
    check_writable((fs::path(workspace_) / autosave_folder / "session.journal").string());
}

const Asset* Library::find_asset(std::string_view path) const {
    const auto it = std::find_if(assets_.begin(), assets_.end(), [&](const Asset& a) { return a.path == path; });
    return it == assets_.end() ? nullptr : &*it;
}

std::vector<std::string> Library::example_names() const {
    std::vector<std::string> names;
    for (const Asset& asset : assets_)
        if (asset.path.starts_with(example_folder) && asset.path.find("/parts/") == std::string_view::npos)
            names.emplace_back(asset.path.substr(example_folder.size()));
    return names;
}

ModelFile Library::read_example(const std::string& name) const {
    const auto load = [&](const std::string& path) -> std::optional<std::string> {
        const Asset* asset = find_asset(std::string(example_folder) + fs::path(path).lexically_normal().string());
        if (asset == nullptr) return std::nullopt;
        return std::string(asset->content);
    };
    const auto text = load(name);
    if (!text) throw ModelError(fmt::format("there is no example '{}'", name));
    return read_model_text(*text, name, {}, load);
}

std::vector<std::string> Library::file_names() const {
    std::vector<std::string> names;
    if (!has_workspace()) return names;
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(workspace_, error)) {
        const std::string name = entry.path().filename().string();
        if (entry.is_regular_file(error) && is_file_name(name)) names.push_back(name);
        if (names.size() == max_files) break;
    }
    std::sort(names.begin(), names.end());
    return names;
}

std::string Library::read_file(const std::string& name) const {
    require_file_name(name);
    const OpenFile file((fs::path(workspace_) / name).string(), O_RDONLY);
    struct stat about {};
    if (!has_workspace() || !file.is_open() || ::fstat(file.get(), &about) != 0 || !S_ISREG(about.st_mode))
        throw ModelError(fmt::format("there is no file '{}' in the workspace", name));
    if (about.st_size > static_cast<off_t>(longest_model))
        throw ModelError(fmt::format("'{}' is larger than {} bytes", name, longest_model));
    std::string text(static_cast<std::size_t>(about.st_size), '\0');
    std::size_t done = 0;
    while (done < text.size()) {
        const ssize_t count = ::read(file.get(), text.data() + done, text.size() - done);
        if (count <= 0) throw ModelError(fmt::format("cannot read '{}'", name));
        done += static_cast<std::size_t>(count);
    }
    return text;
}

void Library::save_file(const std::string& name, const std::string& text) const {
    require_file_name(name);
    if (!has_workspace()) throw ModelError("there is no workspace to save in: start the studio with --workspace");
    // Links are not followed: they could lead out of the folder.
    write_file((fs::path(workspace_) / name).string(), text, Links::replace);
}

std::string Library::journal_path(const std::string& session) const {
    if (!has_workspace()) return "";
    return (fs::path(workspace_) / autosave_folder / (session + ".journal")).string();
}

void Library::drop_old_journals() const {
    if (!has_workspace()) return;
    std::error_code error;
    std::vector<std::pair<fs::file_time_type, fs::path>> journals;
    for (const auto& entry : fs::directory_iterator(fs::path(workspace_) / autosave_folder, error))
        if (is_journal(entry.path())) journals.emplace_back(entry.last_write_time(error), entry.path());
    if (journals.size() <= kept_journals) return;
    std::sort(journals.begin(), journals.end());
    for (std::size_t i = 0; i + kept_journals < journals.size(); ++i) {
        const std::string path = journals[i].second.string();
        // A session may stand still for days. Others may have taken it since it was listed, but then it is locked.
        if (Journal::is_in_use(path)) continue;
        fs::remove(path, error);
        remove_snapshot(path);
    }
}

std::string Library::keep_journal(const std::string& session) const {
    const std::string path = journal_path(session);
    std::error_code error;
    if (path.empty() || !fs::exists(path, error)) return "";
    for (int i = 1;; ++i) {
        const std::string kept = fmt::format("{}.kept-{}", path, i);
        if (fs::exists(kept, error)) continue;
        fs::rename(path, kept, error);
        remove_snapshot(path);
        return error ? "" : fs::path(kept).filename().string();
    }
}

const std::string& Library::gallery() const {
    std::call_once(gallery_made_, [this] {
        const UncountedMemory others;  // it belongs to all
        nlohmann::ordered_json list = nlohmann::ordered_json::array();
        for (const std::string& name : example_names()) {
            try {
                Simulation simulation(read_example(name).model);
                nlohmann::ordered_json scene = describe_scene(simulation, simulation.observer());
                list.push_back({{"name", name}, {"scene", std::move(scene)}});
            } catch (const std::exception&) {
                continue;  // an example that does not compile has no picture; the tests of the examples tell why
            }
        }
        gallery_ = list.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
    });
    return gallery_;
}

}  // namespace limber
