// From the lines of the drivers to bench/results/peers.csv, docs/benchmarks.md and the plots it shows.
// Usage: peers_report LINES              in the root of the project
//        peers_report LINES --chosen     only lists the runs that the page shows: program, case and setting

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <map>
#include <set>
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
    double instructions_per_step = NAN;
    std::string note;

    /// What the case is judged by.
    double accuracy(const peers::Case& c) const { return c.largest_error < 1e9 ? error : drift; }
    bool solves(const peers::Case& c) const {
        return std::isfinite(milliseconds) && note.empty() && drift <= c.largest_drift &&
               (c.largest_error >= 1e9 || error <= c.largest_error) && open < 1e-3;
    }
    double instructions() const { return instructions_per_step * static_cast<double>(steps); }
    std::string setting() const {
        return tolerance > 0 ? fmt::format("{}, accuracy {:g}", scheme, tolerance)
                             : fmt::format("{}, {:g} ms", scheme, 1e3 * step);
    }
};

using Runs = std::map<std::string, Run>;

std::vector<std::string> split(const std::string& line, char separator) {
    std::vector<std::string> parts(1);
    for (const char letter : line) {
        if (letter == separator) {
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
        const auto p = split(line, ';');
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
            run.instructions_per_step = number(p[7]) / std::max(1.0, number(p[6]));
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
                           r.instructions_per_step, r.note);
}

std::string draw(const std::vector<const Run*>& runs, const peers::Case& c) {
    limber::Plot plot;
    plot.title = c.scene.name + ": " + c.criterion;
    plot.x_label = "CPU time (ms)";
    plot.y_label = c.largest_error < 1e9 ? c.error_name : "energy drift (J)";
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

std::string millions(double count) {
    return std::isfinite(count) ? fmt::format("{:.3g} M", 1e-6 * count) : std::string("-");
}

// A table in Markdown without the columns that say nothing in any row.
std::string without_empty_columns(const std::string& table) {
    std::vector<std::vector<std::string>> rows;
    for (const std::string& line : split(table, '\n'))
        if (!line.empty()) rows.push_back(split(line.substr(1), '|'));
    std::string text;
    for (const auto& row : rows) {
        text += '|';
        for (std::size_t k = 0; k + 1 < row.size(); ++k) {
            const bool is_empty =
                std::all_of(rows.begin() + 2, rows.end(), [&](const auto& other) { return other[k] == " - "; });
            if (!is_empty) text += row[k] + '|';
        }
        text += '\n';
    }
    return text;
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

bool is_tree(const peers::Case& c) {
    return c.scene.loops.empty() && !c.scene.has_contacts();
}

// The quickest per step of each engine's schemes with one evaluation per step.
std::vector<const Run*> choose_single_evaluations(const std::vector<const Run*>& runs) {
    std::map<std::string, const Run*> best;
    for (const Run* r : runs) {
        const bool is_single = r->scheme.find("Euler") != std::string::npos ||
                               r->scheme.find("-euler") != std::string::npos || r->scheme == "btMultiBody";
        if (!is_single || !std::isfinite(r->milliseconds) || !r->note.empty()) continue;
        const Run*& chosen = best[r->engine];
        const auto per_step = [](const Run* x) {
            return x->milliseconds / static_cast<double>(std::max(1L, x->steps));
        };
        if (chosen == nullptr || per_step(r) < per_step(chosen)) chosen = r;
    }
    std::vector<const Run*> list;
    for (const auto& [engine, run] : best) list.push_back(run);
    return list;
}

std::string describe(const std::vector<const Run*>& runs, const peers::Case& c) {
    const bool touches = c.scene.has_contacts();
    const std::string others = touches ? "which touch" : fmt::format("{} loops", c.scene.loops.size());
    std::string text =
        fmt::format("## {}\n\n{} bodies, {}; {}.\n\n", c.scene.name, c.scene.links.size(), others, c.criterion);
    std::string table = fmt::format(
        "| engine | setting | time | per step | instructions | per step | energy drift | {} | {} | "
        "|\n|---|---|---|---|---|---|---|---|---|---|\n",
        touches ? "deepest overlap" : "loops open by", c.error_name);
    const auto value = [](double x, const char* unit) {
        return std::isfinite(x) ? fmt::format("{:.2g}{}", x, unit) : std::string("-");
    };
    for (const Run* r : choose(runs, c))
        table +=
            fmt::format("| {} | {} | {:.3g} ms | {:.3g} us | {} | {} | {} | {} | {} | {} |\n", r->engine, r->setting(),
                        r->milliseconds, 1e3 * r->milliseconds / std::max(1L, r->steps), millions(r->instructions()),
                        millions(r->instructions_per_step), c.is_conservative ? value(r->drift, " J") : "-",
                        c.scene.loops.empty() && !touches ? "-" : value(r->open, " m"), value(r->error, ""),
                        r->solves(c) ? "" : (r->note.empty() ? "does not get there" : "fails: " + r->note));
    text += without_empty_columns(table);
    if (!c.remark.empty()) text += "\n" + c.remark + "\n";
    if (!c.scene.name.starts_with("chain-")) text += fmt::format("\n![{0}](images/{1})\n", c.scene.name, draw(runs, c));
    return text + "\n";
}

std::string summary(const std::map<std::string, std::vector<const Run*>>& by_case) {
    std::string text =
        "| case | Limber | next best | ratio | instructions | of the next best | ratio "
        "|\n|---|---|---|---|---|---|---|\n";
    const auto ratio = [](double own, double other) {
        return std::isfinite(own) && std::isfinite(other) ? fmt::format("{:.2g}", other / own) : std::string("-");
    };
    for (const std::string& name : peers::case_names()) {
        const auto it = by_case.find(name);
        if (it == by_case.end()) continue;
        const peers::Case c = peers::make_case(name);
        const Run none;
        const Run* own = &none;
        const Run* other = &none;
        for (const Run* r : choose(it->second, c)) {
            if (!r->solves(c)) continue;
            const Run*& place = r->engine.starts_with("Limber") ? own : other;
            if (place == &none) place = r;
        }
        const auto show = [](const Run* r) {
            return std::isfinite(r->milliseconds) ? fmt::format("{:.3g} ms", r->milliseconds) : std::string("-");
        };
        text += fmt::format("| [{0}](#{0}) | {1} | {2} | {3} | {4} | {5} | {6} |\n", name, show(own),
                            other == &none ? "no other solves it" : fmt::format("{} {}", other->engine, show(other)),
                            ratio(own->milliseconds, other->milliseconds), millions(own->instructions()),
                            millions(other->instructions()), ratio(own->instructions(), other->instructions()));
    }
    return without_empty_columns(text);
}

// Trees with schemes that evaluate forces once per step, whatever the accuracy.
std::string compare_single_evaluations(const std::map<std::string, std::vector<const Run*>>& by_case) {
    std::string text = "| case | engine | setting | per step | instructions per step |\n|---|---|---|---|---|\n";
    for (const std::string& name : peers::case_names()) {
        const auto it = by_case.find(name);
        if (it == by_case.end() || !is_tree(peers::make_case(name))) continue;
        for (const Run* r : choose_single_evaluations(it->second))
            text += fmt::format("| {} | {} | {} | {:.3g} us | {} |\n", name, r->engine, r->setting(),
                                1e3 * r->milliseconds / std::max(1L, r->steps), millions(r->instructions_per_step));
    }
    return without_empty_columns(text);
}

// What the page shows and what its instructions are counted of: program, case and setting.
void list_chosen(const std::map<std::string, std::vector<const Run*>>& by_case) {
    for (const auto& [name, runs] : by_case) {
        const peers::Case c = peers::make_case(name);
        std::set<const Run*> chosen;
        for (const Run* r : choose(runs, c)) chosen.insert(r);
        if (is_tree(c))
            for (const Run* r : choose_single_evaluations(runs)) chosen.insert(r);
        for (const Run* r : chosen) {
            if (!std::isfinite(r->milliseconds)) continue;
            std::string program = r->engine.substr(0, r->engine.find(' '));
            for (char& letter : program) letter = static_cast<char>(std::tolower(letter));
            std::cout << fmt::format("{} {} {};{:.10g};{:g}\n", program, name, r->scheme, r->step, r->tolerance);
        }
    }
}

}  // namespace

int main(int argc, char** argv) {
    const bool only_chosen = argc == 3 && std::string(argv[2]) == "--chosen";
    if (argc != 2 && !only_chosen) {
        std::cerr << "usage: peers_report LINES [--chosen]\n";
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
    if (only_chosen) {
        list_chosen(by_case);
        return 0;
    }
    write_csv(runs, machine);
    std::ofstream page("docs/benchmarks.md");
    page
        << "# Limber beside other engines\n\n"
           "Made by `bench/peers/run`, which installs the other engines from Debian, builds one small driver for each "
           "and runs all of them in turn "
           "on this machine:\n\n"
        << machine
        << "\n\nEvery case says first how accurate an answer must be; an engine is shown with the quickest of its "
           "settings that gets there, or, if none "
           "does, with its most accurate one and what went wrong. Energy, loops, overlaps and errors are computed from "
           "the motion of the bodies by the same code for all, at a hundred instants. Times are CPU times of the "
           "stepping alone. All runs are in "
           "`bench/results/peers.csv`, "
           "the settings tried in `bench/peers/engine_*.cpp`. Limber computes planar cases as planar ones, which the "
           "others do not offer; Debian "
           "builds Simbody and DART with assertions on, which costs them a factor of up to three.\n\n"
           "Time of the best setting that gets there; ratio: how many times quicker Limber is than the quickest of "
           "the others. Instructions are those of the whole run, counted by callgrind over its first steps, "
           "of Limber as "
           "it is shipped (its times are those of a build for this processor); a busy machine does not change them.\n\n"
        << summary(by_case)
        << "\n## One evaluation per step\n\n"
           "Trees, each engine with the quickest of its schemes that evaluate forces once per step; all are of first "
           "order, so this "
           "compares the cost of a step and nothing else.\n\n"
        << compare_single_evaluations(by_case) << "\n";
    for (const std::string& name : peers::case_names())
        if (const auto it = by_case.find(name); it != by_case.end())
            page << describe(it->second, peers::make_case(name));
    std::cout << "wrote bench/results/peers.csv and docs/benchmarks.md\n";
}
