#pragma once
// Applied forces as functions of features: every element gives one vector per slot (feature), the force conjugate to
// that feature, so that its virtual work is  sum_s F_s . df_s.  A torque T on a body with axes e_k acts on the axes:
// F_k = 1/2 T x e_k (since dtheta = 1/2 sum e_k x de_k).
//
// For implicit integration every element also gives its stiffness and damping blocks
//   K_ab = - dF_a / df_b,   C_ab = - dF_a / dfdot_b.

#include <array>
#include <memory>
#include <string>

#include "limber/kinematics/elements/constraint_set.hpp"
#include "limber/kinematics/elements/contact_force.hpp"
#include "limber/kinematics/elements/force_law.hpp"
#include "limber/kinematics/elements/friction_law.hpp"
#include "limber/kinematics/elements/measure.hpp"
#include "limber/kinematics/elements/tyre.hpp"

namespace limber {

enum class ForceKind {
    scalar,    ///< along a measure: spring, torsion spring, motor
    servo,     ///< along a measure: gain (target - x) + rate_gain (target' - v), limited
    vector,    ///< force at a point; slots: point, axes (D)
    couple,    ///< torque on a body; slots: axes (D)
    bushing,   ///< linear law that couples several measures x_i: F_i = -sum K_ij x_j + C_ij xdot_j
    drag,      ///< against the velocity of a point; slots: point
    pull,      ///< spring and damper from a point to a target kept in the memory; slots: point
    friction,  ///< dry friction while it slips, along a measure or along a plane; see SlipMemory
    tyre,      ///< on a road; slots: point, and in space axes (D)
    contact,   ///< of two shapes, compliant; slots: point and axes (D) of the first body's frame, then of the second's
    wrench     ///< force and torque kept in the memory, world axes; slots: point, axes (D)
};

/// What the memory says about the friction of a slipping contact or joint, from ForceElement::slip_memory on. The force
/// changes linearly between two instants: the stepper finds its value at the second one. For compliant laws
/// (friction_law.hpp) it is the load that changes so, and the last three are their bristles.
enum SlipMemory {
    slip_is_on,
    slip_force,
    slip_force_after,
    slip_time,
    slip_time_after,
    slip_direction,
    slip_bend = slip_direction + 2,
    slip_place,
    slip_rest,
    slip_size
};

/// What the memory says about the bristles of a contact, from ForceElement::bristle_memory on.
enum BristleMemory { bristle_time, bristle_bend, bristle_rest = bristle_bend + 3, bristle_size };

/// A scalar used by a force law beside its own: the value of a measure or its rate.
struct LawInput {
    int measure = -1;
    bool is_rate = false;
};

template <int D>
struct ForceElement {
    ForceKind kind = ForceKind::scalar;
    std::string name;
    int first_slot = 0, slot_count = 0;
    // scalar, servo
    int measure = -1;
    double free_value = 0;  ///< x = measure - free_value
    double sign = 1;        ///< -1: the law gives tension (springs); +1: it pushes the measure up (motors)
    BoundLaw law;
    std::vector<LawInput> inputs;  ///< their features follow those of the measure in the slots
    TimeFunction target;
    double gain = 0, rate_gain = 0, limit = 0;  ///< limit 0: none
    // vector, couple
    std::array<TimeFunction, 3> component;
    bool in_marker_axes = false;
    // bushing: displacement, then rotation 1/2 sum a_k x b_k (sine of the angle times the axis), in the axes of a
    std::vector<std::vector<RowTerm>> components;  ///< each x_i is a sum of measures
    MatX stiffness, damping;
    // drag
    double linear = 0, quadratic = 0;
    Vec<D> medium = Vec<D>::Zero();
    int target_memory = -1;  ///< pull: first of D memory slots; gain and rate_gain are its stiffness and damping
    int wrench_memory = -1;  ///< wrench: first of its memory slots
    TyreLaw tyre;
    // friction: along `measure`, or along sliding rows (with their slots) if there is none
    int slip_memory = -1;
    std::array<Row, 2> slip_rows;
    FrictionLaw friction;
    std::shared_ptr<const ContactPair> contact;
    int bristle_memory = -1;  ///< contact: see BristleMemory; -1: it has none
};

/// Stiffness and damping blocks of one element, slot by slot.
template <int D>
struct ForceBlocks {
    int slots = 0;
    std::vector<Mat<D>> stiffness, damping;  ///< row-major slots x slots

