#pragma once
// The numbers of a model for one set of parameter values: poses, mass properties, marker frames, bound laws.

#include <map>
#include <memory>
#include <string>

#include "limber/model/model.hpp"

namespace limber {

struct MassProperties {
    double mass = 0;
    Vec3 centre = Vec3::Zero();   ///< in the body frame
    Mat3 inertia = Mat3::Zero();  ///< about the centre of mass, body axes
};

class BeamLine;

/// A place on a beam: an arc length, and a frame in the axes of the section there.
struct BeamPlace {
    double arc_length = 0;
    Frame in_section;
};

/// Remembers what it has computed: one per thread.
class ModelEvaluation {
public:
    /// Throws ModelError if a parameter cannot be evaluated.
    explicit ModelEvaluation(const Model& model);

    const Model& model() const { return model_; }

    /// A number that may depend on parameters only. `what` names it in the error.
    double number(const Number& n, const Subject& what) const;
    Vec3 vector(const Number3& n, const Subject& what) const;
    /// Binds parameters and tables; the names in `slots` become variables 0, 1, 2, ...
    BoundExpression bind(const Number& n, const std::vector<std::string>& slots, const Subject& what) const;

    Frame frame(const Placement& placement, const Subject& what) const;
    /// Pose at the reference configuration.
    const Frame& body_frame(BodyHandle body) const;
    MassProperties mass_properties(BodyHandle body) const;
    /// In the body's frame.
    Frame marker_frame(MarkerHandle marker) const;
    double rod_length(BodyHandle body) const;
    /// Of a body that is a beam.
    const BeamLine& beam_line(BodyHandle body) const;
    BeamPlace beam_place(MarkerHandle marker) const;

    std::shared_ptr<const Interpolation> table(const TableDefinition& definition, const std::string& what) const;

private:
    /// A body's pose, and its length if it is a rod.
    struct BodyPlace {
        Frame frame;
        double rod_length = 0;
        std::shared_ptr<const BeamLine> beam;
    };
    Frame world_frame(const Marker& marker, const Subject& what) const;
    const BodyPlace& place(BodyHandle body) const;
    BodyPlace compute_place(const Body& body) const;

    const Model& model_;
    std::map<std::string, double> parameters_;
    std::map<std::string, std::shared_ptr<const Interpolation>> tables_;
    mutable std::vector<std::optional<BodyPlace>> places_;  // of bodies, by slot, once computed
};

/// Mass properties of one solid in the body frame; rod_length is used by rods only.
MassProperties solid_mass_properties(const ModelEvaluation& evaluation, const Solid& solid, double rod_length,
                                     bool planar, const Subject& what);
MassProperties given_mass_properties(const ModelEvaluation& evaluation, const GivenMass& given, bool planar,
                                     const Subject& what);
/// Of several parts taken together.
MassProperties combine(const std::vector<MassProperties>& parts);

}  // namespace limber
