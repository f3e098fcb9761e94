// From the lines of the drivers to bench/results/peers.csv, docs/benchmarks.md and the plots it shows.
// Usage: peers_report LINES, in the root of the project

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <map>
#include <sstream>
#include <vector>

#include "cases.hpp"
#include "limber/io/svg_plot.hpp"

namespace {

struct Run {
    std::string engine, name, scheme;
    double step = 0, tolerance = 0;
    long steps = 0;
    double milliseconds = INFINITY;
    double drift = NAN, open = NAN, error = NAN;
    double instructions = NAN;
    std::string note;

    /// What the case is judged by.
    double accuracy(const peers::Case& c) const { return c.largest_error < 1e9 ? error : drift; }
    bool solves(const peers::Case& c) const {
        return std::isfinite(milliseconds) && note.empty() && drift <= c.largest_drift &&
               (c.largest_error >= 1e9 || error <= c.largest_error) && open < 1e-3;
    }
    std::string setting() const {
        return tolerance > 0 ? fmt::format("{}, accuracy {:g}", scheme, tolerance)
                             : fmt::format("{}, {:g} ms", scheme, 1e3 * step);
    }
};

using Runs = std::map<std::string, Run>;

std::vector<std::string> split(const std::string& line) {
    std::vector<std::string> parts(1);
    for (const char letter : line) {
        if (letter == ';') {
            parts.emplace_back();
        } else {
            parts.back() += letter;
        }
    }
    return parts;
}

double number(const std::string& text) {
    return text.empty() ? NAN : std::strtod(text.c_str(), nullptr);
}

Runs read(std::istream& in, std::string& machine) {
    Runs runs;
    for (std::string line; std::getline(in, line);) {
        if (line.starts_with("# ")) {
            machine = line.substr(2);
            continue;
        }
        const auto p = split(line);
        if (p.size() < 8) continue;
        Run& run = runs[p[1] + p[2] + p[3] + p[4] + p[5]];
        run.engine = p[1];
        run.name = p[2];
        run.scheme = p[3];
        run.step = number(p[4]);
        run.tolerance = number(p[5]);
        if (p[0] == "accuracy" && p.size() >= 9) {
            run.drift = number(p[6]);
            run.open = number(p[7]);
            run.error = number(p[8]);
            if (p.size() > 9) run.note = p[9];
        } else if (p[0] == "time") {
            run.steps = std::lround(number(p[6]));
            run.milliseconds = std::min(run.milliseconds, number(p[7]));
        } else if (p[0] == "count") {
            run.instructions = number(p[7]);
        }
    }
    return runs;
}

void write_csv(const Runs& runs, const std::string& machine) {
    std::ofstream out("bench/results/peers.csv");
    out << "# " << machine
        << "\nengine,case,scheme,step,tolerance,steps,ms,us per step,energy drift,loops open by,error,instructions per "
           "step,note\n";
    for (const auto& [key, r] : runs)
        out << fmt::format("{},{},{},{:g},{:g},{},{:.4g},{:.4g},{:.3g},{:.3g},{:.3g},{:.4g},\"{}\"\n", r.engine, r.name,
                           r.scheme, r.step, r.tolerance, r.steps, r.milliseconds,
                           1e3 * r.milliseconds / std::max(1L, r.steps), r.drift, r.open, r.error,
                           r.instructions / std::max(1L, r.steps), r.note);
}

std::string draw(const std::vector<const Run*>& runs, const peers::Case& c) {
    limber::Plot plot;
    plot.title = c.scene.name + ": " + c.criterion;
    plot.x_label = "CPU time (ms)";
    plot.y_label = c.largest_error < 1e9 ? "error" : "energy drift (J)";
    plot.log_x = plot.log_y = true;
    std::map<std::string, std::vector<std::pair<double, double>>> points;
    for (const Run* r : runs)
        if (std::isfinite(r->milliseconds) && std::isfinite(r->accuracy(c)) && r->accuracy(c) > 0)
            points[r->engine].emplace_back(r->milliseconds, r->accuracy(c));
    for (auto& [engine, list] : points) {
        std::sort(list.begin(), list.end());
        limber::PlotSeries series;
        series.name = engine;
        series.has_markers = true;
        for (const auto& [x, y] : list) {
            // Runs that a quicker one beats say nothing.
            if (!series.y.empty() && y >= series.y.back()) continue;
            series.x.push_back(x);
            series.y.push_back(y);
        }
        plot.series.push_back(std::move(series));
    }
    const std::string file = "benchmarks-" + c.scene.name + ".svg";
    std::ofstream("docs/images/" + file) << limber::render_svg(plot);
    return file;
}

// The quickest run of each engine that solves the case, or failing that its most accurate one.
std::vector<const Run*> choose(const std::vector<const Run*>& runs, const peers::Case& c) {
    std::map<std::string, const Run*> best;
    for (const Run* r : runs) {
        const Run*& chosen = best[r->engine];
        const auto rank = [&](const Run* x) {
            const double accuracy = x->accuracy(c);
            return std::pair(x->solves(c) ? 0 : 1,
                             x->solves(c) ? x->milliseconds : (std::isfinite(accuracy) ? accuracy : 1e300));
        };
        if (chosen == nullptr || rank(r) < rank(chosen)) chosen = r;
    }
    std::vector<const Run*> list;
    for (const auto& [engine, run] : best) list.push_back(run);
    std::sort(list.begin(), list.end(), [&](const Run* a, const Run* b) {
        return std::pair(!a->solves(c), a->milliseconds) < std::pair(!b->solves(c), b->milliseconds);
    });
    return list;
}

std::string describe(const std::vector<const Run*>& runs, const peers::Case& c) {
    std::string text = fmt::format("## {}\n\n{} bodies, {} loops; {}.\n\n", c.scene.name, c.scene.links.size(),
                                   c.scene.loops.size(), c.criterion);
    text +=
        "| engine | setting | time | per step | energy drift | loops open by | error | "
        "|\n|---|---|---|---|---|---|---|---|\n";
    const auto value = [](double x, const char* unit) {
        return std::isfinite(x) ? fmt::format("{:.2g}{}", x, unit) : std::string("-");
    };
    for (const Run* r : choose(runs, c))
        text += fmt::format("| {} | {} | {:.3g} ms | {:.3g} us | {} | {} | {} | {} |\n", r->engine, r->setting(),
                            r->milliseconds, 1e3 * r->milliseconds / std::max(1L, r->steps),
                            c.is_conservative ? value(r->drift, " J") : "-",
                            c.scene.loops.empty() ? "-" : value(r->open, " m"), value(r->error, ""),
                            r->solves(c) ? "" : (r->note.empty() ? "does not get there" : "fails: " + r->note));
    if (!c.scene.name.starts_with("chain-")) text += fmt::format("\n![{0}](images/{1})\n", c.scene.name, draw(runs, c));
    return text + "\n";
}

std::string summary(const std::map<std::string, std::vector<const Run*>>& by_case) {
    std::string text = "| case | Limber | next best | ratio |\n|---|---|---|---|\n";
    for (const std::string& name : peers::case_names()) {
        const auto it = by_case.find(name);
        if (it == by_case.end()) continue;
        const peers::Case c = peers::make_case(name);
        const Run* own = nullptr;
        const Run* other = nullptr;
        for (const Run* r : choose(it->second, c)) {
            if (!r->solves(c)) continue;
            const Run*& place = r->engine.starts_with("Limber") ? own : other;
            if (place == nullptr) place = r;
        }
        const auto show = [](const Run* r) {
            return r == nullptr ? std::string("-") : fmt::format("{:.3g} ms", r->milliseconds);
        };
        text += fmt::format(
            "| [{0}](#{0}) | {1} | {2} | {3} |\n", name, show(own),
            other == nullptr ? "no other solves it" : fmt::format("{} {}", other->engine, show(other)),
            own == nullptr || other == nullptr ? "-" : fmt::format("{:.2g}", other->milliseconds / own->milliseconds));
    }
    return text;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 2) {
        std::cerr << "usage: peers_report LINES\n";
        return 1;
    }
    std::ifstream in(argv[1]);
    std::string machine;
    const Runs runs = read(in, machine);
    if (runs.empty()) {
        std::cerr << "peers_report: no runs in " << argv[1] << "\n";
        return 1;
    }
    std::map<std::string, std::vector<const Run*>> by_case;
    for (const auto& [key, run] : runs) by_case[run.name].push_back(&run);
    write_csv(runs, machine);
    std::ofstream page("docs/benchmarks.md");
    page << "# Limber beside other engines\n\n"
            "Made by `bench/peers/run`, which installs the other engines from Debian, builds one small driver for each "
            "and runs all of them in turn "
            "on this machine:\n\n"
         << machine
         << "\n\nEvery case says first how accurate an answer must be; an engine is shown with the quickest of its "
            "settings that gets there, or, if none "
            "does, with its most accurate one and what went wrong. Energy, loops and errors are computed from the "
            "motion of the bodies by the "
            "same code for all, at a hundred instants. Times are CPU times of the stepping alone. All runs are in "
            "`bench/results/peers.csv`, "
            "the settings tried in `bench/peers/engine_*.cpp`. Limber computes planar cases as planar ones, which the "
            "others do not offer; Debian "
            "builds Simbody and DART with assertions on, which costs them a factor of up to three.\n\n"
            "Time of the best setting that gets there; ratio: how many times quicker Limber is than the quickest of "
            "the others.\n\n"
         << summary(by_case) << "\n";
    for (const std::string& name : peers::case_names())
        if (const auto it = by_case.find(name); it != by_case.end())
            page << describe(it->second, peers::make_case(name));
    std::cout << "wrote bench/results/peers.csv and docs/benchmarks.md\n";
}
