// The limber command as a user meets it: output, files, exit codes.

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <array>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

namespace {

struct Outcome {
    int code = -1;
    std::string out, err;
};

std::string temporary(const std::string& name) {
    return (std::filesystem::temp_directory_path() / name).string();
}

std::string slurp(const std::string& path) {
    std::ifstream file(path);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

Outcome limber(const std::string& arguments) {
    // ctest may run several of these tests at once.
    static int counter = 0;
    const std::string errors = temporary("limber_stderr_" + std::to_string(getpid()) + "_" + std::to_string(counter++));
    Outcome outcome;
    FILE* pipe = popen((std::string(LIMBER_BINARY) + " " + arguments + " 2>" + errors).c_str(), "r");
    std::array<char, 4096> buffer{};
    for (std::size_t n = 0; (n = fread(buffer.data(), 1, buffer.size(), pipe)) > 0;)
        outcome.out.append(buffer.data(), n);
    outcome.code = WEXITSTATUS(pclose(pipe));
    outcome.err = slurp(errors);
    std::filesystem::remove(errors);
    return outcome;
}

std::string example(const std::string& name) {
    return std::string(LIMBER_EXAMPLES) + "/" + name;
}

bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

TEST(CommandLine, PlayDoesNotWriteOverWhatIsNoJournal) {
    const std::string path = temporary("limber_no_journal_" + std::to_string(getpid()));
    for (const char* const text : {"my notes\n", "{\"limber_journal\": 1}\n"}) {
        std::ofstream(path) << text;
        const Outcome o = limber("play " + example("double-pendulum.yaml") + " --until 0.01 --speed max --journal " +
                                 path + " </dev/null");
        EXPECT_EQ(o.code, 1) << o.err;
        EXPECT_TRUE(contains(o.err, "is no journal of this version")) << o.err;
        EXPECT_EQ(slurp(path), text);
    }
    std::filesystem::remove(path);
    for (int again = 0; again < 2; ++again) {
        const Outcome o = limber("play " + example("double-pendulum.yaml") + " --until 0.01 --speed max --journal " +
                                 path + " </dev/null");
        EXPECT_EQ(o.code, 0) << o.err;
    }
    std::filesystem::remove(path);
}

TEST(CommandLine, SummaryAsJsonIsOneObjectWithTheDocumentedKeys) {
    const Outcome o = limber("run " + example("slider-crank.yaml") + " --until 1 --step 0.01 --summary json");
    ASSERT_EQ(o.code, 0) << o.err;
    const auto json = nlohmann::json::parse(o.out);  // throws if there is anything else
    for (const char* key : {"formulation", "integrator", "step", "steps", "wall_time_s", "metering_time_s",
                            "real_time_factor", "iterations", "energy_drift", "constraint_error", "sensors"})
        EXPECT_TRUE(json.contains(key)) << key;
    EXPECT_EQ(json["formulation"], "global");
    EXPECT_EQ(json["integrator"], "trapezoidal");
    EXPECT_DOUBLE_EQ(json["step"], 0.01);
    EXPECT_EQ(json["steps"], 100);
    EXPECT_GE(json["iterations"], 100);
    for (const char* key : {"position", "velocity", "acceleration"})
        EXPECT_TRUE(json["constraint_error"].contains(key)) << key;
    const auto& slider = json["sensors"]["slider.x"];
    EXPECT_NEAR(slider["final"], 0.83146856, 2e-3);
    EXPECT_GE(slider["max"], slider["final"]);
    EXPECT_LE(slider["min"], slider["final"]);
    EXPECT_NEAR(json["sensors"]["slider.y"]["final"], 0, 1e-9);
}

TEST(CommandLine, OptionsChooseFormulationIntegratorAndCoordinates) {
    for (const std::string formulation : {"global", "augmented-lagrangian", "baumgarte", "penalty", "null-space"})
        for (const std::string integrator : {"trapezoidal", "newmark", "hht", "generalized-alpha",
                                             "linear-acceleration", "higher-order", "rk4", "reference"}) {
            const Outcome o = limber("run " + example("double-pendulum.yaml") +
                                     " --until 0.5 --step 0.005 --summary json" + " --formulation " + formulation +
                                     " --integrator " + integrator + " --coordinates reference-point");
            ASSERT_EQ(o.code, 0) << formulation << integrator << o.err;
            const auto json = nlohmann::json::parse(o.out);
            EXPECT_EQ(json["formulation"], formulation);
            EXPECT_EQ(json["integrator"], integrator);
            EXPECT_NEAR(json["sensors"]["tip.x"]["final"], 0.84474417, 2e-3) << formulation << integrator;
            EXPECT_NEAR(json["sensors"]["tip.y"]["final"], -1.74219412, 2e-3) << formulation << integrator;
        }
}

TEST(CommandLine, SetsParameters) {
    const Outcome o = limber("run " + example("n-four-bar.yaml") + " --set N=2 --until 1 --step 0.001 --summary json");
    ASSERT_EQ(o.code, 0) << o.err;
    EXPECT_NEAR(nlohmann::json::parse(o.out)["sensors"]["b0.x"]["final"], -0.1950203019, 1e-4);
}

TEST(CommandLine, WritesResultsAndPlots) {
    const std::string csv = temporary("limber_cli.csv");
    const std::string h5 = temporary("limber_cli.h5");
    const std::string svg = temporary("limber_cli.svg");
    const Outcome o =
        limber("run " + example("double-pendulum.yaml") + " --until 1 --step 0.001 --every 0.1 --output " + csv +
               " --output " + h5 + " --plot tip,pin.fx " + svg);
    ASSERT_EQ(o.code, 0) << o.err;
    EXPECT_TRUE(contains(o.out, "energy drift"));
    EXPECT_TRUE(contains(o.out, "tip.x"));
    std::ifstream file(csv);
    std::string line;
    int lines = 0;
    while (std::getline(file, line)) ++lines;
    EXPECT_EQ(lines, 1 + 11);
    EXPECT_TRUE(contains(slurp(svg), "tip.y"));
    EXPECT_GT(std::filesystem::file_size(h5), 100U);
    for (const auto& path : {csv, h5, svg}) std::filesystem::remove(path);
}

TEST(CommandLine, PlotsOneSensorAgainstAnother) {
    const std::string path = temporary("limber_xy_" + std::to_string(getpid()) + ".svg");
    const std::string over_time = temporary("limber_over_time_" + std::to_string(getpid()) + ".svg");
    const Outcome o = limber("run " + example("loops/coupler-curve.yaml") + " --plot-xy coupler.x,coupler.y " + path +
                             " --plot coupler.x " + over_time);
    ASSERT_EQ(o.code, 0) << o.err;
    EXPECT_TRUE(contains(o.out, "plot of coupler.x,coupler.y: " + path));
    const std::string svg = slurp(path);
    EXPECT_TRUE(contains(svg, ">coupler.x [m]<"));
    EXPECT_TRUE(contains(svg, ">coupler.y [m]<"));
    EXPECT_TRUE(contains(slurp(over_time), ">coupler.x [m]<"));
    EXPECT_TRUE(contains(slurp(over_time), ">t [s]<"));
    for (const auto& file : {path, over_time}) std::filesystem::remove(file);
}

TEST(CommandLine, QuietPrintsErrorsOnly) {
    const std::string run = "run " + example("double-pendulum.yaml") + " --until 0.01 --step 0.001 --quiet";
    const std::string csv = temporary("limber_quiet_" + std::to_string(getpid()) + ".csv");
    const Outcome o = limber(run + " --output " + csv);
    EXPECT_EQ(o.code, 0);
    EXPECT_EQ(o.out, "");
    EXPECT_EQ(o.err, "");
    EXPECT_GT(std::filesystem::file_size(csv), 100U);
    std::filesystem::remove(csv);
    // What was asked for is there nevertheless.
    const auto json = nlohmann::json::parse(limber(run + " --summary json").out);
    EXPECT_EQ(json["steps"], 10);
    const Outcome bad = limber(run + " --set nothing=1");
    EXPECT_EQ(bad.code, 1);
    EXPECT_EQ(bad.out, "");
    EXPECT_TRUE(contains(bad.err, "error: "));
}

struct OpenMechanism {
    const char* yaml;
    const char* place;  // line and element
    std::vector<const char*> contents;
};

// By how much, in what unit, and what to look at.
TEST(CommandLine, TellsWhyAMechanismCannotBeAssembled) {
    const OpenMechanism cases[] = {
        {"limber: 1\nbodies:\n  ground: {markers: {m: [0, 0, 0]}}\n"
         "  a: {box: {size: [1, 1, 1], mass: 1}, markers: {n: {angle: -90 deg}}}\n"
         "joints:\n  f: {fixed: [ground, a]}\n  u: {universal: [ground.m, a.n]}\n",
         ":7: joint 'u': ",
         {"cannot be assembled", "stays open by ", " deg; ",
          "x of the first marker and y of the second, must be perpendicular"}},
        {"limber: 1\nplane: xy\nbodies:\n  ground: {markers: {far: [3, 0]}}\n  a: {rod: {from: [0, 0], to: [1, 0], "
         "mass: 1}}\n"
         "joints:\n  l: {revolute: [ground, a.from]}\n  r: {revolute: [ground.far, a.to]}\n",
         ": joint '",
         {"cannot be assembled", "stays open by 1 m; ", "look at the lengths and places"}},
        {"limber: 1\nplane: xy\nbodies:\n  a: {rod: {from: [0, 0], to: [1, 0], mass: 1}}\n"
         "joints:\n  l: {revolute: [ground, a.from]}\n  f: {fixed: [ground, a.from]}\n"
         "drivers:\n  d: {coordinate: l.angle, follows: 1 + t}\n",
         ": ",
         {"cannot be assembled", "stays open by ", " deg; "}},
        {"limber: 1\nplane: xy\nbodies:\n  a: {rod: {from: [0, 0], to: [1, 0], mass: 1}}\n"
         "joints:\n  l: {revolute: [ground, a.from]}\n"
         "drivers:\n  d: {coordinate: l.angle, follows: t}\ninitial:\n  positions:\n    l.angle: 1\n",
         ": ",
         {"cannot be assembled", "stays open by ", " deg; "}},
        {"limber: 1\nplane: xy\nbodies:\n  a: {rod: {from: [0, 0], to: [1, 0], mass: 1}}\n"
         "joints:\n  l: {revolute: [ground, a.from]}\n"
         "drivers:\n  d: {coordinate: l.angle, follows: t}\ninitial:\n  rates: {l.angle: 3}\n",
         ": ",
         {"the velocities at the start contradict each other", "is off by ", " deg/s"}},
    };
    const std::string path = temporary("limber_open_" + std::to_string(getpid()) + ".yaml");
    for (const OpenMechanism& open : cases) {
        std::ofstream(path) << open.yaml;
        const Outcome o = limber("run " + path);
        EXPECT_EQ(o.code, 1);
        EXPECT_TRUE(contains(o.err, "error: " + path + ":")) << o.err;
        EXPECT_TRUE(contains(o.err, open.place)) << o.err;
        for (const char* part : open.contents) EXPECT_TRUE(contains(o.err, part)) << o.err;
    }
    std::filesystem::remove(path);
}

TEST(CommandLine, EndsWithOneOnBadInput) {
    const std::string bad = temporary("limber_bad.yaml");
    std::ofstream(bad) << "limber: 1\nbodies:\n  a: {mas: 1}\n";
    const std::pair<std::string, std::string> cases[] = {
        {"run " + bad, "did you mean 'mass'"},
        {"run no-such-file.yaml", "cannot read the file"},
        {"run " + example("slider-crank.yaml") + " --formulation globl", "did you mean 'global'"},
        {"run " + example("slider-crank.yaml") + " --integrator rk5", "did you mean 'rk4'"},
        {"run " + example("slider-crank.yaml") + " --coordinates polar", "natural, reference-point"},
        {"run " + example("slider-crank.yaml") + " --step 0", "expected a positive number"},
        {"run " + example("slider-crank.yaml") + " --step -1", "expected a positive number"},
        {"run " + example("slider-crank.yaml") + " --step x", "unknown name 'x'"},
        {"run " + example("slider-crank.yaml") + " --until nan", "unknown name 'nan'"},
        {"run " + example("slider-crank.yaml") + " --set N", "expected NAME=VALUE"},
        {"run " + example("slider-crank.yaml") + " --set q=1", "no parameter 'q'"},
        {"run " + example("slider-crank.yaml") + " --option rho=2 --integrator generalized-alpha",
         "rho: expected a number between 0 and 1"},
        {"run " + example("slider-crank.yaml") + " --option roh=2", "did you mean 'rho'"},
        {"run " + example("slider-crank.yaml") + " --plot slidr out.svg", "did you mean 'slider"},
        {"run " + example("slider-crank.yaml") + " --plot slider out.png", "ending in .svg"},
        {"run " + example("slider-crank.yaml") + " --plot-xy slider.x out.svg", "expected pairs of columns x,y"},
        {"run " + example("slider-crank.yaml") + " --plot-xy slider.x,slidr.y out.svg", "did you mean 'slider.y"},
        {"run " + example("slider-crank.yaml") + " --output out.txt", "ending in .csv"},
        {"run " + example("slider-crank.yaml") + " --summary xml", "json"},
        {"run", "model is required"},
        {"check " + bad, "did you mean 'mass'"},
        {"run " + example("slider-crank.yaml") + " --option passes=1e300",
         "passes: expected a whole number between 1 and 100"},
        {"list jonts", "did you mean 'joints'"},
        {"rnu " + example("slider-crank.yaml"),
         "there is no command 'rnu' (did you mean 'run'?); commands: run, play,"},
        {"chekc " + bad, "did you mean 'check'"},
        {"--versoin", "unknown option '--versoin' (did you mean '--version'?)"},
        {"run " + example("slider-crank.yaml") + " --untl 3", "unknown option '--untl' (did you mean '--until'?)"},
        {"run " + example("slider-crank.yaml") + " --untl=3", "unknown option '--untl' (did you mean '--until'?)"},
        {"check " + example("slider-crank.yaml") + " more", "unexpected argument 'more'"},
        {"run /dev/zero", "it is a device; only regular files are read"},
        {"compare " + example("slider-crank.yaml") + " --formulations x", "unknown formulation"},
        {"dance", ""},
        {"", "a command is missing: one of run, play,"},
    };
    for (const auto& [arguments, fragment] : cases) {
        const Outcome o = limber(arguments);
        EXPECT_EQ(o.code, 1) << arguments;
        EXPECT_TRUE(contains(o.err, fragment)) << arguments << "\n" << o.err;
        EXPECT_TRUE(o.out.empty() || !contains(arguments, "json")) << o.out;
    }
    std::filesystem::remove(bad);
}

// A choice that the model refuses is a row that failed; what all refuse ends the command.
TEST(CommandLine, CompareMarksWhatTheModelRefuses) {
    const std::string start = "compare " + example("forces/massless-node.yaml") + " --until 0.1 --steps 0.01 ";
    const Outcome some = limber(start + "--formulations global --integrators moreau-jean,trapezoidal");
    EXPECT_EQ(some.code, 2) << some.err;
    EXPECT_TRUE(contains(some.out, "Failed\n  global, moreau-jean, step 0.01: body 'node'")) << some.out;
    const Outcome none = limber(start + "--formulations global --integrators moreau-jean");
    EXPECT_EQ(none.code, 1) << none.out;
    EXPECT_TRUE(contains(none.err, "body 'node'")) << none.err;
}

TEST(CommandLine, FindsEquilibrium) {
    const Outcome o = limber("equilibrium " + example("iltis/ramp-and-stairs.yaml") + " --summary json");
    ASSERT_EQ(o.code, 0) << o.err;
    const auto json = nlohmann::json::parse(o.out);
    EXPECT_LT(json["residual"], 1e-6);
    EXPECT_NEAR(json["sensors"]["load00"], 3831.31, 1);
    EXPECT_TRUE(contains(limber("equilibrium " + example("forces/spring.yaml")).out, "static equilibrium after"));
    const std::string falling = temporary("limber_falling.yaml");
    std::ofstream(falling) << "{limber: 1, bodies: {ball: {sphere: {radius: 1, mass: 1}}}}\n";
    const Outcome none = limber("equilibrium " + falling);
    EXPECT_EQ(none.code, 2);
    EXPECT_TRUE(contains(none.err, "no equilibrium found")) << none.err;
    EXPECT_TRUE(contains(none.err, "body 'ball', by 9.81 N")) << none.err;
    std::filesystem::remove(falling);
}

TEST(CommandLine, TellsWhetherAnEquilibriumLasts) {
    const std::string pendulum = "equilibrium " + example("statics/inverted-pendulum.yaml");
    const auto leaning = nlohmann::json::parse(limber(pendulum + " --summary json").out);
    EXPECT_EQ(leaning["stability"], "stable");
    EXPECT_EQ(leaning["method"], "newton");
    const auto upright = nlohmann::json::parse(limber(pendulum + " --nearest --summary json").out);
    EXPECT_EQ(upright["stability"], "unstable");
    EXPECT_EQ(upright["unstable_directions"], 1);
    EXPECT_EQ(upright["unstable_body"], "rod");
    EXPECT_NEAR(upright["growth"], std::sqrt((9.81 - 5) * 3 / 4), 1e-6);
    EXPECT_TRUE(contains(limber(pendulum + " --nearest").out, "UNSTABLE: 1 direction grows")) << pendulum;
}

TEST(CommandLine, FollowsEquilibriaOverALoad) {
    const std::string truss = "equilibrium " + example("statics/truss.yaml");
    const Outcome o = limber(truss + " --path P=0:60 --summary json");
    ASSERT_EQ(o.code, 0) << o.err;
    const auto json = nlohmann::json::parse(o.out);
    EXPECT_EQ(json["ended"], "done");
    EXPECT_EQ(json["points"].back()["P"], 60);
    EXPECT_TRUE(contains(limber(truss + " --path P=0:60").out, "limit point"));
    for (const char* wrong :
         {" --path P=0", " --path P=1:1", " --path P=0:60 --nearest", " --output x.csv", " --path a=1:1.2"}) {
        const Outcome refused = limber(truss + wrong);
        EXPECT_EQ(refused.code, 1) << wrong << refused.out;
        EXPECT_FALSE(refused.err.empty()) << wrong;
    }
}

// Published: Meijaard, Papadopoulos, Ruina and Schwab 2007, Table 2, forward speed 5 m/s.
TEST(CommandLine, TellsModesOfTheBicycle) {
    const std::string bicycle = "modes " + example("bicycle.yaml") + " --set u=5 --summary json";
    const Outcome o = limber(bicycle);
    ASSERT_EQ(o.code, 0) << o.err;
    const auto json = nlohmann::json::parse(o.out);
    const auto& values = json["eigenvalues"];
    ASSERT_EQ(values.size(), 10u);
    // Both of a pair and the zeros, by imaginary part, then by real part.
    EXPECT_NEAR(values[0][0], -0.7753418822, 1e-9);
    EXPECT_NEAR(values[0][1], -4.4648677138, 1e-9);
    EXPECT_NEAR(values[1][0], -14.0783896928, 1e-9);
    EXPECT_NEAR(values[2][0], -0.3228664290, 1e-9);
    for (int k = 3; k < 9; ++k) EXPECT_EQ(values[k], nlohmann::json({0.0, 0.0})) << k;
    EXPECT_NEAR(values[9][1], 4.4648677138, 1e-9);
    EXPECT_NEAR(json["frequencies_hz"][9], 4.4648677138 / (2 * M_PI), 1e-9);
    EXPECT_NEAR(json["damping_ratios"][9], 0.7753418822 / std::hypot(0.7753418822, 4.4648677138), 1e-9);
    EXPECT_TRUE(json["damping_ratios"][3].is_null());
    EXPECT_EQ(json["zero"].size(), 5u);
    EXPECT_EQ(json["verdict"], "stable");
    EXPECT_EQ(nlohmann::json::parse(limber(bicycle + " --count 3").out)["eigenvalues"].size(), 3u);
    // Slower than the weave speed it falls.
    const Outcome slow = limber("modes " + example("bicycle.yaml") + " --set u=4");
    EXPECT_TRUE(contains(slow.out, "unstable")) << slow.out;
}

TEST(CommandLine, EndsWithTwoWhenTheSolverFails) {
    // A linkage driven to where it cannot follow: ground 4, crank 3, coupler 2, rocker 2 lock at acos(0.375).
    const Outcome o = limber("run " + example("loops/lock-up.yaml") + " --until 1 --summary json");
    EXPECT_EQ(o.code, 2) << o.out << o.err;
    EXPECT_TRUE(contains(o.err, "failed")) << o.err;
    const auto json = nlohmann::json::parse(o.out);
    EXPECT_TRUE(json.contains("failure"));
    EXPECT_NEAR(json["sensors"]["crank"]["final"], std::acos(0.375), 1e-2);
    EXPECT_TRUE(contains(o.err, "is off by")) << o.err;
    EXPECT_TRUE(contains(o.err, "driver 'turn' cannot go beyond 1.18640 rad (67.976 deg), reached at t = 0.68640 s"))
        << o.err;
    EXPECT_NEAR(json["lock"]["t"], std::acos(0.375) - 0.5, 1e-6);
    EXPECT_NEAR(json["lock"]["value"], std::acos(0.375), 1e-6);
    EXPECT_EQ(json["lock"]["lost"].size(), 2U);
    // By its own end time, too.
    EXPECT_EQ(limber("run " + example("loops/lock-up.yaml")).code, 2);
}

// A flyball governor on stiff springs with stiff dampers: too stiff for an explicit scheme at a millisecond.
const char* flyball = R"(limber: 1
parameters: {K: 8e5, C: 4e4, a: 30 deg, W: 2*pi, rho: 3000, s0: 0.5}
bodies:
  shaft: {box: {size: [0.01, 0.01, 1], density: rho, at: [0, 0, 0.5]}, angular-velocity: [0, 0, W], markers: {head: [0, 0, 1]}}
  for i in 0..1:
    rod<i>:
      solids:
        - {box: {size: [1, 0.01, 0.01], density: rho, at: [0.5, 0, 0]}}
        - {point: {mass: 5, at: [1, 0, 0]}}
      at: [0.05*(1-2*i), 0, 1]
      z: [sin(a)*(1-2*i), 0, cos(a)]
      x: [cos(a)*(1-2*i), 0, -sin(a)]
      angular-velocity: [0, 0, W]
      velocity: [0, 0.05*(1-2*i)*W, 0]
      markers: {mid: [0.5, 0, 0]}
  slider: {box: {size: [0.1, 0.1, 0.1], density: rho}, at: [0, 0, s0], angular-velocity: [0, 0, W], markers: {p0: [0.05, 0, 0], p1: [-0.05, 0, 0]}}
joints:
  base: {revolute: [ground, shaft], at: [0, 0, 0], axis: [0, 0, 1]}
  rail: {prismatic: [shaft, slider], axis: [0, 0, 1]}
  for i in 0..1:
    hinge<i>: {revolute: [shaft, rod<i>], at: [0.05*(1-2*i), 0, 1], axis: [0, 1-2*i, 0]}
forces:
  for i in 0..1:
    link<i>: {spring: [slider.p<i>, rod<i>.mid], stiffness: K, damping: C, free-length: 0.5}
sensors: {s: {position: slider}}
simulation: {until: 1, step: 0.001}
)";

TEST(CommandLine, EndsWithTwoWhenTheMotionRunsAway) {
    const std::string model = temporary("limber_flyball.yaml");
    std::ofstream(model) << flyball;
    const Outcome o = limber("run " + model + " --formulation augmented-lagrangian --integrator rk4 --step 0.001");
    EXPECT_EQ(o.code, 2) << o.out;
    EXPECT_TRUE(contains(o.err, "smaller step")) << o.err;
    EXPECT_EQ(limber("run " + model).code, 0);
    const Outcome compared =
        limber("compare " + model + " --formulations augmented-lagrangian --integrators rk4 --steps 0.001");
    EXPECT_EQ(compared.code, 2);
    EXPECT_TRUE(contains(compared.out, "Failed\n  augmented-lagrangian, rk4, step 0.001: at t = ")) << compared.out;
    const Outcome failed = limber("run " + model + " --formulation composite-body");
    EXPECT_EQ(failed.code, 2);
    EXPECT_FALSE(contains(failed.err, "failed: \n")) << failed.err;
    std::filesystem::remove(model);
}

TEST(CommandLine, RefusesOptionsThatDoNothing) {
    const std::string pendulum = "run " + example("double-pendulum.yaml") + " --until 0.01 ";
    const std::pair<std::string, std::string> cases[] = {
        {pendulum + "--modular body --option step-control=1e-3", "step-control does nothing"},
        {pendulum + "--option rho=0.5", "needs the integrator generalized-alpha"},
        {pendulum + "--gluing anderson", "needs a mechanism divided"},
        {pendulum + "--threads 2", "needs a mechanism divided"},
        {pendulum + "--option stops=penalty", "needs a model with stops"},
        {"compare " + example("double-pendulum.yaml") + " --until 0.1 --steps 0.01 --option xi=-0.5",
         "needs the integrator newmark"},
        {"compare " + example("double-pendulum.yaml") + " --until 0.1 --steps 0.01 --samples 3 --reference-step 1e-3",
         "excludes"},
    };
    for (const auto& [arguments, fragment] : cases) {
        const Outcome o = limber(arguments);
        EXPECT_EQ(o.code, 1) << arguments;
        EXPECT_TRUE(contains(o.err, fragment)) << arguments << "\n" << o.err;
    }
    EXPECT_EQ(limber(pendulum + "--integrator generalized-alpha --option rho=0.5").code, 0);
}

TEST(CommandLine, TellsWarningsAtEveryDoor) {
    const std::string model = temporary("limber_buried.yaml");
    std::ofstream(model) << "limber: 1\nbodies: {ground: {shapes: [{plane: {}}]}, ball: {sphere: {radius: 0.1, mass: "
                            "1}, at: [0, 0, -5]}}\n"
                            "contacts: {floor: {rigid: [ball, ground]}}\nsensors: {ball: {position: ball}}\n"
                            "simulation: {integrator: moreau-jean, until: 0.1, step: 0.01}\n";
    EXPECT_TRUE(contains(limber("run " + model).out, "overlap at the start by 5.1 m"));
    EXPECT_TRUE(contains(limber("check " + model).out, "overlap at the start by 5.1 m"));
    for (const char* command : {"run ", "check "}) {
        const Outcome o = limber(command + model + " --summary json");
        ASSERT_EQ(o.code, 0) << o.err;
        const auto warnings = nlohmann::json::parse(o.out).at("warnings");
        ASSERT_EQ(warnings.size(), 1U) << o.out;
        EXPECT_EQ(warnings[0].at("kind"), "overlap");
        EXPECT_EQ(warnings[0].at("elements").size(), 2U);
    }
    std::filesystem::remove(model);
}

TEST(CommandLine, FollowsTheFilesIntegrator) {
    const std::string ball = example("contact/heap-of-spheres.yaml");
    EXPECT_EQ(limber("check " + ball).code, 0);
    const Outcome o = limber("compare " + example("contact/bumpy-road.yaml") + " --until 0.1 --steps 0.01,0.005");
    EXPECT_EQ(o.code, 0) << o.err;
    EXPECT_TRUE(contains(o.out, "moreau-jean")) << o.out;
}

TEST(CommandLine, ChecksAModel) {
    const Outcome o = limber("check " + example("loops/spatial-four-bar.yaml"));
    EXPECT_EQ(o.code, 0);
    EXPECT_TRUE(contains(o.out, "1 degree of freedom (-2 by counting equations)"));
    EXPECT_TRUE(contains(o.out, "3 redundant constraint equations of 20"));
    EXPECT_TRUE(contains(o.out, "shared point of crank, coupler"));
}

TEST(CommandLine, ListsWhatThereIs) {
    EXPECT_TRUE(contains(limber("list formulations").out, "null-space"));
    EXPECT_TRUE(contains(limber("list integrators").out, "generalized-alpha"));
    EXPECT_TRUE(contains(limber("list joints").out, "rack-and-pinion"));
    EXPECT_TRUE(contains(limber("list forces").out, "bushing"));
    EXPECT_TRUE(contains(limber("list sensors").out, "reaction"));
    EXPECT_TRUE(contains(limber("list coordinates").out, "reference-point"));
    EXPECT_TRUE(nlohmann::json::accept(limber("list schema").out));
}

TEST(CommandLine, ComparesRuns) {
    const std::string csv = temporary("limber_compare.csv");
    const std::string svg = temporary("limber_compare.svg");
    const Outcome o =
        limber("compare " + example("double-pendulum.yaml") + " --until 1 --reference --steps 0.01,0.005" +
               " --formulations global,penalty --integrators trapezoidal,rk4 --output " + csv + " --plot " + svg);
    ASSERT_EQ(o.code, 0) << o.err;
    EXPECT_TRUE(contains(o.out, "penalty"));
    EXPECT_TRUE(contains(slurp(svg), "global, rk4"));
    std::istringstream table(slurp(csv));
    std::string line;
    int rows = -1;
    while (std::getline(table, line)) ++rows;
    EXPECT_EQ(rows, 8);
    std::filesystem::remove(csv);
    std::filesystem::remove(svg);
}

TEST(CommandLine, FindsTheMostEfficientRuns) {
    const std::string csv = temporary("limber_study.csv");
    const std::string study = "compare " + example("double-pendulum.yaml") +
                              " --until 1 --formulations global,hybrid --integrators trapezoidal,generalized-alpha" +
                              " --steps 0.005:0.02:0.005 --sweep rho=0:1:0.5 --sensors tip --reference-step 1e-3 ";
    const Outcome o = limber(study + "--accept 1e-3 --output " + csv);
    ASSERT_EQ(o.code, 0) << o.err;
    EXPECT_TRUE(contains(o.out, "eq. (43)")) << o.out;
    const std::string table = slurp(csv);
    EXPECT_EQ(std::count(table.begin(), table.end(), '\n'), 1 + 2 * (4 + 3 * 4));
    const Outcome none = limber(study + "--accept 1e-15");
    EXPECT_EQ(none.code, 2);
    EXPECT_TRUE(contains(none.out, "no accepted run")) << none.out;
    const Outcome wrong = limber("compare " + example("double-pendulum.yaml") + " --sweep rho=0:1:0.5");
    EXPECT_EQ(wrong.code, 1);
    EXPECT_TRUE(contains(wrong.err, "no chosen integrator has a parameter 'rho'")) << wrong.err;
    std::filesystem::remove(csv);
}

TEST(CommandLine, ExplainsItself) {
    const Outcome o = limber("--help");
    EXPECT_EQ(o.code, 0);
    for (const char* word : {"run", "check", "compare", "list", "Exit codes"})
        EXPECT_TRUE(contains(o.out, word)) << word;
    for (const std::string command : {"run", "check", "compare", "list"})
        EXPECT_EQ(limber(command + " --help").code, 0);
    EXPECT_TRUE(contains(limber("--version").out, "0.1.0"));
}

}  // namespace
