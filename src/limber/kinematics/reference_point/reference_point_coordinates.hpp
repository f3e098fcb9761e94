#pragma once
// Reference-point coordinates: centre of mass and Euler parameters p = (e0, e) of each body (plane: x, y, angle).
//
//   A(p) s   = (e0^2 - e.e) s + 2 e (e.s) + 2 e0 e x s           homogeneous quadratic, a rotation for |p| = 1
//   d(A s)   = B(p, s) dp,   B = 2 [ e0 s + e x s,  e s^T - s e^T + (e.s) I - e0 ~s ]
//   (A s)''  = B(p, s) p'' + B(p', s) p'
//   omega    = 2 G(p) p' in body axes,   G = [ -e, e0 I - ~e ],   G(x) y = -G(y) x
//   T        = 1/2 m r'^2 + 2 p'^T G^T J G p'
//   4 G^T J G p'' + 8 G(p')^T J G(p) p' = Q_p                     (Lagrange; Nikravesh 1988, Haug 1989)
//
// One row of its own per body: 1/2 (p.p - 1) = 0.

#include <array>
#include <span>
#include <string>
#include <vector>

#include "limber/kinematics/body_space/twist.hpp"
#include "limber/math/sparse.hpp"

namespace limber {

template <int D_>
class ReferencePointCoordinates {
public:
    static constexpr int D = D_;
    static constexpr const char* name = "reference-point";
    static constexpr bool has_constant_mass = D == 2;
    static constexpr bool has_curved_features = true;
    static constexpr int columns_per_body = D == 2 ? 3 : 7;
    static constexpr int turning_columns = columns_per_body - D;
    static constexpr int max_feature_columns = columns_per_body;
    using FeatureJacobian = Eigen::Matrix<double, D, Eigen::Dynamic, 0, D, max_feature_columns>;
    using Curvature = Mat<turning_columns>;

    explicit ReferencePointCoordinates(const Mechanism<D>& mechanism);
    /// The coordinates of `like`: those of bodies are always the same.
    ReferencePointCoordinates(const Mechanism<D>& mechanism, const ReferencePointCoordinates& /*like*/)
        : ReferencePointCoordinates(mechanism) {}

    int size() const { return static_cast<int>(m_.bodies.size()) * columns_per_body; }
    int feature_count() const { return static_cast<int>(m_.features.size()); }
    /// A direction depends on the turning coordinates only.
    std::span<const int> columns(int feature) const {
        return {column_.data() + column_start_[feature], column_.data() + column_start_[feature + 1]};
    }
    bool is_implied(const Row&) const { return false; }
    /// What counts as the inertia of a coordinate that has less: a slender rod has none about its axis, and no set of
    /// Euler parameters is that axis alone.
    double inertia_floor(int column) const;

    void update_positions(const VecX& q, std::span<const int> list, FeatureState<D>& features) const;
    void update_velocities(const VecX& q, const VecX& v, std::span<const int> list, FeatureState<D>& features) const;
    void pull_back(int feature, const Vec<D>& g, const VecX& q, const int* map, double* out) const;
    void compute_jacobian(int feature, const VecX& q, FeatureJacobian& j) const;
    /// Second derivative of g . f by the turning coordinates (the last columns of the feature).
    Curvature compute_curvature(int feature, const Vec<D>& g, const VecX& q) const;
    /// d fdot / dq at fixed qdot, in the columns of the feature.
    void compute_rate_jacobian(int feature, const VecX& q, const VecX& v, FeatureJacobian& j) const;

    // Normalisation rows of Euler parameters (none in the plane).
    int normalisation_rows() const { return D == 3 ? static_cast<int>(m_.bodies.size()) : 0; }
    std::array<int, 4> normalisation_columns(int body) const {
        const int first = turning_column(body);
        return {first, first + 1, first + 2, first + 3};
    }
    ConstraintSet<D> own_rows() const { return {}; }
    int own_row_body(int row) const { return row; }
    static int turning_column(int body) { return body * columns_per_body + D; }

    void add_mass_pattern(SymmetricPatternBuilder& builder) const;
    /// values += M(q); place: from make_mass_places.
    void assemble_mass(const VecX& q, const std::vector<int>& places, std::vector<double>& values) const;
    std::vector<int> make_mass_places(const SymmetricPattern& pattern) const;
    void add_weight(const Vec<D>& g, VecX& force) const;
    /// force -= 8 G(p')^T J G(p) p'
    void subtract_velocity_inertia(const VecX& q, const VecX& v, VecX& force) const;
    /// Derivatives of M(q) a + velocity inertia by the turning coordinates and their rates, symmetrised.
    void compute_inertia_tangent(int body, const VecX& q, const VecX& v, const VecX& a, Curvature& by_q,
                                 Curvature& by_v) const;

    void export_states(const VecX& q, const VecX& v, BodyStates<D>& states) const;
    void export_twist_rates(const VecX& q, const VecX& v, const VecX& a, std::vector<TwistVec<D>>& rates) const;
    void import_states(const BodyStates<D>& states, VecX& q, VecX& v) const;
    /// Accelerations at q and v, which belong to these states, for twists that change so.
    void import_twist_rates(const BodyStates<D>& states, const std::vector<TwistVec<D>>& rates, const VecX& q,
                            const VecX& v, VecX& a) const;
    /// Of one body.
    void export_state(int body, const VecX& q, const VecX& v, BodyState<D>& state) const;
    void export_twist_rate(int body, const VecX& q, const VecX& v, const VecX& a, TwistVec<D>& rate) const;
    std::vector<std::string> describe_sharing() const { return {}; }

private:
    const Mechanism<D>& m_;
    std::vector<int> column_start_{0}, column_;
};

}  // namespace limber
