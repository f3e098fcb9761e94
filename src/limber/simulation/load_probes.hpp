#pragma once
// Sensors of forces: what joints, drivers and force elements do to bodies, friction and tyres. Internal to
// sensor_probes.cpp.

#include <optional>
#include <string>
#include <vector>

#include "limber/simulation/sensor_probes.hpp"

namespace limber {

/// Components of a vector along the axes of a marker.
template <int D>
Vec<D> along(const FeatureState<D>& features, const MarkerFeatures<D>& axes, const Vec<D>& v) {
    Vec<D> y;
    for (int k = 0; k < D; ++k) y[k] = features.value[axes.axis[k]].dot(v);
    return y;
}

/// "rad" of an angle, "m" of a length, "" of what is not known; `rates`: how often derived by time.
template <int D>
const char* unit_of(const Measure<D>& measure, int rates = 0);
/// Of the force that drives a measure: "N m" or "N".
template <int D>
const char* force_unit_of(const Measure<D>& measure);

/// Where a wrench is told: of which body, about which point, along axes or those of the world.
template <int D>
struct ToldWrench {
    int body = -1;
    int point = -1;  ///< feature; -1: known otherwise
    std::optional<MarkerFeatures<D>> axes{};

    void write(const FeatureState<D>& features, TwistVec<D> wrench, double* out) const;
};

template <int D>
class LoadProbes {
public:
    LoadProbes(const Model& model, const std::string& name, ObservedMotion<D>& motion)
        : model_(model), name_(name), motion_(motion), m_(motion.mechanism()) {}

    Probe<D> make(const Reaction& sensor) const;
    Probe<D> make(const ForceSensor& sensor) const;
    Probe<D> make(const FrictionSensor& sensor) const;
    Probe<D> make(const TyreSensor& sensor) const;
    /// In section_probe.cpp.
    Probe<D> make(const SectionSensor& sensor) const;

private:
    [[noreturn]] void refuse(const std::string& why) const;
    MarkerFeatures<D> features_of(MarkerHandle handle) const;
    int index_of(BodyHandle body) const;
    int index_of(BodyHandle body, const std::vector<int>& among, const std::string& what) const;
    std::string body_names(const std::vector<int>& bodies) const;
    void require(BodyHandle body, const std::vector<int>& bodies, const std::string& what) const;
    Probe<D> make_number(const ConstraintElement<D>& element, int index) const;

    const Model& model_;
    const std::string& name_;
    ObservedMotion<D>& motion_;
    const Mechanism<D>& m_;
};

}  // namespace limber
