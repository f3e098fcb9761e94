#include "limber/kinematics/mechanism/idle_turns.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "limber/math/dense_factors.hpp"

namespace limber {
namespace {

// Moments of inertia below this part of the largest one, and distances below this part of the typical length, are
// rounding.
constexpr double no_turn_inertia = 1e-14;
constexpr double no_distance = 1e-10;

template <int D>
class TieFinder {
public:
    explicit TieFinder(const Mechanism<D>& m) : m_(m), ties_(m.bodies.size()) {}

    std::vector<BodyTies<D>> find(bool with_elements) {
        for (std::size_t e = 0; e < m_.elements.size() && with_elements; ++e) add_element(static_cast<int>(e));
        for (const auto& force : m_.forces.elements) add_force(force);
        return std::move(ties_);
    }

private:
    void add_feature(int index) {
        const Feature<D>& feature = m_.features[index];
        if (feature.body < 0) return;
        auto& list = feature.is_point ? ties_[feature.body].points : ties_[feature.body].directions;
        list.push_back(feature.local);
    }

    void add_element(int index) {
        const ConstraintElement<D>& element = m_.elements[index];
        std::vector<int> features;
        for (int r = element.first_row; r < element.first_row + element.row_count; ++r) {
            const Row& row = m_.constraints.rows[r];
            const bool slides = row.kind == RowKind::sliding || row.kind == RowKind::rolling;
            add_slots(m_.constraints.slot_feature.data() + row.first_slot, row.slot_count, slides && row.radius == 0,
                      features);
        }
        for (const int body : bodies_of(features)) {
            ++ties_[body].element_count;
            if (element.motions && (body == element.body_a || body == element.body_b) && add_motions(element, body))
                continue;
            for (const int f : features)
                if (m_.features[f].body == body) add_feature(f);
        }
    }

    /// The turn that a joint leaves to this body by itself, if there is one: about a point, or about an axis too.
    bool add_motions(const ConstraintElement<D>& element, int body) {
        std::vector<JointMotion> motions = element.motions.value();
        if (body == element.body_b) std::reverse(motions.begin(), motions.end());
        const MarkerFeatures<D>& marker = body == element.body_b ? element.b : element.a;
        std::optional<int> slide;
        for (const JointMotion& motion : motions) {
            using K = JointMotion::Kind;
            if (motion.kind == K::slide && D == 3 && (!slide || *slide == motion.axis)) {
                slide = motion.axis;
                continue;
            }
            if (motion.kind == K::ball ? slide.has_value() : motion.kind != K::turn || (slide && *slide != motion.axis))
                return false;
            add_feature(marker.point);
            if (D == 3 && motion.kind == K::turn) add_feature(marker.axis[motion.axis]);
            return true;
        }
        return false;
    }

    /// Of two frames that slide on each other without a radius the second is but a point.
    void add_slots(const int* slots, int count, bool slides_as_point, std::vector<int>& features) const {
        constexpr int frame = D + 1;
        for (int k = 0; k < count; ++k)
            if (!slides_as_point || k < frame || m_.features[slots[k]].is_point) features.push_back(slots[k]);
    }

    void add_force(const ForceElement<D>& force) {
        const FeatureState<D> nowhere;
        const MeasureContext<D> context{nowhere, {}, {}};
        std::vector<int> features;
        force.force->add_felt_features(m_.forces.view(force, m_.constraints.measures, context, 0), features);
        for (const int body : bodies_of(features)) {
            BodyTies<D>& ties = ties_[body];
            ++ties.element_count;
            ties.by_all = ties.by_all || force.force->feels_all_turns();
        }
        for (const int f : features) add_feature(f);
    }

    std::vector<int> bodies_of(const std::vector<int>& features) const {
        std::vector<int> bodies;
        for (const int f : features)
            if (m_.features[f].body >= 0) bodies.push_back(m_.features[f].body);
        std::sort(bodies.begin(), bodies.end());
        bodies.erase(std::unique(bodies.begin(), bodies.end()), bodies.end());
        return bodies;
    }

