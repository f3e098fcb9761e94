#include "limber/analysis/study_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <sstream>

#include "limber/model/error.hpp"

namespace limber {

std::string format_study_csv(std::span<const StudyRun> runs, double until) {
    std::string csv =
        "formulation,integrator,parameter,step,cpu_s,real_time_factor,slowest_step_us,error,energy_drift,"
        "constraint_error,iterations_per_step,exchanged_energy,failure\n";
    for (const StudyRun& run : runs) {
        const StudyPoint& p = run.point;
        const std::string parameter = std::isnan(p.parameter) ? "" : fmt::format("{:.10g}", p.parameter);
        std::string failure = run.failure;
        std::replace(failure.begin(), failure.end(), '"', '\'');
        csv +=
            fmt::format("{},{},{},{:.10g},{:.6g},{:.4g},{:.4g},{:.6g},{:.6g},{:.6g},{:.4g},{:.6g},\"{}\"\n",
                        p.formulation, p.integrator, parameter, p.step, run.cpu_time,
                        run.is_done() ? until / run.cpu_time : NAN, 1e6 * run.slowest_step, run.error, run.energy_drift,
                        run.constraint_errors.position, run.iterations_per_step, run.exchanged_energy, failure);
    }
    return csv;
}

std::vector<StudyRun> parse_study_csv(const std::string& text) {
    constexpr std::size_t cells_read = 12;
    std::vector<StudyRun> runs;
    std::istringstream lines(text);
    bool is_heading = true;
    for (std::string line; std::getline(lines, line);) {
        if (line.empty() || line[0] == '#') continue;
        if (std::exchange(is_heading, false)) continue;
        std::vector<std::string> cells;
        std::istringstream stream(line);
        for (std::string cell; std::getline(stream, cell, ',');) cells.push_back(cell);
        if (cells.size() < cells_read) throw ModelError(fmt::format("not a run of a study: '{}'", line));
        StudyRun run;
        run.point = {cells[0], cells[1], cells[2].empty() ? NAN : std::stod(cells[2]), std::stod(cells[3])};
        run.cpu_time = std::stod(cells[4]);
        run.slowest_step = 1e-6 * std::stod(cells[6]);
        run.error = std::stod(cells[7]);
        run.energy_drift = std::stod(cells[8]);
        run.constraint_errors.position = std::stod(cells[9]);
        run.iterations_per_step = std::stod(cells[10]);
        run.exchanged_energy = std::stod(cells[11]);
        const auto quote = line.find('"');
        if (quote != std::string::npos) run.failure = line.substr(quote + 1, line.rfind('"') - quote - 1);
        runs.push_back(run);
    }
    return runs;
}

Plot make_work_precision_plot(std::span<const StudyRun> runs, const std::string& title) {
    Plot plot;
    plot.title = title;
    plot.x_label = "CPU time [s]";
    plot.y_label = "error";
    plot.log_x = plot.log_y = true;
    std::vector<const StudyRun*> by_time;
    for (const StudyRun& run : runs) {
        const std::string name = run.point.formulation + ", " + run.point.integrator;
        const auto is_same = [&](const PlotSeries& s) { return s.name == name; };
        if (std::none_of(plot.series.begin(), plot.series.end(), is_same)) plot.series.push_back({name, {}, {}, true});
        // Errors at the level of rounding belong to the reference itself.
        if (run.is_done() && run.error > 1e-14) by_time.push_back(&run);
    }
    std::stable_sort(by_time.begin(), by_time.end(), [](auto* a, auto* b) { return a->cpu_time < b->cpu_time; });
    for (const StudyRun* run : by_time) {
        const std::string name = run->point.formulation + ", " + run->point.integrator;
        PlotSeries& series =
            *std::find_if(plot.series.begin(), plot.series.end(), [&](const auto& s) { return s.name == name; });
        if (!series.y.empty() && run->error >= series.y.back()) continue;  // a faster one is at least as exact
        series.x.push_back(run->cpu_time);
        series.y.push_back(run->error);
    }
    std::erase_if(plot.series, [](const PlotSeries& s) { return s.x.empty(); });
    plot.width = 1100;
    plot.height = std::max(560, 120 + 20 * static_cast<int>(plot.series.size()));
    return plot;
}

}  // namespace limber
