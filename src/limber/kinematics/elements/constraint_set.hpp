#pragma once
// Rows: the scalar constraint equations of a mechanism, as functions of features.
//
// Holonomic:      Phi = sum_k coefficient_k * measure_k(f) - h(t)                 = 0
// Velocity level: phi = sum_s A_s(f, t) . fdot_s + b(f, t)                         = 0
//
// The gradient of a row is one vector per slot (a slot is one feature as used by one row): d Phi / d f_s for a
// holonomic row, A_s for a velocity row; in both cases the row's rate is  sum_s gradient_s . fdot_s + time_partial
// and the time derivative of that is  sum_s gradient_s . (J_s qddot) + bias.
//
// A row with a flag holds only while its flag in the memory is on; otherwise its values and gradients are zero. So
// contacts open and close without a new mechanism, and nobody but the one who turns the flags has to know.

#include <string>

#include "limber/kinematics/elements/measure.hpp"
#include "limber/kinematics/elements/time_function.hpp"

namespace limber {

struct RowTerm {
    double coefficient = 1;
    int measure = -1;
};

enum class RowKind {
    holonomic,
    rolling,  ///< slip of a disc on a plane along one axis of the plane; slots: frame of the plane, frame of the disc
    skate,    ///< sideways slip of a blade; slots: frame of the ground, point and lateral axis of the blade
    sliding,  ///< slip of a ball or point on a plane or on another ball, along one tangent; slots: frames of the two
    user_velocity  ///< sum c_i(scalars, t) * rate of scalar i = rhs
};

struct Row {
    RowKind kind = RowKind::holonomic;
    int element = -1;  ///< joint or driver that owns the row; -1: the coordinates themselves
    int first_term = 0, term_count = 0;
    int first_slot = 0, slot_count = 0;
    int law = -1;  ///< index of h(t); -1: the constant `rhs`
    double rhs = 0;
    double radius = 0;      ///< rolling, sliding: from the second point against the normal to where it touches
    int axis = 0;           ///< rolling, sliding: which axis of the plane, or which tangent
    bool is_round = false;  ///< sliding: the normal is the direction from the first point to the second
    int user = -1;          ///< user_velocity: index into user_rows

    MemorySlot<RowMemory> flag;  ///< none: always on

    bool is_holonomic() const { return kind == RowKind::holonomic; }
    bool is_on(std::span<const double> memory) const { return !flag.exists() || flag.in(memory); }
};

/// Coefficients of a user velocity row: functions of the values of some measures and of t. The right-hand side may use
/// rates, too, but is linear in them:  rhs = b(s, t) + sum_k c_k(s, t) rate_k,  so that b is what it is without rates
/// and c_k what one of them adds. The row is then  sum coefficient * rate - sum_k c_k rate_k = b.
struct UserVelocityRow {
    std::vector<int> inputs;  ///< measures whose values are the variables 0, 1, ...; t follows, then the rates
    std::vector<BoundExpression> coefficients;  ///< of the first terms; those of the others come from rhs
    BoundExpression rhs;
    int rates = 0;  ///< the last terms of the row are the measures whose rates rhs uses
};

/// Values of rows, filled by evaluate_positions and evaluate_velocities.
template <int D>
struct RowValues {
    VecX phi;           ///< holonomic rows only; velocity rows keep 0
    VecX time_partial;  ///< d Phi / dt at fixed coordinates; b of a velocity row
    VecX bias;
    std::vector<Vec<D>> gradient;  ///< per slot

    void resize(int rows, int slots) {
        phi = VecX::Zero(rows);
        time_partial = VecX::Zero(rows);
        bias = VecX::Zero(rows);
        gradient.assign(slots, Vec<D>::Zero());
    }
};

/// Gains of the constraint terms added to the constraint accelerations: kp Phi + kv Phi' (velocity rows: kn phi).
struct Gains {
    double position = 0, rate = 0, velocity_row = 0;
};

template <int D>
class ConstraintSet {
public:
    std::vector<Row> rows;
    std::vector<RowTerm> terms;
    std::vector<int> slot_feature;
    std::vector<Measure<D>> measures;
    std::vector<TimeFunction> laws;
    std::vector<UserVelocityRow> user_rows;

    int add_measure(const Measure<D>& measure);
    /// Row of measures; slots follow from the measures' features.
    void drop_rows_from(int first);
    void add_holonomic(int element, const std::vector<RowTerm>& terms, double rhs, int law = -1);
    void add_velocity_row(Row row, const std::vector<int>& slots);
    void add_user_velocity_row(int element, const std::vector<int>& measures, UserVelocityRow user);

    /// The same set with some of its rows only, in their order and, unless they are kept, without flags.
    ConstraintSet with_rows(const std::vector<int>& list, bool keeps_flags = false) const;

    /// Adds the rows [first, last) into `out`: values and gradients.
    void evaluate_positions(const MeasureContext<D>& context, double t, RowValues<D>& out) const;
    /// Needs evaluate_positions before.
    void evaluate_velocities(const MeasureContext<D>& context, double t, RowValues<D>& out) const;

private:
    void evaluate_velocity_row(const Row& row, const MeasureContext<D>& context, double t, RowValues<D>& out) const;
};

/// Gradient of a sliding or rolling row over slots: frame of the plane, frame of the ball or disc. That of its point is
/// the tangent.
template <int D>
void compute_sliding_gradient(const FeatureState<D>& features, const int* slots, const Row& row, Vec<D>* gradient);

}  // namespace limber
