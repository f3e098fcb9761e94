#include "limber/kinematics/body_space/reactions.hpp"

#include <algorithm>

namespace limber {
namespace {

constexpr int max_flanks =
    3;  // solutions until teeth push as assumed; redundant bearings may make the sign of next to nothing waver
constexpr double spared_share = 1e-2;  // its square is what rows that are spared carry beside others

}  // namespace

template <int D>
void add_applied_wrenches(const Mechanism<D>& m, const BodyStates<D>& states, const FeatureState<D>& features,
                          const std::vector<double>& memory, double t, std::vector<Vec<D>>& slot_force, double factor,
                          VecX& wrench) {
    constexpr int T = twist_size<D>;
    m.forces.evaluate(m.constraints.measures, MeasureContext<D>{features, memory, m.curves}, t, slot_force);
    for (std::size_t s = 0; s < slot_force.size(); ++s) {
        const int f = m.forces.slot_feature[s];
        const int body = m.features[f].body;
        if (body < 0) continue;
        TwistVec<D> w = TwistVec<D>::Zero();
        add_wrench(m.features[f], features.value[f], states[body].position, slot_force[s], w);
        wrench.template segment<T>(body * T) += factor * w;
    }
    const Vec<D> gravity = m.gravity_at(t);
    for (std::size_t b = 0; b < m.bodies.size(); ++b)
        wrench.template segment<D>(static_cast<Eigen::Index>(b) * T) += factor * m.bodies[b].mass * gravity;
}

template <int D>
ReactionSolver<D>::ReactionSolver(const Mechanism<D>& mechanism)
    : m_(mechanism), constraints_(mechanism, mechanism.constraints) {
    slot_force_.assign(m_.forces.slot_feature.size(), Vec<D>::Zero());
    multipliers_ = VecX::Zero(constraints_.row_count());
    rows_ = VecX::Zero(constraints_.row_count());
    wrench_ = VecX::Zero(constraints_.twist_count());
    x_ = wrench_;
    teeth_.resize(m_.meshes.size());
    flank_.assign(m_.meshes.size(), 0.0);
    for (const GearMesh& mesh : m_.meshes) {
        mesh_features_.insert(mesh_features_.end(), {mesh.point[0], mesh.point[1], mesh.axis[0], mesh.axis[1]});
        if (mesh.place >= 0) mesh_features_.push_back(mesh.place);
    }
}

template <int D>
void ReactionSolver<D>::update(const BodyStates<D>& states, const std::vector<double>& memory, double t) {
    constraints_.update(states, memory, t);
    if (teeth_.empty()) return;
    update_features<D>(m_, states, mesh_features_, constraints_.features);
    place_tooth_forces(states);
}

template <int D>
void ReactionSolver<D>::place_tooth_forces(const BodyStates<D>& states) {
    for (std::size_t i = 0; i < teeth_.size(); ++i) {
        const GearMesh& mesh = m_.meshes[i];
        const auto force = find_tooth_force<D>(mesh, constraints_.features);
        if (!force) continue;  // bearings so far apart that teeth cannot meet: the row acts as it is
        teeth_[i] = *force;
        teeth_[i].along += flank_[i] * force->apart;
        std::array<TwistVec<D>, 2> wrench;
        for (int k = 0; k < 2; ++k) {
            wrench[k].setZero();
            if (mesh.wheel[k] < 0) continue;
            const Vec<D> push = k == 0 ? Vec<D>(-teeth_[i].along) : teeth_[i].along;
            wrench[k].template head<D>() = push;
            wrench[k].template tail<angular_size<D>>() =
                moment<D>(Vec<D>(force->place - states[mesh.wheel[k]].position), push);
        }
        constraints_.replace_row(mesh.row, mesh.wheel, wrench);
    }
}

template <int D>
bool ReactionSolver<D>::find_flanks() {
    bool changed = false;
    for (std::size_t i = 0; i < teeth_.size(); ++i) {
        if (m_.meshes[i].tangent == 0) continue;
        const double flank = multipliers_[m_.meshes[i].row] < 0 ? -1 : 1;
        changed = changed || flank != flank_[i];
        flank_[i] = flank;
    }
    return changed;
}

// Smallest multipliers with G^T lambda = w:  lambda <- lambda + G (G^T G + e)^-1 (w - G^T lambda) from zero, so that
// lambda stays in the range of G. Each pass leaves e / (s^2 + e) of the error in the direction of singular value s.
template <int D>
double ReactionSolver<D>::solve(const BodyStates<D>& states, const std::vector<double>& memory, double t,
                                const std::vector<TwistVec<D>>& twist_rates, const VecX& known) {
    constexpr int T = twist_size<D>;
    std::fill(flank_.begin(), flank_.end(), 0.0);
    double residual = 0;
    for (int pass = 0; pass < max_flanks; ++pass) {
        update(states, memory, t);
        for (std::size_t b = 0; b < m_.bodies.size(); ++b)
            wrench_.template segment<T>(static_cast<Eigen::Index>(b) * T) =
                inertia_wrench(m_.bodies[b], states[b], twist_rates[b]);
        const double inertia_size = wrench_.norm();
        add_applied_wrenches(m_, states, constraints_.features, memory, t, slot_force_, -1.0, wrench_);
        if (known.size() > 0) wrench_ -= known;
        residual = solve_wrenches(inertia_size);
        if (!find_flanks()) break;
    }
    return residual;
}

template <int D>
double ReactionSolver<D>::solve_impulses(const BodyStates<D>& states, const std::vector<double>& memory, double t,
                                         const std::vector<TwistVec<D>>& twist_changes, const VecX& known) {
    constexpr int T = twist_size<D>;
    std::fill(flank_.begin(), flank_.end(), 0.0);
    double residual = 0;
    for (int pass = 0; pass < max_flanks; ++pass) {
        update(states, memory, t);
        for (std::size_t b = 0; b < m_.bodies.size(); ++b) {
            const auto at = static_cast<Eigen::Index>(b) * T;
            wrench_.template segment<D>(at) = m_.bodies[b].mass * twist_changes[b].template head<D>();
            wrench_.template segment<angular_size<D>>(at + D) =
                world_inertia(m_.bodies[b], states[b]) * twist_changes[b].template tail<angular_size<D>>();
        }
        if (known.size() > 0) wrench_ -= known;
        residual = solve_wrenches(0);
        if (!find_flanks()) break;
    }
    return residual;
}

// Of wrench_, with the constraints up to date; size is what beside it counts for the relative residual.
template <int D>
double ReactionSolver<D>::solve_wrenches(double size) {
    constexpr int T = twist_size<D>;
    TwistConstraints<D>& c = constraints_;
    for (std::size_t b = 0; b < m_.bodies.size(); ++b)
        wrench_.template segment<angular_size<D>>(static_cast<Eigen::Index>(b) * T + D) /= m_.length_scale;

    c.make_comparable();
    for (const int r : spared_) c.scale_row(r, spared_share);
    c.clear_matrix();
    c.add_normal_matrix(1);
    c.add_identity(1e-9);
    multipliers_.setZero();
    if (!c.factorize()) return 1;
    double residual = 0;
    for (int k = 0; k < 5; ++k) {
        x_ = wrench_;
        c.add_transposed(multipliers_, -1.0, x_);
        residual = x_.norm();
        c.solve(x_);
        c.multiply_rows(x_, rows_);
        multipliers_ += rows_;
    }
    multipliers_ = multipliers_.cwiseProduct(c.scale);
    size += wrench_.norm();
    return size > 0 ? residual / size : 0;
}

template <int D>
TwistVec<D> ReactionSolver<D>::row_wrench(int row, int body, const Vec<D>& at) const {
    const TwistConstraints<D>& c = constraints_;
    TwistVec<D> wrench = TwistVec<D>::Zero();
    const int first = c.set.rows[row].first_slot;
    for (int s = first; s < first + c.set.rows[row].slot_count; ++s) {
        const int f = c.set.slot_feature[s];
        if (m_.features[f].body == body)
            add_wrench(m_.features[f], c.features.value[f], at, c.values.gradient[s], wrench);
    }
    return wrench;
}

template <int D>
TwistVec<D> ReactionSolver<D>::reaction(int index) const {
    const ConstraintElement<D>& element = m_.elements[index];
    TwistVec<D> wrench = TwistVec<D>::Zero();
    if (element.mesh >= 0) {
        wrench.template head<D>() = multipliers_[element.first_row] * teeth_[element.mesh].along;
        return wrench;
    }
    if (!element.has_markers) return wrench;
    const Vec<D>& at = constraints_.features.value[element.b.point];
    // On the second body; if that is the ground, minus what acts on the first one.
    const int body = element.body_b >= 0 ? element.body_b : element.body_a;
    const double sign = element.body_b >= 0 ? 1.0 : -1.0;
    for (int r = element.first_row; r < element.first_row + element.row_count; ++r)
        wrench += sign * multipliers_[r] * row_wrench(r, body, at);
    return wrench;
}

template <int D>
std::vector<int> ReactionSolver<D>::find_bodies(int index) const {
    const ConstraintElement<D>& element = m_.elements[index];
    if (element.mesh >= 0) return {m_.meshes[element.mesh].wheel[0], m_.meshes[element.mesh].wheel[1]};
    if (element.has_markers) return {element.body_a, element.body_b};
    std::vector<int> bodies;
    const ConstraintSet<D>& set = constraints_.set;
    for (int r = element.first_row; r < element.first_row + element.row_count; ++r)
        for (int s = set.rows[r].first_slot; s < set.rows[r].first_slot + set.rows[r].slot_count; ++s)
            bodies.push_back(m_.features[set.slot_feature[s]].body);
    if (!bodies.empty()) bodies.push_back(-1);  // components in the world have no feature of the ground
    std::sort(bodies.begin(), bodies.end());
    bodies.erase(std::unique(bodies.begin(), bodies.end()), bodies.end());
    return bodies;
}

template <int D>
TwistVec<D> ReactionSolver<D>::reaction_on(int index, int body, const std::vector<int>& bodies,
                                           const Vec<D>& at) const {
    const ConstraintElement<D>& element = m_.elements[index];
    TwistVec<D> wrench = TwistVec<D>::Zero();
    if (element.mesh >= 0) {
        const double sign = body == m_.meshes[element.mesh].wheel[1] ? 1 : -1;
        const ToothForce<D>& teeth = teeth_[element.mesh];
        const Vec<D> push = sign * multipliers_[element.first_row] * teeth.along;
        wrench.template head<D>() = push;
        wrench.template tail<angular_size<D>>() = moment<D>(Vec<D>(teeth.place - at), push);
        return wrench;
    }
    for (int r = element.first_row; r < element.first_row + element.row_count; ++r) {
        if (body >= 0) {
            wrench += multipliers_[r] * row_wrench(r, body, at);
            continue;
        }
        for (const int other : bodies)
            if (other >= 0) wrench -= multipliers_[r] * row_wrench(r, other, at);
    }
    return wrench;
}

template <int D>
Vec<D> ReactionSolver<D>::reaction_point(int index) const {
    const ConstraintElement<D>& element = m_.elements[index];
    return element.mesh >= 0 ? teeth_[element.mesh].place : constraints_.features.value[element.b.point];
}

template <int D>
double ReactionSolver<D>::multiplier(int element, int row) const {
    if (row >= m_.elements[element].row_count) return 0;  // it is there, but disabled
    return multipliers_[m_.elements[element].first_row + row];
}

template <int D>
double ReactionSolver<D>::driver_power() const {
    // The row's value follows h(t): its multiplier does work at the rate -time_partial = h'(t).
    return -multipliers_.dot(constraints_.values.time_partial);
}

#define LIMBER_INSTANTIATE(D)                                                                             \
    template class ReactionSolver<D>;                                                                     \
    template void add_applied_wrenches(const Mechanism<D>&, const BodyStates<D>&, const FeatureState<D>&, \
                                       const std::vector<double>&, double, std::vector<Vec<D>>&, double, VecX&);
LIMBER_INSTANTIATE(2)
LIMBER_INSTANTIATE(3)
#undef LIMBER_INSTANTIATE

}  // namespace limber