    void reserve(int max_slots) {
        stiffness.resize(static_cast<std::size_t>(max_slots) * max_slots);
        damping.resize(static_cast<std::size_t>(max_slots) * max_slots);
    }
    void start(int count) {
        slots = count;
        for (int i = 0; i < count * count; ++i) {
            stiffness[i].setZero();
            damping[i].setZero();
        }
    }
    Mat<D>& k(int a, int b) { return stiffness[a * slots + b]; }
    Mat<D>& c(int a, int b) { return damping[a * slots + b]; }
};

template <int D>
class ForceSet {
public:
    std::vector<ForceElement<D>> elements;
    std::vector<int> slot_feature;

    void add(ForceElement<D> element, const std::vector<int>& slots);
    int max_slots() const;
    /// Whether an element notices that all its bodies move together: through components in world axes.
    bool is_felt_by_common_motion(const ForceElement<D>& element, const std::vector<Measure<D>>& measures) const;

    /// Fills one vector per slot. `measures` are those of the mechanism.
    void evaluate(const std::vector<Measure<D>>& measures, const MeasureContext<D>& context, double t,
                  std::vector<Vec<D>>& slot_force) const;
    /// Blocks of one element; false if it has none (a constant force).
    bool compute_blocks(int element, const std::vector<Measure<D>>& measures, const MeasureContext<D>& context,
                        double t, ForceBlocks<D>& blocks) const;

    /// Energy stored in the elements that have a potential.
    double potential(const std::vector<Measure<D>>& measures, const MeasureContext<D>& context, double t) const;
    /// Power done on the mechanism by everything that has none.
    double power(const std::vector<Measure<D>>& measures, const MeasureContext<D>& context, double t) const;
    /// Forces on the features of what has no potential. Compliant contacts are left out: their points come and go.
    void evaluate_without_potential(const std::vector<Measure<D>>& measures, const MeasureContext<D>& context, double t,
                                    std::vector<Vec<D>>& slot_force) const;
    /// Power of damping and friction in compliant contacts alone.
    double contact_power(const MeasureContext<D>& context, double t) const;
    /// Bristles of a friction or contact element as they are at t, kept in the memory.
    void advance_friction(int element, const std::vector<Measure<D>>& measures, const MeasureContext<D>& context,
                          double t, std::vector<double>& memory) const;
    /// Where the two shapes of a contact element touch, and what acts there at t.
    void find_contact_points(int element, const MeasureContext<D>& context, double t, CompliantPoints& points) const;
    /// The scalar force of a scalar or servo element (spring: tension; motor: push), magnitude of the others.
    double scalar_force(int element, const std::vector<Measure<D>>& measures, const MeasureContext<D>& context,
                        double t) const;

private:
    struct ScalarState {
        double x, v;
        std::array<double, 16> inputs;
        std::span<const double> input_span(std::size_t n) const { return {inputs.data(), n}; }
    };
    ScalarState scalar_state(const ForceElement<D>& e, const std::vector<Measure<D>>& measures,
                             const MeasureContext<D>& context) const;
    /// The gradients of the slip, one column of slots per direction, and the force along each.
    struct SlipForce {
        int directions = 0;
        std::array<std::array<Vec<D>, 8>, 2> gradient;
        std::array<double, 2> force{}, rate{};
    };
    SlipForce slip_force_of(const ForceElement<D>& e, const std::vector<Measure<D>>& measures,
                            const MeasureContext<D>& context, double t) const;
    void advance_contact(const ForceElement<D>& e, const MeasureContext<D>& context, double t,
                         std::vector<double>& memory) const;
    FrictionForce compliant_friction(const ForceElement<D>& e, const std::vector<Measure<D>>& measures,
                                     const MeasureContext<D>& context, double t) const;
    double servo_force(const ForceElement<D>& e, double x, double v, double t, bool* saturated) const;
    void scalar_blocks(const ForceElement<D>& e, const std::vector<Measure<D>>& measures,
                       const MeasureContext<D>& context, double t, ForceBlocks<D>& blocks) const;
    void bushing_blocks(const ForceElement<D>& e, const std::vector<Measure<D>>& measures,
                        const MeasureContext<D>& context, ForceBlocks<D>& blocks) const;
};

inline constexpr int max_law_inputs = 16;

}  // namespace limber
