#pragma once
// Reference values of the standard cases, and how far a formulation is from them. Tests put limits on these measures,
// bench/accuracy.cpp tabulates them. A step that fails throws.

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

#include "support/examples.hpp"

namespace limber::examples {

struct Instant {
    double t, x, y;
};

// Joli, Seguy and Feng (2008): from the adaptive integration of the reduced equations, order 8 at tolerance 3e-14.
/// Position of the second mass of the double pendulum.
inline constexpr Instant pendulum_tip[] = {{0.5, 0.84474417, -1.74219412},
                                           {1, -1.22687035, -1.52541079},
                                           {2, -0.19892841, -1.02529037},
                                           {3, 0.23929314, -0.20826618}};
/// Position of the slider of the slider-crank.
inline constexpr Instant slider_place[] = {{0.5, 1.82304005, 0}, {1, 0.83146856, 0}, {2, -1.58995741, 0},
                                           {3, -1.99484169, 0},  {5, 1.61389450, 0}, {10, 1.97588109, 0}};
/// Andrews' mechanism at t = 0.03 (IVP test set).
inline constexpr double andrews_beta = 15.81077119629904;

inline void advance_or_throw(Simulation& simulation, double end, double step) {
    const StepReport report = simulation.advance(end, step);
    if (!report.ok) throw std::runtime_error(report.reason);
}

inline Vec2 sense_point(Simulation& simulation, const std::string& sensor) {
    return {sense(simulation, sensor + ".x"), sense(simulation, sensor + ".y")};
}

inline RunSummary run_example(const std::string& name, const SimulationOptions& o, double until, double step,
                              const ParameterOverrides& overrides = {}) {
    Simulation simulation(example(name, overrides), o);
    RunOptions run_options;
    run_options.until = until;
    run_options.step = step;
    run_options.every = until;
    return run(simulation, run_options).summary;
}

/// Order of convergence of the double pendulum's tip at t = 1, from three runs of the scheme itself: the printed
/// reference has too few digits for it.
struct ObservedOrder {
    double order;
    Vec2 limit;  ///< the tip at steps of no length, extrapolated from the two finest runs
};

inline ObservedOrder observe_order(const SimulationOptions& o) {
    const auto tip_at_end = [&](double h) {
        Simulation simulation(example("double-pendulum.yaml"), o);
        advance_or_throw(simulation, 1, h);
        return sense_point(simulation, "tip");
    };
    const int expected = find_integrator(o.integrator).order;
    const double h = expected == 4 ? 4e-3 : 2e-3;
    const Vec2 coarse = tip_at_end(2 * h);
    const Vec2 middle = tip_at_end(h);
    const Vec2 fine = tip_at_end(h / 2);
    const Vec2 change = fine - middle;
    return {std::log2((coarse - middle).norm() / change.norm()), fine + change / (std::exp2(expected) - 1)};
}

/// Ten seconds of the slider-crank through its dead points: largest distance of the slider from its rail, and from the
/// right branch, on which it is at twice the crank tip's abscissa.
struct SliderErrors {
    double rail = 0, branch = 0;
};

inline SliderErrors measure_slider(const SimulationOptions& o, double step) {
    Model model = example("slider-crank.yaml");
    model.add(Position{.name = "pin_place", .marker = model.marker("crank.to")});
    Simulation simulation(model, o);
    SliderErrors worst;
    const long steps = std::lround(10 / step);
    for (long i = 1; i <= steps; ++i) {
        advance_or_throw(simulation, static_cast<double>(i) * step, step);
        const Vec2 slider = sense_point(simulation, "slider");
        worst.rail = std::max(worst.rail, std::abs(slider.y()));
        worst.branch = std::max(worst.branch, std::abs(slider.x() - 2 * sense(simulation, "pin_place.x")));
    }
    return worst;
}

inline double measure_andrews_error(const SimulationOptions& o, double step) {
    Simulation simulation(example("andrews.yaml"), o);
    advance_or_throw(simulation, 0.03, step);
    return std::abs(sense(simulation, "beta") - andrews_beta);
}

}  // namespace limber::examples
