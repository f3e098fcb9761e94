#include "limber/contact/time_stepping/contact_problem.hpp"

#include <algorithm>

#include "limber/math/rotation.hpp"

namespace limber {
namespace {

constexpr double least_mass = 1e-9;     // over the mechanism's typical one
constexpr double least_inertia = 1e-6;  // over the sum of the three

template <int D>
ConeBlock make_block(const ContactLaw& law) {
    const int sliding_rows = law.friction > 0 || law.static_friction > 0 ? D - 1 : 0;
    ConeBlock block = ConeBlock::contact(sliding_rows, law.friction, law.restitution);
    block.rolling = law.rolling;
    block.rolling_rows = law.rolling > 0 ? D - 1 : 0;
    block.spinning = law.spinning;
    block.spinning_rows = D == 3 && law.spinning > 0 ? 1 : 0;
    block.rows += block.rolling_rows + block.spinning_rows;
    return block;
}

// Normal and tangents; in the plane the tangent lies in the plane and the third axis is its normal.
template <int D>
Mat3 contact_axes(const Vec3& normal) {
    Mat3 axes;
    if constexpr (D == 2) {
        axes << normal, Vec3(-normal.y(), normal.x(), 0), Vec3::UnitZ();
    } else {
        const Mat3 frame = frame_from_z(normal);
        axes << frame.col(2), frame.col(0), frame.col(1);
    }
    return axes;
}

}  // namespace

template <int D>
auto ContactProblem<D>::inverse_mass(const BodyStates<D>& states, int body) const -> Mat<T> {
    constexpr int A = angular_size<D>;
    const double mass = std::max(m_.bodies[body].mass, least_mass * m_.mass_scale);
    AngularMat<D> inertia = world_inertia(m_.bodies[body], states[body]);
    // A thin rod has none about its axis.
    const double size = std::max(inertia.trace(), least_mass * m_.mass_scale * m_.length_scale * m_.length_scale);
    if (m_.bodies[body].inertia.diagonal().minCoeff() < least_inertia * size)
        inertia.diagonal().array() += least_inertia * size;
    Mat<T> inverse = Mat<T>::Zero();
    inverse.template topLeftCorner<D, D>() = Mat<D>::Identity() / mass;
    inverse.template bottomRightCorner<A, A>() = inertia.inverse();
    return inverse;
}

template <int D>
void ContactProblem<D>::find_inverse_mass(const BodyStates<D>& states, int body) {
    if (has_inverse_[body]) return;
    inverse_mass_[body] = inverse_mass(states, body);
    has_inverse_[body] = true;
}

template <int D>
void ContactProblem<D>::update_rows(const BodyStates<D>& states, const Contact& contact, const ConeBlock& block,
                                    ContactRows& rows) {
    constexpr int A = angular_size<D>;
    rows.body[0] = contact.body_a;
    rows.body[1] = contact.body_b;
    rows.axes = contact_axes<D>(contact.normal);
    for (int side = 0; side < 2; ++side) {
        rows.row[side].setZero(block.rows, T);
        const int body = rows.body[side];
        if (body < 0) continue;
        const double sign = side == 0 ? -1 : 1;
        const Vec<D> arm = contact.point.template head<D>() - states[body].position;
        for (int k = 0; k < 1 + block.sliding_rows; ++k) {
            const Vec<D> d = rows.axes.col(k).template head<D>();
            rows.row[side].row(k).template head<D>() = sign * d.transpose();
            rows.row[side].row(k).template tail<A>() = sign * moment<D>(arm, d).transpose();
        }
        const auto turning = [&](int row, int axis) {
            rows.row[side].row(row).template tail<A>() = sign * rows.axes.col(axis).template tail<A>().transpose();
        };
        int row = 1 + block.sliding_rows;
        for (int k = 0; k < block.rolling_rows; ++k) turning(row++, D == 2 ? 2 : 1 + k);
        if (block.spinning_rows > 0) turning(row, 0);
        find_inverse_mass(states, body);
        rows.response[side].noalias() = rows.row[side].lazyProduct(inverse_mass_[body]);
    }
}

template <int D>
void ContactProblem<D>::update(const BodyStates<D>& states, const std::vector<Contact>& contacts,
                               JointProjector<D>& joints) {
    joints_ = &joints;
    const int bodies = static_cast<int>(m_.bodies.size());
    inverse_mass_.resize(bodies);
    has_inverse_.assign(bodies, false);
    contacts_.resize(contacts.size());
    blocks_.clear();
    first_row_.assign(1, 0);
    joined_contacts_.clear();
    for (std::size_t i = 0; i < contacts.size(); ++i) {
        const int stop = contacts[i].stop;
        blocks_.push_back(make_block<D>(law(contacts[i])));
        first_row_.push_back(first_row_.back() + blocks_.back().rows);
        ContactRows& rows = contacts_[i];
        rows.stop = stop;
        update_rows(states, contacts[i], blocks_.back(), rows);
        if (stop >= 0) stops_.for_each_body(stop, [&](int body, const auto&) { find_inverse_mass(states, body); });
        rows.is_joined = stop >= 0 || joints.is_joined(rows.body[0]) || joints.is_joined(rows.body[1]);
        if (rows.is_joined) joined_contacts_.push_back(static_cast<int>(i));
    }
    update_joined_responses(joints);
    find_islands();
}

template <int D>
void ContactProblem<D>::find_islands() {
    const int joined = static_cast<int>(m_.bodies.size());
    const auto end = [&](int body) { return joints_->is_joined(body) ? joined : body; };
    ends_.clear();
    for (const ContactRows& rows : contacts_)
        ends_.push_back({rows.stop >= 0 ? joined : end(rows.body[0]), end(rows.body[1])});
    islands_.find(ends_, joined + 1);
}

template <int D>
bool ContactProblem<D>::add_own_response(const ContactRows& rows, int row, VecX& twists, VecX& light) const {
    bool has_light = false;
    if (rows.stop >= 0) {
        stops_.for_each_body(rows.stop, [&](int body, const TwistVec<D>& wrench) {
            if (joints_->is_light(body)) {
                light.template segment<T>(body * T) += wrench;
                has_light = true;
            } else {
                twists.template segment<T>(body * T) += inverse_mass_[body] * wrench;
            }
        });
        return has_light;
    }
    for (int side = 0; side < 2; ++side) {
        const int body = rows.body[side];
        if (body < 0) continue;
        if (joints_->is_light(body)) {
            light.template segment<T>(body * T) = rows.row[side].row(row).transpose();
            has_light = true;
        } else {
            twists.template segment<T>(body * T) = rows.response[side].row(row).transpose();
        }
    }
    return has_light;
}

template <int D>
void ContactProblem<D>::update_joined_responses(JointProjector<D>& joints) {
    std::size_t column = 0;
    for (const int i : joined_contacts_) {
        ContactRows& rows = contacts_[i];
        rows.first_column = static_cast<int>(column);
        for (int k = 0; k < blocks_[i].rows; ++k, ++column) {
            if (joined_response_.size() <= column) joined_response_.emplace_back();
            VecX& x = joined_response_[column];
            x.setZero(static_cast<Eigen::Index>(m_.bodies.size()) * T);
            light_.setZero(x.size());
            const bool has_light = add_own_response(rows, k, x, light_);
            joints.project(x);
            if (!has_light) continue;
            joints.respond(light_);
            x += light_;
        }
    }
}

// What impulses at contact j, which has this place in its island, do at contact i through joined bodies.
template <int D>
void ContactProblem<D>::add_joined_block(int i, int j, int place) {
    auto block = delassus_.add_block(place);
    const ContactRows& a = contacts_[i];
    if (a.stop >= 0) {
        for (int k = 0; k < blocks_[j].rows; ++k)
            block(0, k) += stops_.rate(a.stop, joined_response_[contacts_[j].first_column + k]);
        return;
    }
    for (int side = 0; side < 2; ++side) {
        if (!joints_->is_joined(a.body[side])) continue;
        for (int k = 0; k < blocks_[j].rows; ++k)
            block.col(k) += a.row[side].lazyProduct(
                joined_response_[contacts_[j].first_column + k].template segment<T>(a.body[side] * T));
    }
}

template <int D>
const DelassusMatrix& ContactProblem<D>::assemble(int island) {
    const auto own = islands_.contacts(island);
    const auto bodies = islands_.bodies(island);
    const int count = static_cast<int>(own.size());
    sizes_.clear();
    for (const int i : own) sizes_.push_back(blocks_[i].rows);
    delassus_.start(sizes_, static_cast<int>(bodies.size()), T);
    for (const int body : bodies)
        if (body < static_cast<int>(m_.bodies.size()))
            delassus_.set_inverse_mass(islands_.place(body), inverse_mass_[body]);
    for (int place = 0; place < count; ++place) {
        const ContactRows& rows = contacts_[own[place]];
        for (int side = 0; side < 2; ++side)
            if (rows.body[side] >= 0 && !joints_->is_joined(rows.body[side]))
                delassus_.set_end(place, side, islands_.place(rows.body[side]), rows.row[side]);
        delassus_.start_row();
        if (!rows.is_joined) continue;
        for (int other = 0; other < count; ++other)
            if (contacts_[own[other]].is_joined) add_joined_block(own[place], own[other], other);
    }
    delassus_.finish();
    return delassus_;
}

template <int D>
void ContactProblem<D>::gather(int island, const VecX& rows, VecX& own) const {
    int size = 0;
    for (const int i : islands_.contacts(island)) size += blocks_[i].rows;
    own.resize(size);
    for (int first = 0; const int i : islands_.contacts(island)) {
        own.segment(first, blocks_[i].rows) = rows.segment(first_row_[i], blocks_[i].rows);
        first += blocks_[i].rows;
    }
}

template <int D>
void ContactProblem<D>::scatter(int island, const VecX& own, VecX& rows) const {
    for (int first = 0; const int i : islands_.contacts(island)) {
        rows.segment(first_row_[i], blocks_[i].rows) = own.segment(first, blocks_[i].rows);
        first += blocks_[i].rows;
    }
}

template <int D>
void ContactProblem<D>::multiply(const VecX& twists, VecX& velocities) const {
    velocities.setZero(row_count());
    for (std::size_t i = 0; i < contacts_.size(); ++i) {
        if (contacts_[i].stop >= 0) velocities[first_row_[i]] = stops_.rate(contacts_[i].stop, twists);
        for (int side = 0; side < 2; ++side)
            if (contacts_[i].body[side] >= 0)
                velocities.segment(first_row_[i], blocks_[i].rows).noalias() +=
                    contacts_[i].row[side].lazyProduct(twists.template segment<T>(contacts_[i].body[side] * T));
    }
}

template <int D>
void ContactProblem<D>::find_working_velocities(const VecX& momenta, VecX& velocities) const {
    velocities.setZero(row_count());
    for (std::size_t i = 0; i < contacts_.size(); ++i) {
        const ContactRows& rows = contacts_[i];
        for (int k = 0; rows.is_joined && k < blocks_[i].rows; ++k)
            velocities[first_row_[i] + k] = joined_response_[rows.first_column + k].dot(momenta);
        for (int side = 0; side < 2; ++side)
            if (!rows.is_joined && rows.body[side] >= 0)
                velocities.segment(first_row_[i], blocks_[i].rows).noalias() +=
                    rows.response[side].lazyProduct(momenta.template segment<T>(rows.body[side] * T));
    }
}

template <int D>
void ContactProblem<D>::add_response(const VecX& impulses, VecX& twists) const {
    for (std::size_t i = 0; i < contacts_.size(); ++i) {
        const ContactRows& rows = contacts_[i];
        const auto p = impulses.segment(first_row_[i], blocks_[i].rows);
        if (p.isZero(0)) continue;
        if (rows.is_joined) {
            for (int k = 0; k < blocks_[i].rows; ++k) twists += p[k] * joined_response_[rows.first_column + k];
            continue;
        }
        for (int side = 0; side < 2; ++side)
            if (rows.body[side] >= 0)
                twists.template segment<T>(rows.body[side] * T).noalias() +=
                    rows.response[side].transpose().lazyProduct(p);
    }
}

template <int D>
Vec3 ContactProblem<D>::force(int i, const VecX& impulses) const {
    Vec3 sum = Vec3::Zero();
    for (int k = 0; k < 1 + blocks_[i].sliding_rows; ++k) sum += impulses[first_row_[i] + k] * contacts_[i].axes.col(k);
    return sum;
}

template <int D>
Vec3 ContactProblem<D>::torque(int i, const VecX& impulses) const {
    Vec3 sum = Vec3::Zero();
    int row = first_row_[i] + 1 + blocks_[i].sliding_rows;
    for (int k = 0; k < blocks_[i].rolling_rows; ++k)
        sum += impulses[row++] * contacts_[i].axes.col(D == 2 ? 2 : 1 + k);
    if (blocks_[i].spinning_rows > 0) sum += impulses[row] * contacts_[i].axes.col(0);
    return sum;
}

template <int D>
void ContactProblem<D>::add_impulse(int i, const Vec3& force, const Vec3& torque, VecX& impulses) const {
    const Mat3& axes = contacts_[i].axes;
    int row = first_row_[i];
    for (int k = 0; k < 1 + blocks_[i].sliding_rows; ++k) impulses[row++] += axes.col(k).dot(force);
    for (int k = 0; k < blocks_[i].rolling_rows; ++k) impulses[row++] += axes.col(D == 2 ? 2 : 1 + k).dot(torque);
    if (blocks_[i].spinning_rows > 0) impulses[row] += axes.col(0).dot(torque);
}

template class ContactProblem<2>;
template class ContactProblem<3>;

}  // namespace limber
