// Reading and compiling are bounded and can be interrupted: hostile or careless files cost little time and memory.

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "limber/io/model_file.hpp"
#include "limber/io/regular_file.hpp"
#include "limber/math/interruption.hpp"
#include "limber/model/evaluation.hpp"
#include "limber/simulation/session.hpp"
#include "support/models.hpp"

namespace limber::testing {
namespace {

std::string error_of(const std::string& yaml, const ReadLimits& limits = {}) {
    try {
        read_model_text(yaml, "m.yaml", {}, nullptr, limits);
    } catch (const ModelError& error) {
        return error.what();
    }
    return "";
}

bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

class Folder {
public:
    Folder() : path_(std::filesystem::temp_directory_path() / ("limber-bounds-" + std::to_string(::getpid()))) {
        std::filesystem::create_directories(path_);
    }
    ~Folder() { std::filesystem::remove_all(path_); }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;
    std::string file(const std::string& name) const { return (path_ / name).string(); }
    std::string write(const std::string& name, const std::string& text) const {
        std::ofstream(path_ / name) << text;
        return file(name);
    }

private:
    std::filesystem::path path_;
};

// ---------------------------------------------------------------- work

// 4e10 turns with nothing in them.
TEST(Bounds, CountTurnsOfEmptyLoops) {
    const std::string message = error_of("limber: 1\nbodies:\n  for i in 1..200000:\n    for j in 1..200000: {}\n");
    EXPECT_TRUE(contains(message, "m.yaml:")) << message;
    EXPECT_TRUE(contains(message, "too large")) << message;
}

// The first needs the second, and so on: one pass over all of them evaluated one.
TEST(Bounds, ChainsOfParametersTakeLinearTime) {
    constexpr int count = 100'000;
    Parameters parameters;
    for (int i = 0; i < count; ++i) parameters.set(fmt::format("p{}", i), Number(fmt::format("p{} + 1", i + 1)));
    parameters.set("p" + std::to_string(count), Number(0.0));
    const auto values = parameters.evaluate();
    ASSERT_EQ(values.size(), count + 1U);
    EXPECT_EQ(values.front().first, "p0");
    EXPECT_EQ(values.front().second, count);
    EXPECT_EQ(values.back().second, 0);
}

TEST(Bounds, RingsOfParametersAreRefused) {
    Parameters parameters;
    for (int i = 0; i < 1000; ++i)
        parameters.set(fmt::format("p{}", i), Number(fmt::format("p{} + 1", (i + 1) % 1000)));
    parameters.set("alone", Number(1.0));
    EXPECT_THROW(parameters.evaluate(), ModelError);
    parameters.set("p500", Number(2.0));
    EXPECT_EQ(parameters.evaluate()[501].second, 1001);  // 2 at p500, and 999 sums on the way around
}

TEST(Bounds, BodiesBeyondALimitAreRefusedWhenTheyAreMet) {
    const std::string message =
        error_of("limber: 1\nbodies:\n  for i in 1..200000:\n    b<i>: {point: {mass: 1}}\n", {100});
    EXPECT_EQ(message, "m.yaml:4: bodies.b100: the model has more than 100 bodies, which are too many here");
}

// ---------------------------------------------------------------- interruption

const char* const long_chain =
    "limber: 1\nbodies:\n  for i in 1..20000:\n    b<i>: {rod: {from: [i-1, 0, 0], to: [i, 0, 0], mass: 1}}\n"
    "joints:\n  first: {spherical: [ground, b1.from]}\n"
    "  for i in 2..20000:\n    j<i>: {spherical: [b<i-1>.to, b<i>.from]}\n";

TEST(Interruption, StopsReadingWhenToldSo) {
    const std::atomic<bool> stop = true;
    const WorkLimit limit(stop);
    EXPECT_THROW(read_model_text(long_chain, "m.yaml"), Interrupted);
    const Uninterrupted hold;
    EXPECT_NO_THROW(read_model_text("limber: 1", "m.yaml"));
}

// Whenever it comes: while the text is parsed, while loops are unrolled, while the mechanism is made.
TEST(Interruption, StopsReadingAtAnyMoment) {
    int stopped = 0;
    for (int milliseconds = 1; milliseconds < 200; milliseconds *= 3) {
        const std::atomic<bool> never = false;
        const WorkLimit limit(never, std::chrono::milliseconds(milliseconds));
        try {
            read_model_text(long_chain, "m.yaml");
        } catch (const Interrupted& error) {
            EXPECT_TRUE(contains(error.what(), "took longer than")) << error.what();
            ++stopped;
        }
    }
    EXPECT_GE(stopped, 1);
}

TEST(Interruption, StopsCompiling) {
    const Model model = read(long_chain);
    const std::atomic<bool> stop = true;
    const WorkLimit limit(stop);
    EXPECT_THROW(Simulation{model}, Interrupted);
}

// An edit that is given up leaves the session as it was, to the bit, and ready for the next one.
TEST(Interruption, LeavesASessionAsItWas) {
    const char* const chain =
        "limber: 1\nplane: xy\nparameters: {m: 1}\nbodies:\n  for i in 1..5:\n    b<i>: {rod: {from: [i-1, 0], to: [i, "
        "0], mass: m}}\n"
        "joints:\n  first: {revolute: [ground, b1.from]}\n"
        "  for i in 2..5:\n    j<i>: {revolute: [b<i-1>.to, b<i>.from]}\n";
    Session session(read(chain), {}, {});
    Session undisturbed(read(chain), {}, {});
    std::atomic<bool> stop = false;
    for (int i = 0; i < 20; ++i) ASSERT_TRUE(session.step().ok && undisturbed.step().ok);
    for (const char* edit :
         {"set parameters.m 2", "remove joints.j3 with dependents", "add bodies.c {point: {mass: 1}}",
          "use formulation augmented-lagrangian", "go 0.005", "pull b5.to [1, 1]"}) {
        stop = true;
        const WorkLimit limit(stop);
        const EditReport report = session.apply(edit);
        EXPECT_FALSE(report.ok) << edit;
        EXPECT_TRUE(contains(report.reason, "stopped")) << edit << ": " << report.reason;
        EXPECT_EQ(session.fingerprint(), undisturbed.fingerprint()) << edit;
        stop = false;
    }
    EXPECT_EQ(session.model().joints.size(), 5U);
    EXPECT_EQ(session.next_undo(), "");
    for (Session* s : {&session, &undisturbed}) {
        ASSERT_TRUE(s->apply("set parameters.m 2").ok);
        for (int i = 0; i < 20; ++i) ASSERT_TRUE(s->step().ok);
    }
    EXPECT_EQ(session.fingerprint(), undisturbed.fingerprint());
}

TEST(Interruption, LimitsMayBeNested) {
    std::atomic<bool> outer = false;
    const std::atomic<bool> inner = false;
    const WorkLimit first(outer);
    {
        const WorkLimit second(inner);
        EXPECT_NO_THROW(check_interruption());
        outer = true;
        EXPECT_THROW(check_interruption(), Interrupted);
    }
    EXPECT_THROW(check_interruption(), Interrupted);
    std::thread([] { EXPECT_NO_THROW(check_interruption()); }).join();
}

// ---------------------------------------------------------------- files

TEST(RegularFiles, NothingElseIsRead) {
    const Folder folder;
    const std::string pipe = folder.file("pipe.yaml");
    ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
    const auto refusal = [](const std::string& path, std::size_t most) -> std::string {
        try {
            read_regular_file(path, most);
        } catch (const ModelError& error) {
            return error.what();
        }
        return "";
    };
    EXPECT_EQ(refusal(pipe, 10), "cannot read the file '" + pipe + "': it is a pipe; only regular files are read");
    EXPECT_EQ(refusal("/dev/zero", 10),
              "cannot read the file '/dev/zero': it is a device; only regular files are read");
    EXPECT_TRUE(contains(refusal(folder.file(""), 10), "it is a folder"));
    EXPECT_TRUE(contains(refusal(folder.file("none"), 10), "No such file"));
    const std::string text = folder.write("ten", "0123456789");
    EXPECT_EQ(read_regular_file(text, 10), "0123456789");
    EXPECT_TRUE(contains(refusal(text, 9), "it is larger than 9 bytes"));
}

TEST(RegularFiles, ModelsIncludeNothingElse) {
    const Folder folder;
    ASSERT_EQ(::mkfifo(folder.file("pipe.yaml").c_str(), 0600), 0);
    const auto message = [&](const std::string& yaml) -> std::string {
        try {
            read_model_file(folder.write("main.yaml", yaml));
        } catch (const ModelError& error) {
            return error.what();
        }
        return "";
    };
    const std::string main = folder.file("main.yaml");
    EXPECT_TRUE(contains(message("limber: 1\ninclude: pipe.yaml\n"), main + ":2: include: cannot read the file '"));
    EXPECT_TRUE(contains(message("limber: 1\ninclude: pipe.yaml\n"), "it is a pipe"));
    EXPECT_TRUE(contains(message("limber: 1\ninclude: /dev/zero\n"), "it is a device; only regular files are read"));
    EXPECT_TRUE(contains(message("limber: 1\nbodies: {a: {shapes: [{mesh: {file: /dev/zero}}]}}\n"), "it is a device"));
    EXPECT_THROW(read_model_file(folder.file("pipe.yaml")), ModelError);
}

// ---------------------------------------------------------------- numbers

// A number is as small as it can be and still knows how it was written.
TEST(Numbers, KeepTheirTextAndTheirValue) {
    for (const char* text : {"1", "-1", "0.1", "-0.25", "1e-3", "0.10", "-0.30", "2.", ".5", "1e5", "100000", "-0",
                             "1e300", "30 deg", "2*3", "(1)", "+1"}) {
        const Number number{std::string(text)};
        EXPECT_EQ(number.text(), text);
        EXPECT_TRUE(number.names().empty());
        const double value = Expression::parse(text).bind({}).constant();
        EXPECT_EQ(number.bind({}).constant(), value) << text;
        EXPECT_EQ(number.literal().value_or(value), value) << text;
    }
    EXPECT_TRUE(Number(std::string("-0.30")).literal());
    EXPECT_FALSE(Number(std::string("2*3")).literal());
    EXPECT_EQ(Number(0.1).text(), "0.1");
    EXPECT_THROW(Number(std::string("1e999")), ModelError);
    EXPECT_THROW(Number(std::string("--")), ModelError);
    EXPECT_EQ(Number(std::string("a + b*a")).names(), (std::vector<std::string>{"a", "b"}));
    EXPECT_LE(sizeof(Number), 24U);
}

}  // namespace
}  // namespace limber::testing
