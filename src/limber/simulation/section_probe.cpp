// Forces in the sections of a beam. They are best known at the points where strains are (forces/beam_force.hpp);
// between and beyond these the polynomial through them tells, and where two elements meet the mean of both.

#include <fmt/format.h>

#include <algorithm>

#include "limber/kinematics/forces/beam_force.hpp"
#include "limber/model/error.hpp"
#include "limber/model/evaluation.hpp"
#include "limber/simulation/load_probes.hpp"

namespace limber {
namespace {

// What the forces at each point of an element count at a place of the beam.
template <int D>
std::vector<double> find_weights(const std::vector<BeamPoint<D>>& points, double place) {
    std::vector<double> weights;
    for (const BeamPoint<D>& one : points) {
        double weight = 1;
        for (const BeamPoint<D>& other : points)
            if (&other != &one) weight *= (place - other.place) / (one.place - other.place);
        weights.push_back(weight);
    }
    return weights;
}

struct WeightedPoint {
    int force;
    int point;
    double weight;
};

}  // namespace

template <int D>
Probe<D> LoadProbes<D>::make(const SectionSensor& sensor) const {
    const Marker& marker = model_.markers.get(sensor.marker);
    const Body& body = model_.bodies.get(marker.body);
    if (!body.beam) refuse(fmt::format("marker '{}' is on '{}', which is no beam", marker.name, body.name));
    const double place = ModelEvaluation(model_).beam_place(sensor.marker).arc_length;
    std::vector<BeamSpan> at;
    for (const BeamSpan& span : m_.beam_spans) {
        const double rounding = 1e-9 * (span.end - span.start);
        if (span.beam == marker.body && span.start <= place + rounding && place <= span.end + rounding)
            at.push_back(span);
    }
    std::vector<WeightedPoint> points;
    for (const BeamSpan& span : at) {
        const auto* force = m_.forces.elements[span.force].template as<BeamForce>();
        const std::vector<double> weights = find_weights(force->points, place);
        for (std::size_t k = 0; k < weights.size(); ++k)
            points.push_back({span.force, static_cast<int>(k), weights[k] / static_cast<double>(at.size())});
    }
    Probe<D> probe;
    probe.components = {"axial", "shear_y", "shear_z", "torsion", "bending_y", "bending_z"};
    probe.units = {"N", "N", "N", "N m", "N m", "N m"};
    if (D == 2) {
        probe.components = {"axial", "shear_y", "bending_z"};
        probe.units = {"N", "N", "N m"};
    }
    probe.measure = [&m = m_, points](const Instant<D>& now, double* out) {
        Eigen::Map<StrainVec<D>> sum(out);
        sum.setZero();
        for (const WeightedPoint& at : points) {
            const ForceElement<D>& element = m.forces.elements[at.force];
            const auto* force = element.template as<BeamForce>();
            const ForceView<D> view = m.forces.view(element, m.constraints.measures, now.context, now.state.t);
            sum += at.weight * force->find_stress(view, force->points[at.point]);
        }
    };
    return probe;
}

template Probe<2> LoadProbes<2>::make(const SectionSensor&) const;
template Probe<3> LoadProbes<3>::make(const SectionSensor&) const;

}  // namespace limber
