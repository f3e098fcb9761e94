// Who may talk to the server, and which files it touches.

#include "limber/server/access.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>
#include <vector>

#include "limber/model/error.hpp"
#include "limber/server/library.hpp"

namespace limber {
namespace {

TEST(Access, OnlyOwnHostsAndOrigins) {
    const AccessRules rules(8420, {"bench.example"}, "");
    EXPECT_TRUE(rules.allows_host("localhost:8420"));
    EXPECT_TRUE(rules.allows_host("127.0.0.1:8420"));
    EXPECT_TRUE(rules.allows_host("bench.example:8420"));
    EXPECT_FALSE(rules.allows_host("localhost:8421"));
    EXPECT_FALSE(rules.allows_host("localhost"));
    EXPECT_FALSE(rules.allows_host("evil.example:8420"));
    EXPECT_FALSE(rules.allows_host(""));
    EXPECT_TRUE(rules.allows_origin("http://localhost:8420"));
    EXPECT_FALSE(rules.allows_origin("https://evil.example"));
    EXPECT_FALSE(rules.allows_origin("http://localhost:8420.evil.example"));
    EXPECT_FALSE(rules.allows_origin("null"));
    EXPECT_FALSE(rules.allows_origin(""));
}

TEST(Access, TokenMustBeTheSame) {
    const AccessRules open(1, {}, "");
    const AccessRules closed(1, {}, "abcd");
    EXPECT_TRUE(open.allows_token(""));
    EXPECT_TRUE(closed.allows_token("abcd"));
    for (const char* wrong : {"", "abc", "abce", "abcda", "abcdabcd"}) EXPECT_FALSE(closed.allows_token(wrong));
}

TEST(Access, QueryAndSecrets) {
    EXPECT_EQ(query_value("/live?session=12&token=ab", "token"), "ab");
    EXPECT_EQ(query_value("/live?session=12&token=ab", "session"), "12");
    EXPECT_EQ(query_value("/live?xtoken=ab", "token"), "");
    EXPECT_EQ(query_value("/live", "token"), "");
    EXPECT_EQ(query_value("/live?&&=", "token"), "");
    EXPECT_TRUE(is_secret(make_secret()));
    EXPECT_NE(make_secret(), make_secret());
    for (const char* wrong : {"", "../../../../etc/passwd", "0123456789abcdef0123456789abcdeG"})
        EXPECT_FALSE(is_secret(wrong));
}

TEST(Access, RateIsLimitedOnAverage) {
    RateLimit limit(10, 5);
    int allowed = 0;
    for (int i = 0; i < 100; ++i) allowed += limit.allow(1.0) ? 1 : 0;
    EXPECT_EQ(allowed, 5);
    EXPECT_FALSE(limit.allow(1.05));
    EXPECT_TRUE(limit.allow(1.2));
}

class LibraryFiles : public ::testing::Test {
protected:
    LibraryFiles()
        : folder_(std::filesystem::temp_directory_path() / ("limber-library-" + std::to_string(::getpid()))),
          library_({}, (folder_ / "workspace").string()) {}
    ~LibraryFiles() override { std::filesystem::remove_all(folder_); }

    std::filesystem::path folder_;
    Library library_;
};

TEST_F(LibraryFiles, SavesAndReads) {
    library_.save_file("arm.yaml", "limber: 1\n");
    library_.save_file("arm.yaml", "limber: 1\nplane: xy\n");
    EXPECT_EQ(library_.read_file("arm.yaml"), "limber: 1\nplane: xy\n");
    EXPECT_EQ(library_.file_names(), std::vector<std::string>{"arm.yaml"});
}

TEST_F(LibraryFiles, SavesOfOneNameAtOnceAreNotMixed) {
    std::vector<std::thread> pages;
    for (const char letter : {'a', 'b', 'c', 'd'})
        pages.emplace_back([&, letter] {
            for (int i = 0; i < 25; ++i) {
                library_.save_file("arm.yaml", std::string(50000, letter));
                const std::string text = library_.read_file("arm.yaml");
                EXPECT_EQ(text, std::string(50000, text.at(0)));
            }
        });
    for (std::thread& page : pages) page.join();
    EXPECT_EQ(library_.file_names(), std::vector<std::string>{"arm.yaml"});
    const auto rest = std::distance(std::filesystem::directory_iterator(folder_ / "workspace"), {});
    EXPECT_EQ(rest, 2) << "expected the file and the folder of journals";
}

TEST_F(LibraryFiles, RefusesAWorkspaceItCannotWrite) {
    std::ofstream(folder_ / "file") << "x";
    EXPECT_THROW(Library({}, (folder_ / "file").string()), ModelError);
    EXPECT_THROW(Library({}, (folder_ / "file/below").string()), ModelError);
    // The folder is there, but nothing can be put into it.
    std::filesystem::create_directories(folder_ / "bad");
    std::filesystem::create_symlink("/proc", folder_ / "bad" / "autosave");
    EXPECT_THROW(Library({}, (folder_ / "bad").string()), ModelError);
}

TEST_F(LibraryFiles, StaysInItsFolder) {
    std::ofstream(folder_ / "secret.yaml") << "limber: 1\n";
    std::filesystem::create_symlink(folder_ / "secret.yaml", folder_ / "workspace" / "link.yaml");
    for (const char* name : {"../secret.yaml", "/etc/hostname", "a/b.yaml", "..", ".yaml", ".hidden.yaml", "", "x.txt",
                             "x.yaml/../../secret.yaml", "link.yaml"}) {
        EXPECT_THROW(library_.read_file(name), ModelError) << name;
    }
    EXPECT_THROW(library_.save_file("../new.yaml", ""), ModelError);
    EXPECT_FALSE(std::filesystem::exists(folder_ / "new.yaml"));
    // Saving over a link replaces the link, not what it points to.
    library_.save_file("link.yaml", "changed");
    std::ifstream secret(folder_ / "secret.yaml");
    std::string text;
    std::getline(secret, text);
    EXPECT_EQ(text, "limber: 1");
}

TEST(LibraryExamples, ReadWithTheirParts) {
    const Asset assets[] = {
        {"examples/a.yaml", "limber: 1\ninclude: parts/b.yaml\n"},
        {"examples/parts/b.yaml", "limber: 1\nbodies: {ball: {point: {mass: 1}}}\n"},
        {"page/index.html", "<html>"},
    };
    const Library library(assets, "");
    EXPECT_EQ(library.example_names(), std::vector<std::string>{"a.yaml"});
    EXPECT_FALSE(library.read_example("a.yaml").model.bodies.find("ball").is_null());
    for (const char* name : {"../page/index.html", "b.yaml", "/etc/passwd", ""})
        EXPECT_THROW(library.read_example(name), ModelError) << name;
}

}  // namespace
}  // namespace limber
