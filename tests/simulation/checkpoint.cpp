// Checkpoints: everything that a run depends on is in them, what comes back is the same to the bit, and what is damaged
// or of another run is refused.

#include "limber/simulation/checkpoint.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <bit>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "limber/simulation/fields.hpp"
#include "limber/simulation/fingerprint.hpp"
#include "support/models.hpp"
#include "support/option_values.hpp"

namespace limber::testing {
namespace {

using Json = nlohmann::json;

class Checkpoint : public ::testing::Test {
protected:
    Checkpoint()
        : path_((std::filesystem::temp_directory_path() /
                 fmt::format("limber-{}-{}.checkpoint", ::getpid(),
                             ::testing::UnitTest::GetInstance()->current_test_info()->name()))
                    .string()) {}
    ~Checkpoint() override { std::filesystem::remove(path_); }

    Json parse() const {
        std::ifstream file(path_);
        return Json::parse(file);
    }
    void put(const std::string& text) const { std::ofstream(path_) << text; }

    std::string path_;
};

std::uint64_t bits(double x) {
    return std::bit_cast<std::uint64_t>(x);
}

// ---------------------------------------------------------------- fields

// Changes a field by as little as it can be.
void change(double& x) {
    x = std::nextafter(x, 1e9);
}
void change(int& x) {
    ++x;
}
void change(bool& x) {
    x = !x;
}
void change(VecX& x) {
    change(x[x.size() - 1]);
}
void change(Vec3& x) {
    change(x[2]);
}
void change(std::vector<double>& x) {
    change(x.back());
}
void change(std::vector<ContactPoint>& x) {
    x.emplace_back();
}

template <class T>
int count_fields(T fields) {
    int count = 0;
    visit_fields(fields, [&](const char*, auto&) { ++count; });
    return count;
}

template <class T>
std::string change_field(T& fields, int which) {
    std::string changed;
    visit_fields(fields, [&](const char* name, auto& field) {
        if (which-- != 0) return;
        change(field);
        changed = name;
    });
    return changed;
}

ContactPoint some_contact() {
    ContactPoint contact;
    contact.body_a = 0;
    contact.shape_a = 1;
    contact.shape_b = 2;
    contact.rule = 0;
    contact.point = {1, 2, 3};
    contact.normal = {0.6, 0, 0.8};
    contact.gap = -1e-9;
    contact.force = {1.0 / 3, 0, -2};
    contact.torque = {0, 1e-300, 0};
    contact.slides = true;
    return contact;
}

State some_state() {
    State state;
    state.t = 0.1 + 0.2;
    state.q = VecX::LinSpaced(3, 0.1, 1.0 / 3);
    state.v = VecX::LinSpaced(3, -0.1, 1e-17);
    state.a = VecX::LinSpaced(3, 1e10, -0.7);
    state.lambda = VecX::LinSpaced(2, 5, 6);
    state.memory = {1, 2.5, -0.0};
    state.scheme_a = VecX::LinSpaced(3, 7, 8);
    state.previous_a = VecX::LinSpaced(3, 9, 1e-310);
    state.previous_step = 0.01;
    state.contacts = {some_contact(), some_contact()};
    return state;
}

std::uint64_t fingerprint(const State& state) {
    Fingerprint f;
    f.add(state);
    return f.value();
}

RunCheckpoint some_checkpoint(const State& state) {
    RunCheckpoint c;
    c.state = state;
    c.work = 3;
    c.so_far.table.columns = {"t", "x"};
    c.so_far.table.values = {0, 1};
    c.so_far.summary.sensors = {{"x", 1, 1, 1}};
    return c;
}

TEST_F(Checkpoint, HoldsEveryFieldOfAState) {
    const State state = some_state();
    EXPECT_EQ(count_fields(state), 10);
    EXPECT_EQ(count_fields(some_contact()), 11);
    std::vector<State> states{state};
    for (int i = 0; i < count_fields(state); ++i) {
        states.push_back(state);
        const std::string name = change_field(states.back(), i);
        EXPECT_NE(fingerprint(states.back()), fingerprint(state)) << name;
    }
    for (int i = 0; i < count_fields(some_contact()); ++i) {
        states.push_back(state);
        const std::string name = change_field(states.back().contacts[1], i);
        EXPECT_NE(fingerprint(states.back()), fingerprint(state)) << name;
    }
    // What runs from one list into the next is another state.
    State shifted = state;
    shifted.memory.push_back(shifted.scheme_a[0]);
    shifted.scheme_a = VecX(shifted.scheme_a.tail(2));
    EXPECT_NE(fingerprint(shifted), fingerprint(state));
    const RunIdentity identity{"model", {{"a", "b"}}};
    for (const State& saved : states) {
        write_checkpoint(path_, identity, some_checkpoint(saved));
        const State back = read_checkpoint(path_, identity).state;
        EXPECT_EQ(fingerprint(back), fingerprint(saved));
        EXPECT_EQ(bits(back.t), bits(saved.t));
        EXPECT_EQ(bits(back.memory[2]), bits(saved.memory[2]));
        EXPECT_EQ(bits(back.previous_a[2]), bits(saved.previous_a[2]));
        ASSERT_EQ(back.contacts.size(), saved.contacts.size());
        EXPECT_EQ(back.contacts[1].torque, saved.contacts[1].torque);
        EXPECT_EQ(back.contacts[1].slides, saved.contacts[1].slides);
        EXPECT_EQ(back.contacts[1].rule, saved.contacts[1].rule);
    }
}

// Each option, one after the other: another run to a checkpoint, another fingerprint to a session.
TEST_F(Checkpoint, KnowsEveryOption) {
    const Model model = example("double-pendulum.yaml");
    const SimulationOptions usual = options("global", "trapezoidal", "natural");
    const auto print = [](const SimulationOptions& o) {
        Fingerprint f;
        f.add(o);
        return f.value();
    };
    const RunIdentity identity = identify_run(model, usual, {});
    write_checkpoint(path_, identity, some_checkpoint(some_state()));
    EXPECT_NO_THROW(read_checkpoint(path_, identity));
    for (const auto& row : simulation_option_rows()) {
        if (!row.changes_results) continue;
        SimulationOptions other = usual;
        row.set(other, another_value(row, usual));
        EXPECT_FALSE(other == usual) << row.name;
        EXPECT_NE(print(other), print(usual)) << row.name;
        try {
            read_checkpoint(path_, identify_run(model, other, {}));
            ADD_FAILURE() << row.name;
        } catch (const ModelError& error) {
            const std::string words = error.what();
            EXPECT_NE(words.find("belongs to another run"), std::string::npos) << words;
            EXPECT_NE(words.find(std::string(row.name) + " was '"), std::string::npos) << words;
        }
    }
    // What makes a step shorter or a row later is another run; threads and a later end are not.
    RunOptions run_options;
    run_options.until = 77;
    SimulationOptions threads = usual;
    threads.modular.threads = 7;
    EXPECT_NO_THROW(read_checkpoint(path_, identify_run(model, threads, run_options)));
    for (double RunOptions::*field : {&RunOptions::step, &RunOptions::every, &RunOptions::checkpoint_every}) {
        RunOptions other;
        other.*field += 0.5;
        EXPECT_THROW(read_checkpoint(path_, identify_run(model, usual, other)), ModelError);
    }
    EXPECT_THROW(read_checkpoint(path_, identify_run(example("double-pendulum.yaml", {{"l", "1.0000001"}}), usual, {})),
                 ModelError);
}

TEST_F(Checkpoint, SessionsOfOtherModelsAndOptionsHaveOtherFingerprints) {
    const Model model = example("double-pendulum.yaml");
    const std::uint64_t usual = Session(model).fingerprint();
    EXPECT_EQ(Session(model).fingerprint(), usual);
    for (const auto& [name, value] : std::vector<std::pair<std::string, std::string>>{{"penalty", "2e6"},
                                                                                      {"tolerance", "1e-8"},
                                                                                      {"rho", "0.7"},
                                                                                      {"halvings", "9"},
                                                                                      {"gluing-tolerance", "1e-9"},
                                                                                      {"impacts", "poisson"}}) {
        SimulationOptions other;
        set_option(other, name, value);
        EXPECT_NE(Session(model, other).fingerprint(), usual) << name;
    }
    // Same motion so far, another model.
    Session session(model);
    ASSERT_TRUE(session.apply("set gravity [0, -9.8]").ok);
    EXPECT_NE(session.fingerprint(), usual);
    SessionOptions slower;
    slower.renewal = 100;
    EXPECT_NE(Session(model, {}, slower).fingerprint(), usual);
}

// ---------------------------------------------------------------- going on

struct Case {
    std::string model, formulation, integrator, coordinates;
    double until, step, every;
    std::string option = {}, value = {};
    ParameterOverrides overrides = {};
};

SimulationOptions options_of(const Case& c) {
    SimulationOptions o = options(c.formulation, c.integrator, c.coordinates);
    if (c.option == "division") {
        o.modular.division = c.value;
    } else if (!c.option.empty()) {
        set_option(o, c.option, c.value);
    }
    return o;
}

void expect_same_run(const RunResult& a, const RunResult& b, const std::string& what) {
    EXPECT_EQ(a.table.columns, b.table.columns);
    ASSERT_EQ(a.table.values.size(), b.table.values.size()) << what;
    for (std::size_t i = 0; i < a.table.values.size(); ++i)
        ASSERT_EQ(bits(a.table.values[i]), bits(b.table.values[i]))
            << what << " row " << i / a.table.columns.size() << " " << a.table.columns[i % a.table.columns.size()];
    EXPECT_EQ(a.summary.steps, b.summary.steps);
    EXPECT_EQ(a.summary.iterations, b.summary.iterations);
    EXPECT_EQ(a.summary.divided_steps, b.summary.divided_steps);
    EXPECT_EQ(a.summary.reached, b.summary.reached);
    EXPECT_EQ(a.summary.energy_drift, b.summary.energy_drift);
    EXPECT_EQ(a.summary.exchanged_energy, b.summary.exchanged_energy);
    EXPECT_EQ(a.summary.contact_loss, b.summary.contact_loss);
    EXPECT_EQ(a.summary.work, b.summary.work);
    ASSERT_EQ(a.summary.warnings.size(), b.summary.warnings.size()) << what;
    for (std::size_t i = 0; i < a.summary.warnings.size(); ++i)
        EXPECT_EQ(a.summary.warnings[i].text, b.summary.warnings[i].text);
    EXPECT_EQ(a.summary.errors.position, b.summary.errors.position);
    EXPECT_EQ(a.summary.errors.velocity, b.summary.errors.velocity);
    EXPECT_EQ(a.summary.errors.acceleration, b.summary.errors.acceleration);
    EXPECT_EQ(a.summary.errors.complementarity, b.summary.errors.complementarity);
    ASSERT_EQ(a.summary.sensors.size(), b.summary.sensors.size());
    for (std::size_t i = 0; i < a.summary.sensors.size(); ++i) {
        EXPECT_EQ(a.summary.sensors[i].name, b.summary.sensors[i].name);
        EXPECT_EQ(a.summary.sensors[i].final, b.summary.sensors[i].final) << what << a.summary.sensors[i].name;
        EXPECT_EQ(a.summary.sensors[i].min, b.summary.sensors[i].min);
        EXPECT_EQ(a.summary.sensors[i].max, b.summary.sensors[i].max);
    }
    ASSERT_EQ(a.summary.events.size(), b.summary.events.size()) << what;
    for (std::size_t i = 0; i < a.summary.events.size(); ++i) {
        EXPECT_EQ(a.summary.events[i].kind, b.summary.events[i].kind);
        EXPECT_EQ(a.summary.events[i].t, b.summary.events[i].t);
        EXPECT_EQ(a.summary.events[i].stop, b.summary.events[i].stop);
        EXPECT_EQ(a.summary.events[i].impulse, b.summary.events[i].impulse);
        EXPECT_EQ(a.summary.events[i].energy_lost, b.summary.events[i].energy_lost);
    }
}

// Every kind of state: contacts, stops, friction, bristles, turns, redundant joints, components; rows at steps and
// between them.
TEST_F(Checkpoint, ResumedRunsEndWithTheSameBits) {
    const Case cases[] = {
        {"double-pendulum.yaml", "global", "trapezoidal", "", 0.5, 0.01, 0.01},
        {"double-pendulum.yaml", "global", "generalized-alpha", "", 0.5, 0.01, 0.003},
        {"double-pendulum.yaml", "null-space", "rk4", "natural", 0.5, 0.01, 0.007},
        {"double-pendulum.yaml", "articulated-body", "higher-order", "", 0.5, 0.01, 0.01},
        {"loops/bricard.yaml", "null-space", "trapezoidal", "reference-point", 0.3, 0.01, 0.01},
        {"n-four-bar.yaml", "semi-recursive", "hht", "", 0.3, 0.01, 0.01},
        {"contact/stick-slip-rigid.yaml", "global", "moreau-jean", "", 0.3, 0.001, 0.01},
        {"contact/rocking-block.yaml", "global", "moreau-jean", "", 0.3, 0.002, 0.003},
        {"contact/newtons-cradle.yaml", "global", "trapezoidal", "", 1.0, 0.01, 0.01},
        {"contact/bouncing-ball.yaml", "global", "rk4", "", 1.3, 0.01, 0.01},
        {"contact/brick-on-incline.yaml",
         "augmented-lagrangian",
         "trapezoidal",
         "",
         0.6,
         0.01,
         0.013,
         {},
         {},
         {{"speed", "0.3"}}},
        {"contact/bristle-contact.yaml", "global", "trapezoidal", "", 0.2, 0.005, 0.005},
        {"contact/friction-in-joints.yaml", "global", "trapezoidal", "", 0.3, 0.01, 0.01},
        {"chain.yaml", "global", "trapezoidal", "", 0.2, 0.01, 0.01, "division", "auto:3", {{"N", "6"}}},
        {"drivers/table.yaml", "global", "trapezoidal", "", 0.5, 0.01, 0.003},
    };
    for (const Case& c : cases) {
        const std::string what = c.model + " " + c.formulation + " " + c.integrator;
        const Model model = example(c.model, c.overrides);
        RunOptions run_options;
        run_options.until = c.until;
        run_options.step = c.step;
        run_options.every = c.every;
        run_options.checkpoint_every = c.until / 4;
        const RunIdentity identity = identify_run(model, options_of(c), run_options);
        std::vector<std::string> files;
        run_options.keep = [&](const RunCheckpoint& checkpoint) {
            files.push_back(fmt::format("{}.{}", path_, files.size()));
            write_checkpoint(files.back(), identity, checkpoint);
        };
        Simulation whole(model, options_of(c));
        const RunResult expected = run(whole, run_options);
        ASSERT_TRUE(expected.summary.ok) << what << expected.summary.failure;
        ASSERT_GE(files.size(), 3U) << what;
        run_options.keep = {};
        for (std::size_t i = 0; i < files.size(); i += 2) {
            const RunCheckpoint checkpoint = read_checkpoint(files[i], identity);
            Simulation simulation(model, options_of(c), checkpoint.state);
            run_options.resume = &checkpoint;
            expect_same_run(run(simulation, run_options), expected, what);
            EXPECT_EQ(fingerprint(simulation.state()), fingerprint(whole.state())) << what;
        }
        for (const std::string& file : files) std::filesystem::remove(file);
    }
}

// The end of a run that is cut short is no place that a longer run comes to.
TEST_F(Checkpoint, IsMadeAtWholeStepsOnly) {
    RunOptions run_options;
    run_options.until = 0.255;
    run_options.step = 0.01;
    run_options.checkpoint_every = 0.255 / 3;
    std::vector<double> times;
    run_options.keep = [&](const RunCheckpoint& checkpoint) { times.push_back(checkpoint.state.t); };
    Simulation simulation(example("double-pendulum.yaml"));
    run(simulation, run_options);
    ASSERT_EQ(times.size(), 2U);
    EXPECT_NEAR(times[0], 0.09, 1e-12);
    EXPECT_NEAR(times[1], 0.17, 1e-12);
}

// ---------------------------------------------------------------- damage

// What the program does with a file: reads it, and goes on from its state.
std::string try_to_resume(const std::string& path, const Model& model, const SimulationOptions& o,
                          RunOptions run_options) {
    try {
        const RunCheckpoint checkpoint = read_checkpoint(path, identify_run(model, o, run_options));
        Simulation simulation(model, o, checkpoint.state);
        run_options.resume = &checkpoint;
        run(simulation, run_options);
        return "";
    } catch (const ModelError& error) {
        return error.what();
    }
}

// Every value in turn: gone, of another kind, empty, short, long, out of range.
TEST_F(Checkpoint, ThatIsDamagedIsRefusedWithTheReason) {
    const Model model = example("contact/stick-slip-rigid.yaml");
    const SimulationOptions o = options("global", "moreau-jean");
    RunOptions run_options;
    run_options.until = 0.02;
    run_options.step = 0.001;
    run_options.every = 0.005;
    run_options.checkpoint_every = 0.01;
    const RunIdentity identity = identify_run(model, o, run_options);
    RunCheckpoint last;
    run_options.keep = [&](const RunCheckpoint& c) {
        if (last.so_far.table.values.empty()) last = c;
    };
    Simulation simulation(model, o);
    run(simulation, run_options);
    run_options.keep = {};
    ASSERT_FALSE(last.state.contacts.empty());
    last.so_far.summary.events.push_back({ContactEvent::Kind::impact, 0.001, "stop", 1, 2});
    write_checkpoint(path_, identity, last);
    ASSERT_EQ(try_to_resume(path_, model, o, run_options), "");
    const Json good = parse();
    const auto expect_refused = [&](const Json& bad, const std::string& what) {
        put(bad.dump());
        const std::string words = try_to_resume(path_, model, o, run_options);
        EXPECT_NE(words, "") << what;
        if (!words.empty() && words.find("does not belong") == std::string::npos) {
            EXPECT_NE(words.find(path_), std::string::npos) << what << ": " << words;
        }
    };
    int tried = 0;
    const Json flat = good.flatten();
    std::vector<std::string> places;
    for (const auto& item : flat.items()) {
        Json::json_pointer pointer(item.key());
        while (!pointer.empty()) {
            if (std::find(places.begin(), places.end(), pointer.to_string()) == places.end())
                places.push_back(pointer.to_string());
            pointer.pop_back();
        }
    }
    for (const std::string& place : places) {
        const Json::json_pointer pointer(place);
        const Json& value = good.at(pointer);
        std::vector<Json> others{nullptr, Json::object(), "text", Json::array(), Json::array({1, 2})};
        if (value.is_number()) others.insert(others.end(), {1e300, -1e300, 1.5e9, -7, 1ULL << 63, "nan", "inf"});
        if (value.is_array() && !value.empty()) {
            Json shorter = value;
            shorter.erase(shorter.size() - 1);
            Json longer = value;
            longer.push_back(value[0]);
            others.insert(others.end(), {shorter, longer});
        }
        for (const Json& other : others) {
            if (other == value) continue;
            Json bad = good;
            bad.at(pointer) = other;
            expect_refused(bad, place + " = " + other.dump());
            ++tried;
        }
        Json bad = good;
        Json& parent = bad.at(pointer.parent_pointer());
        if (!parent.is_object()) continue;
        parent.erase(pointer.back());
        expect_refused(bad, place + " is gone");
    }
    EXPECT_GT(tried, 300);
    // A number of the right kind that is not the one that was written.
    Json off = good;
    off["state"]["q"][0] = off["state"]["q"][0].get<double>() + 1e-3;
    put(off.dump());
    EXPECT_NE(try_to_resume(path_, model, o, run_options).find("check sum"), std::string::npos);
    // The reasons name the place.
    const auto words_of = [&](const char* place, const Json& value) {
        Json bad = good;
        bad.at(Json::json_pointer(place)) = value;
        put(bad.dump());
        return try_to_resume(path_, model, o, run_options);
    };
    EXPECT_NE(words_of("/state/q/0", "x").find("state.q[0]: expected a number, found \"x\""), std::string::npos);
    EXPECT_NE(words_of("/summary/steps", -1).find("summary.steps: expected a whole number"), std::string::npos);
    EXPECT_NE(words_of("/values", Json::array()).find("rows of"), std::string::npos);
    // Cut off anywhere.
    const std::string text = good.dump();
    for (std::size_t size = 0; size < text.size(); size += 97) {
        put(text.substr(0, size));
        EXPECT_NE(try_to_resume(path_, model, o, run_options).find("not a whole checkpoint"), std::string::npos)
            << size;
    }
}

// A file whose sum is right may still belong to nobody: the simulation looks at every length.
TEST_F(Checkpoint, StatesThatDoNotFitTheModelAreRefused) {
    const Model model = example("contact/stick-slip-rigid.yaml");
    const SimulationOptions o = options("global", "moreau-jean");
    Simulation simulation(model, o);
    for (int i = 0; i < 5; ++i) ASSERT_TRUE(simulation.step(0.001).ok);
    const State good = simulation.state();
    EXPECT_NO_THROW(Simulation(model, o, good));
    ASSERT_FALSE(good.contacts.empty());
    std::vector<State> bad;
    for (VecX State::*field : {&State::q, &State::v, &State::a, &State::lambda}) {
        for (const int size : {0, static_cast<int>((good.*field).size()) - 1}) {
            bad.push_back(good);
            (bad.back().*field).conservativeResize(size);
        }
        bad.push_back(good);
        (bad.back().*field)[0] = NAN;
    }
    for (VecX State::*field : {&State::scheme_a, &State::previous_a}) {
        bad.push_back(good);
        bad.back().*field = VecX::Zero(1);
    }
    bad.push_back(good);
    bad.back().memory.pop_back();
    bad.push_back(good);
    bad.back().memory.front() = INFINITY;
    bad.push_back(good);
    bad.back().previous_step = -1;
    bad.push_back(good);
    bad.back().t = NAN;
    for (int ContactPoint::*field : {&ContactPoint::body_a, &ContactPoint::body_b, &ContactPoint::shape_a,
                                     &ContactPoint::shape_b, &ContactPoint::rule})
        for (const int index : {-2, 1000}) {
            bad.push_back(good);
            bad.back().contacts[0].*field = index;
        }
    bad.push_back(good);
    bad.back().contacts[0].force[1] = NAN;
    for (std::size_t i = 0; i < bad.size(); ++i) EXPECT_THROW(Simulation(model, o, bad[i]), ModelError) << i;
}

TEST_F(Checkpoint, OfOtherVersionsAreRefusedByName) {
    const RunIdentity identity{"model", {}};
    write_checkpoint(path_, identity, some_checkpoint(some_state()));
    for (const Json& version : {Json(3), Json(5), Json("4"), Json(nullptr)}) {
        Json json = parse();
        json["limber_checkpoint"] = version;
        put(json.dump());
        try {
            read_checkpoint(path_, identity);
            ADD_FAILURE() << version;
        } catch (const ModelError& error) {
            const std::string words = error.what();
            EXPECT_NE(words.find("version " + version.dump()), std::string::npos) << words;
        }
    }
}

}  // namespace
}  // namespace limber::testing
