// How costs grow with the number of bodies: time per step, memory per body and time to compile the chain of N rods, in
// every formulation, with fitted exponents. Writes docs/studies/growth.md and its plots.
//
//   limber_growth_study ROOT [LARGEST]     the root of the project; chains up to LARGEST rods (10000)

#include <fmt/format.h>
#include <malloc.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <iostream>
#include <limits>

#include "limber/io/svg_plot.hpp"
#include "support.hpp"
#include "support/measures.hpp"

namespace limber::bench {
namespace {

constexpr double step = 1e-3;
// What one measurement may take, in seconds: dense formulations stop before the largest chains.
constexpr double longest_run = 4;
constexpr double largest_memory = 2e9;

double cpu_seconds() {
    timespec now{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

double allocated_bytes() {
    const auto info = mallinfo2();
    return static_cast<double>(info.uordblks + info.hblkhd);
}

struct Point {
    int bodies = 0;
    double compile = 0, step = 0;  // s
    double memory = 0;             // bytes

    /// Of measuring it.
    double cost() const { return compile + 5 * step; }
};

struct Curve {
    std::string formulation, integrator;
    std::vector<Point> points;
    std::string failure;  // of the next larger chain
};

Point measure(const Model& model, int bodies, const SimulationOptions& o) {
    Point point;
    point.bodies = bodies;
    const double bytes = allocated_bytes();
    const double start = cpu_seconds();
    Simulation simulation(model, o);
    point.compile = cpu_seconds() - start;
    point.memory = allocated_bytes() - bytes;
    examples::advance_or_throw(simulation, step, step);
    // The quickest of several batches, each long enough for the clock.
    point.step = std::numeric_limits<double>::infinity();
    double spent = 0;
    for (int batch = 0; batch < 5 && spent < longest_run / 4; ++batch) {
        double taken = 0;
        int steps = 0;
        while (taken < 2e-3) {
            const double before = cpu_seconds();
            if (const StepReport report = simulation.step(step); !report.ok) throw std::runtime_error(report.reason);
            taken += cpu_seconds() - before;
            ++steps;
        }
        point.step = std::min(point.step, taken / steps);
        spent += taken;
    }
    return point;
}

/// Slope of the logarithms over the points with at least `from` bodies.
double fit_exponent(const std::vector<Point>& points, double Point::*quantity, int from) {
    double n = 0;
    double x = 0;
    double y = 0;
    double xx = 0;
    double xy = 0;
    for (const Point& p : points) {
        if (p.bodies < from) continue;
        const double u = std::log(p.bodies);
        const double w = std::log(p.*quantity);
        n += 1;
        x += u;
        y += w;
        xx += u * u;
        xy += u * w;
    }
    return n < 2 ? NAN : (n * xy - x * y) / (n * xx - x * x);
}

Curve follow(const std::string& formulation, const std::string& integrator, const std::vector<int>& sizes) {
    Curve curve{formulation, integrator, {}, {}};
    for (const int bodies : sizes) {
        if (curve.points.size() >= 2) {
            // The next step of the ladder is as much dearer as the last one was.
            const Point& last = curve.points.back();
            const Point& before = curve.points[curve.points.size() - 2];
            if (last.cost() * last.cost() / before.cost() > longest_run ||
                last.memory * last.memory / before.memory > largest_memory)
                break;
        }
        std::cerr << fmt::format("{} {} {}\n", formulation, integrator, bodies);
        try {
            curve.points.push_back(measure(example("chain.yaml", {{"N", std::to_string(bodies)}}), bodies,
                                           options(formulation, integrator)));
        } catch (const std::exception& error) {
            curve.failure = error.what();
            break;
        }
    }
    return curve;
}

std::string exponent(double value) {
    return std::isfinite(value) ? fmt::format("{:.2f}", value) : std::string("-");
}

std::string tabulate(const std::vector<Curve>& curves, const std::vector<int>& sizes, double Point::*quantity,
                     double unit, bool per_body) {
    std::string text = "| formulation | integrator |";
    std::string rule = "|---|---|";
    for (const int bodies : sizes) {
        text += fmt::format(" {} |", bodies);
        rule += "---|";
    }
    text += " exponent |\n" + rule + "---|\n";
    for (const Curve& curve : curves) {
        text += fmt::format("| `{}` | `{}` |", curve.formulation, curve.integrator);
        for (std::size_t i = 0; i < sizes.size(); ++i) {
            if (i < curve.points.size()) {
                const Point& p = curve.points[i];
                text += fmt::format(" {:.3g} |", p.*quantity * unit / (per_body ? p.bodies : 1));
            } else {
                text += " - |";
            }
        }
        text += fmt::format(" {} |\n", exponent(fit_exponent(curve.points, quantity, 100)));
    }
    return text;
}

void draw(const std::vector<Curve>& curves, double Point::*quantity, double unit, const std::string& label,
          const std::string& file) {
    Plot plot;
    plot.title = "Chain of N rods: " + label;
    plot.x_label = "N";
    plot.y_label = label;
    plot.log_x = plot.log_y = true;
    for (const Curve& curve : curves) {
        PlotSeries series;
        series.name = curve.formulation + " " + curve.integrator;
        series.has_markers = true;
        for (const Point& p : curve.points) {
            series.x.push_back(p.bodies);
            series.y.push_back(p.*quantity * unit);
        }
        plot.series.push_back(std::move(series));
    }
    std::ofstream(file) << render_svg(plot);
}

std::string cpu_name() {
    std::ifstream in("/proc/cpuinfo");
    for (std::string line; std::getline(in, line);)
        if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
    return "unknown processor";
}

void run(const std::string& root, int largest) {
    std::vector<int> sizes;
    for (const int bodies : {10, 30, 100, 300, 1000, 3000, 10000})
        if (bodies <= largest) sizes.push_back(bodies);
    std::vector<Curve> curves;
    for (const FormulationInfo& info : formulations())
        curves.push_back(follow(info.name, info.is_step_solver() ? "trapezoidal" : "rk4", sizes));
    curves.push_back(follow("articulated-body", "semi-implicit-euler", sizes));

    const std::string folder = root + "/docs/studies/";
    draw(curves, &Point::step, 1e6, "time per step (us)", folder + "growth-step.svg");
    draw(curves, &Point::compile, 1e3, "time to compile (ms)", folder + "growth-compile.svg");
    std::ofstream page(folder + "growth.md");
    page << "# Growth with the number of bodies\n\n"
            "Made by `bench/growth`: the chain of N rods (`examples/chain.yaml`), steps of 1 ms, every formulation in "
            "the coordinates it takes "
            "by default; one thread, "
         << cpu_name()
         << ". Exponents are fitted from 100 rods on. Formulations that would take too long or too much memory for "
            "larger "
            "chains are left out there.\n\n## Time per step (us)\n\n"
         << tabulate(curves, sizes, &Point::step, 1e6, false)
         << "\n![Time per step](growth-step.svg)\n\n## Memory per body (kB)\n\n"
            "What a simulation holds after it has been compiled; the exponent is that of the whole.\n\n"
         << tabulate(curves, sizes, &Point::memory, 1e-3, true)
         << "\n## Time to compile (ms)\n\nFrom a model in memory to a simulation that can step. In relative "
            "coordinates every "
            "coordinate of a chain moves all rods behind it, so that none of the N (N + 1) / 2 entries of its mass "
            "matrix is zero: 5e5 at "
            "N = 1000. `hybrid`, `semi-recursive` and `composite-body` hold them, which takes time and memory that "
            "grow with N^2 whatever the "
            "code, and factorise them in every step, which grows with N^3. `articulated-body` and `canonical-momenta` "
            "have no such "
            "matrix.\n\n"
         << tabulate(curves, sizes, &Point::compile, 1e3, false) << "\n![Time to compile](growth-compile.svg)\n";
    for (const Curve& curve : curves)
        if (!curve.failure.empty())
            page << fmt::format("\n`{}` fails with the next larger chain: {}\n", curve.formulation, curve.failure);
}

}  // namespace
}  // namespace limber::bench

int main(int argc, char** argv) {
    if (argc < 2) {
        std::cerr << "usage: limber_growth_study ROOT [LARGEST]\n";
        return 1;
    }
    limber::bench::run(argv[1], argc > 2 ? std::stoi(argv[2]) : 10000);
}
