#pragma once
// A model turned into numbers and indices, still free of coordinates: bodies, features, constraint rows, forces.
//
// Every set of coordinates and every body-level computation (assembly, reactions, sensors) works on one Mechanism.

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "limber/kinematics/elements/constraint_set.hpp"
#include "limber/kinematics/elements/force_set.hpp"
#include "limber/model/model.hpp"

namespace limber {

/// Angular quantities: one number in the plane, three in space.
template <int D>
inline constexpr int angular_size = D == 2 ? 1 : 3;
template <int D>
using AngularVec = Vec<angular_size<D>>;
template <int D>
using AngularMat = Mat<angular_size<D>>;

/// Pose and velocity of a body: its centre of mass and its axes.
template <int D>
struct BodyState {
    Vec<D> position = Vec<D>::Zero();
    Mat<D> axes = Mat<D>::Identity();
    Vec<D> velocity = Vec<D>::Zero();
    AngularVec<D> angular_velocity = AngularVec<D>::Zero();
};

template <int D>
struct MechanismBody {
    std::string name;
    BodyHandle handle;
    double mass = 0;
    AngularMat<D> inertia = AngularMat<D>::Zero();  ///< about the centre of mass, body axes
    Vec<D> centre = Vec<D>::Zero();                 ///< of mass, in the body frame
    BodyState<D> reference;                         ///< as written in the model
    MarkerFeatures<D> frame;                        ///< features of the frame at the centre of mass, body axes
};

/// One step of the motion that a joint leaves free, from its first marker to its second: each acts in the axes that the steps
/// before have turned. A set of relative coordinates may describe the second body by them.
struct JointMotion {
    enum class Kind { turn, slide, screw, ball };
    Kind kind = Kind::turn;
    int axis = 0;                 ///< of the marker; turns in the plane need none
    double rise = 0, offset = 0;  ///< screw: advance per radian, and at angle zero
};

/// A joint or driver: the owner of some rows.
template <int D>
struct ConstraintElement {
    std::string name;
    bool is_driver = false;
    int first_row = 0, row_count = 0;
    bool has_markers = false;
    MarkerFeatures<D> a, b;
    int body_a = -1, body_b = -1;
    std::optional<std::vector<JointMotion>> motions;  ///< equivalent to the rows, if there is such a form
    std::optional<bool> is_cut;                       ///< wish of the model: close a loop with this joint, or never
};

/// Two features that a joint makes equal: a set of coordinates may use one in place of the other.
struct SharedFeature {
    int a = -1, b = -1;
    int element = -1;  ///< the joint
};

/// A joint coordinate or another scalar known by name.
struct NamedScalar {
    std::string name;
    int measure = -1;
};

struct InitialMeasure {
    int measure = -1;
    double value = 0;
};

template <int D>
struct Mechanism {
    std::vector<MechanismBody<D>> bodies;  ///< without the ground
    std::vector<Feature<D>> features;
    std::vector<int> used_features;  ///< by rows, forces and named scalars; the rest is for output
    FeatureState<D> reference;       ///< values at the reference configuration

    ConstraintSet<D> constraints;
    std::vector<ConstraintElement<D>> elements;
    std::vector<SharedFeature> shared;

    ForceSet<D> forces;
    std::array<TimeFunction, D> gravity;

    std::vector<MeasuredCurve<D>> curves;
    std::vector<NamedScalar> scalars;
    std::vector<int> memory_measure;  ///< for each memory slot a measure that keeps it up to date; -1: an input
    std::vector<double> initial_memory;
    std::vector<InitialMeasure> initial_positions, initial_rates;

    std::map<std::string, MarkerFeatures<D>> sensor_markers;  ///< by marker name
    std::map<std::string, int> force_index, element_index;    ///< by name; drivers as "driver name"

    double length_scale = 1;  ///< a typical size of the mechanism
    double mass_scale = 1;    ///< a typical mass

    const Measure<D>& measure(int i) const { return constraints.measures[i]; }
    Vec<D> gravity_at(double t) const {
        Vec<D> g;
        for (int k = 0; k < D; ++k) g[k] = gravity[k].value(t);
        return g;
    }
    int find_scalar(const std::string& name) const;
};

/// Brings turns and places on curves up to date; inputs stay as they are. `features` must be up to date.
template <int D>
void refresh_memory(const Mechanism<D>& mechanism, const FeatureState<D>& features, std::vector<double>& memory);

/// Throws ModelError for everything that is wrong with the model.
template <int D>
Mechanism<D> make_mechanism(const Model& model);

/// "crank.angle" of "crank.angle.rate"; other names as they are.
std::string without_rate(const std::string& name);
/// Names of the coordinates a joint has: {"angle"}, {"angle", "displacement"}, ...
std::vector<std::string> joint_coordinate_names(JointType type, bool planar);
const char* joint_type_name(JointType type);

}  // namespace limber