    const Mechanism<D>& m_;
    std::vector<BodyTies<D>> ties_;
};

/// The axis of all points and directions; zero: a single point; nothing: they have none in common.
template <int D>
std::optional<Vec<D>> common_axis(const std::vector<Vec<D>>& points, const std::vector<Vec<D>>& directions,
                                  double length) {
    Vec<D> axis = Vec<D>::Zero();
    for (const Vec<D>& p : points)
        if ((p - points.front()).norm() > axis.norm()) axis = p - points.front();
    if (axis.norm() <= no_distance * length) axis.setZero();
    if (axis.isZero(0) && !directions.empty()) axis = directions.front();
    if (axis.isZero(0)) return axis;
    axis.normalize();
    const auto is_along = [&](const Vec<D>& d, double tolerance) {
        return (d - axis * axis.dot(d)).norm() <= tolerance;
    };
    for (const Vec<D>& p : points)
        if (!is_along(p - points.front(), no_distance * length)) return {};
    for (const Vec<D>& d : directions)
        if (!is_along(d, no_distance)) return {};
    return axis;
}

/// Axes of idle turns about a point, given the axis all ties have in common.
template <int D>
AngularMat<D> find_projector(const MechanismBody<D>& body, const Vec<D>& axis) {
    if constexpr (D == 2) {
        return AngularMat<2>::Constant(axis.isZero(0) ? 1 : 0);
    } else {
        const SymmetricEigen3 eigen = compute_symmetric_eigen(body.inertia);
        const double largest = eigen.values[2];
        if (!(largest > 0)) return axis.isZero(0) ? Mat3(Mat3::Identity()) : Mat3(axis * axis.transpose());
        // A line of mass: one axis.
        const Vec3 own = eigen.vectors.col(0);
        const bool fits = axis.isZero(0) || (body.inertia * axis).norm() <= no_turn_inertia * largest;
        return fits ? Mat3(own * own.transpose()) : Mat3(Mat3::Zero());
    }
}

}  // namespace

template <int D>
bool has_free_spin(const MechanismBody<D>& body) {
    if constexpr (D == 2) {
        return !(body.inertia(0, 0) > 0);
    } else {
        const Vec3 moments = compute_eigenvalues(body.inertia);
        return !(moments[0] > no_turn_inertia * moments[2]);
    }
}

template <int D>
std::vector<BodyTies<D>> find_force_ties(const Mechanism<D>& m) {
    return TieFinder<D>(m).find(false);
}

template <int D>
std::vector<IdleTurns<D>> find_idle_turns(const Mechanism<D>& m) {
    std::vector<IdleTurns<D>> list;
    if (std::none_of(m.bodies.begin(), m.bodies.end(), has_free_spin<D>)) return list;
    const std::vector<BodyTies<D>> all = TieFinder<D>(m).find(true);
    std::vector<bool> may_touch(m.bodies.size(), false);
    for (const CollisionShape& shape : m.shapes)
        if (shape.body >= 0 && !m.contact_rules.empty()) may_touch[shape.body] = true;
    for (std::size_t b = 0; b < m.bodies.size(); ++b) {
        const MechanismBody<D>& body = m.bodies[b];
        if (!has_free_spin(body) || all[b].by_all || may_touch[b]) continue;
        // Without any mass a body is there to pass something on; one that hangs on a single joint does not.
        if (!(body.mass > 0) && all[b].element_count < 2) continue;
        std::vector<Vec<D>> points = all[b].points;
        if (body.mass > 0) points.push_back(Vec<D>::Zero());
        if (points.empty()) continue;
        const auto axis = common_axis<D>(points, all[b].directions, m.length_scale);
        if (!axis) continue;
        IdleTurns<D> turns{static_cast<int>(b), points.front(), find_projector<D>(body, *axis)};
        if (!turns.projector.isZero(0)) list.push_back(turns);
    }
    return list;
}

template <int D>
std::shared_ptr<const Mechanism<D>> with_idle_inertia(std::shared_ptr<const Mechanism<D>> mechanism) {
    const std::vector<IdleTurns<D>> turns = find_idle_turns(*mechanism);
    if (turns.empty()) return mechanism;
    auto copy = std::make_shared<Mechanism<D>>(*mechanism);
    // Of the size of what is there: beside a light neighbour a large value would leave its rounding errors.
    double lightest = mechanism->mass_scale;
    for (const auto& body : mechanism->bodies)
        if (body.mass > 0) lightest = std::min(lightest, body.mass);
    for (const IdleTurns<D>& turn : turns) {
        MechanismBody<D>& body = copy->bodies[turn.body];
        const double mass = body.mass > 0 ? body.mass : lightest;
        body.inertia += mass * mechanism->length_scale * mechanism->length_scale * turn.projector;
    }
    return copy;
}

template <int D>
void rest_idle_turns(const Mechanism<D>& m, std::vector<BodyState<D>>& states) {
    for (const IdleTurns<D>& turn : find_idle_turns(m)) {
        BodyState<D>& state = states[turn.body];
        const Vec<D> arm = state.axes * turn.point;
        if constexpr (D == 2) {
            state.velocity -= state.angular_velocity[0] * Vec2(arm.y(), -arm.x());
            state.angular_velocity.setZero();
        } else {
            const Vec3 spin = state.axes * (turn.projector * (state.axes.transpose() * state.angular_velocity));
            state.velocity += spin.cross(arm);
            state.angular_velocity -= spin;
        }
    }
}

#define LIMBER_INSTANTIATE(D)                                                                            \
    template bool has_free_spin(const MechanismBody<D>&);                                                \
    template std::vector<BodyTies<D>> find_force_ties(const Mechanism<D>&);                              \
    template std::vector<IdleTurns<D>> find_idle_turns(const Mechanism<D>&);                             \
    template std::shared_ptr<const Mechanism<D>> with_idle_inertia(std::shared_ptr<const Mechanism<D>>); \
    template void rest_idle_turns(const Mechanism<D>&, std::vector<BodyState<D>>&);
LIMBER_INSTANTIATE(2)
LIMBER_INSTANTIATE(3)
#undef LIMBER_INSTANTIATE

}  // namespace limber
