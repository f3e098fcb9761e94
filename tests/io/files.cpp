// Files that are replaced in one go: whoever looks finds the old one or the whole new one.

#include "limber/io/files.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include "limber/model/error.hpp"

namespace limber {
namespace {

namespace fs = std::filesystem;

class Files : public ::testing::Test {
protected:
    Files()
        : folder_(fs::temp_directory_path() / ("limber_files_" + std::to_string(::getpid()) + "_" +
                                               ::testing::UnitTest::GetInstance()->current_test_info()->name())) {
        fs::create_directories(folder_);
    }
    ~Files() override { fs::remove_all(folder_); }

    std::string path(const std::string& name) const { return (folder_ / name).string(); }
    static std::string read(const std::string& path) {
        std::ifstream file(path, std::ios::binary);
        std::ostringstream text;
        text << file.rdbuf();
        return text.str();
    }
    std::size_t count() const {
        return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
    }

    fs::path folder_;
};

TEST_F(Files, ReplaceOlderOnesAndLeaveNothingElse) {
    const std::string binary("a\0b\n", 4);
    write_file(path("x"), "an older and longer one");
    ::chmod(path("x").c_str(), 0640);
    write_file(path("x"), binary);
    EXPECT_EQ(read(path("x")), binary);
    struct stat about {};
    ::stat(path("x").c_str(), &about);
    EXPECT_EQ(about.st_mode & 0777, 0640U);
    EXPECT_EQ(count(), 1U);
}

TEST_F(Files, FollowLinksOrReplaceThem) {
    fs::create_directory(folder_ / "elsewhere");
    fs::create_symlink("elsewhere/target", folder_ / "link");
    write_file(path("link"), "new");  // to nothing yet
    EXPECT_EQ(read(path("elsewhere/target")), "new");
    write_file(path("link"), "newer");
    EXPECT_TRUE(fs::is_symlink(folder_ / "link"));
    EXPECT_EQ(read(path("elsewhere/target")), "newer");
    write_file(path("link"), "mine", Links::replace);
    EXPECT_FALSE(fs::is_symlink(folder_ / "link"));
    EXPECT_EQ(read(path("elsewhere/target")), "newer");
}

TEST_F(Files, ThatCannotBeWrittenAreToldBeforehand) {
    fs::create_directory(folder_ / "folder");
    write_file(path("file"), "x");
    for (const std::string& bad : {path("no/such/folder/x"), path("folder"), path("file/x"), std::string("/proc/x")}) {
        EXPECT_THROW(check_writable(bad), ModelError) << bad;
        EXPECT_THROW(write_file(bad, "x"), ModelError) << bad;
    }
    check_writable(path("new"));
    check_writable(path("file"));
    EXPECT_EQ(read(path("file")), "x");
    EXPECT_EQ(count(), 2U);
}

TEST_F(Files, AreAsBeforeWhenTheDiskIsFull) {
    // A device that is always full is written as it is, and stays one.
    fs::create_symlink("/dev/full", folder_ / "full");
    check_writable(path("full"));
    EXPECT_THROW(write_file(path("full"), "x"), ModelError);
    EXPECT_TRUE(fs::is_symlink(folder_ / "full"));
    // A limit on the size of files, in a process of its own.
    write_file(path("x"), "old");
    const pid_t child = ::fork();
    if (child == 0) {
        ::signal(SIGXFSZ, SIG_IGN);
        const rlimit limit{1000, 1000};
        ::setrlimit(RLIMIT_FSIZE, &limit);
        try {
            write_file(path("x"), std::string(5000, 'n'));
        } catch (const ModelError&) {
            ::_exit(7);
        }
        ::_exit(0);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_EQ(WEXITSTATUS(status), 7);
    EXPECT_EQ(read(path("x")), "old");
    EXPECT_EQ(count(), 2U);
}

TEST_F(Files, OfOneNameFromManyThreadsAreNeverMixed) {
    write_file(path("x"), std::string(100000, 'a'));
    std::atomic<bool> is_done = false;
    std::vector<std::thread> writers;
    for (const char letter : {'b', 'c', 'd'})
        writers.emplace_back([&, letter] {
            for (int i = 0; i < 30; ++i) write_file(path("x"), std::string(100000 + letter, letter));
        });
    std::thread reader([&] {
        while (!is_done) {
            const std::string text = read(path("x"));
            ASSERT_FALSE(text.empty());
            ASSERT_EQ(text, std::string(text[0] == 'a' ? 100000 : 100000 + text[0], text[0]));
        }
    });
    for (std::thread& writer : writers) writer.join();
    is_done = true;
    reader.join();
    EXPECT_EQ(count(), 1U);
}

}  // namespace
}  // namespace limber
