#pragma once
// A block on a belt, held by a spring: see examples/contact/stick-slip-belt.yaml.

#include <cmath>
#include <stdexcept>

#include "support/models.hpp"

namespace limber::testing {

/// With Coulomb's law; `excess` is the difference of the largest friction forces of rest and of slip.
inline double stick_slip_period(double v, double k, double m, double excess) {
    const double w = std::sqrt(k / m);
    const double amplitude = excess / k;
    return (pi + 2 * std::atan(v / (w * amplitude))) / w + 2 * amplitude / v;
}

/// Time between the last two instants at which the block overtakes half of the belt's speed on its way back to it.
inline double measured_stick_slip_period(Simulation& simulation, double until, double step) {
    double last = 0;
    double period = 0;
    double before = sense(simulation, "speed.x");
    while (simulation.time() < until) {
        const StepReport report = simulation.step(step);
        if (!report.ok) throw std::runtime_error(report.reason);
        const double now = sense(simulation, "speed.x");
        if (before < 0.05 && now >= 0.05) {
            const double t = simulation.time() - step * (now - 0.05) / (now - before);
            period = t - last;
            last = t;
        }
        before = now;
    }
    return period;
}

}  // namespace limber::testing
