// One engine on one case:
//
//   peer_X list                        cases and settings, one line each
//   peer_X accuracy CASE SETTING       runs it and watches energy, loops, overlaps and the answer
//   peer_X time CASE SETTING           runs it again with nothing in between, and takes the time
//   peer_X count CASE SETTING          the same for callgrind (--collect-atstart=no), over a part of the time
//
// SETTING is a number of the list, or any "scheme;step;tolerance", as in the output.
// One line of semicolon-separated numbers each; see report.cpp.

#if __has_include(<valgrind/callgrind.h>)
    #include <valgrind/callgrind.h>
#else
    #define CALLGRIND_TOGGLE_COLLECT
#endif

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <exception>
#include <stdexcept>

#include "engine.hpp"
#include "overlap.hpp"

namespace {

using namespace peers;

// About as often as that the motion is looked at.
constexpr int glances = 100;
// So many steps tell how many instructions one takes; where the engine chooses them, this part of the time.
constexpr int counted_steps = 250;
constexpr double counted_share = 0.1;

double cpu_milliseconds() {
    timespec now{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return 1e3 * static_cast<double>(now.tv_sec) + 1e-6 * static_cast<double>(now.tv_nsec);
}

Setting find_setting(const Case& c, const std::string& text) {
    const std::size_t first = text.find(';');
    if (first == std::string::npos) return settings_for(c).at(std::stoul(text));
    const std::size_t second = text.find(';', first + 1);
    if (second == std::string::npos) throw std::invalid_argument("expected scheme;step;tolerance, not " + text);
    return {text.substr(0, first), std::stod(text.substr(first + 1)), std::stod(text.substr(second + 1))};
}

void print_head(const char* what, const std::string& name, const Setting& s) {
    std::printf("%s;%s;%s;%s;%.10g;%g", what, engine_name().c_str(), name.c_str(), s.scheme.c_str(), s.step,
                s.tolerance);
}

// A whole number of steps: a step must not be cut short by being looked at.
double glance_interval(const Case& c, const Setting& setting) {
    const double interval = c.until / glances;
    return setting.step > 0 ? setting.step * std::max(1.0, std::round(interval / setting.step)) : interval;
}

void watch(const std::string& name, const Case& c, const Setting& setting) {
    double drift = 0;
    double open = 0;
    double error = NAN;
    std::string note;
    try {
        const auto engine = make_engine(c, setting);
        std::vector<LinkState> states(c.scene.links.size());
        engine->read(states);
        const double start = energy(c.scene, states);
        const double interval = glance_interval(c, setting);
        for (double t = 0; t < (1 - 1e-9) * c.until;) {
            t = std::min(t + interval, c.until);
            engine->advance(t);
            engine->read(states);
            const double now = energy(c.scene, states);
            if (!std::isfinite(now)) throw std::runtime_error("not finite at " + std::to_string(t));
            if (c.is_conservative) drift = std::max(drift, std::abs(now - start));
            open = std::max({open, open_by(c.scene, states), deepest_overlap(c.scene, states)});
        }
        if (c.error) error = c.error(states);
    } catch (const std::exception& failure) {
        note = failure.what();
        for (char& letter : note)
            if (letter == ';' || letter == '\n') letter = ' ';
        drift = open = INFINITY;
    }
    print_head("accuracy", name, setting);
    std::printf(";%.3g;%.3g;%.3g;%.100s\n", drift, open, error, note.c_str());
}

}  // namespace

int main(int argc, char** argv) {
    const std::string task = argc > 1 ? argv[1] : "";
    try {
        if (task == "list") {
            for (const std::string& name : case_names()) {
                const auto settings = settings_for(make_case(name));
                for (std::size_t i = 0; i < settings.size(); ++i) std::printf("%s %zu\n", name.c_str(), i);
            }
            return 0;
        }
        if (argc < 4) throw std::invalid_argument("usage: list | accuracy|time|count CASE SETTING");
        const std::string name = argv[2];
        const Case c = make_case(name);
        const Setting setting = find_setting(c, argv[3]);
        if (task == "accuracy") {
            watch(name, c, setting);
            return 0;
        }
        const auto engine = make_engine(c, setting);
        double until = c.until;
        if (task == "count")
            until = setting.step > 0 ? std::min(c.until, counted_steps * setting.step) : counted_share * c.until;
        const double before = cpu_milliseconds();
        CALLGRIND_TOGGLE_COLLECT;
        const long steps = engine->advance(until);
        CALLGRIND_TOGGLE_COLLECT;
        const double taken = cpu_milliseconds() - before;
        print_head(task.c_str(), name, setting);
        std::printf(";%ld;%.6g\n", steps, taken);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s: %s\n", engine_name().c_str(), error.what());
        return 1;
    }
}
