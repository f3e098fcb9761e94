// A live session that is killed at any moment: every edit that was acknowledged is in its journal.

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <random>
#include <thread>

#include "limber/simulation/journal.hpp"

namespace limber::testing {
namespace {

struct Child {
    pid_t pid = -1;
    int input = -1, output = -1;
};

Child start_play(const std::string& journal) {
    int to_child[2];
    int from_child[2];
    EXPECT_EQ(::pipe(to_child), 0);
    EXPECT_EQ(::pipe(from_child), 0);
    Child child;
    child.pid = ::fork();
    if (child.pid == 0) {
        ::dup2(to_child[0], STDIN_FILENO);
        ::dup2(from_child[1], STDOUT_FILENO);
        for (const int fd : {to_child[0], to_child[1], from_child[0], from_child[1]}) ::close(fd);
        ::execl(LIMBER_BINARY, "limber", "play", LIMBER_EXAMPLES "/double-pendulum.yaml", "--speed", "max", "--journal",
                journal.c_str(), static_cast<char*>(nullptr));
        ::_exit(127);
    }
    ::close(to_child[0]);
    ::close(from_child[1]);
    child.input = to_child[1];
    child.output = from_child[0];
    ::fcntl(child.output, F_SETFL, O_NONBLOCK);
    return child;
}

void hear(const Child& child, std::string& heard) {
    char buffer[4096];
    for (ssize_t n = 0; (n = ::read(child.output, buffer, sizeof buffer)) > 0;)
        heard.append(buffer, static_cast<std::size_t>(n));
}

// A whole line of an answer is an acknowledgement.
long count_answers(const std::string& heard) {
    long count = 0;
    for (std::size_t at = heard.find("set gravity"); at != std::string::npos; at = heard.find("set gravity", at + 1))
        if (heard.find('\n', at) != std::string::npos) ++count;
    return count;
}

TEST(Crash, LosesNoEditThatWasAcknowledged) {
    ::signal(SIGPIPE, SIG_IGN);
    const std::string path =
        (std::filesystem::temp_directory_path() / fmt::format("limber-crash-{}.journal", ::getpid())).string();
    std::mt19937 random(2008);
    long acknowledged_in_all = 0;
    long unfinished = 0;
    for (int round = 0; round < 100; ++round) {
        const Child child = start_play(path);
        // Some are killed while they start, the others a moment after an answer.
        using Clock = std::chrono::steady_clock;
        const int answers = round % 5 == 0 ? 0 : 1 + static_cast<int>(random() % 8);
        Clock::time_point end = Clock::now() + std::chrono::seconds(60);
        if (answers == 0) end = Clock::now() + std::chrono::microseconds(random() % 60000);
        const auto moment = std::chrono::microseconds(random() % 5000);
        bool is_doomed = answers == 0;
        std::string heard;
        int serial = 0;
        while (Clock::now() < end) {
            const std::string edit = fmt::format("set gravity [0, {}]\n", -9 - 0.01 * ++serial);
            if (::write(child.input, edit.data(), edit.size()) < 0) break;
            std::this_thread::sleep_for(std::chrono::microseconds(random() % 3000));
            hear(child, heard);
            if (!is_doomed && count_answers(heard) >= answers) {
                is_doomed = true;
                end = Clock::now() + moment;
            }
        }
        ::kill(child.pid, SIGKILL);
        ::waitpid(child.pid, nullptr, 0);
        hear(child, heard);
        ::close(child.input);
        ::close(child.output);
        const long acknowledged = count_answers(heard);
        ASSERT_EQ(heard.find("refused"), std::string::npos) << heard;
        acknowledged_in_all += acknowledged;
        if (acknowledged == 0) {
            ++unfinished;  // perhaps killed before there was a journal
            std::filesystem::remove(path);
            continue;
        }
        ReplayReport report;
        const Session session = replay_journal(path, report);
        EXPECT_GE(report.edits, acknowledged) << "round " << round;
        EXPECT_TRUE(report.mismatch.empty()) << report.mismatch;
        EXPECT_EQ(session.steps(), report.steps);
        std::filesystem::remove(path);
    }
    for (const char* rest : {".new", ".snapshot", ".snapshot.new"}) std::filesystem::remove(path + rest);
    std::printf("%ld edits acknowledged in %ld of 100 sessions\n", acknowledged_in_all, 100 - unfinished);
    EXPECT_GT(acknowledged_in_all, 100);
}

}  // namespace
}  // namespace limber::testing
