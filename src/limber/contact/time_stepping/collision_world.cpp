#include "limber/contact/time_stepping/collision_world.hpp"

#include <algorithm>
#include <cmath>

#include "limber/geometry/mesh.hpp"

namespace limber {
namespace {

// Beside what motion asks for, contacts are seen this part of the smaller shape's size ahead: bodies at rest keep all
// their contact points.
constexpr double look_ahead = 0.01;
// Over the smaller shape's size.
constexpr double deep = 0.01;

}  // namespace

template <int D>
CollisionWorld<D>::CollisionWorld(const Mechanism<D>& mechanism) : m_(mechanism) {
    const std::size_t count = m_.shapes.size();
    frames_.resize(count);
    bounds_.resize(count);
    reach_.assign(count, 0.0);
    extent_.assign(count, 0.0);
    for (std::size_t i = 0; i < count; ++i) {
        const CollisionShape& s = m_.shapes[i];
        if (s.shape->kind == Shape::Kind::plane) {
            planes_.push_back(static_cast<int>(i));
            extent_[i] = 1e300;
            continue;
        }
        others_.push_back(static_cast<int>(i));
        const Bounds own = compute_bounds(*s.shape, Frame{});
        const Vec3 size = own.high - own.low;
        extent_[i] = D == 2 ? 0.5 * size.template head<2>().norm() : 0.5 * size.norm();
    }
    other_bounds_.resize(others_.size());
}

template <int D>
void CollisionWorld<D>::place_shapes(const BodyStates<D>& states, double horizon) {
    for (std::size_t i = 0; i < m_.shapes.size(); ++i) {
        const CollisionShape& s = m_.shapes[i];
        Frame body;
        double speed = 0;
        if (s.body >= 0) {
            const BodyState<D>& state = states[s.body];
            body.position.template head<D>() = state.position;
            body.axes.template topLeftCorner<D, D>() = state.axes;
            speed = state.velocity.norm() + state.angular_velocity.norm() * (extent_[i] + s.place.position.norm());
        }
        frames_[i] = body * s.place;
        reach_[i] = horizon * speed;
    }
    for (std::size_t k = 0; k < others_.size(); ++k) {
        const int i = others_[k];
        bounds_[i] = compute_bounds(*m_.shapes[i].shape, frames_[i]);
        const Vec3 more = Vec3::Constant(reach_[i] + look_ahead * extent_[i]);
        other_bounds_[k] = {bounds_[i].low - more, bounds_[i].high + more};
    }
}

template <int D>
void CollisionWorld<D>::add_manifold(int i, int j, int rule, double margin, std::vector<Contact>& contacts) {
    Contact contact;
    contact.body_a = m_.shapes[i].body;
    contact.body_b = m_.shapes[j].body;
    contact.shape_a = i;
    contact.shape_b = j;
    contact.rule = rule;
    const auto add = [&](Manifold& manifold) {
        if (D == 2) flatten(manifold);
        contact.normal = manifold.normal;
        for (int k = 0; k < manifold.count; ++k) {
            contact.point = manifold.points[k].point;
            contact.gap = manifold.points[k].gap;
            contacts.push_back(contact);
        }
    };
    for_each_manifold(*m_.shapes[i].shape, frames_[i], *m_.shapes[j].shape, frames_[j], margin, manifold_, add);
}

template <int D>
void CollisionWorld<D>::find_pairs() {
    broad_phase_.find_pairs(other_bounds_, pairs_);
    for (auto& [first, second] : pairs_) {
        first = others_[first];
        second = others_[second];
    }
    for (const int plane : planes_)
        for (const int i : others_) pairs_.emplace_back(std::minmax(plane, i));
    std::sort(pairs_.begin(), pairs_.end());
}

template <int D>
bool CollisionWorld<D>::find_contacts(const BodyStates<D>& states, double horizon, std::vector<Contact>& contacts) {
    contacts.clear();
    place_shapes(states, horizon);
    find_pairs();
    for (const auto& [i, j] : pairs_) {
        const int rule = m_.find_contact_rule(m_.shapes[i].body, m_.shapes[j].body);
        const double margin = reach_[i] + reach_[j] + 2 * look_ahead * std::min(extent_[i], extent_[j]);
        if (rule >= 0) add_manifold(i, j, rule, margin, contacts);
        if (contacts.size() > max_contacts()) return false;
    }
    return true;
}

template <int D>
void CollisionWorld<D>::find_deep_contacts(const BodyStates<D>& states, double horizon,
                                           std::vector<Contact>& contacts) {
    contacts.clear();
    place_shapes(states, horizon);
    const auto moves = [&](int i) { return 2 * reach_[i] > deep * extent_[i]; };
    if (std::none_of(others_.begin(), others_.end(), moves)) return;
    find_pairs();
    for (const auto& [i, j] : pairs_) {
        const double allowed = deep * std::min(extent_[i], extent_[j]);
        if (reach_[i] + reach_[j] < allowed) continue;
        const int rule = m_.find_contact_rule(m_.shapes[i].body, m_.shapes[j].body);
        if (rule < 0) continue;
        const std::size_t first = contacts.size();
        add_manifold(i, j, rule, 0, contacts);
        contacts.erase(std::remove_if(contacts.begin() + static_cast<std::ptrdiff_t>(first), contacts.end(),
                                      [&](const Contact& contact) { return contact.gap > -allowed; }),
                       contacts.end());
    }
}

template class CollisionWorld<2>;
template class CollisionWorld<3>;

}  // namespace limber
