#pragma once
// Natural coordinates: Cartesian components of points and unit vectors (Garcia de Jalon and Bayo 1994).
//
// Every feature is a linear combination of nodes with constant coefficients, so Jacobians of features are constant,
// biases are zero, constraints are at most quadratic, and the mass matrix is constant:
//
//   space   f = sum c_i n_i,             M_ij = (A S A^T)_ij I,   S = integral of (1, x)(1, x)^T dm
//   plane   f = sum (c_i + s_i J) n_i,   the same with complex coefficients c_i + i s_i  (J: quarter turn)
//
// Rigidity: distances and scalar products within each body's basis are constant (rows of this set's own).

#include <set>
#include <span>
#include <string>
#include <vector>

#include "limber/kinematics/body_space/twist.hpp"
#include "limber/kinematics/natural/sharing.hpp"
#include "limber/math/sparse.hpp"

namespace limber {

template <int D_>
class NaturalCoordinates {
public:
    static constexpr int D = D_;
    static constexpr const char* name = "natural";
    static constexpr bool has_constant_mass = true;
    static constexpr bool has_curved_features = false;  ///< second derivatives of features by coordinates are zero
    static constexpr int max_feature_columns = 4 * D;
    using FeatureJacobian = Eigen::Matrix<double, D, Eigen::Dynamic, 0, D, max_feature_columns>;

    explicit NaturalCoordinates(const Mechanism<D>& mechanism);
    /// The coordinates of `like`, whose mechanism has the same bodies, joints and features but may have other inertia:
    /// which points and vectors describe a body depends on it.
    NaturalCoordinates(const Mechanism<D>& mechanism, const NaturalCoordinates& like);

    int size() const { return size_; }
    /// Features of the mechanism, then one per node.
    int feature_count() const { return static_cast<int>(feature_start_.size()) - 1; }
    std::span<const int> columns(int feature) const {
        return {column_.data() + column_start_[feature], column_.data() + column_start_[feature + 1]};
    }
    /// Rows that keep the bodies rigid, as measures of node features.
    const ConstraintSet<D>& own_rows() const { return own_rows_; }
    /// Body that an own row (or, for other sets, a norm) keeps rigid.
    int own_row_body(int row) const { return own_row_body_[row]; }
    int normalisation_rows() const { return 0; }
    std::array<int, 4> normalisation_columns(int) const { return {}; }
    static int turning_column(int) { return 0; }
    /// Whether sharing makes a row of the mechanism hold by itself.
    bool is_implied(const Row& row) const;
    /// What counts as the inertia of a coordinate that has less.
    double inertia_floor(int column) const { return inertia_floor_[column]; }

    void update_positions(const VecX& q, std::span<const int> list, FeatureState<D>& features) const;
    void update_velocities(const VecX& q, const VecX& v, std::span<const int> list, FeatureState<D>& features) const;

    /// out[map[k]] += (J^T g)_k for the columns k of the feature.
    void pull_back(int feature, const Vec<D>& g, const VecX& /*q*/, const int* map, double* out) const {
        for (int k = feature_start_[feature]; k < feature_start_[feature + 1]; ++k) {
            const Term& term = terms_[k];
            if constexpr (D == 2) {
                out[map[0]] += term.c * g.x() + term.s * g.y();
                out[map[1]] += term.c * g.y() - term.s * g.x();
            } else {
                out[map[0]] += term.c * g.x();
                out[map[1]] += term.c * g.y();
                out[map[2]] += term.c * g.z();
            }
            map += D;
        }
    }
    void compute_jacobian(int feature, const VecX& q, FeatureJacobian& j) const;

    void add_mass_pattern(SymmetricPatternBuilder& builder) const;
    std::vector<int> make_mass_places(const SymmetricPattern& pattern) const;
    /// values += M (constant); places: from make_mass_places.
    void assemble_mass(const VecX& q, const std::vector<int>& places, std::vector<double>& values) const;
    /// Generalised force of a uniform field of acceleration g.
    void add_weight(const Vec<D>& g, VecX& force) const;

    void export_states(const VecX& q, const VecX& v, BodyStates<D>& states) const;
    /// Twist rates of all bodies from accelerations of the coordinates.
    void export_twist_rates(const VecX& q, const VecX& v, const VecX& a, std::vector<TwistVec<D>>& rates) const;
    void import_states(const BodyStates<D>& states, VecX& q, VecX& v) const;
    /// Accelerations at q and v, which belong to these states, for twists that change so.
    void import_twist_rates(const BodyStates<D>& states, const std::vector<TwistVec<D>>& rates, const VecX& q,
                            const VecX& v, VecX& a) const;
    /// Of one body.
    void export_state(int body, const VecX& q, const VecX& v, BodyState<D>& state) const;
    void export_twist_rate(int body, const VecX& q, const VecX& v, const VecX& a, TwistVec<D>& rate) const;

    const NaturalLayout<D>& layout() const { return layout_; }
    /// "point shared by crank, coupler" and the like.
    std::vector<std::string> describe_sharing() const;

private:
    struct Term {
        int column;  ///< of the node's first component
        double c, s;
    };
    /// Coefficients of a feature on all nodes of its body's basis.
    struct Coefficients {
        std::array<double, 4> c{}, s{};
        Vec<D> constant = Vec<D>::Zero();  ///< what no node carries (point masses)
    };
    struct MassBlock {
        int column_i, column_j;
        double c, s;
    };

    NaturalCoordinates(const Mechanism<D>& mechanism, NaturalLayout<D> layout);
    template <class Use>
    void for_nodes(const BodyStates<D>& states, const Use& use) const;
    Coefficients coefficients(int body, bool is_point, const Vec<D>& local) const;
    void number_nodes();
    void add_feature(const Coefficients& k, const NaturalBasis<D>& basis);
    void add_node_features();
    void add_rigidity();
    void add_mass_blocks();
    void rigidity_row(int body, int i, int j);
    /// Linear part of a feature; with velocities its rate, with accelerations its second derivative.
    Vec<D> feature_rate(int feature, const VecX& v) const;
    Vec<D> feature_value(int feature, const VecX& q) const { return constant_[feature] + feature_rate(feature, q); }

    const Mechanism<D>& m_;
    NaturalLayout<D> layout_;
    int size_ = 0;
    std::vector<int> node_column_;  // -1: fixed
    std::vector<int> feature_start_{0}, column_start_{0}, column_;
    std::vector<Term> terms_;
    std::vector<Vec<D>> constant_;
    ConstraintSet<D> own_rows_;
    std::vector<int> own_row_body_;
    std::set<std::array<int, 3>> known_rows_;  // nodes of the rows made, to make each once
    std::vector<MassBlock> mass_blocks_;
    struct WeightTerm {
        int column;
        double c, s;
    };
    std::vector<WeightTerm> weight_terms_;
    std::vector<double> inertia_floor_;
};

}  // namespace limber
