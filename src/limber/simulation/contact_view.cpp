#include "limber/simulation/contact_view.hpp"

#include <algorithm>
#include <array>

#include "limber/kinematics/forces/compliant_contact.hpp"
#include "limber/kinematics/forces/slip_force.hpp"

namespace limber {

template <int D>
ContactView<D>::ContactView(const Model& model, const Mechanism<D>& mechanism) : m_(mechanism) {
    places_.resize(m_.stops.size());
    const std::vector<StopHandle> stops = model.stops.handles();
    for (std::size_t i = 0; i < m_.stops.size(); ++i) {
        const ConstraintElement<D>* element = &m_.elements[m_.stops[i].element];
        Place& place = places_[i];
        const StopHandle handle = model.stops.find(element->name);
        const Stop& stop = model.stops.get(handle);
        place.stop = static_cast<int>(std::find(stops.begin(), stops.end(), handle) - stops.begin());
        if (stop.as<Wall>() != nullptr) place.at = Place::At::foot;
        if (stop.as<KeepApart>() != nullptr) place.at = Place::At::middle;
        if (const auto* limit = stop.as<Limit>()) {
            place.is_limit = true;
            const std::string& scalar = limit->coordinate.name;
            const auto joint = m_.element_index.find(scalar.substr(0, scalar.rfind('.')));
            if (joint == m_.element_index.end() || !m_.elements[joint->second].has_markers) continue;
            element = &m_.elements[joint->second];
        }
        place.a = element->a.point;
        place.b = element->b.point;
        place.body = element->body_b >= 0 ? element->body_b : element->body_a;
        place.sign = element->body_b >= 0 ? 1 : -1;
    }
    for (std::size_t i = 0; i < m_.friction.size(); ++i)
        if (m_.friction[i].contact >= 0) places_[m_.friction[i].contact].friction = static_cast<int>(i);
}

template <int D>
bool ContactView<D>::needs_reactions(const State& state) const {
    return std::any_of(m_.stops.begin(), m_.stops.end(),
                       [&](const StopRow& gap) { return gap.is_closed(state.memory); });
}

template <int D>
Vec<D> ContactView<D>::contact_point(const Place& place, const FeatureState<D>& features, const Vec<D>& normal,
                                     const AngularVec<D>& moment) const {
    const Vec<D>& a = features.value[place.a];
    const Vec<D>& b = features.value[place.b];
    if (place.at == Place::At::foot) {
        const Vec<D> below = b - normal * normal.dot(b - a);
        // A rim does not touch below its centre.
        if constexpr (D == 3) return below + normal.cross(moment);
        return below;
    }
    if (place.at == Place::At::middle) return 0.5 * (a + b);
    return b;
}

// Of all but limits: the rows of what sticks, or the force of what slips.
template <int D>
Vec<D> ContactView<D>::friction_force(const Place& place, const State& state, const FeatureState<D>& features,
                                      const ReactionSolver<D>& reactions, const Vec<D>& at) const {
    Vec<D> force = Vec<D>::Zero();
    if (place.friction < 0 || place.is_limit) return force;
    const FrictionElement& friction = m_.friction[place.friction];
    const auto slip = friction.slip.in(state.memory);
    std::array<Vec<D>, 2 * (D + 1)> gradient;
    for (int k = 0; k < friction.row_count; ++k) {
        const int row = friction.first_row + k;
        force +=
            place.sign * reactions.row_multiplier(row) * reactions.row_wrench(row, place.body, at).template head<D>();
        if (!slip.is_on) continue;
        const Row& along = m_.constraints.rows[row];
        compute_sliding_gradient(features, m_.constraints.slot_feature.data() + along.first_slot, along,
                                 gradient.data());
        force -= slip.force_after * slip.direction[k] * gradient[D + 1];
    }
    return force;
}

template <int D>
void ContactView<D>::find(const State& state, const MeasureContext<D>& context, const ReactionSolver<D>& reactions,
                          std::vector<ContactLoad>& list) const {
    list.clear();
    for (const ContactPoint& c : state.contacts)
        if (c.gap <= 0 || !c.force.isZero()) list.push_back({c.point, c.normal, c.force, -1});
    CompliantPoints points;
    for (const ForceElement<D>& e : m_.forces.elements) {
        const auto* contact = e.template as<CompliantContact>();
        if (contact == nullptr) continue;
        contact->find_points(m_.forces.view(e, m_.constraints.measures, context, state.t), points);
        for (int k = 0; k < points.count; ++k)
            list.push_back({points.points[k].point, points.points[k].direction, points.points[k].force, -1});
    }
    for (std::size_t i = 0; i < m_.stops.size(); ++i) {
        const Place& place = places_[i];
        if (!m_.stops[i].is_closed(state.memory) || place.a < 0) continue;
        const Vec<D>& b = context.features.value[place.b];
        const int row = m_.stops[i].row;
        const TwistVec<D> wrench = place.sign * reactions.row_wrench(row, place.body, b);
        Vec<D> direction = wrench.template head<D>();
        Vec<D> force = reactions.row_multiplier(row) * direction;
        if (direction.norm() > 0) direction.normalize();
        const Vec<D> at = contact_point(place, context.features, direction, wrench.template tail<angular_size<D>>());
        force += friction_force(place, state, context.features, reactions, at);
        list.push_back({in_space<D>(at), in_space<D>(direction), in_space<D>(force), place.stop});
    }
}

template <int D>
ContactRuleLoad ContactView<D>::measure_rule(int rule, const State& state, const MeasureContext<D>& context) const {
    ContactRuleLoad load;
    // Friction at the points of one pair may be inner stress: what the bodies feel is its sum. Points are in the order
    // of their pairs.
    Vec3 friction = Vec3::Zero();
    for (std::size_t i = 0; i < state.contacts.size(); ++i) {
        const ContactPoint& c = state.contacts[i];
        if (c.rule != rule) continue;
        const double normal = c.force.dot(c.normal);
        load.normal += normal;
        load.count += 1;
        load.depth = std::max(load.depth, -c.gap);
        friction += c.force - normal * c.normal;
        const bool is_last = i + 1 == state.contacts.size() || state.contacts[i + 1].shape_a != c.shape_a ||
                             state.contacts[i + 1].shape_b != c.shape_b;
        if (!is_last) continue;
        load.friction += friction.norm();
        friction.setZero();
    }
    CompliantPoints points;
    for (const ForceElement<D>& e : m_.forces.elements) {
        const auto* contact = e.template as<CompliantContact>();
        if (contact == nullptr || contact->pair->rule != rule) continue;
        contact->find_points(m_.forces.view(e, m_.constraints.measures, context, state.t), points);
        double normal = 0;
        friction.setZero();
        for (int k = 0; k < points.count; ++k) {
            const CompliantPoint& p = points.points[k];
            normal += p.normal;
            friction += p.force - p.normal * p.direction;
        }
        load.normal += normal;
        load.count += normal > 0 ? 1 : 0;
        load.friction += friction.norm();
    }
    return load;
}

template class ContactView<2>;
template class ContactView<3>;

}  // namespace limber
