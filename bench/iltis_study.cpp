// The study of Cuadrado and Dopico on our road: formulations x integrators x parameter x step on the Iltis, 8 s of ramp and stairs. Writes
// docs/studies/iltis.md, its plot and bench/results/iltis.csv.
//
// Error: eq. (43) of the paper, against the same formulation with the trapezoidal rule at 0.001 s; runs below 5e-3 count.

#include <fmt/format.h>

#include <cmath>
#include <cstdio>
#include <fstream>
#include <map>
#include <sstream>

#include "limber/analysis/study_report.hpp"
#include "support.hpp"

namespace limber::bench {
namespace {

constexpr double until = 8;
constexpr double accepted_error = 5e-3;

StudyOptions options_of(const std::string& formulation) {
    StudyOptions o;
    o.simulation.from_equilibrium = true;
    o.simulation.integrator_options.max_halvings = 3;  // runs that struggle are not of interest here
    o.simulation.formulation_options.use_approximate_tangent = formulation != "global";  // as the paper does
    o.until = until;
    o.sensors = {"chassis.z", "wheel00.z", "wheel11.z"};
    o.longest_run = 3;
    o.repeats = 2;
    return o;
}

// What the paper printed: most efficient run per formulation and integrator (parameter, step, CPU s, x real time, error in 1e-3).
struct Printed {
    const char* parameter;
    double step, cpu, real_time, error;
};
const std::map<std::pair<std::string, std::string>, Printed>& printed() {
    static const std::map<std::pair<std::string, std::string>, Printed> list{
        {{"global", "trapezoidal"}, {"-", 0.0175, 3.86, 2.07, 1.536}},
        {{"global", "newmark"}, {"-0.62", 0.045, 1.74, 4.60, 3.994}},
        {{"global", "hht"}, {"0.15", 0.03, 2.62, 3.05, 2.468}},
        {{"global", "generalized-alpha"}, {"0", 0.025, 2.77, 2.89, 2.428}},
        {{"semi-recursive", "trapezoidal"}, {"-", 0.025, 0.56, 14.29, 4.040}},
        {{"semi-recursive", "newmark"}, {"-0.28", 0.0225, 0.55, 14.55, 1.717}},
        {{"semi-recursive", "hht"}, {"0.01", 0.025, 0.57, 14.04, 4.001}},
        {{"semi-recursive", "generalized-alpha"}, {"0", 0.0225, 0.68, 11.76, 3.454}},
        {{"hybrid", "trapezoidal"}, {"-", 0.035, 0.37, 21.62, 4.508}},
        {{"hybrid", "newmark"}, {"-0.52", 0.05, 0.25, 32.00, 4.117}},
        {{"hybrid", "hht"}, {"0.35", 0.0425, 0.33, 24.24, 2.450}},
        {{"hybrid", "generalized-alpha"}, {"0", 0.05, 0.28, 28.57, 2.834}},
        {{"articulated-body", "trapezoidal"}, {"-", 0.0075, 2.30, 3.48, NAN}},
    };
    return list;
}

class IltisStudy {
public:
    void sweep(bool is_full) {
        const Model model = example("iltis/ramp-and-stairs.yaml");
        const auto values = [&](const char* paper, const char* coarse) {
            return parse_values(is_full ? paper : coarse);
        };
        const std::vector<Sweep> sweeps{{"xi", values("-1:0:0.02", "-1:0:0.2")},
                                        {"delta", values("0:0.33:0.01,1/3", "0:0.3:0.1,1/3")},
                                        {"rho", values("0:1:0.02", "0:1:0.25")}};
        for (const std::string formulation : {"global", "semi-recursive", "hybrid"}) {
            std::vector<StudyPoint> points =
                make_study_points({formulation}, {"trapezoidal"}, parse_values("0.0025:0.05:0.0025"));
            const auto others = make_study_points({formulation}, {"newmark", "hht", "generalized-alpha"},
                                                  values("0.01:0.05:0.0025", "0.01:0.05:0.005"), sweeps);
            points.insert(points.end(), others.begin(), others.end());
            add(run_study(model, points, options_of(formulation), 0.001));
        }
        // Fixed-point iteration: the paper's fully recursive method.
        add(run_study(
            model,
            make_study_points({"articulated-body"}, {"trapezoidal"}, {0.001, 0.0015, 0.002, 0.0025, 0.005, 0.0075}),
            options_of("articulated-body"), 0.0005));
    }

    /// The runs of an earlier study, to draw its plot anew.
    void read(const std::string& root) {
        std::ostringstream text;
        text << std::ifstream(root + "/bench/results/iltis.csv").rdbuf();
        runs_ = parse_study_csv(text.str());
    }

    void write(const std::string& root, const std::string& machine) const {
        std::vector<StudyRun> all = fine_;
        all.insert(all.end(), runs_.begin(), runs_.end());
        std::ofstream(root + "/bench/results/iltis.csv") << "# " << machine << "\n" << format_study_csv(all, until);
        write_plot(root + "/docs/studies/iltis.svg");
        write_page(root + "/docs/studies/iltis.md", machine);
    }

    void write_plot(const std::string& path) const {
        std::vector<StudyRun> drawn;
        for (const StudyRun& run : runs_)
            if (run.point.integrator == "trapezoidal") drawn.push_back(run);
        Plot plot = make_work_precision_plot(drawn, "Iltis on ramp and stairs, steps of 1 to 50 ms");
        plot.x_label = "CPU time [s] for 8 s of motion";
        plot.y_label = "error (eq. 43)";
        std::ofstream(path) << render_svg(plot);
    }

private:
    void add(const Study& study) {
        for (const StudyRun& run : study.references) {
            if (run.is_done()) {
                fine_.push_back(run);
            } else {
                fmt::print(stderr, "{}: the reference run failed: {}\n", run.point.formulation, run.failure);
            }
        }
        runs_.insert(runs_.end(), study.runs.begin(), study.runs.end());
        fmt::print(stderr, "{:<18} {} runs\n", study.runs.front().point.formulation, study.runs.size());
    }

