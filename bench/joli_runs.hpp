#pragma once
// The two cases of Joli, Seguy and Feng (2008), the ways to hold their links together, and how they are followed.

#include <fmt/format.h>

#include <cmath>
#include <ctime>
#include <string_view>

#include "support.hpp"
#include "support/measures.hpp"

namespace limber::bench {

inline constexpr double until = 10;

/// What the paper prints: CPU seconds on a 1.4 GHz Pentium, with forces to 1 % and to 10 %, and the largest error of
/// the rail.
struct PaperFigures {
    double cpu_one_percent, cpu_ten_percent, rail;
};

struct PaperCase {
    const char* title;
    const char* file;
    const char* sensor;
    std::span<const examples::Instant> reference;
    PaperFigures coarse, fine;  // steps of 1e-2 and 1e-3
    bool has_rail;
};

inline const PaperCase double_pendulum{"Double pendulum", "double-pendulum.yaml", "tip", examples::pendulum_tip,
                                       {5.0, 2.6, NAN},   {47.7, 25.9, NAN},      false};
inline const PaperCase slider_crank{"Slider-crank",     "slider-crank.yaml",  "slider", examples::slider_place,
                                    {7.0, 3.0, 5.1e-4}, {70.4, 30.1, 2.3e-7}, true};

struct Way {
    const char* name;
    Gluing gluing;
    Coupling coupling = Coupling::acceleration;
    int corrections = 1;
};

// The paper's coupling first, then that of the end of the step.
inline constexpr Way uzawa{"uzawa", Gluing::uzawa};
inline constexpr Way uzawa_of_paper{"uzawa, rho of the paper", Gluing::uzawa};
inline constexpr Way direct{"direct", Gluing::direct};
inline constexpr Way conjugate_gradient{"conjugate-gradient", Gluing::conjugate_gradient};
inline constexpr Way anderson{"anderson", Gluing::anderson};
inline constexpr Way corrected_twice{"direct, two corrections", Gluing::direct, Coupling::acceleration, 2};
inline constexpr Way at_the_end{"direct, end of step", Gluing::direct, Coupling::end_of_step};

inline SimulationOptions options_of(const Way& way, double tolerance) {
    SimulationOptions o =
        options(way.coupling == Coupling::acceleration ? "augmented-lagrangian" : "global", "trapezoidal");
    o.modular.division = "body";
    o.modular.gluing = way.gluing;
    o.modular.coupling = way.coupling;
    o.modular.tolerance = tolerance;
    o.modular.max_evaluations = 5000;
    o.integrator_options.corrector_passes = way.corrections;
    return o;
}

struct Run {
    std::vector<double> t, x, y;
    double cpu = 0, evaluations = 0;
    double error = NAN;  // at the instants of reference up to 3 s; NAN: not reached
    double rail = 0;
    std::string failure;
};

inline Run follow(const PaperCase& c, const SimulationOptions& o, double step) {
    Simulation simulation(example(c.file), o);
    Run run;
    const auto steps = std::lround(until / step);
    long made = 0;
    std::size_t next = 0;
    for (; made < steps; ++made) {
        const std::clock_t before = std::clock();
        const StepReport report = simulation.step(step);
        run.cpu += static_cast<double>(std::clock() - before) / CLOCKS_PER_SEC;
        if (!report.ok) {
            run.failure = fmt::format("stopped at {:.3f} s", simulation.time());
            break;
        }
        run.evaluations += report.iterations;
        const Vec2 place = examples::sense_point(simulation, c.sensor);
        run.t.push_back(simulation.time());
        run.x.push_back(place.x());
        run.y.push_back(place.y());
        run.rail = std::max(run.rail, std::abs(place.y()));
        if (next < c.reference.size() && c.reference[next].t <= 3 &&
            std::abs(simulation.time() - c.reference[next].t) < 0.5 * step) {
            const examples::Instant& at = c.reference[next++];
            const double error = (place - Vec2(at.x, at.y)).norm();
            run.error = std::isnan(run.error) ? error : std::max(run.error, error);
        }
    }
    run.evaluations /= static_cast<double>(std::max(made, 1L));
    return run;
}

inline Run follow(const PaperCase& c, const Way& way, double step, double tolerance) {
    SimulationOptions o = options_of(way, tolerance);
    // The one of the rail is ours: the paper prints those of the pivots.
    if (std::string_view(way.name) == uzawa_of_paper.name)
        o.modular.joint_rho = {{"pivot", 1.5}, {"pin", 0.4}, {"rail", 1.2}};
    return follow(c, o, step);
}

// What the whole mechanism does undivided in joint coordinates: eq. (39), one correction per step as (37) and (38).
inline SimulationOptions centralised() {
    SimulationOptions o = options("composite-body", "trapezoidal");
    o.integrator_options.corrector_passes = 1;
    return o;
}

}  // namespace limber::bench
