#pragma once
// What a sensor measures, one function for each type of sensor.

#include <functional>
#include <string>
#include <vector>

#include "limber/simulation/contact_view.hpp"
#include "limber/simulation/observed_motion.hpp"

namespace limber {

/// An instant whose motion is loaded, and the work done until then.
template <int D>
struct Instant {
    const State& state;
    double work;
    MeasureContext<D> context;
};

template <int D>
struct Probe {
    std::vector<const char*> components{""};                    ///< names after a dot; "": none
    std::function<void(const Instant<D>&, double*)> measure{};  ///< empty: of an expression in other columns
    bool needs_accelerations = false, needs_reactions = false;
    std::vector<const char*> units{""};  ///< one for all components, or one for each
    int first_column = 0;
};

/// `step`: the longest so far. Motion, contacts and step must live as long as the probe.
template <int D>
Probe<D> make_probe(const Model& model, const Sensor& sensor, ObservedMotion<D>& motion, const ContactView<D>& contacts,
                    const double& step);

}  // namespace limber