    const StudyRun* most_efficient(const std::string& formulation, const std::string& integrator = "") const {
        return find_most_efficient(runs_, accepted_error, formulation, integrator);
    }

    void write_page(const std::string& path, const std::string& machine) const {
        std::ofstream out(path);
        out << "# The Iltis on ramp and stairs: the study of the hybrid-formulation paper, re-made\n\n"
               "Made by `bench/iltis`; all runs are in [iltis.csv](../../bench/results/iltis.csv). Vehicle and road: "
               "`examples/iltis/ramp-and-stairs.yaml`, 8 s at 5 m/s from static\nequilibrium, ten degrees of freedom. "
               "The paper "
               "only draws its road, so steps and errors compare in kind, not digit by digit; its times are those of a "
               "1.4 GHz "
               "Athlon of 2003.\n\nError by equation (43) against the same formulation with the trapezoidal rule at "
               "0.001 s; runs "
               "below 5e-3 count, and the table shows the fastest of\nthem over all steps and parameters.\n\n"
            << "Machine: " << machine << ". One thread.\n\n![work and precision](iltis.svg)\n";
        int table = 4;
        for (const std::string formulation : {"global", "semi-recursive", "hybrid"}) {
            out << fmt::format("\n## Table {}: {}\n\n", table++, formulation) << header();
            for (const std::string integrator : {"trapezoidal", "newmark", "hht", "generalized-alpha"})
                write_row(out, integrator, most_efficient(formulation, integrator),
                          printed().at({formulation, integrator}));
        }
        out << "\n## Table 1: trapezoidal rule\n\n" << header();
        for (const std::string formulation : {"global", "semi-recursive", "hybrid", "articulated-body"})
            write_row(out, formulation, most_efficient(formulation, "trapezoidal"),
                      printed().at({formulation, "trapezoidal"}));
        out << "\n`articulated-body` runs the trapezoidal rule by fixed-point iteration, the paper's fully recursive "
               "method; it needs "
               "steps small enough for the bump stops.\n"
               "\n## Table 7: the fastest of each\n\n| | scheme | step [s] | CPU [s] | x real time | paper: x real "
               "time |\n"
               "|---|---|---|---|---|---|\n";
        for (const auto& [formulation, paper] :
             {std::pair{"hybrid", 32.0}, {"semi-recursive", 14.55}, {"global", 4.60}}) {
            const StudyRun* best = most_efficient(formulation);
            if (best == nullptr) continue;
            out << fmt::format("| {} | {} | {:g} | {:.4f} | {:.0f} | {:g} |\n", formulation, best->point.integrator,
                               best->point.step, best->cpu_time, until / best->cpu_time, paper);
        }
        out << "\n## Hardware in the loop: steps of 1 ms, trapezoidal rule\n\n| | us per step | slowest step [us] | x "
               "real time |\n"
               "|---|---|---|---|\n";
        for (const StudyRun& run : fine_)
            out << fmt::format("| {}{} | {:.1f} | {:.0f} | {:.0f} |\n", run.point.formulation,
                               run.point.step < 0.001 ? " (0.5 ms)" : "", 1e6 * run.cpu_time * run.point.step / until,
                               1e6 * run.slowest_step, until / run.cpu_time);
        const StudyRun* hybrid = most_efficient("hybrid");
        const StudyRun* global = most_efficient("global");
        if (hybrid != nullptr && global != nullptr)
            out << fmt::format(
                "\nThe hybrid formulation is {:.1f} times as fast as the global one at their best (paper: {:.1f}). Our "
                "global "
                "formulation is\nsparse and shares points, so it loses less than the paper's.\n",
                global->cpu_time / hybrid->cpu_time, 1.74 / 0.25);
    }

    static std::string header() {
        return "| | parameter | step [s] | CPU [s] | x real time | error [1e-3] | paper: parameter | step | CPU | x "
               "real time | "
               "error |\n|---|---|---|---|---|---|---|---|---|---|---|\n";
    }

    static void write_row(std::ofstream& out, const std::string& name, const StudyRun* run, const Printed& paper) {
        if (run == nullptr) {
            out << fmt::format("| {} | no accepted run | | | | ", name);
        } else {
            const std::string parameter =
                std::isnan(run->point.parameter) ? "-" : fmt::format("{:.2f}", run->point.parameter);
            out << fmt::format("| {} | {} | {:g} | {:.4f} | {:.0f} | {:.3f} ", name, parameter, run->point.step,
                               run->cpu_time, until / run->cpu_time, 1e3 * run->error);
        }
        out << fmt::format("| {} | {:g} | {:g} | {:g} | {} |\n", paper.parameter, paper.step, paper.cpu,
                           paper.real_time, std::isnan(paper.error) ? "-" : fmt::format("{:g}", paper.error));
    }

    std::vector<StudyRun> runs_, fine_;
};

}  // namespace
}  // namespace limber::bench

int main(int argc, char** argv) {
    if (argc < 3) {
        fmt::print(stderr, "usage: limber_iltis_study ROOT MACHINE [full|plot]\n");
        return 1;
    }
    const std::string mode = argc > 3 ? argv[3] : "";
    limber::bench::IltisStudy study;
    if (mode == "plot") {
        study.read(argv[1]);
        study.write_plot(std::string(argv[1]) + "/docs/studies/iltis.svg");
        return 0;
    }
    study.sweep(mode == "full");
    study.write(argv[1], argv[2]);
    return 0;
}
