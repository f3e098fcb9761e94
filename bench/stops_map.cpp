#include "stops_map.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <vector>

#include "support.hpp"

namespace limber::bench {
namespace {

constexpr std::array steps{4e-3, 1e-3, 2.5e-4};
constexpr int rows = 11, columns = 14;
constexpr double least_exponent = 3.5, spacing = 0.5;  // of r and rho in N/m, as powers of ten
constexpr double until = 0.75;                         // the tip comes at 0.655 s and slides along the wall

double value_at(int place) {
    return std::pow(10, least_exponent + spacing * place);
}

/// Iterations of a step in which something pushes, on average; infinite: one of them does not converge.
double count_iterations(ContactTreatment treatment, double r, double rho, double step) {
    SimulationOptions o = options("semi-recursive", "higher-order", "relative");
    o.contact_options.treatment = treatment;
    o.contact_options.action = StopAction::impulse;
    o.contact_options.stiffness = r;
    o.contact_options.rho = rho;
    Simulation simulation(example("contact/double-pendulum-wall.yaml", {{"e", "0"}}), o);
    long iterations = 0;
    long count = 0;
    while (simulation.time() < until - 0.5 * step) {
        const StepReport report = simulation.step(step);
        if (!report.ok) return INFINITY;
        if (report.events.empty() && !(sense(simulation, "tip_force") > 0)) continue;
        iterations += report.iterations;
        ++count;
    }
    return count > 0 ? static_cast<double>(iterations) / static_cast<double>(count) : NAN;
}

/// From 3 iterations, pale, to 1000, dark.
std::string colour_of(double iterations) {
    if (!std::isfinite(iterations)) return "#d0d0d0";
    const double share = std::clamp(std::log(iterations / 3) / std::log(1000.0 / 3), 0.0, 1.0);
    const auto mix = [&](double from, double to) { return static_cast<int>(std::lround(from + share * (to - from))); };
    return fmt::format("#{:02x}{:02x}{:02x}", mix(236, 0), mix(244, 60), mix(252, 140));
}

struct Panel {
    double step = 0;
    std::array<std::array<double, columns>, rows + 1> iterations{};  // by r, the first row without any, and rho
};

constexpr double cell = 26, left = 74, top = 56, gap = 40;

void draw(const Panel& panel, double x, std::string& svg) {
    const auto text = [&](double at_x, double at_y, const char* anchor, const std::string& words, int size = 11) {
        svg += fmt::format(R"(<text x="{:.1f}" y="{:.1f}" text-anchor="{}" font-size="{}">{}</text>)"
                           "\n",
                           at_x, at_y, anchor, size, words);
    };
    text(x + 0.5 * columns * cell, top - 14, "middle", fmt::format("step {:g} ms", 1e3 * panel.step), 13);
    for (int i = 0; i <= rows; ++i)
        for (int j = 0; j < columns; ++j) {
            const double y = top + (rows - i) * cell + (i == 0 ? 6 : 0);
            const double n = panel.iterations[i][j];
            svg += fmt::format(R"(<rect x="{:.1f}" y="{:.1f}" width="{}" height="{}" fill="{}"/>)"
                               "\n",
                               x + j * cell, y, cell - 1, cell - 1, colour_of(n));
            svg += fmt::format(R"(<text x="{:.1f}" y="{:.1f}" text-anchor="middle" font-size="9" fill="{}">{}</text>)"
                               "\n",
                               x + (j + 0.5) * cell, y + 0.62 * cell, n > 60 && std::isfinite(n) ? "white" : "#333",
                               std::isfinite(n) ? fmt::format("{:.0f}", n) : "-");
        }
    for (int j = 1; j < columns; j += 2)
        text(x + (j + 0.5) * cell, top + (rows + 1) * cell + 20, "middle",
             fmt::format("1e{:g}", least_exponent + spacing * j));
    text(x + 0.5 * columns * cell, top + (rows + 1) * cell + 38, "middle", "rho [N/m]", 12);
}

}  // namespace

std::string map_convergence(const std::string& svg_file) {
    std::string table =
        "| step [ms] | without r: the largest rho that converges [N/m] | fewest iterations, at r, rho [N/m] | "
        "r, rho automatic | rho automatic, no r | cells that converge |\n|---|---|---|---|---|---|\n";
    const double width = left + static_cast<double>(steps.size()) * (columns * cell + gap);
    const double height = top + (rows + 1) * cell + 70;
    std::string svg = fmt::format(
        R"(<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {0:.0f} {1:.0f}" width="{0:.0f}" height="{1:.0f}" font-family="sans-serif">
<rect width="100%" height="100%" fill="white"/>
<text x="{2:.0f}" y="20" font-size="14">Iterations of a step in contact; grey: it does not converge in 4000</text>
)",
        width, height, left);
    for (int i = 0; i <= rows; ++i)
        svg += fmt::format(R"(<text x="{:.1f}" y="{:.1f}" text-anchor="end" font-size="11">{}</text>)"
                           "\n",
                           left - 8, top + (rows - i) * cell + (i == 0 ? 6 : 0) + 0.65 * cell,
                           i == 0 ? "none" : fmt::format("1e{:g}", least_exponent + spacing * (i - 1)));
    svg += fmt::format(
        R"svg(<text transform="translate(16 {:.0f}) rotate(-90)" text-anchor="middle" font-size="12">r [N/m]</text>)svg"
        "\n",
        top + 0.5 * rows * cell);
    for (std::size_t p = 0; p < steps.size(); ++p) {
        Panel panel{.step = steps[p]};
        double largest = 0;
        double fewest = INFINITY;
        double best_r = 0;
        double best_rho = 0;
        int converged = 0;
        for (int i = 0; i <= rows; ++i)
            for (int j = 0; j < columns; ++j) {
                const double r = i == 0 ? 0 : value_at(i - 1);
                const auto treatment = i == 0 ? ContactTreatment::multipliers : ContactTreatment::augmented_lagrangian;
                const double n = count_iterations(treatment, r, value_at(j), panel.step);
                panel.iterations[i][j] = n;
                if (!std::isfinite(n)) continue;
                ++converged;
                if (i == 0) largest = std::max(largest, value_at(j));
                if (n < fewest) {
                    fewest = n;
                    best_r = r;
                    best_rho = value_at(j);
                }
            }
        draw(panel, left + static_cast<double>(p) * (columns * cell + gap), svg);
        table += fmt::format(
            "| {:g} | {:.1e} | {:.1f} at {:.1e}, {:.1e} | {:.1f} | {:.1f} | {} of {} |\n", 1e3 * panel.step, largest,
            fewest, best_r, best_rho, count_iterations(ContactTreatment::augmented_lagrangian, 0, 0, panel.step),
            count_iterations(ContactTreatment::multipliers, 0, 0, panel.step), converged, (rows + 1) * columns);
    }
    svg += "</svg>\n";
    std::ofstream(svg_file) << svg;
    return table;
}

}  // namespace limber::bench
