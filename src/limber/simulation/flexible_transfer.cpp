#include "limber/simulation/flexible_transfer.hpp"

#include <Eigen/LU>
#include <algorithm>
#include <cmath>

#include "limber/math/rotation.hpp"

namespace limber {
namespace {

// Part of the way from one rotation to another.
template <int D>
Mat<D> turn_between(const Mat<D>& a, const Mat<D>& b, double part) {
    if constexpr (D == 2) {
        const Mat2 relative = a.transpose() * b;
        return a * rotation2(part * std::atan2(relative(1, 0), relative(0, 0)));
    } else {
        return Quat(a).slerp(part, Quat(b)).toRotationMatrix();
    }
}

template <int D>
Mat<D> nearest_turn(const Mat<D>& m) {
    if constexpr (D == 2) {
        return rotation2(std::atan2(m(1, 0) - m(0, 1), m(0, 0) + m(1, 1)));
    } else {
        return nearest_rotation(m);
    }
}

// At a part of the way between two sections.
template <int D>
BodyState<D> between(const BodyState<D>& a, const BodyState<D>& b, double length, double u) {
    BodyState<D> state;
    state.position = (1 + 2 * u) * (1 - u) * (1 - u) * a.position + u * u * (3 - 2 * u) * b.position +
                     length * u * (1 - u) * ((1 - u) * a.axes.col(0) - u * b.axes.col(0));
    state.axes = turn_between<D>(a.axes, b.axes, u);
    state.velocity = (1 - u) * a.velocity + u * b.velocity;
    state.angular_velocity = (1 - u) * a.angular_velocity + u * b.angular_velocity;
    return state;
}

}  // namespace

template <int D>
FlexibleTransfer<D>::FlexibleTransfer(const Mechanism<D>& from, const BodyStates<D>& states)
    : from_(from), states_(states) {
    for (std::size_t b = 0; b < from.bodies.size(); ++b) {
        const MechanismBody<D>& body = from.bodies[b];
        if (body.node >= 0) pieces_[body.whole_name()].push_back(static_cast<int>(b));
        if (body.node < 0) wholes_[body.name] = static_cast<int>(b);
    }
}

template <int D>
bool FlexibleTransfer<D>::has_changed(const MechanismBody<D>& before, const MechanismBody<D>& after) {
    if (before.node < 0 && after.node < 0) return false;
    return before.along != after.along || before.reference.position != after.reference.position ||
           before.reference.axes != after.reference.axes;
}

template <int D>
std::optional<BodyState<D>> FlexibleTransfer<D>::find(const MechanismBody<D>& body) const {
    const bool is_piece = body.node >= 0;
    if (const auto it = pieces_.find(body.whole_name()); it != pieces_.end()) {
        if (!is_piece) return as_a_whole(body, it->second);
        const Place place = at(it->second, body.along);
        return as_rigid(place.written, place.moved, body.reference);
    }
    if (const auto it = wholes_.find(body.whole_name()); is_piece && it != wholes_.end())
        return as_rigid(from_.bodies[it->second].reference, states_[it->second], body.reference);
    return std::nullopt;
}

template <int D>
std::optional<BodyState<D>> FlexibleTransfer<D>::find(std::string_view name, double along) const {
    const auto it = pieces_.find(name);
    if (it == pieces_.end()) return std::nullopt;
    return at(it->second, along).moved;
}

template <int D>
typename FlexibleTransfer<D>::Place FlexibleTransfer<D>::at(const std::vector<int>& pieces, double along) const {
    const auto is_before = [&](int b, double place) { return from_.bodies[b].along < place; };
    const auto after = std::lower_bound(pieces.begin(), pieces.end(), along, is_before);
    // Beyond the middles of the first and last rigid segments, and where a piece is.
    if (after == pieces.begin() || after == pieces.end() || from_.bodies[*after].along == along) {
        const int piece = after == pieces.end() ? pieces.back() : *after;
        return {from_.bodies[piece].reference, states_[piece]};
    }
    const MechanismBody<D>& first = from_.bodies[*(after - 1)];
    const MechanismBody<D>& second = from_.bodies[*after];
    const double u = (along - first.along) / (second.along - first.along);
    const double length = (second.reference.position - first.reference.position).norm();
    return {between(first.reference, second.reference, length, u),
            between(states_[*(after - 1)], states_[*after], length, u)};
}

// What is written rigidly with something that has moved.
template <int D>
BodyState<D> FlexibleTransfer<D>::as_rigid(const BodyState<D>& written, const BodyState<D>& moved,
                                           const BodyState<D>& piece) const {
    const Mat<D> turn = moved.axes * written.axes.transpose();
    const Vec<D> arm = turn * (piece.position - written.position);
    BodyState<D> state = moved;
    state.position += arm;
    state.axes = turn * piece.axes;
    state.velocity += cross<D>(moved.angular_velocity, arm);
    return state;
}

template <int D>
BodyState<D> FlexibleTransfer<D>::as_a_whole(const MechanismBody<D>& body, const std::vector<int>& pieces) const {
    double mass = 0;
    BodyState<D> state;
    state.position.setZero();
    state.velocity.setZero();
    Mat<D> turns = Mat<D>::Zero();
    for (const int p : pieces) {
        const MechanismBody<D>& piece = from_.bodies[p];
        // What has no mass counts by its length.
        const double weight = piece.mass > 0 ? piece.mass : 1e-9;
        mass += weight;
        state.position += weight * states_[p].position;
        state.velocity += weight * states_[p].velocity;
        turns += weight * states_[p].axes * piece.reference.axes.transpose();
    }
    state.position /= mass;
    state.velocity /= mass;
    state.axes = nearest_turn<D>(turns / mass) * body.reference.axes;
    AngularVec<D> spin = AngularVec<D>::Zero();
    for (const int p : pieces) {
        const MechanismBody<D>& piece = from_.bodies[p];
        const Vec<D> arm = states_[p].position - state.position;
        const Vec<D> momentum = piece.mass * (states_[p].velocity - state.velocity);
        if constexpr (D == 2) {
            spin[0] +=
                arm.x() * momentum.y() - arm.y() * momentum.x() + piece.inertia(0, 0) * states_[p].angular_velocity[0];
        } else {
            spin += arm.cross(momentum) + world_inertia(piece, states_[p]) * states_[p].angular_velocity;
        }
    }
    if constexpr (D == 2) {
        if (body.inertia(0, 0) > 0) state.angular_velocity = spin / body.inertia(0, 0);
    } else {
        state.angular_velocity = world_inertia(body, state).fullPivLu().solve(spin);
    }
    return state;
}

template class FlexibleTransfer<2>;
template class FlexibleTransfer<3>;

}  // namespace limber
