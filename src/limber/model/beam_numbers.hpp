#pragma once
// The numbers of a beam: the line it runs along, and what its section is worth.

#include <memory>

#include "limber/math/frame.hpp"
#include "limber/math/interpolation.hpp"
#include "limber/model/evaluation.hpp"

namespace limber {

/// Where a beam is at the reference configuration.
class BeamLine {
public:
    BeamLine(const ModelEvaluation& evaluation, const Body& body);

    double length() const { return length_; }
    /// Place and section axes at an arc length, world axes.
    Frame at(double s) const;
    /// The arc length that is nearest to a point.
    double find_nearest(const Vec3& point) const;

private:
    Vec3 place(double s) const;
    Vec3 tangent(double s) const;
    void carry_axes();

    bool is_planar_;
    double length_ = 0, twist_ = 0;
    Vec3 from_ = Vec3::Zero(), direction_ = Vec3::UnitX();
    std::optional<Vec3> centre_;  // of an arc
    Vec3 axis_ = Vec3::UnitZ();
    double angle_ = 0;
    std::shared_ptr<const Curve<3>> curve_;
    std::vector<double> arc_length_;  // of a curve, at equal steps of its parameter
    std::vector<Mat3> carried_;       // axes without twist along a curved line, at equal steps of arc length
};

/// Stiffness against stretch, shear along y and z, twist, curvatures about y and z; inertia per length.
struct SectionNumbers {
    Eigen::Matrix<double, 6, 6> stiffness = Eigen::Matrix<double, 6, 6>::Zero();
    double mass = 0;              ///< per length
    Vec3 inertia = Vec3::Zero();  ///< of rotation, per length
    double damping = 0;           ///< over stiffness [s]
    double thermal_strain = 0, prestress = 0;
    Vec3 looks = Vec3::Zero();  ///< half height along y, half width along z, and 1 if it is round
};

/// Throws ModelError for what is missing or makes no sense.
SectionNumbers find_section(const ModelEvaluation& evaluation, const Body& body);

}  // namespace limber
