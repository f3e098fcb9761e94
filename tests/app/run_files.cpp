// What a run leaves behind: results to the last good state whether it fails or is interrupted, files that are whole or
// not there, messages before a long run and not after it.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <sstream>
#include <thread>

namespace {

namespace fs = std::filesystem;

std::string slurp(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

std::string example(const std::string& name) {
    return std::string(LIMBER_EXAMPLES) + "/" + name;
}

struct Outcome {
    int code = -1;    // of a program that has ended by itself
    int signal = -1;  // that has ended it
    std::string out, err;
};

// A program under way, with its output in files.
class Running {
public:
    Running(const fs::path& folder, const std::vector<std::string>& arguments,
            const std::function<void()>& prepare = {})
        : out_((folder / "out").string()), err_((folder / "err").string()) {
        pid_ = ::fork();
        if (pid_ != 0) return;
        ::signal(SIGINT, SIG_DFL);  // whatever started this test may have ignored it
        ::dup2(::open(out_.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644), STDOUT_FILENO);
        ::dup2(::open(err_.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644), STDERR_FILENO);
        if (prepare) prepare();
        std::vector<char*> words{const_cast<char*>("limber")};
        for (const std::string& word : arguments) words.push_back(const_cast<char*>(word.c_str()));
        words.push_back(nullptr);
        ::execv(LIMBER_BINARY, words.data());
        ::_exit(127);
    }

    void interrupt() const { ::kill(pid_, SIGINT); }
    void kill(int signal) const { ::kill(pid_, signal); }
    Outcome wait() const {
        int status = 0;
        ::waitpid(pid_, &status, 0);
        return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, WIFSIGNALED(status) ? WTERMSIG(status) : -1, slurp(out_),
                slurp(err_)};
    }

private:
    std::string out_, err_;
    pid_t pid_ = -1;
};

void wait_until(const std::function<bool()>& is_so) {
    for (int i = 0; i < 6000 && !is_so(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
    ASSERT_TRUE(is_so());
}

class RunFiles : public ::testing::Test {
protected:
    RunFiles()
        : folder_(fs::temp_directory_path() / ("limber_run_" + std::to_string(::getpid()) + "_" +
                                               ::testing::UnitTest::GetInstance()->current_test_info()->name())) {
        fs::create_directories(folder_);
    }
    ~RunFiles() override { fs::remove_all(folder_); }

    std::string path(const std::string& name) const { return (folder_ / name).string(); }
    Outcome limber(const std::vector<std::string>& arguments, const std::function<void()>& prepare = {}) const {
        return Running(folder_, arguments, prepare).wait();
    }
    // Ctrl-C after a while, and a second one if asked for; machines differ, so again after a longer while until it has
    // come at the moment that is wanted.
    Outcome interrupt_later(const std::vector<std::string>& arguments, const std::function<bool()>& is_right,
                            bool twice) const {
        Outcome o;
        for (int wait = 100; wait <= 12800; wait *= 2) {
            const Running run(folder_, arguments);
            std::this_thread::sleep_for(std::chrono::milliseconds(wait));
            run.interrupt();
            if (twice) std::this_thread::sleep_for(std::chrono::milliseconds(wait));
            if (twice) run.interrupt();
            o = run.wait();
            if (o.code == 130 && (!is_right || is_right())) break;
        }
        return o;
    }
    // Rows of numbers under a heading; every line is whole.
    std::vector<std::vector<double>> read_csv(const std::string& name) const {
        std::vector<std::vector<double>> rows;
        std::istringstream text(slurp(path(name)));
        std::string line;
        std::getline(text, line);
        const auto columns = 1 + std::count(line.begin(), line.end(), ',');
        while (std::getline(text, line)) {
            std::istringstream cells(line);
            rows.emplace_back();
            for (std::string cell; std::getline(cells, cell, ',');) rows.back().push_back(std::stod(cell));
            EXPECT_EQ(static_cast<long>(rows.back().size()), columns);
        }
        EXPECT_TRUE(slurp(path(name)).ends_with("\n"));
        return rows;
    }
    std::size_t count_files() const {
        return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
    }

    fs::path folder_;
};

// ---------------------------------------------------------------- ends of a run

TEST_F(RunFiles, KeepEverythingUpToAStepThatFails) {
    const Outcome o = limber({"run", example("loops/lock-up.yaml"), "--until", "1", "--every", "0.5", "--output",
                              path("x.csv"), "--output", path("x.h5"), "--summary", "json"});
    EXPECT_EQ(o.code, 2);
    const auto json = nlohmann::json::parse(o.out);
    EXPECT_EQ(json["ended"], "failed");
    const auto rows = read_csv("x.csv");
    ASSERT_FALSE(rows.empty());
    EXPECT_NEAR(rows.back()[0], json["time"].get<double>(), 1e-12);
    EXPECT_GT(rows.back()[0], 0.1);
    EXPECT_EQ(slurp(path("x.h5")).substr(1, 3), "HDF");
    const Outcome text = limber({"run", example("loops/lock-up.yaml"), "--until", "1", "--every", "0.5"});
    EXPECT_TRUE(contains(text.out, "failed at t = ")) << text.out;
}

TEST_F(RunFiles, KeepEverythingUpToCtrlC) {
    const Running run(folder_, {"run", example("double-pendulum.yaml"), "--until", "1e5", "--step", "0.001", "--every",
                                "7", "--output", path("x.csv"), "--output", path("x.h5"), "--plot", "tip",
                                path("x.svg"), "--checkpoint", "0.01", "--checkpoint-file", path("c")});
    wait_until([&] { return fs::exists(path("c")); });
    run.interrupt();
    const Outcome o = run.wait();
    EXPECT_EQ(o.code, 130) << o.out << o.err;
    EXPECT_TRUE(contains(o.out, "interrupted at t = ")) << o.out;
    EXPECT_TRUE(contains(o.out, "energy drift")) << o.out;
    EXPECT_TRUE(contains(o.out, "--resume goes on")) << o.out;
    EXPECT_TRUE(contains(o.err, "stopping after this step")) << o.err;
    const auto rows = read_csv("x.csv");
    ASSERT_GE(rows.size(), 2U);
    const double last = rows.back()[0];
    EXPECT_NEAR(last / 0.001, std::round(last / 0.001), 1e-6);
    EXPECT_TRUE(fs::exists(path("x.h5")));
    EXPECT_TRUE(slurp(path("x.svg")).ends_with("</svg>\n"));
    EXPECT_EQ(count_files(), 6U);  // with the checkpoint and both outputs
    // The same as a run to there.
    const Outcome whole =
        limber({"run", example("double-pendulum.yaml"), "--until", std::to_string(last), "--step", "0.001", "--every",
                "7", "--checkpoint", "0.01", "--checkpoint-file", path("d"), "--output", path("y.csv")});
    EXPECT_EQ(whole.code, 0) << whole.err;
    const auto expected = read_csv("y.csv");
    ASSERT_EQ(expected.size(), rows.size());
    for (std::size_t i = 0; i < rows.back().size(); ++i) EXPECT_NEAR(rows.back()[i], expected.back()[i], 1e-7);
}

TEST_F(RunFiles, SecondCtrlCEndsAtOnce) {
    // One step of the reference integrator that takes for ever: the first has to wait for its end.
    const Outcome o = interrupt_later(
        {"run", example("double-pendulum.yaml"), "--until", "1e7", "--step", "1e6", "--integrator", "reference",
         "--output", path("x.csv")},
        [&] { return contains(slurp(path("err")), "stopping after this step"); }, true);
    EXPECT_EQ(o.code, 130) << o.signal;
    EXPECT_TRUE(contains(o.err, "stopping after this step"));
    EXPECT_FALSE(fs::exists(path("x.csv")));
    EXPECT_EQ(count_files(), 2U);
}

TEST_F(RunFiles, ARequestToEndIsLikeCtrlC) {
    const Running run(folder_, {"run", example("double-pendulum.yaml"), "--until", "1e5", "--output", path("x.csv"),
                                "--checkpoint", "0.01", "--checkpoint-file", path("c"), "--summary", "json"});
    wait_until([&] { return fs::exists(path("c")); });
    run.kill(SIGTERM);
    const Outcome o = run.wait();
    EXPECT_EQ(o.code, 143);
    EXPECT_EQ(nlohmann::json::parse(o.out)["ended"], "interrupted");
    EXPECT_GE(read_csv("x.csv").size(), 10U);
}

TEST_F(RunFiles, InterruptedChecksAndSearchesEnd) {
    // Tens of thousands of bodies take a while to be compiled.
    for (const char* command : {"check", "equilibrium", "run"}) {
        const Outcome o = interrupt_later({command, example("chain.yaml"), "--set", "N=20000"}, {}, false);
        EXPECT_EQ(o.code, 130) << command << o.out << o.err;
    }
}

TEST_F(RunFiles, InterruptedComparisonsKeepTheRowsTheyHave) {
    const Outcome o = interrupt_later(
        {"compare", example("double-pendulum.yaml"), "--formulations", "global", "--integrators", "trapezoidal",
         "--steps", "0.01,0.005,1e-8", "--until", "1", "--output", path("x.csv"), "--plot", path("x.svg")},
        [&] { return contains(slurp(path("err")), "interrupted: 2 of 3 runs were made"); }, false);
    EXPECT_EQ(o.code, 130) << o.err;
    EXPECT_TRUE(contains(o.err, "interrupted: 2 of 3 runs were made")) << o.err;
    EXPECT_TRUE(contains(o.out, "0.005")) << o.out;
    const std::string table = slurp(path("x.csv"));
    EXPECT_EQ(std::count(table.begin(), table.end(), '\n'), 3);
    EXPECT_TRUE(slurp(path("x.svg")).ends_with("</svg>\n"));
}

// ---------------------------------------------------------------- files that cannot be written

TEST_F(RunFiles, ThatCannotBeWrittenAreToldAtTheStartAndTheSummaryIsPrinted) {
    const Outcome o = limber({"run", example("double-pendulum.yaml"), "--until", "0.1", "--output", path("no/x.csv"),
                              "--output", path("y.csv"), "--checkpoint", "0.01", "--checkpoint-file", path("no/c"),
                              "--plot", "tip", path("no/x.svg")});
    EXPECT_EQ(o.code, 1);
    EXPECT_TRUE(contains(o.out, "energy drift")) << o.out;
    EXPECT_TRUE(contains(o.out, "results: " + path("y.csv"))) << o.out;
    EXPECT_FALSE(contains(o.out, "results: " + path("no/x.csv"))) << o.out;
    for (const char* name : {"no/x.csv", "no/c", "no/x.svg"}) {
        EXPECT_TRUE(contains(o.err, "warning: cannot write '" + path(name))) << o.err;
        EXPECT_TRUE(contains(o.err, "error: cannot write '" + path(name))) << o.err;
    }
    EXPECT_EQ(read_csv("y.csv").size(), 101U);
    const Outcome compare =
        limber({"compare", example("double-pendulum.yaml"), "--formulations", "global", "--integrators", "rk4",
                "--steps", "0.01", "--until", "0.1", "--output", path("no/x.csv")});
    EXPECT_EQ(compare.code, 1);
    EXPECT_TRUE(contains(compare.out, "global")) << compare.out;
    EXPECT_TRUE(contains(compare.err, "warning: cannot write")) << compare.err;
}

TEST_F(RunFiles, OfBeforeAreWholeWhenTheDiskIsFull) {
    const std::vector<std::string> arguments{"run",
                                             example("double-pendulum.yaml"),
                                             "--until",
                                             "1",
                                             "--output",
                                             path("x.csv"),
                                             "--checkpoint",
                                             "0.5",
                                             "--checkpoint-file",
                                             path("c")};
    ASSERT_EQ(limber(arguments).code, 0);
    const std::string csv = slurp(path("x.csv"));
    const std::string checkpoint = slurp(path("c"));
    // Files must not grow beyond 10 kB; the results would.
    const Outcome o = limber(arguments, [] {
        const rlimit limit{10000, 10000};
        ::setrlimit(RLIMIT_FSIZE, &limit);
    });
    EXPECT_EQ(o.code, 1) << o.signal;
    EXPECT_TRUE(contains(o.out, "energy drift")) << o.out;
    EXPECT_TRUE(contains(o.err, "error: cannot write '" + path("x.csv") + "': File too large")) << o.err;
    EXPECT_TRUE(contains(o.err, "error: cannot write '" + path("c") + "': File too large; the run goes on")) << o.err;
    EXPECT_EQ(slurp(path("x.csv")), csv);
    EXPECT_EQ(slurp(path("c")), checkpoint);
    EXPECT_EQ(count_files(), 4U);
    // A device that is always full; and a summary that goes nowhere.
    fs::create_symlink("/dev/full", folder_ / "full.csv");
    const Outcome full =
        limber({"run", example("double-pendulum.yaml"), "--until", "0.1", "--output", path("full.csv")});
    EXPECT_EQ(full.code, 1);
    EXPECT_TRUE(contains(full.out, "energy drift")) << full.out;
    EXPECT_TRUE(contains(full.err, "No space left")) << full.err;
    const Outcome mute = limber({"run", example("double-pendulum.yaml"), "--until", "0.1"},
                                [] { ::dup2(::open("/dev/full", O_WRONLY), STDOUT_FILENO); });
    EXPECT_EQ(mute.code, 1);
    EXPECT_TRUE(contains(mute.err, "No space left")) << mute.err;
}

TEST_F(RunFiles, ARefusedWorkspaceIsToldAtTheStart) {
    std::ofstream(path("file")) << "x";
    for (const std::string& workspace : {path("file"), path("file/below"), std::string("/proc")}) {
        const Outcome o = limber({"studio", "--port", "0", "--workspace", workspace});
        if (contains(o.err, "not expected") || contains(o.err, "studio")) GTEST_SKIP() << "built without the studio";
        EXPECT_EQ(o.code, 1) << o.err;
        EXPECT_TRUE(contains(o.err, "cannot")) << o.err;
    }
}

// ---------------------------------------------------------------- the same run

TEST_F(RunFiles, OfTheSameRunHaveTheSameBytes) {
    for (const char* name : {"a.h5", "b.h5"}) {
        const bool is_second = name[0] == 'b';
        // A second later, in another place of the memory that was filled with something else.
        if (is_second) std::this_thread::sleep_for(std::chrono::milliseconds(1100));
        const Outcome o = limber({"run", example("double-pendulum.yaml"), "--until", "2", "--output", path(name)},
                                 [&] { ::setenv("MALLOC_PERTURB_", is_second ? "170" : "85", 1); });
        ASSERT_EQ(o.code, 0) << o.err;
    }
    EXPECT_GT(fs::file_size(path("a.h5")), 10000U);
    EXPECT_EQ(slurp(path("a.h5")), slurp(path("b.h5")));
}

TEST_F(RunFiles, EveryDoesNotChangeTheSteps) {
    const Outcome o = limber({"run", example("double-pendulum.yaml"), "--until", "1", "--step", "0.01", "--every",
                              "0.003", "--summary", "json", "--output", path("x.csv")});
    ASSERT_EQ(o.code, 0) << o.err;
    EXPECT_EQ(nlohmann::json::parse(o.out)["steps"], 100);
    EXPECT_EQ(read_csv("x.csv").size(), 335U);
}

// ---------------------------------------------------------------- checkpoints

TEST_F(RunFiles, ResumedRunsAreTheSameToTheBit) {
    const auto drop_times = [](const std::string& text) {
        auto json = nlohmann::json::parse(text);
        json.erase("wall_time_s");
        json.erase("metering_time_s");
        json.erase("real_time_factor");
        return json;
    };
    const std::vector<std::vector<std::string>> models{
        {"contact/stick-slip-rigid.yaml", "0.5", "0.2"},  // moreau-jean: the state has contacts
        {"contact/newtons-cradle.yaml", "1.5", "0.6"},    // events of stops
        {"double-pendulum.yaml", "1", "0.4"},
    };
    for (const auto& model : models) {
        const std::vector<std::string> run{"run",  example(model[0]),   "--summary",
                                           "json", "--checkpoint-file", path("c")};
        auto whole = run;
        whole.insert(whole.end(), {"--until", model[1], "--checkpoint", model[2], "--output", path("whole.csv")});
        const Outcome expected = limber(whole);
        ASSERT_EQ(expected.code, 0) << expected.err;
        // To somewhere in the middle, and from there on, with the interval that the checkpoint knows.
        auto first = run;
        first.insert(first.end(), {"--until", model[2], "--checkpoint", model[2]});
        ASSERT_EQ(limber(first).code, 0);
        auto second = run;
        second.insert(second.end(), {"--until", model[1], "--resume", "--output", path("resumed.csv")});
        const Outcome resumed = limber(second);
        ASSERT_EQ(resumed.code, 0) << resumed.err;
        EXPECT_EQ(slurp(path("resumed.csv")), slurp(path("whole.csv"))) << model[0];
        EXPECT_EQ(drop_times(resumed.out), drop_times(expected.out)) << model[0];
    }
    EXPECT_GT(drop_times(limber({"run", example("contact/newtons-cradle.yaml"), "--until", "1.5", "--summary", "json"})
                             .out)["contact_events"]
                  .size(),
              2U);
}

TEST_F(RunFiles, CheckpointsOfOtherRunsAreRefused) {
    const std::vector<std::string> run{"run",    example("double-pendulum.yaml"), "--until", "0.2", "--checkpoint-file",
                                       path("c")};
    auto first = run;
    first.insert(first.end(), {"--checkpoint", "0.1"});
    ASSERT_EQ(limber(first).code, 0);
    const std::vector<std::pair<std::vector<std::string>, std::string>> others{
        {{"--option", "penalty=2e6"}, "penalty was '0' there and is '2000000"},
        {{"--option", "tolerance=1e-9"}, "tolerance was '1e-07' there and is '1e-09' now"},
        {{"--integrator", "rk4"}, "integrator was 'trapezoidal' there and is 'rk4' now"},
        {{"--step", "0.002"}, "step was"},
        {{"--every", "0.05"}, "every was"},
        {{"--checkpoint", "0.05"}, "checkpoint was '0.1' there and is '0.05' now"},
        {{"--set", "l=2"}, "the model has changed"}};
    for (const auto& [arguments, words] : others) {
        auto second = run;
        second.push_back("--resume");
        second.insert(second.end(), arguments.begin(), arguments.end());
        const Outcome o = limber(second);
        EXPECT_EQ(o.code, 1);
        EXPECT_TRUE(contains(o.err, "another run")) << o.err;
        EXPECT_TRUE(contains(o.err, words)) << o.err;
    }
    auto earlier = run;
    earlier[3] = "0.05";
    earlier.push_back("--resume");
    const Outcome o = limber(earlier);
    EXPECT_EQ(o.code, 1);
    EXPECT_TRUE(contains(o.err, "after the end of the run")) << o.err;
    const Outcome idle = limber(run);
    EXPECT_EQ(idle.code, 1);
    EXPECT_TRUE(contains(idle.err, "--checkpoint-file")) << idle.err;
}

TEST_F(RunFiles, DamagedCheckpointsAreRefusedWithTheReason) {
    const std::vector<std::string> run{
        "run",    example("double-pendulum.yaml"), "--until", "0.2", "--checkpoint", "0.1", "--checkpoint-file",
        path("c")};
    ASSERT_EQ(limber(run).code, 0);
    const auto good = nlohmann::json::parse(slurp(path("c")));
    auto resume = run;
    resume.push_back("--resume");
    ASSERT_EQ(limber(resume).code, 0);
    for (const char* place : {"/state/q", "/state/v", "/state/a", "/state/memory", "/state/lambda", "/values",
                              "/columns", "/summary/sensors", "/summary/errors"})
        for (const bool is_empty : {true, false}) {
            auto bad = good;
            auto& list = bad.at(nlohmann::json::json_pointer(place));
            if (list.empty()) continue;
            if (is_empty)
                list.clear();
            else
                list.erase(list.size() - 1);
            std::ofstream(path("c")) << bad.dump();
            const Outcome o = limber(resume);
            EXPECT_EQ(o.code, 1) << place << o.signal << o.err;
            EXPECT_TRUE(contains(o.err, "error: ")) << o.err;
        }
}

}  // namespace
